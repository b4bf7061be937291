"""Where other tests still look for the small project with clouds; it is in `tests.cli`."""

from tests.cli.clouds import *  # noqa: F403

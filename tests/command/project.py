"""Where other tests still look for the small project; it is in `tests.cli`."""

from tests.cli.project import *  # noqa: F403

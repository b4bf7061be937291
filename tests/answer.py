"""What a command answers."""

from collections.abc import Callable
from typing import NamedTuple


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Berth = Callable[..., Answer]
"""Takes the words of a command."""

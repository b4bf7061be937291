"""A line of what is told of a change."""

from typing import NamedTuple


class Line(NamedTuple):
    """`sign` is `+`, `-`, `~`, `!`, or a space."""

    sign: str
    text: str

"""How much of a search by chance a normal run does; all of it is marked `long`."""

from collections.abc import Iterable

import pytest


def seeds(few: int, many: int) -> list[object]:
    """The numbers below `many`, of which a normal run tries the first `few`."""
    return rest_is_long(range(many), few)


def rest_is_long(values: Iterable[object], few: int) -> list[object]:
    return [
        value if number < few else pytest.param(value, marks=pytest.mark.long)
        for number, value in enumerate(values)
    ]

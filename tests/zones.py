"""Zones for tests that go through all of them."""

from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
from berth.dates.zone import DAY, Zone, known, load, number

FIRST, LAST = date(2024, 1, 1), date(2028, 1, 1)


def zone(name: str) -> Zone:
    found = load(name)
    assert found is not None
    return found


def data(name: str) -> bytes:
    return (files("tzdata") / "zoneinfo" / name).read_bytes()


def some(names: Iterable[str]) -> list[Any]:
    """For a normal run every twelfth, and the project's own; a long one takes all."""
    found = [*names]
    few = [name for n, name in enumerate(found) if n % 12 == 0 or name == "Europe/Zurich"]
    return [pytest.param(few, id="some"), pytest.param(found, id="all", marks=pytest.mark.long)]


@cache
def distinct() -> tuple[str, ...]:
    """Zones that differ: of those with the same data one stands for all."""
    return tuple({data(name): name for name in known()}.values())


def changes(known_zone: Zone) -> Iterator[int]:
    days = range(number(FIRST), number(LAST))
    return (day for day in days if known_zone.offsets[day] is None)


@cache
def changing() -> tuple[str, ...]:
    """One zone for each way in which clocks change in these years."""
    ways = {}
    for name in distinct():
        offsets = zone(name).offsets
        hours = [day * DAY + minute for day in changes(zone(name)) for minute in range(0, DAY, 60)]
        ways[tuple((hour, offsets.before(hour), offsets.after(hour)) for hour in hours)] = name
    return tuple(ways.values())

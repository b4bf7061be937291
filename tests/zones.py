"""Zones for tests that go through all of them."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import cache
from importlib.resources import files

import pytest
from berth.dates.zone import DAY, Zone, known, load, number

FIRST, LAST = date(2024, 1, 1), date(2028, 1, 1)


Zones = Callable[[], Sequence[str]]


def zone(name: str) -> Zone:
    found = load(name)
    assert found is not None
    return found


def data(name: str) -> bytes:
    return (files("tzdata") / "zoneinfo" / name).read_bytes()


def some(zones: Zones) -> pytest.MarkDecorator:
    """Try the `names` of some zones: every twelfth, and the project's own; a long run takes all.

    They are found when a test runs, not when tests are collected.
    """

    def few() -> list[str]:
        return [name for n, name in enumerate(zones()) if n % 12 == 0 or name == "Europe/Zurich"]

    params = [pytest.param(few, id="some"), pytest.param(zones, id="all", marks=pytest.mark.long)]
    return pytest.mark.parametrize("names", params)


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

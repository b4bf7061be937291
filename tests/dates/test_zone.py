"""The time rule, held against what clocks show, in every zone of the tz database."""

import struct
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from berth.dates.zone import (
    DAY,
    Zone,
    clock,
    date_text,
    day_of,
    known,
    load,
    local,
    number,
    resolve,
    trait,
    window,
)

from tests.cases import tabled
from tests.zones import FIRST, LAST, Zones, changes, changing, data, distinct, some, zone

STEP = 15


def wall(text: str) -> int:
    day, time = text.split(" ")
    hours, minutes = time.split(":")
    return number(date.fromisoformat(day)) * DAY + int(hours) * 60 + int(minutes)


def utc(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def shown(info: ZoneInfo, seconds: int) -> int:
    """The wall time that a clock shows, from the standard library."""
    there = datetime.fromtimestamp(seconds, info)
    return number(there.date()) * DAY + there.hour * 60 + there.minute


# -- the names


def test_the_known_zones_are_those_of_the_packaged_list_without_factory() -> None:
    listed = set((files("tzdata") / "zones").read_text().split())

    assert sorted(listed - {"Factory"}) == list(known())


def test_no_name_means_the_zone_of_the_machine() -> None:
    own = {"local", "localtime", "posixrules", "factory", ""}

    assert not [name for name in known() if name.lower() in own]
    assert not [name for name in known() if name.lower().startswith(("posix/", "right/"))]


@tabled("dates")
def test_a_name_that_is_not_in_the_list_gives_no_zone(name: str) -> None:
    assert load(name) is None


def test_every_known_zone_loads_with_its_name() -> None:
    assert list(known()) == [zone(name).name for name in known()]


@some(distinct)
def test_until_2099_offsets_are_whole_minutes_and_changes_are_two_days_apart(names: Zones) -> None:
    """What reading a day by its two ends, and instants of whole minutes, stand on."""
    begin = number(date(2000, 1, 1)) * 86_400
    for name in names():
        explicit = [(at, offset) for at, offset in transitions(data(name)) if at >= begin]
        steps = [later - sooner for (sooner, _), (later, _) in pairwise(explicit)]

        assert all(offset % 60 == 0 for _, offset in explicit), name
        assert all(step > 2 * 86_400 for step in steps), name
        check_late_years(zone(name))


def transitions(tzif: bytes) -> list[tuple[int, int]]:
    """(instant, offset from then on), from RFC 8536's second block; without changes of the name alone."""
    counts = struct.unpack(">6l", tzif[20:44])
    block = 44 + _size(counts, 4)
    counts = struct.unpack(">6l", tzif[block + 20 : block + 44])
    _, _, _, number_of_times, number_of_types, _ = counts
    at = block + 44
    instants = struct.unpack(f">{number_of_times}q", tzif[at : at + 8 * number_of_times])
    at += 8 * number_of_times
    kinds = tzif[at : at + number_of_times]
    at += number_of_times
    offsets = [struct.unpack(">l", tzif[at + 6 * i : at + 6 * i + 4])[0] for i in range(number_of_types)]
    found = [(instant, offsets[kind]) for instant, kind in zip(instants, kinds, strict=True)]
    return [(i, o) for (_, before), (i, o) in pairwise(found) if before != o]


def _size(counts: tuple[int, ...], width: int) -> int:
    isutc, isstd, leaps, number_of_times, types, characters = counts
    return number_of_times * (width + 1) + types * 6 + characters + leaps * (width + 4) + isstd + isutc


def check_late_years(here: Zone) -> None:
    """The rule at the end of the data holds from its last change on; two years show all that it does."""
    days = range(number(date(2097, 1, 1)), number(date(2099, 1, 1)))
    changing_days = [day for day in days if here.offsets[day] is None]

    assert all((here.offsets[day] or 0) % 60 == 0 for day in days), here.name
    assert all(later - sooner > 2 for sooner, later in pairwise(changing_days)), here.name


# -- the rule


@tabled("dates")
def test_a_wall_time_is_one_instant(name: str, at: str, expected: str, mark: str) -> None:
    assert expected == utc(resolve(zone(name), wall(at)))
    assert mark == trait(zone(name), wall(at))


@pytest.mark.parametrize(
    ("name", "start", "end", "expected"),
    [
        ("Europe/Zurich", "2026-03-29 02:30", "2026-03-29 03:15", ("2026-03-29 01:30", "2026-03-29 02:15")),
        ("Europe/Zurich", "2026-03-29 02:30", "2026-03-29 03:30", ("2026-03-29 01:30", "2026-03-29 02:30")),
        ("Europe/Zurich", "2026-03-29 02:30", "2026-03-29 03:31", ("2026-03-29 01:30", "2026-03-29 01:31")),
        ("Europe/Zurich", "2026-03-29 02:00", "2026-03-29 02:15", ("2026-03-29 01:00", "2026-03-29 01:15")),
        ("America/Nuuk", "2026-03-28 23:30", "2026-03-29 00:15", ("2026-03-29 01:30", "2026-03-29 02:15")),
    ],
    ids=["end-is-passed", "end-is-reached", "end-is-left", "both-in-the-gap", "gap-before-midnight"],
)
def test_a_window_always_has_a_length(name: str, start: str, end: str, expected: tuple[str, str]) -> None:
    first, last = window(zone(name), wall(start), wall(end))

    assert expected == (utc(first), utc(last))


def test_a_wall_time_is_formatted_as_a_date_and_a_clock_time() -> None:
    at = wall("2026-02-02 09:05")

    assert ("2026-02-02", "09:05", date(2026, 2, 2)) == (date_text(at // DAY), clock(at), day_of(at))


# -- every zone, every date of four years


def test_near_clock_changes_a_wall_time_is_the_first_instant_that_shows_it() -> None:
    """And one that no clock shows moves forward by exactly the gap; the marks say which is which."""
    checked = 0
    for name in changing():
        here = zone(name)
        for day in changes(here):
            passes: dict[int, list[int]] = {}
            for seconds in range(day * 86_400 - 20 * 3600, (day + 1) * 86_400 + 18 * 3600, STEP * 60):
                passes.setdefault(shown(here.offsets.info, seconds), []).append(seconds)
            for at in range(day * DAY - 360, (day + 1) * DAY + 360, STEP):
                check_wall_time(here, at, passes)
                checked += 1
    assert checked > 30_000


def check_wall_time(here: Zone, at: int, passes: dict[int, list[int]]) -> None:
    where = here.name, day_of(at), clock(at)
    instant = resolve(here, at)
    if at in passes:
        assert passes[at][0] == instant, where
        assert ("fold" if len(passes[at]) > 1 else "") == trait(here, at), where
        assert [at] * len(passes[at]) == [local(here, one) for one in passes[at]], where
        return
    before = max(one for one in passes if one < at)
    after = min(one for one in passes if one > at)
    skipped = after - before - STEP

    assert at + skipped == local(here, instant), where
    assert trait(here, at) == "gap", where


@some(changing)
def test_near_clock_changes_every_window_has_a_length(names: Zones) -> None:
    for name in names():
        here = zone(name)
        for day in changes(here):
            for start in range(day * DAY - 360, (day + 1) * DAY, STEP):
                for minutes in (1, 15, 45, 60, 90, 1440):
                    first, last = window(here, start, start + minutes)

                    assert first < last, (name, day_of(start), clock(start), minutes)


@some(distinct)
def test_every_zone_matches_the_standard_library_on_every_date_of_four_years(names: Zones) -> None:
    """A few times of day; back again too. Folds and gaps have tests of their own."""
    for name in names():
        here = zone(name)
        info = here.offsets.info
        for day in range(number(FIRST), number(LAST)):
            at = day * DAY + (day * 97) % DAY  # another time every day
            instant = resolve(here, at)
            there = datetime.fromordinal(day_of(at).toordinal()) + timedelta(minutes=at % DAY)

            assert there.replace(tzinfo=info).timestamp() == instant, (name, there)
            assert trait(here, at) == "gap" or at == local(here, instant), (name, there)

"""Schedules fire at every opening, in every zone, and are as few as can be."""

from datetime import date, datetime
from random import Random

import pytest
from berth.dates.cronschedules import cron_zone, open_spans, schedules
from berth.dates.expansion import Occurrence
from berth.dates.zone import DAY, FOLD, Zone, clock, known, local, number, resolve, trait
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from tests.zones import Zones, distinct, some, zone

ODD = ("Australia/LHI", "Australia/Lord_Howe", "NZ-CHAT", "Pacific/Chatham")


def opens(name: str, time: str, *days: str) -> list[int]:
    hours, minutes = time.split(":")
    at = int(hours) * 60 + int(minutes)
    return [resolve(zone(name), number(date.fromisoformat(day)) * DAY + at) for day in days]


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (["2026-02-02"], "30 8 2 2 *"),
        (["2026-02-02", "2026-02-09", "2026-02-16", "2026-02-23"], "30 8 2,9,16,23 2 *"),
        ([f"2026-0{m}-0{d}" for m in (2, 3, 4, 5) for d in range(1, 8)], "30 8 1-7 2-5 *"),
        (["2026-02-02", "2026-02-09", "2026-02-16", "2026-03-23", "2026-03-30"], "30 8 * 2,3 1"),
        ([f"2026-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)], "30 8 1-28 * *"),
        (["2026-01-29", "2026-01-30", "2026-02-28", "2026-03-29"], "30 8 28-30 1-3 *"),
        ([f"2024-01-{d:02}" for d in range(1, 32)], "30 8 * 1 *"),
        (["2026-03-01", "2026-03-06", "2026-03-07", "2026-03-08", "2026-03-14"], "30 8 1,6-8,14 3 *"),
    ],
    ids=[
        "one-date",
        "by-date",
        "ranges",
        "by-weekday",
        "every-month",
        "short-months",
        "ties",
        "lists-and-ranges",
    ],
)
def test_a_schedule_uses_the_day_field_that_fires_less_often(days: list[str], expected: str) -> None:
    assert schedules(opens("Europe/Zurich", "08:30", *days), "Europe/Zurich") == (expected,)


def test_sunday_is_0_and_ranges_ascend() -> None:
    days = [f"2026-0{m}-{d:02}" for m in (4, 5) for d in range(1, 31) if date(2026, m, d).weekday() > 3]

    assert schedules(opens("Europe/Zurich", "00:00", *days), "Europe/Zurich") == ("0 0 * 4,5 0,5,6",)


def test_each_local_time_of_day_has_one_schedule_in_ascending_order() -> None:
    """An opening that is an elapsed hour before a skipped time has a time of its own."""
    weekly = opens("Europe/Zurich", "14:00", "2026-03-23", "2026-03-30") + opens(
        "Europe/Zurich", "02:30", "2026-03-29"
    )

    assert schedules(weekly, "Europe/Zurich") == ("30 3 29 3 *", "0 14 23,30 3 *")


def test_no_openings_need_no_schedule() -> None:
    assert schedules([], "Europe/Zurich") == ()


@pytest.mark.parametrize("name", ["Africa/Cairo", "Asia/Beirut"])
def test_a_day_without_midnight_has_the_day_before_in_its_schedule(name: str) -> None:
    """robfig/cron steps from midnight to midnight, and falls back over one that is missing."""
    changes = {"Africa/Cairo": "2024-04-26", "Asia/Beirut": "2024-03-31"}
    day = date.fromisoformat(changes[name])

    expected = f"0 9 {day.day - 1},{day.day} {day.month} *"
    assert schedules(opens(name, "09:00", f"{day}"), name) == (expected,)


def test_schedules_of_zones_with_odd_clock_changes_are_in_utc() -> None:
    assert schedules(
        opens("Australia/Lord_Howe", "09:00", "2026-04-04", "2026-04-06"), "Australia/Lord_Howe"
    ) == ("0 22 3 4 *", "30 22 5 4 *")
    assert {"Etc/UTC"} == {cron_zone(name) for name in ODD}


@pytest.mark.long
def test_only_the_listed_zones_have_odd_clock_changes() -> None:
    """Elsewhere they do by whole hours, on the hour."""
    days = range(number(date(2024, 1, 1)), number(date(2028, 1, 1)))
    odd = {name for name in distinct() if any(not walkable(zone(name), day) for day in days)}

    assert {cron_zone(name) for name in known() if name not in ODD} == set(known()) - set(ODD)
    assert len(odd) == 2
    assert odd <= set(ODD)


def walkable(here: Zone, day: int) -> bool:
    """Is there no change on this day, or one by whole hours, on the hour?"""
    if here.offsets[day] is not None:
        return True
    odd = [minute for minute in range(0, DAY, 15) if trait(here, day * DAY + minute)]
    return odd[0] % 60 == 0 and len(odd) % 4 == 0


def opened(*spans: tuple[int, int]) -> list[Occurrence]:
    return [
        Occurrence("a", f"a/{n}", *(opens, opens, end), (), "UTC", (), "")
        for n, (opens, end) in enumerate(spans)
    ]


def test_a_chain_of_occurrences_that_touch_is_one_opening() -> None:
    """One Job lives through it: also through an end at which the next opens, and what lies within another."""
    chain = opened((0, 10), (8, 20), (20, 30), (22, 25))

    assert open_spans(chain) == open_spans(chain[::-1]) == [(0, 30)]
    assert open_spans([*chain, *opened((31, 40))]) == [(0, 30), (31, 40)]
    assert open_spans([]) == []


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 12)), max_size=12))
def test_open_spans_are_the_longest_times_in_which_something_is_open(rows: list[tuple[int, int]]) -> None:
    found = open_spans(opened(*((opens, opens + length) for opens, length in rows)))
    is_open = [any(opens <= now < opens + length for opens, length in rows) for now in range(64)]

    begins = [now for now in range(64) if is_open[now] and not (now and is_open[now - 1])]
    assert [opens for opens, _ in found] == begins
    assert [end for _, end in found] == [now for now in range(1, 64) if is_open[now - 1] and not is_open[now]]


def fires(schedule: str, here: Zone, at: int) -> bool:
    """Whether croniter fires at an instant; of a time that is shown twice it may see one pass only."""
    moments = [at]
    if trait(here, local(here, at)) == FOLD:
        moments += [at - 3600, at + 3600]
    return any(
        croniter(schedule, datetime.fromtimestamp(moment - 1, here.offsets.info)).get_next(float) == moment
        for moment in moments
    )


@some(known)
def test_croniter_fires_at_every_opening_in_every_zone(names: Zones) -> None:
    """Around the changes of each zone, and with leads that end in the second pass of a repeated hour."""
    random = Random(20260202)
    for name in names():
        here, there = zone(name), zone(cron_zone(name))
        first = number(date(2026, 1, 1)) + random.randrange(300)
        changes = [day for day in range(first, first + 400) if here.offsets[day] is None] or [first]
        day = random.choice(changes)
        days = {day, *(day + random.randrange(-40, 40) for _ in range(4))}
        time = random.choice([0, 30, 60, 90, 120, 150, 165, 180, 195, 240, 540, 1425])
        lead = random.choice([0, 30, 60, 90, 180]) * 60
        wanted = [resolve(here, one * DAY + time) - lead for one in sorted(days)]
        found = dict(
            zip(sorted({clock(local(there, at)) for at in wanted}), schedules(wanted, name), strict=True)
        )
        missed = [at for at in wanted if not fires(found[clock(local(there, at))], there, at)]

        assert not missed, (name, found)

"""What holds for every recurrence, whatever is declared: in every zone, on every date, in any order."""

from collections import Counter
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest
from berth.dates.occurrence import Expansion
from berth.dates.recurrence import expand
from berth.dates.zone import clock, date_text, known, local
from berth.schema.grammar import end_time
from berth.schema.values import Entry, Recurrence
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import calendar, entry, recurrence, reservation, without
from tests.zones import changing, distinct, some, zone

EXAMPLES = settings(derandomize=True, deadline=None, max_examples=150)
DAY = 1440


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Any that has a length; of one or two classes."""
    start, end = draw(st.integers(0, 287)) * 5, draw(st.integers(0, 288)) * 5
    end_day = draw(st.sampled_from([None, None, None, 0, 1, 2]))
    if end == start or (end_day == 0 and end < start):
        end_day = 1
    days = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3, unique=True))
    seats = draw(st.sampled_from([(("small", 25),), (("small", 2), ("huge", 1)), (("huge", 3),)]))
    return Entry(tuple(sorted(days)), start, end, end_day, seats)


@st.composite
def recurrences(draw: st.DrawFn) -> Recurrence:
    kind = draw(st.sampled_from(["daily", "weekly", "dates"]))
    first = date(2024, 1, 1) + timedelta(days=draw(st.integers(0, 1460)))
    last = first + timedelta(days=draw(st.integers(0, 60)))
    schedule = draw(st.lists(entries(), min_size=1, max_size=4))
    name = draw(st.sampled_from(known()))
    made = recurrence(kind, name, *schedule, days=f"{first}/{last}")
    return made._replace(interval=draw(st.integers(1, 4)) if kind == "weekly" else 1)


def walked(when: Recurrence) -> Counter[str]:
    """The dates and times of a recurrence, found by looking at every date."""
    (first, last), *_ = when.dates or ((when.first, when.last),)
    assert first is not None
    assert last is not None
    found: Counter[str] = Counter()
    for day in (first + timedelta(days=n) for n in range((last - first).days + 1)):
        weeks = (day - timedelta(days=day.weekday()) - first + timedelta(days=first.weekday())).days // 7
        for one in when.schedule:
            if when.type != "weekly" or (day.isoweekday() in one.days and weeks % when.interval == 0):
                found[f"{day}T{clock(one.start)}"] += 1
    return found


def codes(expansion: Expansion) -> set[str]:
    return {problem.code for problem in expansion.problems}


@EXAMPLES
@given(recurrences(), st.integers(0, 180))
def test_what_happens_is_what_walking_through_the_dates_finds(when: Recurrence, lead: int) -> None:
    made = expand(reservation(when, lead=lead), {})
    found = made.occurrences
    twice = any(number > 1 for number in walked(when).values())

    assert walked(when) == Counter(one.id.removeprefix("course/") for one in found)
    assert sorted(found, key=lambda one: (one.start, one.id)) == list(found)
    assert all(one.open == one.start - lead * 60 and one.start < one.end for one in found)
    assert twice == ("B049" in codes(made))


@EXAMPLES
@given(recurrences(), entries(), st.integers(0, 4))
def test_another_entry_changes_nothing_of_those_that_were_there(
    when: Recurrence, another: Entry, at: int
) -> None:
    longer = when._replace(schedule=(*when.schedule[:at], another, *when.schedule[at:]))
    before, after = expand(reservation(when), {}), expand(reservation(longer), {})

    assert set(before.occurrences) <= set(after.occurrences)


@EXAMPLES
@given(recurrences(), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_entries_changes_only_whose_id_is_whose(
    when: Recurrence, random: Random, renku: bool
) -> None:
    shuffled = when._replace(schedule=tuple(random.sample(when.schedule, len(when.schedule))))
    one, other = (expand(reservation(each, renku=renku), {}) for each in (when, shuffled))

    def windows(expansion: Expansion) -> list[Any]:
        return sorted((o.start, o.end, o.seats, o.marks) for o in expansion.occurrences)

    assert windows(one) == windows(other)
    assert sorted(o.id for o in one.occurrences) == sorted(o.id for o in other.occurrences)
    assert codes(one) == codes(other)


@EXAMPLES
@given(recurrences())
def test_ids_of_a_renku_payload_are_always_unique(when: Recurrence) -> None:
    made = expand(reservation(when, renku=True), {})

    assert len(made.occurrences) == len({one.id for one in made.occurrences})
    assert codes(made) <= {"B031", "B041", "B043"}


@EXAMPLES
@given(recurrences(), st.integers(-5, 65), st.integers(0, 9), st.integers(-5, 65))
def test_what_exceptions_leave_and_what_they_take_is_the_whole(
    when: Recurrence, first: int, length: int, holiday: int
) -> None:
    begin = when.first or when.dates[0][0]
    days = [begin + timedelta(days=n) for n in (first, first + length, holiday)]
    left = when._replace(excepts=(without(f"{days[0]}/{days[1]}"),), calendars=("days",))
    made = expand(reservation(left), {"days": calendar("days", f"{days[2]}")})
    skipped = Counter(one.id.removeprefix("course/") for one in made.skipped)
    kept = Counter(one.id.removeprefix("course/") for one in made.occurrences)

    assert walked(when) == skipped + kept
    assert not [one.date for one in made.occurrences if f"{days[0]}" <= one.date <= f"{days[1]}"]
    assert not [one.date for one in made.occurrences if one.date == f"{days[2]}"]
    assert ("B045" in codes(made)) == ("except" not in {one.reason for one in made.skipped})


@EXAMPLES
@given(recurrences())
def test_overlaps_are_told_where_two_windows_with_a_common_class_meet(when: Recurrence) -> None:
    made = expand(reservation(when), {})
    found = made.occurrences
    meet = any(
        earlier.end > later.start and {name for name, _ in earlier.seats} & {name for name, _ in later.seats}
        for i, later in enumerate(found)
        for earlier in found[:i]
    )

    assert bool(meet) == ("B031" in codes(made))


def check_every_date(name: str, hours: str) -> None:
    """Each date's window happens once and has a length."""
    when = recurrence("daily", name, entry(hours), days="2024-01-01/2027-12-31")
    found = expand(reservation(when), {}).occurrences
    expected = (date(2028, 1, 1) - date(2024, 1, 1)).days

    assert expected == len({one.id for one in found}) == len({one.start for one in found}), name
    assert all(one.start < one.end for one in found), name


@pytest.mark.parametrize("names", some(distinct()))
def test_in_every_zone_every_date_of_four_years_has_its_window(names: list[str]) -> None:
    for name in names:
        check_every_date(name, "02:30-03:15")


@pytest.mark.parametrize("hours", ["00:15-00:45", "23:30-00:30", "00:00-24:00", "02:00-03:00"])
def test_however_clocks_change_every_date_of_four_years_has_its_window(hours: str) -> None:
    for name in changing():
        check_every_date(name, hours)


def test_a_window_starts_and_ends_when_its_clock_says_so_unless_a_gap_moved_it() -> None:
    for name in changing():
        here = zone(name)
        when = recurrence("daily", name, entry("01:30-02:15"), days="2025-12-31/2027-01-01")
        for one in expand(reservation(when), {}).occurrences:
            if "gap" in one.marks:
                continue
            start, end = local(here, one.start), local(here, one.end)

            assert (f"{one.date}T01:30", end_time("02:15")) == (
                f"{date_text(start // DAY)}T{clock(start)}",
                end % DAY,
            ), name

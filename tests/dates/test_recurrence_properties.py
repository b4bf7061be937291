"""What holds for every recurrence, whatever is declared: in every zone, on every date, in any order."""

from calendar import Calendar
from collections import Counter
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest
from berth.dates.expansion import Expansion, id_time
from berth.dates.recurrence import expand, local_occurrences
from berth.dates.zone import clock, date_text, local, number
from berth.notation.times import end_time
from berth.schema.calendardocument import ClosedDates
from berth.schema.values import Entry, EntryDates, Recurrence
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import calendar, entry, recurrence, reservation, without
from tests.dates.anyrecurrence import EXAMPLES, entries, recurrences
from tests.zones import Zones, changing, distinct, some, zone

DAY = 1440


def walked(when: Recurrence) -> Counter[str]:
    """The dates and times of a recurrence, found by looking at every date."""
    spans = when.dates or ((when.first, when.last),)
    first, last = spans[0][0], spans[-1][1]
    assert first is not None
    assert last is not None
    counter: Counter[str] = Counter()
    spans = when.terms or ((first, last),)
    for day in (first + timedelta(days=n) for n in range((last - first).days + 1)):
        if not any(begin <= day <= end for begin, end in spans):
            continue
        weeks = (day - timedelta(days=day.weekday()) - first + timedelta(days=first.weekday())).days // 7
        for one in when.schedule:
            if when.type == "weekly" and (day.isoweekday() not in one.days or weeks % when.interval):
                continue
            if when.type == "dates" and not is_listed(day, one, when):
                continue
            if is_in(day, one.dates):
                counter[f"{day}T{id_time(one)}"] += 1
    return counter


def is_listed(day: date, one: Entry, when: Recurrence) -> bool:
    own = {each.dates.listed for each in when.schedule}
    items = [one.dates.listed] if one.dates.listed is not None else {*range(len(when.dates))} - own
    return any(first <= day <= last for first, last in [when.dates[item] for item in items])


def is_in(day: date, dates: EntryDates) -> bool:
    month = [
        itermonthdate
        for itermonthdate in Calendar().itermonthdates(day.year, day.month)
        if itermonthdate.month == day.month
    ]
    same = [itermonthdate for itermonthdate in month if itermonthdate.weekday() == day.weekday()]
    return (
        (dates.first or day) <= day <= (dates.last or day)
        and (not dates.weeks or day.isocalendar().week in dates.weeks)
        and (not dates.nth or day in (same[-1:] if dates.nth < 0 else same[dates.nth - 1 : dates.nth]))
    )


def codes(expansion: Expansion) -> set[str]:
    return {problem.code for problem in expansion.problems}


@EXAMPLES
@given(recurrences(), st.integers(0, 180))
def test_occurrences_match_a_walk_through_the_dates(when: Recurrence, lead: int) -> None:
    expansion = expand(reservation(when, lead=lead), {})
    occurrences = expansion.occurrences
    twice = any(number > 1 for number in walked(when).values())

    assert walked(when) == Counter(occurrence.id.removeprefix("course/") for occurrence in occurrences)
    assert sorted(occurrences, key=lambda occurrence: (occurrence.start, occurrence.id)) == list(occurrences)
    assert all(occurrence.start < occurrence.end for occurrence in occurrences)
    assert twice == ("B049" in codes(expansion))


@EXAMPLES
@given(recurrences(), st.integers(0, 1440))
def test_each_class_opens_by_its_own_lead_and_the_occurrence_by_the_longest(
    when: Recurrence, lead: int
) -> None:
    declared = reservation(when, lead=lead)
    for occurrence in expand(declared, {}).occurrences:
        leads = [each.lead for each in declared.scaling_of(occurrence)]
        names = [name for name, _ in occurrence.seats]
        opens = {name: occurrence.start - 60 * lead for name, lead in zip(names, leads, strict=True)}

        assert occurrence.opens_by_class() == opens
        assert occurrence.open == min(opens.values())
        assert [occurrence.of_classes({name}).open for name in names] == [*opens.values()]
        assert sorted(pair for row in occurrence.openings() for pair in row.seats) == sorted(occurrence.seats)


@EXAMPLES
@given(recurrences(), entries(), st.integers(0, 4))
def test_another_entry_does_not_change_existing_occurrences(
    when: Recurrence, another: Entry, at: int
) -> None:
    longer = when._replace(schedule=(*when.schedule[:at], another, *when.schedule[at:]))
    before, after = expand(reservation(when), {}), expand(reservation(longer), {})

    assert set(before.occurrences) <= set(after.occurrences)


@EXAMPLES
@given(recurrences(), st.randoms(use_true_random=False))
def test_the_order_of_entries_only_swaps_ids_of_windows(when: Recurrence, random: Random) -> None:
    shuffled = when._replace(schedule=tuple(random.sample(when.schedule, len(when.schedule))))
    one, other = (expand(reservation(each), {}) for each in (when, shuffled))

    def windows(expansion: Expansion) -> list[Any]:
        return sorted((o.start, o.end, o.seats, o.marks) for o in expansion.occurrences)

    assert windows(one) == windows(other)
    assert sorted(o.id for o in one.occurrences) == sorted(o.id for o in other.occurrences)
    assert codes(one) == codes(other)


@EXAMPLES
@given(recurrences(), st.integers(-5, 65), st.integers(0, 9), st.integers(-5, 65))
def test_kept_and_skipped_occurrences_together_are_all_occurrences(
    when: Recurrence, first: int, length: int, holiday: int
) -> None:
    begin = when.first or when.dates[0][0]
    days = [begin + timedelta(days=n) for n in (first, first + length, holiday)]
    left = when._replace(excepts=(without(f"{days[0]}/{days[1]}"),), calendars=("days",))
    expansion = expand(reservation(left), {"days": calendar("days", f"{days[2]}")})
    skipped = Counter(one.id.removeprefix("course/") for one in expansion.skipped)
    kept = Counter(occurrence.id.removeprefix("course/") for occurrence in expansion.occurrences)

    assert walked(when) == skipped + kept
    assert not [
        occurrence.date
        for occurrence in expansion.occurrences
        if f"{days[0]}" <= occurrence.date <= f"{days[1]}"
    ]
    assert not [occurrence.date for occurrence in expansion.occurrences if occurrence.date == f"{days[2]}"]
    assert ("B045" in codes(expansion)) == ("except" not in {one.reason for one in expansion.skipped})


@EXAMPLES
@given(
    recurrences(),
    st.integers(-2, 62),
    st.tuples(st.integers(0, 47), st.integers(1, 48)).filter(lambda hours: hours[0] < hours[1]),
    st.booleans(),
)
def test_hours_skip_overlaps_that_begin_on_their_day_and_closures_all_overlaps(
    when: Recurrence, offset: int, hours: tuple[int, int], closes: bool
) -> None:
    day = (when.first or when.dates[0][0]) + timedelta(days=offset)
    since, until = (number(day) * DAY + 30 * half for half in hours)
    dates = (ClosedDates(day, day, "", 30 * hours[0], 30 * hours[1]),)
    known = {"days": calendar("days")._replace(dates=dates, closes=closes)}
    left = when if closes else when._replace(calendars=("days",))
    gone = [
        local_occurrence
        for local_occurrence in local_occurrences(reservation(when), {})
        if local_occurrence.start < until
        and since < local_occurrence.end
        and (closes or local_occurrence.start // DAY == number(day))
    ]
    found = expand(reservation(left), known).skipped

    ids = [
        f"course/{date_text(local_occurrence.original // DAY)}T{id_time(when.lines[local_occurrence.entry])}"
        for local_occurrence in gone
    ]
    assert ids == [one.id for one in found]
    assert [one.reason for one in found] == ["calendar days"] * len(gone)


@EXAMPLES
@given(recurrences())
def test_overlaps_are_reported_where_windows_with_a_common_class_meet(when: Recurrence) -> None:
    expansion = expand(reservation(when), {})
    occurrences = expansion.occurrences
    meet = any(
        earlier.end > later.start
        and {name for name, _ in earlier.seats} & {name for name, _ in later.seats}
        and not (earlier.name and later.name and earlier.name != later.name)  # groups that are meant
        for i, later in enumerate(occurrences)
        for earlier in occurrences[:i]
    )

    assert bool(meet) == ("B031" in codes(expansion))


def check_every_date(name: str, hours: str) -> None:
    """Each date's window happens once and has a length."""
    when = recurrence("daily", name, entry(hours), days="2024-01-01/2027-12-31")
    found = expand(reservation(when), {}).occurrences
    expected = (date(2028, 1, 1) - date(2024, 1, 1)).days

    assert (
        expected
        == len({occurrence.id for occurrence in found})
        == len({occurrence.start for occurrence in found})
    ), name
    assert all(occurrence.start < occurrence.end for occurrence in found), name


@some(distinct)
def test_every_date_of_four_years_has_its_window_in_every_zone(names: Zones) -> None:
    for name in names():
        check_every_date(name, "02:30-03:15")


@pytest.mark.parametrize("hours", ["00:15-00:45", "23:30-00:30", "00:00-24:00", "02:00-03:00"])
def test_every_date_of_four_years_has_its_window_despite_clock_changes(hours: str) -> None:
    for name in changing():
        check_every_date(name, hours)


def test_a_window_starts_and_ends_at_its_clock_times_unless_a_gap_moves_it() -> None:
    for name in changing():
        here = zone(name)
        when = recurrence("daily", name, entry("01:30-02:15"), days="2025-12-31/2027-01-01")
        for occurrence in expand(reservation(when), {}).occurrences:
            if "gap" in occurrence.marks:
                continue
            start, end = local(here, occurrence.start), local(here, occurrence.end)

            assert (f"{occurrence.date}T01:30", end_time("02:15")) == (
                f"{date_text(start // DAY)}T{clock(start)}",
                end % DAY,
            ), name

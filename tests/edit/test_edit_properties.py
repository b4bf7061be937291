"""Whatever a reservation declares, an edit changes one occurrence, in its direction, and keeps comments."""

import re
from datetime import date, timedelta
from typing import Any

import pytest
from berth.dates.expansion import Expansion, Occurrence
from berth.dates.moments import local_text, named
from berth.dates.recurrence import expand
from berth.dates.zone import clock, day_of, local, resolve
from berth.edit.dateselect import Dates, OccurrenceEdit, OccurrenceSelector
from berth.edit.edits import EditResult, apply_assignment, edit_occurrence, edit_reservation, parse_assignment
from berth.edit.occurrences import NewTimes, add_occurrence, change_seats, move_occurrence
from berth.edit.roundtrip import MakeNode, edit_document
from berth.edit.seatcounts import ONLY_CLASS
from berth.edit.seriesend import end_series
from berth.edit.skips import restore_date, skip_dates
from berth.findings import FindingsError
from berth.notation.refusal import CommandError
from berth.notation.times import TimeSpan
from berth.schema.plainfields import plain_settings
from berth.schema.reservation import Reservation
from berth.schema.values import Seats
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.edit.changedcourses import FILE, FIRSTS, Project, project, projects, times

# -- what has to be true after every edit


def comments(text: str) -> list[str]:
    """All comments in whole lines, and beside what no edit here removes; sorted."""
    lines = [line.strip() for line in text.splitlines()]
    kept = ("its title", "where it is", "the last", "schedule", "of the site", "seats")
    beside = [line.partition(" #")[2].strip() for line in lines if " #" in line]
    return sorted(
        [*(line for line in lines if line.startswith("#")), *(c for c in beside if c.endswith(kept))]
    )


def times_of(dates: Expansion) -> dict[str, tuple[int, int, Seats]]:
    return {
        occurrence.id: (occurrence.start, occurrence.end, occurrence.seats)
        for occurrence in dates.occurrences
    }


def edited(before: Project, edit: OccurrenceEdit) -> EditResult | str:
    """What the edit makes of the project, or why its arguments are refused."""
    try:
        return edit_occurrence(before.pipeline, "course", edit)
    except CommandError as refused:
        return str(refused)
    except FindingsError as refused:
        return EditResult(FILE, before.text, refused.findings, None)


def after(before: Project, result: EditResult | str) -> Project:
    """The project with the new text, which is valid and has all comments."""
    assert not isinstance(result, str), result
    assert result.findings == ()
    assert result.text is not None
    made = project(result.text)
    assert made is not None, result.text
    # `end` removes a schedule that no date is left for.
    gone = set() if " schedule:" in result.text else {"beside schedule"}
    assert comments(result.text) == [comment for comment in comments(before.text) if comment not in gone]
    return made


def is_refused(before: Project, edit: OccurrenceEdit, *codes: str) -> bool:
    """It is refused with one of the findings, or its arguments are, or there is nothing to do."""
    result = edited(before, edit)
    if isinstance(result, str):
        return "usage" in codes
    if result.note:
        assert result.text == before.text
        return "note" in codes
    found = {finding.code for finding in result.findings}
    return bool(found) and found <= {*codes}


def as_shown(before: Project, one: Occurrence) -> OccurrenceSelector:
    """The date and start as lists show them; the id if others start then."""
    shown = local_text(one.start, named(one.zone))[4:]
    same = [
        other for other in before.dates.occurrences if local_text(other.start, named(one.zone))[4:] == shown
    ]
    if len(same) == 1:
        return OccurrenceSelector(shown[:10], shown[11:])
    if one.name and one.name not in [other.name for other in same if other != one]:
        return OccurrenceSelector(shown[:10], shown[11:], name=one.name)
    original = one.id.rpartition("/")[2].partition("~")[0]
    return OccurrenceSelector(original[:10], original[11:], is_id=True, name=one.name)


def is_closed(result: EditResult | str) -> bool:
    """The times that are asked for are not possible, because the site is closed then."""
    return isinstance(result, str) and result.startswith("the site is closed on ")


def check_skip(before: Project, one: Occurrence) -> None:
    edit = skip_dates([as_shown(before, one)])
    rest = times_of(before.dates)
    result = edited(before, edit)
    made = after(before, result)
    del rest[one.id]
    assert times_of(made.dates) == rest
    when = made.reservation.recurrence
    excepts = before.reservation.recurrence.excepts
    if len(when.excepts) > len(excepts):  # what is new has an effect
        without = made.reservation._replace(recurrence=when._replace(excepts=excepts))
        assert times_of(expand(without, made.pipeline.declared.calendars)) != rest


def check_move(before: Project, one: Occurrence, to: NewTimes) -> None:
    """The start goes where it should; without an end, the occurrence keeps its length."""
    if to == NewTimes(one.date):
        return  # it drops what `moved` says of the date
    zone = named(one.zone)
    which, edit = as_shown(before, one), move_occurrence(as_shown(before, one), to)
    result = edited(before, edit)
    if is_closed(result):
        return
    if isinstance(result, str):
        assert to.end is not None
        return
    if result.note:
        return
    if result.findings:  # it would have the id of another one
        assert {finding.code for finding in result.findings} == {"B049"}, which
        assert "extra" in one.marks
        return
    found = times_of(after(before, result).dates)
    old, rest = times_of(before.dates), dict(found)
    same = {name: span for name, span in old.items() if name != one.id}
    if "extra" in one.marks:
        (new,) = [name for name in found if name not in same]
        assert rest.pop(new) == found[new]
    else:
        new = one.id
        rest.pop(new)
    assert rest == same
    start, end, seats = found[new]
    assert seats == one.seats
    if isinstance(to.day, str):
        assert str(day_of(local(zone, start))) in {
            to.day,
            str(date.fromisoformat(to.day) + timedelta(days=1)),
        }
    if to.end is None:
        assert abs((end - start) - (one.end - one.start)) <= 2 * 3600  # on the clock, it is equal
    if one.zone == "UTC":
        begin = to.start or clock(local(zone, one.start))
        assert local_text(start, zone)[4:] == f"{to.day or day_of(local(zone, one.start))} {begin}"
        assert to.end is not None or end - start == one.end - one.start


def check_end(before: Project, one: Occurrence, minutes: int) -> None:
    """It starts as before, and ends when it is asked to."""
    zone = named(one.zone)
    wall = local(zone, one.end) + minutes
    edit = move_occurrence(as_shown(before, one), NewTimes(end=clock(wall), end_day=str(day_of(wall))))
    result = edited(before, edit)
    if is_closed(result):
        return
    if isinstance(result, str):
        assert resolve(zone, wall) <= one.start + 3600
        return
    if result.note:
        assert resolve(zone, wall) == one.end
        return
    found = times_of(after(before, result).dates)
    old = times_of(before.dates)
    assert found.keys() == old.keys()
    assert {name: span for name, span in found.items() if name != one.id} == {
        name: span for name, span in old.items() if name != one.id
    }
    start, new, seats = found[one.id]
    assert (start, seats) == (one.start, one.seats)
    assert new == resolve(zone, wall)


def check_seats(before: Project, one: Occurrence, count: int) -> Project:
    """Only its seats change, and the usual count restores what was declared. Return it with other seats."""

    def set_to(project: Project, number: int) -> OccurrenceEdit:
        there = next(occurrence for occurrence in project.dates.occurrences if occurrence.id == one.id)
        return change_seats(as_shown(project, there), {ONLY_CLASS: number})

    usual = one.seats[0][1]
    assert is_refused(before, set_to(before, usual), "note")
    made = after(before, edited(before, set_to(before, count)))
    assert times_of(made.dates) == times_of(before.dates) | {one.id: (*one[3:5], (("small", count),))}
    marks = {occurrence.id: occurrence.marks for occurrence in made.dates.occurrences}
    expected = {occurrence.id: occurrence.marks for occurrence in before.dates.occurrences}
    if "extra" not in one.marks:  # its entry has the count; nothing says another one
        expected[one.id] += ("otherSeats",)
    assert marks == expected
    back = after(made, edited(made, set_to(made, usual)))
    assert back.reservation == before.reservation
    return made


def check_the_rest(before: Project, day: date) -> None:
    """A date without occurrences is refused, one with several asks; one that is left out says so."""
    dates = Dates(before.reservation, before.pipeline.declared.calendars)
    starts = [dates.shown(occurrence) for occurrence in dates.all if occurrence.happens]
    count = sum(day in map(day_of, both) for both in starts)
    left_out = {one.date for one in before.dates.skipped}
    skipped = [one.id.partition("~") for one in before.dates.skipped]
    left_out |= {
        str(move.to_day)
        for move in before.reservation.recurrence.moves
        for begin, _, name in skipped
        if begin == f"course/{move.day}T{clock(move.start or 0)}" and move.name in (name, None)
    }
    which = OccurrenceSelector(str(day), None)
    skip = skip_dates([which])
    others = (
        move_occurrence(which, NewTimes(end="00:00", end_day="2026-12-31")),
        change_seats(which, {ONLY_CLASS: 9}),
    )
    if count == 1:
        return
    if count > 1:
        assert is_refused(before, skip, "B047")
        assert all(is_refused(before, edit, "B047") for edit in others)
    else:
        assert is_refused(before, skip, "note" if str(day) in left_out else "B045")
        assert all(is_refused(before, edit, "B045") for edit in others)


def check_set(before: Project, argument: str, expected: dict[str, Any]) -> None:
    """Fields that are not named stay."""
    assignment = parse_assignment(argument)

    def change(_: Reservation, tree: Any, make: MakeNode) -> None:
        apply_assignment(tree, assignment, make)

    found = after(before, edit_reservation(before.pipeline, "course", change))
    spec = before.reservation.spec
    declared = {key: value for key, value in expected.items() if key in type(spec).model_fields}
    resolved = {key: getattr(before.reservation, key) for key in expected if key in Reservation._fields}
    assert found.reservation._replace(spec=spec, **resolved) == before.reservation
    assert {**dict(plain_settings(found.reservation)), **declared} == (
        {**dict(plain_settings(before.reservation)), **declared}
    )
    assert {key: getattr(found.reservation, key) for key in expected} == expected
    spans = [
        [(occurrence.id, occurrence.start, occurrence.end) for occurrence in made.dates.occurrences]
        for made in (before, found)
    ]
    assert spans[0] == spans[1]


def check_restored(before: Project, one: Occurrence) -> None:
    """What `skip`, `move` and `set --on` wrote goes again, byte by byte."""
    if "extra" in one.marks or "moved" in one.marks or "otherSeats" in one.marks or not is_block(before):
        return
    which = as_shown(before, one)
    original = one.id.rpartition("/")[2].partition("~")[0]
    day = original[:10]
    if any(str(move.day) == day for move in before.reservation.recurrence.moves):
        return  # an entry that moves it to where it is
    again = OccurrenceSelector(day, original[11:], is_id=True, name=one.name)
    itself = move_occurrence(again, NewTimes(day))
    edits = [
        (move_occurrence(which, NewTimes("2026-12-24"), {ONLY_CLASS: 777}), itself),
        (move_occurrence(which, NewTimes(end="00:00", end_day="2026-12-31")), itself),
        (change_seats(which, {ONLY_CLASS: 777}), itself),
    ]
    if all(skipped.date != day for skipped in before.dates.skipped):
        edits.append((skip_dates([which], "Why: not"), restore_date(day)))
    for edit, back in edits:
        result = edited(before, edit)
        if isinstance(result, str) or result.note or result.findings:
            continue
        restored = edited(after(before, result), back)
        assert isinstance(restored, EditResult)
        assert restored.text == before.text


def is_block(before: Project) -> bool:
    """Its lists are block lists of one indentation, as commands write them."""
    is_flow = re.search(r"(except|moved|extra): \[", before.text) is not None
    return not is_flow and edit_document(before.text, 0, lambda _tree, _make: None) == before.text


def check_add(before: Project, day: date, times: TimeSpan, name: str) -> None:
    """There is one occurrence more, which `skip` removes again; or the id, or the time, is taken."""
    result = edited(before, add_occurrence(str(day), times, {ONLY_CLASS: 3}, name))
    if isinstance(result, str):
        assert is_closed(result) or times.start == times.end
        return
    if result.findings:
        assert {finding.code for finding in result.findings} == {"B049"}
        return
    made = after(before, result)
    new = times_of(made.dates).keys() - times_of(before.dates).keys()
    (one,) = (occurrence for occurrence in made.dates.occurrences if occurrence.id in new)
    assert (one.seats, one.name) == ((("small", 3),), name)
    assert times_of(made.dates) == times_of(before.dates) | {one.id: (one.start, one.end, one.seats)}
    back = edited(made, skip_dates([as_shown(made, one)]))
    assert isinstance(back, EditResult)
    if is_block(before):
        assert back.text == before.text
    assert after(made, back).reservation == before.reservation


def check_end_of_series(before: Project, day: date) -> None:
    """Nothing happens after the day, and what happens until then stays as it is."""

    def until(project: Project) -> list[tuple[int, int, Seats, str]]:
        found = [
            (occurrence.start, occurrence.end, occurrence.seats, occurrence.name)
            for occurrence in project.dates.occurrences
        ]
        return sorted(one for one in found if str(day_of(local(zone, one[0]))) <= str(day))

    zone = named(before.reservation.recurrence.zone)
    result = edited(before, end_series(str(day)))
    if isinstance(result, str):
        is_after_all = len(until(before)) == len(before.dates.occurrences)
        assert "end adds no dates" in result if is_after_all else result.startswith("nothing would be left")
        return
    if result.note:
        assert len(until(before)) == len(before.dates.occurrences)
        return
    if result.findings:  # moved to a date where another one starts then, or `once` without a length
        assert {finding.code for finding in result.findings} <= {"B049", "B024"}
        return
    made = after(before, result)
    assert len(until(made)) == len(made.dates.occurrences)
    if before.reservation.recurrence.type != "once":
        assert until(made) == until(before)


FEW = 40
MANY = max(150, settings().max_examples)
few_or_many = pytest.mark.parametrize(
    "examples", [FEW, pytest.param(MANY, id="many", marks=pytest.mark.long)]
)


@few_or_many
def test_restoring_adding_or_ending_dates_changes_nothing_else(examples: int) -> None:
    minutes = st.integers(0, 47).map(lambda half: half * 30)

    @settings(
        max_examples=examples,
        database=None,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(
        projects(),
        st.data(),
        st.integers(-9, 3),
        minutes,
        minutes,
        st.sampled_from(["", "late", "extra-time"]),
    )
    def check(before: Project, data: st.DataObject, days: int, start: int, end: int, group: str) -> None:  # noqa: PLR0913, PLR0917 - drawn
        one = data.draw(st.sampled_from(before.dates.occurrences))
        near = date.fromisoformat(one.date) + timedelta(days=days)
        check_restored(before, one)
        check_add(before, near, TimeSpan(start, end), group)
        check_end_of_series(before, near)

    check()


@few_or_many
def test_an_edit_makes_its_change_and_no_other(examples: int) -> None:
    @settings(
        max_examples=examples,
        database=None,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(projects(), st.data())
    def check(before: Project, data: st.DataObject) -> None:
        listed = before.dates.occurrences
        # A normal run tries a few of them, a long one each.
        chosen = (
            listed if examples > FEW or len(listed) < 3 else [listed[0], data.draw(st.sampled_from(listed))]
        )
        for chosen_one in chosen:
            one, here = chosen_one, before
            if data.draw(st.booleans()):  # the other edits keep its seats
                here = check_seats(before, one, data.draw(st.integers(6, 500)))
                one = next(occurrence for occurrence in here.dates.occurrences if occurrence.id == one.id)
            check_skip(here, one)
            day = data.draw(st.one_of(st.none(), st.dates(FIRSTS[0], date(2026, 11, 20)).map(str)))
            start = data.draw(st.one_of(times, st.none()) if day else times)
            check_move(
                here, one, NewTimes(day, start, data.draw(st.one_of(st.none(), times)) if start else None)
            )
            check_end(here, one, data.draw(st.integers(-4, 96)) * 30)
            check_the_rest(here, date.fromisoformat(one.date) + timedelta(days=data.draw(st.integers(-3, 3))))
        number = data.draw(st.integers(1, 500))
        seats, suspended = (("small", number),), data.draw(st.booleans())
        check_set(before, "title=Another: one", {"title": "Another: one"})
        check_set(before, f"suspend={suspended}".lower(), {"suspend": suspended})
        schedule = tuple(entry._replace(seats=seats) for entry in before.reservation.recurrence.schedule)
        extras = tuple(entry._replace(seats=seats) for entry in before.reservation.recurrence.extras)
        recurrence = before.reservation.recurrence._replace(schedule=schedule, extras=extras)
        check_set(
            before, f"provisioning.placeholderCount={number}", {"seats": seats, "recurrence": recurrence}
        )

    check()

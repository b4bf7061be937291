"""The target of a pool follows from its occurrences and the moment, and from nothing else."""

from itertools import combinations_with_replacement, product

import pytest
from berth.core.target import full_count, next_change, open_now, opens_within, target
from berth.core.timetable import TimetableOccurrence

from tests.runtime.world import at

SMALL = full_count("small")


def occurrence(start: int, end: int, count: int, lead: int, name: str = "a") -> TimetableOccurrence:
    return TimetableOccurrence(name, start - lead, start, end, (("small", count),))


BACK_TO_BACK = (
    occurrence(at("08:00"), at("10:00"), 25, 30 * 60),
    occurrence(at("10:00"), at("12:00"), 25, 30 * 60),
)
OVERLAPPING = (
    occurrence(at("08:00"), at("10:00"), 20, 30 * 60),
    occurrence(at("09:00"), at("11:00"), 30, 30 * 60),
)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [("07:29", 0), ("07:30", 25), ("09:45", 25), ("10:00", 25), ("11:59", 25), ("12:00", 0)],
)
def test_back_to_back_occurrences_do_not_double(moment: str, expected: int) -> None:
    assert expected == target(BACK_TO_BACK, at(moment), SMALL)


@pytest.mark.parametrize(
    ("moment", "expected"), [("08:15", 20), ("08:45", 50), ("09:30", 50), ("10:00", 30), ("11:00", 0)]
)
def test_overlapping_occurrences_add_up_and_are_held_from_the_lead_on(moment: str, expected: int) -> None:
    assert expected == target(OVERLAPPING, at(moment), SMALL)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [("07:29", 0), ("07:30", 30), ("08:29", 30), ("08:30", 20), ("09:30", 20), ("10:30", 20), ("11:00", 0)],
)
def test_the_smallest_counts_from_its_lead_on(moment: str, expected: int) -> None:
    occurrences = (
        occurrence(at("08:00"), at("10:00"), 30, 30 * 60),
        occurrence(at("09:00"), at("11:00"), 20, 30 * 60),
    )
    rehearsal = occurrence(at("06:00"), at("06:30"), 10, 0, "b/rehearsal")._replace(rehearses="b")

    assert target(occurrences, at(moment), SMALL, "min") == expected
    assert target((*occurrences, rehearsal), at("06:15"), SMALL, "min") == 10


def test_with_one_lead_for_all_the_target_is_the_most_that_will_run_within_the_lead() -> None:
    """Checked over every three occurrences of a small domain, against each moment of the lead in turn."""
    spans = [(start, end) for start in range(3, 7) for end in range(start + 1, 8)]

    for lead, chosen in product((0, 1, 2), combinations_with_replacement(spans, 3)):
        occurrences = [
            occurrence(start, end, count, lead)
            for (start, end), count in zip(chosen, (1, 10, 100), strict=True)
        ]
        for now in range(9):
            expected = max(
                sum(item.seats[0][1] for item in occurrences if item.start <= moment < item.end)
                for moment in range(now, now + lead + 1)
            )

            assert expected == target(occurrences, now, SMALL)


def test_the_order_of_occurrences_does_not_matter() -> None:
    for now in range(at("07:00"), at("12:30"), 300):
        assert target(OVERLAPPING, now, SMALL) == target(reversed(OVERLAPPING), now, SMALL)


def test_each_class_is_counted_for_itself() -> None:
    mixed = (
        TimetableOccurrence("a", 0, 1, 9, (("small", 3), ("huge", 2))),
        TimetableOccurrence("b", 0, 1, 9, (("huge", 5),)),
    )

    assert tuple(target(mixed, 4, full_count(name)) for name in ("small", "huge", "tiny")) == (3, 7, 0)


def test_what_an_occurrence_asks_for_is_the_callers_to_say() -> None:
    assert target(OVERLAPPING, at("09:30"), lambda _item: 1) == 2


def test_occurrences_are_open_from_open_to_before_end() -> None:
    first, second = OVERLAPPING

    assert open_now(OVERLAPPING, at("07:30") - 1) == ()
    assert (first,) == open_now(OVERLAPPING, at("07:30"))
    assert (first, second) == open_now(OVERLAPPING, at("10:00") - 1)
    assert (second,) == open_now(OVERLAPPING, at("10:00"))
    assert open_now(OVERLAPPING, at("11:00")) == ()


def test_nothing_changes_between_the_instants_that_next_change_names() -> None:
    now, instants = at("07:00"), []
    while (coming := next_change(OVERLAPPING, now)) is not None:
        assert len({target(OVERLAPPING, moment, SMALL) for moment in range(now, coming, 60)}) == 1
        now = coming
        instants.append(coming)

    assert [at(text) for text in ("07:30", "08:00", "08:30", "09:00", "10:00", "11:00")] == instants


def test_the_first_that_opens_soon_is_named() -> None:
    first, second = OVERLAPPING

    assert opens_within(OVERLAPPING, at("07:28") - 1, 120) is None
    assert first is opens_within(OVERLAPPING, at("07:28"), 120)
    assert opens_within(OVERLAPPING, at("07:30"), 120) is None
    assert first is opens_within((second, first), at("07:00"), 7200)
    assert second is opens_within(OVERLAPPING, at("07:30"), 3600)


@pytest.mark.parametrize(("overlap", "expected"), [("sum", [60, 120, 120, 60]), ("max", [60, 60, 60, 60])])
def test_a_rehearsal_asks_for_seats_of_its_own_also_in_the_lead_of_a_window(
    overlap: str, expected: list[int]
) -> None:
    window = occurrence(at("09:00"), at("11:00"), 60, 30 * 60)
    rehearsal = occurrence(at("08:15"), at("08:45"), 60, 0, "b/rehearsal")._replace(rehearses="b")
    moments = ("08:20", "08:30", "08:44", "08:45")
    assert expected == [target((window, rehearsal), at(moment), SMALL, overlap) for moment in moments]

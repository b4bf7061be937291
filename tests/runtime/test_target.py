"""The target of a pool follows from occurrences, sessions and the moment, and each change has a reason."""

from itertools import combinations_with_replacement, product

import pytest
from berth.core.target import full_count, next_change, placeholders, target
from berth.core.timetable import TimetableOccurrence

from tests.cases import Case, read
from tests.runtime.timetables import at

# The formula


CASES = [case for case in read("formula") if "behavior" in case]
WINDOW = (at("08:30"), at("09:00"), at("12:00"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]).lower())
def test_every_case_has_the_expected_target(case: Case) -> None:
    first, last = str(case.get("window", "09:00-12:00")).split("-")
    start, end = at(first), at(last)
    window = (start - 60 * int(case.get("lead", 0)), start, end)
    if "at_each_hour" in case:
        expected = {start + 3600 * hour: int(target) for hour, target in enumerate(case["at_each_hour"])}
    else:
        expected = {at(case["at"]): int(case["target"])}

    found = {
        now: placeholders(case["behavior"], int(case["count"]), int(case["active"]), window, now)
        for now in expected
    }
    assert expected == found


@pytest.mark.parametrize("behaviour", ["none", "maintain", "reduce"])
def test_the_target_is_zero_before_the_opening_and_from_the_end_on(behaviour: str) -> None:
    opens, _, end = WINDOW
    moments = (opens - 1, opens, end - 1, end)

    found = [placeholders(behaviour, 20_000, 0, WINDOW, now) > 0 for now in moments]
    assert found == [False, True, True, False]


def test_reduce_rounds_to_the_nearest_whole_number_and_a_half_up() -> None:
    for count, active, now in product(range(8), range(8), range(41)):
        window = (0, 10, 40)
        exact = max(count - active, 0) * min(1, (40 - now) / 30)
        expected = int(exact + 0.5) if now < 40 else 0

        assert expected == placeholders("reduce", count, active, window, now)


# Occurrences


SMALL = full_count("small")


def occurrence(start: int, end: int, count: int, lead: int, name: str = "a") -> TimetableOccurrence:
    return TimetableOccurrence(name, start - lead, start, end, (("small", count),))


def overlapping(first: int, second: int) -> tuple[TimetableOccurrence, ...]:
    starts = {first: ("08:00", "10:00"), second: ("09:00", "11:00")}
    return tuple(occurrence(at(start), at(end), count, 1800) for count, (start, end) in starts.items())


OVERLAPPING = overlapping(20, 30)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [("07:29", 0), ("07:30", 30), ("08:29", 30), ("08:30", 20), ("09:30", 20), ("10:30", 20), ("11:00", 0)],
)
def test_with_overlap_min_the_smallest_occurrence_counts_from_its_lead_on(moment: str, expected: int) -> None:
    occurrences = overlapping(30, 20)
    rehearsal = occurrence(at("06:00"), at("06:30"), 10, 0, "b/rehearsal")._replace(rehearses="b")

    assert target(occurrences, at(moment), SMALL, "min") == expected
    assert target((*occurrences, rehearsal), at("06:15"), SMALL, "min") == 10


def test_with_equal_leads_the_target_is_the_maximum_within_the_lead() -> None:
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


def test_the_target_is_constant_between_the_instants_of_next_change() -> None:
    now, instants = at("07:00"), []
    while (coming := next_change(OVERLAPPING, now)) is not None:
        assert len({target(OVERLAPPING, moment, SMALL) for moment in range(now, coming, 60)}) == 1
        now = coming
        instants.append(coming)

    assert [at(text) for text in ("07:30", "08:00", "08:30", "09:00", "10:00", "11:00")] == instants


@pytest.mark.parametrize(("overlap", "expected"), [("sum", [60, 120, 120, 60]), ("max", [60, 60, 60, 60])])
def test_rehearsal_seats_combine_with_the_lead_of_a_window_by_the_overlap_rule(
    overlap: str, expected: list[int]
) -> None:
    window = occurrence(at("09:00"), at("11:00"), 60, 30 * 60)
    rehearsal = occurrence(at("08:15"), at("08:45"), 60, 0, "b/rehearsal")._replace(rehearses="b")
    moments = ("08:20", "08:30", "08:44", "08:45")
    assert expected == [target((window, rehearsal), at(moment), SMALL, overlap) for moment in moments]

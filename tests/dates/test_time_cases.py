"""The cases of tests/cases/: reservations with known dates."""

from datetime import datetime

import pytest
from berth.dates.cronschedules import schedules
from berth.dates.recurrence import expand
from berth.notation.times import end_time
from berth.schema.documentproblems import Refusal

from tests.cases import Case, entry, of_case, read, recurrence, reservation, tabled, text

CASES = [*read("time"), *read("requests")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_every_case_has_the_expected_occurrences(case: Case) -> None:
    declared, calendars = of_case(case)
    expansion = expand(declared, calendars)
    occurrences = expansion.occurrences
    seen = {
        "starts": [text(occurrence.start) for occurrence in occurrences],
        "ends": [text(occurrence.end) for occurrence in occurrences],
        "opens": [text(occurrence.open) for occurrence in occurrences],
        "ids": [occurrence.id for occurrence in occurrences],
        "marks": [list(occurrence.marks) for occurrence in occurrences],
        "hours": [f"{(occurrence.end - occurrence.start) / 3600:g}" for occurrence in occurrences],
        "on": {
            occurrence.date: text(occurrence.start)[11:16]
            for occurrence in occurrences
            if occurrence.date in case.get("on", ())
        },
        "number": str(len(occurrences)),
        "schedules": list(
            schedules([occurrence.open for occurrence in occurrences], declared.recurrence.zone)
        ),
    }

    assert expansion.problems == ()
    assert {key: case[key] for key in seen if key in case} == {key: seen[key] for key in seen if key in case}


def test_d08_half_of_the_seven_hour_night_is_three_and_a_half_hours() -> None:
    night = expand(
        reservation(recurrence("once", "Europe/Zurich", entry("22:00-06:00"), days="2026-03-28")), {}
    ).occurrences[0]

    assert night.start + 3.5 * 3600 == (night.start + night.end) / 2


@tabled("dates")
def test_windows_are_half_open(hours: str, inside: list[str], outside: list[str]) -> None:
    one = expand(reservation(recurrence("once", "UTC", entry(hours), days="2026-05-04")), {}).occurrences[0]

    def holds(moment: str) -> bool:
        return one.start <= datetime.fromisoformat(f"2026-05-{moment}Z").timestamp() < one.end

    assert [True] * len(inside) == [holds(moment) for moment in inside]
    assert [False] * len(outside) == [holds(moment) for moment in outside]


def test_w20_there_is_no_26th_hour() -> None:
    with pytest.raises(Refusal):
        end_time("26:00")

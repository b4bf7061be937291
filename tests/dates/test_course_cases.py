"""The cases of tests/cases/courses.yaml: what timetables say, from the text of a file to instants."""

from pathlib import Path

import pytest
from berth.dates.recurrence import expand
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.entry import StandardSeats
from berth.schema.recurrencespec import RecurrenceSpec
from berth.schema.values import Scaling

from tests.cases import SEATS, Case, reservation, text, told
from tests.saying import ask

FILE = Path(__file__).parents[1] / "cases" / "courses.yaml"
CASES = parse(Source("courses.yaml", FILE.read_bytes()))[0][0].value
assert isinstance(CASES, list)

USUAL = Scaling(30, "maintain")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_every_case_has_the_expected_occurrences(case: Case) -> None:
    checked, problems = ask(RecurrenceSpec, {"timeZone": "Europe/Zurich", **case["recurrence"]})
    expansion = expand(reservation(checked.recurrence(StandardSeats(SEATS, (USUAL,), USUAL))), {})
    occurrences = expansion.occurrences
    seen = {
        "starts": [text(occurrence.start).replace(":00Z", "Z") for occurrence in occurrences],
        "ends": [text(occurrence.end).replace(":00Z", "Z") for occurrence in occurrences],
        "ids": [occurrence.id.removeprefix("course/") for occurrence in occurrences],
        "seats": [count for occurrence in occurrences for _, count in occurrence.seats],
        "skipped": [one.id.removeprefix("course/") for one in expansion.skipped],
        "problems": told(expansion),
    }

    assert problems == []
    assert {key: seen[key] for key in seen if key in {"problems", *case}} == {
        "problems": [],
        **{key: case[key] for key in seen if key in case},
    }

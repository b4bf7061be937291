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
def test_every_case_comes_out_as_it_says(case: Case) -> None:
    checked, problems = ask(RecurrenceSpec, {"timeZone": "Europe/Zurich", **case["recurrence"]})
    made = expand(reservation(checked.recurrence(StandardSeats(SEATS, (USUAL,), USUAL))), {})
    found = made.occurrences
    seen = {
        "starts": [text(one.start).replace(":00Z", "Z") for one in found],
        "ends": [text(one.end).replace(":00Z", "Z") for one in found],
        "ids": [one.id.removeprefix("course/") for one in found],
        "seats": [count for one in found for _, count in one.seats],
        "skipped": [one.id.removeprefix("course/") for one in made.skipped],
        "problems": told(made),
    }

    assert problems == []
    assert {key: seen[key] for key in seen if key in {"problems", *case}} == {
        "problems": [],
        **{key: case[key] for key in seen if key in case},
    }

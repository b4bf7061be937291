"""A field that is added to the model is everywhere, without further code."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from berth import cli
from berth.edit.create import reservation_yaml
from berth.pipeline import Pipeline
from berth.schema import declared
from berth.schema.basemodel import Whole, field
from berth.schema.describe import json_schema
from berth.schema.plainfields import plain_settings
from berth.schema.reservation import Reservation, ReservationDocument
from berth.schema.reservationspec import ReservationSpec

from tests import fieldspage
from tests.diff.conftest import Pair

MEANING = "how urgent it is"


class UrgentSpec(ReservationSpec):
    urgency: Annotated[int, Whole(1, 9)] | None = field(None, MEANING)


class UrgentDocument(ReservationDocument):
    spec: UrgentSpec


@pytest.fixture(autouse=True)
def _urgency(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("berth.schema.reservation.ReservationDocument", UrgentDocument)
    declared.document_of.cache_clear()
    yield
    declared.document_of.cache_clear()


def write(pair: Pair, value: str) -> None:
    pair.edit("course.yaml", "spec:\n", f"spec:\n  urgency: {value}\n")


def course(pair: Pair) -> Reservation:
    (found,) = (each for each in Pipeline(str(pair.now)).declared.reservations if each.name == "course")
    return found


def run(folder: Path, *words: str) -> int:
    return cli.run(["-C", str(folder), *words])


def test_a_new_field_is_validated(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    write(pair, "high")

    assert run(pair.now, "validate") == 1
    assert "error[B013] spec.urgency" in capsys.readouterr().out


def test_a_new_field_is_in_the_json_schema_and_on_the_page_of_fields() -> None:
    assert MEANING in json.dumps(json_schema())
    assert "`urgency`" in fieldspage.kinds()


def test_diff_reports_a_new_field(pair: Pair) -> None:
    write(pair, "3")
    answer: Any = pair.change()
    (change,) = answer["reservations"]

    assert change["fields"] == [{"what": "urgency", "before": "", "after": "3"}]


def test_policies_compare_a_new_field(pair: Pair) -> None:
    """They compare these settings, and so find that it is another reservation."""
    write(pair, "3")

    assert ("urgency", 3) in plain_settings(course(pair))


def test_set_writes_a_new_field(pair: Pair) -> None:
    assert run(pair.now, "set", "course", "urgency=4") == 0

    assert "\n  urgency: 4\n" in reservation_yaml(course(pair))

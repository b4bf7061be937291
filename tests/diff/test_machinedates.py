"""A change of the dates of machines is a change of the reservations that have these dates."""

import json
import shutil
from pathlib import Path

import pytest
from berth import cli

from tests.cli import clouds
from tests.diff.conftest import Pair

AT = "2026-01-01"


@pytest.fixture
def block(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Pair:
    folder = tmp_path / "rendered"
    folder.mkdir()
    clouds.write_block(folder)
    cli.run(["-C", str(folder), "render"])
    capsys.readouterr()
    pair = Pair(folder, tmp_path, capsys)
    shutil.rmtree(folder)
    return pair


def test_a_block_that_is_extended_changes_the_end_of_the_window(block: Pair) -> None:
    block.edit("cloud.yaml", "2026-02-04T11:30:00Z", "2026-02-06T11:30:00Z")

    (change,) = json.loads(block.diff("-o", "json", at=AT).out)["reservations"]
    text = block.diff(at=AT).out

    assert change["name"] == "sprint"
    assert change["causes"] == [{"kind": "CloudCapacity", "name": "general"}]
    assert change["occurrences"] == {"added": 0, "removed": 0, "changed": 1, "kept": 0}
    assert "1 reservation, 1 date changes; seat-hours 189.33 -> 381.33" in text


def test_a_block_of_another_day_takes_the_date_away_and_adds_one(block: Pair) -> None:
    block.edit("cloud.yaml", "2026-02-02T11:30:00Z", "2026-02-03T11:30:00Z")

    (change,) = json.loads(block.diff("-o", "json", at=AT).out)["reservations"]

    assert change["occurrences"] == {"added": 1, "removed": 1, "changed": 0, "kept": 0}
    assert "1 date goes, 1 comes" in block.diff(at=AT).out


def test_another_lead_changes_the_start_and_keeps_the_date(block: Pair) -> None:
    block.edit("sprint.yaml", "Count: 4", "Count: 4, leadTimeMinutes: 60")

    (change,) = json.loads(block.diff("-o", "json", at=AT).out)["reservations"]

    assert change["occurrences"] == {"added": 0, "removed": 0, "changed": 1, "kept": 0}
    assert "13:00 to Wed 11:50 -> 13:30 to Wed 11:50" in block.diff(at=AT).out


def test_the_lead_of_one_class_is_shown_with_its_name_alone(block: Pair) -> None:
    seats = "seats: [{resourceClass: small, placeholderCount: 4, leadTimeMinutes: LEAD}]"
    for folder, lead in ((block.was, "40"), (block.now, "50")):
        text = clouds.OF_BLOCK.replace("  resourceClass: small\n", "")
        text = text.replace("placeholderCount: 4", seats.replace("LEAD", lead))
        (folder / "reservations/sprint.yaml").write_text(text, "utf-8")

    assert "~   lead of small: 40 min -> 50 min" in block.diff(at=AT).out


def test_another_count_of_machines_changes_no_reservation(block: Pair) -> None:
    block.edit("cloud.yaml", "count: 2", "count: 3")

    assert json.loads(block.diff("-o", "json", at=AT).out)["reservations"] == []

"""A reservation with the dates of a Capacity Block, through the commands that show dates and machines."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cli import clouds

NOW = ("--now", "2026-01-01T00:00:00Z")
ID = "sprint/2026-02-02T12:30"


@pytest.fixture
def block(folder: Path) -> Path:
    return clouds.write_block(folder)


def answer(berth: Berth, *words: str) -> Any:
    code, out, _ = berth(*words, *NOW, "-o", "json")
    assert code == 0
    return json.loads(out)


@pytest.mark.usefixtures("block")
def test_lists_show_the_dates_of_the_machines_in_the_zone_of_the_reservation(berth: Berth) -> None:
    (item,) = answer(berth, "occurrences")["items"]

    assert [item[key] for key in ("id", "open", "start", "end", "timeZone", "marks")] == [
        ID,
        "2026-02-02T11:30:00Z",
        "2026-02-02T12:00:00Z",
        "2026-02-04T10:50:00Z",
        "Europe/Zurich",
        ["overnight"],
    ]
    (listed,) = answer(berth, "list")["items"]
    assert (listed["occurrences"], listed["next"]) == (1, "2026-02-02T11:30:00Z")


def test_the_timetable_and_the_cronjob_have_the_dates_of_the_machines(berth: Berth, block: Path) -> None:
    assert berth("render").code == 0
    rendered = next((block / "rendered").rglob("sprint.yaml")).read_text("utf-8")

    assert f'{{"id": "{ID}", "open": "2026-02-02T11:30:00Z", "start": "2026-02-02T12:00:00Z"' in rendered
    assert 'schedule: "30 12 2 2 *"' in rendered


@pytest.mark.usefixtures("block")
def test_calendars_and_simulations_have_the_dates_of_the_machines(berth: Berth) -> None:
    ics = berth("occurrences", *NOW, "-o", "ics").out
    assert "DTSTART:20260202T120000Z" in ics
    assert "DTEND:20260204T105000Z" in ics

    for words in ((), ("--on", "2026-02-02"), ("--on", ID)):
        items = answer(berth, "simulate", "sprint", *words)["items"]
        assert [(item["at"], item["target"]) for item in items if item["target"]] == [
            ("2026-02-02T11:30:00Z", 4),
            ("2026-02-02T12:00:00Z", 4),
        ]


@pytest.mark.usefixtures("block")
def test_a_plan_has_no_machines_before_the_block_and_no_seats_after_it(berth: Berth) -> None:
    (date,) = answer(berth, "plan")["occurrences"]

    assert (date["open"], date["end"]) == ("2026-02-02T11:30:00Z", "2026-02-04T10:50:00Z")


def test_a_short_lead_time_gets_the_warning_b199_with_a_longer_lead_time(berth: Berth, block: Path) -> None:
    def planned(lead: int) -> tuple[int, str]:
        longer = clouds.OF_BLOCK.replace("Count: 4", f"Count: 4, leadTimeMinutes: {lead}")
        clouds.write_block(block, sprint=longer)
        code, _, err = berth("plan", *NOW)
        return code, err

    code, err = planned(0)

    assert (code, "warning[B199]" in err) == (0, True)
    assert "Write leadTimeMinutes: 3 or more." in err
    assert planned(3) == (0, "")


def test_an_unknown_cloudcapacity_is_reported_with_a_suggestion(berth: Berth, block: Path) -> None:
    clouds.write_block(block, sprint=clouds.OF_BLOCK.replace("general", "genral"))

    code, out, _ = berth("validate")

    assert code == 1
    assert out.startswith("reservations/sprint.yaml:6:47: error[B061] spec.recurrence.cloudCapacity: ")
    assert out.count("error[") == 1
    assert "Did you mean general?" in out


def test_an_unknown_cloudcapacity_is_reported_beside_other_faults(berth: Berth, block: Path) -> None:
    faulty = clouds.OF_BLOCK.replace("general", "genral").replace("Count: 4", "Count: 0")
    clouds.write_block(block, sprint=faulty)

    out = berth("validate").out

    assert [code for code in ("B061", "B012") if f"error[{code}]" in out] == ["B061", "B012"]


def test_a_faulty_cloudcapacity_is_reported_without_its_reservations(berth: Berth, block: Path) -> None:
    clouds.write_block(block, cloud=clouds.BLOCK.replace("count: 2", "count: 0"))

    code, out, _ = berth("validate")

    assert (code, out.count("error["), "error[B012]" in out) == (1, 1, True)


def test_a_cloudcapacity_in_an_unreadable_file_is_not_reported_as_unknown(berth: Berth, block: Path) -> None:
    clouds.write_block(block, cloud="{")

    out = berth("validate").out

    assert "error[B003]" in out
    assert "B061" not in out

"""What the commands tell of a reservation that holds whole nodes: nodes, and never seats."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cli import clouds

NOW = ("--now", "2026-01-01")
LIST = """\
NAME    CLUSTER  SEATS             OCCURRENCES  SEAT-HOURS  NEXT OPENING
course  prod     25 small          2            225         Mon 2026-02-02 08:30
exam    prod     5 nodes of small  1                        Thu 2026-02-12 08:30
"""
OCCURRENCES = """\
RESERVATION  LOCAL TIME                  OPENS UTC  UTC          SEATS             MARKS
exam         Thu 2026-02-12 09:00-12:00  07:30      08:00-11:00  5 nodes of small
"""
WIDE = """\
RESERVATION  LOCAL TIME                  ZONE           OPEN (UTC)        START             END               SEATS             CLUSTER  MARKS
exam         Thu 2026-02-12 09:00-12:00  Europe/Zurich  2026-02-12 07:30  2026-02-12 08:00  2026-02-12 11:00  5 nodes of small  prod
"""  # noqa: E501 - as it is


@pytest.fixture(autouse=True)
def exam(folder: Path) -> Path:
    return clouds.write(folder, site=clouds.STATIC, exam=clouds.EXAM, night=None, rest=None)


def items(berth: Berth, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(berth(*words, *NOW, "-o", "json").out)["items"]
    return found


def test_list_counts_nodes_and_no_seat_hours(berth: Berth) -> None:
    assert berth("list", *NOW) == (0, LIST, "")
    exam = items(berth, "list")[1]
    assert [exam[key] for key in ("seats", "nodes", "seatHours", "backend")] == [
        *({}, {"small": 5}, None, "nodePool"),
    ]


@pytest.mark.parametrize(("form", "expected"), [("text", OCCURRENCES), ("wide", WIDE)])
def test_the_occurrences_table_shows_nodes(berth: Berth, form: str, expected: str) -> None:
    assert berth("occurrences", "exam", *NOW, "-o", form) == (0, expected, "")


def test_occurrences_have_nodes_in_json_and_in_calendars(berth: Berth) -> None:
    (found,) = items(berth, "occurrences", "exam")

    assert (found["seats"], found["nodes"]) == ({}, {"small": 5})
    assert "DESCRIPTION:5 nodes of small in prod\\, open from Thu 2026-02-12" in (
        berth("occurrences", "exam", *NOW, "-o", "ics").out
    )


def test_set_changes_the_node_count_of_one_date(berth: Berth, exam: Path) -> None:
    told = berth("set", "exam", "--on", "2026-02-12", "--seats", "7")
    assert "~ 09:00-12:00, 5 nodes of small -> 7 nodes of small: Thu 2026-02-12\n" in told.out
    text = (exam / "reservations/exam.yaml").read_text("utf-8")
    assert "- {date: 2026-02-12, to: {nodeCount: 7}}\n" in text
    assert items(berth, "occurrences", "exam")[0]["marks"] == ["otherSeats"]


def test_a_simulation_counts_nodes(berth: Berth) -> None:
    assert berth("simulate", "exam", *NOW).out.splitlines()[2] == "5 nodes of small in prod, none"


def test_one_node_is_written_in_the_singular(berth: Berth, folder: Path) -> None:
    clouds.write(folder, exam=clouds.EXAM.replace("nodeCount: 5", "nodeCount: 1"), site=clouds.STATIC)

    assert "  1 node of small  " in berth("list", *NOW).out


def test_compare_of_a_reservation_of_nodes_is_a_usage_error(berth: Berth) -> None:
    assert berth("simulate", "exam", "--compare", *NOW) == (
        2,
        "",
        "berth: exam can have no behavior but none: there is nothing to compare. Leave out --compare.\n",
    )
    assert berth("simulate", "exam", *NOW).code == 0

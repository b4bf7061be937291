"""A change of a reservation that holds whole nodes speaks of nodes, wherever others speak of seats."""

import json

import pytest
from berth import cli

from tests.cli import clouds
from tests.diff.conftest import Pair

OPEN = "2026-02-12T09:00:00Z"
COURSE = clouds.EXAM.replace("  backend: {type: nodePool}\n", "").replace(
    "nodeCount: 5", "placeholderCount: 5, scaleDownBehavior: none"
)


@pytest.fixture
def examined(pair: Pair) -> Pair:
    for folder in (pair.was, pair.now):
        clouds.write(folder, site=clouds.STATIC, exam=clouds.EXAM)
        cli.run(["-C", str(folder), "render"])
    return pair


def lines(told: str, heading: str) -> list[str]:
    """Of the part that begins with this line."""
    return told[told.index(heading) :].partition("\n\n")[0].splitlines()


def test_another_number_is_one_of_nodes(examined: Pair) -> None:
    examined.edit("exam.yaml", "nodeCount: 5", "nodeCount: 6")
    told = examined.diff(at=OPEN).out

    assert lines(told, "~ exam") == [
        "~ exam [prod]",
        "~   nodes: 5 nodes of small -> 6 nodes of small",
        "~   09:00-12:00, 5 nodes of small -> 6 nodes of small: Thu 2026-02-12",
    ]
    assert lines(told, "Check before")[1] == (
        "! exam: small grows as soon as this is applied: 5 nodes now, 6 then."
    )
    assert "peak" not in told.splitlines()[0]


def test_one_that_comes_or_goes_has_nodes_and_no_seat_hours(examined: Pair) -> None:
    (examined.now / "reservations/exam.yaml").unlink()
    assert lines(examined.diff(at="2026-01-01").out, "- exam") == [
        "- exam [prod]",
        "-   5 nodes of small: Thu 2026-02-12 09:00-12:00 (08:00-11:00 UTC)",
    ]

    (examined.now / "reservations/resit.yaml").write_text(
        clouds.EXAM.replace("name: exam", "name: resit").replace("02-12", "03-12"), "utf-8"
    )
    assert lines(examined.diff(at="2026-01-01").out, "+ resit") == [
        "+ resit [prod]",
        "+   5 nodes of small: Thu 2026-03-12 09:00-12:00 (08:00-11:00 UTC)",
    ]


def test_json_has_nodes(examined: Pair) -> None:
    examined.edit("exam.yaml", "nodeCount: 5", "nodeCount: 6")
    answer = json.loads(examined.diff("-o", "json", at=OPEN).out)
    (found,) = answer["occurrences"]["changed"]

    assert [(found[side]["seats"], found[side]["nodes"]) for side in ("before", "after")] == [
        ({}, {"small": 5}),
        ({}, {"small": 6}),
    ]
    assert answer["reservations"][0]["seatHours"] == {"before": None, "after": None}


def test_seats_that_become_nodes_are_told_as_both(examined: Pair) -> None:
    (examined.was / "reservations/exam.yaml").write_text(COURSE, "utf-8")
    examined.edit("exam.yaml", "nodeCount: 5", "nodeCount: 1")
    told = examined.diff(at=OPEN).out

    assert lines(told, "~ exam") == [
        "~ exam [prod]",
        "~   seats: 5 small -> none",
        "~   backend: placeholder -> nodePool",
        "~   nodes: none -> 1 node of small",
        "~   09:00-12:00, 5 small -> 1 node of small: Thu 2026-02-12",
        "    seat-hours: 17.5 -> none",
    ]
    assert "! exam: small shrinks as soon as this is applied: 5 seats now, 1 node then." in told

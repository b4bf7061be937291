"""`berth size` and `berth new --students`, on the example of docs/size.md."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cli.conftest import ROOT

NOW = ("--now", "2026-01-01")
ASK = ("size", "linear-algebra", "--students", "300", *NOW)
COURSES = "reservations/courses.yaml"


@pytest.fixture(autouse=True)
def example(folder: Path) -> Path:
    shutil.rmtree(folder / "reservations")
    shutil.copytree(ROOT / "tests/examples/size/reservations", folder / "reservations")
    return folder


def answer(berth: Berth, *words: str) -> dict[str, Any]:
    code, out, err = berth(*ASK, "-o", "json", *words)

    assert (code, err) == (0, "")
    data: dict[str, Any] = json.loads(out)
    return data


def choices(berth: Berth, *words: str) -> dict[str, tuple[int, int]]:
    """Return seats and lead of each choice."""
    found = answer(berth, *words)["choices"]
    return {one["name"]: (one["seats"], one["leadTimeMinutes"]) for one in found}


def test_choices_are_the_cheapest_a_safe_one_and_what_is_declared(berth: Berth) -> None:
    found = answer(berth, "--show-up", "80%")

    assert choices(berth, "--show-up", "80%") == {
        "cheapest": (228, 15),
        "safe": (251, 20),
        "today": (200, 5),
    }
    assert [one["people"] for one in found["choices"]] == [240, 251, 240]
    assert found["nodeSeconds"] == {"window": 370, "single": 370}
    assert found["choices"][1]["machines"][0] == {
        "cloudCapacity": "campus",
        "instanceType": "large",
        "capacityType": "on-demand",
        "zone": None,
        "capacityReservation": None,
        "count": 8,
    }


@pytest.mark.parametrize(
    ("words", "cheapest"),
    [
        pytest.param(("--within", "10m"), (0, 0), id="who-may-wait-for-a-node-needs-no-seat"),
        pytest.param(("--late", "0%"), (300, 15), id="nobody-may-wait"),
        pytest.param(("--late", "100%"), (0, 0), id="everybody-may-wait"),
        pytest.param(("--arrivals", "at-once"), (285, 5), id="all-at-once"),
    ],
)
def test_the_cheapest_choice_follows_the_promise(
    berth: Berth, words: tuple[str, ...], cheapest: tuple[int, int]
) -> None:
    assert choices(berth, *words)["cheapest"] == cheapest


def test_the_cost_is_that_of_the_plan_where_everybody_has_a_seat(berth: Berth) -> None:
    assert berth(*ASK, "--choice", "safe", "--write").code == 0

    plan = json.loads(berth("plan", *NOW, "--until", "2026-02-03", "-o", "json").out)
    safe = next(one for one in answer(berth)["choices"] if one["name"] == "today")

    assert safe["cost"] == plan["total"]["cost"]["sum"]


def test_write_changes_seats_and_lead_and_says_why_once(berth: Berth, folder: Path) -> None:
    before = (folder / COURSES).read_text("utf-8")

    assert berth(*ASK, "--show-up", "80%", "--write").code == 0
    first = (folder / COURSES).read_text("utf-8")
    assert berth(*ASK, "--choice", "safe", "--write").code == 0
    second = (folder / COURSES).read_text("utf-8")

    assert [line for line in first.splitlines() if line not in before.splitlines()] == [
        "  # Sized for 300 people (cheapest): 240 come in a bell of 20 min around the start; at most 5% wait "
        "longer than 2 min; nodes take 7 min.",
        "    placeholderCount: 228",
        "    leadTimeMinutes: 15",
    ]
    assert second.count("# Sized for") == 1
    assert "    placeholderCount: 300\n    leadTimeMinutes: 20\n" in second


def test_earlier_sessions_replace_the_curve(berth: Berth, folder: Path) -> None:
    """All came eight minutes late: seats that are ready by then are early enough."""
    log = "2026-02-02 09:08:30 login\n2026-02-09T08:08:30Z login\n2026-03-03 12:00 another day\n"
    (folder / "log").write_text(log, "utf-8")

    assert choices(berth, "--from-log", "log")["safe"] == (300, 0)
    assert berth(*ASK, "--from-log", "missing").code == 2
    (folder / "log").write_text("nobody\n", "utf-8")
    assert berth(*ASK, "--from-log", "log").code == 2


def test_the_record_of_a_pool_that_does_not_follow_sessions_is_refused(berth: Berth, folder: Path) -> None:
    record = '[{"occurrence": "linear-algebra/2026-02-02T09:00", "promised": {}, "targets": {}}]'
    (folder / "records.json").write_text(record, "utf-8")

    assert "behavior none" in berth(*ASK, "--from-log", "records.json").err


def test_a_class_is_sized_without_a_reservation(berth: Berth) -> None:
    found = berth("size", "--class", "student", "--students", "30", *NOW, "-o", "json")

    assert [load["name"] for load in json.loads(found.out)["choices"]] == ["cheapest", "safe"]


@pytest.fixture
def few(folder: Path) -> None:
    """Eight nodes of 29 seats are all there is."""
    classes = folder / "reservations/classes.yaml"
    text = classes.read_text("utf-8")
    small = text[text.index("    - name: small") : text.index("  nodeStartMinutes")]
    classes.write_text(text.replace(small, ""), "utf-8")


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("show_up", "late", "without"),
    [
        pytest.param("100%", [68, 68, 229], [68, 68, 68], id="beyond-the-promise"),
        pytest.param("80%", [12, 19, 143], [8, 19, 8], id="within-the-promise"),
        pytest.param("70%", [10, 0, 100], [0, 0, 0], id="enough"),
    ],
)
def test_people_beyond_all_nodes_get_no_seat(
    berth: Berth, show_up: str, late: list[int], without: list[int]
) -> None:
    found = answer(berth, "--show-up", show_up)["choices"]

    assert [one["waitLonger"] for one in found] == late
    assert [one["withoutSeat"] for one in found] == without
    assert all(one["seats"] <= 8 * 29 for one in found)


@pytest.mark.usefixtures("few")
def test_seats_beyond_all_nodes_are_never_ready(berth: Berth, folder: Path) -> None:
    courses = folder / COURSES
    courses.write_text(courses.read_text("utf-8").replace("200", "300"), "utf-8")
    found = answer(berth)

    assert found["withoutNode"] == 68
    assert [one["readyAt"] is None for one in found["choices"]] == [False, False, True]
    assert berth(*ASK, "--write").code == 0
    assert ", but 68 get no seat: nodes have room for 232.\n" in courses.read_text("utf-8")


def test_without_described_nodes_there_are_seats_and_leads_and_no_machines(
    berth: Berth, folder: Path
) -> None:
    """A node then takes as long as autoscalers wait for one."""
    classes = folder / "reservations/classes.yaml"
    classes.write_text(classes.read_text("utf-8").replace("  cloudCapacity: [campus]\n", ""), "utf-8")
    found = answer(berth, "--show-up", "80%")

    assert choices(berth, "--show-up", "80%") == {"cheapest": (228, 25), "safe": (251, 25), "today": (200, 5)}
    assert (found["nodeSeconds"], found["seatsOfANode"]) == ({"window": 900, "single": 900}, None)
    assert {(*one["machines"], one["withoutSeat"], one["cost"]) for one in found["choices"]} == {(None, None)}
    out = berth(*ASK).out
    assert [word for word in ("NODES", "NO SEAT", "COST USD") if word in out] == []
    assert "The machines of class student are not known (names no cloudCapacity)" in " ".join(out.split())
    assert berth(*ASK, "--write").code == 0
    assert "nodes may take 15 min.\n" in (folder / COURSES).read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("size", "--students", "3"), id="neither-name-nor-class"),
        pytest.param(("size", "--class", "student", "--students", "3", "--write"), id="nothing-to-write"),
        pytest.param((*ASK, "--within", "10m", "--write"), id="no-seats-to-write"),
        pytest.param((*ASK, "--show-up", "0%"), id="nobody-comes"),
        pytest.param((*ASK, "--show-up", "0.8"), id="a-share-without-percent"),
        pytest.param((*ASK, "--show-up", "101%"), id="more-than-everybody"),
        pytest.param((*ASK, "--within", "10"), id="a-time-without-unit"),
        pytest.param((*ASK, "--students", "0"), id="no-students"),
        pytest.param((*ASK, "--students", "20001"), id="too-many-students"),
    ],
)
def test_what_cannot_be_answered_is_wrong_usage(berth: Berth, words: tuple[str, ...]) -> None:
    assert berth(*words).code == 2


def test_new_sizes_a_reservation(berth: Berth, folder: Path) -> None:
    words = ("new", "calculus", "09:00-11:00", "--dates", "2026-03-03", "--class", "student")
    code, _, err = berth(*words, "--behavior", "none", "--students", "150", *NOW)
    text = (folder / "reservations/calculus.yaml").read_text("utf-8")

    assert (code, err) == (0, "")
    assert "  # Sized for 150 people (cheapest): 150 come" in text
    assert "    placeholderCount: 143\n    leadTimeMinutes: 15\n" in text
    assert berth(*words, "--seats", "3", "--students", "4").code == 2


def test_a_lead_that_is_too_short_for_its_nodes_is_a_warning_until_it_is_mended(berth: Berth) -> None:
    code, out, _ = berth("validate", *NOW)

    assert code == 0
    assert [line.split()[1] for line in out.splitlines()[:1]] == ["warning[B199]"]
    assert berth("set", "linear-algebra", "provisioning.leadTimeMinutes=7").code == 0
    assert "B199" not in berth("validate", *NOW).out

"""`berth size` and `berth new --students`, on the example of docs/size.md."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project
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


def offer(berth: Berth, *words: str) -> tuple[int, int]:
    """Return seats and lead."""
    found = answer(berth, *words)
    return found["seats"], found["leadTimeMinutes"]


def test_size_recommends_one_answer_and_shows_the_declared_values(berth: Berth) -> None:
    found = answer(berth, "--show-up", "80%")

    assert (found["people"], found["seats"], found["leadTimeMinutes"], found["waitLonger"]) == (
        240,
        228,
        15,
        12,
    )
    assert found["today"] == {"seats": 200, "leadTimeMinutes": 5, "waitLonger": 143}
    assert found["nodeSeconds"] == {"window": 370, "single": 370}
    assert found["machines"] == [
        {
            "cloudCapacity": "campus",
            "instanceType": "large",
            "capacityType": "on-demand",
            "zone": None,
            "capacityReservation": None,
            "count": 8,
        }
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(("--wait", "10m"), (0, 0), id="who-may-wait-for-a-node-needs-no-seat"),
        pytest.param(("--over", "0m"), (285, 5), id="all-at-once"),
        pytest.param(("--over", "1h", "--wait", "0m"), (280, 40), id="nobody-may-wait"),
    ],
)
def test_the_size_follows_the_options_wait_and_over(
    berth: Berth, words: tuple[str, ...], expected: tuple[int, int]
) -> None:
    assert offer(berth, *words) == expected


def command(out: str) -> list[str]:
    """Return the arguments of the command that an answer shows."""
    (line,) = (line for line in out.splitlines() if line.startswith("    berth "))
    return shlex.split(line)[1:]


def test_the_printed_command_writes_the_recommended_size(berth: Berth, folder: Path) -> None:
    before = (folder / COURSES).read_text("utf-8").splitlines()

    assert berth(*command(berth(*ASK, "--show-up", "80%").out)).code == 0
    after = (folder / COURSES).read_text("utf-8").splitlines()

    assert [line for line in after if line not in before] == [
        "    placeholderCount: 228",
        "    leadTimeMinutes: 15",
    ]


def test_the_cost_equals_the_cost_of_the_plan_if_everyone_has_a_seat(berth: Berth) -> None:
    """Of one person, everybody has a seat."""
    words = ("size", "linear-algebra", "--students", "1", *NOW)
    found = json.loads(berth(*words, "-o", "json").out)
    assert found["seats"] == 1
    assert berth(*command(berth(*words).out)).code == 0

    plan = json.loads(berth("plan", *NOW, "--until", "2026-02-03", "-o", "json").out)

    assert found["cost"] == plan["total"]["cost"]["sum"]


def test_the_printed_command_changes_only_the_given_class(berth: Berth, folder: Path) -> None:
    classes, courses = folder / "reservations/classes.yaml", folder / COURSES
    text = classes.read_text("utf-8")
    other = text[text.index("kind: ResourceClass") :].replace("name: student", "name: other")
    classes.write_text(f"{text}---\napiVersion: berth.dev/v1alpha1\n{other}", "utf-8")
    seats = "    seats:\n"
    seats += "".join(
        f"      - {{resourceClass: {name}, placeholderCount: 10}}\n" for name in ("other", "student")
    )
    text = courses.read_text("utf-8").replace("  resourceClass: student\n", "")
    courses.write_text(text.replace("    placeholderCount: 200\n", seats), "utf-8")
    shown = berth("size", "linear-algebra", "--class", "student", "--students", "30", *NOW)
    assert (shown.code, shown.err) == (0, "")

    assert berth(*command(shown.out)).code == 0
    text = courses.read_text("utf-8")

    assert "{resourceClass: other, placeholderCount: 10}" in text
    assert "{resourceClass: student, placeholderCount: 29, leadTimeMinutes: 15}" in text


def test_a_date_with_its_own_seats_has_no_command(berth: Berth) -> None:
    assert berth("set", "linear-algebra", "--on", "2026-02-02", "--seats", "120").code == 0
    out = berth(*ASK).out

    assert "berth set" not in out
    assert "The date has its own number of seats" in out


def test_a_class_is_sized_without_a_reservation(berth: Berth) -> None:
    words = ("size", "--class", "student", "--students", "30", *NOW)

    assert json.loads(berth(*words, "-o", "json").out)["today"] is None
    assert "Reserve 29 seats" in berth(*words).out
    assert "berth set" not in berth(*words).out


@pytest.fixture
def few(folder: Path) -> None:
    """Eight nodes of 29 seats are all there is."""
    classes = folder / "reservations/classes.yaml"
    text = classes.read_text("utf-8")
    small = text[text.index("    - name: small") : text.index("  nodeStartMinutes")]
    classes.write_text(text.replace(small, ""), "utf-8")


@pytest.mark.usefixtures("few")
@tabled("cli")
def test_people_beyond_all_nodes_get_no_seat(show_up: str, late: int, without: int, berth: Berth) -> None:
    found = answer(berth, "--show-up", show_up)

    assert (found["waitLonger"], found["withoutSeat"]) == (late, without)
    assert found["seats"] <= 8 * 29


@pytest.mark.usefixtures("few")
def test_size_reports_how_many_people_get_no_seat_and_the_reason(berth: Berth) -> None:
    text = " ".join(berth(*ASK).out.split())

    assert "68 get no seat: nodes have room for 232" in text
    assert "No node for 68 people" in text


def test_size_without_cloud_capacity_has_seats_and_lead_time_but_no_machines(
    berth: Berth, folder: Path
) -> None:
    """A node then takes as long as autoscalers wait for one."""
    project.change(folder, "classes", "  cloudCapacity: [campus]\n", "")
    found = answer(berth, "--show-up", "80%")

    assert offer(berth, "--show-up", "80%") == (228, 25)
    assert found["nodeSeconds"] == {"window": 900, "single": 900}
    assert (found["machines"], found["withoutSeat"], found["cost"]) == ([], None, None)
    out = " ".join(berth(*ASK).out.split())
    assert "USD" not in out
    assert "The machines of class student are not known (names no cloudCapacity)" in out
    assert "nodes may take 15 min" in out


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("size", "--students", "3"), id="neither-name-nor-class"),
        pytest.param((*ASK, "--show-up", "0%"), id="nobody-comes"),
        pytest.param((*ASK, "--show-up", "0.8"), id="a-share-without-percent"),
        pytest.param((*ASK, "--show-up", "101%"), id="more-than-everybody"),
        pytest.param((*ASK, "--wait", "10"), id="a-time-without-unit"),
        pytest.param((*ASK, "--students", "0"), id="no-students"),
        pytest.param((*ASK, "--students", "20001"), id="too-many-students"),
    ],
)
def test_a_wrong_option_value_is_a_usage_error(berth: Berth, words: tuple[str, ...]) -> None:
    assert berth(*words).code == 2


def test_new_sizes_a_reservation(berth: Berth, folder: Path) -> None:
    words = ("new", "calculus", "09:00-11:00", "--dates", "2026-03-03", "--class", "student")
    code, _, err = berth(*words, "--behavior", "none", "--students", "150", *NOW)
    text = (folder / "reservations/calculus.yaml").read_text("utf-8")

    assert (code, err) == (0, "")
    assert "  # Sized for 150 people: 150 come" in text
    assert "    placeholderCount: 143\n    leadTimeMinutes: 15\n" in text
    assert berth(*words, "--seats", "3", "--students", "4").code == 2


def test_a_lead_time_too_short_for_its_nodes_gets_the_warning_b199(berth: Berth) -> None:
    code, out, _ = berth("validate", *NOW)

    assert code == 0
    assert [line.split()[1] for line in out.splitlines()[:1]] == ["warning[B199]"]
    assert berth("set", "linear-algebra", "provisioning.leadTimeMinutes=7").code == 0
    assert "B199" not in berth("validate", *NOW).out


def test_size_of_a_class_that_fits_no_node_is_a_usage_error(berth: Berth, folder: Path) -> None:
    project.change(folder, "classes", "cpu: 500m", "cpu: 500")
    told = berth(*ASK)

    assert (told.code, told.out) == (2, "")
    assert "no type has enough of cpu" in told.err

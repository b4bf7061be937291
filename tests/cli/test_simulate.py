"""`berth simulate`: what one occurrence would do, as a table and JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project
from tests.cli.conftest import ROOT

OVERLAP = """\
evening/2026-02-07T18:00, Sat 2026-02-07 18:00-20:00 Europe/Zurich

4 seat in prod, reduce
LOCAL TIME  ACTIVE  TARGET  PROMISED  WHAT HAPPENS
17:30       0       4       4         opens
18:00       0       4       4         starts
18:05       3       1       4         3 come
19:00:01    3       0       3         by the clock
19:30       3       4       7         evening/2026-02-07T20:00 opens
20:00       3       4       7         ends, evening/2026-02-07T20:00 starts
"""
NIGHT = """\
night/2026-02-07T22:00, Sat 2026-02-07 22:00 to Sun 06:00 America/New_York

2 small in prod, none
LOCAL TIME  ACTIVE  TARGET  PROMISED  WHAT HAPPENS
21:00       0       2       2         opens
21:30       1       2       3         1 comes
22:00       1       2       3         starts
Sun 06:00   1       0       1         ends

3 bench in lab, none
LOCAL TIME  ACTIVE  TARGET  PROMISED  WHAT HAPPENS
21:00       0       3       3         opens
22:00       0       3       3         starts
23:00       2       3       5         2 come
Sun 01:00   1       3       4         1 leaves
Sun 06:00   1       0       1         ends
"""
COMPARED = """\
evening/2026-02-07T18:00, Sat 2026-02-07 18:00-20:00 Europe/Zurich

4 seat in prod
LOCAL TIME  ACTIVE  MAINTAIN  REDUCE  NONE  WHAT HAPPENS
17:30       0       4         4       4     opens
17:45       3       1         1       4     3 come
18:00       3       1         1       4     starts
18:05       1       1         1       4     2 leave, counted for 30 s more
18:05:30    1       3         3       4     the wait is over
18:20:01    1       3         2       4     by the clock
19:00:01    1       3         1       4     by the clock
19:30       1       4         4       4     evening/2026-02-07T20:00 opens
20:00       1       4         4       4     ends, evening/2026-02-07T20:00 starts
"""
NOW = ("--now", "2026-02-01")
FIRST = ("--on", "2026-02-07T18:00")


def items(berth: Berth, *arguments: str) -> list[dict[str, Any]]:
    code, out, err = berth("simulate", *arguments, "-o", "json")
    assert (code, err) == (0, "")
    found: list[dict[str, Any]] = json.loads(out)["items"]
    return found


def headline(berth: Berth, *arguments: str) -> str:
    code, out, err = berth("simulate", *arguments)
    assert (code, err) == (0, "")
    return out.partition("\n")[0]


@pytest.mark.usefixtures("evening")
@pytest.mark.parametrize("on", ["2026-02-08 20:00", "sunday 20:00", "evening/2026-02-08T20:00"])
def test_an_occurrence_is_named_by_date_and_time_or_id(on: str, berth: Berth) -> None:
    told = headline(berth, "evening", "--on", on, "--class", "seat", "--now", "2026-02-07")
    assert told.startswith("evening/2026-02-08T20:00, ")


@pytest.mark.usefixtures("evening")
def test_a_simulation_shows_overlapping_occurrences_of_the_reservation(berth: Berth) -> None:
    asked = ("simulate", "evening", *FIRST, "--class", "seat", "--sessions", "18:05+3")

    assert berth(*asked) == (0, OVERLAP, "")


def test_each_class_has_its_own_sessions_in_its_cluster(berth: Berth) -> None:
    """Of behavior none: nobody counts the sessions, so nobody waits."""
    asked = ("simulate", "night", "--sessions", "21:30+1 small,23:00+2 bench,01:00-1 bench")

    assert berth(*asked, "--now", "2026-01-01") == (0, NIGHT, "")


@pytest.mark.usefixtures("evening")
def test_compare_shows_the_behaviors_side_by_side(berth: Berth) -> None:
    asked = ("evening", *FIRST, "--class", "seat", "--sessions", "17:45+3,18:05-2", "--compare")

    assert berth("simulate", *asked) == (0, COMPARED, "")


@pytest.mark.usefixtures("evening")
def test_json_is_a_simulation(berth: Berth) -> None:
    asked = ("simulate", "evening", *FIRST, "--sessions", "18:05+3 seat", "-o", "json")
    code, out, err = berth(*asked)
    answer = json.loads(out)

    assert (code, err) == (0, "")
    assert list(answer) == ["apiVersion", "kind", "items"]
    assert (answer["apiVersion"], answer["kind"]) == ("berth.dev/v1alpha1", "Simulation")
    assert [list(item) for item in answer["items"]] == [["at", "class", "behavior", "active", "target"]] * 12
    assert [tuple(item.values()) for item in answer["items"][:6]] == [
        ("2026-02-07T16:30:00Z", "seat", "reduce", 0, 4),
        ("2026-02-07T16:30:00Z", "desk", "reduce", 0, 3),
        ("2026-02-07T17:00:00Z", "seat", "reduce", 0, 4),
        ("2026-02-07T17:00:00Z", "desk", "reduce", 0, 3),
        ("2026-02-07T17:05:00Z", "seat", "reduce", 3, 1),
        ("2026-02-07T17:20:01Z", "desk", "reduce", 0, 2),
    ]


@pytest.mark.usefixtures("evening")
def test_json_of_a_comparison_has_every_behavior_at_every_instant(berth: Berth) -> None:
    found = items(berth, "evening", *FIRST, "--class", "seat", "--sessions", "18:05+3", "--compare")

    behaviors = [item["behavior"] for item in found]
    assert behaviors == ["maintain", "reduce", "none"] * (len(found) // 3)
    assert [(item["active"], item["target"]) for item in found if item["at"] == "2026-02-07T17:05:00Z"] == [
        (3, 1),
        (3, 1),
        (3, 4),
    ]


@tabled("cli")
def test_simulate_takes_the_next_occurrence_or_the_occurrence_of_the_on_option(
    arguments: list[str], expected: str, berth: Berth
) -> None:
    assert headline(berth, "course", *arguments) == f"{expected} 09:00-13:00 Europe/Zurich"


def test_without_now_the_current_time_is_used(berth: Berth, folder: Path) -> None:
    """The one long gone, the other far away: true at any time at which this may run."""
    dates = project.NIGHT.replace("[2026-02-07]", "[2020-02-07, 2099-02-07]")
    project.write(folder, night=dates)

    assert headline(berth, "night").startswith("night/2099-02-07T22:00, ")


def test_sessions_come_from_a_file_or_from_standard_input(berth: Berth, folder: Path) -> None:
    text = "\ufefftime,change\n08:55,10\n09:20,8\n11:00,-3\n"
    (folder / "sessions.csv").write_text(text, "utf-8")
    asked = ("simulate", "course", "--on", "2026-02-02", "--sessions")
    said = berth(*asked, "08:55+10,09:20+8,11:00-3")
    assert berth(*asked, " 08:55+10,09:20+8,11:00-3\n") == said

    done = subprocess.run(
        [sys.executable, "-m", "berth", *asked, "-"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        input=text.encode(),
        capture_output=True,
        check=False,
    )

    assert berth(*asked, "sessions.csv") == said
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == said


def test_a_suspended_reservation_is_simulated_with_a_notice(berth: Berth) -> None:
    code, out, err = berth("simulate", "rest", "--sessions", os.devnull)

    assert (code, err) == (0, "berth: rest is suspended: this would happen if it were not.\n")
    assert "10:00       0       1       1         opens, starts\n" in out


def test_an_example_crowd_is_simulated_and_marked_without_the_sessions_option(berth: Berth) -> None:
    """Its text can be copied; answers for programs have no sessions that nobody gave."""
    code, out, err = berth("simulate", "course", *NOW)
    sessions = "08:50+3,08:55+6,09:00+7,09:05+4,12:00-4"

    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith("This is an EXAMPLE crowd")
    assert out.splitlines()[2] == f"  --sessions {sessions}"
    given = berth("simulate", "course", *NOW, "--sessions", sessions).out
    assert out.replace(" (example crowd)", "").split("\n\n")[1:] == given.split("\n\n")[1:]
    assert "EXAMPLE" not in given
    assert {item["active"] for item in items(berth, "course", *NOW)} == {0}
    assert "\n25 small in prod, none (example crowd)\n" in out


def test_an_example_crowd_takes_seats_of_all_classes(berth: Berth) -> None:
    out = berth("simulate", "night", *NOW).out
    assert "  --sessions '21:55+1 small,21:55+1 bench," in out


@pytest.mark.usefixtures("evening")
def test_a_long_run_of_clock_steps_is_shortened_only_in_the_table(berth: Berth, folder: Path) -> None:
    project.write(folder, evening=project.EVENING.replace("placeholderCount: 4", "placeholderCount: 40"))
    asked = ("evening", *FIRST, "--class", "seat")

    _, out, _ = berth("simulate", *asked, "--sessions", os.devnull)

    assert out.split("\n")[6:10] == [
        "18:01:31    0       39      39        by the clock",
        "...                                   28 more steps by the clock",
        "19:28:31    0       10      10        by the clock",
        "19:30       0       40      40        evening/2026-02-07T20:00 opens",
    ]
    assert len(items(berth, *asked)) == 34

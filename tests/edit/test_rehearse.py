"""`berth rehearse`, and what other commands do to the rehearsals of a course."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project

NOW = ("--now", "2026-01-01")
FIRST, SECOND = "course-rehearsal", "course-rehearsal-2"
GROUPS = """\
    extra:
      - {date: 2026-02-12, startTime: "10:00", endTime: "11:00"}
      - {date: 2026-02-12, startTime: "10:00", endTime: "12:00", name: extra-time, leadTimeMinutes: 60}
      - {date: 2026-02-12, startTime: "15:00", endTime: "16:00"}
"""


def spec(folder: Path, name: str = FIRST) -> Any:
    return yaml.safe_load((folder / f"reservations/{name}.yaml").read_text("utf-8"))["spec"]


def files(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text("utf-8") for file in (folder / "reservations").iterdir()}


def test_rehearse_writes_a_reservation_beside_the_course(berth: Berth, folder: Path) -> None:
    before = files(folder)
    told = berth("rehearse", "course", "2026-02-02", *NOW)

    assert told.code == 0
    assert "25 small: Mon 2026-01-26 06:00-06:30" in told.out
    assert {name: text for name, text in files(folder).items() if name in before} == before
    assert spec(folder) == {
        "title": "Rehearsal of Zürich, Café | Lab",
        "rehearses": {"name": "course", "date": "2026-02-02"},
        "resourceClass": "small",
        "recurrence": {
            "type": "dates",
            "dates": [{"date": "2026-01-26", "startTime": "06:00", "endTime": "06:30"}],
        },
        "provisioning": {
            "placeholderCount": 25,
            "leadTimeMinutes": 0,
            "scaleDownBehavior": "none",
            "endsWhenReady": True,
        },
    }
    assert berth("validate").code == 0


@tabled("edit")
def test_a_rehearsal_begins_at_six_a_week_or_a_day_before_or_at_a_given_time(
    words: list[str], now: str, expected: str, berth: Berth, folder: Path
) -> None:
    assert berth("rehearse", "course", "2026-02-02", *words, "--now", now).code == 0
    (date,) = spec(folder)["recurrence"]["dates"]

    assert f"{date['date']} {date['startTime']}" == expected


@pytest.mark.parametrize(("lead", "end"), [(0, "06:15"), (10, "06:15"), (90, "07:30")])
def test_a_rehearsal_lasts_for_the_lead_time_but_at_least_15_minutes(
    berth: Berth, folder: Path, lead: int, end: str
) -> None:
    project.change(folder, "course", "{placeholderCount", f"{{leadTimeMinutes: {lead}, placeholderCount")
    assert berth("rehearse", "course", "2026-02-02", *NOW).code == 0

    assert spec(folder)["recurrence"]["dates"][0]["endTime"] == end


def test_groups_that_start_together_are_rehearsed_together(berth: Berth, folder: Path) -> None:
    project.change(folder, "course", "  provisioning:", f"{GROUPS}  provisioning:")
    refused = berth("rehearse", "course", "2026-02-12", *NOW)
    assert (refused.code, "B047" in refused.err) == (1, True)
    assert berth("rehearse", "course", "2026-02-12", "10:00", *NOW).code == 0

    assert spec(folder)["rehearses"] == {"name": "course", "date": "2026-02-12", "startTime": "10:00"}
    assert spec(folder)["provisioning"]["placeholderCount"] == 50
    assert spec(folder)["recurrence"]["dates"][0]["endTime"] == "07:00"
    assert "B132" not in berth("validate").out


def test_classes_and_zone_are_copied(berth: Berth, folder: Path) -> None:
    assert berth("rehearse", "night", "2026-02-07", *NOW).code == 0
    found = spec(folder, "night-rehearsal")

    assert found["recurrence"]["timeZone"] == "America/New_York"
    assert "resourceClass" not in found
    assert found["provisioning"]["seats"] == [
        {"resourceClass": "small", "placeholderCount": 2},
        {"resourceClass": "bench", "placeholderCount": 3},
    ]


def test_the_backend_is_copied(berth: Berth, folder: Path) -> None:
    sessions = "sessions: {source: pods, namespaces: [jhub], selector: {matchLabels: {a: b}}}"
    backend = "backend: {type: koordinator, allocateOnce: false}"
    project.change(folder, "site", "name: prod", "name: prod\n      koordinator: {}")
    project.change(folder, "classes", "  cluster: prod\n", f"  cluster: prod\n  {sessions}\n")
    project.change(folder, "course", "  provisioning:", f"  {backend}\n  provisioning:")
    assert berth("rehearse", "course", "2026-02-02", *NOW).code == 0

    assert spec(folder)["backend"] == {"type": "koordinator", "allocateOnce": False}


def test_a_future_rehearsal_is_changed_and_a_past_rehearsal_stays(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02", *NOW)
    project.change(folder, "course", "placeholderCount: 25", "placeholderCount: 30")
    assert "B132" in berth("validate").out
    assert berth("rehearse", "course", "2026-02-02", "--at", "2026-01-20T07:00", *NOW).code == 0
    assert not (folder / f"reservations/{SECOND}.yaml").exists()
    assert spec(folder)["provisioning"]["placeholderCount"] == 30
    assert "B132" not in berth("validate").out

    assert berth("rehearse", "course", "2026-02-02", "--now", "2026-01-21").code == 0
    assert str(spec(folder)["recurrence"]["dates"][0]["date"]) == "2026-01-20"
    assert spec(folder, SECOND)["recurrence"]["dates"][0]["date"] == "2026-01-26"


@tabled("edit")
def test_an_edit_that_puts_a_rehearsal_in_the_past_gets_the_finding_b130(
    words: list[str], berth: Berth, folder: Path
) -> None:
    berth("rehearse", "course", "2026-02-02", *NOW)
    before = files(folder)

    told = berth(*words, "--now", "2026-01-20")
    assert (told.code, told.err.count("[B130]")) == (1, 1)
    assert files(folder) == before


def test_a_rehearsal_that_was_held_can_get_other_keys(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02", *NOW)

    told = berth("set", FIRST, "title=Tried", "--now", "2026-01-27")
    assert (told.code, spec(folder)["title"]) == (0, "Tried")


def test_several_dates_get_a_rehearsal_each_or_nothing_is_written(berth: Berth, folder: Path) -> None:
    before = files(folder)
    assert berth("rehearse", "course", "2026-02-02", "2026-02-03", *NOW).code == 1
    assert files(folder) == before
    assert berth("rehearse", "course", "2026-02-02", "2026-02-24", *NOW).code == 0

    dates = [spec(folder, name)["rehearses"]["date"] for name in (FIRST, SECOND)]
    assert dates == ["2026-02-02", "2026-02-23"]  # of a moved one, the original date


@tabled("edit")
def test_a_range_an_unknown_course_or_one_start_for_two_dates_is_refused(
    words: list[str], berth: Berth, folder: Path
) -> None:
    before = files(folder)

    assert berth("rehearse", *words, *NOW).code == 2
    assert files(folder) == before


@tabled("edit")
def test_an_edit_that_removes_a_rehearsed_date_is_refused(
    words: list[str], berth: Berth, folder: Path
) -> None:
    berth("rehearse", "course", "2026-02-24", *NOW)
    before = files(folder)
    refused = berth(*words, *NOW)

    assert refused.code != 0
    assert FIRST in refused.err
    assert files(folder) == before


@pytest.mark.usefixtures("folder")
def test_a_move_of_a_rehearsed_date_names_the_rehearsal(berth: Berth) -> None:
    berth("rehearse", "course", "2026-02-24", *NOW)
    moved = berth("move", "course", "2026-02-24", "--to", "2026-02-25", *NOW)

    assert moved.code == 0
    assert f"! {FIRST} rehearses course/2026-02-23.\n" in moved.out
    assert "rehearses" not in berth("move", "course", "2026-02-02", "--to", "2026-02-03", *NOW).out


def test_delete_of_a_course_removes_its_rehearsals(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02", "2026-02-24", *NOW)
    assert berth("delete", SECOND).code == 0
    assert berth("validate").code == 0
    deleted = berth("delete", "course")

    assert deleted.code == 0
    assert FIRST in deleted.out
    assert {name for name in files(folder) if name.startswith("course")} == set()


def test_delete_removes_only_the_documents_of_the_course_from_a_shared_file(
    berth: Berth, folder: Path
) -> None:
    berth("rehearse", "course", "2026-02-02", *NOW)
    rehearsal, rest = (folder / "reservations" / name for name in (f"{FIRST}.yaml", "rest.yaml"))
    course = folder / "reservations/course.yaml"
    text = rest.read_text("utf-8")
    rest.write_text("---\n".join((course.read_text("utf-8"), text, rehearsal.read_text("utf-8"))), "utf-8")
    course.unlink()
    rehearsal.unlink()

    assert berth("delete", "course").code == 0
    assert [one["metadata"]["name"] for one in yaml.safe_load_all(rest.read_text("utf-8"))] == ["rest"]

"""What the commands tell of a reservation that holds a number of somebody else's object."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cli import project
from tests.cli.heldproject import EXAM, LONGER, QUOTA, QUOTA_SITE, SITE

NOW = ("--now", "2026-01-01T00:00:00Z")


@pytest.fixture(autouse=True)
def exam(folder: Path) -> Path:
    project.write(folder, site=SITE)
    path = folder / "reservations/exam.yaml"
    path.write_text(EXAM, "utf-8")
    return path


def items(berth: Berth, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(berth(*words, *NOW, "-o", "json").out)["items"]
    return found


def test_list_and_occurrences_count_replicas_and_no_seat_hours(berth: Berth) -> None:
    row = next(item for item in items(berth, "list") if item["name"] == "exam")
    (date,) = items(berth, "occurrences", "exam")

    assert (row["seats"], row["replicas"], row["seatHours"]) == ({}, {"api": 40}, None)
    assert (date["seats"], date["replicas"]) == ({}, {"api": 40})
    assert "40 replicas of api" in berth("list", *NOW).out


def test_the_object_is_named(berth: Berth, folder: Path) -> None:
    targets = {item["name"]: item.get("target") for item in items(berth, "list")}
    assert targets.pop("exam") == "HorizontalPodAutoscaler/shop/api"
    assert {*targets.values()} == {None}
    assert "HorizontalPodAutoscaler/shop/api" in berth("list", *NOW, "-o", "wide").out

    assert berth("calendar", *NOW).code == 0
    feed = (folder / "site/feeds/exam.ics").read_text("utf-8").replace("\r\n ", "")
    assert "HorizontalPodAutoscaler shop/api" in feed
    assert "Sets" not in (folder / "site/feeds/course.ics").read_text("utf-8")


def test_quantities_have_their_unit_everywhere(berth: Berth, folder: Path, exam: Path) -> None:
    (folder / "reservations/site.yaml").write_text(QUOTA_SITE, "utf-8")
    exam.write_text(QUOTA, "utf-8")
    row = next(item for item in items(berth, "list") if item["name"] == "exam")

    assert (row["seats"], row["units"], row["unit"]) == ({}, {"core": 1024}, "Gi")
    for words in (("list",), ("occurrences", "exam"), ("simulate", "exam")):
        assert "1024 Gi of core" in berth(*words, *NOW).out
    assert berth("calendar", *NOW).code == 0
    feed = (folder / "site/feeds/exam.ics").read_text("utf-8").replace("\r\n ", "")
    assert "1024 Gi of core in prod" in feed
    assert '"unit":"Gi","units":"Gi"' in (folder / "site/index.html").read_text("utf-8")


def test_plain_numbers_have_no_unit_of_quantities(berth: Berth) -> None:
    assert all("unit" not in row for row in items(berth, "list"))


def test_a_simulation_ends_with_what_stands_there_otherwise(berth: Berth) -> None:
    assert [step["target"] for step in items(berth, "simulate", "exam")] == [40, 40, 3]


def test_a_simulation_ends_with_what_another_reservation_of_the_number_sets(
    berth: Berth, folder: Path
) -> None:
    (folder / "reservations/longer.yaml").write_text(LONGER, "utf-8")

    assert [step["target"] for step in items(berth, "simulate", "exam")] == [40, 40, 25]
    assert [step["target"] for step in items(berth, "simulate", "longer")] == [40, 40, 25, 3]
    assert "shared with longer" in berth("simulate", "exam", *NOW).out


def test_a_simulation_of_a_sum_adds_what_others_set(berth: Berth, folder: Path, exam: Path) -> None:
    summed = "provisioning: {overlap: sum, "
    exam.write_text(EXAM.replace("provisioning: {", summed), "utf-8")
    (folder / "reservations/longer.yaml").write_text(LONGER.replace("provisioning: {", summed), "utf-8")

    assert [step["target"] for step in items(berth, "simulate", "exam")] == [65, 65, 25]


def test_a_suspended_reservation_of_the_number_sets_nothing(berth: Berth, folder: Path) -> None:
    text = LONGER.replace("spec:\n", "spec:\n  suspend: true\n")
    (folder / "reservations/longer.yaml").write_text(text, "utf-8")

    assert [step["target"] for step in items(berth, "simulate", "exam")] == [40, 40, 3]


def test_a_simulation_does_not_know_what_was_there_before(berth: Berth, exam: Path) -> None:
    exam.write_text(EXAM.replace("    otherwise: 3\n", ""), "utf-8")

    assert [step["target"] for step in items(berth, "simulate", "exam")] == [40, 40, None]
    assert "as before" in berth("simulate", "exam", *NOW).out


def test_a_plan_has_no_machines_for_it_and_says_so_once(berth: Berth) -> None:
    lines = [line for line in berth("plan", *NOW).out.splitlines() if "exam (" in line]

    assert len(lines) == 1
    assert "number" in lines[0]


def test_there_is_no_size_of_it(berth: Berth) -> None:
    assert berth("size", "exam", *NOW).code == 2


def test_its_count_is_edited_like_seats(berth: Berth, exam: Path) -> None:
    assert berth("set", "exam", "provisioning.placeholderCount=60", *NOW).code == 0
    assert "placeholderCount: 60" in exam.read_text("utf-8")
    assert berth("set", "exam", "backend.otherwise=-1", *NOW).code == 1
    assert "otherwise: 3" in exam.read_text("utf-8")


def test_a_refused_copy_names_the_file_that_its_values_come_from(berth: Berth, exam: Path) -> None:
    weekly = "type: weekly\n    startDate: 2026-02-02\n    endDate: 2026-02-20"
    text = EXAM.replace("type: dates\n    dates: [2026-02-12]", weekly)
    text = text.replace("[{startTime", "[{daysOfWeek: [mon], startTime").replace("    otherwise: 3\n", "")
    exam.write_text(text, "utf-8")
    answer = berth("copy", "exam", "again", "--from", "2026-09-07", "--until", "2026-12-18", *NOW)
    findings = [line for line in (answer.out + answer.err).splitlines() if "[B301]" in line]

    assert answer.code == 1
    assert findings
    assert all(line.startswith("reservations/exam.yaml") for line in findings)


def test_a_calendar_names_replicas(berth: Berth, folder: Path) -> None:
    assert berth("calendar", *NOW).code == 0

    feed = (folder / "site/feeds/exam.ics").read_text("utf-8").replace("\r\n ", "")
    assert "40 replicas of api in prod" in feed
    page = (folder / "site/index.html").read_text("utf-8")
    assert '"unit":"replica"' in page


@pytest.mark.parametrize(
    ("code", "values"),
    [
        pytest.param("B302", ("otherwise: 3", "otherwise: 60"), id="lowered"),
        pytest.param("B082", ("placeholderCount: 40", "placeholderCount: 2000"), id="many"),
    ],
)
def test_the_site_allows_what_a_reservation_cannot_ignore(
    berth: Berth, folder: Path, exam: Path, code: str, values: tuple[str, str]
) -> None:
    note = f"berth.dev/ignore: '{code}: it is meant'"

    def strictly(site: str, reservation: str) -> tuple[int, bool]:
        (folder / "reservations/site.yaml").write_text(site, "utf-8")
        exam.write_text(reservation, "utf-8")
        answer = berth("validate", "--strict")
        return answer.code, f"[{code}]" in answer.out

    asking = EXAM.replace(*values)
    in_class = asking.replace("{name: api}", f"{{name: api, annotations: {{{note}}}}}")
    assert strictly(SITE, asking) == (1, True)
    assert strictly(SITE, in_class) == (1, True)
    assert strictly(SITE.replace("told by hand", f"told by hand; {code}: meant"), asking) == (0, False)

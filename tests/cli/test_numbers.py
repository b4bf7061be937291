"""What the commands tell of a reservation that holds a number of somebody else's object."""

import csv
import io
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
    assert "unit" not in row
    assert (date["seats"], date["replicas"]) == ({}, {"api": 40})
    assert "40 replicas of api" in berth("list", *NOW).out


def test_lists_and_feeds_name_the_target_object(berth: Berth, folder: Path) -> None:
    targets = {item["name"]: item.get("target") for item in items(berth, "list")}
    assert targets.pop("exam") == "HorizontalPodAutoscaler/shop/api"
    assert {*targets.values()} == {None}
    assert "HorizontalPodAutoscaler/shop/api" in berth("list", *NOW, "-o", "wide").out

    assert berth("calendar", *NOW).code == 0
    feed = (folder / "site/feeds/exam.ics").read_text("utf-8").replace("\r\n ", "")
    assert "HorizontalPodAutoscaler shop/api" in feed
    assert "40 replicas of api in prod" in feed
    assert '"unit":"replica"' in (folder / "site/index.html").read_text("utf-8")
    assert "Sets" not in (folder / "site/feeds/course.ics").read_text("utf-8")


@pytest.mark.parametrize(
    ("otherwise", "number", "text"),
    [
        pytest.param("    otherwise: 3\n", 3, "3", id="declared"),
        pytest.param("", None, "what it was", id="as-before"),
    ],
)
def test_lists_show_the_path_and_the_otherwise_value(
    berth: Berth, exam: Path, otherwise: str, number: int | None, text: str
) -> None:
    exam.write_text(EXAM.replace("    otherwise: 3\n", otherwise), "utf-8")
    rows = {item["name"]: item for item in items(berth, "list")}
    assert (rows["exam"]["path"], rows["exam"].get("otherwise")) == ("spec.minReplicas", number)
    assert {"path", "otherwise"} & {*rows["course"]} == set()

    (line,) = csv.DictReader(io.StringIO(berth("list", *NOW, "-o", "csv", "--class", "api").out))
    assert (line["path"], line.get("otherwise") or None) == ("spec.minReplicas", number and str(number))
    header, *lines = berth("list", *NOW, "-o", "wide").out.splitlines()
    (wide,) = [line for line in lines if line.startswith("exam")]
    assert wide[header.index("OTHERWISE") :].strip().startswith(text)


def test_lists_show_overlap_only_for_reservations_that_share_a_number(berth: Berth, folder: Path) -> None:
    assert all("overlap" not in item for item in items(berth, "list"))
    assert "OVERLAP" not in berth("list", *NOW, "-o", "wide").out
    (folder / "reservations/longer.yaml").write_text(LONGER, "utf-8")
    rows = {item["name"]: item.get("overlap") for item in items(berth, "list")}

    assert {name: overlap for name, overlap in rows.items() if overlap} == {"exam": "max", "longer": "max"}
    header, *lines = berth("list", *NOW, "-o", "wide").out.splitlines()
    found = {line.split()[0]: line[header.index("OVERLAP") :].split()[:1] for line in lines}
    assert (found["exam"], found["longer"]) == (["max"], ["max"])


def test_a_simulation_shows_the_unit_of_its_target(berth: Berth, folder: Path, exam: Path) -> None:
    assert {step["unit"] for step in items(berth, "simulate", "exam")} == {"replica"}
    (folder / "reservations/site.yaml").write_text(QUOTA_SITE, "utf-8")
    exam.write_text(QUOTA, "utf-8")
    assert {step["unit"] for step in items(berth, "simulate", "exam")} == {"Gi"}
    assert all("unit" not in step for step in items(berth, "simulate", "course"))


def test_a_simulation_refuses_sessions_that_change_nothing(berth: Berth, exam: Path) -> None:
    out = berth("simulate", "exam", *NOW).out
    assert "TARGET" in out
    assert "ACTIVE" not in out
    assert "PROMISED" not in out
    answer = berth("simulate", "exam", *NOW, "--sessions", "09:00+10")
    assert (answer.code, "--sessions" in answer.err) == (2, True)

    followed(exam, "maintain", REPLICAS)
    out = berth("simulate", "exam", *NOW, "--sessions", "09:00+10").out
    assert "ACTIVE" in out
    assert "PROMISED" not in out


def followed(exam: Path, behavior: str, target: str = "") -> None:
    """Give the exam a class with sessions, a behavior that follows them, and another target."""
    text = EXAM.replace('cpu: "1"}}', 'cpu: "1"}, sessions: {source: jupyterhub, namespaces: [jhub]}}')
    text = text.replace("placeholderCount: 40", f"placeholderCount: 40, scaleDownBehavior: {behavior}")
    if target:
        start, end = text.index("    target:"), text.index("    otherwise:")
        text = f"{text[:start]}    target: {target}\n{text[end:]}"
    site = exam.with_name("site.yaml")
    held = "{apiVersion: apps/v1, kind: Deployment, namespaces: [shop]}"
    site.write_text(SITE.replace("namespaces: [shop]}]", f"namespaces: [shop]}}, {held}]"), "utf-8")
    exam.write_text(text, "utf-8")


CAP = (
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, namespace: shop, name: api, "
    "path: spec.maxReplicas}"
)
REPLICAS = "{apiVersion: apps/v1, kind: Deployment, namespace: shop, name: api, path: spec.replicas}"


@pytest.mark.parametrize(
    ("behavior", "target", "compared"),
    [
        pytest.param("none", CAP, [], id="refuses-0"),
        pytest.param("none, buffer: {percent: 10, minimum: 0}", CAP, [], id="refuses-0-with-buffer"),
        pytest.param("buffer, buffer: {percent: 10, minimum: 2}", CAP, ["none", "buffer"], id="buffer"),
        pytest.param("none", REPLICAS, ["maintain", "reduce", "none"], id="takes-0"),
    ],
)
def test_compare_shows_only_the_behaviors_that_the_target_allows(
    berth: Berth, exam: Path, behavior: str, target: str, compared: list[str]
) -> None:
    followed(exam, behavior, target)
    answer = berth("simulate", "exam", *NOW, "--compare", "--sessions", "09:00+10", "-o", "json")

    assert answer.code == (0 if compared else 2)
    found = json.loads(answer.out)["items"] if compared else []
    assert [*dict.fromkeys(step["behavior"] for step in found)] == compared


def test_compare_of_a_shared_number_is_a_usage_error(berth: Berth, folder: Path, exam: Path) -> None:
    followed(exam, "none", REPLICAS)
    again = exam.read_text("utf-8").split("---\n")[1].replace("name: exam", "name: longer")
    (folder / "reservations/longer.yaml").write_text(again, "utf-8")

    assert berth("simulate", "exam", *NOW, "--compare").code == 2


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


def test_a_simulation_ends_with_the_otherwise_value(berth: Berth) -> None:
    assert [step["target"] for step in items(berth, "simulate", "exam")] == [40, 40, 3]


def test_a_simulation_ends_with_the_value_of_another_reservation_of_the_number(
    berth: Berth, folder: Path
) -> None:
    (folder / "reservations/longer.yaml").write_text(LONGER, "utf-8")

    assert [step["target"] for step in items(berth, "simulate", "exam")] == [40, 40, 25]
    assert [step["target"] for step in items(berth, "simulate", "longer")] == [40, 40, 25, 3]
    assert "shared with longer" in berth("simulate", "exam", *NOW).out


def test_a_simulation_of_a_sum_adds_the_values_of_other_reservations(
    berth: Berth, folder: Path, exam: Path
) -> None:
    summed = ("    otherwise:", "    combine: sum\n    otherwise:")
    exam.write_text(EXAM.replace(*summed), "utf-8")
    (folder / "reservations/longer.yaml").write_text(LONGER.replace(*summed), "utf-8")

    assert [step["target"] for step in items(berth, "simulate", "exam")] == [65, 65, 25]


def test_a_suspended_reservation_of_the_number_sets_nothing(berth: Berth, folder: Path) -> None:
    text = LONGER.replace("spec:\n", "spec:\n  suspend: true\n")
    (folder / "reservations/longer.yaml").write_text(text, "utf-8")

    assert [step["target"] for step in items(berth, "simulate", "exam")] == [40, 40, 3]


def test_a_simulation_without_otherwise_ends_with_an_unknown_target(berth: Berth, exam: Path) -> None:
    exam.write_text(EXAM.replace("    otherwise: 3\n", ""), "utf-8")

    assert [step["target"] for step in items(berth, "simulate", "exam")] == [40, 40, None]
    assert "as before" in berth("simulate", "exam", *NOW).out


def test_a_plan_lists_a_number_once_as_not_planned(berth: Berth) -> None:
    lines = [line for line in berth("plan", *NOW).out.splitlines() if "exam (" in line]

    assert len(lines) == 1
    assert "number" in lines[0]


def test_size_of_a_number_is_a_usage_error(berth: Berth) -> None:
    assert berth("size", "exam", *NOW).code == 2


def test_set_changes_the_count_and_refuses_a_negative_otherwise(berth: Berth, exam: Path) -> None:
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


@pytest.mark.parametrize(
    ("code", "values"),
    [
        pytest.param("B302", ("otherwise: 3", "otherwise: 60"), id="lowered"),
        pytest.param("B082", ("placeholderCount: 40", "placeholderCount: 2000"), id="many"),
    ],
)
def test_only_the_site_can_ignore_the_findings_b302_and_b082(
    berth: Berth, folder: Path, exam: Path, code: str, values: tuple[str, str]
) -> None:
    note = f"berth.dev/ignore: '{code}: it is meant'"

    def strictly(site: str, reservation: str) -> tuple[int, bool]:
        (folder / "reservations/site.yaml").write_text(site, "utf-8")
        exam.write_text(reservation, "utf-8")
        answer = berth("validate", "--strict", *NOW)
        return answer.code, f"[{code}]" in answer.out

    asking = EXAM.replace(*values)
    in_class = asking.replace("{name: api}", f"{{name: api, annotations: {{{note}}}}}")
    assert strictly(SITE, asking) == (1, True)
    assert strictly(SITE, in_class) == (1, True)
    assert strictly(SITE.replace("told by hand", f"told by hand; {code}: meant"), asking) == (0, False)

"""`berth plan` of a project in which an exam has whole nodes beside a course with seats."""

import json
from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import clouds
from tests.cli.conftest import ROOT

NOW = ("--now", "2026-01-01")


@pytest.fixture(autouse=True)
def exam(folder: Path) -> Path:
    return clouds.write(folder, site=clouds.STATIC, exam=clouds.EXAM)


def test_whole_nodes_are_planned_with_date_machines_hours_and_money(berth: Berth) -> None:
    """5 machines for the window: 2 that are paid for already, 3 a minute longer."""
    code, out, err = berth("plan", "exam", *NOW)
    rows = [" ".join(line.split()) for line in out.splitlines()]
    which = "5 nodes of small 5 2 reserved m5.2xlarge, 3 on-demand m5.large"

    assert (code, err) == (0, "")
    assert f"prod Thu 2026-02-12 08:30 {which}" in rows
    assert f"exam Thu 2026-02-12 09:00-12:00 {which} 17.55 1.01 1 3 min" in rows
    assert {"exam 7 10.55 1.01", "small 7 10.55 1.01", "all 7 10.55 1.01"} <= {*rows}
    assert "cr-0123456789abcdef0 2 m5.2xlarge 1344 34.08 1309.92 97% 403.20 392.98" in rows


def test_json_separates_nodes_from_seats(berth: Berth) -> None:
    answer = json.loads(berth("plan", *NOW, "-o", "json").out)
    own = next(load for load in answer["occurrences"] if load["reservation"] == "exam")

    assert (own["seats"], own["nodes"]) == ({}, {"small": 5})
    assert own["bought"] == 5
    assert (answer["peaks"][0]["seats"], answer["peaks"][0]["nodes"]) == ({}, {"small": 5})
    assert all("nodes" not in load for load in answer["occurrences"] if load["reservation"] != "exam")


def test_a_peak_has_seats_and_nodes_that_are_open_together(berth: Berth, folder: Path) -> None:
    clouds.write(folder, site=clouds.STATIC, exam=clouds.EXAM.replace("02-12", "02-02"))

    assert "prod     Mon 2026-02-02 08:30  25 small, 5 nodes of small  " in berth("plan", *NOW).out


def test_nodes_without_a_machine_get_the_warning_b196(berth: Berth, folder: Path) -> None:
    """Two machines are reserved, and each of two exams at once wants both."""
    cloud = clouds.CLOUD.replace("[reserved, on-demand]", "[reserved]")
    exam = clouds.EXAM.replace("nodeCount: 5", "nodeCount: 2")
    resit = exam.replace("name: exam", "name: resit")
    clouds.write(folder, site=clouds.STATIC, cloud=cloud, course=None, exam=exam, resit=resit)
    code, out, err = berth("plan", "resit", *NOW)

    assert code == 0
    assert err.startswith("reservations/resit.yaml:11:17: warning[B196] spec.provisioning: 2 nodes of small ")
    assert [value for value in ("Thu 2026-02-12 08:30", "uni.cloud.general") if value not in err] == []
    assert err.endswith("\n1 warning.\n")
    assert "resit        Thu 2026-02-12 09:00-12:00  2 nodes of small  0         2 nodes of small  " in out


def test_a_budget_counts_what_nodes_cost(berth: Berth, folder: Path) -> None:
    clouds.write(folder, site=clouds.STATIC + "  diff: {budget: 7}\n", exam=clouds.EXAM)
    code, _, err = berth("plan", *NOW)

    assert code == 1
    assert err.startswith("reservations/site.yaml:10:18: error[B197] spec.diff.budget: 2026-02 ")
    values = ("7.95 USD", "budget of 7", "course 6.94", "exam 1.01", "night 0.00")
    assert [value for value in values if value not in err] == []


def test_a_ceiling_counts_no_nodes(berth: Berth, folder: Path) -> None:
    """25 seats of small are open, and so are 5 nodes."""
    limited = clouds.STATIC.replace(
        "autoscaler: karpenter,", "autoscaler: karpenter, ceilings: [{seats: {small: 27}}],"
    )
    clouds.write(folder, site=limited, exam=clouds.EXAM.replace("02-12", "02-02"))

    assert berth("validate").code == 0


def test_the_exam_of_the_example_is_planned(berth: Berth) -> None:
    answer = json.loads(berth("-C", str(ROOT), "plan", "machine-learning-exam", *NOW, "-o", "json").out)

    assert [(load["id"], load["nodes"], load["bought"]) for load in answer["occurrences"]] == [
        ("machine-learning-exam/2027-05-12T09:00", {"workbench": 3}, 3)
    ]
    assert [(load["name"], load["cost"]["sum"]) for load in answer["reservations"]] == [
        ("machine-learning-exam", "1.51872")
    ]

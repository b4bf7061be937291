"""`berth plan`: machines, what stays idle, and money, in every form."""

import json
import re
from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import clouds, project
from tests.cli.planned import NIGHT, REST, TEXT

NOW = ("--now", "2026-01-01")


@pytest.fixture(autouse=True)
def cloudy(folder: Path) -> Path:
    return clouds.write(folder)


def test_plan_prints_text_by_default(berth: Berth) -> None:
    assert berth("plan", *NOW) == (0, TEXT, "")


def test_wide_has_every_date(berth: Berth) -> None:
    both, night = (
        line for line in TEXT.splitlines(keepends=True) if re.match(r"(course|night) .* min$", line)
    )
    monday, tuesday = (
        both.replace("2 from 2026-02-02 to 2026-02-24", f"{day} 09:00-13:00".ljust(31))
        for day in ("Mon 2026-02-02", "Tue 2026-02-24")
    )

    wide = TEXT.replace(both + night, monday + night + tuesday)
    assert berth("plan", *NOW, "-o", "wide") == (0, wide, "")


def test_json_is_a_plan(berth: Berth) -> None:
    code, out, err = berth("plan", *NOW, "-o", "json")
    answer = json.loads(out)

    assert (code, err) == (0, "")
    assert list(answer) == ["apiVersion", "kind", *list(REST)[:6], "occurrences", *list(REST)[6:]]
    assert (answer.pop("apiVersion"), answer.pop("kind")) == ("berth.dev/v1alpha1", "Plan")
    occurrences = answer.pop("occurrences")
    assert answer == REST
    assert occurrences[1] == NIGHT
    assert [occurrence["id"] for occurrence in occurrences] == [
        "course/2026-02-02T09:00",
        "night/2026-02-07T22:00",
        "course/2026-02-23T09:00",
    ]


def test_names_and_dates_filter_a_plan_without_changing_shared_machines(berth: Berth) -> None:
    named = json.loads(berth("plan", *NOW, "-o", "json", "night").out)
    early = json.loads(berth("plan", *NOW, "-o", "json", "--until", "2026-02-02").out)

    assert [load["id"] for load in named["occurrences"]] == ["night/2026-02-07T22:00"]
    assert [load["name"] for load in named["reservations"]] == ["night"]
    assert named["total"]["machineHours"] == {"reserved": 9.016666666666667, "on-demand": 0, "spot": 0}
    assert [load["id"] for load in early["occurrences"]] == ["course/2026-02-02T09:00"]
    assert (early["from"], early["until"]) == ("2026-02-02T07:30:00Z", "2026-02-02T23:00:00Z")
    assert early["reserved"][0]["hours"] == 94
    assert json.loads(berth("plan", *NOW, "-o", "json", "--class", "bench").out)["occurrences"] == []


def test_no_machines_are_planned_outside_of_all_dates(berth: Berth) -> None:
    told = "No machines are planned.\n\nNot planned: bench (names no cloudCapacity).\n\n"

    for words in (("--until", "2026-01-01"), ("--from", "2026-04-01")):
        answer = berth("plan", *NOW, *words)
        assert (answer.code, answer.out[: len(told)], answer.err) == (0, told, "")
        assert "Write the nodes of cluster lab to reservations/nodes-lab.yaml." in answer.out


def test_no_machines_are_planned_without_cloud_capacity(berth: Berth, folder: Path) -> None:
    project.write(folder, cloud=None)
    told = "No machines are planned.\n\nNot planned: bench, small (names no cloudCapacity).\n\n"

    answer = berth("plan", *NOW)
    assert (answer.code, answer.out[: len(told)], answer.err) == (0, told, "")


def test_a_reservation_without_known_nodes_gets_no_numbers_of_others(berth: Berth, folder: Path) -> None:
    course = project.COURSE.replace("name: course", "name: lab").replace("Class: small", "Class: bench")
    project.write(folder, site=clouds.SITE, classes=clouds.CLASSES, cloud=clouds.CLOUD, lab=course)

    answer = json.loads(berth("plan", *NOW, "-o", "json", "lab").out)
    assert [answer[key] for key in ("peaks", "occurrences", "reserved", "months")] == [[], [], [], []]
    assert answer["notPlanned"] == [{"name": "bench", "reason": "names no cloudCapacity"}]


def test_a_month_above_the_budget_gets_b197_and_the_plan_is_still_printed(berth: Berth, folder: Path) -> None:
    clouds.write(folder, site=clouds.SITE + "  diff: {budget: 5}\n")
    code, out, err = berth("plan", *NOW)

    assert code == 1
    assert err.startswith("reservations/site.yaml:10:18: error[B197] spec.diff.budget: 2026-02 ")
    values = ("6.94 USD", "budget of 5", "course 6.94", "night 0.00")
    assert [value for value in values if value not in err] == []
    assert err.endswith("\n1 error.\n")
    assert "\nCluster peaks\n" in out
    assert berth("plan", "--now", "2026-03-01").code == 0  # what is over cannot be mended


def test_a_budget_that_is_kept_is_shown(berth: Berth, folder: Path) -> None:
    clouds.write(folder, site=clouds.SITE + "  diff: {budget: 1500.5}\n")
    code, out, err = berth("plan", *NOW)

    assert (code, err) == (0, "")
    assert "2026-02  4              27.08       18.07        6.94  402.60      394.48    1,500.5\n" in out


def test_a_missing_price_gets_the_warning_b198_and_there_is_no_total(berth: Berth, folder: Path) -> None:
    cloud = clouds.CLOUD.replace("us-east-1a", "eu-central-1a").replace("      hourlyPrice: 0.3\n", "")
    clouds.write(folder, cloud=cloud, site=clouds.SITE + "  diff: {budget: 5}\n")
    code, out, err = berth("plan", *NOW)

    assert code == 0
    assert err.startswith("reservations/site.yaml:10:18: warning[B198] spec.diff.budget: 2026-02 ")
    assert "on-demand m5.2xlarge" in err
    assert err.endswith("\n1 warning.\n")
    assert "course       18.07       18.07        not known\n" in out
    assert out.endswith(
        "No total, because prices are missing: on-demand m5.2xlarge, reserved cr-0123456789abcdef0.\n"
        "Not planned: bench (names no cloudCapacity).\n"
    )


def test_undeclared_zones_are_assumed_and_reported(berth: Berth, folder: Path) -> None:
    pinned = "  cloudCapacity: [general]\n  nodeSelector: {topology.kubernetes.io/zone: us-east-1b}\n"
    clouds.write(folder, classes=clouds.CLASSES.replace("  cloudCapacity: [general]\n", pinned))
    told = berth("plan", *NOW).out
    answer = json.loads(berth("plan", *NOW, "-o", "json").out)

    assert told.endswith(
        "general does not name its zones: assuming us-east-1a, us-east-1b; "
        "declare them in requirements.\n"
        "Not planned: bench (names no cloudCapacity).\n"
    )
    assert answer["zonesAssumed"] == [{"cloudCapacity": "general", "zones": ["us-east-1a", "us-east-1b"]}]


def test_known_prices_alone_can_exceed_the_budget(berth: Berth, folder: Path) -> None:
    """The cheaper type has a price in the file; in this region the table says none of the other."""
    cloud = clouds.CLOUD.replace("us-east-1a", "eu-central-1a")
    cloud += "  instanceTypes: [{name: m5.large, onDemandPrice: 0.2}]\n"
    course = project.COURSE.replace("placeholderCount: 25", "placeholderCount: 50")
    clouds.write(folder, cloud=cloud, course=course, site=clouds.SITE + "  diff: {budget: 1}\n")
    code, _, err = berth("plan", *NOW)

    assert code == 1
    assert err.startswith("reservations/site.yaml:10:18: error[B197] spec.diff.budget: 2026-02 ")
    values = ("at least 1.81 USD", "budget of 1", "course 1.81", "night 0.00", "on-demand m5.2xlarge")
    assert [value for value in values if value not in err] == []
    assert err.endswith("\n1 error.\n")


def test_seats_beyond_the_limits_get_b195_and_short_lead_times_get_b199(berth: Berth, folder: Path) -> None:
    """26 cores are three machines of eight and one of two: 21 seats, and one."""
    course = project.COURSE.replace("placeholderCount: 25", "leadTimeMinutes: 2, placeholderCount: 25")
    clouds.write(folder, cloud=clouds.CLOUD + '  limits: {cpu: "26"}\n', course=course)
    code, out, err = berth("plan", *NOW)

    assert code == 1
    findings = [line.partition(": ")[2] for line in err.splitlines()[:-1]]
    assert [finding.partition(": ")[0] for finding in findings] == [
        "error[B195] spec.provisioning",
        "warning[B199] spec.provisioning",
    ]
    assert "3 seats of small" in findings[0]
    assert "Mon 2026-02-02 08:58" in findings[0]
    assert "2 min" in findings[1]
    assert "NO MACHINE" in out
    assert "\nNo machine for small of course: uni.cloud.general: every type that fits is larger" in out


def test_a_rehearsal_gets_no_warning_b199_about_its_lead_time(berth: Berth, folder: Path) -> None:
    course = project.COURSE.replace("placeholderCount: 25", "leadTimeMinutes: 2, placeholderCount: 25")
    clouds.write(folder, course=course)
    assert berth("rehearse", "course", "2026-02-02", "--at", "2026-01-20 06:00", *NOW).code == 0
    _, _, err = berth("plan", *NOW)

    assert [line.partition(":")[0] for line in err.splitlines() if "B199" in line] == [
        "reservations/course.yaml"
    ]


@pytest.mark.parametrize("exam", ["2026-02-02", "2026-02-12"])
def test_the_costs_of_dates_add_up_to_the_cost_of_their_reservation(
    berth: Berth, folder: Path, exam: str
) -> None:
    """Also where others share the machines, which stay from one window to the next."""
    other = project.COURSE.replace("name: course", "name: other").replace('"13:00"', '"18:00"')
    nodes = clouds.EXAM.replace("2026-02-12", exam)
    clouds.write(folder, site=clouds.STATIC, exam=nodes, other=other.replace("09:00", "12:30"))
    answer = json.loads(berth("plan", *NOW, "-o", "json").out)

    assert answer["estimate"] is True
    for sums in answer["reservations"]:
        own = [one for one in answer["occurrences"] if one["reservation"] == sums["name"]]
        money = sum(float(one["cost"]["sum"]) for one in own)
        assert money == pytest.approx(float(sums["cost"]["sum"]), abs=1e-6)
        hours = sum(sum(one["machineHours"].values()) for one in own)
        assert hours == pytest.approx(sum(sums["machineHours"].values()))


@pytest.mark.parametrize(("volumes", "machines"), [("", 4), ("  volumesPerNode: 5\n", 5)])
def test_machines_take_the_declared_number_of_volumes(
    berth: Berth, folder: Path, volumes: str, machines: int
) -> None:
    """25 seats fit on four machines by cpu and memory."""
    classes = clouds.CLASSES.replace("  cloudCapacity", "  volumes: 1\n  cloudCapacity")
    clouds.write(folder, classes=classes, cloud=clouds.CLOUD + volumes)
    (peak,) = json.loads(berth("plan", *NOW, "-o", "json").out)["peaks"]

    assert sum(one["count"] for one in peak["machines"]) == machines

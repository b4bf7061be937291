"""What a change means for machines and money, and what is wrong with it."""

import shutil
from typing import Any

import pytest
from berth import cli

from tests.cli import clouds
from tests.diff.conftest import Pair

AT = "2026-01-01"


def part(told: str, heading: str = "Machines and money") -> str:
    return told[told.index(heading) :].partition("\n\n")[0].rstrip()


def more_seats(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 50")


def test_more_seats_are_reported_as_more_machines_and_cost(cloudy: Pair) -> None:
    more_seats(cloudy)
    told = cloudy.diff(at=AT)

    assert told.code == 0
    assert told.out.startswith(
        "1 reservation changed; peak seats of small in prod 25 -> 50; cost 6.94 -> 18.21 USD"
    )
    assert part(told.out) == (
        "Machines and money\n"
        "~ 2026-02: 6.94 -> 18.21 USD, machine-hours 45.15 -> 81.28\n"
        "~ prod, most machines: 4 -> 8 at Mon 2026-02-02 08:30 (Europe/Zurich): 2 reserved m5.2xlarge, "
        "5 on-demand m5.2xlarge, 1 on-demand m5.large"
    )


def test_a_change_without_cost_shows_no_plan(cloudy: Pair) -> None:
    cloudy.edit("course.yaml", "title:", "title: An hour of ")
    cloudy.edit("course.yaml", 'An hour of  "Zürich, Café | Lab"', "An hour of Zürich")

    assert "Machines and money" not in cloudy.diff(at=AT).out


def test_a_price_alone_is_a_change(cloudy: Pair) -> None:
    cloudy.edit("cloud.yaml", "hourlyPrice: 0.3", "hourlyPrice: 0.4")
    told = cloudy.diff("--exit-code", at=AT)

    assert told.code == 4
    assert told.out.startswith("1 shared document changed; other use of reserved machines\n")
    assert part(told.out) == (
        "Machines and money\n~ cr-0123456789abcdef0: 98% -> 98% idle, 526.77 of 537.60 USD paid ahead"
    )


def test_a_month_above_the_budget_fails_the_check(cloudy: Pair) -> None:
    cloudy.put("site.yaml", clouds.SITE + "  diff: {budget: 10}\n")
    assert cloudy.diff(at=AT).code == 0
    more_seats(cloudy)
    told = cloudy.diff(at=AT)

    assert told.code == 1
    assert told.out.startswith("the plan has 1 error; 1 reservation changed; ")
    over = part(told.out).splitlines()[1]
    assert over.startswith("! reservations/site.yaml:10:18: error[B197] spec.diff.budget: 2026-02 ")
    values = ("18.21 USD", "budget of 10", "course 18.21", "night 0.00")
    assert [value for value in values if value not in over] == []
    assert part(told.out).splitlines()[2].endswith("machine-hours 45.15 -> 81.28, budget 10")
    assert cloudy.diff(at="2026-03-01").code == 0


def test_markdown_output_has_the_plan_within_its_limit(cloudy: Pair) -> None:
    more_seats(cloudy)
    told = cloudy.diff("-o", "markdown", at=AT).out

    assert "- prod, most machines: 4 → 8 at Mon" in told
    cost = "- 2026-02: 6.94 → 18.21 USD, machine-hours 45.15 → 81.28\n"
    assert f"#### Machines and money\n\n{cost}" in told
    assert len(cloudy.diff("-o", "markdown", "--limit", "1000", at=AT).out) <= 1000


def test_github_output_has_the_findings_of_the_plan(cloudy: Pair) -> None:
    site = clouds.SITE + "  diff: {budget: 10}\n"
    (cloudy.now / "reservations/site.yaml").write_text(site, "utf-8")
    more_seats(cloudy)

    told = cloudy.diff("-o", "github", at=AT)

    assert told.code == 1
    assert "/reservations/site.yaml,line=10,col=18,title=B197::spec.diff.budget: 2026-02 costs" in told.out


def test_json_output_has_a_plan_if_there_is_a_capacity(cloudy: Pair) -> None:
    more_seats(cloudy)
    plan: dict[str, Any] = cloudy.change(AT)["plan"]
    (machines,) = plan["machines"]

    assert (machines["cluster"], machines["at"]) == ("prod", "2026-02-02T07:30:00Z")
    assert [(one["capacityType"], one["instanceType"], one["count"]) for one in machines["machines"]] == [
        ("on-demand", "m5.2xlarge", 5),
        ("reserved", "m5.2xlarge", 2),
        ("on-demand", "m5.large", 1),
    ]
    assert [(one["machineHours"], one["budget"]) for one in plan["months"]] == [
        ({"before": 45.15, "after": 81.28333333333333}, None)
    ]
    assert (plan["reserved"], plan["findings"]) == ([], [])


def test_a_base_without_a_capacity_costs_nothing(pair: Pair) -> None:
    clouds.write(pair.now)
    told = pair.diff(at=AT).out

    assert "~ prod, most machines: 0 -> 4 at Mon 2026-02-02 08:30" in told
    assert "~ cr-0123456789abcdef0: 0% -> 98% idle, 395.08 of 403.20 USD paid ahead\n" in told


def test_without_any_capacity_there_is_no_plan(pair: Pair) -> None:
    more_seats(pair)

    assert "plan" not in pair.change(AT)


@pytest.fixture
def examined(pair: Pair) -> Pair:
    """With an exam on whole nodes, on both sides."""
    for folder in (pair.was, pair.now):
        clouds.write(folder, site=clouds.STATIC, exam=clouds.EXAM.replace("02-12", "02-24"))
        cli.run(["-C", str(folder), "render"])
    return pair


def test_unchanged_whole_nodes_count_beside_changed_seats(examined: Pair) -> None:
    """At 09:00 the course opens on 4 machines, with the exam's 5 beside them."""
    more_seats(examined)

    assert "~ prod, most machines: 9 -> 13 at Tue 2026-02-24 08:30 (Europe/Zurich): " in part(
        examined.diff(at=AT).out
    )


def test_unchanged_whole_nodes_are_no_change_of_the_plan(examined: Pair) -> None:
    """Else a change of a title would cost what the nodes cost."""
    examined.edit("exam.yaml", "name: exam", "name: exam, labels: {room: one}")
    told = examined.diff(at=AT).out

    assert told.startswith("1 reservation changed\n")
    assert "Machines and money" not in told


def test_more_whole_nodes_cost_more_and_change_no_peak(examined: Pair) -> None:
    examined.edit("exam.yaml", "nodeCount: 5", "nodeCount: 6")
    answer = examined.change(AT)

    assert answer["peaks"] == []
    assert [(load["before"], load["after"]) for load in answer["plan"]["machines"]] == [(9, 10)]
    assert [(load["month"], load["cost"]) for load in answer["plan"]["months"]] == [
        ("2026-02", {"before": "11.4192", "after": "11.7568"})
    ]


def test_a_budget_includes_unchanged_whole_nodes(examined: Pair) -> None:
    examined.put("site.yaml", clouds.STATIC + "  diff: {budget: 7}\n")
    examined.edit("course.yaml", "title:", "title: An hour of ")
    examined.edit("course.yaml", 'An hour of  "Zürich, Café | Lab"', "An hour of Zürich")
    told = examined.diff(at=AT)

    assert told.code == 1
    assert "error[B197] spec.diff.budget: 2026-02 costs 11.42 USD, above the budget of 7: " in told.out


def test_a_warning_of_the_plan_is_shown_only_if_it_is_new(cloudy: Pair) -> None:
    def codes() -> list[str]:
        plan = cloudy.change(AT)["plan"]
        return [one["code"] for one in plan["findings"]]

    cloudy.edit("course.yaml", "placeholderCount: 25", "leadTimeMinutes: 2, placeholderCount: 25")
    assert codes() == ["B199"]

    shutil.copy(cloudy.now / "reservations/course.yaml", cloudy.was / "reservations/course.yaml")
    cloudy.edit("course.yaml", "metadata: {name: course}", "metadata: {name: course, labels: {a: b}}")
    assert codes() == []

"""Attacks on the limits of the base: one change avoids a policy, ceiling or budget by its names, and uses it.

In each the head has no limit any more. The course has 25 seats of small in prod from 2026-02-24 on.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cases import tabled
from tests.cli import clouds, project
from tests.diff.conftest import NOW, Pair, results, ruled

COPY = """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: tiny}
spec:
  cluster: prod
  requests: {cpu: "1", memory: 4Gi}
"""
CLUSTER = "    - name: prod\n"
MAIN = "    - name: main\n"
ANOTHER = f"{CLUSTER}    - {{name: copy, destination: {{server: https://other.example.org}}}}\n"
CEILING = "    - name: prod\n      ceilings: [{seats: {small: 29}}]\n"
CORES = '    - name: prod\n      ceilings: [{requests: {cpu: "29"}}]\n'


def everywhere(pair: Pair, before: str, after: str) -> None:
    """Edit all files of the head."""
    for path in (pair.now / "reservations").iterdir():
        path.write_text(path.read_text("utf-8").replace(before, after), "utf-8")


def rename_class(pair: Pair) -> None:
    everywhere(pair, "small", "tiny")


def copy_class(pair: Pair) -> None:
    (pair.now / "reservations/tiny.yaml").write_text(COPY, "utf-8")
    pair.edit("course.yaml", "resourceClass: small", "resourceClass: tiny")


def take_the_name_of_another_class(pair: Pair) -> None:
    """`bench` is in no limit, and requests no memory: afterwards it is what small was."""
    pair.edit(
        "classes.yaml",
        "cluster: lab\n  requests: {cpu: 250m}",
        'cluster: prod\n  requests: {cpu: "1", memory: 4Gi}',
    )
    pair.edit("course.yaml", "resourceClass: small", "resourceClass: bench")


def rename_cluster(pair: Pair) -> None:
    everywhere(pair, CLUSTER, MAIN)
    everywhere(pair, "cluster: prod", "cluster: main")


def copy_cluster(pair: Pair) -> None:
    everywhere(pair, CLUSTER, ANOTHER)
    everywhere(pair, "cluster: prod", "cluster: copy")


def rename_both(pair: Pair) -> None:
    rename_class(pair)
    rename_cluster(pair)


def nothing(_: Pair) -> None:
    """Only the limit goes."""


ATTACKS = [
    rename_class,
    copy_class,
    take_the_name_of_another_class,
    rename_cluster,
    copy_cluster,
    rename_both,
    nothing,
]
of_names = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)


def attacked(
    pair: Pair, attack: object, seats: int, *policies: str, text: str = project.SITE
) -> tuple[int, Sequence[str]]:
    """The exit code, and what applies to the course, of a change that removes all limits."""
    ruled(pair, was=policies)
    (pair.was / "reservations/site.yaml").write_text(
        (pair.was / "reservations/site.yaml").read_text("utf-8").replace(project.SITE, text), "utf-8"
    )
    assert callable(attack)
    attack(pair)
    pair.edit("course.yaml", "placeholderCount: 25", f"placeholderCount: {seats}")
    answer = pair.diff("-o", "json")
    applied = sorted(policy for policy, name, _ in results(answer) if name == "course")
    found = [finding["code"] for finding in json.loads(answer.out)["head"]["findings"]]
    return answer.code, [*applied, *(code for code in found if code == "B067")]


@of_names
@pytest.mark.parametrize(
    "match",
    ["classes: [small]", "clusters: [prod]", "classes: [small], clusters: [prod]"],
)
def test_no_new_name_avoids_a_policy_of_the_base(pair: Pair, attack: object, match: str) -> None:
    large = f"match: {{{match}}}, when: {{seatsAbove: 29}}"
    policies = (f"{large}, require: refuse", f"{large}, require: {{approvalBy: ada}}")

    assert attacked(pair, attack, 30, *policies) == (1, ["p0", "p1"])


@of_names
def test_a_required_approval_of_the_base_still_applies(pair: Pair, attack: object) -> None:
    policy = "match: {classes: [small], clusters: [prod]}, when: {seatsAbove: 29}, require: {approvalBy: ada}"

    assert attacked(pair, attack, 30, policy) == (0, ["p0"])
    assert pair.diff().out.splitlines()[0].startswith("needs approval by ada; ")


@of_names
@pytest.mark.parametrize("ceiling", [CEILING, CORES], ids=["seats", "cores"])
def test_no_new_name_avoids_a_ceiling_of_the_base(pair: Pair, attack: object, ceiling: str) -> None:
    text = project.SITE.replace(CLUSTER, ceiling)

    assert attacked(pair, attack, 30, text=text) == (1, ["B067"])


@of_names
def test_seats_within_the_limits_of_the_base_pass(pair: Pair, attack: object) -> None:
    policy = "match: {classes: [small], clusters: [prod]}, when: {seatsAbove: 29}, require: refuse"

    assert attacked(pair, attack, 29, policy, text=project.SITE.replace(CLUSTER, CEILING)) == (0, [])


def test_two_new_clusters_share_the_ceiling_of_the_base(pair: Pair) -> None:
    """15 seats in each of them."""
    (pair.was / "reservations/site.yaml").write_text(project.SITE.replace(CLUSTER, CEILING), "utf-8")
    copy_cluster(pair)
    everywhere(
        pair,
        "    - {name: copy",
        "    - {name: copy-2, destination: {server: https://third.example.org}}\n    - {name: copy",
    )
    second = COPY.replace("cluster: prod", "cluster: copy-2")
    (pair.now / "reservations/tiny.yaml").write_text(second, "utf-8")
    pair.edit("course.yaml", "  resourceClass: small\n", "")
    seats = (
        "seats: [{resourceClass: small, placeholderCount: 15}, {resourceClass: tiny, placeholderCount: 15}]"
    )
    pair.edit("course.yaml", "placeholderCount: 25", seats)

    assert (
        "30 seats of small are open in prod, copy-2, copy, above the ceiling of 29 in the base"
        in pair.diff().out
    )


@pytest.mark.parametrize("is_merged", [False, True])
def test_limits_of_the_base_apply_to_a_new_class_until_it_is_merged(pair: Pair, is_merged: bool) -> None:
    """A limit that names other classes says nothing about one that the base knows."""
    if is_merged:
        (pair.was / "reservations/tiny.yaml").write_text(COPY, "utf-8")
    policy = "match: {classes: [small]}, when: {seatsAbove: 20}, require: refuse"

    assert attacked(pair, copy_class, 30, policy, text=project.SITE.replace(CLUSTER, CEILING)) == (
        (0, []) if is_merged else (1, ["p0", "B067"])
    )


def with_budget(folder: Path, budget: str) -> None:
    path = folder / "reservations/site.yaml"
    path.write_text(clouds.SITE + (f"  diff: {{budget: {budget}}}\n" if budget else ""), "utf-8")


@pytest.mark.parametrize("budget", ["1000", "", "10"], ids=["raised", "removed", "kept"])
def test_a_budget_cannot_be_raised_and_used_in_one_change(cloudy: Pair, budget: str) -> None:
    with_budget(cloudy.was, "10")
    with_budget(cloudy.now, budget)
    cloudy.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 50")
    answer = cloudy.diff("-o", "json", at="2026-01-01")

    assert answer.code == 1
    found = json.loads(answer.out)["plan"]["findings"]
    assert [finding["code"] for finding in found] == ["B197"]
    assert "above the budget of 10:" in found[0]["message"]


@pytest.mark.parametrize(("most", "policies"), [(2599, ["p0"]), (2600, [])])
def test_a_few_seats_for_a_long_time_exceed_a_policy_of_hours(
    pair: Pair, most: int, policies: list[str]
) -> None:
    """26 seats for 100 hours, of which one seat comes with the change."""
    long = '"13:00", endDay: 4'
    for side in (pair.was, pair.now):
        path = side / "reservations/course.yaml"
        path.write_text(path.read_text("utf-8").replace('"13:00"', long), "utf-8")
    ruled(pair, f"when: {{hoursAbove: {most}}}, require: refuse")
    pair.edit("course.yaml", "placeholderCount: 25", "leadTimeMinutes: 0, placeholderCount: 26")
    answer = pair.diff("-o", "json", at="2026-02-20")

    assert [policy for policy, *_ in results(answer)] == policies
    assert answer.code == len(policies)


def test_seats_without_an_end_exceed_any_limit_of_hours(pair: Pair) -> None:
    ruled(pair, "when: {hoursAbove: 1000000000}, require: refuse")
    site = (pair.now / "reservations/site.yaml").read_text("utf-8")
    for side in (pair.was, pair.now):
        (side / "reservations/site.yaml").write_text(
            site.replace(CLUSTER, f"{CLUSTER}      koordinator: {{}}\n"), "utf-8"
        )
    standing = (
        "apiVersion: berth.dev/v1alpha1\nkind: CapacityReservation\nmetadata: {name: always}\nspec:\n"
        "  resourceClass: small\n  backend: {type: koordinator, standing: true}\n"
        "  provisioning: {placeholderCount: 1}\n"
    )
    (pair.now / "reservations/always.yaml").write_text(standing, "utf-8")

    (result,) = pair.change(NOW)["policies"]
    assert result["reasons"] == ["seat-hours without end, above 1000000000"]


def split(pair: Pair, parts: int, seats: int = 15) -> None:
    """Replace the course by several, each with some of its seats."""
    course = pair.now / "reservations/course.yaml"
    text = course.read_text("utf-8").replace("placeholderCount: 25", f"placeholderCount: {seats}")
    course.unlink()
    for number in range(parts):
        path = pair.now / f"reservations/part-{number}.yaml"
        path.write_text(text.replace("{name: course}", f"{{name: part-{number}}}"), "utf-8")


# Two parts have 30 seats for 4 hours and a lead of 30 minutes on the one day to come.
@tabled("diff")
@pytest.mark.parametrize("require", ["refuse", "{approvalBy: ada}"])
def test_splitting_a_course_does_not_avoid_a_policy(
    condition: str, reason: str, pair: Pair, require: str
) -> None:
    ruled(pair, f"when: {{{condition}}}, require: {require}")
    split(pair, 2)
    found = pair.change("2026-02-20")["policies"]

    assert [(one["reservation"], one["reasons"]) for one in found] == (
        [("part-0", [reason]), ("part-1", [reason])] if reason else []
    )


def test_parts_that_are_open_at_different_times_do_not_add_up(pair: Pair) -> None:
    ruled(pair, "when: {seatsAbove: 15}, require: refuse")
    split(pair, 2)
    pair.edit("part-1.yaml", "dayOfWeek: mon", "dayOfWeek: tue")
    pair.edit("part-1.yaml", "    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]\n", "")
    pair.edit("part-0.yaml", "    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]\n", "")

    assert results(pair.diff("-o", "json")) == []


PRICES = (
    "  instanceTypes: [{{name: m5.large, onDemandPrice: {0}}}, {{name: m5.2xlarge, onDemandPrice: {0}}}]\n"
)


@pytest.mark.parametrize(("most", "applied"), [("34.67", ["part-0", "part-1"]), ("34.68", [])])
def test_splitting_a_course_does_not_avoid_a_cost_policy(cloudy: Pair, most: str, applied: list[str]) -> None:
    """The machines of both together cost 34.68 USD."""
    ruled(cloudy, f"when: {{costAbove: {most}}}, require: refuse", text=clouds.SITE)
    split(cloudy, 2, 40)
    found = cloudy.change("2026-01-01")["policies"]

    assert [one["reservation"] for one in found] == applied
    assert all("USD in all of this change" in one["reasons"][0] for one in found)


def lower(pair: Pair) -> None:
    pair.edit("cloud.yaml", PRICES.format(1), PRICES.format("0.01"))


def below_the_table(pair: Pair) -> None:
    (pair.was / "reservations/cloud.yaml").write_text(clouds.CLOUD, "utf-8")
    pair.edit("cloud.yaml", PRICES.format(1), PRICES.format("0.01"))


def remove(pair: Pair) -> None:
    """The table is below what the file says."""
    pair.edit("cloud.yaml", PRICES.format(1), "")


def rename_capacity(pair: Pair) -> None:
    lower(pair)
    everywhere(pair, "general", "other")


def add_spot(pair: Pair) -> None:
    pair.edit("cloud.yaml", "onDemandPrice: 1", "onDemandPrice: 1, spotPrice: 0.01")


@pytest.mark.parametrize(
    ("attack", "told"),
    [
        (lower, "goes to 0.01: policies and the budget count 1"),
        (below_the_table, "goes to 0.01: policies and the budget count 0.384"),
        (remove, "is removed: policies and the budget count 1"),
        (rename_capacity, "goes to 0.01: policies and the budget count 1"),
        (add_spot, "the price of spot m5.2xlarge is new, 0.01 USD an hour"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_price_cannot_be_lowered_and_used_in_one_change(cloudy: Pair, attack: object, told: str) -> None:
    assert callable(attack)
    cloudy.put("cloud.yaml", clouds.CLOUD + PRICES.format(1))
    ruled(cloudy, "when: {costAbove: 9}, require: refuse", text=clouds.SITE)
    for side in (cloudy.was, cloudy.now):
        site = side / "reservations/site.yaml"
        site.write_text(f"{site.read_text('utf-8')}  diff: {{budget: 9}}\n", "utf-8")
    attack(cloudy)
    cloudy.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 50")
    answer = cloudy.change("2026-01-01")

    assert "course" in [one["reservation"] for one in answer["policies"]]
    assert "B197" in [finding["code"] for finding in answer["plan"]["findings"]]
    (warning,) = [one["message"] for one in answer["warnings"] if one["code"] == "price"]
    assert told in warning


def test_an_unchanged_price_is_used_as_it_is(cloudy: Pair) -> None:
    """Also one below the table, and beside a capacity with a higher one."""
    cloudy.put("cloud.yaml", clouds.CLOUD + PRICES.format("0.01"))
    ruled(cloudy, "when: {costAbove: 9}, require: refuse", text=clouds.SITE)
    cloudy.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 50")
    answer = cloudy.change("2026-01-01")

    assert answer["policies"] == []
    assert not [one for one in answer["warnings"] if one["code"] == "price"]

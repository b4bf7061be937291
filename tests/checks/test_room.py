"""The warning that our own Jobs cannot make room: told where it is so, and nowhere else."""

from typing import Any

import pytest
from berth.checks.seatplacement import check_job_placement

from tests.cases import tabled
from tests.checks.backendproblems import project_of
from tests.saying import finding, lines, read, resource_class, site, valid

USERS = {"key": "dedicated", "operator": "Equal", "value": "users", "effect": "NoSchedule"}
GPU = {"key": "nvidia.com/gpu", "operator": "Exists"}
POOL = {"pool": "users"}


def told(tolerations: list[Any], runtime: dict[str, Any] | None = None, **spec: Any) -> list[str]:
    found = valid(resource_class(tolerations=tolerations, **spec), site(runtime=runtime or {}))
    return lines(check_job_placement(project_of(found)))


def warning(number: int, taints: str) -> list[str]:
    return [finding(f"B033 spec.tolerations.{number}", "B033: <reason>", "prod", taints)]


def test_a_taint_that_only_the_class_tolerates_is_reported() -> None:
    assert told([USERS]) == told([USERS], nodeSelector=POOL) == warning(0, "dedicated=users:NoSchedule")
    assert told([GPU]) == warning(0, "nvidia.com/gpu")
    assert told([{**GPU, "effect": "NoExecute"}]) == warning(0, "nvidia.com/gpu:NoExecute")


def test_a_class_is_reported_once_with_all_its_taints() -> None:
    kept = {"key": "kept", "operator": "Exists"}

    assert told([kept, USERS, GPU], {"tolerations": [kept]}) == warning(
        1, "dedicated=users:NoSchedule, nvidia.com/gpu"
    )


def test_a_class_without_tolerations_has_no_finding() -> None:
    assert told([]) == told([], nodeSelector=POOL) == []


@tabled("checks")
def test_a_taint_that_our_jobs_tolerate_has_no_finding(ours: dict[str, str]) -> None:
    assert told([USERS], {"tolerations": [ours]}) == []


@tabled("checks")
def test_a_job_toleration_of_another_taint_does_not_help(ours: dict[str, str]) -> None:
    assert told([USERS], {"tolerations": [ours]}) == warning(0, "dedicated=users:NoSchedule")


@pytest.mark.parametrize("of_class", [{"key": "dedicated", "operator": "Exists"}, {**USERS, "effect": None}])
def test_a_job_toleration_covers_a_wider_toleration_of_the_class(of_class: dict[str, Any]) -> None:
    """A class may tolerate more than there is; the site's word for it is nearer to the nodes."""
    assert told([of_class], {"tolerations": [USERS]}) == []


@tabled("checks")
def test_tolerations_of_no_blocking_taint_have_no_finding(toleration: dict[str, Any]) -> None:
    assert told([toleration], nodeSelector=POOL) == []


@tabled("checks")
def test_a_site_that_selects_other_nodes_for_our_jobs_is_not_warned(
    selector: dict[str, str], warned: bool
) -> None:
    expected = warning(0, "dedicated=users:NoSchedule") if warned else []

    assert told([USERS], {"nodeSelector": selector}, nodeSelector=POOL) == expected


def test_the_runtime_settings_of_the_cluster_are_used() -> None:
    """Two clusters, two classes: one cluster's Jobs tolerate, the other's do not."""
    documents = [
        resource_class("small", cluster="prod", tolerations=[USERS]),
        resource_class("large", cluster="hub", tolerations=[USERS]),
        site({"name": "prod"}, {"name": "hub", "runtime": {"tolerations": [USERS]}}),
    ]
    found = read(*documents)

    assert lines(check_job_placement(project_of(found))) == warning(0, "dedicated=users:NoSchedule")


def test_a_class_in_an_unknown_cluster_gets_no_finding_here() -> None:
    found = read(resource_class(cluster="nowhere", tolerations=[USERS]), site())

    assert list(check_job_placement(project_of(found))) == []

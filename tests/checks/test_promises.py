"""What Koordinator cannot promise: told where it is so, and nowhere else."""

from typing import Any

import pytest
from berth.backends.koordinator.slotchecks import check_scheduler_of_slots, check_slot_profiles
from berth.checks.seatplacement import check_seats_fit_on_nodes
from berth.findings import Problem
from berth.schema.declared import Declared

from tests.cases import tabled
from tests.checks.backendproblems import problems_of_first, project_of
from tests.saying import Value, finding, lines, read, reservation, resource_class, site, valid

HUB = {"source": "jupyterhub", "namespaces": ["hub"], "selector": {"matchLabels": {"size": "small"}}}
NODE = {"nodeSelector": {"kubernetes.io/hostname": "gpu-1"}}


def limits(found: Declared) -> list[Problem]:
    """What Koordinator cannot promise to the first reservation."""
    return [problem for problem in problems_of_first(found) if problem.code in ("B140", "B142", "B143")]


def told(
    backend: dict[str, Any], cluster: Value | None = None, count: int = 5, **spec: Any
) -> tuple[list[str], list[str]]:
    """What is said of the class, and of the reservation."""
    spec = {"schedulerName": "koord-scheduler", **spec}
    standing: Value = {"recurrence": None} if backend.get("standing") else {}
    provisioning: Value = {"placeholderCount": count}
    if not standing:
        provisioning["scaleDownBehavior"] = "none"
    found = valid(
        resource_class(sessions=HUB, **{key: value for key, value in spec.items() if value}),
        reservation(backend=backend, provisioning=provisioning, **standing),
        site({"name": "prod", "koordinator": {}, **(cluster or {})}),
    )
    return lines(check_scheduler_of_slots(project_of(found))), lines(limits(found))


KOORDINATOR = {"type": "koordinator"}
NO_NODES = finding("B140 spec.backend", "karpenter", "prod")


def test_an_autoscaler_that_adds_no_nodes_for_slots_is_reported() -> None:
    assert told(KOORDINATOR, {"autoscaler": "karpenter"}) == ([], [NO_NODES])
    assert told({**KOORDINATOR, "standing": True}, {"autoscaler": "karpenter"}) == ([], [NO_NODES])


@tabled("checks")
def test_backends_and_autoscalers_that_add_nodes_have_no_finding(
    backend: dict[str, Any], autoscaler: str
) -> None:
    assert told(backend, {"autoscaler": autoscaler}) == ([], [])


def test_sessions_of_another_scheduler_than_koordinator_are_reported() -> None:
    assert told(KOORDINATOR, schedulerName="kube") == (["B141 spec.schedulerName"], [])
    assert told(KOORDINATOR, schedulerName=None) == (["B141 spec"], [])


@tabled("checks")
def test_sessions_that_use_slots_have_no_finding(
    backend: dict[str, Any], cluster: Value, scheduler: str | None
) -> None:
    assert told(backend, cluster, schedulerName=scheduler) == ([], [])


def test_owners_without_labels_get_no_colocation_profile() -> None:
    """Where the webhook cannot tell the pods by labels, people have to lead them."""
    backend = {**KOORDINATOR, "sessionAffinity": True, "owners": [{"object": {"namespace": "lab"}}]}

    assert told(backend, {"koordinator": {"colocationProfiles": True}}, schedulerName=None) == (
        ["B141 spec"],
        [],
    )


ML: Value = {"labelSelector": {"matchLabels": {"course": "ml"}}}
HERE, THERE = ({**ML, "object": {"namespace": name}} for name in ("here", "there"))


def met(
    first: list[Value], second: list[Value], cluster: Value | None = None, *, affinity: bool = True
) -> list[str]:
    """What is told of two reservations with these owners."""
    made = [
        reservation(name, backend={**KOORDINATOR, "owners": owners, "sessionAffinity": wanted})
        for name, owners, wanted in (("monday", first, True), ("thursday", second, affinity))
    ]
    profiles = {"koordinator": {"colocationProfiles": True}}
    found = read(
        resource_class(schedulerName="koord-scheduler"),
        *made,
        site({"name": "prod", **(cluster or profiles)}),
    )
    return lines(check_slot_profiles(project_of(found)))


@pytest.mark.parametrize(
    ("first", "second"),
    [([ML], [ML]), ([ML], [HERE]), ([HERE], [ML]), ([HERE, THERE], [THERE])],
    ids=["everywhere", "all-of-one", "one-of-all", "one-in-common"],
)
def test_two_reservations_with_affinity_for_the_same_pods_are_reported(
    first: list[Value], second: list[Value]
) -> None:
    assert met(first, second) == [finding("B120 spec.backend.sessionAffinity", "monday")]


def test_different_pods_or_no_profiles_are_no_conflict() -> None:
    other = {"labelSelector": {"matchLabels": {"course": "ai"}}}

    assert met([ML], [other]) == met([HERE], [THERE]) == met([ML], [ML], affinity=False) == []
    assert met([ML], [ML], {"koordinator": {}}) == []  # people lead them, one by one


LARGEST: Value = {"name": "prod", "koordinator": {}, "largestNode": {"cpu": 4, "memory": "16Gi"}}


def sizes(backend: dict[str, Any], **requests: str) -> list[str]:
    """What is told of a class that requests so much, and of the slots of its reservation."""
    found = read(
        resource_class(requests=requests, sessions=HUB, schedulerName="koord-scheduler"),
        reservation(backend=backend),
        site(LARGEST),
    )
    return lines(check_seats_fit_on_nodes(project_of(found))) + lines(limits(found))


@pytest.mark.parametrize("backend", [KOORDINATOR, {"type": "placeholder"}], ids=["slots", "placeholders"])
def test_a_seat_larger_than_the_largest_node_is_reported(backend: dict[str, Any]) -> None:
    assert (
        sizes(backend, cpu="4", memory="16Gi") == sizes(backend, **{"cpu": "1", "nvidia.com/gpu": "9"}) == []
    )
    assert sizes(backend, cpu="4001m", memory="16Gi") == [finding("B143 spec.requests.cpu", "4001m")]

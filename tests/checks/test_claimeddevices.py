"""Where devices that a class claims cannot be allocated, held, or handed over to sessions."""

from typing import Any

from berth.checks import seatplacement

from tests.cases import tabled
from tests.checks.backendproblems import checked_reservation, project_of
from tests.saying import Value, lines, reservation, resource_class, site, valid, weekly

CLAIMS = [{"name": "gpu", "deviceClassName": "gpu.example.com"}]
NEW: Value = {"name": "prod", "kubernetes": "1.34"}


def of_class(cluster: Value, **spec: Any) -> list[str]:
    declared = valid(site(cluster), resource_class(**{"resourceClaims": CLAIMS, **spec}))
    return lines(seatplacement.check_device_claims(project_of(declared)))


def of_reservation(claims: list[Value] = CLAIMS, **spec: Any) -> list[str]:
    cluster = {**NEW, "koordinator": {}, "autoscaler": "cluster-autoscaler", "capacityBuffers": True}
    declared = valid(site(cluster), resource_class(resourceClaims=claims), reservation(**spec))
    return lines(seatplacement.check_claims_are_held(checked_reservation(declared.reservations[0], declared)))


@tabled("checks")
def test_resource_claims_need_kubernetes_1_34_and_no_karpenter(cluster: Value, problems: list[str]) -> None:
    assert of_class(cluster) == problems
    assert of_class(cluster, resourceClaims=[]) == []


@tabled("checks")
def test_a_class_that_requests_and_claims_the_same_devices_is_reported(
    requests: Value, problems: list[str]
) -> None:
    assert of_class(NEW, requests=requests) == problems


def seats(behavior: str | None) -> Value:
    return {"placeholderCount": 2, **({"scaleDownBehavior": behavior} if behavior else {})}


BUFFER = {"percent": 20, "minimum": 1}


@tabled("checks")
def test_claimed_devices_need_placeholders_that_follow_sessions(
    provisioning: Value, problems: list[str]
) -> None:
    assert of_reservation(provisioning=provisioning) == problems
    assert of_reservation([], provisioning=provisioning) == []


def test_an_entry_without_scale_down_is_reported_for_claimed_devices() -> None:
    hours = {"startTime": "09:00", "endTime": "10:00"}
    recurrence = weekly({"dayOfWeek": 1, **hours}, {"dayOfWeek": 2, **hours, "scaleDownBehavior": "none"})

    assert of_reservation(provisioning=seats(None), recurrence=recurrence) == [
        "B312 spec.recurrence.schedule.1"
    ]


def test_another_class_may_keep_its_placeholders() -> None:
    listed = [
        {"resourceClass": "small", "placeholderCount": 1},
        {"resourceClass": "plain", "placeholderCount": 1, "scaleDownBehavior": "none"},
    ]
    both = reservation(resourceClass=None, provisioning={"seats": listed})
    declared = valid(site(NEW), resource_class(resourceClaims=CLAIMS), resource_class("plain"), both)
    (found,) = declared.reservations

    assert lines(seatplacement.check_claims_are_held(checked_reservation(found, declared))) == []


OWNERS = [{"labelSelector": {"matchLabels": {"course": "ml"}}}]


@tabled("checks")
def test_other_backends_than_placeholders_cannot_hold_claimed_devices(backend: Value) -> None:
    assert of_reservation(backend=backend) == ["B311 spec.backend"]
    assert of_reservation([], backend=backend) == []


def test_whole_nodes_cannot_hold_claimed_devices() -> None:
    provisioning = {"nodeCount": 1, "scaleDownBehavior": "none"}

    assert of_reservation(backend={"type": "nodePool"}, provisioning=provisioning) == ["B311 spec.backend"]

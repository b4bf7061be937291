"""Reservations with the dates of reserved machines: these have dates, and every class can use them."""

from typing import Any

import pytest

from tests.checks.clouds import KARPENTER, MACHINE, RESERVED, block, of_reservation, sound
from tests.clouddocuments import cloud
from tests.saying import Value, finding, reservation, resource_class, site, told

PLACE = "spec.recurrence.cloudCapacity"
DATES: Value = {"type": "capacity", "cloudCapacity": "gpu"}
COURSE: Value = {"recurrence": DATES}
BLOCK = block("2026-02-03T11:30:00Z")
STATIC: Value = {
    **KARPENTER,
    "engine": {"type": "flux", "sourceName": "fleet"},
    "karpenter": {"gates": {"StaticCapacity": True}},
}
NODES: Value = {**COURSE, "backend": {"type": "nodePool"}, "provisioning": {"nodeCount": 2}}


def of(*capacities: Value, course: Value = COURSE, **found: Any) -> list[str]:
    return of_reservation(course, *capacities, **found)


@pytest.mark.parametrize("types", [["reserved"], ["reserved", "on-demand"]], ids=["only", "falls-back"])
@pytest.mark.parametrize("course", [COURSE, NODES], ids=["seats", "nodes"])
def test_windows_from_machine_dates_pass_all_capacity_checks(types: list[str], course: Value) -> None:
    capacity = cloud(capacityTypes=types, reservations=[BLOCK])

    assert of(capacity, course=course, cluster=STATIC) == []


@pytest.mark.parametrize(
    ("machines", "words"),
    [
        ([RESERVED], ["cr-0a", "no from and no until"]),
        ([{**RESERVED, "from": "2026-02-02T00:00:00Z"}], ["cr-0a", "no until"]),
        ([{**RESERVED, "until": "2026-02-02T00:00:00Z"}], ["cr-0a", "no from"]),
        ([block("2026-02-01T00:40:00Z")], ["cr-0a", "over before"]),
        ([], ["gpu", "no reservations"]),
    ],
    ids=["always", "without-end", "without-begin", "shorter-than-its-margin", "only-on-demand"],
)
def test_machines_without_dates_are_refused(machines: list[Value], words: list[str]) -> None:
    assert of(cloud(reservations=machines)) == [finding(f"B201 {PLACE}", *words)]


def test_each_machine_without_dates_is_reported() -> None:
    capacity = cloud(reservations=[BLOCK, RESERVED, {**MACHINE, "id": "cr-0b"}])

    assert of(capacity) == [finding(f"B201 {PLACE}", "cr-0a"), finding(f"B201 {PLACE}", "cr-0b")]


def test_generic_capacity_has_no_dates() -> None:
    shape = {"name": "large", "allocatable": {"cpu": "15", "memory": "60Gi"}}
    generic = cloud("gpu", provider="generic", nodes=[shape], nodeStartMinutes=4)
    del generic["spec"]["nodeClass"]

    assert of(generic) == [finding(f"B201 {PLACE}", "generic")]


@pytest.mark.parametrize(
    ("found", "course", "capacity", "words"),
    [
        ({"cloudCapacity": ["other"]}, COURSE, {}, ["small", "does not name it"]),
        ({"cloudCapacity": []}, COURSE, {}, ["small", "does not name it"]),
        ({"cloudCapacity": ["other", "gpu"]}, NODES, {}, ["other", "first"]),
        ({}, COURSE, {"capacityTypes": ["on-demand"]}, ["2026-02-01T00:00:00Z", "capacityTypes"]),
        (
            {"nodeSelector": {"karpenter.k8s.aws/capacity-reservation-id": "cr-0b"}},
            COURSE,
            {"capacityTypes": ["reserved", "on-demand"], "reservations": [BLOCK, {**BLOCK, "id": "cr-0c"}]},
            ["small", "cr-0b"],
        ),
    ],
    ids=["other-class", "no-capacity", "nodes-of-the-first", "not-reserved", "other-machines"],
)
def test_a_class_that_cannot_use_the_machines_is_refused(
    found: Value, course: Value, capacity: Value, words: list[str]
) -> None:
    capacities = cloud(**{"reservations": [BLOCK], **capacity}), cloud("other")

    refused = [one for one in of(*capacities, course=course, **found) if one.startswith("B201")]

    assert refused == [finding(f"B201 {PLACE}", *words)]


def test_a_class_needs_only_one_of_the_machines_of_a_window() -> None:
    other = {**BLOCK, "id": "cr-0b"}
    capacity = cloud(capacityTypes=["reserved"], reservations=[BLOCK, other])
    pinned = {"karpenter.k8s.aws/capacity-reservation-id": "cr-0b"}

    assert of(capacity, nodeSelector=pinned) == []


def test_machines_that_are_reported_at_the_class_are_not_reported_again() -> None:
    capacity = cloud(reservations=[BLOCK], labels={"team": "b"})

    assert of(capacity, nodeSelector={"team": "a"}) == []


def test_an_unknown_capacity_leaves_the_dates_unknown_without_a_second_finding() -> None:
    declared, _ = sound(reservation(**COURSE), site(KARPENTER), resource_class())
    (course,) = declared.reservations

    assert course.recurrence.has_unknown_dates
    assert told(reservation(**COURSE), site(KARPENTER), resource_class()) == []

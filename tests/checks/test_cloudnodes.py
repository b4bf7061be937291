"""Reservations of whole nodes: the gate, the capacity that they come from, and its limits."""

from typing import Any

from tests.checks.backendproblems import problems_of_first
from tests.checks.clouds import KARPENTER as ANY
from tests.checks.clouds import RESERVED, block, of_reservation
from tests.clouddocuments import cloud
from tests.saying import Value, finding, reservation, resource_class, site, valid, weekly

KARPENTER: Value = {**ANY, "engine": {"type": "flux", "sourceName": "fleet"}}
STATIC: Value = {**KARPENTER, "karpenter": {"gates": {"StaticCapacity": True}}}


def told(*capacities: Value, count: int = 4, cluster: Value = STATIC, **spec: Any) -> list[str]:
    course = {"backend": {"type": "nodePool"}, "provisioning": {"nodeCount": count}, **spec}
    return of_reservation(course, *capacities, cluster=cluster)


def test_whole_nodes_need_the_feature_gate() -> None:
    what = finding("B283 spec.backend.type", "StaticCapacity")
    off: Value = {**KARPENTER, "karpenter": {"gates": {"StaticCapacity": False}}}
    old: Value = {**KARPENTER, "karpenter": {"version": "1.7", "gates": {"StaticCapacity": True}}}

    assert told(cloud()) == []
    assert told(cloud(), cluster=KARPENTER) == [what]
    assert told(cloud(), cluster=off) == [what]
    assert told(cloud(), cluster=old) == [finding("B283 spec.backend.type", "prod", "1.7", "1.8")]


def test_whole_nodes_need_a_class_with_capacity() -> None:
    assert told() == [finding("B162 spec.backend.type", "small")]


def test_whole_nodes_get_no_finding_about_the_koordinator_webhook() -> None:
    idle = resource_class(podLabels={"koordinator.sh/qosClass": "BE"})
    course = reservation(backend={"type": "nodePool"}, provisioning={"nodeCount": 1})
    declared = valid(course, site({"name": "prod", "koordinator": {}}), idle)

    assert "B118" not in {problem.code for problem in problems_of_first(declared)}


def test_more_whole_nodes_than_the_limit_are_reported() -> None:
    assert told(cloud(limits={"nodes": "4"})) == told(cloud(limits={"cpu": "1"})) == []
    assert told(cloud(limits={"nodes": "3"})) == [
        finding("B162 spec.provisioning", "gpu", "2026-02-02T08:30:00Z", "4")
    ]


def test_nodes_of_overlapping_windows_add_up() -> None:
    entry = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
    twice = weekly(entry, {**entry, "startTime": "10:00", "nodeCount": 2})

    assert told(cloud(limits={"nodes": "6"}), recurrence=twice) == []
    (one,) = told(cloud(limits={"nodes": "5"}), recurrence=twice)
    assert one == finding("B162 spec.provisioning", "2026-02-02T09:30:00Z")


def test_more_whole_nodes_than_reserved_machines_are_reported() -> None:
    other = {**RESERVED, "id": "cr-0b", "count": 1}

    assert told(cloud(reservations=[RESERVED]), count=5) == []
    assert told(cloud(reservations=[RESERVED, other], capacityTypes=["reserved"]), count=5) == []
    assert told(cloud(reservations=[RESERVED], capacityTypes=["reserved"]), count=5) == [
        finding("B162 spec.provisioning", "gpu", "2026-02-02T08:30:00Z", "5", "4")
    ]


def lent(name: str, count: int, **more: str) -> Value:
    return {**RESERVED, "id": name, "count": count, **more}


def test_reserved_machines_count_only_within_their_dates() -> None:
    """Nodes are asked for on Mondays: 2, 9, 16 and 23 February."""
    until, since = {"until": "2026-02-11T00:00:00Z"}, {"from": "2026-02-11T00:00:00Z"}
    first, second = lent("cr-0a", 2, **until), lent("cr-0b", 2, **since)

    def only(*reservations: Value) -> list[str]:
        return told(cloud(reservations=list(reservations), capacityTypes=["reserved"]), count=4)

    assert only(first, second, lent("cr-0c", 2)) == []
    assert only(lent("cr-0a", 4, **until), lent("cr-0b", 4, **since)) == []
    assert only(first, second) == [finding("B162 spec.provisioning", "gpu", "2026-02-02T08:30:00Z", "4")]
    assert only(lent("cr-0a", 4, **until), second) == [
        finding("B162 spec.provisioning", "gpu", "2026-02-16T08:30:00Z", "4")
    ]
    assert [one[:4] for one in only(lent("cr-0a", 4, **until))] == ["B167"]


def test_machines_that_end_within_a_window_are_missing_from_then_on() -> None:
    fewer = {"until": "2026-02-23T11:00:00Z"}

    found = told(
        cloud(reservations=[lent("cr-0a", 2, **fewer), lent("cr-0b", 2)], capacityTypes=["reserved"])
    )

    assert [one[:4] for one in found] == ["B162", "B169"]
    assert found[0] == finding("B162 spec.provisioning", "2026-02-23T11:00:00Z", "4")


def test_whole_nodes_use_only_the_first_capacity_of_their_class() -> None:
    """Dates of the others do not matter, and they do not help either."""
    blocked = cloud("block", weight=1, reservations=[block("2026-02-23T13:00:00Z")])
    short = cloud("short", reservations=[lent("cr-0b", 4, until="2026-02-10T00:00:00Z")])
    only = {**short, "spec": {**short["spec"], "capacityTypes": ["reserved"]}}

    assert told(cloud(), blocked) == []
    assert [one[:4] for one in told(blocked, cloud())] == ["B167"]
    assert told(cloud(), only) == []
    assert told(only, cloud()) == [finding("B167 spec.recurrence", "cr-0b", "course/2026-02-16T09:00")]


def test_whole_nodes_need_an_engine_that_ignores_replicas() -> None:
    old: Value = {**STATIC, "engine": {"type": "flux", "sourceName": "fleet", "version": "2.8"}}

    for cluster in (old, {**STATIC, "engine": "none"}):
        assert told(cloud(), cluster=cluster) == [finding("B192 spec.backend.type", "0", "2.9")]

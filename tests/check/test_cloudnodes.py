"""Reservations of whole nodes: the gate, the capacity that they come from, and its limits."""

from typing import Any

from gen.check import koordinator
from tests.check.clouds import KARPENTER as ANY
from tests.check.clouds import RESERVED, block, of_reservation
from tests.saying import Value, read, reservation, resource_class, site, weekly
from tests.schema.test_cloudcapacity import cloud

KARPENTER: Value = {**ANY, "engine": {"type": "flux", "sourceName": "fleet"}}
STATIC: Value = {**KARPENTER, "karpenter": {"gates": {"StaticCapacity": True}}}


def told(*capacities: Value, count: int = 4, cluster: Value = STATIC, **spec: Any) -> list[str]:
    course = {"backend": {"type": "nodePool"}, "provisioning": {"nodeCount": count}, **spec}
    return of_reservation(course, *capacities, cluster=cluster)


def test_nodes_need_the_gate() -> None:
    what = "B156 spec.backend.type: pools of a fixed number of nodes need the gate StaticCapacity, which"
    off: Value = {**KARPENTER, "karpenter": {"gates": {"StaticCapacity": False}}}
    old: Value = {**KARPENTER, "karpenter": {"version": "1.7", "gates": {"StaticCapacity": True}}}

    assert told(cloud()) == []
    assert told(cloud(), cluster=KARPENTER) == [
        f"{what} is off in Karpenter 1.14 unless it is switched on. "
        "Switch it on, and write karpenter.gates.StaticCapacity: true for cluster prod."
    ]
    assert told(cloud(), cluster=off) == [
        f"{what} cluster prod has off. "
        "Switch it on, and write karpenter.gates.StaticCapacity: true in the Site."
    ]
    assert told(cloud(), cluster=old) == [
        "B156 spec.backend.type: Karpenter 1.7 in cluster prod does not know pools of a fixed number of "
        "nodes. Use Karpenter 1.8 or later."
    ]


def test_nodes_are_of_a_capacity() -> None:
    assert told() == [
        "B171 spec.backend.type: class small names no cloudCapacity: nothing says which nodes these are. "
        "Add cloudCapacity to the class, or write type: placeholder."
    ]


def test_nodes_have_no_placeholder_that_a_webhook_of_koordinator_could_refuse() -> None:
    idle = resource_class(podLabels={"koordinator.sh/qosClass": "BE"})
    course = reservation(backend={"type": "nodePool"}, provisioning={"nodeCount": 1})
    declared = read(course, site({"name": "prod", "koordinator": {}}), idle)
    assert declared.problems == []
    assert declared.site is not None

    assert [*koordinator.of_reservation(declared.reservations[0], declared, declared.site)] == []


def test_nodes_are_no_more_than_the_limit() -> None:
    assert told(cloud(limits={"nodes": "4"})) == told(cloud(limits={"cpu": "1"})) == []
    assert told(cloud(limits={"nodes": "3"})) == [
        "B171 spec.provisioning: at 2026-02-02T08:30:00Z it asks for 4 nodes of class small, and cloud "
        "capacity gpu is limited to 3. Ask for fewer, or raise limits.nodes of gpu."
    ]


def test_nodes_of_overlapping_windows_add_up() -> None:
    entry = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
    twice = weekly(entry, {**entry, "startTime": "10:00", "nodeCount": 2})

    assert told(cloud(limits={"nodes": "6"}), recurrence=twice) == []
    (one,) = told(cloud(limits={"nodes": "5"}), recurrence=twice)
    assert one.startswith(
        "B171 spec.provisioning: at 2026-02-02T09:30:00Z it asks for 6 nodes of class small"
    )


def test_nodes_are_no_more_than_what_is_reserved() -> None:
    other = {**RESERVED, "id": "cr-0b", "count": 1}

    assert told(cloud(reservations=[RESERVED]), count=5) == []
    assert told(cloud(reservations=[RESERVED, other], capacityTypes=["reserved"]), count=5) == []
    assert told(cloud(reservations=[RESERVED], capacityTypes=["reserved"]), count=5) == [
        "B171 spec.provisioning: at 2026-02-02T08:30:00Z it asks for 5 nodes of class small, and cloud "
        "capacity gpu has 4 machines for it, all of them reserved. "
        "Ask for fewer, or add on-demand to capacityTypes."
    ]


def lent(name: str, count: int, **more: str) -> Value:
    return {**RESERVED, "id": name, "count": count, **more}


def test_reservations_count_while_they_are_there() -> None:
    """Nodes are asked for on Mondays: 2, 9, 16 and 23 February."""
    until, since = {"until": "2026-02-11T00:00:00Z"}, {"from": "2026-02-11T00:00:00Z"}
    first, second = lent("cr-0a", 2, **until), lent("cr-0b", 2, **since)

    def only(*reservations: Value) -> list[str]:
        return told(cloud(reservations=list(reservations), capacityTypes=["reserved"]), count=4)

    assert only(first, second, lent("cr-0c", 2)) == []
    assert only(lent("cr-0a", 4, **until), lent("cr-0b", 4, **since)) == []
    assert only(first, second) == [
        "B171 spec.provisioning: at 2026-02-02T08:30:00Z it asks for 4 nodes of class small, and cloud "
        "capacity gpu has 2 machines for it, all of them reserved. "
        "Ask for fewer, or add on-demand to capacityTypes."
    ]
    assert only(lent("cr-0a", 4, **until), second) == [
        "B171 spec.provisioning: at 2026-02-16T08:30:00Z it asks for 4 nodes of class small, and cloud "
        "capacity gpu has 2 machines for it, all of them reserved. "
        "Ask for fewer, or add on-demand to capacityTypes."
    ]
    assert [one[:4] for one in only(lent("cr-0a", 4, **until))] == ["B167"]


def test_machines_that_go_within_a_window_are_missing_from_then_on() -> None:
    fewer = {"until": "2026-02-23T11:00:00Z"}

    found = told(
        cloud(reservations=[lent("cr-0a", 2, **fewer), lent("cr-0b", 2)], capacityTypes=["reserved"])
    )

    assert [one[:4] for one in found] == ["B171", "B169"]
    assert found[0].startswith("B171 spec.provisioning: at 2026-02-23T11:00:00Z it asks for 4 nodes of class")


def test_nodes_are_of_the_first_capacity_alone() -> None:
    """Dates of the others do not matter, and they do not help either."""
    blocked = cloud("block", weight=1, reservations=[block("2026-02-23T13:00:00Z")])
    short = cloud("short", reservations=[lent("cr-0b", 4, until="2026-02-10T00:00:00Z")])
    only = {**short, "spec": {**short["spec"], "capacityTypes": ["reserved"]}}

    assert told(cloud(), blocked) == []
    assert [one[:4] for one in told(blocked, cloud())] == ["B168"]
    assert told(cloud(), only) == []
    assert told(only, cloud()) == [
        "B167 spec.recurrence: class small may use reserved machines only, and from 2026-02-16T08:30:00Z to "
        "2026-02-16T13:00:00Z (course/2026-02-16T09:00 and 1 more) none is there all the time: "
        "reservation cr-0b until 2026-02-10T00:00:00Z. "
        "Change the dates, add a reservation, or add on-demand to capacityTypes."
    ]


def test_nodes_need_an_engine_that_leaves_their_number_alone() -> None:
    old: Value = {**STATIC, "engine": {"type": "flux", "sourceName": "fleet", "version": "2.8"}}

    for cluster in (old, {**STATIC, "engine": "none"}):
        assert told(cloud(), cluster=cluster) == [
            "B192 spec.backend.type: whoever applies the files of cluster prod would set its nodes back to "
            "the 0 of git, in the middle of a window too. Use engine argocd, or flux from 2.9 on, which "
            "leave replicas alone; or write type: placeholder."
        ]

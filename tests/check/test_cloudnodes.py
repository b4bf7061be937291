"""Reservations of whole nodes: the gate, the capacity that they come from, and its limits."""

from typing import Any

from tests.check.clouds import KARPENTER as ANY
from tests.check.clouds import RESERVED, of_reservation
from tests.kind.test_cloudcapacity import cloud
from tests.saying import Value, weekly

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


def test_nodes_need_an_engine_that_leaves_their_number_alone() -> None:
    old: Value = {**STATIC, "engine": {"type": "flux", "sourceName": "fleet", "version": "2.8"}}

    for cluster in (old, {**STATIC, "engine": "none"}):
        assert told(cloud(), cluster=cluster) == [
            "B192 spec.backend.type: whoever applies the files of cluster prod would set its nodes back to "
            "the 0 of git, in the middle of a window too. Use engine argocd, or flux from 2.9 on, which "
            "leave replicas alone; or write type: placeholder."
        ]

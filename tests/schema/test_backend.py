"""`backend`: every field of Koordinator's Reservation, and what its fields say against each other."""

from dataclasses import replace
from typing import Any

from berth.schema.backend import BackendSpec
from berth.schema.seatholders import Holder, ReplicaHolder, SlotHolder
from berth.schema.slotparts import PreAllocationPolicy, SlotTaint

from tests.built import built, owner, template
from tests.saying import ask, read, reservation, resource_class, site, told, weekly
from tests.schema.backends import LABELS, OWNERS, backend


def made(**said: Any) -> Holder:
    found, problems = ask(BackendSpec, backend(**said))
    assert problems == []
    holder: Holder = found.holder
    return holder


NOTHING = SlotHolder(
    owners=(),
    allocate_once=False,
    allocate_policy=None,
    pre_allocation=False,
    pre_allocation_policy=None,
    pre_allocation_required=False,
    unschedulable=False,
    taints=(),
    order=None,
    priority=None,
    restricted_resources=(),
    labels=(),
    annotations=(),
    template=template(),
    standing=False,
    expires=None,
    ttl=None,
    session_affinity=False,
    with_placeholders=False,
)


def test_whatever_is_left_out_has_its_default() -> None:
    assert made() == NOTHING
    assert ask(BackendSpec, {})[0].holder == ReplicaHolder()
    assert ask(BackendSpec, {"type": "placeholder"})[0].holder == ReplicaHolder()


def test_what_is_empty_says_nothing() -> None:
    empty: dict[str, Any] = {"taints": [], "labels": {}, "annotations": {}, "template": {}}

    assert made(**empty, preAllocationPolicy={}, expires=None, standing=False) == NOTHING


EVERYTHING = backend(
    owners=OWNERS,
    allocateOnce=False,
    allocatePolicy="Restricted",
    preAllocation=True,
    preAllocationPolicy={"mode": "Default", "enableMultiple": True},
    preAllocationRequired=True,
    unschedulable=True,
    taints=[{"key": "exam", "value": "yes", "effect": "NoExecute"}],
    order=5,
    priority=9000,
    restrictedResources=["cpu", "nvidia.com/gpu"],
    labels={"room": "b12"},
    annotations={"node.koordinator.sh/reservation": '{"resources": {"cpu": "500m"}}'},
    template={"nodeName": "gpu-1"},
    standing=True,
    expires="2026-12-31T23:00:00Z",
    ttl="720h",
    sessionAffinity=True,
    withPlaceholders=False,
)


def test_every_field_can_be_written() -> None:
    found, problems = ask(BackendSpec, EVERYTHING)

    assert found.holder == SlotHolder(
        owners=(owner((), {}, LABELS),),
        allocate_once=False,
        allocate_policy="Restricted",
        pre_allocation=True,
        pre_allocation_policy=built(PreAllocationPolicy, {"mode": "Default", "enableMultiple": True}),
        pre_allocation_required=True,
        unschedulable=True,
        taints=(built(SlotTaint, {"key": "exam", "value": "yes", "effect": "NoExecute"}),),
        order=5,
        priority=9000,
        restricted_resources=("cpu", "nvidia.com/gpu"),
        labels=(("room", "b12"),),
        annotations=(("node.koordinator.sh/reservation", '{"resources": {"cpu": "500m"}}'),),
        template=template(nodeName="gpu-1"),
        standing=True,
        expires="2026-12-31T23:00:00Z",
        ttl="720h0m0s",
        session_affinity=True,
        with_placeholders=False,
    )
    assert problems == ["B109 ttl", "B110 priority @key", "B116 unschedulable"]


def test_with_placeholders_implies_what_the_handover_needs() -> None:
    assert made(withPlaceholders=True) == replace(
        NOTHING, with_placeholders=True, pre_allocation=True, pre_allocation_required=True
    )


def standing(**spec: Any) -> dict[str, Any]:
    made = {"recurrence": None, "provisioning": {"placeholderCount": 2}, **spec}
    return reservation(backend=backend(standing=True), **made)


def test_what_stands_has_no_recurrence_and_no_behavior() -> None:
    (found,) = read(standing(), site(timeZone="Europe/Zurich"), resource_class()).reservations

    assert (found.recurrence.type, found.recurrence.zone, found.recurrence.schedule) == (
        "standing",
        "Europe/Zurich",
        (),
    )
    assert (found.behavior, found.lead, found.seats, found.holder.backend) == (
        "none",
        0,
        (("small", 2),),
        "koordinator",
    )


def test_what_is_told_of_what_stands() -> None:
    faulty = standing(
        recurrence=weekly(),
        provisioning={"placeholderCount": 2, "leadTimeMinutes": 0, "scaleDownBehavior": "reduce"},
    )

    assert told(faulty, site(), resource_class()) == [
        "a.yaml B016 spec.recurrence @key",
        "a.yaml B029 spec.provisioning.leadTimeMinutes @key",
        "a.yaml B029 spec.provisioning.scaleDownBehavior @key",
    ]


def test_no_class_of_what_stands_has_a_lead_or_a_behavior() -> None:
    seats = [{"resourceClass": "small", "placeholderCount": 2, "leadTimeMinutes": 5}]
    faulty = standing(resourceClass=None, provisioning={"seats": seats, "scaleDownBehavior": "reduce"})

    assert told(faulty, site(), resource_class()) == [
        "a.yaml B029 spec.provisioning.scaleDownBehavior @key",
        "a.yaml B029 spec.provisioning.seats.0.leadTimeMinutes @key",
    ]
    (found,) = read(faulty, site(), resource_class()).reservations
    assert (found.lead, found.behavior) == (0, "none")


def test_all_else_needs_a_recurrence() -> None:
    missing = ["a.yaml B011 spec"]

    assert told(reservation(recurrence=None), site(), resource_class()) == missing
    assert told(reservation(recurrence=None, backend=backend()), site(), resource_class()) == missing
    assert (
        told(reservation(recurrence=None, backend=backend(standing=False)), site(), resource_class())
        == missing
    )

"""A preference of a class, which Karpenter takes as a must where it can be met, and reserved machines."""

import pytest

from tests.checks.clouds import KARPENTER, RESERVED, of_class, of_documents
from tests.clouddocuments import cloud
from tests.saying import Value, finding, resource_class, site

ZONE, CAPACITY_TYPE = "topology.kubernetes.io/zone", "karpenter.sh/capacity-type"
BOTH: Value = {"reservations": [RESERVED]}


def wish(key: str, *values: str, weight: int = 1) -> Value:
    return {"weight": weight, "preference": {"matchExpressions": [asked(key, *values)]}}


def asked(key: str, *values: str) -> Value:
    return {"key": key, "operator": "In", "values": list(values)}


def preferring(*wishes: Value, terms: list[Value] | None = None) -> Value:
    node: Value = {"preferredDuringSchedulingIgnoredDuringExecution": list(wishes)}
    if terms:
        each = [{"matchExpressions": [term]} for term in terms]
        node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": each}
    return {"affinity": {"nodeAffinity": node}}


HARMLESS: dict[str, tuple[Value, Value]] = {
    "for-what-is-reserved": (preferring(wish(CAPACITY_TYPE, "reserved")), BOTH),
    "for-either": (preferring(wish(CAPACITY_TYPE, "reserved", "on-demand")), BOTH),
    "not-the-heaviest": (
        preferring(wish(CAPACITY_TYPE, "on-demand"), wish(CAPACITY_TYPE, "reserved", weight=2)),
        BOTH,
    ),
    "that-cannot-be-met": (
        preferring(wish(CAPACITY_TYPE, "on-demand")),
        {**BOTH, "capacityTypes": ["reserved"]},
    ),
    "for-a-label-that-no-node-has": (preferring(wish("pool", "cpu")), BOTH),
    "for-a-zone-that-is-not-allowed": (
        preferring(wish(ZONE, "us-east-1b")),
        {**BOTH, "requirements": [asked(ZONE, "us-east-1a")]},
    ),
    "for-a-type-that-is-not-bought": (
        preferring(wish("kubernetes.io/arch", "arm64")),
        {**BOTH, "requirements": [asked("karpenter.k8s.aws/instance-family", "p5")]},
    ),
    "with-a-must-that-it-cannot-go-with": (
        preferring(wish(ZONE, "us-east-1b"), terms=[asked(ZONE, "us-east-1a")]),
        BOTH,
    ),
    "for-the-zone-of-another-reservation": (
        preferring(wish(ZONE, "us-east-1b")),
        {
            "capacityTypes": ["reserved"],
            "reservations": [RESERVED, {**RESERVED, "id": "cr-0b", "zone": "us-east-1b"}],
        },
    ),
}


@pytest.mark.parametrize(("found", "spec"), HARMLESS.values(), ids=HARMLESS)
def test_a_preference_that_keeps_nothing_idle(found: Value, spec: Value) -> None:
    assert of_class(found, **spec) == []


def told(why: str) -> str:
    return finding("B158 spec.cloudCapacity.0", "cr-0a", *why.split(" / "))


TYPES = f"{CAPACITY_TYPE} In [on-demand] / {CAPACITY_TYPE} In [reserved]"
ZONES = f"{ZONE} In [us-east-1b] / {ZONE} In [us-east-1a]"
IDLE: dict[str, tuple[Value, Value, str]] = {
    "for-on-demand": (preferring(wish(CAPACITY_TYPE, "on-demand")), BOTH, TYPES),
    "the-heaviest": (
        preferring(wish(CAPACITY_TYPE, "reserved"), wish(CAPACITY_TYPE, "on-demand", weight=2)),
        BOTH,
        TYPES,
    ),
    "the-first-of-equals": (
        preferring(wish(CAPACITY_TYPE, "on-demand"), wish(CAPACITY_TYPE, "reserved")),
        BOTH,
        TYPES,
    ),
    "for-another-zone": (preferring(wish(ZONE, "us-east-1b")), BOTH, ZONES),
    "beside-one-of-two-musts": (
        preferring(
            wish(CAPACITY_TYPE, "on-demand"), terms=[asked(ZONE, "us-east-1a"), asked(ZONE, "us-east-1b")]
        ),
        BOTH,
        TYPES,
    ),
}


@pytest.mark.parametrize(("found", "spec", "why"), IDLE.values(), ids=IDLE)
def test_a_preference_that_keeps_reserved_machines_idle(found: Value, spec: Value, why: str) -> None:
    assert of_class(found, **spec) == [told(why)]


def test_another_capacity_may_meet_it() -> None:
    value = preferring(wish(CAPACITY_TYPE, "on-demand"))
    one = resource_class(cloudCapacity=["gpu", "cpu"], **value)
    reserved = cloud(**BOTH, capacityTypes=["reserved"], weight=2)
    tainted = {"taints": [{"key": "cpu", "effect": "NoSchedule"}]}

    assert of_documents(site(KARPENTER), one, reserved, cloud("cpu")) == [told(TYPES)]
    assert [line[:4] for line in of_documents(site(KARPENTER), one, reserved, cloud("cpu", **tainted))] == [
        "B162"
    ]

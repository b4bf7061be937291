"""A class and the capacities that it names: may its seats be there, and are they tried in its order?"""

import pytest

from gen.manifest import naming
from tests.check.clouds import KARPENTER, RESERVED, of_class, of_documents
from tests.saying import Value, reservation, resource_class, site
from tests.schema.test_cloudcapacity import cloud
from tests.schema.test_nodeclass import GOOD

ZONE, ARCH, TYPE = (
    "topology.kubernetes.io/zone",
    "kubernetes.io/arch",
    "node.kubernetes.io/instance-type",
)
FAMILY = "karpenter.k8s.aws/instance-family"
NODEPOOL, OURS = "karpenter.sh/nodepool", naming.node_pool("example", "gpu")
OS = "kubernetes.io/os"
WINDOWS: Value = {**GOOD, "amiSelectorTerms": [{"alias": "windows2022@latest"}]}
CAPACITY_TYPE = "karpenter.sh/capacity-type"
CHANGE = "Change the class, or the capacity, or remove the name."


def asked(key: str, *values: str, operator: str = "In") -> Value:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def affinity(*terms: Value) -> Value:
    needed = {"nodeSelectorTerms": [{"matchExpressions": [one]} for one in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": needed}}}


FIT: dict[str, tuple[Value, Value]] = {
    "a-zone-of-several": (
        {"nodeSelector": {ZONE: "us-east-1a"}},
        {"requirements": [asked(ZONE, "us-east-1a", "us-east-1b")]},
    ),
    "a-zone-of-any": ({"nodeSelector": {ZONE: "us-east-1a"}}, {}),
    "a-label-that-nodes-get": ({"nodeSelector": {"pool": "gpu"}}, {"labels": {"pool": "gpu"}}),
    "one-of-two-terms": (
        affinity(asked(ARCH, "arm64"), asked(ARCH, "amd64")),
        {"requirements": [asked(ARCH, "amd64")]},
    ),
    "a-taint-that-is-tolerated": (
        {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
        {"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]},
    ),
    "a-taint-that-is-a-wish": ({}, {"taints": [{"key": "gpu", "effect": "PreferNoSchedule"}]}),
    "a-taint-that-goes": ({}, {"startupTaints": [{"key": "gpu", "effect": "NoSchedule"}]}),
    "on-demand-where-it-is": ({"nodeSelector": {CAPACITY_TYPE: "on-demand"}}, {}),
    "its-own-node-pool": ({"nodeSelector": {NODEPOOL: OURS}}, {}),
    "one-of-several-node-pools": (affinity(asked(NODEPOOL, "default", OURS)), {}),
    "any-node-pool-but-one": (affinity(asked(NODEPOOL, "default", operator="NotIn")), {}),
    "a-family-of-the-architecture": (
        {"nodeSelector": {ARCH: "arm64"}},
        {"requirements": [asked(FAMILY, "m5", "m7g")]},
    ),
    "a-family-whose-types-the-file-says": (
        {"nodeSelector": {ARCH: "arm64"}},
        {
            "requirements": [asked(FAMILY, "x9")],
            "instanceTypes": [{"name": "x9.huge", "architecture": "arm64"}],
        },
    ),
    "any-family-but-one": (
        {"nodeSelector": {ARCH: "arm64"}},
        {"requirements": [asked(FAMILY, "m5", operator="NotIn")]},
    ),
    "a-size-of-a-family": (
        {"nodeSelector": {"karpenter.k8s.aws/instance-size": "xlarge"}},
        {"requirements": [asked(FAMILY, "m5")]},
    ),
    "windows-on-a-type-of-the-table": (
        {"nodeSelector": {OS: "windows"}},
        {"nodeClass": WINDOWS, "requirements": [asked(TYPE, "m5.large"), asked(OS, "windows")]},
    ),
    "windows-on-any-type": ({"nodeSelector": {OS: "windows"}}, {"nodeClass": WINDOWS}),
    "windows-on-reserved-machines": (
        {},
        {"nodeClass": WINDOWS, "reservations": [{**RESERVED, "instanceType": "m5.xlarge"}]},
    ),
    "a-type-of-the-architecture": (
        {"nodeSelector": {ARCH: "arm64"}},
        {"requirements": [asked(TYPE, "m7g.large", "m6i.large")]},
    ),
    "more-memory-than-that": (
        affinity(asked("karpenter.k8s.aws/instance-memory", "8000", operator="Gt")),
        {"requirements": [asked(TYPE, "m5.large")]},
    ),
}


@pytest.mark.parametrize(("found", "spec"), FIT.values(), ids=FIT)
def test_a_class_that_may_be_there(found: Value, spec: Value) -> None:
    assert of_class(found, **spec) == []


NEVER: dict[str, tuple[Value, Value, str]] = {
    "another-zone": (
        {"nodeSelector": {ZONE: "us-east-1b"}},
        {"requirements": [asked(ZONE, "us-east-1a")]},
        f"{ZONE} In [us-east-1b] does not go with {ZONE} In [us-east-1a]",
    ),
    "a-label-that-no-node-gets": (
        {"nodeSelector": {"pool": "gpu"}},
        {},
        "nothing says that nodes have the label pool",
    ),
    "another-value": (
        {"nodeSelector": {"pool": "cpu"}},
        {"labels": {"pool": "gpu"}},
        "pool In [cpu] does not go with pool In [gpu]",
    ),
    "no-term-holds": (
        affinity(asked(ARCH, "arm64"), asked(ARCH, "s390x")),
        {"requirements": [asked(ARCH, "amd64")]},
        f"{ARCH} In [arm64] does not go with {ARCH} In [amd64]",
    ),
    "a-taint": (
        {},
        {"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]},
        "it does not tolerate the taint gpu=a:NoSchedule",
    ),
    "a-taint-without-value": (
        {"tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]},
        {"taints": [{"key": "gpu", "effect": "NoExecute"}]},
        "it does not tolerate the taint gpu:NoExecute",
    ),
    "spot-where-there-is-none": (
        {"nodeSelector": {CAPACITY_TYPE: "spot"}},
        {},
        f"{CAPACITY_TYPE} In [spot] does not go with {CAPACITY_TYPE} In [on-demand]",
    ),
    "another-node-pool": (
        {"nodeSelector": {NODEPOOL: "default"}},
        {},
        f"{NODEPOOL} In [default] does not go with {NODEPOOL} In [{OURS}]",
    ),
    "no-family-of-the-architecture": (
        {"nodeSelector": {ARCH: "arm64"}},
        {"requirements": [asked(FAMILY, "m5", "p5")]},
        f"{ARCH} In [arm64] does not go with {ARCH} In [amd64]",
    ),
    "another-operating-system": (
        {"nodeSelector": {OS: "windows"}},
        {},
        f"{OS} In [windows] does not go with {OS} In [linux]",
    ),
    "linux-where-it-is-windows": (
        {"nodeSelector": {OS: "linux"}},
        {"nodeClass": WINDOWS},
        f"{OS} In [linux] does not go with {OS} In [windows]",
    ),
    "no-type-of-the-architecture": (
        {"nodeSelector": {ARCH: "arm64"}},
        {"requirements": [asked(TYPE, "m5.large", "m6i.large")]},
        f"{ARCH} In [arm64] does not go with {ARCH} In [amd64]",
    ),
    "no-type-with-as-much-memory": (
        affinity(asked("karpenter.k8s.aws/instance-memory", "9000", operator="Gt")),
        {"requirements": [asked(TYPE, "m5.large")]},
        "karpenter.k8s.aws/instance-memory Exists >=9001 does not go with "
        "karpenter.k8s.aws/instance-memory In [8192]",
    ),
    "sold-elsewhere": (
        {"nodeSelector": {ZONE: "us-east-1a"}},
        {
            "requirements": [asked(TYPE, "x9.huge")],
            "instanceTypes": [{"name": "x9.huge", "zones": ["us-east-1b"]}],
        },
        f"{ZONE} In [us-east-1a] does not go with {ZONE} In [us-east-1b]",
    ),
    "nothing-reserved-there": (
        {"nodeSelector": {ZONE: "us-east-1b"}},
        {"capacityTypes": ["reserved"], "reservations": [RESERVED]},
        f"{ZONE} In [us-east-1b] does not go with {ZONE} In [us-east-1a]",
    ),
    "another-reservation": (
        {"nodeSelector": {"karpenter.k8s.aws/capacity-reservation-id": "cr-0b"}},
        {"capacityTypes": ["reserved"], "reservations": [RESERVED]},
        "karpenter.k8s.aws/capacity-reservation-id In [cr-0b] does not go with "
        "karpenter.k8s.aws/capacity-reservation-id In [cr-0a]",
    ),
}


@pytest.mark.parametrize(("found", "spec", "why"), NEVER.values(), ids=NEVER)
def test_a_class_that_is_never_there(found: Value, spec: Value, why: str) -> None:
    assert of_class(found, **spec) == [
        f"B162 spec.cloudCapacity.0: no seat of the class can be on nodes of gpu: {why}. {CHANGE}"
    ]


def test_a_class_may_select_the_pool_of_its_whole_nodes() -> None:
    found = resource_class(cloudCapacity=["gpu"], nodeSelector={NODEPOOL: "example.course-small"})
    gate: Value = {"karpenter": {"gates": {"StaticCapacity": True}}}
    whole = reservation(backend={"type": "nodePool"}, provisioning={"nodeCount": 2})

    assert of_documents(site({**KARPENTER, **gate}), cloud(), found, whole) == []
    (told,) = of_documents(site(KARPENTER), cloud(), found, reservation())
    assert told.startswith("B162 spec.cloudCapacity.0: no seat of the class can be on nodes of gpu: ")


def test_a_class_that_pins_on_demand_never_takes_what_is_reserved() -> None:
    found: Value = {"nodeSelector": {CAPACITY_TYPE: "on-demand"}}

    assert of_class({"nodeSelector": {CAPACITY_TYPE: "reserved"}}, reservations=[RESERVED]) == []
    assert of_class(affinity(asked(CAPACITY_TYPE, "spot", operator="NotIn")), reservations=[RESERVED]) == []
    assert of_class(found, reservations=[RESERVED]) == [
        f"B163 spec.cloudCapacity.0: the class pins {CAPACITY_TYPE}, so its seats never take the reserved "
        f"machines of gpu, which are paid for: {CAPACITY_TYPE} In [on-demand] does not go with "
        f"{CAPACITY_TYPE} In [reserved]. "
        "Remove it: capacityTypes says what may be used. Session pods must not have it either."
    ]


def test_a_reservation_that_a_class_never_takes() -> None:
    other = {**RESERVED, "id": "cr-0b", "zone": "us-east-1b"}

    assert of_class({}, reservations=[RESERVED, other]) == []
    assert of_class({"nodeSelector": {ZONE: "us-east-1a"}}, reservations=[RESERVED, other]) == [
        f"B163 spec.cloudCapacity.0: its seats never take the reservation cr-0b of gpu: {ZONE} In "
        f"[us-east-1a] does not go with {ZONE} In [us-east-1b]. "
        "Change the class, or give it a capacity without this reservation."
    ]


def test_an_unknown_capacity_is_told() -> None:
    assert of_documents(site(KARPENTER), resource_class(cloudCapacity=["gpu"])) == [
        'B160 spec.cloudCapacity.0: "gpu" is no CloudCapacity. Declare it, or remove it.'
    ]


def test_a_class_has_the_cluster_of_its_capacity() -> None:
    clusters = {**KARPENTER, "name": "one"}, {**KARPENTER, "name": "two"}
    found = resource_class(cluster="one", cloudCapacity=["gpu"], nodeSelector={"pool": "gpu"})

    assert of_documents(site(*clusters), found, cloud(cluster="two")) == [
        "B161 spec.cloudCapacity.0: gpu is in cluster two, the class in one. "
        "Name one of the class's own cluster."
    ]


@pytest.mark.parametrize(
    ("first", "second", "how"),
    [
        (None, None, "has the same weight, and of equal ones Karpenter takes the last by name"),
        (5, 5, "has the same weight, and of equal ones Karpenter takes the last by name"),
        (None, 1, "has the higher weight"),
        (9, 10, "has the higher weight"),
    ],
    ids=["without-weight", "equal", "only-the-second", "higher"],
)
def test_capacities_are_tried_in_the_order_of_the_wish(
    first: int | None, second: int | None, how: str
) -> None:
    both = cloud("a", weight=first), cloud("b", weight=second)
    wished = resource_class(cloudCapacity=["a", "b"])
    other = resource_class(cloudCapacity=["b", "a"])

    assert of_documents(site(KARPENTER), other, *both) == []
    assert of_documents(site(KARPENTER), wished, *both) == [
        f"B165 spec.cloudCapacity: Karpenter tries b before a: it {how}. "
        "Give a a higher weight than b, or change the order here."
    ]

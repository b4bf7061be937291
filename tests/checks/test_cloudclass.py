"""A class and the capacities that it names: may its seats be there, and do they use what is paid?"""

import pytest
from berth.manifests import naming

from tests.checks.clouds import KARPENTER, RESERVED, of_class, of_documents
from tests.clouddocuments import GOOD, cloud
from tests.saying import Value, finding, reservation, resource_class, site

ZONE, ARCH, TYPE = ("topology.kubernetes.io/zone", "kubernetes.io/arch", "node.kubernetes.io/instance-type")
FAMILY = "karpenter.k8s.aws/instance-family"
NODEPOOL, OURS = "karpenter.sh/nodepool", naming.node_pool("example", "gpu")
OS = "kubernetes.io/os"
WINDOWS: Value = {**GOOD, "amiSelectorTerms": [{"alias": "windows2022@latest"}]}
CAPACITY_TYPE = "karpenter.sh/capacity-type"


def asked(key: str, *values: str, operator: str = "In") -> Value:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def affinity(*terms: Value) -> Value:
    needed = {"nodeSelectorTerms": [{"matchExpressions": [term]} for term in terms]}
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
        f"{ZONE} In [us-east-1b] / {ZONE} In [us-east-1a]",
    ),
    "a-label-that-no-node-gets": (
        {"nodeSelector": {"pool": "gpu"}},
        {},
        "nothing says that nodes have the label pool",
    ),
    "another-value": (
        {"nodeSelector": {"pool": "cpu"}},
        {"labels": {"pool": "gpu"}},
        "pool In [cpu] / pool In [gpu]",
    ),
    "no-term-holds": (
        affinity(asked(ARCH, "arm64"), asked(ARCH, "s390x")),
        {"requirements": [asked(ARCH, "amd64")]},
        f"{ARCH} In [arm64] / {ARCH} In [amd64]",
    ),
    "a-taint": (
        {},
        {"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]},
        "it does not tolerate the taint gpu=a:NoSchedule",
    ),
    "a-taint-of-a-resource": (
        {"requests": {"nvidia.com/gpu": 1}},
        {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]},
        "nvidia.com/gpu:NoSchedule (unless the API server's plugin ExtendedResourceToleration is on",
    ),
    "a-taint-without-value": (
        {"tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]},
        {"taints": [{"key": "gpu", "effect": "NoExecute"}]},
        "it does not tolerate the taint gpu:NoExecute",
    ),
    "spot-where-there-is-none": (
        {"nodeSelector": {CAPACITY_TYPE: "spot"}},
        {},
        f"{CAPACITY_TYPE} In [spot] / {CAPACITY_TYPE} In [on-demand]",
    ),
    "another-node-pool": (
        {"nodeSelector": {NODEPOOL: "default"}},
        {},
        f"{NODEPOOL} In [default] / {NODEPOOL} In [{OURS}]",
    ),
    "another-operating-system": (
        {"nodeSelector": {OS: "windows"}},
        {},
        f"{OS} In [windows] / {OS} In [linux]",
    ),
    "linux-where-it-is-windows": (
        {"nodeSelector": {OS: "linux"}},
        {"nodeClass": WINDOWS},
        f"{OS} In [linux] / {OS} In [windows]",
    ),
    "no-type-of-the-architecture": (
        {"nodeSelector": {ARCH: "arm64"}},
        {"requirements": [asked(TYPE, "m5.large", "m6i.large")]},
        f"{ARCH} In [arm64] / {ARCH} In [amd64]",
    ),
    "no-type-with-as-much-memory": (
        affinity(asked("karpenter.k8s.aws/instance-memory", "9000", operator="Gt")),
        {"requirements": [asked(TYPE, "m5.large")]},
        "karpenter.k8s.aws/instance-memory Exists >=9001 / karpenter.k8s.aws/instance-memory In [8192]",
    ),
    "sold-elsewhere": (
        {"nodeSelector": {ZONE: "us-east-1a"}},
        {
            "requirements": [asked(TYPE, "x9.huge")],
            "instanceTypes": [{"name": "x9.huge", "zones": ["us-east-1b"]}],
        },
        f"{ZONE} In [us-east-1a] / {ZONE} In [us-east-1b]",
    ),
    "nothing-reserved-there": (
        {"nodeSelector": {ZONE: "us-east-1b"}},
        {"capacityTypes": ["reserved"], "reservations": [RESERVED]},
        f"{ZONE} In [us-east-1b] / {ZONE} In [us-east-1a]",
    ),
    "another-reservation": (
        {"nodeSelector": {"karpenter.k8s.aws/capacity-reservation-id": "cr-0b"}},
        {"capacityTypes": ["reserved"], "reservations": [RESERVED]},
        "karpenter.k8s.aws/capacity-reservation-id In [cr-0b] / "
        "karpenter.k8s.aws/capacity-reservation-id In [cr-0a]",
    ),
}


@pytest.mark.parametrize(("found", "spec", "why"), NEVER.values(), ids=NEVER)
def test_a_class_that_is_never_there(found: Value, spec: Value, why: str) -> None:
    assert of_class(found, **spec) == [finding("B162 spec.cloudCapacity.0", "gpu", *why.split(" / "))]


def test_a_class_may_select_the_pool_of_its_whole_nodes() -> None:
    found = resource_class(cloudCapacity=["gpu"], nodeSelector={NODEPOOL: "example.course-small"})
    gate: Value = {"karpenter": {"gates": {"StaticCapacity": True}}}
    whole = reservation(backend={"type": "nodePool"}, provisioning={"nodeCount": 2})

    assert of_documents(site({**KARPENTER, **gate}), cloud(), found, whole) == []
    (told,) = of_documents(site(KARPENTER), cloud(), found, reservation())
    assert told == "B162 spec.cloudCapacity.0"


def test_a_class_that_pins_on_demand_never_takes_what_is_reserved() -> None:
    value: Value = {"nodeSelector": {CAPACITY_TYPE: "on-demand"}}

    assert of_class({"nodeSelector": {CAPACITY_TYPE: "reserved"}}, reservations=[RESERVED]) == []
    assert of_class(affinity(asked(CAPACITY_TYPE, "spot", operator="NotIn")), reservations=[RESERVED]) == []
    assert of_class(value, reservations=[RESERVED]) == ["B158 spec.cloudCapacity.0"]


def test_a_reservation_that_a_class_never_takes() -> None:
    other = {**RESERVED, "id": "cr-0b", "zone": "us-east-1b"}

    assert of_class({}, reservations=[RESERVED, other]) == []
    assert of_class({"nodeSelector": {ZONE: "us-east-1a"}}, reservations=[RESERVED, other]) == [
        finding("B158 spec.cloudCapacity.0", "cr-0b", "us-east-1a", "us-east-1b")
    ]


def test_an_unknown_capacity_is_told() -> None:
    assert of_documents(site(KARPENTER), resource_class(cloudCapacity=["gpu"])) == [
        finding("B061 spec.cloudCapacity.0", "gpu")
    ]


def test_a_class_has_the_cluster_of_its_capacity() -> None:
    clusters = {**KARPENTER, "name": "one"}, {**KARPENTER, "name": "two"}
    found = resource_class(cluster="one", cloudCapacity=["gpu"], nodeSelector={"pool": "gpu"})

    assert of_documents(site(*clusters), found, cloud(cluster="two")) == [
        finding("B161 spec.cloudCapacity.0", "two")
    ]


@pytest.mark.parametrize(
    ("version", "weight", "types", "waits"),
    [
        ("1.15", 9, ["reserved"], True),
        ("1.14", 9, ["reserved"], False),
        ("1.15", 9, ["reserved", "on-demand"], False),
        ("1.15", None, ["reserved"], False),
    ],
    ids=["waits", "before-1.15", "with-on-demand", "tried-last"],
)
def test_seats_wait_for_full_reservations_although_another_capacity_could_take_them(
    version: str, weight: int | None, types: list[str], waits: bool
) -> None:
    held = cloud("held", weight=weight, capacityTypes=types, reservations=[RESERVED])
    names = ["held", "spare"] if weight else ["spare", "held"]
    found = of_documents(
        site({**KARPENTER, "karpenter": {"version": version}}),
        resource_class(cloudCapacity=names),
        held,
        cloud("spare", weight=None if weight else 1),
    )

    assert [document for document in found if document.startswith("B193")] == (
        [finding("B193 spec.cloudCapacity.0", "held", "spare")] if waits else []
    )

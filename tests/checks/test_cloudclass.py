"""A class and the capacities that it names: may its seats be there, and do they use what is paid?"""

import pytest
from berth.manifests import naming

from tests.cases import table, tabled
from tests.checks.clouds import KARPENTER, RESERVED, of_class, of_documents
from tests.clouddocuments import GOOD, cloud
from tests.saying import Value, finding, reservation, resource_class, site

ZONE, ARCH, TYPE = ("topology.kubernetes.io/zone", "kubernetes.io/arch", "node.kubernetes.io/instance-type")
NODEPOOL, OURS = "karpenter.sh/nodepool", naming.node_pool("example", "gpu")
OS = "kubernetes.io/os"
WINDOWS: Value = {**GOOD, "amiSelectorTerms": [{"alias": "windows2022@latest"}]}
CAPACITY_TYPE = "karpenter.sh/capacity-type"


def asked(key: str, *values: str, operator: str = "In") -> Value:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def affinity(*terms: Value) -> Value:
    needed = {"nodeSelectorTerms": [{"matchExpressions": [term]} for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": needed}}}


@pytest.mark.parametrize(("both", "problems"), table("class in a capacity"))
def test_a_class_that_excludes_its_capacity_is_reported(both: Value, problems: list[str]) -> None:
    assert of_class(both["class"], **both["capacity"]) == problems


def test_a_class_may_select_the_node_pool_of_its_whole_nodes() -> None:
    found = resource_class(cloudCapacity=["gpu"], nodeSelector={NODEPOOL: "example.course-small"})
    gate: Value = {"karpenter": {"gates": {"StaticCapacity": True}}}
    whole = reservation(backend={"type": "nodePool"}, provisioning={"nodeCount": 2})

    assert of_documents(site({**KARPENTER, **gate}), cloud(), found, whole) == []
    (told,) = of_documents(site(KARPENTER), cloud(), found, reservation())
    assert told == "B162 spec.cloudCapacity.0"


def test_a_class_that_selects_on_demand_never_uses_reserved_machines() -> None:
    value: Value = {"nodeSelector": {CAPACITY_TYPE: "on-demand"}}

    assert of_class({"nodeSelector": {CAPACITY_TYPE: "reserved"}}, reservations=[RESERVED]) == []
    assert of_class(affinity(asked(CAPACITY_TYPE, "spot", operator="NotIn")), reservations=[RESERVED]) == []
    assert of_class(value, reservations=[RESERVED]) == ["B158 spec.cloudCapacity.0"]


def test_a_reservation_that_its_class_never_uses_is_reported() -> None:
    other = {**RESERVED, "id": "cr-0b", "zone": "us-east-1b"}

    assert of_class({}, reservations=[RESERVED, other]) == []
    assert of_class({"nodeSelector": {ZONE: "us-east-1a"}}, reservations=[RESERVED, other]) == [
        finding("B158 spec.cloudCapacity.0", "cr-0b", "us-east-1a", "us-east-1b")
    ]


def test_a_class_and_its_capacity_must_be_in_the_same_cluster() -> None:
    clusters = {**KARPENTER, "name": "one"}, {**KARPENTER, "name": "two"}
    found = resource_class(cluster="one", cloudCapacity=["gpu"], nodeSelector={"pool": "gpu"})

    assert of_documents(site(*clusters), found, cloud(cluster="two")) == [
        finding("B161 spec.cloudCapacity.0", "two")
    ]


@tabled("checks")
def test_seats_that_wait_for_a_full_reservation_despite_a_spare_are_reported(
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

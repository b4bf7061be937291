"""A cloud capacity by itself, and against its cluster."""

import pytest

from tests.cases import tabled
from tests.checks.clouds import KARPENTER, RESERVED, block, of_cloud, of_documents
from tests.clouddocuments import GOOD, cloud
from tests.saying import Value, finding, reservation, resource_class, site

TWO = ({**KARPENTER, "name": "one"}, {**KARPENTER, "name": "two"})


def test_a_valid_capacity_has_no_finding() -> None:
    assert of_cloud() == of_cloud(reservations=[RESERVED]) == []
    assert of_cloud(reservations=[RESERVED], capacityTypes=["reserved", "spot", "on-demand"]) == []


def test_a_capacity_needs_a_known_cluster() -> None:
    found = resource_class(cluster="one", cloudCapacity=["gpu"])

    assert of_documents(site(*TWO), found, cloud(cluster="one")) == []
    assert of_documents(site(*TWO), found, cloud()) == [finding("B011 spec", "2")]
    assert of_documents(site(*TWO), found, cloud(cluster="three")) == [finding("B061 spec.cluster", "three")]


@pytest.mark.parametrize("autoscaler", ["none", "cluster-autoscaler"])
def test_a_capacity_needs_a_cluster_with_karpenter(autoscaler: str) -> None:
    assert of_cloud(cluster={"name": "prod", "autoscaler": autoscaler}) == [
        finding("B157 spec", "prod", autoscaler)
    ]


def test_a_capacity_without_a_class_is_reported() -> None:
    assert of_documents(site(KARPENTER), cloud()) == ["B158 spec"]
    assert of_documents(site(KARPENTER), cloud(reservations=[RESERVED])) == ["B158 spec"]
    assert of_documents(site(KARPENTER), cloud(), resource_class(cloudCapacity=["gpus"])) == [
        finding("B061 spec.cloudCapacity.0", "gpus")
    ]


TERMS = "capacityReservationSelectorTerms"


def test_reserved_machines_and_the_capacity_type_reserved_need_each_other() -> None:
    assert of_cloud(capacityTypes=["reserved", "on-demand"]) == ["B162 spec.capacityTypes"]
    assert of_cloud(capacityTypes=["on-demand"], reservations=[RESERVED]) == [
        finding("B158 spec.capacityTypes", "4")
    ]
    own = {"nodeClass": {**GOOD, TERMS: [{"id": "cr-0b"}]}}
    assert of_cloud(**own) == of_cloud(**own, reservations=[RESERVED]) == []
    assert of_cloud(**own, capacityTypes=["on-demand"]) == [f"B158 spec.nodeClass.{TERMS}"]


def asked(key: str, *values: str) -> Value:
    return {"key": key, "operator": "In", "values": list(values)}


def requirement(key: str, *values: str) -> Value:
    return {"requirements": [asked(key, *values)]}


FITS = {
    "zone": requirement("topology.kubernetes.io/zone", "us-east-1b", "us-east-1a"),
    "type": requirement("node.kubernetes.io/instance-type", "p5.48xlarge"),
    "family": requirement("karpenter.k8s.aws/instance-family", "p5"),
    "architecture": requirement("kubernetes.io/arch", "amd64"),
    "region": requirement("topology.kubernetes.io/region", "us-east-1"),
    "what-nothing-is-known-of": requirement("karpenter.k8s.aws/instance-network-bandwidth", "1"),
    "sold-there": {"instanceTypes": [{"name": "p5.48xlarge", "zones": ["us-east-1a"]}]},
}


@pytest.mark.parametrize("spec", FITS.values(), ids=FITS)
def test_a_reservation_that_meets_the_requirements_has_no_finding(spec: Value) -> None:
    assert of_cloud(reservations=[RESERVED], **spec) == []


@tabled("checks")
def test_a_reservation_excluded_by_the_requirements_is_reported(spec: Value, why: str) -> None:
    assert of_cloud(reservations=[RESERVED], **spec) == [
        finding("B162 spec.reservations.0", "cr-0a", *why.split(" / "))
    ]


@tabled("checks")
def test_a_finding_names_a_reservation_by_its_id_or_tags(how: Value, name: str) -> None:
    one = {**how, "instanceType": "m7g.large", "zone": "us-east-1a", "count": 1}

    assert of_cloud(reservations=[one], **requirement("kubernetes.io/arch", "amd64")) == [
        finding("B162 spec.reservations.0", "amd64", "arm64", name)
    ]


def test_requirements_that_no_machine_meets_are_reported() -> None:
    arm, large = asked("kubernetes.io/arch", "arm64"), asked("node.kubernetes.io/instance-type", "m5.large")

    assert of_cloud(requirements=[large]) == of_cloud(requirements=[arm]) == []
    assert of_cloud(requirements=[{"key": "a", "operator": "DoesNotExist"}]) == []
    assert of_cloud(requirements=[arm, large]) == [finding("B162 spec.requirements", "arm64", "amd64")]
    assert of_cloud(requirements=[asked("pool", "a")], labels={"pool": "b"}) == ["B162 spec.requirements"]


def test_a_limit_of_zero_and_a_limit_of_nodes_are_reported() -> None:
    assert of_cloud(limits={"cpu": "1000", "nodes": "20", "nvidia.com/gpu": "0"}) == []
    assert of_cloud(limits={"nodes": "20"}) == ["B175 spec.limits.nodes"]
    assert of_cloud(limits={"cpu": "0"}) == [finding("B174 spec.limits.cpu", "0")]


def test_a_limit_of_nodes_is_accepted_for_whole_nodes_only() -> None:
    """Karpenter makes their nodes one by one, up to replicas and limit."""
    static: Value = {"name": "exam", "backend": {"type": "nodePool"}, "provisioning": {"nodeCount": 2}}
    dynamic: Value = {"name": "course"}
    limited, seats = cloud(limits={"nodes": "20"}), resource_class(cloudCapacity=["gpu"])
    for users, expected in (
        ([static], []),
        ([static, dynamic], ["B175 spec.limits.nodes"]),
        ([dynamic], ["B175 spec.limits.nodes"]),
    ):
        courses = [reservation(**user) for user in users]
        assert of_documents(site(KARPENTER), seats, limited, *courses) == expected


def test_a_reservation_that_differs_between_its_uses_is_reported() -> None:
    classes = [resource_class(cluster="one", cloudCapacity=["gpu", "more"])]
    both = [site(*TWO), *classes, cloud(cluster="one", weight=2, reservations=[RESERVED])]

    assert of_documents(*both, cloud("more", cluster="one", reservations=[RESERVED])) == []
    assert of_documents(*both, cloud("more", cluster="one", reservations=[{**RESERVED, "count": 5}])) == [
        finding("B016 spec.reservations.0.id", "cr-0a")
    ]
    assert of_cloud(reservations=[RESERVED, RESERVED]) == [finding("B016 spec.reservations.1.id", "cr-0a")]


def test_a_block_is_a_reservation_too() -> None:
    assert of_cloud(reservations=[block("2026-03-01T00:00:00Z")]) == []

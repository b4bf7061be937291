"""What is said to autoscalers: versions, gates, and words in places where they are read."""

import pytest

from tests.checks.clouds import KARPENTER, RESERVED, of_cloud, of_documents
from tests.saying import Value, finding, resource_class, site


def has(version: str, **gates: bool) -> Value:
    return {**KARPENTER, "karpenter": {"version": version, "gates": gates}}


OFF = finding("B283 spec.reservations", "ReservedCapacity")
RESERVED_CAPACITY: dict[str, tuple[Value, list[str]]] = {
    "nothing-said": (KARPENTER, []),
    "newest": (has("1.15"), []),
    "on-by-itself": (has("1.6"), []),
    "off-by-itself": (has("1.5"), [OFF]),
    "switched-on": (has("1.3", ReservedCapacity=True), []),
    "switched-off": (has("1.14", ReservedCapacity=False), [OFF]),
    "before-its-time": (has("1.2"), [finding("B283 spec.reservations", "prod", "1.2")]),
}


@pytest.mark.parametrize(("cluster", "problems"), RESERVED_CAPACITY.values(), ids=RESERVED_CAPACITY)
def test_reserved_machines_need_a_gate(cluster: Value, problems: list[str]) -> None:
    assert of_cloud(cluster=cluster, reservations=[RESERVED]) == problems
    assert of_cloud(cluster=cluster) == []


def test_newer_values_need_a_newer_karpenter_version() -> None:
    balanced: Value = {"disruption": {"consolidationPolicy": "Balanced"}}

    assert of_cloud(cluster=has("1.14"), **balanced) == []
    assert of_cloud(cluster=has("1.13"), **balanced) == [
        finding("B283 spec.disruption.consolidationPolicy", "prod", "1.13", "1.14")
    ]
    sick: Value = {"disruption": {"budgets": [{"nodes": "1"}, {"nodes": "2", "reasons": ["Unhealthy"]}]}}
    assert of_cloud(cluster=has("1.15"), **sick) == []
    assert of_cloud(cluster=has("1.14"), **sick) == [
        finding("B283 spec.disruption.budgets.1.reasons", "prod", "1.14", "1.15")
    ]


def of_site(*clusters: Value) -> list[str]:
    return of_documents(site(*clusters))


def test_gates_that_the_version_does_not_have_are_reported() -> None:
    assert of_site(has("1.8", StaticCapacity=True)) == []
    assert of_site(has("1.13", CapacityBuffer=False)) == [
        finding("B283 spec.clusters.0.karpenter.gates.CapacityBuffer @key", "CapacityBuffer", "1.14", "1.13")
    ]
    assert of_site(has("1.15", TerminateFirstDrift=True, PodDeletionCostManagement=False)) == []
    assert of_site(has("1.14", TerminateFirstRepair=True)) == [
        finding(
            "B283 spec.clusters.0.karpenter.gates.TerminateFirstRepair @key",
            *("TerminateFirstRepair", "1.15", "1.14"),
        )
    ]


def test_the_field_karpenter_needs_the_autoscaler_karpenter() -> None:
    assert of_site({"name": "prod", "karpenter": {}}) == ["B157 spec.clusters.0.karpenter @key"]


def test_do_not_disrupt_as_a_label_is_reported() -> None:
    assert of_documents(site(), resource_class(podLabels={"karpenter.sh/do-not-disrupt": "true"})) == [
        "B176 spec.podLabels.karpenter.sh/do-not-disrupt @key"
    ]

"""What GKE Autopilot and EKS Auto Mode change or do not have is told before anything is applied."""

from typing import Any

import pytest
from berth.checks import platforms

from tests.cases import tabled
from tests.checks.backendproblems import project_of
from tests.clouddocuments import cloud
from tests.saying import Value, document, finding, lines, resource_class, site, valid

AUTOPILOT: Value = {"name": "prod", "platform": "gke-autopilot", "autoscaler": "cluster-autoscaler"}
AUTO: Value = {"name": "prod", "platform": "eks-auto-mode", "autoscaler": "karpenter"}
KARPENTER: Value = {"name": "prod", "autoscaler": "karpenter"}
OF_KARPENTER, OF_AUTO = "karpenter.k8s.aws/instance-category", "eks.amazonaws.com/instance-category"
SHAPE = {"name": "m5", "allocatable": {"cpu": "8", "memory": "30Gi"}, "labels": {OF_AUTO: "m"}}


def told(*documents: Value) -> list[str]:
    declared = valid(*documents)
    return lines(
        [
            *platforms.check_platforms(project_of(declared)),
            *platforms.check_selected_node_labels(project_of(declared)),
        ]
    )


def seat(cpu: str, memory: str, **spec: Any) -> Value:
    return resource_class(requests={"cpu": cpu, "memory": memory}, **spec)


@pytest.mark.parametrize(
    ("cpu", "memory"), [("50m", "52Mi"), ("1", "1Gi"), ("1", "6656Mi"), ("30", "110Gi"), ("616m", "4Gi")]
)
def test_sizes_that_autopilot_accepts_have_no_finding(cpu: str, memory: str) -> None:
    assert told(site(AUTOPILOT), seat(cpu, memory)) == []


@tabled("checks")
def test_sizes_that_autopilot_raises_or_refuses_are_reported(
    cpu: str, memory: str, places: list[str]
) -> None:
    assert places == told(site(AUTOPILOT), seat(cpu, memory))
    assert told(site(), seat(cpu, memory)) == []


def test_a_missing_request_on_autopilot_is_reported() -> None:
    assert told(site(AUTOPILOT), resource_class(requests={"cpu": "1"})) == [
        finding("B282 spec.requests", "memory")
    ]


@tabled("checks")
def test_classes_on_other_google_hardware_have_no_size_finding(choice: Value) -> None:
    assert told(site(AUTOPILOT), resource_class(**{"requests": {"cpu": "1"}, **choice})) == []


@tabled("checks")
def test_a_platform_with_its_own_autoscaler_refuses_others(platform: str, other: str, usual: str) -> None:
    cluster = {"name": "prod", "platform": platform}

    assert told(site({**cluster, "autoscaler": other})) == [
        finding("B283 spec.clusters.0.autoscaler", other, f"autoscaler: {usual}")
    ]
    assert told(site({**cluster, "autoscaler": usual})) == told(site(cluster)) == []


def test_auto_mode_refuses_an_ec2_node_class() -> None:
    generic = document(
        "CloudCapacity", "nodes", {"provider": "generic", "nodes": [SHAPE], "nodeStartMinutes": 2}
    )
    seats = resource_class(cloudCapacity=["nodes"], nodeSelector={OF_AUTO: "m"})

    assert told(site(AUTO), cloud()) == [finding("B283 spec", "prod", "EC2NodeClass", "provider: generic")]
    assert told(site(AUTO), generic, seats) == told(site(KARPENTER), cloud()) == []


def test_an_auto_mode_label_in_karpenter_requirements_is_reported() -> None:
    asked = [{"key": OF_AUTO, "operator": "In", "values": ["m"]}]

    assert told(site(KARPENTER), cloud(requirements=asked)) == [
        finding("B282 spec.requirements.0.key", OF_AUTO, f"Write {OF_KARPENTER}")
    ]
    assert told(site(KARPENTER), cloud(requirements=[{**asked[0], "key": OF_KARPENTER}])) == []


def affinity(key: str) -> Value:
    term = {"matchExpressions": [{"key": key, "operator": "Exists"}]}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}],
        }
    }


def test_a_class_must_select_nodes_by_labels_of_its_platform() -> None:
    required = "B282 spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
    preferred = "B282 spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution."

    assert told(site(AUTO), resource_class(nodeSelector={OF_KARPENTER: "m"})) == [
        finding(f"B282 spec.nodeSelector.{OF_KARPENTER} @key", f"Write {OF_AUTO}")
    ]
    assert told(site(KARPENTER), resource_class(affinity=affinity(OF_AUTO))) == [
        finding(f"{required}nodeSelectorTerms.0.matchExpressions.0.key @key", "platform: eks-auto-mode"),
        f"{preferred}0.preference.matchExpressions.0.key @key",
    ]
    for cluster, key in ((AUTO, OF_AUTO), (KARPENTER, OF_KARPENTER)):
        assert told(site(cluster), resource_class(affinity=affinity(key))) == []
    # A managed node group has labels of that domain too.
    group = resource_class(nodeSelector={"eks.amazonaws.com/nodegroup": "users"})
    assert told(site(KARPENTER), group) == []

"""Where sessions attach volumes, somebody says how many a node takes."""

from typing import Any

from berth.checks import seatplacement

from tests.checks.backendproblems import project_of
from tests.clouddocuments import cloud
from tests.saying import Value, document, finding, lines, resource_class, site, valid

NODE = {"name": "large", "allocatable": {"cpu": "8", "memory": "30Gi"}}
COUNTED = {**NODE, "volumes": 26}


def told(**found: Any) -> list[str]:
    spec = {"provider": "generic", "nodeStartMinutes": 2}
    documents: list[Value] = [
        document("CloudCapacity", "counted", {**spec, "nodes": [COUNTED]}),
        document("CloudCapacity", "half", {**spec, "nodes": [COUNTED, {**NODE, "name": "b"}]}),
        cloud("bought", volumesPerNode=25),
        cloud("silent"),
    ]
    declared = valid(site(), *documents, resource_class(**found))
    return lines(seatplacement.check_volume_capacities(project_of(declared)))


def test_a_capacity_without_a_volume_limit_is_reported() -> None:
    assert told(volumes=1, cloudCapacity=["counted"]) == told(volumes=1, cloudCapacity=["bought"]) == []
    assert told(volumes=1, cloudCapacity=["bought", "silent"]) == [finding("B285 spec.volumes", "silent")]
    assert told(volumes=1, cloudCapacity=["half"]) == [finding("B285 spec.volumes", "half")]
    assert told(volumes=0, cloudCapacity=["silent"]) == told(cloudCapacity=["silent"]) == []


def test_volumes_of_a_class_without_capacity_are_reported() -> None:
    assert told(volumes=1) == [finding("B285 spec.volumes", "cloudCapacity")]

"""Whatever stands wherever in what people say of clouds: it is told there, and reading goes on."""

from typing import Any

import pytest

from tests.saying import reservation, resource_class, site, weekly
from tests.schema.test_cloudcapacity import cloud
from tests.schema.test_garbage import JUNK, changed, everything, judge, misspelt, places
from tests.schema.test_nodeclass import GOOD
from tests.schema.test_nodeclass import WHOLE as NODE_CLASS

MACHINE = {"instanceType": "p5.48xlarge", "zone": "us-east-1a", "count": 4, "hourlyPrice": 31.46}
BLOCK = {
    "id": "cr-0a",
    "type": "capacity-block",
    "ultraServer": True,
    "from": "2026-02-01T00:00:00Z",
    "until": "2026-03-01T00:00:00Z",
    **MACHINE,
}
CLOUD = cloud(
    cluster="prod",
    nodeClass=GOOD,
    reservations=[BLOCK, {"tags": {"a": "b"}, "ownerID": "123456789012", **MACHINE}],
    capacityTypes=["reserved", "spot", "on-demand"],
    requirements=[{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"], "minValues": 1}],
    weight=10,
    limits={"cpu": 1000, "nodes": "20"},
    taints=[{"key": "a", "value": "b", "effect": "PreferNoSchedule"}],
    labels={"course": "ml"},
    expireAfter="Never",
    terminationGracePeriod="1h",
    disruption={
        "consolidationPolicy": "Balanced",
        "consolidateAfter": "5m",
        "budgets": [{"nodes": "0", "schedule": "0 8 * * 1-5", "duration": "8h", "reasons": ["Empty"]}],
    },
    instanceTypes=[
        {
            "name": "p5.48xlarge",
            "cpu": 192,
            "gpus": {"nvidia.com/gpu": 8},
            "zones": ["us-east-1a"],
            "spotPrice": "30.1",
            "allocatable": {"cpu": 190},
        }
    ],
)
PROD = {
    "name": "prod",
    "autoscaler": "karpenter",
    "engine": "argocd",
    "karpenter": {"version": "1.14", "gates": {"StaticCapacity": True}},
}
CLASS = resource_class(cluster="prod", cloudCapacity=["gpu"], nodeSelector={"kubernetes.io/arch": "amd64"})
NODES = reservation(
    backend={"type": "nodePool"},
    provisioning={"seats": [{"resourceClass": "small", "nodeCount": 2}], "scaleDownBehavior": "none"},
    resourceClass=None,
    recurrence=weekly(
        {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"},
        extra=[
            {
                "date": "2026-02-03",
                "startTime": "09:00",
                "endTime": "13:00",
                "seats": [{"resourceClass": "small", "nodeCount": 1}],
            }
        ],
    ),
)
WHOLE: list[Any] = [
    site(PROD, diff={"budget": 500}, repository={"url": "https://git.example.org/a"}),
    CLASS,
    CLOUD,
    NODES,
]
NAMES = ["site", "class", "cloud", "nodes"]
MACHINES = cloud("machines", nodeClass=NODE_CLASS)


def test_the_documents_themselves_are_good() -> None:
    assert everything(WHOLE) == []
    # Images that may move, and no class that names the machines.
    assert [one.code for one in everything([WHOLE[0], MACHINES])] == ["B186", "B158"]


@pytest.mark.parametrize("file", range(len(WHOLE)), ids=NAMES)
def test_junk_at_any_place_is_told_there_or_does_no_harm(file: int) -> None:
    for path in places(WHOLE[file]):
        for junk in JUNK if path else JUNK[1:]:
            judge(file, [*WHOLE[:file], changed(WHOLE[file], path, junk), *WHOLE[file + 1 :]])


def test_junk_at_any_place_of_a_machine_is_told_there() -> None:
    for path in places(MACHINES):
        for junk in JUNK if path else JUNK[1:]:
            judge(1, [WHOLE[0], changed(MACHINES, path, junk)])


@pytest.mark.parametrize("file", range(len(WHOLE)), ids=NAMES)
def test_a_misspelt_key_at_any_place_is_told_there_or_does_no_harm(file: int) -> None:
    for path in places(WHOLE[file]):
        if path and isinstance(path[-1], str):
            judge(file, [*WHOLE[:file], misspelt(WHOLE[file], path), *WHOLE[file + 1 :]])

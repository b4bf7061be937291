"""Documents about clouds: a CloudCapacity with every field, and the project around it."""

from typing import Any

from berth.schema.cloudcapacity import CloudCapacity

from tests.clouddocuments import GOOD, cloud
from tests.saying import read, reservation, resource_class, site, weekly
from tests.schema.nodeclasses import WHOLE as NODE_CLASS


def made(**spec: Any) -> CloudCapacity:
    declared = read(cloud(**spec))
    assert [problem for problem in declared.problems if problem.code != "B064"] == []
    return declared.clouds["gpu"]


MACHINE = {"instanceType": "p5.48xlarge", "zone": "us-east-1a", "count": 4, "hourlyPrice": 31.46}


BLOCK = {
    "id": "cr-0a",
    "type": "capacity-block",
    "from": "2026-02-01T00:00:00Z",
    "until": "2026-03-01T00:00:00Z",
    **MACHINE,
}


CLOUD = cloud(
    cluster="prod",
    nodeClass=GOOD,
    reservations=[BLOCK, {"tags": {"a": "b"}, **MACHINE}],
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


MACHINES = cloud("machines", nodeClass=NODE_CLASS)

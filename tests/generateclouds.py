"""Cloud capacities made by chance, for tests: odd, sometimes wrong, mostly allowed."""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.awkward import AWKWARD as TEXTS

Document = dict[str, Any]
Make = Callable[[Random], object]

_TYPES = ("m5.large", "m5.xlarge", "p5.48xlarge", "g5.12xlarge", "u-6tb1.metal")
_ZONES = ("us-east-1a", "us-east-1b", "eu-central-2c")
_AWS = "karpenter.k8s.aws/"


def cloud_capacity(random: Random, name: str, cluster: str) -> Document:
    spec: Document = {"cluster": cluster, "nodeClass": _node_class(random), **_some(random, _OPTIONAL)}
    kinds = ["on-demand", "spot", *(["reserved"] if "reservations" in spec else [])]
    if random.random() < 0.7:
        spec["capacityTypes"] = random.sample(kinds, random.randint(1, len(kinds)))
    kind = {"apiVersion": "berth.dev/v1alpha1", "kind": "CloudCapacity"}
    return {**kind, "metadata": {"name": name}, "spec": spec}


def _some(random: Random, optional: dict[str, Make], often: float = 0.4) -> Document:
    return {key: make(random) for key, make in optional.items() if random.random() < often}


def _several(make: Make, most: int, least: int = 1) -> Make:
    return lambda random: [make(random) for _ in range(random.randint(least, most))]


def _of(*values: object) -> Make:
    return lambda random: random.choice(values)


def _id(prefix: str) -> Make:
    return lambda random: f"{prefix}-{random.randrange(16**8, 16**9):x}"


def _tags(random: Random) -> Document:
    keys = ["course", "karpenter.sh/discovery", "Team Name", "ö", *random.sample(TEXTS, 2)]
    values = ("ml", "*", "true", "1e3", "no", "2026-02-01")
    return {key: random.choice(values) for key in random.sample(keys, random.randint(1, 3)) if key}


def _by(make: Make, key: str = "id") -> Make:
    """A term: by that, or by tags."""
    return lambda random: {key: make(random)} if random.random() < 0.5 else {"tags": _tags(random)}


def _node_class(random: Random) -> Document:
    who = random.choice(["role", "instanceProfile"])
    return {
        who: "KarpenterNodeRole",
        "subnetSelectorTerms": _several(_by(_id("subnet")), 3)(random),
        "securityGroupSelectorTerms": _several(_by(_of("nodes", "*"), "name"), 3)(random),
        **_images(random),
        **_some(random, _NODE_CLASS, 0.25),
    }


def _images(random: Random) -> Document:
    alias, family = random.choice(
        [("al2023@v20260107", "AL2023"), ("bottlerocket@latest", "Bottlerocket"), ("windows2022@latest", "")]
    )
    if random.random() < 0.6:
        known = {"amiFamily": random.choice([family, "Custom"])} if family and random.random() < 0.3 else {}
        return {"amiSelectorTerms": [{"alias": alias}], **known}
    terms = [{"id": _id("ami")(random)}, {"name": "nodes-*", "owner": "self"}, {"ssmParameter": "/nodes/ami"}]
    chosen = random.sample(terms, random.randint(1, 3))
    return {"amiSelectorTerms": chosen, "amiFamily": random.choice(["AL2023", "Custom", "Windows2022"])}


def _kubelet(random: Random) -> Document:
    signals = random.sample(["memory.available", "nodefs.inodesFree", "pid.available"], 2)
    document = _some(
        random,
        {
            "clusterDNS": _of(["10.0.0.10"], ["fd00::10"]),
            "cpuCFSQuota": _of(True, False),
            "evictionHard": lambda random: {signals[0]: random.choice(["5%", "100Mi", "7.25%"])},
            "evictionMaxPodGracePeriod": _of(0, 60),
            "imageGCHighThresholdPercent": _of(70, 100),
            "imageGCLowThresholdPercent": _of(0, 69),
            "kubeReserved": _of({"cpu": "100m", "memory": "1Gi"}, {"pid": "1000"}),
            "maxPods": _of(0, 110),
            "podsPerCore": _of(0, 10),
            "systemReserved": _of({"ephemeral-storage": "1Gi"}),
        },
    )
    if random.random() < 0.3:
        document["evictionSoft"] = dict.fromkeys(signals, "10%")
        document["evictionSoftGracePeriod"] = dict.fromkeys(signals, random.choice(["1m30s", "90s"]))
    return document


def _volumes(random: Random) -> list[Document]:
    ebs = {
        "volumeSize": random.choice(["20Gi", "1T", "59000Gi"]),
        **_some(
            random,
            {
                "volumeType": _of("gp3", "io2"),
                "encrypted": _of(True, False),
                "iops": _of(3000),
                "throughput": _of(125),
                "deleteOnTermination": _of(True),
                "snapshotID": _id("snap"),
            },
        ),
    }
    return [{"deviceName": "/dev/xvda", "rootVolume": random.random() < 0.5, "ebs": ebs}]


_NODE_CLASS: dict[str, Make] = {
    "associatePublicIPAddress": _of(True, False),
    "blockDeviceMappings": _volumes,
    "connectionTracking": _of({"udpTimeout": 30}, {"tcpEstablishedTimeout": 432_000}),
    "context": _of("a context"),
    "cpuOptions": _of({"nestedVirtualization": "enabled"}),
    "detailedMonitoring": _of(True, False),
    "instanceStorePolicy": _of("RAID0"),
    "ipPrefixCount": _of(0, 2),
    "kubelet": _kubelet,
    "metadataOptions": _of({"httpTokens": "required", "httpPutResponseHopLimit": 1}, {}),
    "networkInterfaces": _of(
        [
            {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
            {"networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only"},
        ]
    ),
    "placementGroupSelector": _of({"name": "cluster"}, {"id": "pg-0a"}),
    "tags": _tags,
    "userData": _of("#!/bin/bash\necho hello\n", *TEXTS),
}


def _reservations(random: Random) -> list[Document]:
    """A few, or about as many as there may be."""
    many = random.randint(25, 33) if random.random() < 0.1 else random.randint(1, 4)
    return [_reservation(random) for _ in range(many)]


def _reservation(random: Random) -> Document:
    document: Document = random.choice(
        [
            {"id": _id("cr")(random)},
            {"tags": _tags(random)},
        ]
    )
    block = {"type": "capacity-block"}
    lasts = {"from": "2026-01-01T00:00:00Z", "until": "2027-12-31T11:30:00Z"}
    kind: Document = random.choice([{}, {}, lasts, {**block, **lasts}])
    more = _some(random, {"hourlyPrice": _of("31.46", 2, 0.1)})
    where = {"instanceType": random.choice(_TYPES), "zone": random.choice(_ZONES)}
    return {**document, **where, "count": random.choice([1, 4, 100]), **kind, **more}


def _requirement(random: Random) -> Document:
    asks: Document = random.choice(
        [
            {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(_TYPES)},
            {"key": "topology.kubernetes.io/zone", "operator": "NotIn", "values": ["us-east-1f"]},
            {"key": f"{_AWS}instance-cpu", "operator": "Gte", "values": ["8"]},
            {"key": f"{_AWS}instance-memory", "operator": "Lt", "values": ["999999"]},
            {"key": f"{_AWS}instance-gpu-count", "operator": "Exists"},
            {"key": "example.org/quiet", "operator": "DoesNotExist"},
            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
        ]
    )
    return {**asks, **({"minValues": 1} if random.random() < 0.1 else {})}


def _taint(random: Random) -> Document:
    effect = random.choice(["NoSchedule", "PreferNoSchedule", "NoExecute"])
    return {
        "key": random.choice(["exam", "example.org/gpu"]),
        "effect": effect,
        **_some(random, {"value": _of("1e3")}),
    }


def _budget(random: Random) -> Document:
    when = {"schedule": random.choice(["0 8 * * 1-5", "@daily"]), "duration": random.choice(["8h30m", "90m"])}
    nodes = random.choice(["0", "10%", "100%", "5"])
    reasons = {"reasons": random.sample(["Underutilized", "Empty", "Drifted"], random.randint(1, 3))}
    return {"nodes": nodes, **random.choice([{}, when]), **random.choice([{}, reasons])}


def _disruption(random: Random) -> Document:
    return _some(
        random,
        {
            "consolidationPolicy": _of("WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"),
            "consolidateAfter": _of("30s", "1h5m", "Never"),
            "budgets": _several(_budget, 4),
        },
        0.6,
    )


_OPTIONAL: dict[str, Make] = {
    "reservations": _reservations,
    "requirements": _several(_requirement, 3),
    "weight": _of(1, 10, 100),
    "limits": _of({"cpu": "1000"}, {"cpu": 64, "nodes": "20"}, {"memory": "1.5Ti", "nvidia.com/gpu": "8"}),
    "taints": _several(_taint, 2),
    "startupTaints": _several(_taint, 1),
    "labels": _of({"example.org/course": "ml"}, {"example.org/on": "true", f"{_AWS}instance-family": "m5"}),
    "expireAfter": _of("720h", "Never", "90m30s"),
    "terminationGracePeriod": _of("1h", "30s"),
    "disruption": _disruption,
}

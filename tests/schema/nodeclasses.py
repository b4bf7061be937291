"""A small node class, and one with every field."""

from tests.saying import Value

GOOD: Value = {
    "role": "nodes",
    "subnetSelectorTerms": [{"tags": {"a": "b"}}],
    "securityGroupSelectorTerms": [{"id": "sg-0a"}],
    "amiSelectorTerms": [{"alias": "al2023@v20260107"}],
}


WHOLE: Value = {
    "instanceProfile": "nodes",
    "subnetSelectorTerms": [{"tags": {"a": "*"}}, {"id": "subnet-0"}],
    "securityGroupSelectorTerms": [{"name": "a"}, {"tags": {"a": "b", "c": "d"}}],
    "amiSelectorTerms": [{"name": "mine", "owner": "self"}, {"id": "ami-0"}, {"ssmParameter": "/a/b"}],
    "amiFamily": "AL2023",
    "associatePublicIPAddress": False,
    "blockDeviceMappings": [
        {
            "deviceName": "/dev/xvda",
            "rootVolume": True,
            "ebs": {
                "deleteOnTermination": True,
                "encrypted": True,
                "iops": 3000,
                "kmsKeyID": "key",
                "snapshotID": "snap-0",
                "throughput": 125,
                "volumeInitializationRate": 100,
                "volumeSize": "100Gi",
                "volumeType": "gp3",
            },
        }
    ],
    "connectionTracking": {"tcpEstablishedTimeout": 60, "udpStreamTimeout": 180, "udpTimeout": 30},
    "context": "a",
    "cpuOptions": {"nestedVirtualization": "enabled"},
    "detailedMonitoring": True,
    "instanceStorePolicy": "RAID0",
    "ipPrefixCount": 0,
    "kubelet": {
        "clusterDNS": ["10.0.0.10"],
        "cpuCFSQuota": True,
        "evictionHard": {"memory.available": "5%", "pid.available": "100"},
        "evictionMaxPodGracePeriod": 60,
        "evictionSoft": {"nodefs.available": "10%"},
        "evictionSoftGracePeriod": {"nodefs.available": "1m30s"},
        "imageGCHighThresholdPercent": 80,
        "imageGCLowThresholdPercent": 70,
        "kubeReserved": {"cpu": "100m", "pid": "10"},
        "maxPods": 110,
        "podsPerCore": 0,
        "systemReserved": {"ephemeral-storage": "1Gi"},
    },
    "metadataOptions": {
        "httpEndpoint": "enabled",
        "httpProtocolIPv6": "disabled",
        "httpPutResponseHopLimit": 2,
        "httpTokens": "required",
    },
    "networkInterfaces": [
        {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
        {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
    ],
    "placementGroupSelector": {"name": "a"},
    "tags": {"course": "", "billed": "to us"},
    "userData": "#!/bin/sh\n",
}


def plain(value: object) -> object:
    """With lists for tuples."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value

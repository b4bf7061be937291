"""`nodeClass`: an EC2NodeClass as its CRD has it, and stricter where that lets bad ones pass."""

import pytest

from gen.kind.nodeclass import NODE_CLASS
from tests.saying import Value, ask, said

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
TOLD: dict[str, tuple[Value, list[str]]] = {
    "neither-role-nor-profile": (
        {"role": None},
        ["B011 : it says neither role nor instanceProfile. Add one of the two."],
    ),
    "role-and-profile": (
        {"instanceProfile": "p"},
        [
            "B016 instanceProfile @key: role and instanceProfile both say what the machines may do. "
            "Keep one of the two."
        ],
    ),
    "empty-role": (
        {"role": ""},
        ["B151 role: it is empty. Write it, or remove the key."],
    ),
    "no-terms": (
        {"subnetSelectorTerms": []},
        [
            "B152 subnetSelectorTerms: a list of no terms is refused by the API server. Write at "
            "least one term, or leave it out where it may be."
        ],
    ),
    "too-many-terms": (
        {"subnetSelectorTerms": [{"id": "subnet-0"}] * 31},
        ["B012 subnetSelectorTerms: there are 31 terms. Write at most 30."],
    ),
    "missing-terms": (
        {
            "subnetSelectorTerms": None,
            "securityGroupSelectorTerms": None,
            "amiSelectorTerms": None,
            "amiFamily": "AL2023",
        },
        [
            "B011 : subnetSelectorTerms is missing. Add subnetSelectorTerms: a list.",
            "B011 : securityGroupSelectorTerms is missing. Add securityGroupSelectorTerms: a list.",
            "B011 : amiSelectorTerms is missing. Add amiSelectorTerms: a list.",
        ],
    ),
    "a-bad-subnet-beside-a-good-one": (
        {"subnetSelectorTerms": [{"id": "subnet-0"}, {"id": "subnet-1", "tags": {"a": "b"}}]},
        [
            "B152 subnetSelectorTerms.1: id says all; tags beside it would select more than that. "
            "Keep id alone, or write two terms: one of them is enough."
        ],
    ),
    "a-term-of-nothing": (
        {"subnetSelectorTerms": [{}]},
        ["B152 subnetSelectorTerms.0: the term has none of tags, id: it selects nothing. Add tags or id."],
    ),
    "tags-of-nothing": (
        {"subnetSelectorTerms": [{"tags": {}}]},
        ["B012 subnetSelectorTerms.0.tags: the mapping is empty. Write at least one key."],
    ),
    "an-empty-tag": (
        {"subnetSelectorTerms": [{"tags": {"a": ""}}, {"tags": {"": "a"}}]},
        [
            "B151 subnetSelectorTerms.0.tags.a: a tag without value selects nothing. Write its "
            'value, or "*" for any.',
            "B151 subnetSelectorTerms.1.tags. @key: a tag has no key. Write its key, at most 128 characters.",
        ],
    ),
    "a-long-tag": (
        {"subnetSelectorTerms": [{"tags": {"a": "b" * 257}}, {"tags": {"a" * 129: "b"}}]},
        [
            "B151 subnetSelectorTerms.0.tags.a: the value of a tag has 257 characters. "
            "Write at most 256 characters.",
            f"B151 subnetSelectorTerms.1.tags.{'a' * 129} @key: the key of a tag has 129 characters. "
            "Write its key, at most 128 characters.",
        ],
    ),
    "any-value-of-a-tag": (
        {"subnetSelectorTerms": [{"tags": {"a": "*"}}]},
        [],
    ),
    "ids": (
        {"subnetSelectorTerms": [{"id": "sn-0"}], "securityGroupSelectorTerms": [{"id": "SG-1"}]},
        [
            'B151 subnetSelectorTerms.0.id: "sn-0" is not the id of a subnet. Write it as AWS shows '
            "it: subnet- and small letters and digits.",
            'B151 securityGroupSelectorTerms.0.id: "SG-1" is not the id of a security group. Write '
            "it as AWS shows it: sg- and small letters and digits.",
        ],
    ),
    "a-bad-group-beside-a-good-one": (
        {
            "securityGroupSelectorTerms": [
                {"name": "a"},
                {"name": "b", "tags": {"a": "b"}},
                {"id": "sg-0", "name": "b"},
            ]
        },
        [
            "B152 securityGroupSelectorTerms.1: name says all; tags beside it would select more than "
            "that. Keep name alone, or write two terms: one of them is enough.",
            "B152 securityGroupSelectorTerms.2: id says all; name beside it would select more than "
            "that. Keep id alone, or write two terms: one of them is enough.",
        ],
    ),
    "an-alias-beside-another-term": (
        {"amiSelectorTerms": [{"alias": "al2023@v20260107"}, {"id": "ami-0"}]},
        ["B152 amiSelectorTerms: an alias must be the only term. Keep the alias alone, or remove it."],
    ),
    "an-alias-beside-tags": (
        {"amiSelectorTerms": [{"alias": "al2023@v20260107", "tags": {"a": "b"}}]},
        [
            "B152 amiSelectorTerms.0: alias says all; tags beside it would select more than that. "
            "Keep alias alone, or write two terms: one of them is enough."
        ],
    ),
    "an-alias-of-no-version": (
        {"amiSelectorTerms": [{"alias": "al2023"}]},
        [
            'B151 amiSelectorTerms.0.alias: "al2023" is not an alias of AMIs. Write family@version, '
            "such as al2023@v20260107."
        ],
    ),
    "an-alias-of-two-lines": (
        {"amiSelectorTerms": [{"alias": "al2023@latest\n"}]},
        [
            r'B151 amiSelectorTerms.0.alias: "al2023@latest\n" is not an alias of AMIs. Write '
            "family@version, such as al2023@v20260107."
        ],
    ),
    "an-alias-of-no-family": (
        {"amiSelectorTerms": [{"alias": "ubuntu@latest"}]},
        [
            'B151 amiSelectorTerms.0.alias: "ubuntu" is no family of AMIs. Write one of al2, al2023, '
            "bottlerocket, windows2019, windows2022, windows2025 before the @."
        ],
    ),
    "a-version-of-windows": (
        {"amiSelectorTerms": [{"alias": "windows2022@v1"}]},
        [
            "B151 amiSelectorTerms.0.alias: windows2022 has no version v1: it has only the latest. "
            "Write windows2022@latest."
        ],
    ),
    "no-family": (
        {"amiSelectorTerms": [{"id": "ami-0"}]},
        [
            "B011 : no term has an alias, so amiFamily must say how machines start. Add amiFamily: "
            "one of AL2, AL2023, Bottlerocket, Custom, Windows2019, Windows2022, Windows2025."
        ],
    ),
    "another-family": (
        {"amiFamily": "Bottlerocket"},
        [
            "B016 amiFamily: amiFamily Bottlerocket is not that of the alias al2023@v20260107. Write "
            "AL2023, or leave it out."
        ],
    ),
    "a-custom-family": (
        {"amiFamily": "Custom"},
        [],
    ),
    "tags-of-karpenter": (
        {"tags": {"karpenter.sh/nodepool": "a", "kubernetes.io/cluster/a": "b", "mine": ""}},
        [
            'B153 tags.karpenter.sh/nodepool @key: "karpenter.sh/nodepool" is a tag that Karpenter '
            "sets itself. Remove it.",
            'B153 tags.kubernetes.io/cluster/a @key: "kubernetes.io/cluster/a" is a tag that '
            "Karpenter sets itself. Remove it.",
        ],
    ),
    "a-reservation-here": (
        {"capacityReservationSelectorTerms": [{"id": "cr-0"}]},
        [
            "B016 capacityReservationSelectorTerms @key: reservations says this; Berth writes these "
            "terms of it. Remove it, and write reservations."
        ],
    ),
    "says-nothing": (
        {"connectionTracking": {}, "placementGroupSelector": {}},
        [
            "B011 connectionTracking: it says nothing. Say something, or remove it.",
            "B011 placementGroupSelector: it says nothing. Say something, or remove it.",
        ],
    ),
    "two-groups": (
        {"placementGroupSelector": {"id": "pg-0", "name": "a"}},
        ["B016 placementGroupSelector: name and id both say which group. Keep one of the two."],
    ),
}


def plain(value: object) -> object:
    """With lists for tuples."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("value", [GOOD, WHOLE], ids=["little", "every-key"])
def test_what_is_good_is_passed_on_as_it_is(value: Value) -> None:
    made, problems = ask(NODE_CLASS, value)

    assert problems == []
    assert plain(made) == value


@pytest.mark.parametrize(("change", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_node_class(change: Value, problems: list[str]) -> None:
    value = {key: inner for key, inner in {**GOOD, **change}.items() if inner is not None}

    assert said(NODE_CLASS, value) == problems

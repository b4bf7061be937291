"""Disks, network interfaces and the kubelet of an EC2NodeClass."""

import pytest

from gen.kind.nodeclass import NODE_CLASS
from tests.kind.test_nodeclass import GOOD
from tests.saying import Value, said

TOLD: dict[str, tuple[Value, list[str]]] = {
    "disks": (
        {
            "blockDeviceMappings": [
                {"rootVolume": True, "ebs": {}},
                {"rootVolume": True, "ebs": {"volumeSize": "60000Gi"}},
                {"ebs": {"volumeSize": "10", "volumeInitializationRate": 100}},
            ]
        },
        [
            "B011 blockDeviceMappings.0.ebs: it says neither snapshotID nor volumeSize. Add one of the two.",
            "B022 blockDeviceMappings.1.ebs.volumeSize: 60000Gi is more than AWS has. Write at most 59000Gi.",
            'B022 blockDeviceMappings.2.ebs.volumeSize: "10" is not the size of a volume. Write a '
            "whole number and Gi, G, Ti or T, such as 100Gi.",
            "B011 blockDeviceMappings.2.ebs: only a volume made from a snapshot is initialized. Add "
            "snapshotID, or remove volumeInitializationRate.",
        ],
    ),
    "two-root-volumes": (
        {"blockDeviceMappings": [{"rootVolume": True}, {"rootVolume": True}]},
        ["B016 blockDeviceMappings: 2 volumes are rootVolume. Keep it on one."],
    ),
    "interfaces": (
        {
            "networkInterfaces": [
                {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"},
                {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"},
            ]
        },
        [
            "B011 networkInterfaces: none is the first: card 0, device 0, of type interface. Add it.",
            "B016 networkInterfaces.1: card 1, device 0 stands twice. Remove one of the two.",
            "B016 networkInterfaces: a card has two of type efa-only. Keep one a card.",
        ],
    ),
    "as-many-interfaces-as-there-may-be": (
        {
            "networkInterfaces": [
                {"networkCardIndex": 0, "deviceIndex": number, "interfaceType": "interface"}
                for number in range(150)
            ]
        },
        [],
    ),
    "too-many-interfaces": (
        {
            "networkInterfaces": [
                {"networkCardIndex": 0, "deviceIndex": number, "interfaceType": "interface"}
                for number in range(151)
            ]
        },
        ["B012 networkInterfaces: there are 151 network interfaces. Write at most 150."],
    ),
    "kubelet": (
        {
            "kubelet": {
                "imageGCHighThresholdPercent": 50,
                "imageGCLowThresholdPercent": 60,
                "evictionSoft": {"memory.available": "5%"},
                "evictionHard": {"memory": "5%", "nodefs.available": "x"},
                "kubeReserved": {"cpu": "-1", "gpu": "1"},
            }
        },
        [
            'B014 kubelet.evictionHard.memory @key: "memory" is not known here. Write one of '
            "memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, "
            "imagefs.inodesFree, pid.available.",
            'B022 kubelet.evictionHard.nodefs.available: "x" is not a quantity that Kubernetes '
            'reads. Write a number with a unit, for instance "500m", "2" or "4Gi".',
            'B022 kubelet.kubeReserved.cpu: "-1" is negative. Write 0 or more.',
            'B014 kubelet.kubeReserved.gpu @key: "gpu" is not known here. Write one of cpu, memory, '
            "ephemeral-storage, pid.",
            "B016 kubelet.imageGCHighThresholdPercent: imageGCHighThresholdPercent 50 is not above "
            "imageGCLowThresholdPercent 60. Write a higher one.",
            "B016 kubelet.evictionSoft.memory.available @key: memory.available is not in "
            "evictionSoftGracePeriod. Write it in both, or in none.",
        ],
    ),
}


@pytest.mark.parametrize(("change", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_the_parts_of_a_machine(change: Value, problems: list[str]) -> None:
    assert said(NODE_CLASS, {**GOOD, **change}) == problems

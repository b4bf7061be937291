"""Disks, network interfaces and the kubelet of an EC2NodeClass."""

import pytest
from berth.schema.nodeclass import NodeClass

from tests.saying import Value, said
from tests.schema.nodeclasses import GOOD

TOLD: dict[str, tuple[Value, list[str]]] = {
    "disks": (
        {
            "blockDeviceMappings": [
                {"rootVolume": True, "ebs": {}},
                {"rootVolume": True, "ebs": {"volumeSize": "60000Gi"}},
                {"ebs": {"volumeSize": "10"}},
                {"ebs": {"volumeSize": "10Gi", "volumeInitializationRate": 100}},
            ]
        },
        [
            "B011 blockDeviceMappings.0.ebs",
            "B011 blockDeviceMappings.3.ebs",
            "B022 blockDeviceMappings.1.ebs.volumeSize",
            "B022 blockDeviceMappings.2.ebs.volumeSize",
        ],
    ),
    "two-root-volumes": (
        {"blockDeviceMappings": [{"rootVolume": True}, {"rootVolume": True}]},
        ["B016 blockDeviceMappings"],
    ),
    "interfaces": (
        {
            "networkInterfaces": [
                {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"},
                {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"},
            ]
        },
        ["B011 networkInterfaces", "B016 networkInterfaces", "B016 networkInterfaces.1"],
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
        ["B012 networkInterfaces"],
    ),
    "kubelet": (
        {
            "kubelet": {
                "evictionHard": {"memory": "5%", "nodefs.available": "x"},
                "kubeReserved": {"cpu": "-1", "gpu": "1"},
            }
        },
        [
            "B014 kubelet.evictionHard.memory @key",
            "B014 kubelet.kubeReserved.gpu @key",
            "B022 kubelet.evictionHard.nodefs.available",
            "B022 kubelet.kubeReserved.cpu",
        ],
    ),
    "kubelet-that-contradicts-itself": (
        {
            "kubelet": {
                "imageGCHighThresholdPercent": 50,
                "imageGCLowThresholdPercent": 60,
                "evictionSoft": {"memory.available": "5%"},
            }
        },
        ["B016 kubelet.evictionSoft.memory.available @key", "B016 kubelet.imageGCHighThresholdPercent"],
    ),
}


@pytest.mark.parametrize(("change", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_the_parts_of_a_machine(change: Value, problems: list[str]) -> None:
    assert said(NodeClass, {**GOOD, **change}) == problems

"""What the node class makes of machines: their disk, how many pods they take, what they keep for themselves.

The numbers are those that the AWS provider of Karpenter reckons with.
"""

from typing import Any

from berth.machines.capacitycatalog import declared_types
from berth.machines.instancetypes import allocatable, parse_resources
from berth.schema.cloudcapacity import InstanceTypeSpec

from tests.cases import tabled
from tests.machines.stories import cloud, demand, resource_class, run, sold, told

CPU, MEMORY, DISK = "cpu", "memory", "ephemeral-storage"


def volume(size: str, device: str = "/dev/xvda", **more: Any) -> dict[str, Any]:
    return {"deviceName": device, "ebs": {"volumeSize": size}, **more}


def left(name: str, *types: InstanceTypeSpec, **node_class: Any) -> dict[str, int]:
    """For pods, of a machine of this type."""
    told = {"amiFamily": "AL2023", **node_class}
    found = declared_types(cloud(instance_types=types, node_class=told), "us-east-1")[name]
    return allocatable(found.capacity, found.overhead)


def amount(text: str) -> int:
    return dict(parse_resources({"": text}))[""]


@tabled("machines")
def test_the_node_class_decides_the_disk_of_a_machine(node_class: dict[str, Any], disk: str) -> None:
    """A tenth of it is kept from pods, and 1 GiB."""
    assert left("m5.xlarge", **node_class)[DISK] == amount(disk)


def test_instance_store_disks_count_only_with_raid0() -> None:
    """g5.xlarge has one of 250 GB."""
    assert left("g5.xlarge")[DISK] == amount("17Gi")
    assert left("g5.xlarge", instanceStorePolicy="RAID0")[DISK] == amount("225G") - amount("1Gi")


@tabled("machines")
def test_kubelet_settings_change_the_allocatable_resources(
    kubelet: dict[str, Any], differs: dict[str, str]
) -> None:
    """m5.xlarge has 58 addresses for pods; its operating system sees 15155 MiB."""
    plain, found = left("m5.xlarge"), left("m5.xlarge", kubelet=kubelet)

    assert {name: found[name] - plain[name] for name in plain if found[name] != plain[name]} == {
        name: amount(text) for name, text in differs.items()
    }


@tabled("machines")
def test_the_kubelet_reserves_memory_by_ami_family_and_pod_count(
    family: str, kubelet: dict[str, Any], pods: int, kept: int
) -> None:
    """A t3.large has 35 addresses. Only Bottlerocket and Windows keep memory by the pods of the node."""
    sold_instance_type = sold("t3.large", (CPU, "2"), (MEMORY, "8Gi"), ("pods", "35"))
    found = left("t3.large", sold_instance_type, amiFamily=family, kubelet=kubelet)
    bare = left(
        "t3.large", sold_instance_type, amiFamily=family, kubelet={**kubelet, "kubeReserved": {MEMORY: "0"}}
    )

    assert (found["pods"], bare[MEMORY] - found[MEMORY]) == (amount(str(pods)), amount(f"{kept}Mi"))


def test_bottlerocket_ignores_pods_per_core() -> None:
    plain = left("m5.xlarge", amiFamily="Bottlerocket")

    assert left("m5.xlarge", amiFamily="Bottlerocket", kubelet={"podsPerCore": 7}) == plain


def test_arm_machines_have_less_memory_than_amd_machines() -> None:
    """m7g.xlarge: 16384 MiB, less 64, less 7.5 %, less what is kept for 58 pods."""
    sold_instance_type = sold(
        "m7g.xlarge", (CPU, "4"), (MEMORY, "16Gi"), ("pods", "58"), architecture="arm64"
    )

    assert left("m7g.xlarge", sold_instance_type)[MEMORY] == amount("14103Mi")
    other = sold_instance_type.model_copy(update={"architecture": "amd64"})
    assert left("m7g.xlarge", other)[MEMORY] == amount("14162Mi")


def test_a_declared_disk_of_an_instance_type_wins() -> None:
    sold_instance_type = sold("m8i.xlarge", (CPU, "4"), (MEMORY, "16Gi"), (DISK, "100Gi"))

    assert left("m8i.xlarge", sold_instance_type, instanceStorePolicy="RAID0")[DISK] == amount("89Gi")


def test_seats_with_large_disks_fit_on_a_large_volume() -> None:
    devices = (volume("200Gi"),)
    one = cloud("m5.xlarge", node_class={"amiFamily": "AL2023", "blockDeviceMappings": devices})
    plain = resource_class("small", "1", "1Gi")
    wide = plain.model_copy(update={"requests": {**plain.requests, DISK: "80Gi"}})

    assert told(run([one], [demand("ml", "8-12=3")], [wide]).intervals) == [
        "0 on-demand m5.xlarge 8:00-12:01 ml 2",
        "1 on-demand m5.xlarge 8:00-12:01 ml 1",
    ]

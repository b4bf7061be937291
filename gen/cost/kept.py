"""What an EC2NodeClass makes of a machine: its disk, how many pods it takes, and what it keeps for itself.

The rules are those of the AWS provider of Karpenter. Amounts are billionths, as everywhere in `gen.plan`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gen.cloud import CloudCapacity
from gen.plan.amounts import MEMORY, ONE, PODS, added, amounts
from gen.schema.nodeclass import BlockDevice, Kubelet

DISK = "ephemeral-storage"
_MI, _GI = 2**20 * ONE, 2**30 * ONE
_KEPT_EVER, _KEPT_FOR_A_POD, _EVICTION, _DISK_KEPT = 255 * _MI, 11 * _MI, 100 * _MI, 1 * _GI
_CPU_STEPS = (60, 10, 5, 5)  # thousandths of the first four cores that a kubelet keeps
_UNSEEN = 64 * _MI  # of the memory of ARM machines, which their kernel keeps
_VOLUME, _WINDOWS_VOLUME = 20 * _GI, 50 * _GI
_BOTTLEROCKET = "Bottlerocket"


class Kept(NamedTuple):
    """What one node class says of every type. `most`: pods; None: as many as the type has addresses."""

    volume: int
    raid: bool
    most: int | None
    for_a_core: int  # pods; 0: nothing says it
    by_kubelet: Mapping[str, int]
    by_system: Mapping[str, int]
    evictions: Mapping[str, str]

    def disk(self, nvme: int) -> int:
        """`nvme`: GB of the disks that come with the machine."""
        return nvme * 10**9 * ONE if self.raid and nvme else self.volume

    def pods(self, own: int, cpu: int) -> int:
        """`own`: of a type of which the node class says nothing. Both in billionths."""
        most = own if self.most is None else self.most * ONE
        return min(self.for_a_core * (cpu // ONE) * ONE, most) if self.for_a_core else most

    def overhead(self, capacity: Mapping[str, int]) -> dict[str, int]:
        kubelet = {
            "cpu": _kept_cpu(capacity["cpu"] // ONE),
            MEMORY: _KEPT_EVER + _KEPT_FOR_A_POD * (capacity[PODS] // ONE),
            DISK: _DISK_KEPT,
            **self.by_kubelet,
        }
        evicted = {
            MEMORY: _threshold(self.evictions.get("memory.available"), capacity[MEMORY], _EVICTION),
            DISK: _threshold(self.evictions.get("nodefs.available", "10%"), capacity[DISK], 0),
        }
        total = added(kubelet.items(), self.by_system.items(), evicted.items())
        return {name: value for name, value in total.items() if name in capacity}


def kept(cloud: CloudCapacity) -> Kept:
    kubelet, own = cloud.node_class.kubelet or Kubelet.model_construct(), cloud.node_class.family
    return Kept(
        _volume(cloud.node_class.block_device_mappings or (), own),
        cloud.node_class.instance_store_policy == "RAID0",
        kubelet.max_pods,
        0 if own == _BOTTLEROCKET else kubelet.pods_per_core or 0,
        dict(amounts(kubelet.kube_reserved or {})),
        dict(amounts(kubelet.system_reserved or {})),
        kubelet.eviction_hard or {},
    )


def seen(memory: int, architecture: str) -> int:
    """What of the memory that is printed on the box the operating system gets, in billionths of bytes."""
    whole = (memory - (_UNSEEN if architecture == "arm64" else 0)) // _MI
    return (whole - -(-whole * 3 // 40)) * _MI


def _volume(devices: Sequence[BlockDevice], own: str) -> int:
    """The size of the disk that pods write to: of the volume that is called the root, or of the family's."""
    usual = _WINDOWS_VOLUME if own.startswith("Windows") else _VOLUME
    root = _size(one for one in devices if one.root_volume)
    if root is not None or not devices:
        return usual if root is None else root
    if own == "Custom":
        found = _size(devices[-1:])
    else:
        name = (
            "/dev/sda1" if own.startswith("Windows") else "/dev/xvdb" if own == _BOTTLEROCKET else "/dev/xvda"
        )
        found = _size(one for one in devices if one.device_name == name)
    return usual if found is None else found


def _size(devices: Iterable[BlockDevice]) -> int | None:
    """Of the first; None where nothing says it."""
    text = next((None if one.ebs is None else one.ebs.volume_size for one in devices), None)
    return None if text is None else _amount(text)


def _threshold(said: str | None, capacity: int, usual: int) -> int:
    """A share is of the capacity; all of it means none. Rounded as Karpenter does, with its floats."""
    if said is None:
        return usual
    if not said.endswith("%"):
        return _amount(said)
    share = float(said[:-1])
    return 0 if share == 100 else math.ceil(capacity / ONE / 100 * share) * ONE


def _amount(text: str) -> int:
    return dict(amounts({DISK: text}))[DISK]


def _kept_cpu(cores: int) -> int:
    tenths = sum(_CPU_STEPS[:cores]) * 10 + 25 * max(cores - len(_CPU_STEPS), 0)
    return tenths * ONE // 10_000

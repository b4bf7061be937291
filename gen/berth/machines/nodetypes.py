"""Instance types of a CloudCapacity and what a node of each leaves for pods.

Types come from the built-in table and from the file, which wins. The overhead of nodes is computed by the
rules of Karpenter's AWS provider where nothing declares it. Amounts are billionths, as in
`berth.karpenter.resourcelists`.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from berth.karpenter import instancetypes
from berth.karpenter.instancetypes import InstanceType
from berth.karpenter.nodelabels import ARCH, AWS, OS, REGION, RESERVATION_LABELS, WELL_KNOWN
from berth.karpenter.requirements import DOES_NOT_EXIST, IN, Requirement, requirement
from berth.karpenter.resourcelists import (
    MEMORY,
    ONE,
    PODS,
    VOLUMES,
    ResourceList,
    parse_resources,
    sum_resources,
)
from berth.schema.cloudvalues import GENERIC, CloudCapacity
from berth.schema.cloudvalues import SoldInstanceType as DeclaredInstanceType
from berth.schema.nodeclass import BlockDevice, Kubelet

DISK = "ephemeral-storage"
_MI, _GI = 2**20 * ONE, 2**30 * ONE
_KUBELET_MEMORY, _KUBELET_MEMORY_PER_POD, _EVICTION_MEMORY, _KUBELET_DISK = (
    255 * _MI,
    11 * _MI,
    100 * _MI,
    1 * _GI,
)
_KUBELET_CPU = (60, 10, 5, 5)  # thousandths of the first four cores that a kubelet keeps
_ARM_RESERVED_MEMORY = 64 * _MI  # of the memory of ARM machines, which their kernel keeps
_VOLUME, _WINDOWS_VOLUME = 20 * _GI, 50 * _GI
_BOTTLEROCKET = "Bottlerocket"
_UNCOUNTED = 10**6  # volumes of a node where nobody says how many it takes
_DEFAULT_PODS = 110 * ONE  # where nothing says how many addresses a type has, and on Windows


class NodeOverhead(NamedTuple):
    """What an EC2NodeClass says about every type."""

    family: str
    volume: int
    raid: bool
    max_pods: int | None
    pods_per_core: int  # 0: nothing says it
    by_kubelet: Mapping[str, int]
    by_system: Mapping[str, int]
    evictions: Mapping[str, str]

    def disk(self, nvme: int) -> int:
        """Return the size of the disk. `nvme`: GB of the disks that come with the instance."""
        return nvme * 10**9 * ONE if self.raid and nvme else self.volume

    def pods(self, addresses: int, cpu: int) -> int:
        """Return how many pods a node takes. `addresses`: of the type's network interfaces. In billionths."""
        usual = _DEFAULT_PODS if self._windows else addresses
        most = usual if self.max_pods is None else self.max_pods * ONE
        return min(self.pods_per_core * (cpu // ONE) * ONE, most) if self.pods_per_core else most

    def overhead(self, capacity: Mapping[str, int], addresses: int) -> dict[str, int]:
        """Return what kubelet, system and eviction thresholds reserve.

        The kubelet of most families keeps memory for a pod per address, however many pods the node takes.
        """
        by_pods = self._windows or self.family == _BOTTLEROCKET
        pods = (capacity[PODS] if by_pods else addresses) // ONE
        kubelet = {
            "cpu": _kubelet_cpu(capacity["cpu"] // ONE),
            MEMORY: _KUBELET_MEMORY + _KUBELET_MEMORY_PER_POD * pods,
            DISK: _KUBELET_DISK,
            **self.by_kubelet,
        }
        evicted = {
            MEMORY: _threshold(self.evictions.get("memory.available"), capacity[MEMORY], _EVICTION_MEMORY),
            DISK: _threshold(self.evictions.get("nodefs.available", "10%"), capacity[DISK], 0),
        }
        total = sum_resources(kubelet.items(), self.by_system.items(), evicted.items())
        return {name: value for name, value in total.items() if name in capacity}

    @property
    def _windows(self) -> bool:
        return self.family.startswith("Windows")


def node_overhead(cloud: CloudCapacity) -> NodeOverhead:
    """Return the overhead that the node class of a CloudCapacity declares."""
    kubelet, own = cloud.node_class.kubelet or Kubelet.model_construct(), cloud.node_class.family
    return NodeOverhead(
        own,
        _volume(cloud.node_class.block_device_mappings or (), own),
        cloud.node_class.instance_store_policy == "RAID0",
        kubelet.max_pods,
        0 if own == _BOTTLEROCKET else kubelet.pods_per_core or 0,
        dict(parse_resources(kubelet.kube_reserved or {})),
        dict(parse_resources(kubelet.system_reserved or {})),
        kubelet.eviction_hard or {},
    )


def usable_memory(memory: int, architecture: str) -> int:
    """Return the part of the nominal memory that the operating system gets, in billionths of bytes."""
    whole = (memory - (_ARM_RESERVED_MEMORY if architecture == "arm64" else 0)) // _MI
    return (whole - -(-whole * 3 // 40)) * _MI


def _volume(devices: Sequence[BlockDevice], own: str) -> int:
    """Return the size of the disk that pods write to: the root volume, or the default of the AMI family."""
    usual = _WINDOWS_VOLUME if own.startswith("Windows") else _VOLUME
    root = _size(device for device in devices if device.root_volume)
    if root is not None or not devices:
        return usual if root is None else root
    if own == "Custom":
        found = _size(devices[-1:])
    else:
        name = (
            "/dev/sda1" if own.startswith("Windows") else "/dev/xvdb" if own == _BOTTLEROCKET else "/dev/xvda"
        )
        found = _size(device for device in devices if device.device_name == name)
    return usual if found is None else found


def _size(devices: Iterable[BlockDevice]) -> int | None:
    """Return the size of the first device, or None if it is not declared."""
    text = next((None if device.ebs is None else device.ebs.volume_size for device in devices), None)
    return None if text is None else _amount(text)


def _threshold(said: str | None, capacity: int, usual: int) -> int:
    """Return an eviction threshold. 100 % means none. Rounded as Karpenter does, with floats."""
    if said is None:
        return usual
    if not said.endswith("%"):
        return _amount(said)
    share = float(said[:-1])
    return 0 if share == 100 else math.ceil(capacity / ONE / 100 * share) * ONE


def _amount(text: str) -> int:
    return dict(parse_resources({DISK: text}))[DISK]


def _kubelet_cpu(cores: int) -> int:
    tenths = sum(_KUBELET_CPU[:cores]) * 10 + 25 * max(cores - len(_KUBELET_CPU), 0)
    return tenths * ONE // 10_000


_NAME = re.compile(r"(([a-z]+)([0-9]+)[a-z-]*)\.(.+)")

_GPUS = {instancetypes.GPU: "nvidia", "amd.com/gpu": "amd", "habana.ai/gaudi": "habana"}
_ACCELERATORS = {"aws.amazon.com/neuron": "aws"}


class DeclaredType(NamedTuple):
    """A type without its offerings. `size` orders types without a known price."""

    name: str
    capacity: ResourceList
    overhead: ResourceList
    requirements: tuple[Requirement, ...]
    declared: DeclaredInstanceType | None

    @property
    def size(self) -> float:
        has = dict(self.capacity)
        gpus = sum(value for name, value in has.items() if "gpu" in name)
        return has.get("cpu", 0) / ONE * 0.03 + has.get(MEMORY, 0) / _MI / 1024 * 0.005 + gpus / ONE

    @property
    def unknown(self) -> frozenset[str]:
        """The labels that a node may have but that nothing defines; they exclude nothing."""
        return _undefined_labels(self.requirements)

    def with_offerings(self, offerings: Iterable[Any]) -> InstanceType:
        """Return the instance type with these offerings."""
        return InstanceType(self.name, self.capacity, tuple(offerings), self.overhead, self.requirements)


def declared_types(cloud: CloudCapacity, region: str) -> dict[str, DeclaredType]:
    """Return the types by name, without those whose CPU and memory are not known."""
    said = {instance_type_.name: instance_type_ for instance_type_ in cloud.instance_types}
    daemons, rest = parse_resources(dict(cloud.daemon_requests)), node_overhead(cloud)
    found = {}
    sold = () if cloud.provider == GENERIC else instancetypes.ec2_types()
    for name in sorted({*sold, *said}):
        kind = _declared_type(name, said.get(name), rest, region)
        if kind is not None:
            overhead = tuple(sorted(sum_resources(kind.overhead, daemons).items()))
            volumes = (VOLUMES, (cloud.volumes_per_node or _UNCOUNTED) * ONE)
            capacity = tuple(sorted((*kind.capacity, volumes)))
            found[name] = kind._replace(capacity=capacity, overhead=overhead)
    return found


def _declared_type(
    name: str, said: DeclaredInstanceType | None, rest: NodeOverhead, region: str
) -> DeclaredType | None:
    row = instancetypes.ec2_types().get(name)
    given = dict(parse_resources(dict(said.capacity))) if said else {}
    if row is None and not {"cpu", MEMORY} <= given.keys():
        return None
    capacity = {
        DISK: rest.disk(row.nvme if row else 0),
        PODS: _DEFAULT_PODS,
        **(_nominal_capacity(row) if row else {}),
        **given,
    }
    addresses = capacity[PODS]
    capacity[PODS] = rest.pods(addresses, capacity["cpu"])
    if row is None:
        labels = _labels(name, capacity, region)
    else:
        labels = instancetypes.ec2_instance_type(row, (), region=region or "us-east-1").requirements
    if said is not None:
        labels = _with_architecture(labels, said.architecture)
    capacity[MEMORY] = usable_memory(capacity[MEMORY], said.architecture if said else "")
    overhead = rest.overhead(capacity, addresses)
    for resource, amount in parse_resources(dict(said.allocatable)) if said else ():
        capacity[resource] = max(capacity.get(resource, 0), amount)
        overhead[resource] = capacity[resource] - amount
    return DeclaredType(name, tuple(sorted(capacity.items())), tuple(sorted(overhead.items())), labels, said)


@lru_cache(maxsize=512)
def _undefined_labels(requirements: tuple[Requirement, ...]) -> frozenset[str]:
    return WELL_KNOWN.difference(RESERVATION_LABELS, (one.key for one in requirements))


def _nominal_capacity(row: instancetypes.Ec2Type) -> dict[str, int]:
    """Return the nominal capacity of a type of the table."""
    gpus = {instancetypes.GPU: row.gpus * ONE} if row.gpus else {}
    return {"cpu": row.cpu * ONE, MEMORY: row.memory * _MI, PODS: row.pods * ONE, **gpus}


def _labels(name: str, capacity: Mapping[str, int], region: str) -> tuple[Requirement, ...]:
    """Return the labels of a type that is not in the table. Other labels exclude nothing."""
    parts = _NAME.fullmatch(name)
    values = {"instance-cpu": str(capacity["cpu"] // ONE), "instance-memory": str(capacity[MEMORY] // _MI)}
    if parts is not None:
        named = ("instance-family", "instance-category", "instance-generation", "instance-size")
        values |= dict(zip(named, parts.groups(), strict=True))
    own = [requirement(AWS + key, IN, (value,)) for key, value in values.items()]
    own += [*_device_labels("gpu", _GPUS, capacity), *_device_labels("accelerator", _ACCELERATORS, capacity)]
    where = [requirement(REGION, IN, (region,))] if region else []
    return (requirement(ARCH, IN, ("amd64",)), requirement(OS, IN, ("linux",)), *own, *where)


def _device_labels(
    what: str, makers: Mapping[str, str], capacity: Mapping[str, int]
) -> Iterable[Requirement]:
    """Return the labels for GPUs or accelerators; a type without any has none of them. `makers`: by
    resource.
    """
    there = {resource: capacity[resource] for resource in makers if capacity.get(resource)}
    if not there:
        for part in ("name", "manufacturer", "count", *(["memory"] if what == "gpu" else [])):
            yield requirement(f"{AWS}instance-{what}-{part}", DOES_NOT_EXIST)
    if len(there) == 1:
        ((resource, count),) = there.items()
        yield requirement(f"{AWS}instance-{what}-manufacturer", IN, (makers[resource],))
        yield requirement(f"{AWS}instance-{what}-count", IN, (str(count // ONE),))


def _with_architecture(labels: tuple[Requirement, ...], architecture: str) -> tuple[Requirement, ...]:
    return tuple(requirement(ARCH, IN, (architecture,)) if label.key == ARCH else label for label in labels)

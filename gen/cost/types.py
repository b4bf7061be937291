"""Instance types of a CloudCapacity: the table that comes with Berth, and what the file says instead.

What a machine keeps for itself is computed as the AWS provider of Karpenter does, where nothing says it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gen.cloud import CloudCapacity
from gen.cloud import InstanceType as Said
from gen.plan import ec2
from gen.plan.amounts import MEMORY, ONE, PODS, Amounts, added, amounts
from gen.plan.labels import ARCH, OS
from gen.plan.requirement import IN, Requirement, requirement
from gen.plan.values import InstanceType

_MI = 2**20 * ONE
_USUAL_PODS = 110  # where nothing says how many network interfaces a type has
_KEPT_EVER, _KEPT_FOR_A_POD, _EVICTION = 255 * _MI, 11 * _MI, 100 * _MI
_CPU_STEPS = (60, 10, 5, 5)  # thousandths of the first four cores that a kubelet keeps
_NAME = re.compile(r"(([a-z]+)([0-9]+)[a-z-]*)\.(.+)")
_DISK = {"ephemeral-storage": 20 * 1024 * _MI}
_DISK_KEPT = {"ephemeral-storage": 3 * 1024 * _MI}


class Kind(NamedTuple):
    """A type without its offerings. `size` orders types of which no price is known."""

    name: str
    capacity: Amounts
    overhead: Amounts
    requirements: tuple[Requirement, ...]
    said: Said | None

    @property
    def size(self) -> float:
        has = dict(self.capacity)
        gpus = sum(value for name, value in has.items() if "gpu" in name)
        return has.get("cpu", 0) / ONE * 0.03 + has.get(MEMORY, 0) / _MI / 1024 * 0.005 + gpus / ONE

    def sold(self, offerings: Iterable[Any]) -> InstanceType:
        return InstanceType(self.name, self.capacity, tuple(offerings), self.overhead, self.requirements)


def kinds(cloud: CloudCapacity, region: str) -> dict[str, Kind]:
    """By name. A type of which neither the table nor the file knows CPU and memory is left out."""
    said = {one.name: one for one in cloud.instance_types}
    daemons = amounts(dict(cloud.daemon_requests))
    found = {}
    for name in sorted({*ec2.table(), *said}):
        kind = _kind(name, said.get(name), cloud.node_class.get("kubelet") or {}, region)
        if kind is not None:
            overhead = tuple(sorted(added(kind.overhead, daemons).items()))
            found[name] = kind._replace(overhead=overhead)
    return found


def _kind(name: str, said: Said | None, kubelet: Mapping[str, Any], region: str) -> Kind | None:
    row = ec2.table().get(name)
    most = kubelet.get("maxPods")
    if row is None and (said is None or not {"cpu", MEMORY} <= dict(said.capacity).keys()):
        return None
    if row is None:
        assert said is not None
        pods = {PODS: (most or _USUAL_PODS) * ONE}
        capacity = {**_DISK, **pods, **dict(amounts(dict(said.capacity)))}
        overhead, labels = dict(_DISK_KEPT), _labels(name, capacity, region)
        changed = {"cpu", MEMORY}
    else:
        plain = ec2.instance_type(row, (), region=region or "us-east-1")
        capacity, overhead, labels = dict(plain.capacity), dict(plain.overhead), plain.requirements
        given = dict(amounts(dict(said.capacity))) if said else {}
        changed = {resource for resource, amount in given.items() if _whole(row).get(resource) != amount}
        capacity |= {resource: given[resource] for resource in changed}
    if most is not None and capacity[PODS] != most * ONE:
        capacity[PODS] = most * ONE
        changed.add(PODS)
    _keep(capacity, overhead, changed, row)
    if said is not None:
        labels = _of_architecture(labels, said.architecture)
        for resource, amount in amounts(dict(said.allocatable)):
            capacity[resource] = max(capacity.get(resource, 0), amount)
            overhead[resource] = capacity[resource] - amount
    return Kind(name, tuple(sorted(capacity.items())), tuple(sorted(overhead.items())), labels, said)


def _whole(row: ec2.Ec2Type) -> dict[str, int]:
    """What is printed on the box."""
    return {"cpu": row.cpu * ONE, MEMORY: row.memory * _MI, PODS: row.pods * ONE, ec2.GPU: row.gpus * ONE}


def _keep(capacity: dict[str, int], overhead: dict[str, int], changed: set[str], row: Any) -> None:
    """What of the changed amounts is not for pods."""
    if "cpu" in changed:
        overhead["cpu"] = _kept_cpu(capacity["cpu"] // ONE)
    if MEMORY in changed:
        whole = capacity[MEMORY] // _MI
        capacity[MEMORY] -= -(-whole * 3 // 40) * _MI  # the share that no operating system sees
    if {MEMORY, PODS} & changed or row is None:
        overhead[MEMORY] = _KEPT_EVER + _KEPT_FOR_A_POD * (capacity[PODS] // ONE) + _EVICTION


def _kept_cpu(cores: int) -> int:
    tenths = sum(_CPU_STEPS[:cores]) * 10 + 25 * max(cores - len(_CPU_STEPS), 0)
    return tenths * ONE // 10_000


def _labels(name: str, capacity: Mapping[str, int], region: str) -> tuple[Requirement, ...]:
    """Of a type that is not in the table. A label that is not among them excludes nothing."""
    parts = _NAME.fullmatch(name)
    values = {
        "instance-cpu": str(capacity["cpu"] // ONE),
        "instance-memory": str(capacity[MEMORY] // _MI),
        **({"instance-gpu-count": str(capacity[ec2.GPU] // ONE)} if capacity.get(ec2.GPU) else {}),
    }
    if parts is not None:
        named = ("instance-family", "instance-category", "instance-generation", "instance-size")
        values |= dict(zip(named, parts.groups(), strict=True))
    own = [requirement(f"karpenter.k8s.aws/{key}", IN, (value,)) for key, value in values.items()]
    where = [requirement("topology.kubernetes.io/region", IN, (region,))] if region else []
    return (requirement(ARCH, IN, ("amd64",)), requirement(OS, IN, ("linux",)), *own, *where)


def _of_architecture(labels: tuple[Requirement, ...], architecture: str) -> tuple[Requirement, ...]:
    return tuple(requirement(ARCH, IN, (architecture,)) if one.key == ARCH else one for one in labels)

"""Instance types of a CloudCapacity: the table that comes with Berth, and what the file says instead.

What a machine keeps for itself is computed (`gen.cost.kept`) where nothing says it.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from gen.cloud import CloudCapacity
from gen.cloud import InstanceType as Said
from gen.cost.kept import DISK, Kept, kept, seen
from gen.plan import ec2
from gen.plan.amounts import MEMORY, ONE, PODS, Amounts, added, amounts
from gen.plan.labels import ARCH, OS, RESERVATION_LABELS, WELL_KNOWN
from gen.plan.requirement import DOES_NOT_EXIST, IN, Requirement, requirement
from gen.plan.values import InstanceType

_MI = 2**20 * ONE
_USUAL_PODS = 110 * ONE  # where nothing says how many network interfaces a type has
_NAME = re.compile(r"(([a-z]+)([0-9]+)[a-z-]*)\.(.+)")

_AWS = "karpenter.k8s.aws/"
_GPUS = {ec2.GPU: "nvidia", "amd.com/gpu": "amd", "habana.ai/gaudi": "habana"}
_ACCELERATORS = {"aws.amazon.com/neuron": "aws"}


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

    @property
    def unknown(self) -> frozenset[str]:
        """Labels that a machine may have of which nothing says so: they exclude nothing."""
        return _unknown(self.requirements)

    def sold(self, offerings: Iterable[Any]) -> InstanceType:
        return InstanceType(self.name, self.capacity, tuple(offerings), self.overhead, self.requirements)


def kinds(cloud: CloudCapacity, region: str) -> dict[str, Kind]:
    """By name. A type of which neither the table nor the file knows CPU and memory is left out."""
    said = {one.name: one for one in cloud.instance_types}
    daemons, rest = amounts(dict(cloud.daemon_requests)), kept(cloud)
    found = {}
    for name in sorted({*ec2.table(), *said}):
        kind = _kind(name, said.get(name), rest, region)
        if kind is not None:
            overhead = tuple(sorted(added(kind.overhead, daemons).items()))
            found[name] = kind._replace(overhead=overhead)
    return found


def _kind(name: str, said: Said | None, rest: Kept, region: str) -> Kind | None:
    row = ec2.table().get(name)
    given = dict(amounts(dict(said.capacity))) if said else {}
    if row is None and not {"cpu", MEMORY} <= given.keys():
        return None
    capacity = {
        DISK: rest.disk(row.nvme if row else 0),
        PODS: _USUAL_PODS,
        **(_whole(row) if row else {}),
        **given,
    }
    capacity[PODS] = rest.pods(capacity[PODS], capacity["cpu"])
    if row is None:
        labels = _labels(name, capacity, region)
    else:
        labels = ec2.instance_type(row, (), region=region or "us-east-1").requirements
    if said is not None:
        labels = _of_architecture(labels, said.architecture)
    capacity[MEMORY] = seen(capacity[MEMORY], said.architecture if said else "")
    overhead = rest.overhead(capacity)
    for resource, amount in amounts(dict(said.allocatable)) if said else ():
        capacity[resource] = max(capacity.get(resource, 0), amount)
        overhead[resource] = capacity[resource] - amount
    return Kind(name, tuple(sorted(capacity.items())), tuple(sorted(overhead.items())), labels, said)


@lru_cache(maxsize=512)
def _unknown(requirements: tuple[Requirement, ...]) -> frozenset[str]:
    return WELL_KNOWN.difference(RESERVATION_LABELS, (one.key for one in requirements))


def _whole(row: ec2.Ec2Type) -> dict[str, int]:
    """What is printed on the box."""
    gpus = {ec2.GPU: row.gpus * ONE} if row.gpus else {}
    return {"cpu": row.cpu * ONE, MEMORY: row.memory * _MI, PODS: row.pods * ONE, **gpus}


def _labels(name: str, capacity: Mapping[str, int], region: str) -> tuple[Requirement, ...]:
    """Of a type that is not in the table. A label that is not among them excludes nothing."""
    parts = _NAME.fullmatch(name)
    values = {"instance-cpu": str(capacity["cpu"] // ONE), "instance-memory": str(capacity[MEMORY] // _MI)}
    if parts is not None:
        named = ("instance-family", "instance-category", "instance-generation", "instance-size")
        values |= dict(zip(named, parts.groups(), strict=True))
    own = [requirement(_AWS + key, IN, (value,)) for key, value in values.items()]
    own += [*_counted("gpu", _GPUS, capacity), *_counted("accelerator", _ACCELERATORS, capacity)]
    where = [requirement("topology.kubernetes.io/region", IN, (region,))] if region else []
    return (requirement(ARCH, IN, ("amd64",)), requirement(OS, IN, ("linux",)), *own, *where)


def _counted(what: str, makers: Mapping[str, str], capacity: Mapping[str, int]) -> Iterable[Requirement]:
    """Labels of GPUs or of accelerators: who has none has none of them. `makers`: by resource."""
    there = {resource: capacity[resource] for resource in makers if capacity.get(resource)}
    if not there:
        for part in ("name", "manufacturer", "count", *(["memory"] if what == "gpu" else [])):
            yield requirement(f"{_AWS}instance-{what}-{part}", DOES_NOT_EXIST)
    if len(there) == 1:
        ((resource, count),) = there.items()
        yield requirement(f"{_AWS}instance-{what}-manufacturer", IN, (makers[resource],))
        yield requirement(f"{_AWS}instance-{what}-count", IN, (str(count // ONE),))


def _of_architecture(labels: tuple[Requirement, ...], architecture: str) -> tuple[Requirement, ...]:
    return tuple(requirement(ARCH, IN, (architecture,)) if one.key == ARCH else one for one in labels)

"""The table of common EC2 types as values, and instance types made of them as the AWS provider makes them."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from gen.plan.amounts import ONE, PODS, Amounts
from gen.plan.ec2table import FAMILIES, TABLE
from gen.plan.labels import ARCH, OS, REGION, SPOT
from gen.plan.requirement import DOES_NOT_EXIST, IN, Requirement, requirement
from gen.plan.values import InstanceType, Offering, on_demand

GPU = "nvidia.com/gpu"
_MI = 2**20
_GI = 2**30
_DISK, _DISK_FOR_PODS = 20 * _GI, 17 * _GI
_VM_TAKES = (3, 40)  # 7.5 % of a machine's memory, which its operating system never sees
_NAME = re.compile(r"([a-z]+)([0-9]+)[a-z-]*\.")
_AWS = "karpenter.k8s.aws/"
_WITHOUT = (
    "instance-accelerator-name",
    "instance-accelerator-manufacturer",
    "instance-accelerator-count",
)


class Ec2Type(NamedTuple):
    """One row of the table. Sizes in MiB and GB as AWS writes them, `price` on demand in dollars an hour."""

    name: str
    cpu: int
    memory: int
    pods: int
    gpus: int
    nvme: int
    price: float
    cpu_for_pods: int  # thousandths of a core
    memory_for_pods: int  # MiB

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]


@lru_cache(maxsize=1)
def table() -> dict[str, Ec2Type]:
    """By name."""
    rows = [line.split() for line in TABLE.split("\n") if line]
    return {row[0]: _row(row) for row in rows}


def instance_type(
    row: Ec2Type,
    zones: Sequence[str],
    spot_price: float | None = None,
    reservations: Iterable[Offering] = (),
    region: str = "us-east-1",
) -> InstanceType:
    """Offered on demand in each zone, as spot too where a price is known, and from `reservations`
    (`gen.plan.values.reserved`).

    Its labels are those of the table: a requirement on another one, such as network bandwidth, excludes
    nothing.
    """
    spots = () if spot_price is None else tuple(Offering(SPOT, zone, spot_price) for zone in zones)
    offerings = (*on_demand(tuple(zones), row.price), *spots, *reservations)
    capacity, overhead = _resources(row)
    where = requirement(REGION, IN, (region,))
    return InstanceType(row.name, capacity, offerings, overhead, (*_labels(row), where))


def _row(row: Sequence[str]) -> Ec2Type:
    cpu, memory, pods, gpus, nvme = (int(text) for text in row[1:6])
    return Ec2Type(row[0], cpu, memory, pods, gpus, nvme, float(row[6]), int(row[7]), int(row[8]))


def _resources(row: Ec2Type) -> tuple[Amounts, Amounts]:
    """Capacity as Karpenter expects it, and what of it is not for pods."""
    part, whole = _VM_TAKES
    memory = row.memory + (-row.memory * part // whole)
    capacity = {
        "cpu": row.cpu * ONE,
        "ephemeral-storage": _DISK * ONE,
        "memory": memory * _MI * ONE,
        PODS: row.pods * ONE,
    }
    if row.gpus:
        capacity[GPU] = row.gpus * ONE
    overhead = {
        "cpu": row.cpu * ONE - row.cpu_for_pods * ONE // 1000,
        "ephemeral-storage": (_DISK - _DISK_FOR_PODS) * ONE,
        "memory": (memory - row.memory_for_pods) * _MI * ONE,
    }
    return tuple(sorted(capacity.items())), tuple(sorted(overhead.items()))


def _labels(row: Ec2Type) -> list[Requirement]:
    parts = _NAME.match(row.name)
    assert parts is not None
    maker, *gpu = FAMILIES[row.family]
    name, memory = gpu or (None, None)
    values = {
        "instance-category": parts[1],
        "instance-generation": parts[2],
        "instance-family": row.family,
        "instance-size": row.name.partition(".")[2],
        "instance-cpu": str(row.cpu),
        "instance-cpu-manufacturer": maker,
        "instance-memory": str(row.memory),
        "instance-hypervisor": "nitro",
        "instance-capability-flex": "false",
        "instance-local-nvme": str(row.nvme) if row.nvme else None,
        "instance-gpu-name": name,
        "instance-gpu-manufacturer": "nvidia" if row.gpus else None,
        "instance-gpu-count": str(row.gpus) if row.gpus else None,
        "instance-gpu-memory": memory,
        **dict.fromkeys(_WITHOUT),
    }
    own = [requirement(ARCH, IN, ("amd64",)), requirement(OS, IN, ("linux",))]
    return own + [
        requirement(_AWS + key, DOES_NOT_EXIST) if value is None else requirement(_AWS + key, IN, (value,))
        for key, value in values.items()
    ]

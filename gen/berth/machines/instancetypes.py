"""Instance types and their offerings, the labels of their nodes, and the EC2 types of the built-in table."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from berth import quantity
from berth.machines.nodelabels import (
    ARCH,
    AWS,
    CAPACITY_TYPE,
    DOES_NOT_EXIST,
    IN,
    INSTANCE_TYPE,
    OS,
    REGION,
    RESERVATION_LABELS,
    RESERVED,
    ZONE,
    Requirement,
    Requirements,
    requirement,
    requirements_of_labels,
)

ResourceList = tuple[tuple[str, int], ...]
"""(resource, billionths of its unit: cores, bytes, pieces), sorted by name. A missing resource is 0."""

ONE = quantity.NANO
PODS = "pods"
NODES = "nodes"
MEMORY = "memory"
VOLUMES = "attachable-volumes"  # of sessions; not a resource of pods, but a node takes only so many
_HUGE_PAGES = "hugepages-"


def parse_resources(texts: Mapping[str, str]) -> ResourceList:
    """Parse Kubernetes quantities: `{"cpu": "500m", "memory": "4Gi"}`. Raise ValueError if invalid."""
    parsed = {name: quantity.parse(text) for name, text in texts.items()}
    wrong = [name for name, value in parsed.items() if value is None]
    if wrong:
        raise ValueError(f"no quantity: {wrong[0]}={texts[wrong[0]]!r}")
    return tuple(sorted((name, value) for name, value in parsed.items() if value is not None))


def sum_resources(*several: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Add resource lists."""
    total: dict[str, int] = {}
    for one in several:
        for name, value in one:
            total[name] = total.get(name, 0) + value
    return total


def allocatable(capacity: Iterable[tuple[str, int]], overhead: ResourceList) -> dict[str, int]:
    """Return what pods may use: capacity less overhead, with huge pages taken out of memory."""
    whole = dict(capacity)
    rest = {name: value - dict(overhead).get(name, 0) for name, value in whole.items()}
    for name, value in whole.items():
        if name.startswith(_HUGE_PAGES):
            rest[MEMORY] = max(rest.get(MEMORY, 0) - value, 0)
    return rest


class Offering(NamedTuple):
    """One way to buy an instance type. Use `reserved_offering` for a capacity reservation."""

    capacity_type: str  # reserved | on-demand | spot
    zone: str
    price: float
    reservation: str = ""  # its id; only with capacity type `reserved`
    count: int = 0  # type: ignore[assignment] # machines of the reservation that are free
    kind: str = "default"  # default | capacity-block


class InstanceType(NamedTuple):
    """An instance type with its offerings.

    `requirements` are its labels besides its name and those of its offerings (zone, capacity type,
    reservation): a value for each label that its nodes have, DoesNotExist for one that they do not have.
    """

    name: str
    capacity: ResourceList  # with pods
    offerings: tuple[Offering, ...]
    overhead: ResourceList = ()
    requirements: tuple[Requirement, ...] = ()


def reserved_offering(
    reservation: str, zone: str, price: float, count: int, kind: str = "default"
) -> Offering:
    """Return the offering of a capacity reservation as the AWS provider makes it.

    Its price is a tiny part of the on-demand `price`, so it is the cheapest and keeps the order of types.
    It is on offer also while no instance is free. `kind` is default or capacity-block.
    """
    return Offering(RESERVED, zone, price / 10_000_000, reservation, count, kind)


@lru_cache(maxsize=4096)
def offering_requirements(offering: Offering) -> Requirements:
    """Return the labels that a node gets from an offering."""
    asked = [requirement(CAPACITY_TYPE, IN, (offering.capacity_type,))]
    if offering.zone:
        asked.append(requirement(ZONE, IN, (offering.zone,)))
    if offering.capacity_type == RESERVED:
        for key, value in zip(RESERVATION_LABELS, _reservation(offering), strict=True):
            asked.append(requirement(key, IN, (value,)))
    else:
        asked += [requirement(key, DOES_NOT_EXIST) for key in RESERVATION_LABELS]
    return Requirements(asked)


@lru_cache(maxsize=4096)
def type_requirements(one: InstanceType) -> Requirements:
    """Return the labels of all offerings of a type together."""
    bought = [offering for offering in one.offerings if offering.capacity_type == RESERVED]
    asked: list[Requirement] = [
        requirement(INSTANCE_TYPE, IN, (one.name,)),
        requirement(CAPACITY_TYPE, IN, (offering.capacity_type for offering in one.offerings)),
        requirement(ZONE, IN, (offering.zone for offering in one.offerings)),
    ]
    for number, key in enumerate(RESERVATION_LABELS):
        values = tuple(_reservation(offering)[number] for offering in bought)
        asked.append(requirement(key, IN, values) if values else requirement(key, DOES_NOT_EXIST))
    explicit = {own.key for own in one.requirements}
    return Requirements((*(a for a in asked if a.key not in explicit), *one.requirements))


def _reservation(offering: Offering) -> tuple[str, str, str]:
    return offering.reservation, offering.kind, "false"


PRICES_DATE = "2026-01-19"
GPU = "nvidia.com/gpu"
_TYPE_NAME = re.compile(r"(([a-z]+)([0-9]+)[a-z-]*)\.(.+)", re.ASCII)
_REGION = re.compile(r"[a-z]+(-[a-z]+)+-[0-9]+", re.ASCII)
_ABSENT_LABELS = (
    "instance-accelerator-name",
    "instance-accelerator-manufacturer",
    "instance-accelerator-count",
)


class Ec2Type(NamedTuple):
    """A row of the table: memory in MiB, disks in GB as AWS writes them, the price in dollars an hour."""

    name: str
    cpu: int
    memory: int
    pods: int
    gpus: int
    nvme: int
    price: float

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]


@lru_cache(maxsize=1)
def ec2_table() -> tuple[dict[str, tuple[str, ...]], dict[str, Ec2Type]]:
    """Return the families and the types of the table by name."""
    text = Path(__file__).with_name("ec2types.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.split("\n") if line and not line.startswith("#")]
    types = {row[0]: _row(row) for row in rows if "." in row[0]}
    return {row[0]: tuple(row[1:]) for row in rows if row[0] not in types}, types


def ec2_types() -> dict[str, Ec2Type]:
    """Return the types of the table by name."""
    return ec2_table()[1]


def _row(row: Sequence[str]) -> Ec2Type:
    cpu, memory, pods, gpus, nvme = (int(text) for text in row[1:6])
    return Ec2Type(row[0], cpu, memory, pods, gpus, nvme, float(row[6]))


def name_labels(name: str) -> dict[str, str]:
    """Return the labels that follow from the name of a type."""
    parts = _TYPE_NAME.fullmatch(name)
    named = ("instance-family", "instance-category", "instance-generation", "instance-size")
    return {AWS + key: value for key, value in zip(named, parts.groups(), strict=True)} if parts else {}


def region_of(zone: str) -> str:
    """Return the region of a zone of AWS; empty if it is none."""
    match = _REGION.match(zone)
    return match[0] if match else ""


def ec2_labels(row: Ec2Type, region: str) -> tuple[Requirement, ...]:
    """Return the labels of a type of the table. A requirement on any other label excludes nothing."""
    maker, *gpu = ec2_table()[0][row.family]
    name, memory = gpu or (None, None)
    values = {
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
        **dict.fromkeys(_ABSENT_LABELS),
    }
    own = {ARCH: "amd64", OS: "linux", **name_labels(row.name), REGION: region}
    return requirements_of_labels(own.items()) + tuple(
        requirement(AWS + key, DOES_NOT_EXIST if value is None else IN, () if value is None else (value,))
        for key, value in values.items()
    )

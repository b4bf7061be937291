"""The catalog of a cluster: the node pools and reservations that may be used at a moment, and what nodes
cost.

A capacity reservation is one thing, however many CloudCapacities name it. One without an id is identified
by its selector.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

from berth.checks.cloudmatching import parse_requirements, parse_taints
from berth.machines.estimate import NodePool
from berth.machines.instancetypes import (
    GPU,
    MEMORY,
    ONE,
    PODS,
    PRICES_DATE,
    VOLUMES,
    Ec2Type,
    InstanceType,
    Offering,
    ec2_labels,
    ec2_types,
    name_labels,
    parse_resources,
    region_of,
    reserved_offering,
    sum_resources,
)
from berth.machines.nodelabels import (
    ARCH,
    AWS,
    CAPACITY_TYPE,
    DOES_NOT_EXIST,
    IN,
    ON_DEMAND,
    OS,
    REGION,
    RESERVATION_LABELS,
    RESERVED,
    SPOT,
    WELL_KNOWN,
    ZONE,
    Requirement,
    requirement,
    requirements_of_labels,
)
from berth.manifests import naming
from berth.quantity import parse, text
from berth.schema.cloudcapacity import (
    CloudCapacity,
    GenericCapacity,
    InstanceTypeSpec,
    MachineReservation,
    NodeShapeSpec,
)
from berth.schema.cloudgrammar import GENERIC
from berth.schema.nodeclass import BlockDevice, Kubelet, NodeClass
from berth.schema.nodepoolparts import Budget, Disruption, PoolRequirement

DISK = "ephemeral-storage"
_MI, _GI = 2**20 * ONE, 2**30 * ONE
_KUBELET_MEMORY, _KUBELET_MEMORY_PER_POD, _KUBELET_DISK = 255 * _MI, 11 * _MI, 1 * _GI
_EVICTION_MEMORY = 100 * _MI
_KUBELET_CPU = (60, 10, 5, 5)  # thousandths of the first four cores that a kubelet keeps
_ARM_RESERVED_MEMORY = 64 * _MI  # of the memory of ARM machines, which their kernel keeps
_VOLUME, _WINDOWS_VOLUME = 20 * _GI, 50 * _GI
_BOTTLEROCKET = "Bottlerocket"
_UNCOUNTED = 10**6  # volumes of a node where nobody says how many it takes
_DEFAULT_PODS = 110 * ONE  # where nothing says how many addresses a type has, and on Windows


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


_GPUS = {GPU: "nvidia", "amd.com/gpu": "amd", "habana.ai/gaudi": "habana"}
_ACCELERATORS = {"aws.amazon.com/neuron": "aws"}


def declared_types(cloud: CloudCapacity, region: str) -> dict[str, InstanceType]:
    """Return the types by name, without offerings, and without those whose CPU and memory are not known."""
    said = {one.name: one for one in cloud.instance_types}
    sold = () if cloud.provider == GENERIC else ec2_types()
    found = [_declared_type(cloud, name, said.get(name), region) for name in sorted({*sold, *said})]
    return {kind.name: kind for kind in found if kind is not None}


def _declared_type(
    cloud: CloudCapacity, name: str, said: InstanceTypeSpec | None, region: str
) -> InstanceType | None:
    row, node_class = ec2_types().get(name), cloud.node_class
    given = dict(parse_resources(dict(said.capacity))) if said else {}
    if row is None and not {"cpu", MEMORY} <= given.keys():
        return None
    has_raid = node_class.instance_store_policy == "RAID0" and row is not None and row.nvme
    devices = node_class.block_device_mappings or ()
    capacity = {
        DISK: row.nvme * 10**9 * ONE if row and has_raid else _volume(devices, node_class.family),
        PODS: _DEFAULT_PODS,
        **(_nominal_capacity(row) if row else {}),
        **given,
    }
    addresses = capacity[PODS]
    capacity[PODS] = _pods(node_class, addresses, capacity["cpu"])
    labels = ec2_labels(row, region or PRICED_REGION) if row else _labels(name, capacity, region)
    if said is not None:
        sold = requirement(ARCH, IN, (said.sold_architecture,))
        labels = tuple(sold if label.key == ARCH else label for label in labels)
    capacity[MEMORY] = usable_memory(capacity[MEMORY], said.sold_architecture if said else "")
    overhead = _overhead(node_class, capacity, addresses)
    for resource, amount in parse_resources(dict(said.allocatable)) if said else ():
        capacity[resource] = max(capacity.get(resource, 0), amount)
        overhead[resource] = capacity[resource] - amount
    capacity[VOLUMES] = (cloud.volumes_per_node or _UNCOUNTED) * ONE
    kept = sum_resources(overhead.items(), parse_resources(cloud.daemon_requests))
    return InstanceType(name, tuple(sorted(capacity.items())), (), tuple(sorted(kept.items())), labels)


def _pods(node_class: NodeClass, addresses: int, cpu: int) -> int:
    """Return how many pods a node takes. `addresses`: of the type's network interfaces. In billionths."""
    kubelet, family = node_class.kubelet or Kubelet.model_construct(), node_class.family
    most = _DEFAULT_PODS if family.startswith("Windows") else addresses
    if kubelet.max_pods is not None:
        most = kubelet.max_pods * ONE
    each = 0 if family == _BOTTLEROCKET else kubelet.pods_per_core or 0
    return min(each * (cpu // ONE) * ONE, most) if each else most


def _overhead(node_class: NodeClass, capacity: Mapping[str, int], addresses: int) -> dict[str, int]:
    """Return what kubelet, system and eviction thresholds reserve.

    The kubelet of most families keeps memory for a pod per address, however many pods the node takes.
    """
    kubelet, family = node_class.kubelet or Kubelet.model_construct(), node_class.family
    by_pods = family.startswith("Windows") or family == _BOTTLEROCKET
    pods = (capacity[PODS] if by_pods else addresses) // ONE
    cores = capacity["cpu"] // ONE
    tenths = sum(_KUBELET_CPU[:cores]) * 10 + 25 * max(cores - len(_KUBELET_CPU), 0)  # of a millicore
    reserved = {
        "cpu": tenths * ONE // 10_000,
        MEMORY: _KUBELET_MEMORY + _KUBELET_MEMORY_PER_POD * pods,
        DISK: _KUBELET_DISK,
        **dict(parse_resources(kubelet.kube_reserved or {})),
    }
    hard = kubelet.eviction_hard or {}
    evicted = {
        MEMORY: _threshold(hard.get("memory.available"), capacity[MEMORY], _EVICTION_MEMORY),
        DISK: _threshold(hard.get("nodefs.available", "10%"), capacity[DISK], 0),
    }
    system = parse_resources(kubelet.system_reserved or {})
    total = sum_resources(reserved.items(), system, evicted.items())
    return {name: value for name, value in total.items() if name in capacity}


def undefined_labels(kind: InstanceType) -> frozenset[str]:
    """Return the labels that a node may have but that nothing defines; they exclude nothing."""
    return WELL_KNOWN.difference(RESERVATION_LABELS, (one.key for one in kind.requirements))


def _nominal_capacity(row: Ec2Type) -> dict[str, int]:
    """Return the nominal capacity of a type of the table."""
    gpus = {GPU: row.gpus * ONE} if row.gpus else {}
    return {"cpu": row.cpu * ONE, MEMORY: row.memory * _MI, PODS: row.pods * ONE, **gpus}


def _labels(name: str, capacity: Mapping[str, int], region: str) -> tuple[Requirement, ...]:
    """Return the labels of a type that is not in the table. Other labels exclude nothing."""
    known = name_labels(name)
    known[f"{AWS}instance-cpu"] = str(capacity["cpu"] // ONE)
    known[f"{AWS}instance-memory"] = str(capacity[MEMORY] // _MI)
    own = [*requirements_of_labels(known.items())]
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


_UNNEEDED = "10m"  # scale-down-unneeded-time
_HEAVIEST = 100
_NODE_CLASS = NodeClass.model_construct()
_DISRUPTION = Disruption.model_construct(
    consolidate_after=_UNNEEDED, budgets=(Budget.model_construct(nodes="100%"),)
)


def shape_names(capacity: GenericCapacity) -> list[str]:
    """Return the names of its shapes in a plan."""
    return [f"{capacity.name}/{shape.name}" for shape in capacity.nodes]


def document_name(name: str) -> str:
    """Return the name of the CloudCapacity document of a capacity in a plan."""
    return name.partition("/")[0]


def as_clouds(capacities: Iterable[GenericCapacity]) -> Iterator[CloudCapacity]:
    """Yield a capacity for each shape."""
    for capacity in capacities:
        for place, (name, shape) in enumerate(zip(shape_names(capacity), capacity.nodes, strict=True)):
            yield _cloud(capacity, name, shape, max(_HEAVIEST - place, 1))


def _cloud(one: GenericCapacity, name: str, shape: NodeShapeSpec, weight: int) -> CloudCapacity:
    cpu = parse(shape.allocatable["cpu"]) or 0
    zones = PoolRequirement.model_construct(key=ZONE, operator="In", values=shape.zones)
    return CloudCapacity.model_construct(
        origin=one.origin,
        name=name,
        cluster=one.cluster,
        provider=GENERIC,
        node_class=_NODE_CLASS,
        capacity_types=("on-demand",),
        requirements=(zones,) if shape.zones else (),
        weight=weight,
        # All nodes of a pool have one type, so that its limit of cores is one of nodes.
        limits={} if shape.max_count is None else {"cpu": text(cpu * shape.max_count)},
        taints=shape.taints,
        labels=shape.labels,
        expire_after="Never",
        disruption=_DISRUPTION,
        instance_types=(
            InstanceTypeSpec.model_construct(
                name=shape.name,
                gpus=shape.allocatable,
                pods=shape.pods,
                zones=shape.zones,
                architecture=shape.labels.get(ARCH, "amd64"),
                on_demand_price=shape.hourly_price,
                allocatable={**shape.allocatable, "pods": str(shape.pods)},
            ),
        ),
        daemon_requests=one.daemon_requests,
        node_start_minutes=one.node_start_minutes,
        image_pull_minutes=one.image_pull_minutes,
        volumes_per_node=shape.volumes,
    )


PRICED_REGION = "us-east-1"
PRICE_TABLE = f"on-demand prices of {PRICED_REGION} of {PRICES_DATE}"
_SPOT_SHARE = 0.4  # of the on-demand price: orders spot of which no price is known


class MachineKind(NamedTuple):
    """What a machine is and how it is paid. `reserved` is the key of its reservation, if any."""

    capacity: str  # name of the CloudCapacity
    type: str
    zone: str  # empty where nothing says it
    capacity_type: str  # reserved | on-demand | spot
    reserved: str


class ReservedMachines(NamedTuple):
    """A capacity reservation, which is paid for in advance, and the CloudCapacities that use it."""

    key: str
    capacities: tuple[str, ...]
    reservation: MachineReservation

    @property
    def last(self) -> int | None:
        """The last instant at which its instances may be used, or None."""
        return self.reservation.last_safe

    def at(self, now: int) -> bool:
        """Tell whether its instances exist now."""
        return self.reservation.there(now)

    def together(self, other: "ReservedMachines") -> "ReservedMachines":
        """Return the same reservation with the capacities of both, and the least count."""
        least = min(self.reservation, other.reservation, key=lambda machines: machines.count)
        return ReservedMachines(self.key, (*self.capacities, *other.capacities), least)


class CapacityCatalog:
    """Everything that the CloudCapacities of one cluster offer."""

    def __init__(
        self,
        clouds: Sequence[CloudCapacity],
        site: str,
        *,
        gate: bool = True,
        zones: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> None:
        """Build the catalog of the site named `site`.

        `gate` is ReservedCapacity, without which Karpenter uses no reservations. `zones` are, by
        CloudCapacity, those that its seats name; only where the zone matters to any of them.
        """
        self.clouds = {cloud.name: cloud for cloud in clouds}
        self.pools = {cloud.name: naming.node_pool(site, cloud.name) for cloud in clouds}
        self.capacities = {pool: name for name, pool in self.pools.items()}
        self.reserved = _reserved(clouds)
        self._zones = {
            cloud.name: _catalog_zones(cloud, zones.get(cloud.name, frozenset())) for cloud in clouds
        }
        self.regions = {name: region_of(mine[0]) for name, mine in self._zones.items()}
        self.assumed = {
            name: tuple(zone for zone in self._zones[name] if zone)
            for name, cloud in self.clouds.items()
            if name in zones and not _required_zones(cloud)
        }
        """Zones that are taken for all there are where nothing says them, though it matters to seats."""
        self._gate = gate
        self._sold = {(cloud.name, one.name): one for cloud in clouds for one in cloud.instance_types}
        self._types_by_capacity = {
            cloud.name: declared_types(cloud, self.regions[cloud.name]) for cloud in clouds
        }

    def pool(self, name: str, free: Mapping[str, int]) -> NodePool:
        """Return the node pool of a CloudCapacity. `free` counts the instances left of each active
        reservation.
        """
        cloud = self.clouds[name]
        return NodePool(
            self.pools[name],
            (requirement(CAPACITY_TYPE, IN, cloud.capacity_types), *parse_requirements(cloud.requirements)),
            tuple(cloud.labels.items()),
            parse_taints(cloud.taints),
            cloud.weight or 0,
            parse_resources(cloud.limits),
            types=tuple(self._types(cloud, free)),
        )

    def declared_type(self, capacity: str, name: str) -> InstanceType:
        """Return an instance type of a CloudCapacity."""
        return self._types_by_capacity[capacity][name]

    def unknown_types(self) -> Iterator[tuple[str, str]]:
        """Yield each capacity with a type of its reservations whose size is not known; it is left out."""
        for cloud in self.clouds.values():
            reserved = {reservation.instance_type for reservation in cloud.reservations}
            for kind in sorted(reserved - self._types_by_capacity[cloud.name].keys()):
                yield cloud.name, kind

    def price(self, kind: MachineKind) -> Decimal | None:
        """Return the price of an hour, besides what is paid in advance, or None if it is not known."""
        if kind.capacity_type == RESERVED:
            return Decimal(0)
        said = self._sold.get((kind.capacity, kind.type))
        if kind.capacity_type == SPOT:
            return said.spot_price if said else None
        if said is not None and said.on_demand_price is not None:
            return said.on_demand_price
        row = ec2_types().get(kind.type)
        if row is None or self.regions[kind.capacity] not in ("", PRICED_REGION):
            return None
        return Decimal(repr(row.price))

    def from_table(self, kind: MachineKind) -> bool:
        """Tell whether the price is from the built-in table."""
        said = self._sold.get((kind.capacity, kind.type))
        own = said is not None and said.on_demand_price is not None
        return kind.capacity_type == ON_DEMAND and not own and self.price(kind) is not None

    def _types(self, cloud: CloudCapacity, free: Mapping[str, int]) -> list[InstanceType]:
        return [
            kind._replace(offerings=tuple(self._offerings(cloud, kind, free)))
            for kind in self._types_by_capacity[cloud.name].values()
        ]

    def _offerings(
        self, cloud: CloudCapacity, kind: InstanceType, free: Mapping[str, int]
    ) -> Iterator[Offering]:
        said = self._sold.get((cloud.name, kind.name))
        price = _price_order(kind, said)
        spot = said.spot_price if said else None
        prices = {ON_DEMAND: price, SPOT: price * _SPOT_SHARE if spot is None else float(spot)}
        for capacity_type, cost in prices.items():
            if capacity_type in cloud.capacity_types:
                for zone in (said.zones if said else ()) or self._zones[cloud.name]:
                    yield Offering(capacity_type, zone, cost)
        for reservation in cloud.reservations if self._gate and RESERVED in cloud.capacity_types else ():
            if reservation.instance_type == kind.name and reservation.key in free:
                yield reserved_offering(
                    reservation.key, reservation.zone, price, free[reservation.key], reservation.type
                )


def _reserved(clouds: Sequence[CloudCapacity]) -> dict[str, ReservedMachines]:
    """Return the reservations by key, in the order of the files."""
    found: dict[str, ReservedMachines] = {}
    for cloud in clouds:
        for reservation in cloud.reservations:
            own = ReservedMachines(reservation.key, (cloud.name,), reservation)
            found[own.key] = found[own.key].together(own) if own.key in found else own
    return found


def _price_order(kind: InstanceType, said: InstanceTypeSpec | None) -> float:
    """Return the price by which Karpenter prefers one type to another; by size where none is known."""
    if said is not None and said.on_demand_price is not None:
        return float(said.on_demand_price)
    if row := ec2_types().get(kind.name):
        return row.price
    has = dict(kind.capacity)
    gpus = sum(value for name, value in has.items() if "gpu" in name)
    return has.get("cpu", 0) / ONE * 0.03 + has.get(MEMORY, 0) / _MI / 1024 * 0.005 + gpus / ONE


def _catalog_zones(cloud: CloudCapacity, named: frozenset[str]) -> tuple[str, ...]:
    """Return the zones that the requirements name, or else all that are mentioned, `named` by seats
    included.

    The empty string stands for no known zone.
    """
    said = {reservation.zone for reservation in cloud.reservations} | {
        z for instance_type_ in cloud.instance_types for z in instance_type_.zones
    }
    return tuple(sorted(_required_zones(cloud) or said | named)) or ("",)


def _required_zones(cloud: CloudCapacity) -> set[str]:
    """Return the zones that the requirements name."""
    asked = [one for one in parse_requirements(cloud.requirements) if one.key == ZONE and not one.complement]
    return {zone for one in asked for zone in one.values}

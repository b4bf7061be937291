"""The catalog of a cluster: the node pools and reservations that may be used at a moment, and what nodes
cost.

A capacity reservation is one thing, however many CloudCapacities name it. One without an id is identified
by its selector.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

from berth.karpenter import instancetypes
from berth.karpenter.instancetypes import PRICES_DATE, InstanceType, Offering, reserved_offering
from berth.karpenter.nodelabels import CAPACITY_TYPE, ON_DEMAND, RESERVED, SPOT, ZONE
from berth.karpenter.requirements import IN, parse_requirements, requirement
from berth.karpenter.resourcelists import parse_resources
from berth.karpenter.taints import parse_taints
from berth.machines.nodetypes import DeclaredType, declared_types
from berth.machines.question import NodePool
from berth.machines.results import MachineKind
from berth.manifests import naming
from berth.schema.cloudmachines import MachineReservation
from berth.schema.cloudvalues import CloudCapacity

PRICED_REGION = "us-east-1"
PRICE_TABLE = f"on-demand prices of {PRICED_REGION} of {PRICES_DATE}"
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d+")
_SPOT_SHARE = 0.4  # of the on-demand price: orders spot of which no price is known


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


class CapacityCatalog:
    """Everything that the CloudCapacities of one cluster offer."""

    def __init__(
        self,
        clouds: Sequence[CloudCapacity],
        site: str,
        *,
        gate: bool = True,
        offers_full: bool = False,
        zones: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> None:
        """Build the catalog of the site named `site`.

        `gate` is ReservedCapacity, without which Karpenter uses no reservations. `offers_full` is as in
        `Question`. `zones` are, by CloudCapacity, those that its seats name; only where the zone
        matters to any of them.
        """
        self.offers_full = offers_full
        self.clouds = {cloud.name: cloud for cloud in clouds}
        self.pools = {cloud.name: naming.node_pool(site, cloud.name) for cloud in clouds}
        self.capacities = {pool: name for name, pool in self.pools.items()}
        self.reserved = _reserved(clouds)
        self._zones = {
            cloud.name: _catalog_zones(cloud, zones.get(cloud.name, frozenset())) for cloud in clouds
        }
        self.regions = {name: _region(mine[0]) for name, mine in self._zones.items()}
        self.assumed = {
            name: tuple(zone for zone in self._zones[name] if zone)
            for name, cloud in self.clouds.items()
            if name in zones and not _required_zones(cloud)
        }
        """Zones that are taken for all there are where nothing says them, though it matters to seats."""
        self._gate = gate
        self._types_by_capacity = {
            cloud.name: declared_types(cloud, self.regions[cloud.name]) for cloud in clouds
        }
        self._pools: dict[tuple[str, tuple[tuple[str, int], ...]], NodePool] = {}

    def pool(self, name: str, free: Mapping[str, int]) -> NodePool:
        """Return the node pool of a CloudCapacity. `free` counts the instances left of each active
        reservation.
        """
        cloud = self.clouds[name]
        mine = tuple((key, free[key]) for key in self._keys(cloud) if key in free)
        if (name, mine) not in self._pools:
            self._pools[name, mine] = NodePool(
                self.pools[name],
                (
                    requirement(CAPACITY_TYPE, IN, cloud.capacity_types),
                    *parse_requirements(cloud.requirements),
                ),
                cloud.labels,
                parse_taints(cloud.taints),
                cloud.weight or 0,
                parse_resources(dict(cloud.limits)),
                types=tuple(self._types(cloud, dict(mine))),
            )
        return self._pools[name, mine]

    def declared_type(self, capacity: str, name: str) -> DeclaredType:
        """Return an instance type of a CloudCapacity."""
        return self._types_by_capacity[capacity][name]

    def unknown_types(self, capacity: str) -> list[str]:
        """Return the types of its reservations whose size is not known; these are left out."""
        known = self._types_by_capacity[capacity]
        said = (reservation.instance_type for reservation in self.clouds[capacity].reservations)
        return sorted({name for name in said if name not in known})

    def price(self, kind: MachineKind) -> Decimal | None:
        """Return the price of an hour, besides what is paid in advance, or None if it is not known."""
        if kind.capacity_type == RESERVED:
            return Decimal(0)
        said = self._types_by_capacity[kind.capacity][kind.type].declared
        if kind.capacity_type == SPOT:
            return said.spot if said else None
        if said is not None and said.on_demand is not None:
            return said.on_demand
        row = instancetypes.ec2_types().get(kind.type)
        if row is None or self.regions[kind.capacity] not in ("", PRICED_REGION):
            return None
        return Decimal(repr(row.price))

    def from_table(self, kind: MachineKind) -> bool:
        """Tell whether the price is from the built-in table."""
        said = self._types_by_capacity[kind.capacity][kind.type].declared
        own = said is not None and said.on_demand is not None
        return kind.capacity_type == ON_DEMAND and not own and self.price(kind) is not None

    def _keys(self, cloud: CloudCapacity) -> list[str]:
        return [reservation.key for reservation in cloud.reservations] if self._gate else []

    def _types(self, cloud: CloudCapacity, free: Mapping[str, int]) -> list[InstanceType]:
        return [
            declared_type.with_offerings(self._offerings(cloud, declared_type, free))
            for declared_type in self._types_by_capacity[cloud.name].values()
        ]

    def _offerings(
        self, cloud: CloudCapacity, declared_type: DeclaredType, free: Mapping[str, int]
    ) -> list[Offering]:
        price = _price_order(declared_type)
        zones = (declared_type.declared.zones if declared_type.declared else ()) or self._zones[cloud.name]
        offerings: list[Offering] = []
        if ON_DEMAND in cloud.capacity_types:
            offerings += [Offering(ON_DEMAND, zone, price) for zone in zones]
        if SPOT in cloud.capacity_types:
            said = declared_type.declared.spot if declared_type.declared else None
            cost = price * _SPOT_SHARE if said is None else float(said)
            offerings += [Offering(SPOT, zone, cost) for zone in zones]
        for reservation in cloud.reservations if RESERVED in cloud.capacity_types else ():
            if reservation.instance_type == declared_type.name and reservation.key in free:
                offering = reserved_offering(
                    reservation.key, reservation.zone, price, free[reservation.key], reservation.type
                )
                offerings.append(offering._replace(available=True))
        return offerings


def _reserved(clouds: Sequence[CloudCapacity]) -> dict[str, ReservedMachines]:
    """Return the reservations by key, in the order of the files. If their counts differ, the least counts."""
    found: dict[str, ReservedMachines] = {}
    for cloud in clouds:
        for reservation in cloud.reservations:
            key = reservation.key
            known = found.get(key)
            if known is None:
                found[key] = ReservedMachines(key, (cloud.name,), reservation)
            else:
                least = known.reservation.model_copy(
                    update={"count": min(known.reservation.count, reservation.count)}
                )
                found[key] = known._replace(capacities=(*known.capacities, cloud.name), reservation=least)
    return found


def _price_order(declared_type: DeclaredType) -> float:
    """Return the price by which Karpenter prefers one type to another."""
    if declared_type.declared is not None and declared_type.declared.on_demand is not None:
        return float(declared_type.declared.on_demand)
    row = instancetypes.ec2_types().get(declared_type.name)
    return declared_type.size if row is None else row.price


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


def _region(zone: str) -> str:
    match = _REGION.match(zone)
    return match[0] if match else ""

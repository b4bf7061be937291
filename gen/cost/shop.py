"""What a cluster may buy at a moment, as the planner takes it, and what each machine costs.

A reservation at AWS is one thing, however many CloudCapacities name it. One without an id is known by what
selects it.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

from gen.cloud import BLOCK, CloudCapacity, CloudReservation
from gen.cost.seat import requirements, taints
from gen.cost.types import Kind, kinds
from gen.cost.values import Sort
from gen.manifest import naming
from gen.plan import ec2
from gen.plan.amounts import amounts
from gen.plan.ec2table import PRICED
from gen.plan.labels import CAPACITY_TYPE, ON_DEMAND, RESERVED, SPOT, ZONE
from gen.plan.requirement import IN, requirement
from gen.plan.values import InstanceType, Offering, Pool, reserved

PRICED_REGION = "us-east-1"
TABLE = f"on-demand prices of {PRICED_REGION} of {PRICED}"
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d+")
_SPOT_SHARE = 0.4  # of the on-demand price: orders spot of which no price is known


class Reserved(NamedTuple):
    """Machines that are paid for."""

    key: str
    capacities: tuple[str, ...]
    said: CloudReservation

    @property
    def last(self) -> int | None:
        return self.said.last_safe

    def at(self, now: int) -> bool:
        return self.said.there(now)


def form_of(said: CloudReservation) -> tuple[str, bool]:
    """Kind as Karpenter has it, and whether it is interruptible."""
    return BLOCK if said.type == BLOCK else "default", said.type == "interruptible"


class Shop:
    """Everything that the CloudCapacities of one cluster offer."""

    def __init__(
        self,
        clouds: Sequence[CloudCapacity],
        site: str,
        *,
        gate: bool = True,
        zones: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> None:
        """`site`: its name. `gate`: ReservedCapacity, without which Karpenter knows no reservations. `zones`:
        by CloudCapacity, those that seats on it name; only where it matters to any of them.
        """
        self.clouds = {cloud.name: cloud for cloud in clouds}
        self.pools = {cloud.name: naming.node_pool(site, cloud.name) for cloud in clouds}
        self.capacities = {pool: name for name, pool in self.pools.items()}
        self.reserved = _reserved(clouds)
        self._zones = {cloud.name: _zones(cloud, zones.get(cloud.name, frozenset())) for cloud in clouds}
        self.regions = {name: _region(mine[0]) for name, mine in self._zones.items()}
        self.assumed = {
            name: tuple(zone for zone in self._zones[name] if zone)
            for name, cloud in self.clouds.items()
            if name in zones and not _asked(cloud)
        }
        """Zones that are taken for all there are where nothing says them, though it matters to seats."""
        self._gate = gate
        self._kinds = {cloud.name: kinds(cloud, self.regions[cloud.name]) for cloud in clouds}
        self._pools: dict[tuple[str, tuple[tuple[str, int], ...]], Pool] = {}

    def pool(self, name: str, free: Mapping[str, int]) -> Pool:
        """`free`: machines left of each reservation that there is now."""
        cloud = self.clouds[name]
        mine = tuple((key, free[key]) for key in self._keys(cloud) if free.get(key))
        if (name, mine) not in self._pools:
            self._pools[name, mine] = Pool(
                self.pools[name],
                (requirement(CAPACITY_TYPE, IN, cloud.capacity_types), *requirements(cloud.requirements)),
                cloud.labels,
                taints(cloud.taints),
                (),
                cloud.weight or 0,
                amounts(dict(cloud.limits)),
                types=tuple(self._types(cloud, dict(mine))),
            )
        return self._pools[name, mine]

    def kind(self, capacity: str, name: str) -> Kind:
        return self._kinds[capacity][name]

    def unknown(self, capacity: str) -> list[str]:
        """Types of its reservations of which the size is not known: they are left out."""
        known = self._kinds[capacity]
        said = (one.instance_type for one in self.clouds[capacity].reservations)
        return sorted({name for name in said if name not in known})

    def price(self, sort: Sort) -> Decimal | None:
        """Of an hour, on top of what is paid for already; None where nothing says it."""
        if sort.capacity_type == RESERVED:
            return Decimal(0)
        said = self._kinds[sort.capacity][sort.type].said
        if sort.capacity_type == SPOT:
            return said.spot if said else None
        if said is not None and said.on_demand is not None:
            return said.on_demand
        row = ec2.table().get(sort.type)
        if row is None or self.regions[sort.capacity] not in ("", PRICED_REGION):
            return None
        return Decimal(repr(row.price))

    def from_table(self, sort: Sort) -> bool:
        """Whether its price is that of the table."""
        said = self._kinds[sort.capacity][sort.type].said
        own = said is not None and said.on_demand is not None
        return sort.capacity_type == ON_DEMAND and not own and self.price(sort) is not None

    def _keys(self, cloud: CloudCapacity) -> list[str]:
        return [one.key for one in cloud.reservations] if self._gate else []

    def _types(self, cloud: CloudCapacity, free: Mapping[str, int]) -> list[InstanceType]:
        return [kind.sold(self._offerings(cloud, kind, free)) for kind in self._kinds[cloud.name].values()]

    def _offerings(self, cloud: CloudCapacity, kind: Kind, free: Mapping[str, int]) -> list[Offering]:
        price = _order(kind)
        zones = (kind.said.zones if kind.said else ()) or self._zones[cloud.name]
        found: list[Offering] = []
        if ON_DEMAND in cloud.capacity_types:
            found += [Offering(ON_DEMAND, zone, price) for zone in zones]
        if SPOT in cloud.capacity_types:
            said = kind.said.spot if kind.said else None
            cost = price * _SPOT_SHARE if said is None else float(said)
            found += [Offering(SPOT, zone, cost) for zone in zones]
        for one in cloud.reservations if RESERVED in cloud.capacity_types else ():
            count = free.get(one.key, 0)
            if one.instance_type == kind.name and count:
                form, interruptible = form_of(one)
                offering = reserved(one.key, one.zone, price, count, form)
                found.append(offering._replace(interruptible=interruptible))
        return found


def _reserved(clouds: Sequence[CloudCapacity]) -> dict[str, Reserved]:
    """By key, in the order of the files. Where two say different numbers of one, the least counts."""
    found: dict[str, Reserved] = {}
    for cloud in clouds:
        for one in cloud.reservations:
            key = one.key
            known = found.get(key)
            if known is None:
                found[key] = Reserved(key, (cloud.name,), one)
            else:
                least = known.said._replace(count=min(known.said.count, one.count))
                found[key] = known._replace(capacities=(*known.capacities, cloud.name), said=least)
    return found


def _order(kind: Kind) -> float:
    """By which Karpenter prefers one type to another."""
    if kind.said is not None and kind.said.on_demand is not None:
        return float(kind.said.on_demand)
    row = ec2.table().get(kind.name)
    return kind.size if row is None else row.price


def _zones(cloud: CloudCapacity, named: frozenset[str]) -> tuple[str, ...]:
    """Those that the requirements name, or else all that are mentioned; `named`: by seats. Empty text:
    nothing says any.
    """
    said = {one.zone for one in cloud.reservations} | {z for one in cloud.instance_types for z in one.zones}
    return tuple(sorted(_asked(cloud) or said | named)) or ("",)


def _asked(cloud: CloudCapacity) -> set[str]:
    asked = [one for one in requirements(cloud.requirements) if one.key == ZONE and not one.complement]
    return {zone for one in asked for zone in one.values}


def _region(zone: str) -> str:
    match = _REGION.match(zone)
    return match[0] if match else ""

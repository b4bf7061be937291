"""Small clouds and windows, told in a few words; and what the simulation makes of them."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from berth.findings import Origin
from berth.machines.capacitycatalog import CapacityCatalog
from berth.machines.clusterplans import ClusterPlan, class_seats, named_zones_by_capacity
from berth.machines.overtime import (
    MachineInterval,
    Overtime,
    PoolKey,
    PoolPlacement,
    SeatDemand,
    SimulationRun,
)
from berth.manifests import nodeaffinity
from berth.schema.cloudcapacity import CloudCapacity, InstanceTypeSpec, MachineReservation
from berth.schema.nodeclass import NodeClass
from berth.schema.nodepoolparts import Disruption, PoolRequirement
from berth.schema.seatholders import Unit
from berth.schema.values import ResourceClass

from tests.built import built

ORIGIN = Origin("reservations/cloud.yaml", 0)
HOUR = 3600
ZONE = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}


def only(*types: str) -> dict[str, Any]:
    return {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(types)}


def cloud(*types: str, **more: Any) -> CloudCapacity:
    """On demand in one zone, of these types alone, all of which may go at once, unless said otherwise."""
    plain = {
        "origin": ORIGIN,
        "name": "general",
        "cluster": "",
        "node_class": {},
        "capacity_types": ("on-demand",),
        "requirements": (only(*types), ZONE),
        "disruption": {"budgets": [{"nodes": "100%"}]},
    }
    readers: dict[str, Any] = {
        "node_class": _node_class,
        "requirements": _requirements,
        "disruption": lambda said: built(Disruption, said),
    }
    values = {key: readers.get(key, lambda same: same)(said) for key, said in (plain | more).items()}
    return CloudCapacity.model_construct(**values)


def changed(capacity: CloudCapacity, **more: Any) -> CloudCapacity:
    return capacity.model_copy(update=more)


def _node_class(said: dict[str, Any]) -> NodeClass:
    terms = dict.fromkeys(("subnetSelectorTerms", "securityGroupSelectorTerms", "amiSelectorTerms"), ())
    return built(NodeClass, {**terms, **said})


def _requirements(said: Iterable[Any]) -> tuple[PoolRequirement, ...]:
    return tuple(built(PoolRequirement, one) for one in said)


def reservation(name: str, instance_type: str, count: int, **more: Any) -> MachineReservation:
    machines = {"instance_type": instance_type, "zone": "us-east-1a", "count": count}
    return MachineReservation.model_construct(**{"id": name, **machines, "hourly_price": Decimal(1), **more})


def sized(name: str, cpu: str, memory: str, **more: Any) -> InstanceTypeSpec:
    """A type of which all of `cpu` and `memory` is for pods but 100m and 10Mi."""
    left = {"cpu": f"{int(cpu) * 1000 - 100}m", "memory": f"{int(memory[:-2]) * 1024 - 10}Mi"}
    return InstanceTypeSpec.model_construct(
        **{"name": name, "cpu": cpu, "memory": memory, "pods": 110, "allocatable": left, **more}
    )


def sold(name: str, *capacity: tuple[str, str], **more: Any) -> InstanceTypeSpec:
    """A type with these resources, of which pods are counted and others are devices."""
    amounts = dict(capacity)
    own: dict[str, Any] = {key: amounts.pop(key) for key in ("cpu", "memory") if key in amounts}
    own |= {"pods": int(amounts.pop("pods"))} if "pods" in amounts else {}
    return InstanceTypeSpec.model_construct(None, **{"name": name, "gpus": amounts, **own, **more})


def resource_class(name: str, cpu: str, memory: str, *clouds: str) -> ResourceClass:
    return ResourceClass.model_construct(
        origin=ORIGIN,
        name=name,
        cluster="",
        requests={"cpu": cpu, "memory": memory},
        limits={},
        cloud_capacity=clouds or ("general",),
    )


SMALL = resource_class("small", "1", "4Gi")


def demand(reservation_name: str, *windows: str, nodes: bool = False, of: str = "small") -> SeatDemand:
    """`8-12=10`: from hour 8 to hour 12, ten of them. Hours since the epoch."""
    changes: dict[int, int] = {}
    for window in windows:
        hours, _, count = window.partition("=")
        first, end = (round(float(hour) * 60) for hour in hours.split("-"))
        changes[first] = changes.get(first, 0) + int(count)
        changes[end] = changes.get(end, 0) - int(count)
    steps = [number for minute in sorted(changes) for number in (minute, changes[minute])]
    return SeatDemand((reservation_name, of), Unit.NODE if nodes else Unit.SEAT, steps, ("general",))


def planned(
    clouds: Iterable[CloudCapacity],
    demands: Iterable[SeatDemand],
    classes: Iterable[ResourceClass] = (SMALL,),
) -> ClusterPlan:
    every, wanted = tuple(clouds), sorted(demands, key=lambda seat_demand: seat_demand.key)
    known = {one.name: one for one in classes}
    places: dict[PoolKey, PoolPlacement] = {}
    for seat_demand in wanted:
        found = known[seat_demand.key[1]]
        pools = tuple(nodeaffinity.pools("uni", found.cloud_capacity))
        labels = (("berth.dev/class", found.name), ("berth.dev/reservation", seat_demand.key[0]))
        seats = class_seats(found.model_copy(update={"node_pools": pools}), labels)
        places[seat_demand.key] = PoolPlacement(seats, found.cloud_capacity)
    catalog = CapacityCatalog(every, "uni", zones=named_zones_by_capacity(places.values()))
    minutes = [minute for seat_demand in wanted for minute in seat_demand.steps[::2]]
    first, last = min(minutes, default=0) * 60, max(minutes, default=0) * 60
    run = Overtime(catalog, places, wanted).run(last)
    return ClusterPlan("prod", catalog, tuple(wanted), run, first, last)


def run(*arguments: Any, **more: Any) -> SimulationRun:
    return planned(*arguments, **more).run


def told(intervals: Iterable[MachineInterval]) -> list[str]:
    """`0 on-demand m5.large 8:00-12:01 ml 10`: machine, what it is, from when to when, and whose."""
    return [
        f"{interval.machine} {interval.kind.capacity_type} {interval.kind.type} "
        f"{_clock(interval.since)}-{_clock(interval.until)} "
        + ", ".join(f"{key[0]} {count}" for key, count in interval.payers)
        for interval in sorted(intervals, key=lambda one: (one.machine, one.since))
    ]


def _clock(seconds: int) -> str:
    return f"{seconds // HOUR}:{seconds % HOUR // 60:02}"

"""Match classes with the nodes of a CloudCapacity, by labels and taints."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from berth.machines.instancetypes import ec2_labels, ec2_types, name_labels, region_of
from berth.machines.nodelabels import (
    ARCH,
    CAPACITY_TYPE,
    DOES_NOT_EXIST,
    IN,
    INSTANCE_TYPE,
    NODEPOOL,
    OS,
    REGION,
    RESERVATION_ID,
    RESERVATION_INTERRUPTIBLE,
    RESERVATION_LABELS,
    RESERVATION_TYPE,
    RESERVED,
    WELL_KNOWN,
    ZONE,
    Requirement,
    Requirements,
    Taint,
    Toleration,
    requirement,
    requirements_of_labels,
    toleration_by_plugin,
    untolerated,
)
from berth.schema.cloudcapacity import CloudCapacity, MachineReservation
from berth.schema.cloudgrammar import architecture_of
from berth.schema.declared import Declared
from berth.schema.nodepoolparts import NodeTaint, PoolRequirement
from berth.schema.scheduling import NodeRequirement, PodToleration
from berth.schema.values import ResourceClass


class ClassFit(NamedTuple):
    """What a class can use of a capacity. `mismatch` says why its seats can never be there."""

    mismatch: str
    falls_back: bool  # to nodes that are not reserved
    reserved: tuple[MachineReservation, ...]  # that its seats may take
    sound: bool  # whether every reservation of the capacity may be used by somebody

    @property
    def able(self) -> bool:
        return not self.mismatch


ClassFits = Mapping[tuple[str, str], ClassFit]
"""By class and capacity."""


def class_fits(declared: Declared) -> ClassFits:
    """Return what each class can use of the capacities that it names."""
    return {
        (name, cloud): class_fit(resource_class, declared.clouds[cloud])
        for name, resource_class in declared.classes.items()
        for cloud in resource_class.cloud_capacity
        if cloud in declared.clouds
    }


def class_fit(
    resource_class: ResourceClass, cloud: CloudCapacity, node_pools: Iterable[str] = ()
) -> ClassFit:
    """Return what a class can use of a capacity. `node_pools` have its nodes, if known."""
    good = [machines for machines in cloud.reservations if not exclusion(cloud, machines)]
    wished = good if RESERVED in cloud.capacity_types else []
    return ClassFit(
        _capacity_mismatch(resource_class, cloud, tuple(node_pools)),
        _falls_back(resource_class, cloud),
        tuple(machines for machines in wished if not reservation_mismatch(resource_class, cloud, machines)),
        bool(good) and len(good) == len(cloud.reservations),
    )


def reservation_mismatch(
    resource_class: ResourceClass, cloud: CloudCapacity, machines: MachineReservation
) -> str:
    """Return why seats of the class can never be on instances of the reservation, or nothing."""
    return _conflict_of_all(class_terms(resource_class), [_of_reservation(cloud, machines)])


def exclusion(cloud: CloudCapacity, machines: MachineReservation) -> str:
    """Return why the capacity's requirements, or the zones of its type, exclude a reservation, or nothing."""
    sold = next((each.zones for each in cloud.instance_types if each.name == machines.instance_type), ())
    if sold and machines.zone not in sold:
        return f"instanceTypes has {machines.instance_type} in {', '.join(sold)} only, not in {machines.zone}"
    asked = _of_pool(cloud).without(CAPACITY_TYPE)
    return str(_of_reservation(cloud, machines).value_conflict(asked) or "")


def contradiction(cloud: CloudCapacity) -> str:
    """Return why no type satisfies the requirements and labels together; empty if some may."""
    absent = {one.key for one in cloud.requirements if one.operator == DOES_NOT_EXIST}
    known = _of_pool(cloud)
    for wanted in known:
        if wanted.operator == DOES_NOT_EXIST and wanted.key not in absent:
            return f"no value of {wanted.key} satisfies them all"
    if cloud.capacity_types == (RESERVED,):
        return ""  # reported for each reservation
    return _conflict_of_all([known], _candidates(cloud))


def class_terms(resource_class: ResourceClass) -> list[Requirements]:
    """Return the node requirements of a class, as terms of which one must hold."""
    selected = requirements_of_labels((resource_class.pod.node_selector or {}).items())
    near = resource_class.pod.affinity
    node = near.node_affinity if near else None
    if node is None or node.required is None:
        return [Requirements(selected)]
    terms = node.required.node_selector_terms
    return [Requirements((*selected, *parse_requirements(term.match_expressions or ()))) for term in terms]


def _capacity_mismatch(
    resource_class: ResourceClass, cloud: CloudCapacity, node_pools: tuple[str, ...]
) -> str:
    known, asked = _of_pool(cloud), class_terms(resource_class)
    if node_pools:
        known = known.plus([requirement(NODEPOOL, IN, node_pools)])
    clashes = [known.conflict(term, WELL_KNOWN) for term in asked]
    if all(clashes):
        return str(clashes[0])
    tolerations = [parse_toleration(one) for one in resource_class.pod.tolerations or ()]
    taints = [taint for taint in parse_taints(cloud.taints) if taint.effect != "PreferNoSchedule"]
    if taint := untolerated(taints, tolerations):
        value = f"={taint.value}" if taint.value else ""
        hint = toleration_by_plugin(taint, resource_class.requests)
        return f"it does not tolerate the taint {taint.key}{value}:{taint.effect}{hint}"
    return _conflict_of_all(asked, _candidates(cloud))


def _falls_back(resource_class: ResourceClass, cloud: CloudCapacity) -> bool:
    """Tell whether seats of the class may be on nodes of the capacity that are not reserved."""
    absent = [requirement(key, DOES_NOT_EXIST) for key in RESERVATION_LABELS]
    types = [name for name in cloud.capacity_types if name != RESERVED]
    bought = Requirements([requirement(CAPACITY_TYPE, IN, types), *absent])
    asked = [_of_pool(cloud).without(CAPACITY_TYPE), *class_terms(resource_class)]
    pool, *terms = [bought.value_conflict(one) is None for one in asked]
    return bool(types) and pool and any(terms)


def _conflict_of_all(asked: Iterable[Requirements], machines: list[Requirements]) -> str:
    """Return the first conflict if no machine satisfies any of the terms; nothing if no machine is known."""
    clashes = [machine.value_conflict(term) for machine in machines for term in asked]
    return str(clashes[0]) if clashes and all(clashes) else ""


def _candidates(cloud: CloudCapacity) -> list[Requirements]:
    """Return the types that nodes may have, if these are known; empty if they may be of any type."""
    if cloud.capacity_types == (RESERVED,):
        usable = (machines for machines in cloud.reservations if not exclusion(cloud, machines))
        return [_of_reservation(cloud, machines) for machines in usable]
    types = _of_pool(cloud).get(INSTANCE_TYPE)
    zones = {instance_type.name: instance_type.zones for instance_type in cloud.instance_types}
    known = () if types.complement else sorted(types.values)
    return [_of_type(cloud, name, zones.get(name, ())) for name in known]


def _of_pool(cloud: CloudCapacity) -> Requirements:
    """Return what is known about every node of the capacity."""
    own = requirements_of_labels((*cloud.labels.items(), (OS, cloud.operating_system)))
    types = requirement(CAPACITY_TYPE, IN, cloud.capacity_types)
    return Requirements((*parse_requirements(cloud.requirements), *own, types))


def _of_reservation(cloud: CloudCapacity, machines: MachineReservation) -> Requirements:
    """Return what is known about the instances of a reservation."""
    known = [(CAPACITY_TYPE, RESERVED), (RESERVATION_TYPE, machines.type)]
    known += [(RESERVATION_INTERRUPTIBLE, "false"), *([(RESERVATION_ID, machines.id)] if machines.id else [])]
    return _of_type(cloud, machines.instance_type, (machines.zone,)).plus(requirements_of_labels(known))


def _of_type(cloud: CloudCapacity, name: str, zones: tuple[str, ...]) -> Requirements:
    """Return what is known about nodes of an instance type that is sold in these zones."""
    row = ec2_types().get(name)
    known = ec2_labels(row, "") if row else requirements_of_labels(name_labels(name).items())
    declared = (one.sold_architecture for one in cloud.instance_types if one.name == name)
    own = [(ARCH, next(declared, architecture_of(name))), (INSTANCE_TYPE, name)]
    regions = {region_of(zone) or zone for zone in zones}
    where = [requirement(ZONE, IN, zones), requirement(REGION, IN, regions)] if zones else []
    of_type = (one for one in known if one.key not in (REGION, ARCH, OS))
    return Requirements((*of_type, *requirements_of_labels(own), *where))


def parse_requirements(items: Iterable[PoolRequirement | NodeRequirement]) -> tuple[Requirement, ...]:
    """Return declared requirements as a term."""
    return tuple(requirement(item.key, item.operator, item.values or ()) for item in items)


def parse_taints(items: Iterable[NodeTaint]) -> tuple[Taint, ...]:
    """Return the taints of a NodePool."""
    return tuple(Taint(item.key, item.value or "", item.effect) for item in items)


def parse_toleration(item: PodToleration) -> Toleration:
    """Return a toleration of a pod, with the defaults of the API."""
    return Toleration(item.key or "", item.operator or "Equal", item.value or "", item.effect or "")

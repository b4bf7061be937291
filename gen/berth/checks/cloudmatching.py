"""Match classes with the nodes of a CloudCapacity, by labels and taints.

Whether labels are compatible is decided by Karpenter's own rules (`berth.karpenter.requirements`).
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from berth.karpenter import instancetypes, nodelabels
from berth.karpenter.requirements import (
    DOES_NOT_EXIST,
    IN,
    Requirement,
    Requirements,
    parse_requirements,
    requirement,
)
from berth.karpenter.taints import parse_taints, parse_toleration, toleration_by_plugin, untolerated
from berth.schema.cloudgrammar import architecture_of
from berth.schema.cloudmachines import MachineReservation
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.scheduling import NodeAffinity
from berth.schema.values import ResourceClass

_NAME = re.compile(r"([a-z]+)([0-9]+)([a-z-]*)\.(.+)", re.ASCII)
_REGION = re.compile(r"[a-z]+(-[a-z]+)+-[0-9]+", re.ASCII)
_FAMILY = f"{nodelabels.AWS}instance-family"
_TAINTS_THAT_HOLD = ("NoSchedule", "NoExecute")


class Mismatch(NamedTuple):
    """Why a class cannot use nodes, and the label that is responsible; empty if it is a taint."""

    why: str
    key: str


def pool_requirements_of(cloud: CloudCapacity) -> Requirements:
    """Return what is known about every node of the capacity."""
    requirements = parse_requirements(cloud.requirements)
    own = [requirement(key, IN, (value,)) for key, value in cloud.labels]
    ours = {nodelabels.CAPACITY_TYPE: cloud.capacity_types, nodelabels.OS: (cloud.operating_system,)}
    return Requirements(
        [*requirements, *own, *(requirement(key, IN, values) for key, values in ours.items())]
    )


def type_requirements_of(cloud: CloudCapacity, instance_type: str, zones: Iterable[str] = ()) -> Requirements:
    """Return what is known about nodes of an instance type that is sold in these zones."""
    row = instancetypes.ec2_types().get(instance_type)
    requirements = (
        list(instancetypes.ec2_instance_type(row, ()).requirements) if row else _by_name(instance_type)
    )
    requirements = [
        wanted
        for wanted in requirements
        if wanted.key not in (nodelabels.REGION, nodelabels.ARCH, nodelabels.OS)
    ]
    requirements.append(requirement(nodelabels.ARCH, IN, (architecture(cloud, instance_type),)))
    requirements.append(requirement(nodelabels.INSTANCE_TYPE, IN, (instance_type,)))
    places = tuple(zones)
    if places:
        requirements.append(requirement(nodelabels.ZONE, IN, places))
        requirements.append(requirement(nodelabels.REGION, IN, {_region(zone) for zone in places}))
    return Requirements(requirements)


def architecture(cloud: CloudCapacity, instance_type: str) -> str:
    """Return the architecture of a type: as declared, or by AWS's naming scheme."""
    for declared_type in cloud.instance_types:
        if declared_type.name == instance_type:
            return declared_type.architecture
    return architecture_of(instance_type)


def reservation_requirements(cloud: CloudCapacity, machines: MachineReservation) -> Requirements:
    """Return what is known about the instances of a reservation."""
    known = {
        nodelabels.CAPACITY_TYPE: nodelabels.RESERVED,
        nodelabels.RESERVATION_TYPE: machines.type,
        nodelabels.RESERVATION_INTERRUPTIBLE: "false",
        **({nodelabels.RESERVATION_ID: machines.id} if machines.id else {}),
    }
    own = (requirement(key, IN, (value,)) for key, value in known.items())
    return type_requirements_of(cloud, machines.instance_type, (machines.zone,)).plus(own)


def class_terms(resource_class: ResourceClass) -> list[Requirements]:
    """Return the node requirements of a class, as terms of which one must hold."""
    selected = [
        requirement(key, IN, (value,)) for key, value in (resource_class.pod.node_selector or {}).items()
    ]
    required = _node_affinity(resource_class).required
    if required is None:
        return [Requirements(selected)]
    return [
        Requirements([*selected, *parse_requirements(term.match_expressions or ())])
        for term in required.node_selector_terms
    ]


def _preferred_terms(resource_class: ResourceClass) -> list[Requirements]:
    """Return the same with the heaviest preference, which Karpenter treats as required while it can be
    satisfied.

    Empty if there is none, or none that is compatible with the required terms.
    """
    preferred = _node_affinity(resource_class).preferred
    if not preferred:
        return []
    heaviest = max(preferred, key=lambda wish: wish.weight).preference
    wish = Requirements(parse_requirements(heaviest.match_expressions or ()))
    return [term.plus(wish) for term in class_terms(resource_class) if term.value_conflict(wish) is None]


def capacity_mismatch(
    resource_class: ResourceClass, cloud: CloudCapacity, names: Iterable[str] = ()
) -> Mismatch | None:
    """Return why seats of the class can never be on such a node, or None.

    `names` are the NodePools with nodes of the capacity, if known.
    """
    known, pools = pool_requirements_of(cloud), tuple(names)
    if pools:
        known = known.plus([requirement(nodelabels.NODEPOOL, IN, pools)])
    asked = class_terms(resource_class)
    clashes = [known.conflict(term, nodelabels.WELL_KNOWN) for term in asked]
    if all(clashes):
        return Mismatch(str(clashes[0]), clashes[0].key if clashes[0] else "")
    taint = untolerated(
        (taint for taint in parse_taints(cloud.taints) if taint.effect in _TAINTS_THAT_HOLD),
        [parse_toleration(toleration) for toleration in resource_class.pod.tolerations or ()],
    )
    if taint is not None:
        value = f"={taint.value}" if taint.value else ""
        hint = toleration_by_plugin(taint, dict(resource_class.requests))
        return Mismatch(f"it does not tolerate the taint {taint.key}{value}:{taint.effect}{hint}", "")
    return _of_machines(asked, candidates(cloud))


def candidates(cloud: CloudCapacity) -> list[Requirements]:
    """Return the types that nodes may have, if these are known; empty if they may be of any type."""
    if cloud.capacity_types == (nodelabels.RESERVED,):
        return [
            reservation_requirements(cloud, machines)
            for machines in cloud.reservations
            if not exclusion(cloud, machines)
        ]
    known = pool_requirements_of(cloud)
    types, families = known.get(nodelabels.INSTANCE_TYPE), known.get(_FAMILY)
    if not types.complement:
        zones = {instance_type.name: instance_type.zones for instance_type in cloud.instance_types}
        return [type_requirements_of(cloud, name, zones.get(name, ())) for name in sorted(types.values)]
    return (
        [] if families.complement else [_family_requirements(cloud, name) for name in sorted(families.values)]
    )


def contradiction(cloud: CloudCapacity) -> str:
    """Return why no type satisfies the requirements and labels together; empty if some may."""
    absent = {
        pool_requirement.key
        for pool_requirement in cloud.requirements
        if pool_requirement.operator == DOES_NOT_EXIST
    }
    known = pool_requirements_of(cloud)
    for key, wanted in known.by_key.items():
        if wanted.operator == DOES_NOT_EXIST and key not in absent:
            return f"no value of {key} satisfies them all"
    if cloud.capacity_types == (nodelabels.RESERVED,):
        return ""  # told of each reservation
    clashes = [candidate.value_conflict(known) for candidate in candidates(cloud)]
    return str(clashes[0]) if clashes and all(clashes) else ""


def falls_back(resource_class: ResourceClass, cloud: CloudCapacity) -> bool:
    """Tell whether seats of the class may be on nodes of the capacity that are not reserved."""
    return _bought(class_terms(resource_class), cloud)


def _bought(asked: Iterable[Requirements], cloud: CloudCapacity) -> bool:
    """Tell whether any of the terms may be satisfied by nodes that are not reserved."""
    absent = [requirement(key, DOES_NOT_EXIST) for key in nodelabels.RESERVATION_LABELS]
    for capacity_type in set(cloud.capacity_types) - {nodelabels.RESERVED}:
        bought = Requirements([requirement(nodelabels.CAPACITY_TYPE, IN, (capacity_type,)), *absent])
        meets = [bought.value_conflict(term) is None for term in asked]
        if any(meets) and bought.value_conflict(pool_requirements_of(cloud)) is None:
            return True
    return False


def passed_over(
    resource_class: ResourceClass, requirements: Requirements, clouds: Iterable[CloudCapacity]
) -> Mismatch | None:
    """Return why seats ignore nodes that they could use, or None.

    That is because other nodes that can be bought satisfy the heaviest preference.
    """
    asked = _preferred_terms(resource_class)
    crossing = _of_machines(asked, [requirements])
    if crossing is None:
        return None
    for cloud in clouds:
        machines = candidates(cloud)
        good = [
            term
            for term in asked
            if pool_requirements_of(cloud).conflict(term, nodelabels.WELL_KNOWN) is None
            and not _of_machines([term], machines)
        ]
        if capacity_mismatch(resource_class, cloud) is None and _bought(good, cloud):
            return crossing
    return None


class ClassFit(NamedTuple):
    """What a class can use of a capacity."""

    able: bool  # whether its seats may be there at all
    falls_back: bool
    reserved: tuple[MachineReservation, ...]  # that its seats may take
    sound: bool  # whether every reservation of the capacity may be used by somebody


class _ById:
    """A cache key by identity: declared values contain mappings and cannot be hashed."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.value is self.value


def class_fit(resource_class: ResourceClass, cloud: CloudCapacity) -> ClassFit:
    """Return what a class can use of a capacity. Cached: thousands of reservations ask about the same few."""
    return _class_fit(_ById(resource_class), _ById(cloud))


@lru_cache(maxsize=1024)
def _class_fit(same_class: _ById, same_cloud: _ById) -> ClassFit:
    resource_class, cloud = same_class.value, same_cloud.value
    good = [machines for machines in cloud.reservations if exclusion(cloud, machines) is None]
    wished = good if nodelabels.RESERVED in cloud.capacity_types else []
    return ClassFit(
        able=capacity_mismatch(resource_class, cloud) is None,
        falls_back=falls_back(resource_class, cloud),
        reserved=tuple(
            machines for machines in wished if reservation_mismatch(resource_class, cloud, machines) is None
        ),
        sound=bool(good) and len(good) == len(cloud.reservations),
    )


def reservation_mismatch(
    resource_class: ResourceClass, cloud: CloudCapacity, machines: MachineReservation
) -> Mismatch | None:
    """Return why seats of the class can never be on instances of the reservation, or None."""
    return _of_machines(class_terms(resource_class), [reservation_requirements(cloud, machines)])


def exclusion(cloud: CloudCapacity, machines: MachineReservation) -> Mismatch | None:
    """Return why the capacity's requirements, or the zones of its type, exclude a reservation, or None."""
    sold = next((each.zones for each in cloud.instance_types if each.name == machines.instance_type), ())
    if sold and machines.zone not in sold:
        why = f"instanceTypes has {machines.instance_type} in {', '.join(sold)} only, not in {machines.zone}"
        return Mismatch(why, nodelabels.ZONE)
    clash = reservation_requirements(cloud, machines).value_conflict(
        pool_requirements_of(cloud).without(nodelabels.CAPACITY_TYPE)
    )
    return Mismatch(str(clash), clash.key) if clash else None


def _of_machines(asked: Iterable[Requirements], machines: list[Requirements]) -> Mismatch | None:
    clashes = [machine.value_conflict(term) for machine in machines for term in asked]
    if not clashes or not all(clashes):
        return None
    return Mismatch(str(clashes[0]), clashes[0].key if clashes[0] else "")


def _family_requirements(cloud: CloudCapacity, name: str) -> Requirements:
    """Return what is known about every type of a family."""
    architectures = {
        instance_type.architecture
        for instance_type in cloud.instance_types
        if instance_type.name.partition(".")[0] == name
    }
    requirements = [wanted for wanted in _by_name(f"{name}.any") if wanted.key != nodelabels.INSTANCE_SIZE]
    return Requirements(
        [*requirements, requirement(nodelabels.ARCH, IN, architectures or {architecture_of(f"{name}.any")})]
    )


def _region(zone: str) -> str:
    match = _REGION.match(zone)
    return match[0] if match else zone


def _node_affinity(resource_class: ResourceClass) -> NodeAffinity:
    return (
        resource_class.pod.affinity and resource_class.pod.affinity.node_affinity
    ) or NodeAffinity.model_construct()


def _by_name(instance_type: str) -> list[Requirement]:
    match = _NAME.fullmatch(instance_type)
    if match is None:
        return []
    family, _, size = instance_type.partition(".")
    known = {
        "instance-category": match[1],
        "instance-generation": match[2],
        "instance-family": family,
        "instance-size": size,
    }
    return [requirement(nodelabels.AWS + key, IN, (value,)) for key, value in known.items()]

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
from berth.schema.cloudgrammar import BLOCK, DEFAULT, INTERRUPTIBLE, architecture_of
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
    said = parse_requirements(cloud.requirements)
    own = [requirement(key, IN, (value,)) for key, value in cloud.labels]
    ours = {nodelabels.CAPACITY_TYPE: cloud.capacity_types, nodelabels.OS: (cloud.operating_system,)}
    return Requirements([*said, *own, *(requirement(key, IN, values) for key, values in ours.items())])


def type_requirements_of(cloud: CloudCapacity, instance_type: str, zones: Iterable[str] = ()) -> Requirements:
    """Return what is known about nodes of an instance type that is sold in these zones."""
    row = instancetypes.ec2_types().get(instance_type)
    found = list(instancetypes.ec2_instance_type(row, ()).requirements) if row else _by_name(instance_type)
    found = [one for one in found if one.key not in (nodelabels.REGION, nodelabels.ARCH, nodelabels.OS)]
    found.append(requirement(nodelabels.ARCH, IN, (architecture(cloud, instance_type),)))
    found.append(requirement(nodelabels.INSTANCE_TYPE, IN, (instance_type,)))
    places = tuple(zones)
    if places:
        found.append(requirement(nodelabels.ZONE, IN, places))
        found.append(requirement(nodelabels.REGION, IN, {_region(zone) for zone in places}))
    return Requirements(found)


def architecture(cloud: CloudCapacity, instance_type: str) -> str:
    """Return the architecture of a type: as declared, or by AWS's naming scheme."""
    for one in cloud.instance_types:
        if one.name == instance_type:
            return one.architecture
    return architecture_of(instance_type)


def reservation_requirements(cloud: CloudCapacity, one: MachineReservation) -> Requirements:
    """Return what is known about the instances of a reservation."""
    kind = BLOCK if one.type == BLOCK else DEFAULT
    known = {
        nodelabels.CAPACITY_TYPE: nodelabels.RESERVED,
        nodelabels.RESERVATION_TYPE: kind,
        nodelabels.RESERVATION_INTERRUPTIBLE: "true" if one.type == INTERRUPTIBLE else "false",
        **({nodelabels.RESERVATION_ID: one.id} if one.id else {}),
    }
    own = (requirement(key, IN, (value,)) for key, value in known.items())
    return type_requirements_of(cloud, one.instance_type, (one.zone,)).plus(own)


def class_terms(found: ResourceClass) -> list[Requirements]:
    """Return the node requirements of a class, as terms of which one must hold."""
    selected = [requirement(key, IN, (value,)) for key, value in (found.pod.node_selector or {}).items()]
    required = _node_affinity(found).required
    if required is None:
        return [Requirements(selected)]
    return [
        Requirements([*selected, *parse_requirements(term.match_expressions or ())])
        for term in required.node_selector_terms
    ]


def _preferred_terms(found: ResourceClass) -> list[Requirements]:
    """Return the same with the heaviest preference, which Karpenter treats as required while it can be
    satisfied.

    Empty if there is none, or none that is compatible with the required terms.
    """
    preferred = _node_affinity(found).preferred
    if not preferred:
        return []
    heaviest = max(preferred, key=lambda one: one.weight).preference
    wish = Requirements(parse_requirements(heaviest.match_expressions or ()))
    return [one.plus(wish) for one in class_terms(found) if one.value_conflict(wish) is None]


def capacity_mismatch(
    found: ResourceClass, cloud: CloudCapacity, names: Iterable[str] = ()
) -> Mismatch | None:
    """Return why seats of the class can never be on such a node, or None.

    `names` are the NodePools with nodes of the capacity, if known.
    """
    known, pools = pool_requirements_of(cloud), tuple(names)
    if pools:
        known = known.plus([requirement(nodelabels.NODEPOOL, IN, pools)])
    asked = class_terms(found)
    clashes = [known.conflict(one, nodelabels.WELL_KNOWN) for one in asked]
    if all(clashes):
        return Mismatch(str(clashes[0]), clashes[0].key if clashes[0] else "")
    taint = untolerated(
        (one for one in parse_taints(cloud.taints) if one.effect in _TAINTS_THAT_HOLD),
        [parse_toleration(one) for one in found.pod.tolerations or ()],
    )
    if taint is not None:
        value = f"={taint.value}" if taint.value else ""
        hint = toleration_by_plugin(taint, dict(found.requests))
        return Mismatch(f"it does not tolerate the taint {taint.key}{value}:{taint.effect}{hint}", "")
    return _of_machines(asked, candidates(cloud))


def candidates(cloud: CloudCapacity) -> list[Requirements]:
    """Return the types that nodes may have, if these are known; empty if they may be of any type."""
    if cloud.capacity_types == (nodelabels.RESERVED,):
        return [
            reservation_requirements(cloud, one) for one in cloud.reservations if not exclusion(cloud, one)
        ]
    known = pool_requirements_of(cloud)
    types, families = known.get(nodelabels.INSTANCE_TYPE), known.get(_FAMILY)
    if not types.complement:
        zones = {one.name: one.zones for one in cloud.instance_types}
        return [type_requirements_of(cloud, name, zones.get(name, ())) for name in sorted(types.values)]
    return (
        [] if families.complement else [_family_requirements(cloud, name) for name in sorted(families.values)]
    )


def contradiction(cloud: CloudCapacity) -> str:
    """Return why no type satisfies the requirements and labels together; empty if some may."""
    said = {one.key for one in cloud.requirements if one.operator == DOES_NOT_EXIST}
    known = pool_requirements_of(cloud)
    for key, one in known.by_key.items():
        if one.operator == DOES_NOT_EXIST and key not in said:
            return f"no value of {key} satisfies them all"
    if cloud.capacity_types == (nodelabels.RESERVED,):
        return ""  # told of each reservation
    clashes = [one.value_conflict(known) for one in candidates(cloud)]
    return str(clashes[0]) if clashes and all(clashes) else ""


def falls_back(found: ResourceClass, cloud: CloudCapacity) -> bool:
    """Tell whether seats of the class may be on nodes of the capacity that are not reserved."""
    return _bought(class_terms(found), cloud)


def _bought(asked: Iterable[Requirements], cloud: CloudCapacity) -> bool:
    """Tell whether any of the terms may be satisfied by nodes that are not reserved."""
    absent = [requirement(key, DOES_NOT_EXIST) for key in nodelabels.RESERVATION_LABELS]
    for capacity_type in set(cloud.capacity_types) - {nodelabels.RESERVED}:
        bought = Requirements([requirement(nodelabels.CAPACITY_TYPE, IN, (capacity_type,)), *absent])
        meets = [bought.value_conflict(term) is None for term in asked]
        if any(meets) and bought.value_conflict(pool_requirements_of(cloud)) is None:
            return True
    return False


def passed_over(found: ResourceClass, one: Requirements, clouds: Iterable[CloudCapacity]) -> Mismatch | None:
    """Return why seats ignore nodes that they could use, or None.

    That is because other nodes that can be bought satisfy the heaviest preference.
    """
    asked = _preferred_terms(found)
    crossing = _of_machines(asked, [one])
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
        if capacity_mismatch(found, cloud) is None and _bought(good, cloud):
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


def class_fit(found: ResourceClass, cloud: CloudCapacity) -> ClassFit:
    """Return what a class can use of a capacity. Cached: thousands of reservations ask about the same few."""
    return _class_fit(_ById(found), _ById(cloud))


@lru_cache(maxsize=1024)
def _class_fit(same_class: _ById, same_cloud: _ById) -> ClassFit:
    found, cloud = same_class.value, same_cloud.value
    good = [one for one in cloud.reservations if exclusion(cloud, one) is None]
    wished = good if nodelabels.RESERVED in cloud.capacity_types else []
    return ClassFit(
        able=capacity_mismatch(found, cloud) is None,
        falls_back=falls_back(found, cloud),
        reserved=tuple(one for one in wished if reservation_mismatch(found, cloud, one) is None),
        sound=bool(good) and len(good) == len(cloud.reservations),
    )


def reservation_mismatch(
    found: ResourceClass, cloud: CloudCapacity, one: MachineReservation
) -> Mismatch | None:
    """Return why seats of the class can never be on instances of the reservation, or None."""
    return _of_machines(class_terms(found), [reservation_requirements(cloud, one)])


def exclusion(cloud: CloudCapacity, one: MachineReservation) -> Mismatch | None:
    """Return why the capacity's requirements, or the zones of its type, exclude a reservation, or None."""
    sold = next((each.zones for each in cloud.instance_types if each.name == one.instance_type), ())
    if sold and one.zone not in sold:
        why = f"instanceTypes has {one.instance_type} in {', '.join(sold)} only, not in {one.zone}"
        return Mismatch(why, nodelabels.ZONE)
    clash = reservation_requirements(cloud, one).value_conflict(
        pool_requirements_of(cloud).without(nodelabels.CAPACITY_TYPE)
    )
    return Mismatch(str(clash), clash.key) if clash else None


def _of_machines(asked: Iterable[Requirements], machines: list[Requirements]) -> Mismatch | None:
    clashes = [one.value_conflict(term) for one in machines for term in asked]
    if not clashes or not all(clashes):
        return None
    return Mismatch(str(clashes[0]), clashes[0].key if clashes[0] else "")


def _family_requirements(cloud: CloudCapacity, name: str) -> Requirements:
    """Return what is known about every type of a family."""
    said = {one.architecture for one in cloud.instance_types if one.name.partition(".")[0] == name}
    found = [one for one in _by_name(f"{name}.any") if one.key != nodelabels.INSTANCE_SIZE]
    return Requirements([*found, requirement(nodelabels.ARCH, IN, said or {architecture_of(f"{name}.any")})])


def _region(zone: str) -> str:
    match = _REGION.match(zone)
    return match[0] if match else zone


def _node_affinity(found: ResourceClass) -> NodeAffinity:
    return (found.pod.affinity and found.pod.affinity.node_affinity) or NodeAffinity.model_construct()


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

"""Which machines of a cloud capacity a class may use, by labels and taints. Pure.

Whether labels go together is asked of the rules by which Karpenter itself decides (`gen.plan.requirement`).
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from gen.cloud import BLOCK, DEFAULT, INTERRUPTIBLE, CloudCapacity, CloudReservation, architecture_of
from gen.model import ResourceClass
from gen.plan import ec2, labels
from gen.plan.requirement import DOES_NOT_EXIST, IN, Requirement, Requirements, requirement
from gen.plan.taints import unborne
from gen.plan.values import Taint, Toleration
from gen.schema import nodepool as schema
from gen.schema import pod as pods
from gen.schema.pod import NodeAffinity, NodeRequirement, NodeTerm

_NAME = re.compile(r"([a-z]+)([0-9]+)([a-z-]*)\.(.+)", re.ASCII)
_REGION = re.compile(r"[a-z]+(-[a-z]+)+-[0-9]+", re.ASCII)
_AWS = "karpenter.k8s.aws/"
_FAMILY = f"{_AWS}instance-family"
_TAINTS_THAT_HOLD = ("NoSchedule", "NoExecute")


class Hindrance(NamedTuple):
    """Why a class cannot use machines, and which label of theirs is to blame; empty where it is a taint."""

    why: str
    key: str


def pool(cloud: CloudCapacity) -> Requirements:
    """What is known of every node of the capacity."""
    said = [_requirement(one) for one in cloud.requirements]
    own = [requirement(key, IN, (value,)) for key, value in cloud.labels]
    ours = {labels.CAPACITY_TYPE: cloud.capacity_types, labels.OS: (cloud.operating_system,)}
    return Requirements([*said, *own, *(requirement(key, IN, values) for key, values in ours.items())])


def machine(cloud: CloudCapacity, instance_type: str, zones: Iterable[str] = ()) -> Requirements:
    """What is known of a type of machines, where it is sold in these zones."""
    row = ec2.table().get(instance_type)
    found = list(ec2.instance_type(row, ()).requirements) if row else _by_name(instance_type)
    found = [one for one in found if one.key not in (labels.REGION, labels.ARCH, labels.OS)]
    found.append(requirement(labels.ARCH, IN, (architecture(cloud, instance_type),)))
    found.append(requirement(labels.INSTANCE_TYPE, IN, (instance_type,)))
    places = tuple(zones)
    if places:
        found.append(requirement(labels.ZONE, IN, places))
        found.append(requirement(labels.REGION, IN, {_region(zone) for zone in places}))
    return Requirements(found)


def architecture(cloud: CloudCapacity, instance_type: str) -> str:
    """By the file; of a type that it does not name, by AWS's way of naming."""
    for one in cloud.instance_types:
        if one.name == instance_type:
            return one.architecture
    return architecture_of(instance_type)


def reserved(cloud: CloudCapacity, one: CloudReservation) -> Requirements:
    """What is known of the machines of a reservation."""
    kind = BLOCK if one.type == BLOCK else DEFAULT
    known = {
        labels.CAPACITY_TYPE: labels.RESERVED,
        labels.RESERVATION_TYPE: kind,
        labels.RESERVATION_INTERRUPTIBLE: "true" if one.type == INTERRUPTIBLE else "false",
        **({labels.RESERVATION_ID: one.id} if one.id else {}),
    }
    own = (requirement(key, IN, (value,)) for key, value in known.items())
    return machine(cloud, one.instance_type, (one.zone,)).plus(own)


def terms(found: ResourceClass) -> list[Requirements]:
    """What its seats ask of labels: one of these must hold."""
    selected = [requirement(key, IN, (value,)) for key, value in (found.pod.node_selector or {}).items()]
    said = _node_affinity(found).required
    if said is None:
        return [Requirements(selected)]
    return [Requirements([*selected, *_expressions(term)]) for term in said.node_selector_terms]


def _wished(found: ResourceClass) -> list[Requirements]:
    """The same with its heaviest preference, which Karpenter takes as a must for as long as it can be met.
    Nothing where it has none, or none that goes with what it must have.
    """
    preferred = _node_affinity(found).preferred
    if not preferred:
        return []
    wish = Requirements(_expressions(max(preferred, key=lambda one: one.weight).preference))
    return [one.plus(wish) for one in terms(found) if one.crossing(wish) is None]


def hindrance(found: ResourceClass, cloud: CloudCapacity, names: Iterable[str] = ()) -> Hindrance | None:
    """Why no seat of the class can ever be on such a node; None where one may. `names`: of the NodePools that
    have nodes of the capacity, if known.
    """
    known, pools = pool(cloud), tuple(names)
    if pools:
        known = known.plus([requirement(labels.NODEPOOL, IN, pools)])
    asked = terms(found)
    clashes = [known.clash(one, labels.WELL_KNOWN) for one in asked]
    if all(clashes):
        return Hindrance(str(clashes[0]), clashes[0].key if clashes[0] else "")
    taint = unborne(_taints(cloud), [_toleration(one) for one in found.pod.tolerations or ()])
    if taint is not None:
        value = f"={taint.value}" if taint.value else ""
        return Hindrance(f"it does not tolerate the taint {taint.key}{value}:{taint.effect}", "")
    return _of_machines(asked, candidates(cloud))


def candidates(cloud: CloudCapacity) -> list[Requirements]:
    """The machines that it may come to, where they are known; none where they may be of any type."""
    if cloud.capacity_types == (labels.RESERVED,):
        return [reserved(cloud, one) for one in cloud.reservations if not excluded(cloud, one)]
    known = pool(cloud)
    types, families = known.get(labels.INSTANCE_TYPE), known.get(_FAMILY)
    if not types.complement:
        zones = {one.name: one.zones for one in cloud.instance_types}
        return [machine(cloud, name, zones.get(name, ())) for name in sorted(types.values)]
    return [] if families.complement else [_family(cloud, name) for name in sorted(families.values)]


def contradiction(cloud: CloudCapacity) -> str:
    """Why no machine at all meets the requirements and labels together; empty where some may."""
    said = {one.key for one in cloud.requirements if one.operator == DOES_NOT_EXIST}
    known = pool(cloud)
    for key, one in known.by_key.items():
        if one.operator == DOES_NOT_EXIST and key not in said:
            return f"no value of {key} meets them all"
    if cloud.capacity_types == (labels.RESERVED,):
        return ""  # told of each reservation
    clashes = [one.crossing(known) for one in candidates(cloud)]
    return str(clashes[0]) if clashes and all(clashes) else ""


def falls_back(found: ResourceClass, cloud: CloudCapacity) -> bool:
    """Whether seats of the class may be on machines of it that are not reserved."""
    return _bought(terms(found), cloud)


def _bought(asked: Iterable[Requirements], cloud: CloudCapacity) -> bool:
    """Whether any of this may be met by machines that are not reserved."""
    absent = [requirement(key, DOES_NOT_EXIST) for key in labels.RESERVATION_LABELS]
    for capacity_type in set(cloud.capacity_types) - {labels.RESERVED}:
        bought = Requirements([requirement(labels.CAPACITY_TYPE, IN, (capacity_type,)), *absent])
        meets = [bought.crossing(term) is None for term in asked]
        if any(meets) and bought.crossing(pool(cloud)) is None:
            return True
    return False


def passed_over(found: ResourceClass, one: Requirements, clouds: Iterable[CloudCapacity]) -> Hindrance | None:
    """Why seats leave machines alone that they may be on: the heaviest preference is met by others that can
    be bought, of any of these capacities. None where it is not.
    """
    asked = _wished(found)
    crossing = _of_machines(asked, [one])
    if crossing is None:
        return None
    for cloud in clouds:
        machines = candidates(cloud)
        good = [
            term
            for term in asked
            if pool(cloud).clash(term, labels.WELL_KNOWN) is None and not _of_machines([term], machines)
        ]
        if hindrance(found, cloud) is None and _bought(good, cloud):
            return crossing
    return None


class Fit(NamedTuple):
    """What a class finds in a capacity."""

    able: bool  # whether its seats may be there at all
    falls_back: bool
    reserved: tuple[CloudReservation, ...]  # that its seats may take
    sound: bool  # whether every reservation of the capacity may be used by somebody


class _Same:
    """A value that is like itself alone: values of declarations have mappings in them, and no hash."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


def fit(found: ResourceClass, cloud: CloudCapacity) -> Fit:
    """Remembered: thousands of reservations ask it of the same few."""
    return _fit(_Same(found), _Same(cloud))


@lru_cache(maxsize=1024)
def _fit(same_class: _Same, same_cloud: _Same) -> Fit:
    found, cloud = same_class.value, same_cloud.value
    good = [one for one in cloud.reservations if excluded(cloud, one) is None]
    wished = good if labels.RESERVED in cloud.capacity_types else []
    return Fit(
        able=hindrance(found, cloud) is None,
        falls_back=falls_back(found, cloud),
        reserved=tuple(one for one in wished if unusable(found, cloud, one) is None),
        sound=bool(good) and len(good) == len(cloud.reservations),
    )


def unusable(found: ResourceClass, cloud: CloudCapacity, one: CloudReservation) -> Hindrance | None:
    """Why no seat of the class can be on machines of this reservation; None where one may."""
    return _of_machines(terms(found), [reserved(cloud, one)])


def excluded(cloud: CloudCapacity, one: CloudReservation) -> Hindrance | None:
    """Why Karpenter is kept from the reservation by the capacity's own requirements, or by where its type is
    sold; None where it is not.
    """
    sold = next((each.zones for each in cloud.instance_types if each.name == one.instance_type), ())
    if sold and one.zone not in sold:
        why = f"instanceTypes has {one.instance_type} in {', '.join(sold)} only, not in {one.zone}"
        return Hindrance(why, labels.ZONE)
    clash = reserved(cloud, one).crossing(pool(cloud).without(labels.CAPACITY_TYPE))
    return Hindrance(str(clash), clash.key) if clash else None


def _of_machines(asked: Iterable[Requirements], machines: list[Requirements]) -> Hindrance | None:
    clashes = [one.crossing(term) for one in machines for term in asked]
    if not clashes or not all(clashes):
        return None
    return Hindrance(str(clashes[0]), clashes[0].key if clashes[0] else "")


def _family(cloud: CloudCapacity, name: str) -> Requirements:
    """What is known of every type of a family."""
    said = {one.architecture for one in cloud.instance_types if one.name.partition(".")[0] == name}
    found = [one for one in _by_name(f"{name}.any") if one.key != labels.INSTANCE_SIZE]
    return Requirements([*found, requirement(labels.ARCH, IN, said or {architecture_of(f"{name}.any")})])


def _region(zone: str) -> str:
    match = _REGION.match(zone)
    return match[0] if match else zone


def _node_affinity(found: ResourceClass) -> NodeAffinity:
    said = found.pod.affinity and found.pod.affinity.node_affinity
    return said or NodeAffinity.model_construct()


def _expressions(term: NodeTerm) -> list[Requirement]:
    return [_requirement(one) for one in term.match_expressions or ()]


def _requirement(said: NodeRequirement | schema.Requirement) -> Requirement:
    return requirement(said.key, said.operator, said.values or ())


def _taints(cloud: CloudCapacity) -> list[Taint]:
    found = (Taint(one.key, one.value or "", one.effect) for one in cloud.taints)
    return [one for one in found if one.effect in _TAINTS_THAT_HOLD]


def _toleration(said: pods.Toleration) -> Toleration:
    return Toleration(said.key or "", said.operator or "Equal", said.value or "", said.effect or "")


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
    return [requirement(_AWS + key, IN, (value,)) for key, value in known.items()]

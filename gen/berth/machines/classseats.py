"""What the estimate knows of the seats of a resource class."""

from collections.abc import Iterable

from berth.karpenter.nodelabels import HOSTNAME, NODEPOOL, WELL_KNOWN, ZONE, normalized, restricted
from berth.karpenter.requirements import (
    IN,
    Labels,
    Requirement,
    parse_requirements,
    requirement,
    requirements_of_labels,
)
from berth.karpenter.resourcelists import ONE, VOLUMES, parse_resources
from berth.karpenter.taints import parse_toleration
from berth.machines.question import APART, PreferredTerm, Seats
from berth.schema.pod import Placement
from berth.schema.scheduling import LabelSelector, NodeAffinity, PodAffinity
from berth.schema.values import ResourceClass

NOT_COUNTED = "not counted: may need more machines, or find none, because of"


def class_seats(found: ResourceClass, labels: Labels) -> Seats:
    """Return one seat of a class; `labels` are those of its placeholders.

    It has the volumes of the session that replaces it, so that the machines suffice for sessions.
    """
    pod = found.pod
    node = (pod.affinity and pod.affinity.node_affinity) or NodeAffinity.model_construct()
    only = (requirement(NODEPOOL, IN, found.node_pools),) if found.node_pools else ()
    terms = node.required.node_selector_terms if node.required else ()
    parsed = [parse_requirements(term.match_expressions or ()) for term in terms]
    more = {VOLUMES: found.volumes * ONE} if found.volumes else {}
    if _is_apart(pod, labels):
        more[APART + found.name] = ONE
    return Seats(
        found.name,
        tuple(sorted({**dict(parse_resources(dict(found.requests))), **more}.items())),
        node_selector=tuple(sorted((pod.node_selector or {}).items())),
        required=tuple((*term, *only) for term in parsed or ([()] if only else [])),
        preferred=tuple(
            PreferredTerm(one.weight, parse_requirements(one.preference.match_expressions or ()))
            for one in node.preferred or ()
        ),
        tolerations=tuple(map(parse_toleration, pod.tolerations or ())),
    )


def uncounted(found: ResourceClass, labels: Labels) -> str:
    """Return why the estimate does not count the seats of a class; empty if it does."""
    pod, near = found.pod, found.pod.affinity
    if pod.topology_spread_constraints:
        return f"{NOT_COUNTED} its topology spread"
    pods = (near.pod_affinity, near.pod_anti_affinity) if near else ()
    if any(one and (one.required or one.preferred) for one in pods) and not _is_apart(pod, labels):
        return f"{NOT_COUNTED} its pod affinity"
    node = near.node_affinity if near else None
    terms = node.required.node_selector_terms if node and node.required else ()
    keys = {*(pod.node_selector or {}), *(one.key for term in terms for one in term.match_expressions or ())}
    if wrong := sorted(normalized(key) for key in keys if restricted(key, WELL_KNOWN)):
        return f"{NOT_COUNTED} {wrong[0]}, by which Karpenter lets no pod select nodes"
    if any(term.match_fields for term in terms):
        return f"{NOT_COUNTED} matchFields, which Karpenter does not know"
    return ""


def named_zones(seats: Seats) -> frozenset[str] | None:
    """Return the zones that seats name, or None if the zone does not matter to them."""
    terms: Iterable[Iterable[Requirement]] = (
        requirements_of_labels(seats.node_selector),
        *seats.required,
        *(one.requirements for one in seats.preferred),
    )
    asked = [one for term in terms for one in term if one.key == ZONE]
    if not asked:
        return None
    return frozenset(zone for one in asked if not one.complement for zone in one.values)


def _is_apart(pod: Placement, labels: Labels) -> bool:
    """Tell whether pods of a class only ask to be on different machines than each other."""
    near = pod.affinity or None
    far = (near and near.pod_anti_affinity) or PodAffinity.model_construct()
    if near is None or near.pod_affinity or far.preferred or len(far.required or ()) != 1:
        return False
    (term,) = far.required or ()
    is_plain = not (term.namespaces or term.namespace_selector or term.mismatch_label_keys)
    return is_plain and term.topology_key == HOSTNAME and _selects(term.label_selector, dict(labels))


def _selects(selector: LabelSelector | None, labels: dict[str, str]) -> bool:
    wanted = selector.match_labels or {} if selector and not selector.match_expressions else {}
    return bool(wanted) and wanted.items() <= labels.items()

"""Read the placeholders of a resource class into the planner's `PodSet`."""

from collections.abc import Iterable

from berth.karpenter.nodelabels import NODEPOOL, ZONE
from berth.karpenter.requirements import (
    IN,
    NOT_IN,
    Labels,
    RequirementTerm,
    parse_requirements,
    requirement,
    requirements_of_labels,
)
from berth.karpenter.resourcelists import ONE, VOLUMES, parse_resources
from berth.karpenter.taints import parse_toleration
from berth.planner.inputs import PodAffinityTerm, PodSelector, PodSet, PreferredTerm, SpreadConstraint
from berth.planner.topology import selector_matches
from berth.schema import scheduling as schema
from berth.schema.pod import Placement
from berth.schema.scheduling import NodeAffinity, NodeTerm, PodAffinity, PodTerm, PreferredPodTerm
from berth.schema.values import ResourceClass

POD_TEMPLATE_HASH = "pod-template-hash"  # the label by which a Deployment finds its own pods
_NAME = "kubernetes.io/metadata.name"  # of a namespace


def named_zones(pod: PodSet) -> frozenset[str] | None:
    """Return the zones that a pod names, or None if the zone does not matter to it."""
    terms = (*pod.required, *(one.requirements for one in pod.preferred))
    asked = [
        one for term in (requirements_of_labels(pod.node_selector), *terms) for one in term if one.key == ZONE
    ]
    near = (*pod.affinity, *pod.anti_affinity, *pod.preferred_affinity, *pod.preferred_anti_affinity)
    if not asked and ZONE not in {
        *(spread_constraint.key for spread_constraint in pod.spread),
        *(pod_affinity_term.key for pod_affinity_term in near),
    }:
        return None
    return frozenset(zone for term in asked if not term.complement for zone in term.values)


def topology_label_keys(pod: Placement) -> set[str]:
    """Return the keys of the labels that the pod's topology spread and pod affinity select by."""
    near, far = _pod_affinities(pod)
    terms = [one for affinity in (near, far) for one in affinity.required or ()]
    terms += [one.pod_affinity_term for affinity in (near, far) for one in affinity.preferred or ()]
    keys = {key for term in terms for key in term.mismatch_label_keys or ()}
    selecting: list[schema.TopologySpread | PodTerm] = [*(pod.topology_spread_constraints or ()), *terms]
    for one in selecting:
        keys |= {*(one.match_label_keys or ())}
        if one.label_selector is not None:
            keys |= {*(one.label_selector.match_labels or ())}
            keys |= {expression.key for expression in one.label_selector.match_expressions or ()}
    return keys


def pod_set(found: ResourceClass, labels: Labels, namespace: str) -> PodSet:
    """Return the placeholders of a class as the planner takes them.

    They have the volumes of the sessions that replace them, so that the nodes suffice for these.
    """
    pod = found.pod
    node = (pod.affinity and pod.affinity.node_affinity) or NodeAffinity.model_construct()
    terms = node.required.node_selector_terms if node.required else ()
    near, far = _pod_affinities(pod)
    volumes = {VOLUMES: found.volumes * ONE} if found.volumes else {}
    return PodSet(
        found.name,
        tuple(sorted({**dict(parse_resources(dict(found.requests))), **volumes}.items())),
        namespace=namespace,
        labels=labels,
        node_selector=tuple(sorted((pod.node_selector or {}).items())),
        required=_required_terms(terms, found.node_pools),
        preferred=tuple(
            PreferredTerm(one.weight, parse_requirements(one.preference.match_expressions or ()))
            for one in node.preferred or ()
        ),
        tolerations=tuple(map(parse_toleration, pod.tolerations or ())),
        spread=tuple(map(_topology_spread, pod.topology_spread_constraints or ())),
        affinity=tuple(_affinity_term(one, labels, namespace) for one in near.required or ()),
        anti_affinity=tuple(_affinity_term(one, labels, namespace) for one in far.required or ()),
        preferred_affinity=tuple(_weighted_term(one, labels, namespace) for one in near.preferred or ()),
        preferred_anti_affinity=tuple(_weighted_term(one, labels, namespace) for one in far.preferred or ()),
        match_fields=any(term.match_fields for term in terms),
    )


def _pod_affinities(pod: Placement) -> tuple[PodAffinity, PodAffinity]:
    """Return the pod affinity and the pod anti-affinity, empty where none is declared."""
    nothing = PodAffinity.model_construct()
    if pod.affinity is None:
        return nothing, nothing
    return pod.affinity.pod_affinity or nothing, pod.affinity.pod_anti_affinity or nothing


def _required_terms(terms: Iterable[NodeTerm], pools: tuple[str, ...]) -> tuple[RequirementTerm, ...]:
    """Return the alternatives of the node affinity, each restricted to the node pools."""
    only = (requirement(NODEPOOL, IN, pools),) if pools else ()
    parsed = [parse_requirements(term.match_expressions or ()) for term in terms]
    return tuple((*term, *only) for term in parsed or ([()] if only else []))


def _topology_spread(declared: schema.TopologySpread) -> SpreadConstraint:
    return SpreadConstraint(
        declared.topology_key,
        declared.max_skew,
        _selector(declared.label_selector),
        declared.when_unsatisfiable == "ScheduleAnyway",
        declared.min_domains,
        declared.node_taints_policy == "Honor",
        declared.node_affinity_policy != "Ignore",
        declared.match_label_keys or (),
    )


def _affinity_term(declared: PodTerm, labels: Labels, namespace: str, weight: int = 0) -> PodAffinityTerm:
    """Read a term as the API server stores it: with the pod's values for its label keys."""
    selector, has = _selector(declared.label_selector), dict(labels)
    if selector is not None:
        more = tuple(
            requirement(key, operator, (has[key],))
            for keys, operator in ((declared.match_label_keys, IN), (declared.mismatch_label_keys, NOT_IN))
            for key in keys or ()
            if key in has
        )
        selector = selector._replace(expressions=(*selector.expressions, *more))
    return PodAffinityTerm(declared.topology_key, selector, _namespaces(declared, namespace), weight)


def _namespaces(declared: PodTerm, own: str) -> tuple[str, ...]:
    """Return the namespaces of a term. Only `own` has placeholders, and of its labels only its name is
    known.
    """
    named, by_label = declared.namespaces or (), _selector(declared.namespace_selector)
    if by_label is None:
        return named
    return (*named, own if selector_matches(by_label, ((_NAME, own),)) else "")


def _weighted_term(declared: PreferredPodTerm, labels: Labels, namespace: str) -> PodAffinityTerm:
    return _affinity_term(declared.pod_affinity_term, labels, namespace, declared.weight)


def _selector(declared: schema.LabelSelector | None) -> PodSelector | None:
    if declared is None:
        return None
    labels = tuple(sorted((declared.match_labels or {}).items()))
    return PodSelector(labels, parse_requirements(declared.match_expressions or ()))

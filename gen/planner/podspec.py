"""Read a pod template, as Kubernetes writes it, into the planner's `PodSet`."""

from collections.abc import Iterable, Mapping
from typing import Any

from gen.karpenter.nodelabels import ZONE
from gen.karpenter.requirements import (
    IN,
    NOT_IN,
    Labels,
    RequirementTerm,
    parse_requirements,
    requirement,
    requirements_of_labels,
)
from gen.karpenter.resourcelists import parse_resources
from gen.karpenter.taints import parse_toleration
from gen.planner.inputs import LabelSelector, PodAffinityTerm, PodSet, PreferredTerm, TopologySpread
from gen.planner.topology import selector_matches

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
POD_TEMPLATE_HASH = "pod-template-hash"  # the label by which a Deployment finds its own pods
_NAME = "kubernetes.io/metadata.name"  # of a namespace


def named_zones(pod: PodSet) -> frozenset[str] | None:
    """Return the zones that a pod names, or None if the zone does not matter to it."""
    terms = (*pod.required, *(one.requirements for one in pod.preferred))
    asked = [
        one for term in (requirements_of_labels(pod.node_selector), *terms) for one in term if one.key == ZONE
    ]
    near = (*pod.affinity, *pod.anti_affinity, *pod.preferred_affinity, *pod.preferred_anti_affinity)
    if not asked and ZONE not in {*(one.key for one in pod.spread), *(one.key for one in near)}:
        return None
    return frozenset(zone for one in asked if not one.complement for zone in one.values)


def topology_label_keys(pod: Mapping[str, Any]) -> set[str]:
    """Return the keys of the labels that the pod's topology spread and pod affinity select by."""
    affinity = pod.get("affinity") or {}
    said = [*(pod.get("topologySpreadConstraints") or ())]
    for one in (affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}):
        said += one.get(_REQUIRED) or ()
        said += (wish["podAffinityTerm"] for wish in one.get(_PREFERRED) or ())
    keys: set[str] = set()
    for one in said:
        selector = one.get("labelSelector") or {}
        keys |= {*(selector.get("matchLabels") or ()), *(one.get("matchLabelKeys") or ())}
        keys |= {*(one.get("mismatchLabelKeys") or ())}
        keys |= {expression["key"] for expression in selector.get("matchExpressions") or ()}
    return keys


def pod_set(
    name: str,
    requests: Iterable[tuple[str, str]],
    pod: Mapping[str, Any],
    labels: Labels,
    namespace: str,
) -> PodSet:
    """Return the pod of a template as the planner takes it."""
    affinity = pod.get("affinity") or {}
    near, far = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    return PodSet(
        name,
        parse_resources(dict(requests)),
        namespace=namespace,
        labels=labels,
        node_selector=tuple(sorted((pod.get("nodeSelector") or {}).items())),
        required=tuple(_required_terms(affinity.get("nodeAffinity") or {})),
        preferred=tuple(_preferred_terms(affinity.get("nodeAffinity") or {})),
        tolerations=tuple(map(parse_toleration, pod.get("tolerations") or ())),
        spread=tuple(map(_topology_spread, pod.get("topologySpreadConstraints") or ())),
        affinity=tuple(_affinity_term(one, labels, namespace) for one in near.get(_REQUIRED) or ()),
        anti_affinity=tuple(_affinity_term(one, labels, namespace) for one in far.get(_REQUIRED) or ()),
        preferred_affinity=tuple(
            _weighted_term(one, labels, namespace) for one in near.get(_PREFERRED) or ()
        ),
        preferred_anti_affinity=tuple(
            _weighted_term(one, labels, namespace) for one in far.get(_PREFERRED) or ()
        ),
        match_fields=any(
            term.get("matchFields") for term in _declared_terms(affinity.get("nodeAffinity") or {})
        ),
    )


def _required_terms(affinity: Mapping[str, Any]) -> Iterable[RequirementTerm]:
    for term in _declared_terms(affinity):
        yield parse_requirements(term.get("matchExpressions") or ())


def _declared_terms(affinity: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    terms: Iterable[Mapping[str, Any]] = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    return terms


def _preferred_terms(affinity: Mapping[str, Any]) -> Iterable[PreferredTerm]:
    for one in affinity.get(_PREFERRED) or ():
        yield PreferredTerm(
            one["weight"], parse_requirements(one["preference"].get("matchExpressions") or ())
        )


def _topology_spread(said: Mapping[str, Any]) -> TopologySpread:
    return TopologySpread(
        said["topologyKey"],
        said["maxSkew"],
        _selector(said.get("labelSelector")),
        said.get("whenUnsatisfiable") == "ScheduleAnyway",
        said.get("minDomains"),
        said.get("nodeTaintsPolicy") == "Honor",
        said.get("nodeAffinityPolicy") != "Ignore",
        tuple(said.get("matchLabelKeys") or ()),
    )


def _affinity_term(
    said: Mapping[str, Any], labels: Labels, namespace: str, weight: int = 0
) -> PodAffinityTerm:
    """Read a term as the API server stores it: with the pod's values for its label keys."""
    selector, has = _selector(said.get("labelSelector")), dict(labels)
    if selector is not None:
        more = tuple(
            requirement(key, operator, (has[key],))
            for name, operator in (("matchLabelKeys", IN), ("mismatchLabelKeys", NOT_IN))
            for key in said.get(name) or ()
            if key in has
        )
        selector = selector._replace(expressions=(*selector.expressions, *more))
    return PodAffinityTerm(said["topologyKey"], selector, _namespaces(said, namespace), weight)


def _namespaces(said: Mapping[str, Any], own: str) -> tuple[str, ...]:
    """Return the namespaces of a term. Only `own` has placeholders, and of its labels only its name is
    known.
    """
    named, by_label = tuple(said.get("namespaces") or ()), _selector(said.get("namespaceSelector"))
    if by_label is None:
        return named
    return (*named, own if selector_matches(by_label, ((_NAME, own),)) else "")


def _weighted_term(said: Mapping[str, Any], labels: Labels, namespace: str) -> PodAffinityTerm:
    return _affinity_term(said["podAffinityTerm"], labels, namespace, said["weight"])


def _selector(said: Mapping[str, Any] | None) -> LabelSelector | None:
    if said is None:
        return None
    labels = tuple(sorted((said.get("matchLabels") or {}).items()))
    return LabelSelector(labels, parse_requirements(said.get("matchExpressions") or ()))

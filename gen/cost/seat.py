"""The placeholder of a class as a pod for the planner: what it asks for, and where it may go."""

from collections.abc import Iterable, Mapping
from typing import Any

from gen.cost.values import Key
from gen.model import ResourceClass
from gen.plan.amounts import amounts
from gen.plan.labels import ZONE
from gen.plan.requirement import IN, NOT_IN, Labels, Requirement, of_labels, requirement
from gen.plan.topologygroup import selected
from gen.plan.values import Near, Pod, Preferred, Selector, Spread, Taint, Toleration

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_HASH = "pod-template-hash"  # of a pool's Deployment, by which Kubernetes tells its pods from all others
_NAME = "kubernetes.io/metadata.name"  # of a namespace
Term = tuple[Requirement, ...]


def seats(classes: Mapping[Key, tuple[ResourceClass, Labels]], namespace: str) -> dict[Key, Pod]:
    """Of all pools of a cluster: their classes, led to their node pools (`gen.manifest.cloudpools.led`), with
    the labels of their placeholders.

    Of these labels only those are kept that the spread or affinity of any of the classes looks at, so that
    equal seats of several courses are known to be equal.
    """
    seen = frozenset[str]().union(*(_seen(found.pod) for found, _ in classes.values()))
    found = {}
    for key, (one, labels) in classes.items():
        every = (*labels, (_HASH, "-".join(key)))
        found[key] = _seat(one, tuple(label for label in every if label[0] in seen), namespace)
    return found


def zones(pod: Pod) -> frozenset[str] | None:
    """Those that it names; None where it is all the same to it."""
    terms = (*pod.required, *(one.requirements for one in pod.preferred))
    asked = [one for term in (of_labels(pod.node_selector), *terms) for one in term if one.key == ZONE]
    near = (*pod.near, *pod.far, *pod.near_preferred, *pod.far_preferred)
    if not asked and ZONE not in {*(one.key for one in pod.spread), *(one.key for one in near)}:
        return None
    return frozenset(zone for one in asked if not one.complement for zone in one.values)


def _seen(pod: Mapping[str, Any]) -> set[str]:
    """Keys of the labels that its spread and its affinity look at."""
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


def _seat(found: ResourceClass, labels: Labels, namespace: str) -> Pod:
    pod = found.pod
    affinity = pod.get("affinity") or {}
    near, far = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    return Pod(
        found.name,
        amounts(dict(found.requests)),
        namespace=namespace,
        labels=labels,
        node_selector=tuple(sorted((pod.get("nodeSelector") or {}).items())),
        required=tuple(_terms(affinity.get("nodeAffinity") or {})),
        preferred=tuple(_preferred(affinity.get("nodeAffinity") or {})),
        tolerations=tuple(map(_toleration, pod.get("tolerations") or ())),
        spread=tuple(map(_spread, pod.get("topologySpreadConstraints") or ())),
        near=tuple(_near(one, labels, namespace) for one in near.get(_REQUIRED) or ()),
        far=tuple(_near(one, labels, namespace) for one in far.get(_REQUIRED) or ()),
        near_preferred=tuple(_weighed(one, labels, namespace) for one in near.get(_PREFERRED) or ()),
        far_preferred=tuple(_weighed(one, labels, namespace) for one in far.get(_PREFERRED) or ()),
        by_fields=any(term.get("matchFields") for term in _said(affinity.get("nodeAffinity") or {})),
    )


def requirements(said: Iterable[Mapping[str, Any]]) -> Term:
    """As a pod or a NodePool writes them."""
    return tuple(
        requirement(one["key"], one["operator"], one.get("values") or (), one.get("minValues"))
        for one in said
    )


def taints(said: Iterable[Mapping[str, Any]]) -> tuple[Taint, ...]:
    return tuple(Taint(one["key"], one.get("value") or "", one.get("effect") or "NoSchedule") for one in said)


def _terms(affinity: Mapping[str, Any]) -> Iterable[Term]:
    for term in _said(affinity):
        yield requirements(term.get("matchExpressions") or ())


def _said(affinity: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    terms: Iterable[Mapping[str, Any]] = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    return terms


def _preferred(affinity: Mapping[str, Any]) -> Iterable[Preferred]:
    for one in affinity.get(_PREFERRED) or ():
        yield Preferred(one["weight"], requirements(one["preference"].get("matchExpressions") or ()))


def _toleration(said: Mapping[str, Any]) -> Toleration:
    return Toleration(
        said.get("key") or "",
        said.get("operator") or "Equal",
        said.get("value") or "",
        said.get("effect") or "",
    )


def _spread(said: Mapping[str, Any]) -> Spread:
    return Spread(
        said["topologyKey"],
        said["maxSkew"],
        _selector(said.get("labelSelector")),
        said.get("whenUnsatisfiable") == "ScheduleAnyway",
        said.get("minDomains"),
        said.get("nodeTaintsPolicy") == "Honor",
        said.get("nodeAffinityPolicy") != "Ignore",
        tuple(said.get("matchLabelKeys") or ()),
    )


def _near(said: Mapping[str, Any], labels: Labels, namespace: str, weight: int = 0) -> Near:
    """As the API server stores it: with the values that the pod has for its label keys."""
    selector, has = _selector(said.get("labelSelector")), dict(labels)
    if selector is not None:
        more = tuple(
            requirement(key, operator, (has[key],))
            for name, operator in (("matchLabelKeys", IN), ("mismatchLabelKeys", NOT_IN))
            for key in said.get(name) or ()
            if key in has
        )
        selector = selector._replace(expressions=(*selector.expressions, *more))
    return Near(said["topologyKey"], selector, _namespaces(said, namespace), weight)


def _namespaces(said: Mapping[str, Any], own: str) -> tuple[str, ...]:
    """Of those in which there are seats, which is `own`. Of its labels only its name is known."""
    named, by_label = tuple(said.get("namespaces") or ()), _selector(said.get("namespaceSelector"))
    if by_label is None:
        return named
    return (*named, own if selected(by_label, ((_NAME, own),)) else "")


def _weighed(said: Mapping[str, Any], labels: Labels, namespace: str) -> Near:
    return _near(said["podAffinityTerm"], labels, namespace, said["weight"])


def _selector(said: Mapping[str, Any] | None) -> Selector | None:
    if said is None:
        return None
    labels = tuple(sorted((said.get("matchLabels") or {}).items()))
    return Selector(labels, requirements(said.get("matchExpressions") or ()))

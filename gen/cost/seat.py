"""The placeholder of a class as a pod for the planner: what it asks for, and where it may go."""

from collections.abc import Iterable, Mapping
from typing import Any

from gen.model import ResourceClass
from gen.plan.amounts import amounts
from gen.plan.requirement import Labels, Requirement, requirement
from gen.plan.values import Near, Pod, Preferred, Selector, Spread, Taint, Toleration

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
Term = tuple[Requirement, ...]


def seat(found: ResourceClass, labels: Labels, namespace: str) -> Pod:
    """Of a class that is led to its node pools (`gen.manifest.cloudpools.led`). `labels` are those of the
    placeholder, which only spread and affinity look at.
    """
    pod = found.pod
    affinity = pod.get("affinity") or {}
    near, far = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    spread = tuple(map(_spread, pod.get("topologySpreadConstraints") or ()))
    cares = bool(spread or near or far)
    return Pod(
        found.name,
        amounts(dict(found.requests)),
        namespace=namespace,
        labels=labels if cares else (),  # so that equal seats of several courses are known to be equal
        node_selector=tuple(sorted((pod.get("nodeSelector") or {}).items())),
        required=tuple(_terms(affinity.get("nodeAffinity") or {})),
        preferred=tuple(_preferred(affinity.get("nodeAffinity") or {})),
        tolerations=tuple(map(_toleration, pod.get("tolerations") or ())),
        spread=spread,
        near=tuple(map(_near, near.get(_REQUIRED) or ())),
        far=tuple(map(_near, far.get(_REQUIRED) or ())),
        near_preferred=tuple(map(_weighed, near.get(_PREFERRED) or ())),
        far_preferred=tuple(map(_weighed, far.get(_PREFERRED) or ())),
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
    for term in (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ():
        yield requirements(term.get("matchExpressions") or ())


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


def _near(said: Mapping[str, Any], weight: int = 0) -> Near:
    namespaces = tuple(said.get("namespaces") or ())
    return Near(said["topologyKey"], _selector(said.get("labelSelector")), namespaces, weight)


def _weighed(said: Mapping[str, Any]) -> Near:
    return _near(said["podAffinityTerm"], said["weight"])


def _selector(said: Mapping[str, Any] | None) -> Selector | None:
    if said is None:
        return None
    labels = tuple(sorted((said.get("matchLabels") or {}).items()))
    return Selector(labels, requirements(said.get("matchExpressions") or ()))

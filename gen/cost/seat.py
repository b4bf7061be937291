"""The placeholder of a class as a pod for the planner: what it asks for, and where it may go."""

from collections.abc import Iterable, Mapping

from gen.cost.values import Key
from gen.model import ResourceClass
from gen.plan.amounts import amounts
from gen.plan.labels import NODEPOOL, ZONE
from gen.plan.requirement import IN, NOT_IN, Labels, Requirement, of_labels, requirement
from gen.plan.topologygroup import selected
from gen.plan.values import Near, Pod, Preferred, Selector, Spread, Taint, Toleration
from gen.schema import pod as pods
from gen.schema.nodepool import Requirement as PoolRequirement
from gen.schema.nodepool import Taint as PoolTaint
from gen.schema.pod import (
    LabelRequirement,
    LabelSelector,
    NodeAffinity,
    NodeRequirement,
    NodeTerm,
    Placement,
    PodAffinity,
    PodTerm,
    PreferredPodTerm,
    TopologySpread,
)

_HASH = "pod-template-hash"  # of a pool's Deployment, by which Kubernetes tells its pods from all others
_NAME = "kubernetes.io/metadata.name"  # of a namespace
Term = tuple[Requirement, ...]


def seats(classes: Mapping[Key, tuple[ResourceClass, Labels]], namespace: str) -> dict[Key, Pod]:
    """Of all pools of a cluster: their classes, led to their node pools (`node_pools`), with
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


def _seen(pod: Placement) -> set[str]:
    """Keys of the labels that its spread and its affinity look at."""
    keys: set[str] = set()
    spreads = pod.topology_spread_constraints or ()
    near, far = _pods(pod)
    terms = [one for affinity in (near, far) for one in affinity.required or ()]
    terms += [one.pod_affinity_term for affinity in (near, far) for one in affinity.preferred or ()]
    for term in terms:
        keys |= {*(term.mismatch_label_keys or ())}
    every: list[TopologySpread | PodTerm] = [*spreads, *terms]
    for one in every:
        keys |= {*(one.match_label_keys or ())}
        if one.label_selector is not None:
            keys |= {*(one.label_selector.match_labels or ())}
            keys |= {expression.key for expression in one.label_selector.match_expressions or ()}
    return keys


def _pods(pod: Placement) -> tuple[PodAffinity, PodAffinity]:
    """Which pods it wants near, and which far."""
    nothing = PodAffinity.model_construct()
    if pod.affinity is None:
        return nothing, nothing
    return pod.affinity.pod_affinity or nothing, pod.affinity.pod_anti_affinity or nothing


def _seat(found: ResourceClass, labels: Labels, namespace: str) -> Pod:
    pod = found.pod
    node = (pod.affinity and pod.affinity.node_affinity) or NodeAffinity.model_construct()
    terms = node.required.node_selector_terms if node.required else ()
    near, far = _pods(pod)
    return Pod(
        found.name,
        amounts(dict(found.requests)),
        namespace=namespace,
        labels=labels,
        node_selector=tuple(sorted((pod.node_selector or {}).items())),
        required=tuple(_terms(terms, found.node_pools)),
        preferred=tuple(
            Preferred(one.weight, requirements(one.preference.match_expressions or ()))
            for one in node.preferred or ()
        ),
        tolerations=tuple(map(_toleration, pod.tolerations or ())),
        spread=tuple(map(_spread, pod.topology_spread_constraints or ())),
        near=tuple(_near(one, labels, namespace) for one in near.required or ()),
        far=tuple(_near(one, labels, namespace) for one in far.required or ()),
        near_preferred=tuple(_weighed(one, labels, namespace) for one in near.preferred or ()),
        far_preferred=tuple(_weighed(one, labels, namespace) for one in far.preferred or ()),
        by_fields=any(term.match_fields for term in terms),
    )


def requirements(said: Iterable[NodeRequirement | LabelRequirement | PoolRequirement]) -> Term:
    """As a pod or a NodePool writes them."""
    return tuple(
        requirement(
            one.key,
            one.operator,
            one.values or (),
            one.min_values if isinstance(one, PoolRequirement) else None,
        )
        for one in said
    )


def taints(said: Iterable[PoolTaint]) -> tuple[Taint, ...]:
    return tuple(Taint(one.key, one.value or "", one.effect) for one in said)


def _terms(terms: Iterable[NodeTerm], pools: tuple[str, ...]) -> Iterable[Term]:
    """Each alternative, led to the node pools."""
    led = (requirement(NODEPOOL, IN, pools),) if pools else ()
    said = [requirements(term.match_expressions or ()) for term in terms]
    return [(*term, *led) for term in said or ([()] if led else [])]


def _toleration(said: pods.Toleration) -> Toleration:
    return Toleration(said.key or "", said.operator or "Equal", said.value or "", said.effect or "")


def _spread(said: TopologySpread) -> Spread:
    return Spread(
        said.topology_key,
        said.max_skew,
        _selector(said.label_selector),
        said.when_unsatisfiable == "ScheduleAnyway",
        said.min_domains,
        said.node_taints_policy == "Honor",
        said.node_affinity_policy != "Ignore",
        said.match_label_keys or (),
    )


def _near(said: PodTerm, labels: Labels, namespace: str, weight: int = 0) -> Near:
    """As the API server stores it: with the values that the pod has for its label keys."""
    selector, has = _selector(said.label_selector), dict(labels)
    if selector is not None:
        more = tuple(
            requirement(key, operator, (has[key],))
            for keys, operator in ((said.match_label_keys, IN), (said.mismatch_label_keys, NOT_IN))
            for key in keys or ()
            if key in has
        )
        selector = selector._replace(expressions=(*selector.expressions, *more))
    return Near(said.topology_key, selector, _namespaces(said, namespace), weight)


def _namespaces(said: PodTerm, own: str) -> tuple[str, ...]:
    """Of those in which there are seats, which is `own`. Of its labels only its name is known."""
    named, by_label = said.namespaces or (), _selector(said.namespace_selector)
    if by_label is None:
        return named
    return (*named, own if selected(by_label, ((_NAME, own),)) else "")


def _weighed(said: PreferredPodTerm, labels: Labels, namespace: str) -> Near:
    return _near(said.pod_affinity_term, labels, namespace, said.weight)


def _selector(said: LabelSelector | None) -> Selector | None:
    if said is None:
        return None
    labels = tuple(sorted((said.match_labels or {}).items()))
    return Selector(labels, requirements(said.match_expressions or ()))

"""Topology spread, pod affinity and pod anti-affinity: pods counted by domain, and where the next one may
go.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from berth.karpenter.instancetypes import InstanceType, type_requirements
from berth.karpenter.nodelabels import HOSTNAME
from berth.karpenter.requirements import (
    DOES_NOT_EXIST,
    EXISTS,
    IN,
    NOT_IN,
    Labels,
    Requirement,
    Requirements,
    requirement,
    requirements_of_labels,
)
from berth.karpenter.taints import Taint, Toleration, untolerated
from berth.planner.inputs import (
    NodePool,
    PodAffinityTerm,
    PodSelector,
    PodSet,
    SpreadConstraint,
    StateNode,
)
from berth.planner.podqueue import PodShape
from berth.planner.tiebreaks import TieBreaker

SPREAD, AFFINITY, ANTI_AFFINITY = "spread", "affinity", "anti-affinity"
UNLIMITED_SKEW = 2**31 - 1
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", re.ASCII)


class TopologyNodeFilter(NamedTuple):
    """Which nodes count for a spread constraint: those that its pod could use."""

    requirements: tuple[Requirements, ...] = ()
    honor_taints: bool = False
    honor_affinity: bool = False
    tolerations: tuple[Toleration, ...] = ()

    def admits(
        self, taints: Iterable[Taint], requirements: Requirements, known: frozenset[str] = frozenset()
    ) -> bool:
        """Tell whether a node counts. `known` are labels that its requirements may leave open."""
        wanted = self.requirements if self.honor_affinity else ()
        if wanted and all(requirements.conflict(one, known) is not None for one in wanted):
            return False
        return not self.honor_taints or untolerated(taints, self.tolerations) is None


class TopologyRule(NamedTuple):
    """What a group counts, and by which label. Pods with the same rule share a group."""

    kind: str
    key: str
    namespaces: frozenset[str]
    selector: PodSelector | None
    max_skew: int = UNLIMITED_SKEW
    min_domains: int | None = None
    filter: TopologyNodeFilter = TopologyNodeFilter()

    def identity(self) -> object:
        """Return the identity of the rule as Karpenter hashes it.

        Rules are the same if they differ only in `min_domains`, or in the values but not the labels of
        their node filter; two equal terms of a filter cancel each other out.
        """
        keys: set[frozenset[tuple[str, int | None]]] = set()
        for one in self.filter.requirements:
            keys ^= {frozenset((r.key, r.min_values) for r in one)}
        filtered = (self.filter.honor_taints, self.filter.honor_affinity, frozenset(self.filter.tolerations))
        return self.kind, self.key, self.namespaces, self.selector, self.max_skew, frozenset(keys), filtered


class TopologyGroup:
    """The number of selected pods in each domain of a rule."""

    def __init__(self, rule: TopologyRule, domains: Iterable[str]) -> None:
        self.rule = rule
        self.domains = dict.fromkeys(domains, 0)
        self.empty = set(self.domains)
        self._selected: dict[tuple[str, Labels], bool] = {}

    def selects(self, pod: PodSet) -> bool:
        """Tell whether the rule counts this pod."""
        key = (pod.namespace, pod.labels)
        if key not in self._selected:
            self._selected[key] = pod.namespace in self.rule.namespaces and selector_matches(
                self.rule.selector, pod.labels
            )
        return self._selected[key]

    def register(self, domain: str) -> None:
        """Add an empty domain."""
        if domain not in self.domains:
            self.domains[domain] = 0
            self.empty.add(domain)

    def record(self, domains: Iterable[str], pods: int = 1) -> None:
        """Count pods in each of the domains."""
        for domain in domains:
            self.domains[domain] = self.domains.get(domain, 0) + pods
            self.empty.discard(domain)

    def next_domain(
        self, pod: PodSet, of_pod: Requirement, of_node: Requirement, ties: TieBreaker
    ) -> Requirement:
        """Return the domains that the node must be in for the pod to go there; none if it may not."""
        if self.rule.kind == SPREAD:
            found = self._spread(pod, of_pod, of_node, ties)
        elif self.rule.kind == AFFINITY:
            found = self._affinity_domains(pod, of_pod, of_node, ties)
        else:
            found = self._anti_affinity_domains(of_pod, of_node)
        return requirement(self.rule.key, IN, found)

    def _host(self, of_node: Requirement) -> str | None:
        """Return the only host in question: a new one is not listed before its first pod."""
        if self.rule.key == HOSTNAME and len(of_node.values) == 1:
            return next(iter(of_node.values))
        return None

    def _spread(self, pod: PodSet, of_pod: Requirement, of_node: Requirement, ties: TieBreaker) -> list[str]:
        own = 1 if self.selects(pod) else 0
        host = self._host(of_node)
        if host is not None:
            return [host] if self.domains.get(host, 0) + own <= self.rule.max_skew else []
        least = self._least(of_pod)
        if of_node.operator == IN:
            names: list[str] = sorted(name for name in of_node.values if name in self.domains)
        else:
            names = sorted(name for name in self.domains if of_node.allows(name))
        valid = [n for n in names if self.domains[n] + own - least <= self.rule.max_skew]
        lowest = min((self.domains[name] for name in valid), default=0)
        equal = [name for name in valid if self.domains[name] == lowest]
        return [equal[ties.pick(len(equal))]] if equal else []

    def _least(self, of_pod: Requirement) -> int:
        """Return the count that the skew is measured from. A host can always be added: its count is 0."""
        if self.rule.key == HOSTNAME:
            return 0
        counts = [count for name, count in self.domains.items() if of_pod.allows(name)]
        if self.rule.min_domains is not None and len(counts) < self.rule.min_domains:
            return 0
        return min(counts, default=UNLIMITED_SKEW)

    def _affinity_domains(
        self, pod: PodSet, of_pod: Requirement, of_node: Requirement, ties: TieBreaker
    ) -> list[str]:
        host = self._host(of_node)
        if host is not None:
            if not of_pod.allows(host):
                return []
            return [host] if self.domains.get(host, 0) > 0 or self._may_be_first(pod, of_pod) else []
        names = sorted(self.domains)
        taken = [n for n in names if self.domains[n] > 0 and of_pod.allows(n) and of_node.allows(n)]
        if taken or not self._may_be_first(pod, of_pod):
            return taken
        both = of_pod.intersection(of_node)
        found = []
        for allowed in (both, of_pod):
            possible = [name for name in names if allowed.allows(name)]
            if possible:
                found.append(possible[ties.pick(len(possible))])
        return found

    def _may_be_first(self, pod: PodSet, of_pod: Requirement) -> bool:
        """Tell whether the pod is the first of pods with affinity to each other."""
        if not self.selects(pod):
            return False
        if len(self.domains) == len(self.empty):
            return True
        return not any(count > 0 and of_pod.allows(name) for name, count in self.domains.items())

    def _anti_affinity_domains(self, of_pod: Requirement, of_node: Requirement) -> list[str]:
        host = self._host(of_node)
        if host is not None:
            return [host] if self.domains.get(host, 0) == 0 else []
        return [name for name in self.empty if of_node.allows(name) and of_pod.allows(name)]


_MATCHES: dict[str, Callable[[str | None, frozenset[str]], bool]] = {
    IN: lambda value, values: value in values,
    NOT_IN: lambda value, values: value is None or value not in values,
    EXISTS: lambda value, _: value is not None,
    DOES_NOT_EXIST: lambda value, _: value is None,
}


def selector_matches(selector: PodSelector | None, labels: Labels) -> bool:
    """Tell whether a selector matches. One that Kubernetes would refuse, or None, matches nothing."""
    if selector is None or not all(_LABEL_VALUE.fullmatch(value) for _, value in selector.labels):
        return False
    has = dict(labels)
    return all(has.get(key) == value for key, value in selector.labels) and all(
        _MATCHES[expression.operator](has.get(expression.key), expression.values)
        for expression in selector.expressions
    )


Domains = Mapping[str, Mapping[str, tuple[tuple[Taint, ...], ...]]]
"""By label: its values on any node that could be bought, each with the taints that it comes with."""


def domains(pools: Iterable[tuple[NodePool, Sequence[InstanceType]]]) -> Domains:
    """Return the domains that the pools, each with its types, can provide."""
    found: dict[str, dict[str, tuple[tuple[Taint, ...], ...]]] = {}
    for pool, types in pools:
        own = Requirements((*pool.requirements, *requirements_of_labels(pool.labels)))
        for type_ in types:
            for asked in own.plus(type_requirements(type_)):
                for value in asked.values:
                    _add_domain(found.setdefault(asked.key, {}), value, pool.taints)
        for asked in own:
            if asked.operator == IN:
                for value in asked.values:
                    _add_domain(found.setdefault(asked.key, {}), value, pool.taints)
    return found


def _add_domain(
    known: dict[str, tuple[tuple[Taint, ...], ...]], domain: str, taints: tuple[Taint, ...]
) -> None:
    """Add a domain. One that is available without taints needs no other way."""
    if domain not in known or not taints:
        known[domain] = (taints,)
    elif known[domain][0]:
        known[domain] = (*known[domain], taints)


class NoDomain(NamedTuple):
    """Why a pod may not go to a node. `lasting`: never to this host, whatever else happens."""

    message: str
    lasting: bool


class Topology:
    """All groups of one loop. `nodes` are existing nodes with their pods."""

    def __init__(self, universe: Domains, nodes: Sequence[StateNode], ties: TieBreaker) -> None:
        self._universe = universe
        self._nodes = [(node, labels_with_hostname(node)) for node in nodes]
        self._ties = ties
        self._groups: dict[object, TopologyGroup] = {}
        self._inverse: dict[object, tuple[TopologyGroup, set[PodSet]]] = {}
        self._of: dict[PodShape, tuple[TopologyGroup, ...]] = {}
        for node, labels in self._nodes:
            for pod in node.pods:
                self._add_inverse_group(pod, labels)

    def add_pod(self, shape: PodShape) -> None:
        """Add the groups of a shape: before the first pod is placed, and after a preference is dropped."""
        if shape not in self._of:
            self._add_inverse_group(shape.pod, {})
            found = [self._group(rule, shape.pod) for rule in _rules(shape.pod)]
            self._of[shape] = tuple(dict.fromkeys(found))

    def applies_to(self, shape: PodShape) -> bool:
        """Tell whether it matters to this pod where other pods are."""
        return bool(self._of[shape]) or any(group.selects(shape.pod) for group, _ in self._inverse.values())

    def add_requirements(
        self, shape: PodShape, host: str, requirements: Requirements, known: frozenset[str]
    ) -> Requirements | NoDomain:
        """Return the requirements with the domains that are left.

        Neither `requirements` nor the result has the host name, which is `host`.
        """
        here = requirements.plus(requirements_of_labels(((HOSTNAME, host),)))
        found = here
        inverse = [group for group, _ in self._inverse.values() if group.selects(shape.pod)]
        for group in (*self._of[shape], *inverse):
            key = group.rule.key
            domain = group.next_domain(
                shape.pod, shape.strict_requirements.get(key), here.get(key), self._ties
            )
            if not domain.values:
                rule = group.rule
                lasting = rule.key == HOSTNAME and rule.kind != AFFINITY
                return NoDomain(f"{rule.kind} by {rule.key} leaves no place", lasting)
            found = found.plus((domain,))
        clash = here.conflict(found, known)
        return found.without(HOSTNAME) if clash is None else NoDomain(str(clash), lasting=False)

    def record(
        self, shape: PodShape, host: str, taints: Sequence[Taint], requirements: Requirements, pods: int
    ) -> None:
        """Count `pods` more of this shape on a node."""
        if not self._groups and not self._inverse:
            return
        here = requirements.plus(requirements_of_labels(((HOSTNAME, host),)))
        for group in self._groups.values():
            if group.selects(shape.pod) and group.rule.filter.admits(taints, here):
                domain = here.get(group.rule.key)
                if group.rule.kind == ANTI_AFFINITY or (not domain.complement and len(domain.values) == 1):
                    group.record(domain.values, pods)
        for group, owners in self._inverse.values():
            if _identity(shape.pod) in owners:
                group.record(here.get(group.rule.key).values, pods)

    def register(self, host: str) -> None:
        """Add a new host to the groups by host name."""
        for group in (*self._groups.values(), *(group for group, _ in self._inverse.values())):
            if group.rule.key == HOSTNAME:
                group.register(host)

    def _group(self, rule: TopologyRule, pod: PodSet) -> TopologyGroup:
        identity = rule.identity()
        if identity not in self._groups:
            group = self._groups[identity] = TopologyGroup(rule, self._domains(rule, pod))
            for node, labels in self._nodes:
                self._count(group, node, labels)
        return self._groups[identity]

    def _domains(self, rule: TopologyRule, pod: PodSet) -> list[str]:
        ways = self._universe.get(rule.key, {})
        if rule.kind == SPREAD and not rule.filter.honor_taints:
            return list(ways)
        borne = pod.tolerations
        return [name for name, taints in ways.items() if any(untolerated(t, borne) is None for t in taints)]

    def _count(self, group: TopologyGroup, node: StateNode, labels: Mapping[str, str]) -> None:
        domain = labels.get(group.rule.key)
        has = Requirements(requirements_of_labels(labels.items()))
        if domain is None or not group.rule.filter.admits(node.taints, has, node.unknown):
            return
        group.register(domain)
        for pod in node.pods:
            everyone = group.rule.selector is None and pod.namespace in group.rule.namespaces
            if everyone or group.selects(pod):
                group.record((domain,), pod.count)

    def _add_inverse_group(self, pod: PodSet, labels: Mapping[str, str]) -> None:
        """Keep other pods away from where this pod is or may be, beginning with its node's `labels`."""
        for term in pod.anti_affinity:
            rule = _affinity_rule(ANTI_AFFINITY, term, pod)
            identity = rule.identity()
            if identity not in self._inverse:
                self._inverse[identity] = (TopologyGroup(rule, self._domains(rule, pod)), set())
            group, owners = self._inverse[identity]
            if term.key in labels:
                group.record((labels[term.key],))
            owners.add(_identity(pod))


def labels_with_hostname(node: StateNode) -> dict[str, str]:
    """Return a node's labels with its host name, which defaults to the node's name."""
    return {HOSTNAME: node.name, **dict(node.labels)}


def _identity(pod: PodSet) -> PodSet:
    """Return the same value for a pod before and after it drops preferences."""
    return PodSet("", (), namespace=pod.namespace, labels=pod.labels, anti_affinity=pod.anti_affinity)


def _rules(pod: PodSet) -> list[TopologyRule]:
    rules = [_spread_rule(spread_constraint, pod) for spread_constraint in pod.spread]
    rules += [
        _affinity_rule(AFFINITY, pod_affinity_term, pod)
        for pod_affinity_term in (*pod.affinity, *pod.preferred_affinity)
    ]
    away = (*pod.anti_affinity, *pod.preferred_anti_affinity)
    return rules + [_affinity_rule(ANTI_AFFINITY, pod_affinity_term, pod) for pod_affinity_term in away]


def _spread_rule(one: SpreadConstraint, pod: PodSet) -> TopologyRule:
    selector = one.selector
    labels = dict(pod.labels)
    more = tuple(requirement(k, IN, (labels[k],)) for k in one.match_label_keys if k in labels)
    if more:
        selector = PodSelector() if selector is None else selector
        expressions = tuple(dict.fromkeys((*selector.expressions, *more)))
        selector = selector._replace(expressions=expressions)
    alternatives = pod.required or ((),)
    wanted = tuple(Requirements((*requirements_of_labels(pod.node_selector), *term)) for term in alternatives)
    nodes = TopologyNodeFilter(wanted, one.honor_taints, one.honor_affinity, pod.tolerations)
    namespaces = frozenset((pod.namespace,))
    return TopologyRule(SPREAD, one.key, namespaces, selector, one.max_skew, one.min_domains, nodes)


def _affinity_rule(kind: str, term: PodAffinityTerm, pod: PodSet) -> TopologyRule:
    return TopologyRule(kind, term.key, frozenset(term.namespaces or (pod.namespace,)), term.selector)

"""Pods counted by domain (zone, host, ...), and which domain the next one may go to."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gen.plan.labels import HOSTNAME
from gen.plan.requirement import DOES_NOT_EXIST, EXISTS, IN, NOT_IN, Labels, Requirement, Requirements
from gen.plan.requirement import requirement as required
from gen.plan.taints import unborne
from gen.plan.ties import Ties
from gen.plan.values import Pod, Selector, Taint, Toleration

SPREAD, NEAR, FAR = "spread", "affinity", "anti-affinity"
MANY = 2**31 - 1
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", re.ASCII)


class NodeFilter(NamedTuple):
    """Which nodes count for a spread constraint: those that its pod could use."""

    wanted: tuple[Requirements, ...] = ()
    honor_taints: bool = False
    honor_affinity: bool = False
    tolerations: tuple[Toleration, ...] = ()

    def admits(
        self, taints: Iterable[Taint], requirements: Requirements, known: frozenset[str] = frozenset()
    ) -> bool:
        """`known`: labels that the requirements may leave open."""
        wanted = self.wanted if self.honor_affinity else ()
        if wanted and all(requirements.clash(one, known) is not None for one in wanted):
            return False
        return not self.honor_taints or unborne(taints, self.tolerations) is None


class Rule(NamedTuple):
    """What a group counts and by what. Pods with the same rule share a group."""

    kind: str
    key: str
    namespaces: frozenset[str]
    selector: Selector | None
    max_skew: int = MANY
    min_domains: int | None = None
    filter: NodeFilter = NodeFilter()

    def identity(self) -> object:
        """Karpenter takes rules for the same that differ only in `min_domains` or in the values, not the
        labels, of their node filter; of two equal alternatives of a filter it sees none.
        """
        keys: set[frozenset[tuple[str, int | None]]] = set()
        for one in self.filter.wanted:
            keys ^= {frozenset((r.key, r.min_values) for r in one)}
        filtered = (self.filter.honor_taints, self.filter.honor_affinity, frozenset(self.filter.tolerations))
        return self.kind, self.key, self.namespaces, self.selector, self.max_skew, frozenset(keys), filtered


class Group:
    def __init__(self, rule: Rule, domains: Iterable[str]) -> None:
        self.rule = rule
        self.domains = dict.fromkeys(domains, 0)
        self.empty = set(self.domains)
        self._selected: dict[tuple[str, Labels], bool] = {}

    def selects(self, pod: Pod) -> bool:
        key = (pod.namespace, pod.labels)
        if key not in self._selected:
            self._selected[key] = pod.namespace in self.rule.namespaces and selected(
                self.rule.selector, pod.labels
            )
        return self._selected[key]

    def register(self, domain: str) -> None:
        if domain not in self.domains:
            self.domains[domain] = 0
            self.empty.add(domain)

    def record(self, domains: Iterable[str], pods: int = 1) -> None:
        for domain in domains:
            self.domains[domain] = self.domains.get(domain, 0) + pods
            self.empty.discard(domain)

    def next_domain(self, pod: Pod, of_pod: Requirement, of_node: Requirement, ties: Ties) -> Requirement:
        """The domains that the node must be in for the pod to go there; none: it may not."""
        if self.rule.kind == SPREAD:
            found = self._spread(pod, of_pod, of_node, ties)
        elif self.rule.kind == NEAR:
            found = self._near(pod, of_pod, of_node, ties)
        else:
            found = self._far(of_pod, of_node)
        return required(self.rule.key, IN, found)

    def _host(self, of_node: Requirement) -> str | None:
        """The one host in question: a new one is in no list before its first pod."""
        if self.rule.key == HOSTNAME and len(of_node.values) == 1:
            return next(iter(of_node.values))
        return None

    def _spread(self, pod: Pod, of_pod: Requirement, of_node: Requirement, ties: Ties) -> list[str]:
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
        """The count that the skew is measured from; a host can always be added, so that of hosts is 0."""
        if self.rule.key == HOSTNAME:
            return 0
        counts = [count for name, count in self.domains.items() if of_pod.allows(name)]
        if self.rule.min_domains is not None and len(counts) < self.rule.min_domains:
            return 0
        return min(counts, default=MANY)

    def _near(self, pod: Pod, of_pod: Requirement, of_node: Requirement, ties: Ties) -> list[str]:
        host = self._host(of_node)
        if host is not None:
            if not of_pod.allows(host):
                return []
            return [host] if self.domains.get(host, 0) > 0 or self._may_start(pod, of_pod) else []
        names = sorted(self.domains)
        taken = [n for n in names if self.domains[n] > 0 and of_pod.allows(n) and of_node.allows(n)]
        if taken or not self._may_start(pod, of_pod):
            return taken
        both = of_pod.meet(of_node)
        found = []
        for allowed in (both, of_pod):
            possible = [name for name in names if allowed.allows(name)]
            if possible:
                found.append(possible[ties.pick(len(possible))])
        return found

    def _may_start(self, pod: Pod, of_pod: Requirement) -> bool:
        """Is it the first of pods that want to be together?"""
        if not self.selects(pod):
            return False
        if len(self.domains) == len(self.empty):
            return True
        return not any(count > 0 and of_pod.allows(name) for name, count in self.domains.items())

    def _far(self, of_pod: Requirement, of_node: Requirement) -> list[str]:
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


def selected(selector: Selector | None, labels: Labels) -> bool:
    """A selector that Kubernetes would refuse selects nothing, and so does none."""
    if selector is None or not all(_LABEL_VALUE.fullmatch(value) for _, value in selector.labels):
        return False
    has = dict(labels)
    return all(has.get(key) == value for key, value in selector.labels) and all(
        _MATCHES[one.operator](has.get(one.key), one.values) for one in selector.expressions
    )

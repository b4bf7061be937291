"""Spread, affinity and anti-affinity of one loop: which groups there are, who is bound by which."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gen.plan.labels import HOSTNAME
from gen.plan.offered import type_requirements
from gen.plan.requirement import IN, Requirements, of_labels, requirement
from gen.plan.shape import Shape
from gen.plan.taints import unborne
from gen.plan.ties import Ties
from gen.plan.topologygroup import FAR, NEAR, SPREAD, Group, NodeFilter, Rule
from gen.plan.values import InstanceType, Near, Node, Pod, Pool, Selector, Settings, Spread, Taint

Domains = Mapping[str, Mapping[str, tuple[tuple[Taint, ...], ...]]]
"""By label: its values on any machine that could be bought, each with the taints it comes with."""


def domains(pools: Iterable[tuple[Pool, Sequence[InstanceType]]]) -> Domains:
    """What the pools, each with its types, can make."""
    found: dict[str, dict[str, tuple[tuple[Taint, ...], ...]]] = {}
    for pool, types in pools:
        own = Requirements((*pool.requirements, *of_labels(pool.labels)))
        for one in types:
            for asked in own.plus(type_requirements(one)):
                for value in asked.values:
                    _insert(found.setdefault(asked.key, {}), value, pool.taints)
        for asked in own:
            if asked.operator == IN:
                for value in asked.values:
                    _insert(found.setdefault(asked.key, {}), value, pool.taints)
    return found


def _insert(known: dict[str, tuple[tuple[Taint, ...], ...]], domain: str, taints: tuple[Taint, ...]) -> None:
    """A domain that can be had without taints needs no other way."""
    if domain not in known or not taints:
        known[domain] = (taints,)
    elif known[domain][0]:
        known[domain] = (*known[domain], taints)


class NoPlace(NamedTuple):
    """Why a pod may not go there. `lasting`: to this host never, whatever else happens."""

    message: str
    lasting: bool


class Topology:
    """`nodes` are machines that stand, with the pods bound to them."""

    def __init__(self, universe: Domains, nodes: Sequence[Node], ties: Ties) -> None:
        self._universe = universe
        self._nodes = [(node, node_labels(node)) for node in nodes]
        self._ties = ties
        self._groups: dict[object, Group] = {}
        self._inverse: dict[object, tuple[Group, set[Pod]]] = {}
        self._of: dict[Shape, tuple[Group, ...]] = {}
        for node, labels in self._nodes:
            for pod in node.pods:
                self._repel(pod, labels)

    def watch(self, shape: Shape) -> None:
        """Called for every shape before the first pod is placed, and again when one has dropped a wish."""
        if shape not in self._of:
            self._repel(shape.pod, {})
            found = [self._group(rule, shape.pod) for rule in _rules(shape.pod, shape.settings)]
            self._of[shape] = tuple(dict.fromkeys(found))

    def binds(self, shape: Shape) -> bool:
        """Does it matter to this pod where others are?"""
        return bool(self._of[shape]) or any(group.selects(shape.pod) for group, _ in self._inverse.values())

    def narrowed(
        self, shape: Shape, host: str, requirements: Requirements, known: frozenset[str]
    ) -> Requirements | NoPlace:
        """The requirements with the domains that are left.

        `requirements` without the host's name, which is `host`; the answer has none either.
        """
        here = requirements.plus(of_labels(((HOSTNAME, host),)))
        found = here
        inverse = [group for group, _ in self._inverse.values() if group.selects(shape.pod)]
        for group in (*self._of[shape], *inverse):
            key = group.rule.key
            domain = group.next_domain(shape.pod, shape.strict.get(key), here.get(key), self._ties)
            if not domain.values:
                rule = group.rule
                lasting = rule.key == HOSTNAME and rule.kind != NEAR
                return NoPlace(f"{rule.kind} by {rule.key} leaves no place", lasting)
            found = found.plus((domain,))
        clash = here.clash(found, known)
        return found.without(HOSTNAME) if clash is None else NoPlace(str(clash), lasting=False)

    def record(
        self, shape: Shape, host: str, taints: Sequence[Taint], requirements: Requirements, pods: int
    ) -> None:
        """`pods` more of this shape have their place."""
        if not self._groups and not self._inverse:
            return
        here = requirements.plus(of_labels(((HOSTNAME, host),)))
        for group in self._groups.values():
            if group.selects(shape.pod) and group.rule.filter.admits(taints, here):
                domain = here.get(group.rule.key)
                if group.rule.kind == FAR or (not domain.complement and len(domain.values) == 1):
                    group.record(domain.values, pods)
        for group, owners in self._inverse.values():
            if _identity(shape.pod) in owners:
                group.record(here.get(group.rule.key).values, pods)

    def register(self, host: str) -> None:
        for group in (*self._groups.values(), *(group for group, _ in self._inverse.values())):
            if group.rule.key == HOSTNAME:
                group.register(host)

    def _group(self, rule: Rule, pod: Pod) -> Group:
        identity = rule.identity()
        if identity not in self._groups:
            group = self._groups[identity] = Group(rule, self._domains(rule, pod))
            for node, labels in self._nodes:
                self._count(group, node, labels)
        return self._groups[identity]

    def _domains(self, rule: Rule, pod: Pod) -> list[str]:
        ways = self._universe.get(rule.key, {})
        if rule.kind == SPREAD and not rule.filter.honor_taints:
            return list(ways)
        borne = pod.tolerations
        return [name for name, taints in ways.items() if any(unborne(t, borne) is None for t in taints)]

    def _count(self, group: Group, node: Node, labels: Mapping[str, str]) -> None:
        domain = labels.get(group.rule.key)
        has = Requirements(of_labels(labels.items()))
        if domain is None or not group.rule.filter.admits(node.taints, has, node.unknown):
            return
        group.register(domain)
        for pod in node.pods:
            everyone = group.rule.selector is None and pod.namespace in group.rule.namespaces
            if everyone or group.selects(pod):
                group.record((domain,), pod.count)

    def _repel(self, pod: Pod, labels: Mapping[str, str]) -> None:
        """Keeps others away from where this pod is or may be; from its node's `labels` on."""
        for term in pod.far:
            rule = _near_rule(FAR, term, pod)
            identity = rule.identity()
            if identity not in self._inverse:
                self._inverse[identity] = (Group(rule, self._domains(rule, pod)), set())
            group, owners = self._inverse[identity]
            if term.key in labels:
                group.record((labels[term.key],))
            owners.add(_identity(pod))


def node_labels(node: Node) -> dict[str, str]:
    """With its host name, which is the node's own name where no label says otherwise."""
    return {HOSTNAME: node.name, **dict(node.labels)}


def _identity(pod: Pod) -> Pod:
    """The same for a pod before and after it drops wishes."""
    return Pod("", (), namespace=pod.namespace, labels=pod.labels, far=pod.far)


def _rules(pod: Pod, settings: Settings) -> list[Rule]:
    wishes = not settings.ignore_preferences
    rules = [_spread_rule(one, pod) for one in pod.spread if wishes or not one.anyway]
    rules += [_near_rule(NEAR, one, pod) for one in (*pod.near, *(pod.near_preferred if wishes else ()))]
    rules += [_near_rule(FAR, one, pod) for one in (*pod.far, *(pod.far_preferred if wishes else ()))]
    return rules


def _spread_rule(one: Spread, pod: Pod) -> Rule:
    selector = one.selector
    labels = dict(pod.labels)
    more = tuple(requirement(k, IN, (labels[k],)) for k in one.match_label_keys if k in labels)
    if more:
        selector = Selector() if selector is None else selector
        expressions = tuple(dict.fromkeys((*selector.expressions, *more)))
        selector = selector._replace(expressions=expressions)
    alternatives = pod.required or ((),)
    wanted = tuple(Requirements((*of_labels(pod.node_selector), *term)) for term in alternatives)
    nodes = NodeFilter(wanted, one.honor_taints, one.honor_affinity, pod.tolerations)
    namespaces = frozenset((pod.namespace,))
    return Rule(SPREAD, one.key, namespaces, selector, one.max_skew, one.min_domains, nodes)


def _near_rule(kind: str, term: Near, pod: Pod) -> Rule:
    return Rule(kind, term.key, frozenset(term.namespaces or (pod.namespace,)), term.selector)

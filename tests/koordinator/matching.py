"""Whether a pod may use a Reservation: what its annotations and labels say of that."""

import json
from typing import Any, NamedTuple

from tests.koordinator import amounts, selecting
from tests.koordinator.amounts import Amounts, Tree
from tests.koordinator.objects import PREFIX, annotations_of, labels_of, spec_of
from tests.koordinator.reserved import Info

AFFINITY = f"{PREFIX}reservation-affinity"
EXACT_MATCH = f"{PREFIX}exact-match-reservation"
IGNORED = f"{PREFIX}reservation-ignored"


class Wish(NamedTuple):
    """`affinity` None: the pod says nothing, so that what it finds is welcome and not needed."""

    affinity: Tree | None
    exact: tuple[str, ...]
    ignores: bool

    @property
    def name(self) -> str:
        """Of the one Reservation that it wants, which then may be tainted and unschedulable."""
        return (self.affinity or {}).get("name") or ""


def wish_of(pod: Tree) -> Wish:
    """Raises ValueError for annotations that cannot be read: such a pod is never scheduled."""
    affinity = _said(pod, AFFINITY)
    exact = _said(pod, EXACT_MATCH) or {}
    ignores = labels_of(pod).get(IGNORED) == "true"
    return Wish(affinity, tuple(exact.get("resourceNames") or ()), ignores)


def _said(pod: Tree, key: str) -> Tree | None:
    text = annotations_of(pod).get(key)
    if not text:
        return None
    said: Any = json.loads(text)
    if not isinstance(said, dict):
        raise ValueError(f"{key}: cannot unmarshal {text}")
    return said


def may_use(info: Info, pod: Tree, wish: Wish, node: Tree) -> bool:
    if wish.ignores:
        return True
    return info.is_owned_by(pod) and suits(info, pod, wish, node)


def suits(info: Info, pod: Tree, wish: Wish, node: Tree, *, may_be_closed: bool = False) -> bool:
    """All but owners. `may_be_closed`: it may be unschedulable, as for those that give their room to it."""
    affinity = wish.affinity
    if wish.name:
        return wish.name == info.name and _is_exact(info, pod, wish.exact)
    tolerations = (affinity or {}).get("tolerations") or []
    if info.is_unschedulable and not may_be_closed and not _tolerates_closed(affinity, tolerations):
        return False
    # Taints are looked at only for pods that say what they want.
    if affinity is not None and selecting.untolerated(info.taints, tolerations) is not None:
        return False
    return _is_near(info, affinity, node) and _is_exact(info, pod, wish.exact)


def _tolerates_closed(affinity: Tree | None, tolerations: list[Tree]) -> bool:
    closed = {"key": selecting.UNSCHEDULABLE, "effect": "NoSchedule"}
    return affinity is not None and any(selecting.tolerates(one, closed) for one in tolerations)


def _is_near(info: Info, affinity: Tree | None, node: Tree) -> bool:
    """Selectors see the labels of the Reservation over those of its node."""
    if affinity is None:
        return True
    labels = {**labels_of(node), **labels_of(info.tree)}
    wanted = affinity.get("reservationSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return selecting.matches_terms(required.get("reservationSelectorTerms") or [], info.name, labels)


def _is_exact(info: Info, pod: Tree, names: tuple[str, ...]) -> bool:
    asked = amounts.requests_of(spec_of(pod))
    for name in names:
        if name not in asked and name not in info.allocatable:
            return True
        if asked.get(name) != info.allocatable.get(name):
            return False
    return True


def short_of(info: Info, asked: Amounts) -> list[str]:
    """Of which restricted resources too little is left in it."""
    room = amounts.subtract(amounts.subtract(info.allocatable, info.held_back), info.allocated)
    short = amounts.short_of(amounts.mask(asked, info.names), room)
    pods = info.allocatable.get("pods")
    if pods is not None and (len(info.pods) + 1) * 10**9 > pods:
        short.append("pods")
    return short

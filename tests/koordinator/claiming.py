"""Where a Reservation goes, and whose room it takes over (pre-allocation)."""

from collections.abc import Mapping
from typing import NamedTuple

from tests.koordinator import amounts, matching
from tests.koordinator.amounts import Amounts, Tree
from tests.koordinator.nodes import Left, Node, keeps_off, leanest
from tests.koordinator.objects import (
    ALLOCATED,
    REQUIRED,
    RESTRICTED,
    annotations_of,
    labels_of,
    metadata,
    reserve_pod,
    spec_of,
)
from tests.koordinator.owners import owns
from tests.koordinator.placing import CONFLICT, Placed, Refused, conflicts, lacks, told
from tests.koordinator.reserved import Info, info_of

PRE_ALLOCATABLE = "pod.koordinator.sh/is-pre-allocatable"
PRE_ALLOCATABLE_PRIORITY = "pod.koordinator.sh/pre-allocatable-priority"
UNSUPPORTED = "node(s) reservation pre allocation is unsupported with current attributes"
CLUSTER_MODE_DISABLED = "reservation requires cluster mode pre-allocation which is disabled"
NEEDS_DONORS = "node(s) no pod match reservation with pre allocation required"


class Settings(NamedTuple):
    """Arguments of the plugin that matter here, with their defaults, and how late its controller is."""

    cluster_mode: bool = False
    prefers_free_room: bool = False
    preemption: bool = False  # whether Reservations preempt; pods always do
    expiry_lag: float = 0.0  # seconds after the end of a Reservation; 0.1 was measured, and 3 is possible
    gc_interval: float = 0.0  # seconds between two looks for garbage; 0: at every look


DEFAULTS = Settings()  # nothing is late, which is the best that there may be
SLOWEST = Settings(expiry_lag=3.0, gc_interval=60.0)


class _Found(NamedTuple):
    node: Node
    left: Left
    donors: tuple[Tree, ...]


def place_reservation(
    nodes: Mapping[str, Node], reservation: Tree, settings: Settings = DEFAULTS
) -> Placed | Refused:
    pod, info = reserve_pod(reservation), info_of(reservation)
    claims = bool(spec_of(reservation).get("preAllocation"))
    if claims and info.policy != RESTRICTED:
        return Refused(UNSUPPORTED)
    if claims and info.trouble:
        return Refused(info.trouble)
    if claims and _is_clusterwide(reservation) and not settings.cluster_mode:
        return Refused(CLUSTER_MODE_DISABLED)
    good: list[_Found] = []
    reasons: dict[str, list[str]] = {}
    for node in nodes.values():
        why = [off] if (off := keeps_off(node, pod, nodes.values())) else []
        if not why and conflicts(node, info.policy):
            why = [CONFLICT]
        found = why or _look(node, pod, info, settings)
        if isinstance(found, _Found):
            good.append(found)
        else:
            reasons[node.name] = found
    if not good:
        return Refused(told(len(nodes), reasons.values()))
    free = leanest((one.node, amounts.add(one.left.requested, info.allocatable)) for one in good)
    best = max(good, key=lambda one: (bool(one.donors), free[one.node.name], _backwards(one.node.name)))
    return Placed(best.node.name, info, best.donors)


def _backwards(name: str) -> tuple[int, ...]:
    """So that of equals the first by name is the largest."""
    return tuple(-ord(letter) for letter in name)


def _look(node: Node, pod: Tree, info: Info, settings: Settings) -> _Found | list[str]:
    """The node with those who give their room, or why it will not do."""
    others = [one for one in node.infos.values() if one.is_matchable]
    asked, ports = amounts.requests_of(spec_of(pod)), amounts.ports_of(spec_of(pod))
    candidates = _candidates(node, info)
    required = labels_of(info.tree).get(REQUIRED) == "true"
    tries = list(_tries(candidates, info.tree))
    free: list[tuple[Tree, ...]] = [] if required and candidates is not None else [()]
    why: list[str] = []
    for donors in [*free, *tries] if settings.prefers_free_room else [*tries, *free]:
        left = node.left((), others, donors)
        why = lacks(node, left, asked) or _too_large(donors, info)
        if not why and amounts.clash(ports, left.ports):
            why = ["node(s) didn't have free ports for the requested pod ports"]
        if not why:
            return _Found(node, left, donors)
    return why or [NEEDS_DONORS]


def _is_clusterwide(reservation: Tree) -> bool:
    return (spec_of(reservation).get("preAllocationPolicy") or {}).get("mode") == "Cluster"


def _candidates(node: Node, info: Info) -> list[Tree] | None:
    """Pods of the node that may give their room, the best first; None: it takes nobody's."""
    if not spec_of(info.tree).get("preAllocation"):
        return None
    pods = [pod for pod in node.real_pods() if ALLOCATED not in annotations_of(pod)]
    if _is_clusterwide(info.tree):
        pods = [pod for pod in pods if labels_of(pod).get(PRE_ALLOCATABLE) == "true"]
        pods.sort(key=lambda pod: (-_priority(pod), metadata(pod)["name"]))
    else:
        owners = [one for one in spec_of(info.tree)["owners"] if one.get("labelSelector") is not None]
        pods = [pod for pod in pods if any(owns(one, pod) for one in owners)]
        pods.sort(key=lambda pod: str(metadata(pod)["name"]))
    return [pod for pod in pods if _suits(info, pod, node.tree)]


def _suits(info: Info, pod: Tree, node: Tree) -> bool:
    try:
        wish = matching.wish_of(pod)
    except ValueError:
        return False
    return matching.suits(info, pod, wish, node, may_be_closed=True)


def _priority(pod: Tree) -> int:
    try:
        return int(annotations_of(pod).get(PRE_ALLOCATABLE_PRIORITY, "0"))
    except ValueError:
        return 0


def _tries(candidates: list[Tree] | None, reservation: Tree) -> list[tuple[Tree, ...]]:
    """One donor, each in turn; or more and more of them, where several may give."""
    if not candidates:
        return []
    if (spec_of(reservation).get("preAllocationPolicy") or {}).get("enableMultiple"):
        return [tuple(candidates[: count + 1]) for count in range(len(candidates))]
    return [(pod,) for pod in candidates]


def _too_large(donors: tuple[Tree, ...], info: Info) -> list[str]:
    """They become its owners, so they must fit into it."""
    together: Amounts = amounts.add(*(amounts.requests_of(spec_of(pod)) for pod in donors))
    return (
        [f"Reservation(s) Insufficient {name}" for name in matching.short_of(info, together)]
        if donors
        else []
    )

"""Where a pod goes, and into which Reservation."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from berth import quantity

from tests.koordinator import amounts, matching
from tests.koordinator.amounts import Amounts, Tree
from tests.koordinator.matching import Wish
from tests.koordinator.nodes import Left, Node, keeps_off, leanest
from tests.koordinator.objects import ALIGNED, RESTRICTED, UNSET, spec_of
from tests.koordinator.reserved import Info, info_of_pod

NO_MATCH = "node(s) no reservations match reservation affinity"
CONFLICT = "node(s) reservation allocate policy conflict"


class Placed(NamedTuple):
    node: str
    info: Info | None = None  # the Reservation that it takes its room from
    donors: tuple[Tree, ...] = ()  # whose room a Reservation takes over


class Refused(NamedTuple):
    message: str


class Found(NamedTuple):
    """A node that would do, with the Reservations there that the pod may use."""

    node: Node
    left: Left
    mine: tuple[Info, ...]


def place(nodes: Mapping[str, Node], pod: Tree) -> Placed | Refused:
    try:
        wish = matching.wish_of(pod)
    except ValueError as error:
        return Refused(str(error))
    asked = amounts.requests_of(spec_of(pod))
    good: list[Found] = []
    reasons: dict[str, list[str]] = {}
    for node in nodes.values():
        found = _look(node, pod, wish)
        why = [off] if (off := keeps_off(node, pod, nodes.values())) else _against(found, pod, asked, wish)
        if why:
            reasons[node.name] = why
        else:
            good.append(found)
    if not good:
        return Refused(told(len(nodes), reasons.values()))
    best = _best(good, asked, wish)
    return Placed(best.node.name, None if wish.ignores else nominated(best, asked, wish))


def told(nodes: int, reasons: Iterable[Sequence[str]]) -> str:
    counted = Counter(reason for several in reasons for reason in several)
    listed = ", ".join(f"{count} {reason}" for reason, count in sorted(counted.items()))
    return f"0/{nodes} nodes are available: {listed or 'none'}."


def _look(node: Node, pod: Tree, wish: Wish) -> Found:
    matchable = [info for info in node.infos.values() if info.is_matchable]
    mine = tuple(info for info in matchable if matching.may_use(info, pod, wish, node.tree))
    others = [info for info in matchable if info not in mine]
    return Found(node, node.left(mine, others), mine)


def _against(found: Found, pod: Tree, asked: Amounts, wish: Wish) -> list[str]:
    """Why the pod does not fit here."""
    operating = info_of_pod(pod)
    if operating is not None and conflicts(found.node, ALIGNED):
        return [CONFLICT]
    if wish.affinity is not None and not found.mine:
        return [NO_MATCH]
    full = lacks(found.node, found.left, asked)
    if full:
        return full
    if amounts.clash(amounts.ports_of(spec_of(pod)), found.left.ports):
        return ["node(s) didn't have free ports for the requested pod ports"]
    return _against_reservations(found, asked, wish) if found.mine else []


def conflicts(node: Node, policy: str) -> bool:
    """Those that leave the policy unset share a node with nobody who sets it."""
    there = {info.policy for info in node.infos.values() if info.is_matchable}
    return any((UNSET in (policy, other)) and policy != other for other in there)


def lacks(node: Node, left: Left, asked: Amounts) -> list[str]:
    """As the plugin of Kubernetes that looks at resources says it."""
    free = amounts.subtract(node.room, left.requested)
    short = [f"Insufficient {name}" for name in amounts.short_of(asked, free)]
    if left.pods + 1 > node.room.get("pods", 0) // quantity.NANO:
        short.append("Too many pods")
    return short


def _against_reservations(found: Found, asked: Amounts, wish: Wish) -> list[str]:
    """One Reservation and what is free on the node must do; or the node alone, where none is required."""
    by_node: set[str] = set()
    by_reservation: list[str] = []
    for info in found.mine:
        if wish.affinity is None and not set(info.names) & set(asked):
            continue
        if wish.name and wish.name != info.name:
            continue
        short = short_of_node(found, asked, info)
        restricted = matching.short_of(info, asked) if info.policy == RESTRICTED else []
        if not short and not restricted:
            return []
        by_node.update(short)
        by_reservation += [f"Reservation(s) Insufficient {name}" for name in restricted]
    if wish.affinity is None and not by_node:
        by_node.update(short_of_node(found, asked, None))
        by_reservation = []
    told_by_node = [f"Insufficient {name} by node" for name in sorted(by_node)]
    if wish.affinity is None:
        return told_by_node
    return told_by_node + by_reservation or ["node(s) no reservation(s) to meet the requirements"]


def short_of_node(found: Found, asked: Amounts, info: Info | None) -> list[str]:
    """Of what the node has too little, with what is left in one Reservation or in none."""
    owned = amounts.add(*(one.allocated for one in found.mine))
    requested = amounts.subtract(found.left.trimmed, owned)
    if info is not None:
        requested = amounts.subtract(requested, info.available)
    return amounts.short_of(asked, amounts.subtract(found.node.room, requested))


def nominated(found: Found, asked: Amounts, wish: Wish) -> Info | None:
    """The Reservation of the node that it takes; None: it does with what is free."""
    if len(found.mine) == 1 and wish.affinity is not None:
        return found.mine[0]
    fitting = [info for info in found.mine if _fits_into(found, asked, info, wish)]
    if not fitting:
        return None
    ordered = [info for info in fitting if info.order]
    if ordered:
        return min(ordered, key=lambda info: (info.order, info.name))
    return min(fitting, key=lambda info: (-fullness(info, asked), info.name))


def _fits_into(found: Found, asked: Amounts, info: Info, wish: Wish) -> bool:
    if wish.affinity is None and not set(info.names) & set(asked):
        return False
    if short_of_node(found, asked, info):
        return False
    return info.policy != RESTRICTED or not matching.short_of(info, asked)


def fullness(info: Info, asked: Amounts) -> float:
    """Of a Reservation, with the pod in it: the fuller the better. 0 to 100."""
    after = amounts.add(info.allocated, amounts.mask(asked, info.allocatable))
    shares = [after.get(name, 0) * 100 / room for name, room in info.allocatable.items() if room > 0]
    return sum(min(share, 100.0) for share in shares) / len(shares) if shares else 0.0


def _best(good: list[Found], asked: Amounts, wish: Wish) -> Found:
    """A node with a Reservation for it first, of these the one of the lowest order, then the fullest."""
    free = leanest((one.node, amounts.add(one.left.requested, asked)) for one in good)

    def rank(found: Found) -> tuple[float, float, float, str]:
        orders = [] if wish.ignores else [info.order for info in found.mine if info.order]
        if orders:  # also of those that are full
            return (0.0, float(min(orders)), 0.0, found.node.name)
        info = None if wish.ignores else nominated(found, asked, wish)
        if info is None:
            return (2.0, 0.0, -free[found.node.name], found.node.name)
        return (1.0, -fullness(info, asked), -free[found.node.name], found.node.name)

    return min(good, key=rank)

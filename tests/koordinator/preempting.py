"""Which pods of a lower priority would leave room for what was refused (preemption)."""

from collections.abc import Callable, Collection, Mapping

from tests.koordinator.amounts import Tree
from tests.koordinator.nodes import Node
from tests.koordinator.objects import metadata, pod_priority, uid_of
from tests.koordinator.placing import Placed, Refused

Place = Callable[[Mapping[str, Node]], Placed | Refused]


def victims(nodes: Mapping[str, Node], priority: int, place: Place) -> list[Tree]:
    """On the node where the least important pods go; none where it would not help. Reservations stay."""
    found = [some for node in nodes.values() if (some := _on_node(nodes, node, priority, place))]
    return min(found, key=_importance, default=[])


def _on_node(nodes: Mapping[str, Node], node: Node, priority: int, place: Place) -> list[Tree]:
    """As few as will do: the most important are spared first."""

    def helps(gone: Collection[str]) -> bool:
        return isinstance(place({**nodes, node.name: node.without(gone)}), Placed)

    lower = [pod for pod in node.real_pods() if pod_priority(pod) < priority]
    lower.sort(key=lambda pod: (-pod_priority(pod), metadata(pod)["creationTimestamp"], uid_of(pod)))
    gone = {uid_of(pod) for pod in lower}
    if not gone or not helps(gone):
        return []
    for uid in map(uid_of, lower):
        if helps(gone - {uid}):
            gone.remove(uid)
    return [pod for pod in lower if uid_of(pod) in gone]


def _importance(pods: list[Tree]) -> tuple[int, int]:
    return max(map(pod_priority, pods)), len(pods)

"""Can our own Jobs make room for themselves where a class has its seats?

On a full cluster the pod of an occurrence preempts a placeholder, but only on a node that it may run on.
Where it does not tolerate the taints that the class tolerates, it waits beside all the room that we hold.
"""

from collections.abc import Iterator

from gen.declared import Declared
from gen.finding import Problem
from gen.model import Cluster, ResourceClass, Site
from gen.placed import cluster_of
from gen.schema.pod import Toleration

NO_ROOM = "B033"
_CONDITIONS = "node.kubernetes.io/"  # taints that come and go with the state of a node
_COMMON = ("kubernetes.io/os", "kubernetes.io/arch")  # labels that choose no group of nodes


def of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    """One warning a class. A site that chose other nodes for its Jobs gets none: their room is its choice."""
    for found in declared.classes.values():
        cluster = cluster_of(found, site)
        if cluster is None or _runs_elsewhere(cluster, found):
            continue
        ours = cluster.runtime.tolerations or ()
        closed = [
            (i, one)
            for i, one in enumerate(found.pod.tolerations or ())
            if _is_of_a_taint(one) and not any(_may_be_the_same(one, other) for other in ours)
        ]
        if closed:
            yield _problem(found, cluster, closed[0][0], [_shown(one) for _, one in closed])


def _problem(found: ResourceClass, cluster: Cluster, first: int, taints: list[str]) -> Problem:
    message = (
        f"our own Jobs do not tolerate {', '.join(taints)}: while cluster {cluster.name} is full, "
        "they cannot take the room of a placeholder of this class."
    )
    fix = (
        f"Add {'them' if len(taints) > 1 else 'it'} to the site's runtime.tolerations, or choose nodes for "
        'our Jobs by runtime.nodeSelector; if they have room, annotate berth.dev/ignore: "B033: <reason>".'
    )
    return Problem(NO_ROOM, *found.origin[:2], ("spec", "tolerations", first), message, fix)


def _runs_elsewhere(cluster: Cluster, found: ResourceClass) -> bool:
    """Whether the site sends our Jobs to nodes that the class does not ask for."""
    asked = found.pod.node_selector or {}
    chosen = cluster.runtime.node_selector or {}
    return any(key not in _COMMON and asked.get(key) != value for key, value in chosen.items())


def _is_of_a_taint(one: Toleration) -> bool:
    """Whether it speaks of a taint that nodes have for good and that keeps pods away. One for all taints says
    of none that it is there.
    """
    key = one.key or ""
    lasts = one.toleration_seconds is None and not key.startswith(_CONDITIONS)
    return key != "" and lasts and one.effect != "PreferNoSchedule"


def _may_be_the_same(one: Toleration, other: Toleration) -> bool:
    """Whether both may tolerate the same taint. The nodes are not known here: in doubt they do."""
    if other.key is None:
        same_key = same_value = True
    else:
        same_key = one.key == other.key
        values = {toleration.value or "" for toleration in (one, other) if toleration.operator != "Exists"}
        same_value = len(values) < 2
    effects = {toleration.effect for toleration in (one, other) if toleration.effect}
    return same_key and same_value and len(effects) < 2


def _shown(one: Toleration) -> str:
    """As `kubectl taint` writes it."""
    value = f"={one.value}" if one.value else ""
    effect = f":{one.effect}" if one.effect else ""
    return f"{one.key}{value}{effect}"

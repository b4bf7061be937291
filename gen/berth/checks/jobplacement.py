"""Check that Berth's own Jobs can preempt placeholders.

On a full cluster the pod of an occurrence preempts a placeholder, but only on a node that it may run on. If
it does not tolerate the taints that the class tolerates, it stays pending.
"""

from collections.abc import Iterator

from berth.findings import Problem
from berth.machines.nodelabels import ARCH, OS
from berth.manifests.placed import cluster_of
from berth.schema.declared import Declared
from berth.schema.scheduling import PodToleration
from berth.schema.values import Site

NO_ROOM = "B033"
_CONDITIONS = "node.kubernetes.io/"  # taints that come and go with the state of a node
_COMMON = (OS, ARCH)  # labels that choose no group of nodes


def check_job_placement(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check each class, unless the site sends its Jobs to other nodes."""
    for resource_class in declared.classes.values():
        cluster = cluster_of(resource_class, site)
        if cluster is None:
            continue
        asked, chosen = resource_class.pod.node_selector or {}, cluster.runtime.node_selector or {}
        if any(key not in _COMMON and asked.get(key) != value for key, value in chosen.items()):
            continue  # the site sends its Jobs to nodes that the class does not select
        ours = cluster.runtime.tolerations or ()
        closed = [
            (i, toleration)
            for i, toleration in enumerate(resource_class.pod.tolerations or ())
            if names_a_taint(toleration)
            and not any(may_match_same_taint(toleration, other) for other in ours)
        ]
        if closed:
            taints = ", ".join(taint_text(toleration) for _, toleration in closed)
            message = (
                f"Berth's Jobs do not tolerate {taints}: while cluster {cluster.name} is full, they cannot "
                "preempt a placeholder of this class."
            )
            fix = (
                f"Add {'them' if len(closed) > 1 else 'it'} to the site's runtime.tolerations, or select "
                "nodes for Jobs by runtime.nodeSelector; if those have capacity, annotate berth.dev/ignore: "
                '"B033: <reason>".'
            )
            path = ("spec", "tolerations", closed[0][0])
            yield resource_class.origin.problem(NO_ROOM, path, message, fix)


def names_a_taint(one: PodToleration) -> bool:
    """Tell whether a toleration implies a permanent taint that keeps pods away.

    One that tolerates every taint implies none.
    """
    key = one.key or ""
    lasts = one.toleration_seconds is None and not key.startswith(_CONDITIONS)
    return key != "" and lasts and one.effect != "PreferNoSchedule"


def may_match_same_taint(one: PodToleration, other: PodToleration) -> bool:
    """Tell whether both may tolerate the same taint. As the nodes are not known, assume so if in doubt."""
    if other.key is None:
        same_key = same_value = True
    else:
        same_key = one.key == other.key
        values = {toleration.value or "" for toleration in (one, other) if toleration.operator != "Exists"}
        same_value = len(values) < 2
    effects = {toleration.effect for toleration in (one, other) if toleration.effect}
    return same_key and same_value and len(effects) < 2


def taint_text(one: PodToleration) -> str:
    """Format a taint as `kubectl taint` does."""
    value = f"={one.value}" if one.value else ""
    effect = f":{one.effect}" if one.effect else ""
    return f"{one.key}{value}{effect}"

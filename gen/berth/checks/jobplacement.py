"""Check that Berth's own Jobs can preempt placeholders.

On a full cluster the pod of an occurrence preempts a placeholder, but only on a node that it may run on. If
it does not tolerate the taints that the class tolerates, it stays pending.
"""

from collections.abc import Iterator

from berth.findings import Problem
from berth.machines.nodelabels import ARCH, OS, may_match_same_taint, names_a_taint, taint_text
from berth.manifests.placed import cluster_of
from berth.schema.declared import Declared
from berth.schema.values import Cluster, ResourceClass, Site

NO_ROOM = "B033"
_COMMON = (OS, ARCH)  # labels that choose no group of nodes


def check_job_placement(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check each class, unless the site sends its Jobs to other nodes."""
    for resource_class in declared.classes.values():
        cluster = cluster_of(resource_class, site)
        if cluster is None or _runs_elsewhere(cluster, resource_class):
            continue
        ours = cluster.runtime.tolerations or ()
        closed = [
            (i, toleration)
            for i, toleration in enumerate(resource_class.pod.tolerations or ())
            if names_a_taint(toleration)
            and not any(may_match_same_taint(toleration, other) for other in ours)
        ]
        if closed:
            yield _problem(
                resource_class, cluster, closed[0][0], [taint_text(toleration) for _, toleration in closed]
            )


def _problem(resource_class: ResourceClass, cluster: Cluster, first: int, taints: list[str]) -> Problem:
    message = (
        f"Berth's Jobs do not tolerate {', '.join(taints)}: while cluster {cluster.name} is full, "
        "they cannot preempt a placeholder of this class."
    )
    fix = (
        f"Add {'them' if len(taints) > 1 else 'it'} to the site's runtime.tolerations, or select nodes for "
        'Jobs by runtime.nodeSelector; if those have capacity, annotate berth.dev/ignore: "B033: <reason>".'
    )
    return resource_class.origin.problem(NO_ROOM, ("spec", "tolerations", first), message, fix)


def _runs_elsewhere(cluster: Cluster, resource_class: ResourceClass) -> bool:
    """Tell whether the site sends Berth's Jobs to nodes that the class does not select."""
    asked = resource_class.pod.node_selector or {}
    chosen = cluster.runtime.node_selector or {}
    return any(key not in _COMMON and asked.get(key) != value for key, value in chosen.items())

"""What is said to autoscalers: has a Karpenter what is asked of it, and does it read what is said to it?"""

from collections.abc import Iterator
from typing import NamedTuple

from gen.declared import Declared
from gen.finding import Path, Problem
from gen.model import Cluster, Karpenter, Origin, ResourceClass, Site
from gen.placed import cluster_of
from gen.schema.labels import DO_NOT_DISRUPT, UNREAD
from gen.schema.site import NEWEST

LACKS, NO_KARPENTER, BUFFERS = "B156", "B157", "B178"
UNEVEN = "B185"
Version = tuple[int, int]


class _Need(NamedTuple):
    """What is asked: since which version it is there, behind which gate, and since when that is on."""

    what: str
    since: Version
    gate: str = ""
    on_since: Version | None = None


NEEDS = {
    "reserved": _Need("reserved machines", (1, 3), "ReservedCapacity", (1, 6)),
    "static": _Need("pools of a fixed number of nodes", (1, 8), "StaticCapacity"),
    "interruptible": _Need("interruptible reservations", (1, 10)),
    "Balanced": _Need("consolidationPolicy Balanced", (1, 14)),
}
GATES_SINCE: dict[str, Version] = {
    "CapacityBuffer": (1, 14),
    "NodeOverlay": (1, 7),
    "ReservedCapacity": (1, 3),
    "StaticCapacity": (1, 8),
}


def has(name: str, cluster: Cluster) -> bool:
    """Whether a cluster has what may be asked. Without a word in the site, it has the newest, as it comes."""
    need, said = NEEDS[name], cluster.karpenter or Karpenter(NEWEST, ())
    as_it_comes = not need.gate or (need.on_since is not None and said.version >= need.on_since)
    return said.version >= need.since and dict(said.gates).get(need.gate, as_it_comes)


def problems_of_need(name: str, cluster: Cluster, origin: Origin, path: Path) -> Iterator[Problem]:
    """What a cluster lacks, told where it is asked for."""
    if has(name, cluster):
        return
    need, there = NEEDS[name], cluster.karpenter or Karpenter(NEWEST, ())
    if there.version < need.since:
        message = f"Karpenter {text(there.version)} in cluster {cluster.name} does not know {need.what}."
        fix = f"Use Karpenter {text(need.on_since or need.since)} or later."
    elif dict(there.gates).get(need.gate) is False:
        message = f"{need.what} need the gate {need.gate}, which cluster {cluster.name} has off."
        fix = f"Switch it on, and write karpenter.gates.{need.gate}: true in the Site."
    else:
        message = (
            f"{need.what} need the gate {need.gate}, which is off in Karpenter {text(there.version)} "
            "unless it is switched on."
        )
        fix = f"Switch it on, and write karpenter.gates.{need.gate}: true for cluster {cluster.name}."
    yield Problem(LACKS, *origin[:2], path, message, fix)


def of_site(site: Site) -> Iterator[Problem]:
    """What the site says of Karpenter, against itself."""
    for i, cluster in enumerate(site.clusters):
        said = cluster.karpenter
        at: Path = ("spec", "clusters", i, "karpenter")
        if said is None:
            continue
        if cluster.autoscaler != "karpenter":
            message = f"the autoscaler of cluster {cluster.name} is {cluster.autoscaler}, not karpenter."
            fix = "Write autoscaler: karpenter, or remove this."
            yield Problem(NO_KARPENTER, *site.origin[:2], at, message, fix, at_key=True)
        for gate, on in said.gates:
            since = GATES_SINCE.get(gate)
            if since is not None and said.version < since:
                message = (
                    f"the gate {gate} came with Karpenter {text(since)}; {text(said.version)} does not start "
                    "with it."
                )
                fix = f"Use Karpenter {text(since)}, or remove the gate."
                yield Problem(LACKS, *site.origin[:2], (*at, "gates", gate), message, fix, at_key=True)
            elif gate == "CapacityBuffer" and on:
                yield Problem(BUFFERS, *site.origin[:2], (*at, "gates", gate), *_BUFFERS)


_BUFFERS = (
    "a CapacityBuffer holds room for nobody, fills up again as sessions arrive, and knows no windows; "
    "in Karpenter Provisioning=True says that it fits on nodes that stand, in cluster-autoscaler that nodes "
    "are asked for.",
    "For the same seats use placeholders or a buffer, not both; judge a buffer by its reason.",
)


def of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    for found in declared.classes.values():
        yield from _spread(found, site)
        if DO_NOT_DISRUPT in dict(found.pod_labels):
            message = f"{DO_NOT_DISRUPT} is an annotation: as a label of pods it does nothing."
            fix = "Remove it: windows hold their nodes by budgets."
            path: Path = ("spec", "podLabels", DO_NOT_DISRUPT)
            yield Problem(UNREAD, *found.origin[:2], path, message, fix, at_key=True)


def _spread(found: ResourceClass, site: Site) -> Iterator[Problem]:
    cluster = cluster_of(found, site)
    if cluster is None or cluster.autoscaler != "cluster-autoscaler":
        return
    for i, one in enumerate(found.pod.topology_spread_constraints or ()):
        if one.when_unsatisfiable == "ScheduleAnyway":
            message = (
                "cluster-autoscaler does not look at ScheduleAnyway, and sessions take no placeholder's room "
                "for it: seats may stand unevenly."
            )
            fix = "Write DoNotSchedule where it matters."
            path: Path = ("spec", "topologySpreadConstraints", i, "whenUnsatisfiable")
            yield Problem(UNEVEN, *found.origin[:2], path, message, fix)


def text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"

"""Check what is declared for autoscalers: versions and feature gates of Karpenter, and settings that are
not read.
"""

from collections.abc import Iterator

from berth.checks.project import Project
from berth.findings import Origin, Path, Problem
from berth.machines.versions import FEATURES, GATES_SINCE, version_text
from berth.schema.metadata import DO_NOT_DISRUPT
from berth.schema.reservation import Reservation
from berth.schema.site import KarpenterSpec
from berth.schema.values import Cluster

_NEWEST = KarpenterSpec.model_construct()


def has_feature(name: str, cluster: Cluster) -> bool:
    """Tell whether the Karpenter of a cluster has a feature. Without a word in the Site it is the newest."""
    feature, there = FEATURES[name], cluster.karpenter or _NEWEST
    on_by_default = not feature.gate or (feature.on_since is not None and there.version >= feature.on_since)
    return there.version >= feature.since and there.gates.get(feature.gate, on_by_default)


def check_cluster_feature(name: str, cluster: Cluster, origin: Origin, path: Path) -> Iterator[Problem]:
    """Report a feature that a cluster lacks at the place where it is asked for."""
    if has_feature(name, cluster):
        return
    need, there = FEATURES[name], cluster.karpenter or _NEWEST
    if there.version < need.since:
        version = version_text(there.version)
        message = f"Karpenter {version} in cluster {cluster.name} does not support {need.title}."
        fix = f"Use Karpenter {version_text(need.on_since or need.since)} or later."
    elif there.gates.get(need.gate) is False:
        message = f"{need.title} need the feature gate {need.gate}, which is off in cluster {cluster.name}."
        fix = f"Enable it, and write karpenter.gates.{need.gate}: true in the Site."
    else:
        message = (
            f"{need.title} need the feature gate {need.gate}, which is off by default "
            f"in Karpenter {version_text(there.version)}."
        )
        fix = f"Enable it, and write karpenter.gates.{need.gate}: true for cluster {cluster.name}."
    yield origin.problem("B283", path, message, fix)


def check_replicas_stay(reservation: Reservation, cluster: Cluster, path: Path) -> Iterator[Problem]:
    """Report that git resets the replicas. Those of a Deployment can be left out of git, but a NodePool
    without them is another kind of pool for ever, and a CapacityBuffer without them is refused.
    """
    if not cluster.replicas_in_git:
        message = (
            f"each apply of the files of cluster {cluster.name} would reset its "
            f"{reservation.holder.unit.plural} to the 0 in git, also in the middle of a window."
        )
        fix = "Use engine argocd, or flux from 2.9 on, which ignore replicas; or write type: placeholder."
        yield reservation.origin.problem("B192", path, message, fix)


def check_autoscalers(project: Project) -> Iterator[Problem]:
    """Check what the Site says about autoscalers."""
    site = project.site
    for i, cluster in enumerate(site.clusters):
        if cluster.capacity_buffers and cluster.autoscaler != "cluster-autoscaler":
            message = f"cluster {cluster.name} has autoscaler {cluster.autoscaler}, not cluster-autoscaler."
            fix = "Remove it; for Karpenter write karpenter: {gates: {CapacityBuffer: true}}."
            where: Path = ("spec", "clusters", i, "capacityBuffers")
            yield site.origin.problem("B029", where, message, fix, at_key=True)
        karpenter = cluster.karpenter
        at: Path = ("spec", "clusters", i, "karpenter")
        if karpenter is None:
            continue
        if cluster.autoscaler != "karpenter":
            message = f"cluster {cluster.name} has autoscaler {cluster.autoscaler}, not karpenter."
            fix = "Write autoscaler: karpenter, or remove this."
            yield site.origin.problem("B157", at, message, fix, at_key=True)
        for gate in karpenter.gates:
            since = GATES_SINCE.get(gate)
            if since is not None and karpenter.version < since:
                message = (
                    f"feature gate {gate} exists since Karpenter {version_text(since)}; "
                    f"Karpenter {version_text(karpenter.version)} does not start with it."
                )
                fix = f"Use Karpenter {version_text(since)}, or remove the gate."
                yield site.origin.problem("B283", (*at, "gates", gate), message, fix, at_key=True)


def check_pods_for_autoscaler(project: Project) -> Iterator[Problem]:
    """Check the pod templates of all classes."""
    for resource_class in project.declared.classes.values():
        if DO_NOT_DISRUPT in resource_class.pod_labels:
            message = f"{DO_NOT_DISRUPT} is an annotation; as a pod label it has no effect."
            fix = "Remove it: disruption budgets keep the nodes of open windows."
            path: Path = ("spec", "podLabels", DO_NOT_DISRUPT)
            yield resource_class.origin.problem("B176", path, message, fix, at_key=True)

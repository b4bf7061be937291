"""Check what a cluster changes, refuses or shares: managed platforms, old Kubernetes, Namespaces of others.

Autopilot: the general-purpose class in clusters that support bursting (created with GKE 1.30.2 or later).
Auto Mode: the labels of its documentation of 2025. What OpenShift refuses is not rendered for it. The engine
owns the Namespace that is rendered, and prunes it: with a Namespace goes everything in it.
"""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from berth.checks.project import Project
from berth.findings import Path, Problem
from berth.machines.nodelabels import AWS, WELL_KNOWN
from berth.machines.versions import version_text
from berth.manifests.placed import cluster_named, cluster_of
from berth.quantity import NANO, parse, text
from berth.schema.declared import Declared
from berth.schema.engine import CALLED, NAMESPACES
from berth.schema.values import AUTO_MODE, AUTOPILOT, Cluster, ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.cloudcapacity import CloudCapacity


_LEAST_CPU, _MOST_CPU = NANO // 20, 30 * NANO
_HARDWARE = ("cloud.google.com/compute-class", "cloud.google.com/machine-family")

_AUTO = "eks.amazonaws.com/"
_AUTO_NAMES = """
    instance-hypervisor compute-type instance-encryption-in-transit-supported instance-category
    instance-generation instance-family instance-size instance-cpu instance-cpu-manufacturer instance-memory
    instance-ebs-bandwidth instance-network-bandwidth instance-gpu-name instance-gpu-manufacturer
    instance-gpu-count instance-gpu-memory instance-local-nvme
"""
_AUTO_LABELS = frozenset(f"{_AUTO}{name}" for name in _AUTO_NAMES.split())


def check_platforms(project: Project) -> Iterator[Problem]:
    """Check the autoscaler of each cluster, and capacities of Karpenter where AWS or Google buys nodes."""
    declared, site = project.declared, project.site
    for i, cluster in enumerate(site.clusters):
        other = {AUTOPILOT: "karpenter", AUTO_MODE: "cluster-autoscaler"}.get(cluster.platform)
        if cluster.autoscaler == other:
            message = f"{_title(cluster)} adds the nodes of cluster {cluster.name}, not {other}."
            usual = "karpenter" if cluster.platform == AUTO_MODE else "cluster-autoscaler"
            fix = f"Write autoscaler: {usual}, whose rules it follows."
            yield site.origin.problem("B283", ("spec", "clusters", i, "autoscaler"), message, fix)
    for cloud in declared.clouds.values():
        home = cluster_named(cloud.cluster, site)
        if home is not None and home.platform == AUTO_MODE:
            message = (
                f"cluster {home.name} has EKS Auto Mode, which has no EC2NodeClass of karpenter.k8s.aws: "
                "nothing would make nodes of what is rendered for it."
            )
            fix = "Write provider: generic with the shapes of its nodes, and your own NodePool of Auto Mode."
            yield cloud.origin.problem("B283", ("spec",), message, fix)
        elif home is not None:
            yield from _misread(cloud)


def _title(cluster: Cluster) -> str:
    return "EKS Auto Mode" if cluster.platform == AUTO_MODE else "GKE Autopilot"


def _misread(cloud: "CloudCapacity") -> Iterator[Problem]:
    """Report requirements by which Karpenter labels nodes, instead of choosing instances."""
    for i, requirement in enumerate(cloud.requirements):
        if requirement.key in _AUTO_LABELS:
            message = f"{requirement.key} is a label of EKS Auto Mode: Karpenter chooses no instances by it."
            path: Path = ("spec", "requirements", i, "key")
            yield cloud.origin.problem("B282", path, message, _other_label(requirement.key))


def _other_label(key: str) -> str:
    """Return what to write instead of a label of Karpenter or of Auto Mode."""
    domain, _, name = key.partition("/")
    other = f"{_AUTO if AWS.startswith(domain) else AWS}{name}"
    return f"Write {other}." if other in WELL_KNOWN | _AUTO_LABELS else "Remove it."


def check_selected_node_labels(project: Project) -> Iterator[Problem]:
    """Check the node labels that classes select, and their size on Autopilot."""
    for resource_class, cluster in project.homes:
        yield from _labels(resource_class, cluster)
        # Other hardware of Google has limits of its own.
        keys = chain((key for _, key in _selected(resource_class)), resource_class.requests)
        if cluster.platform == AUTOPILOT and not any(
            key in _HARDWARE or key.startswith("cloud.google.com/gke-") or "/gpu" in key for key in keys
        ):
            yield from _sizes(resource_class)


def _labels(resource_class: ResourceClass, cluster: Cluster) -> Iterator[Problem]:
    for path, key in _selected(resource_class):
        if cluster.platform == AUTO_MODE and key.startswith(AWS):
            message = f"{key} is a label of Karpenter; no node of EKS Auto Mode has it."
        elif cluster.platform != AUTO_MODE and key in _AUTO_LABELS:
            message = f"{key} is a label of EKS Auto Mode, which cluster {cluster.name} does not have."
        else:
            continue
        fix = _other_label(key)
        if cluster.platform != AUTO_MODE:
            fix = f"Write platform: {AUTO_MODE} for the cluster in the Site, or another label."
        yield resource_class.origin.problem("B282", path, message, fix, at_key=True)


def _selected(resource_class: ResourceClass) -> Iterator[tuple[Path, str]]:
    """Yield the place of each label of nodes that a class selects, and the label."""
    for key in resource_class.pod.node_selector or {}:
        yield ("spec", "nodeSelector", key), key
    affinity = resource_class.pod.affinity and resource_class.pod.affinity.node_affinity
    if not affinity:
        return
    at: Path = ("spec", "affinity", "nodeAffinity")
    required = affinity.required.node_selector_terms if affinity.required else ()
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    for i, term in enumerate(required):
        for j, expression in enumerate(term.match_expressions or ()):
            yield (*at, name, "nodeSelectorTerms", i, "matchExpressions", j, "key"), expression.key
    name = "preferredDuringSchedulingIgnoredDuringExecution"
    for i, wish in enumerate(affinity.preferred or ()):
        for j, expression in enumerate(wish.preference.match_expressions or ()):
            yield (*at, name, i, "preference", "matchExpressions", j, "key"), expression.key


def _sizes(resource_class: ResourceClass) -> Iterator[Problem]:
    """Report what Autopilot makes of the requests of a seat."""
    asked = {name: parse(amount) or 0 for name, amount in resource_class.requests.items()}
    path: Path = ("spec", "requests")
    for name in ("cpu", "memory"):
        if not asked.get(name):
            message = f"GKE Autopilot sets {name} where a pod requests none."
            yield resource_class.origin.problem("B282", path, message, f"Write {name}.")
            return
    cpu, memory = asked["cpu"], asked["memory"]
    if cpu > _MOST_CPU:
        message = f"GKE Autopilot refuses more than {text(_MOST_CPU)} cpu for a pod of its usual hardware."
        fix = f"Request less, or select {_HARDWARE[0]} in nodeSelector."
        yield resource_class.origin.problem("B283", (*path, "cpu"), message, fix)
        return
    raised_cpu = max(cpu, _LEAST_CPU, _up(2 * memory, 13 * 2**30, NANO // 1000))
    raised_memory = max(memory, _up(raised_cpu * 2**30, 1, 2**20 * NANO))
    for name, amount, raised in (("cpu", cpu, raised_cpu), ("memory", memory, raised_memory)):
        if raised != amount:
            message = (
                f"GKE Autopilot raises {name} from {resource_class.requests[name]} to "
                f"{_shown(name, raised)}: a pod has at least 50m cpu, and 1 to 6.5 GiB of memory "
                "for each cpu."
            )
            fix = f"Write {_shown(name, raised)}, also for the sessions: they then have the size of a seat."
            yield resource_class.origin.problem("B282", (*path, name), message, fix)


def _up(dividend: int, divisor: int, unit: int) -> int:
    """Divide, and round up to a multiple of a unit."""
    return -(-dividend // (divisor * unit)) * unit


def _shown(name: str, amount: int) -> str:
    """Return an amount of cpu in thousandths, or of memory in MiB."""
    return f"{amount // (NANO // 1000)}m" if name == "cpu" else f"{amount // (2**20 * NANO)}Mi"


def check_namespace_per_cluster(project: Project) -> Iterator[Problem]:
    """Check the Namespace of each cluster."""
    declared, site = project.declared, project.site
    for i, cluster in enumerate(site.clusters):
        user = _other_user(cluster, declared, site) if cluster.creates_namespace else ""
        if user:
            message = (
                f"{user} in {cluster.namespace}: cluster {cluster.name} would set its Namespace to Pod "
                "Security restricted, and delete it together with the last file of Berth."
            )
            fix = f"Write a namespace of its own; or {{name: {cluster.namespace}, create: false}}."
            owner: Path = ("clusters", i) if cluster.has_own_namespace else ()
            path: Path = ("spec", *owner, "namespace")
            yield site.origin.problem("B280", path, message, fix)


def _other_user(cluster: Cluster, declared: Declared, site: Site) -> str:
    """Return who else uses the Berth namespace of a cluster; empty if nobody is known to."""
    for resource_class in declared.classes.values():
        is_here = resource_class.sessions is not None and cluster_of(resource_class, site) is cluster
        if (
            is_here
            and resource_class.sessions
            and cluster.namespace in resource_class.sessions.namespace_names
        ):
            return f"sessions of class {resource_class.name} run"
    for reservation in declared.reservations:
        classes = [declared.classes[name] for name, _ in reservation.seats if name in declared.classes]
        is_here = any(cluster_of(resource_class, site) is cluster for resource_class in classes)
        if is_here and cluster.namespace in reservation.holder.owner_namespaces:
            return f"owners of the slots of reservation {reservation.name} run"
    options = cluster.engine_options
    home = "" if options.type == "none" else options.namespace or NAMESPACES[options.type]
    return f"{CALLED[options.type]}'s own objects are" if cluster.namespace == home else ""


VOLUMES_SINCE = (1, 33)  # Kubernetes whose kubelet can mount images, at least behind a feature gate


def check_image_volumes(project: Project) -> Iterator[Problem]:
    """Report image volumes in a cluster that is too old for them: its API server drops them."""
    for resource_class, cluster in project.homes:
        if cluster.kubernetes is None or not resource_class.images:
            continue
        if resource_class.image_warm_up in ("volume", "background") and cluster.kubernetes < VOLUMES_SINCE:
            version = version_text(cluster.kubernetes)
            message = f"Kubernetes {version} of cluster {cluster.name} cannot mount images as volumes."
            path = ("spec", "imageWarmUp")
            yield resource_class.origin.problem(
                "B283", path, message, "Write initContainer, or leave it out."
            )

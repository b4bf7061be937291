"""Check that a cluster can allocate the devices that classes claim, and that sessions can get them.

kube-scheduler, up to 1.36, preempts no pod for devices: a session gets those of a placeholder that is removed
because sessions are counted. Karpenter 1.15 skips pods with claims by default.
"""

from collections.abc import Iterator

from berth.dates.exceptions import entry_path
from berth.findings import Path, Problem
from berth.machines.versions import version_text
from berth.manifests.placed import cluster_of, placed
from berth.quantity import parse
from berth.schema import grammar
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, ResourceClass, Site

TOO_OLD, NOT_HELD, NOT_FREED, NO_NODES, BOTH = "B283", "B311", "B312", "B140", "B314"
SINCE = (1, 34)  # Kubernetes that has resource.k8s.io/v1
_CLAIMS: Path = ("spec", "resourceClaims")


def check_device_claims(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check each class that claims devices, and its cluster."""
    for resource_class in declared.classes.values():
        cluster = cluster_of(resource_class, site)
        if resource_class.resource_claims:
            yield from _requested_devices(resource_class)
            yield from _cluster(resource_class, cluster) if cluster is not None else ()


def _requested_devices(found: ResourceClass) -> Iterator[Problem]:
    for name, amount in found.requests.items():
        is_device = name not in grammar.SHARED and not grammar.page_size(name)
        if is_device and parse(amount):
            message = f"a seat requests {name}, and claims devices besides: it takes both."
            fix = "Remove one of the two if they mean the same devices."
            yield found.origin.problem(BOTH, ("spec", "requests", name), message, fix, at_key=True)


def _cluster(found: ResourceClass, cluster: Cluster) -> Iterator[Problem]:
    if cluster.kubernetes is None or cluster.kubernetes < SINCE:
        least = version_text(SINCE)
        message = f"nothing says which Kubernetes cluster {cluster.name} has: claims need {least} or later."
        fix = f'Write kubernetes: "{least}", or its later version, for the cluster in the Site.'
        if cluster.kubernetes is not None:
            version = version_text(cluster.kubernetes)
            message = f"Kubernetes {version} of cluster {cluster.name} has no resource.k8s.io/v1."
            fix = f"Use Kubernetes {least} or later, or request devices of a device plugin in requests."
        yield found.origin.problem(TOO_OLD, _CLAIMS, message, fix, at_key=True)
    if cluster.autoscaler == "karpenter":
        message = f"Karpenter in cluster {cluster.name} adds no nodes for pods with claims by default."
        fix = "Keep enough nodes with devices; or set IGNORE_DRA_REQUESTS=false, and ignore this finding."
        yield found.origin.problem(NO_NODES, _CLAIMS, message, fix, at_key=True)


def check_claims_are_held(reservation: Reservation, declared: Declared, site: Site) -> Iterator[Problem]:
    """Check that the backend of a reservation holds the devices of its seats until sessions need them."""
    if not any(resource_class.resource_claims for resource_class in declared.classes.values()):
        return
    for place in placed(reservation, declared, site):
        for resource_class in place.classes:
            if not resource_class.resource_claims:
                continue
            path = _lasting(reservation, resource_class)
            if not reservation.holder.claims_devices:
                message = (
                    f"backend {reservation.holder.backend} does not hold the devices that class "
                    f"{resource_class.name} claims."
                )
                fix = "Write type: placeholder, or choose a class without resourceClaims."
                yield reservation.problem(NOT_HELD, ("spec", "backend"), message, fix)
            elif path is not None:
                message = (
                    f"placeholders of class {resource_class.name} keep their devices until the end, and "
                    "sessions cannot preempt them for devices."
                )
                fix = "Write scaleDownBehavior: maintain, with which each session removes a placeholder."
                yield reservation.problem(NOT_FREED, path, message, fix)


def _lasting(reservation: Reservation, found: ResourceClass) -> Path | None:
    """Return where behavior `none` is declared for a class; None where its placeholders follow sessions."""
    for i, item in enumerate(reservation.recurrence.lines):
        for (name, _), scaling in zip(item.seats, reservation.scaling_of(item), strict=True):
            if name == found.name and scaling.behavior == "none":
                is_usual = reservation.behavior == "none"
                at: Path = ("spec", "provisioning")
                return at if is_usual else entry_path(i, reservation.recurrence)
    return None

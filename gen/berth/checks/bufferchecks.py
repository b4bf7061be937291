"""Check that the autoscaler of a cluster keeps CapacityBuffers, where a reservation has them."""

from collections.abc import Iterator

from berth.checks.autoscalers import check_cluster_feature, check_replicas_stay
from berth.findings import Path, Problem
from berth.karpenter.versions import version_text
from berth.manifests.placed import placed
from berth.schema.declared import Declared
from berth.schema.seatholders import BufferHolder
from berth.schema.values import Cluster, Reservation, Site

NOT_KEPT = "B088"
# cluster-autoscaler whose CapacityBuffers are of v1beta1; it has the version of its Kubernetes.
KEPT_SINCE = (1, 35)
_TYPE: Path = ("spec", "backend", "type")


def check_buffered_seats(reservation: Reservation, declared: Declared, site: Site) -> Iterator[Problem]:
    if not isinstance(reservation.holder, BufferHolder):
        return
    for place in placed(reservation, declared, site):
        if place.cluster.autoscaler == "karpenter":
            yield from check_cluster_feature("buffers", place.cluster, reservation.origin, _TYPE)
        elif lack := _lack(place.cluster):
            yield reservation.origin.problem(NOT_KEPT, _TYPE, *lack)
        yield from check_replicas_stay(reservation, place.cluster, _TYPE)


def _lack(cluster: Cluster) -> tuple[str, str] | None:
    """Return why nobody keeps CapacityBuffers, and what to do; None if cluster-autoscaler does."""
    if cluster.autoscaler != "cluster-autoscaler":
        message = f"cluster {cluster.name} has no autoscaler that keeps CapacityBuffers."
        return message, "Write type: placeholder, or autoscaler: karpenter or cluster-autoscaler in the Site."
    if cluster.kubernetes is not None and cluster.kubernetes < KEPT_SINCE:
        version = version_text(cluster.kubernetes)
        message = f"cluster-autoscaler {version} in cluster {cluster.name} has no CapacityBuffers of v1beta1."
        return message, "Use Kubernetes and cluster-autoscaler 1.35 or later, or write type: placeholder."
    if not cluster.capacity_buffers:
        message = f"CapacityBuffers are off by default in cluster-autoscaler, also in cluster {cluster.name}."
        fix = (
            "Start it with --capacity-buffer-controller-enabled and --capacity-buffer-pod-injection-enabled, "
            f"and write capacityBuffers: true for cluster {cluster.name}."
        )
        return message, fix
    return None

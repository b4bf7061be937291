"""Backend `capacityBuffer`: capacity is room that the autoscaler itself keeps free, without pods.

A CapacityBuffer has 0 replicas in git, and Jobs set their number. A PodTemplate is the shape of one seat.
"""

from collections.abc import Iterator
from typing import Any

from berth.backends.backendinterface import Backend, Manifest
from berth.checks.autoscalers import check_cluster_feature, check_replicas_stay
from berth.checks.project import CheckedReservation
from berth.core.labels import CLASS
from berth.findings import Path, Problem
from berth.machines.versions import version_text
from berth.manifests import deployments, rbac
from berth.manifests.placed import Placed
from berth.schema.values import Cluster, ResourceClass, Site

# cluster-autoscaler whose CapacityBuffers are of v1beta1; it has the version of its Kubernetes.
KEPT_SINCE = (1, 35)
_TYPE: Path = ("spec", "backend", "type")
_GROUP = "autoscaling.x-k8s.io"
_BUFFERS = (_GROUP, ["capacitybuffers"])
_POD_TEMPLATE = "capacitybuffer/podtemplate.yaml.j2"


class CapacityBufferBackend(Backend):
    pool_templates = (_POD_TEMPLATE,)
    namespaced_kinds = (("", "PodTemplate"), (_GROUP, "CapacityBuffer"))

    def pools(self, site: Site, placed: Placed, common: dict[str, Any]) -> Iterator[Manifest]:
        """Yield a PodTemplate and a CapacityBuffer of the same name for each class."""
        for name, resource_class in zip(deployments.names(placed), placed.classes, strict=True):
            known = {**common, "name": name, "labels": {**common["labels"], CLASS: resource_class.name}}
            yield Manifest(_POD_TEMPLATE, {**known, **deployments.seat_values(site, placed, resource_class)})
            yield Manifest("capacitybuffer/capacitybuffer.yaml.j2", known)

    def scaling_rules(self, placed: Placed) -> list[rbac.Rule]:
        return [rbac.rule(*_BUFFERS, ["get", "patch"], deployments.names(placed))]

    def timetable_pool(self, site: Site, placed: Placed, found: ResourceClass) -> dict[str, bool]:  # noqa: ARG002
        return {"capacityBuffer": True}

    def sweep_rules(self) -> list[rbac.Rule]:
        return [rbac.rule(*_BUFFERS, ["get", "list", "patch", "delete"])]

    def problems(self, checked: CheckedReservation) -> Iterator[Problem]:
        """Check that the autoscaler of each cluster keeps CapacityBuffers."""
        reservation = checked.reservation
        for place in checked.places:
            if place.cluster.autoscaler == "karpenter":
                yield from check_cluster_feature("buffers", place.cluster, reservation.origin, _TYPE)
            elif lack := _lack(place.cluster):
                yield reservation.origin.problem("B283", _TYPE, *lack)
            yield from check_replicas_stay(reservation, place.cluster, _TYPE)


BACKEND = CapacityBufferBackend()


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

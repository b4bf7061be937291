"""Backend `nodePool`: capacity is whole nodes of a static NodePool, which has 0 replicas in git.

No placeholder holds them: any pod that may run on such a node can use it. Jobs scale the NodePool like a
Deployment.
"""

from collections.abc import Iterator
from typing import Any

from berth.backends.backendinterface import Backend, Manifest
from berth.backends.nodepool import nodechecks, nodepermissions
from berth.checks.project import CheckedReservation
from berth.findings import Problem
from berth.manifests import karpenter, naming
from berth.manifests.placed import Placed
from berth.schema.values import Cluster, ResourceClass, Site


class NodePoolBackend(Backend):
    pool_templates = (karpenter.TEMPLATE,)

    def pools(self, site: Site, placed: Placed, common: dict[str, Any]) -> Iterator[Manifest]:
        """Yield the NodePools in the order of the classes, each of the capacity that its class prefers."""
        clouds = {cloud.name: cloud for cloud in placed.clouds}
        for resource_class in placed.classes:
            cloud = clouds[resource_class.cloud_capacity[0]]
            yield karpenter.static_pool(
                site, _name(site, placed, resource_class), common, resource_class, cloud
            )

    def permissions(self, site: Site, placed: Placed) -> list[Manifest]:
        return nodepermissions.over_nodes(site, placed)

    def timetable_pool(self, site: Site, placed: Placed, found: ResourceClass) -> dict[str, str]:
        return {"nodePool": _name(site, placed, found)}

    def cluster_permissions(self, site: Site, cluster: Cluster) -> list[Manifest]:
        return nodepermissions.of_cluster(site, cluster)

    def cluster_kinds(self, site: Site, cluster: Cluster) -> Iterator[tuple[str, str, str]]:  # noqa: ARG002
        return nodepermissions.kinds_of_cluster(site)

    def problems(self, checked: CheckedReservation) -> Iterator[Problem]:
        return nodechecks.check_whole_nodes(checked)


BACKEND = NodePoolBackend()


def _name(site: Site, placed: Placed, found: ResourceClass) -> str:
    return naming.static_pool(site.name, naming.pool(placed.reservation.name, found.name))

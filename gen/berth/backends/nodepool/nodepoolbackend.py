"""Backend `nodePool`: capacity is whole nodes of a static NodePool, which has 0 replicas in git.

No placeholder holds them: any pod that may run on such a node can use it. Jobs scale the NodePool like a
Deployment.
"""

from collections.abc import Iterator
from typing import Any

from berth.backends.backendinterface import Backend, Manifest
from berth.backends.nodepool import nodechecks
from berth.checks.project import CheckedReservation
from berth.findings import Problem
from berth.manifests import karpenter, naming, rbac
from berth.manifests.placed import Placed
from berth.schema.values import Cluster, ResourceClass, Site

_GROUP = "karpenter.sh"


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

    def permissions(self, site: Site, placed: Placed) -> Iterator[Manifest]:
        """Yield the ClusterRoles and bindings of a reservation with NodePools, which have no namespace.

        Jobs and sweep scale them. Neither removes them: an engine does.
        """
        name, labels = placed.reservation.name, naming.of_permissions(site, placed.reservation)
        pools = [_name(site, placed, resource_class) for resource_class in placed.classes]
        for kind, account in ((naming.OCCURRENCE, naming.single(name)), (naming.SWEEP, naming.SWEEP)):
            role = naming.nodes_role(site.name, kind, name)
            yield rbac.cluster_role(role, labels, rbac.of_scaled(_GROUP, "nodepools", pools))
            yield rbac.cluster_binding(role, labels, role, account, placed.cluster.namespace)

    def timetable_pool(self, site: Site, placed: Placed, found: ResourceClass) -> dict[str, str]:
        return {"nodePool": _name(site, placed, found)}

    def cluster_permissions(self, site: Site, cluster: Cluster) -> Iterator[Manifest]:
        role, labels = naming.sweep_nodes_role(site.name), naming.of_site(site)
        yield rbac.cluster_role(role, labels, [rbac.rule(_GROUP, ["nodepools"], ["list"])])
        yield rbac.cluster_binding(role, labels, role, naming.SWEEP, cluster.namespace)

    def cluster_kinds(self, site: Site, cluster: Cluster) -> Iterator[tuple[str, str, str]]:  # noqa: ARG002
        """Yield kinds of Karpenter, by patterns, so that a new course with nodes changes no project."""
        yield _GROUP, "NodePool", naming.static_pool(site.name, "*")
        for kind in ("ClusterRole", "ClusterRoleBinding"):
            for account in (naming.OCCURRENCE, naming.SWEEP):
                yield rbac.RBAC, kind, naming.nodes_role(site.name, account, "*")
            yield rbac.RBAC, kind, naming.sweep_nodes_role(site.name)

    def problems(self, checked: CheckedReservation) -> Iterator[Problem]:
        return nodechecks.check_whole_nodes(checked)


BACKEND = NodePoolBackend()


def _name(site: Site, placed: Placed, found: ResourceClass) -> str:
    return naming.static_pool(site.name, naming.pool(placed.reservation.name, found.name))

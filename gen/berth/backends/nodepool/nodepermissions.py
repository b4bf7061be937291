"""What the accounts of Berth may do to NodePools, which have no namespace."""

from collections.abc import Iterator, Sequence

from berth.backends.backendinterface import Manifest
from berth.manifests import naming
from berth.manifests.placed import Placed
from berth.manifests.rbac import RBAC, Rule, cluster_binding, cluster_role, of_scaled, rule
from berth.schema.values import Cluster, Site

GROUP = "karpenter.sh"


def of_nodes(pools: Sequence[str]) -> list[Rule]:
    """Return the rules of occurrences and the sweep for the NodePools of a reservation."""
    return of_scaled(GROUP, "nodepools", pools)


def over_nodes(site: Site, placed: Placed) -> list[Manifest]:
    """Return the ClusterRoles and bindings of a reservation with NodePools.

    Jobs and sweep scale them. Neither removes them: an engine does.
    """
    name, labels = placed.reservation.name, naming.of_permissions(site, placed.reservation)
    pools = [
        naming.static_pool(site.name, naming.pool(name, resource_class.name))
        for resource_class in placed.classes
    ]
    manifests = []
    for kind, account in ((naming.OCCURRENCE, naming.single(name)), (naming.SWEEP, naming.SWEEP)):
        role = naming.nodes_role(site.name, kind, name)
        manifests.append(cluster_role(role, labels, of_nodes(pools)))
        manifests.append(cluster_binding(role, labels, role, account, placed.cluster.namespace))
    return manifests


def of_all_nodes() -> Rule:
    """Return the rule by which the sweep lists NodePools."""
    return rule(GROUP, ["nodepools"], ["list"])


def of_cluster(site: Site, cluster: Cluster) -> list[Manifest]:
    """Return the ClusterRole and the binding of the sweep."""
    role, labels = naming.sweep_nodes_role(site.name), naming.of_site(site)
    return [
        cluster_role(role, labels, [of_all_nodes()]),
        cluster_binding(role, labels, role, naming.SWEEP, cluster.namespace),
    ]


def kinds_of_cluster(site: Site) -> Iterator[tuple[str, str, str]]:
    """Yield kinds of Karpenter, by patterns, so that a new course with nodes changes no project."""
    yield GROUP, "NodePool", naming.static_pool(site.name, "*")
    for kind in ("ClusterRole", "ClusterRoleBinding"):
        for account in (naming.OCCURRENCE, naming.SWEEP):
            yield RBAC, kind, naming.nodes_role(site.name, account, "*")
        yield RBAC, kind, naming.sweep_nodes_role(site.name)

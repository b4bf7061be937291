"""What the accounts of Berth may do to slots, in the whole cluster: slots have no namespace."""

from collections.abc import Iterator

from berth.backends.backendinterface import Manifest
from berth.backends.koordinator.slotobjects import GROUP
from berth.manifests import naming
from berth.manifests.placed import Placed
from berth.manifests.rbac import RBAC, Rule, cluster_binding, cluster_role, rule
from berth.schema.values import Cluster, Site

_SLOTS = (GROUP, ["reservations"])


def of_slots() -> dict[str, list[Rule]]:
    """Return the rules for slots, of occurrences and of the sweep.

    They hold for all slots, as their names are not known before. An occurrence patches a slot that ends later
    than planned; the sweep replaces it.
    """
    return {
        naming.OCCURRENCE: [rule(*_SLOTS, ["list", "create", "patch", "delete"])],
        naming.SWEEP: [rule(*_SLOTS, ["list", "create", "delete"])],
    }


def of_cluster(site: Site, cluster: Cluster) -> Iterator[Manifest]:
    """Yield both ClusterRoles, and the binding of the sweep; each reservation binds its own account."""
    labels = naming.of_site(site)
    for account, rules in of_slots().items():
        yield cluster_role(naming.slot_role(site.name, account), labels, rules)
    role = naming.slot_role(site.name, naming.SWEEP)
    yield cluster_binding(role, labels, role, naming.SWEEP, cluster.namespace)


def over_own_slots(site: Site, placed: Placed) -> Manifest:
    """Return the binding of a reservation with slots to the ClusterRole of the base."""
    name = placed.reservation.name
    role = naming.slot_role(site.name, naming.OCCURRENCE)
    binding = naming.slot_binding(site.name, name)
    labels = naming.of_permissions(site, placed.reservation)
    return cluster_binding(binding, labels, role, naming.single(name), placed.cluster.namespace)


def kinds_of_cluster(site: Site, cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Yield kinds of Koordinator, by patterns, as slots and profiles are named after reservations."""
    for account in (naming.OCCURRENCE, naming.SWEEP):
        for kind in ("ClusterRole", "ClusterRoleBinding"):
            yield RBAC, kind, naming.slot_role(site.name, account)
    yield RBAC, "ClusterRoleBinding", naming.slot_binding(site.name, "*")
    yield GROUP, "Reservation", naming.slot(site.name, "*")
    if cluster.koordinator is not None and cluster.koordinator.colocation_profiles:
        yield "config.koordinator.sh", "ClusterColocationProfile", naming.affinity_profile(site.name, "*", 1)

"""What the accounts of Berth may do to objects of somebody else whose numbers are held."""

from collections.abc import Iterator, Sequence

from berth.backends.backendinterface import Manifest
from berth.core.objects import ObjectKind
from berth.manifests import naming
from berth.manifests.placed import Placed
from berth.manifests.rbac import RBAC, Rule, cluster_binding, cluster_role, namespaced_role, of_scaled, rule
from berth.plugins.numbers.foreignnumbers import ForeignNumber
from berth.schema.heldobjects import HeldSpec
from berth.schema.values import Cluster, Site


def rules_for(kind: ObjectKind, names: Sequence[str] = ()) -> list[Rule]:
    """Return the rules to hold a number of objects of a kind: by the subresource scale where it has one."""
    group, resource = kind.group, kind.plural
    if kind.has_scale:
        return of_scaled(group, resource, names)
    return [rule(group, [resource], ["get", "patch"], names)]


def over_number(site: Site, placed: Placed, number: ForeignNumber) -> list[Manifest]:
    """Return the role of a reservation over the one object, where that is, and its binding."""
    reservation, home = placed.reservation, placed.cluster.namespace
    role = naming.held_role(site.name, naming.OCCURRENCE, reservation.name)
    labels = naming.of_permissions(site, reservation)
    account, rules = naming.single(reservation.name), rules_for(number.object_kind, [number.name])
    if number.object_kind.of_cluster:
        return [cluster_role(role, labels, rules), cluster_binding(role, labels, role, account, home)]
    return namespaced_role(role, str(number.namespace), labels, rules, account, home)


def of_sweep_over_numbers(site: Site, cluster: Cluster) -> Iterator[Manifest]:
    """Yield the roles by which the sweep gives numbers back, also of reservations that are gone."""
    role, labels, home = naming.held_role(site.name, naming.SWEEP), naming.of_site(site), cluster.namespace
    for namespace in dict.fromkeys(name for held in cluster.held for name in held.namespaces or ()):
        here = [held for held in cluster.held if namespace in (held.namespaces or ())]
        yield from namespaced_role(role, namespace, labels, _rules(here), naming.SWEEP, home)
    if of_cluster := [held for held in cluster.held if held.namespaces is None]:
        yield cluster_role(role, labels, _rules(of_cluster))
        yield cluster_binding(role, labels, role, naming.SWEEP, home)


def _rules(held: Sequence[HeldSpec]) -> list[Rule]:
    return [each for spec in held for each in rules_for(spec.object_kind)]


def kinds_of_cluster(site: Site, cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Yield kinds of cluster-scoped roles, by patterns, so that a new reservation changes no project."""
    has_cluster_roles = any(held.namespaces is None for held in cluster.held)
    for kind in ("ClusterRole", "ClusterRoleBinding") if has_cluster_roles else ():
        yield RBAC, kind, naming.held_role(site.name, naming.OCCURRENCE, "*")
        yield RBAC, kind, naming.held_role(site.name, naming.SWEEP)

"""Check that no two rendered objects have the same name: `a-b` with class `c`, and `a` with class `b-c`."""

from collections.abc import Collection, Container, Iterator

from berth.checks.project import Project
from berth.core.objectnames import RECORD_SUFFIX, is_timetable
from berth.findings import Problem
from berth.manifests import naming
from berth.manifests.placed import Placed, cluster_of
from berth.manifests.timetabletext import LARGEST
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, ResourceClass, Site

DEFAULT_ACCOUNT = ("ServiceAccount", "default")  # which each namespace has
KUSTOMIZE = "kustomization"  # kustomize and Flux take a folder with a file of this name for one of theirs


def check_rendered_names(project: Project) -> Iterator[Problem]:
    """Report both reservations with the same name, and an inventory without room for all of them."""
    site, classes = project.site, project.declared.classes.values()
    owners: dict[tuple[str, str, str], Reservation] = {}
    listed: dict[str, list[int]] = {cluster.name: [] for cluster in site.clusters}
    ours = {cluster.name: _berth_names(site, cluster, classes) for cluster in site.clusters}
    for placed, _, schedules, _ in project.parts:
        reservation, cluster, cronjobs = placed.reservation, placed.cluster.name, len(schedules)
        yield from _check_names(placed, cronjobs, ours[cluster])
        lines = (reservation.name, *naming.listed_cronjobs(reservation.name, cronjobs))
        listed[cluster].append(sum(len(line) + 1 for line in lines))
        for kind, name in _names(placed, cronjobs):
            owner = owners.setdefault((cluster, kind, name), reservation)
            if owner.name != reservation.name:
                yield _collision(reservation, kind, name, f"reservation {owner.name}")
                yield _collision(owner, kind, name, f"reservation {reservation.name}")
    for i, inventoried in enumerate(site.clusters):
        sizes = listed[inventoried.name]
        if inventoried.sweep_prunes and sum(sizes) > LARGEST:
            message = (
                f"the inventory of its {len(sizes)} reservations has {-(-sum(sizes) // 1024)} KiB; "
                f"Berth's ConfigMaps have at most {LARGEST // 1024}."
            )
            fix = "Give them shorter names, or let an engine apply them: argocd or flux."
            yield site.origin.problem("B073", ("spec", "clusters", i), message, fix)


def _names(placed: Placed, cronjobs: int) -> list[tuple[str, str]]:
    """Return the names of Deployments, or of their slots, of CronJobs and of ConfigMaps, by kind."""
    name = placed.reservation.name
    names = [("Deployment", naming.pool(name, resource_class.name)) for resource_class in placed.classes]
    names += [("CronJob", naming.cronjob(name, i + 1)) for i in range(cronjobs)]
    names += [("ConfigMap", naming.single(name)), ("ConfigMap", naming.record(name))]
    affinity = ("ConfigMap", naming.affinity_snippet(name))
    return [*names, affinity] if placed.reservation.holder.renders_affinity else names


def _check_names(placed: Placed, cronjobs: int, ours: Container[tuple[str, str]]) -> Iterator[Problem]:
    """Check the names of one reservation. `ours`: those of Berth's own objects in its cluster."""
    reservation, name = placed.reservation, placed.reservation.name
    if not is_timetable(naming.single(name), name):
        message = f"{name} ends in {RECORD_SUFFIX}: its timetable would have the name of a record."
        fix = f"Rename the reservation: no name may end in {RECORD_SUFFIX}."
        yield reservation.problem("B066", ("metadata", "name"), message, fix)
    if name == KUSTOMIZE:
        yield _collision(reservation, "file", f"{KUSTOMIZE}.yaml", "kustomize")
    # Between reservations, these meet where ConfigMaps do.
    also = [("Role", naming.single(name)), ("ServiceAccount", naming.single(name))]
    if DEFAULT_ACCOUNT in also:
        yield _collision(reservation, *DEFAULT_ACCOUNT, "Kubernetes")
    for kind, given in (*_names(placed, cronjobs), *also):
        if (kind, given) in ours or (kind == "ConfigMap" and naming.of_code(given) is not None):
            yield _collision(reservation, kind, given, "Berth itself")
            break


def _berth_names(
    site: Site, cluster: Cluster, classes: Collection[ResourceClass]
) -> frozenset[tuple[str, str]]:
    """Return the names of Berth's own objects in the cluster's namespace."""
    names = {("CronJob", naming.SWEEP), ("Role", naming.SWEEP)}
    if cluster.sweep_prunes:
        names.add(("ConfigMap", naming.INVENTORY))
    here = [
        resource_class.sessions
        for resource_class in classes
        if resource_class.sessions and cluster_of(resource_class, site) is cluster
    ]
    if any(cluster.namespace in sessions.namespace_names for sessions in here):
        names.add(("Role", naming.session_role(site.name)))
    return frozenset(names)


def _collision(reservation: Reservation, kind: str, given: str, other: str) -> Problem:
    message = f"its {kind} would have the name {given}, which {other} uses."
    fix = "Rename the reservation or its class."
    return reservation.origin.problem("B066", ("metadata", "name"), message, fix)

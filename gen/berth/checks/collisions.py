"""Check that no two rendered objects have the same name: `a-b` with class `c`, and `a` with class `b-c`."""

from collections.abc import Iterable, Iterator

from berth.core.objectnames import RECORD_SUFFIX, is_timetable
from berth.findings import Problem
from berth.manifests import naming
from berth.manifests.placed import Placed, cluster_of
from berth.manifests.timetabletext import LARGEST, TOO_LARGE
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, ResourceClass, Site

COLLISION = "B066"
RECORD_NAME = "B066"
DEFAULT_ACCOUNT = ("ServiceAccount", "default")  # which each namespace has
KUSTOMIZE = "kustomization"  # kustomize and Flux take a folder with a file of this name for one of theirs


class RenderedNames:
    """The names used in each cluster. Call `take` for each reservation and cluster."""

    def __init__(self, site: Site, classes: Iterable[ResourceClass]) -> None:
        self._owners: dict[tuple[str, str, str], Reservation] = {}
        known = tuple(classes)
        self._site = site
        self._listed: dict[str, list[int]] = {cluster.name: [] for cluster in site.clusters}
        self._ours = {cluster.name: _berth_names(site, cluster, known) for cluster in site.clusters}

    def take(self, placed: Placed, cronjobs: int) -> Iterator[Problem]:
        """Add the names of a reservation. Both reservations with the same name are reported."""
        reservation = placed.reservation
        name, cluster = reservation.name, placed.cluster.name
        if not is_timetable(naming.single(name), name):
            yield _record_name(reservation)
        if name == KUSTOMIZE:
            yield _collision(reservation, "file", f"{KUSTOMIZE}.yaml", "kustomize")
        # The names of Deployments, or of their slots.
        wanted = [("Deployment", naming.pool(name, resource_class.name)) for resource_class in placed.classes]
        wanted += [("CronJob", naming.cronjob(name, i + 1)) for i in range(cronjobs)]
        wanted += [("ConfigMap", naming.single(name)), ("ConfigMap", naming.record(name))]
        if reservation.holder.renders_affinity:
            wanted.append(("ConfigMap", naming.affinity_snippet(name)))
        # Between reservations, these meet where ConfigMaps do.
        also = [("Role", naming.single(name)), ("ServiceAccount", naming.single(name))]
        if also[1] == DEFAULT_ACCOUNT:
            yield _collision(reservation, *DEFAULT_ACCOUNT, "Kubernetes")
        ours = self._ours[cluster]
        for kind, given in [pair for pair in (*wanted, *also) if pair in ours or _is_code(*pair)][:1]:
            yield _collision(reservation, kind, given, "Berth itself")
        listed = (name, *naming.listed_cronjobs(name, cronjobs))
        self._listed[cluster].append(sum(len(line) + 1 for line in listed))
        for kind, given in wanted:
            owner = self._owners.setdefault((cluster, kind, given), reservation)
            if owner.name != name:
                yield _collision(reservation, kind, given, f"reservation {owner.name}")
                yield _collision(owner, kind, given, f"reservation {name}")

    def problems(self) -> Iterator[Problem]:
        """Check that the inventory has room for all reservations, once they are taken."""
        for i, cluster in enumerate(self._site.clusters):
            lines = self._listed[cluster.name]
            if cluster.sweep_prunes and sum(lines) > LARGEST:
                message = (
                    f"the inventory of its {len(lines)} reservations has {-(-sum(lines) // 1024)} KiB; "
                    f"Berth's ConfigMaps have at most {LARGEST // 1024}."
                )
                fix = "Give them shorter names, or let an engine apply them: argocd or flux."
                yield self._site.origin.problem(TOO_LARGE, ("spec", "clusters", i), message, fix)


def _berth_names(
    site: Site, cluster: Cluster, classes: Iterable[ResourceClass]
) -> frozenset[tuple[str, str]]:
    """Return the names of Berth's own objects in the cluster's namespace."""
    names = {
        ("CronJob", naming.SWEEP),
        ("Role", naming.SWEEP),
    }
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


def _is_code(kind: str, name: str) -> bool:
    return kind == "ConfigMap" and naming.of_code(name) is not None


def _record_name(reservation: Reservation) -> Problem:
    message = f"{reservation.name} ends in {RECORD_SUFFIX}: its timetable would have the name of a record."
    fix = f"Rename the reservation: no name may end in {RECORD_SUFFIX}."
    return reservation.origin.problem(RECORD_NAME, ("metadata", "name"), message, fix)


def _collision(reservation: Reservation, kind: str, given: str, other: str) -> Problem:
    message = f"its {kind} would have the name {given}, which {other} uses."
    fix = "Rename the reservation or its class."
    return reservation.origin.problem(COLLISION, ("metadata", "name"), message, fix)

"""Where a reservation is: its part in each cluster, with the classes and cloud capacities there."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from berth.manifests.nodeaffinity import pools
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.resourceclass import ClassSessions
from berth.schema.values import Cluster, ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.cloudcapacity import CloudCapacity


class SessionKind(NamedTuple):
    """The API group and the plural name of what sessions are."""

    group: str
    resource: str

    @property
    def qualified(self) -> str:
        """Its name as kubectl takes it, such as `notebooks.kubeflow.org`."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


def session_kinds(classes: Iterable[ResourceClass]) -> dict[str, tuple[SessionKind, ...]]:
    """Return what the sessions of classes are, by namespace, all sorted.

    An empty namespace is the whole cluster: labels tell where those sessions are.
    """
    found: dict[str, set[SessionKind]] = {}
    for resource_class in classes:
        sessions = resource_class.sessions
        for namespace in (sessions.namespace_names or ("",)) if sessions else ():
            assert sessions is not None
            found.setdefault(namespace, set()).add(_session_kind(sessions))
    return {namespace: tuple(sorted(found[namespace])) for namespace in sorted(found)}


def _session_kind(sessions: ClassSessions) -> SessionKind:
    if sessions.source == "renku":
        return SessionKind("amalthea.dev", "amaltheasessions")
    if sessions.source == "custom":
        return SessionKind(sessions.group or "", sessions.resource or "")
    return SessionKind("", "pods")


class Placed(NamedTuple):
    """The part of one reservation in one cluster.

    `classes` are in the order of the file, and know the node pools that they may use. `clouds` are the cloud
    capacities that they name, each once. `session_kinds` are those of all classes of the cluster.
    """

    reservation: Reservation
    cluster: Cluster
    classes: tuple[ResourceClass, ...]
    clouds: "tuple[CloudCapacity, ...]" = ()
    session_kinds: Mapping[str, tuple[SessionKind, ...]] = {}
    peers: tuple[str, ...] = ()  # other reservations that hold the same number in this cluster


def class_names(reservation: Reservation) -> tuple[str, ...]:
    """Return the classes that the reservation and its entries name, each once, in the order of the file."""
    names = dict.fromkeys(name for name, _ in reservation.seats)
    for seats in reservation.recurrence.all_seats():
        if seats is not reservation.seats:
            names.update(dict.fromkeys(name for name, _ in seats))
    return tuple(names)


def behaviors_by_class(reservation: Reservation) -> dict[str, list[str]]:
    """Return the behaviors of the entries of each class; that of the reservation for a class without any."""
    found: dict[str, list[str]] = {name: [] for name in class_names(reservation)}
    for _, name, scaling in reservation.scalings():
        found[name].append(scaling.behavior)
    return {name: behaviors or [reservation.behavior] for name, behaviors in found.items()}


def used_behaviors(reservation: Reservation) -> list[str]:
    """Return each behavior that an entry of any class has, once."""
    return [*dict.fromkeys(chain.from_iterable(behaviors_by_class(reservation).values()))]


def pool_behaviors(reservation: Reservation) -> dict[str, str]:
    """Return the behavior of each pool, by class: `none` only if no entry counts its sessions.

    It is that of the reservation if any entry follows it, or else the first of an entry.
    """
    usual, found = reservation.behavior, {}
    for name, behaviors in behaviors_by_class(reservation).items():
        counting = [behavior for behavior in behaviors if behavior != "none"]
        found[name] = usual if usual in counting else next(iter(counting), "none")
    return found


def shortest_leads(reservation: Reservation) -> dict[str, int]:
    """Return the shortest lead of the entries of each class, in minutes."""
    found: dict[str, int] = {}
    for _, name, scaling in reservation.scalings():
        found[name] = min(scaling.lead, found.get(name, scaling.lead))
    return found


def counts_sessions(placed: Placed) -> bool:
    """Return whether the number of seats depends on sessions."""
    behaviors = pool_behaviors(placed.reservation)
    return any(behaviors[resource_class.name] != "none" for resource_class in placed.classes)


def cluster_of(resource_class: ResourceClass, site: Site) -> Cluster | None:
    """Return the cluster of a class, as `cluster_named` does."""
    return cluster_named(resource_class.cluster, site)


def cluster_named(name: str, site: Site) -> Cluster | None:
    """Return the cluster of a name; without a name, the site's only cluster. None: unknown or ambiguous."""
    if not name:
        return site.clusters[0] if len(site.clusters) == 1 else None
    return next((c for c in site.clusters if c.name == name), None)


def placed(reservation: Reservation, declared: Declared, site: Site) -> tuple[Placed, ...]:
    """Return the parts of a reservation, one for each cluster, in the site's order; without unknown classes.

    There are none if a calendar, term or cloud capacity is faulty: its dates are not known, so nothing can be
    concluded from them.
    """
    recurrence = reservation.recurrence
    if recurrence.has_unknown_dates or not declared.knows_calendars(recurrence):
        return ()
    by_cluster: dict[str, list[ResourceClass]] = {}
    for name in class_names(reservation):
        found = declared.classes.get(name)
        cluster = cluster_of(found, site) if found else None
        if found and cluster:
            by_cluster.setdefault(cluster.name, []).append(_with_node_pools(found, declared, site))
    return tuple(
        Placed(
            reservation,
            cluster,
            tuple(here),
            _clouds(here, declared),
            session_kinds(
                resource_class
                for resource_class in declared.classes.values()
                if cluster_of(resource_class, site) is cluster
            ),
            _peers(reservation, cluster, declared, site),
        )
        for cluster in site.clusters
        if (here := by_cluster.get(cluster.name))
    )


def _peers(reservation: Reservation, cluster: Cluster, declared: Declared, site: Site) -> tuple[str, ...]:
    if reservation.holder.shared is None:
        return ()
    sharing = (
        other.name
        for other in declared.reservations
        if other.name != reservation.name
        and other.holder.shared == reservation.holder.shared
        and any(
            cluster_of(declared.classes[name], site) is cluster
            for name in class_names(other)
            if name in declared.classes
        )
    )
    return tuple(sorted(sharing))  # whatever the order of files


def _with_node_pools(found: ResourceClass, declared: Declared, site: Site) -> ResourceClass:
    names = [name for name in found.cloud_capacity if name not in declared.generic]
    return found.model_copy(update={"node_pools": tuple(pools(site.name, names))}) if names else found


def _clouds(classes: Sequence[ResourceClass], declared: Declared) -> "tuple[CloudCapacity, ...]":
    names = dict.fromkeys(name for resource_class in classes for name in resource_class.cloud_capacity)
    return tuple(declared.clouds[name] for name in names if name in declared.clouds)

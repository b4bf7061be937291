"""Where a reservation is: its part in each cluster, with the classes and cloud capacities there."""

from collections.abc import Sequence
from typing import NamedTuple

from berth.manifests.nodeaffinity import pools
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.values import Cluster, Entry, Extra, Reservation, ResourceClass, Site


class Placed(NamedTuple):
    """The part of one reservation in one cluster.

    `classes` are in the order of the file, and know the node pools that they may use. `clouds` are the cloud
    capacities that they name, each once.
    """

    reservation: Reservation
    cluster: Cluster
    classes: tuple[ResourceClass, ...]
    clouds: tuple[CloudCapacity, ...] = ()


def class_names(reservation: Reservation) -> tuple[str, ...]:
    """Return the classes that the reservation and its entries name, each once, in the order of the file."""
    names = dict.fromkeys(name for name, _ in reservation.seats)
    lines: tuple[Entry | Extra, ...] = (*reservation.recurrence.schedule, *reservation.recurrence.extras)
    for item in lines:
        if item.seats is not reservation.seats:
            names.update(dict.fromkeys(name for name, _ in item.seats))
    return tuple(names)


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

    There are none if a calendar is faulty: its dates are not known, so nothing can be concluded from them.
    """
    if not all(name in declared.calendars for name in reservation.recurrence.calendars):
        return ()
    by_cluster: dict[str, list[ResourceClass]] = {}
    for name in class_names(reservation):
        found = declared.classes.get(name)
        cluster = cluster_of(found, site) if found else None
        if found and cluster:
            by_cluster.setdefault(cluster.name, []).append(_with_node_pools(found, site))
    return tuple(
        Placed(reservation, cluster, tuple(here), _clouds(here, declared))
        for cluster in site.clusters
        if (here := by_cluster.get(cluster.name))
    )


def _with_node_pools(found: ResourceClass, site: Site) -> ResourceClass:
    if not found.cloud_capacity:
        return found
    return found._replace(node_pools=tuple(pools(site.name, found.cloud_capacity)))


def _clouds(classes: Sequence[ResourceClass], declared: Declared) -> tuple[CloudCapacity, ...]:
    names = dict.fromkeys(name for found in classes for name in found.cloud_capacity)
    return tuple(declared.clouds[name] for name in names if name in declared.clouds)

"""What a backend is given and what it answers, where its objects and checks are needed."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from berth.backends.backendregistry import HOLDERS
from berth.checks.project import CheckedReservation, Project
from berth.findings import Problem
from berth.manifests import naming
from berth.manifests.placed import Placed
from berth.schema.seatholders import Holder
from berth.schema.values import Cluster, ResourceClass, Site


class Manifest(NamedTuple):
    """One object to render: a template and the finished values for it."""

    template: str
    values: Mapping[str, Any]


class PersistentPool(NamedTuple):
    """The names of the objects that hold the seats of a class without windows.

    `once`: each ends with its first session.
    """

    resource_class: str
    names: tuple[str, ...]
    once: bool


class Backend(ABC):
    """Which objects a holder has, and what is wrong with it. Defaults are those of most backends."""

    pool_templates: tuple[str, ...]
    """Templates of the objects whose replicas are the seats or nodes."""

    plugins: tuple[str, ...] = ()
    """Plugins of the in-cluster code that its pools need."""

    namespaced_kinds: tuple[tuple[str, str], ...] = ()
    """Group and kind of its objects in the Berth namespace, besides those of all backends."""

    @abstractmethod
    def pools(self, site: Site, placed: Placed, common: dict[str, Any]) -> Iterable[Manifest]:
        """Return the objects that hold the seats of a reservation in a cluster. `common`: what all have."""

    def scaling_rules(self, placed: Placed) -> Iterable[dict[str, Any]]:  # noqa: ARG002
        """Return what the Jobs of a reservation may do to its pools in the Berth namespace."""
        return ()

    def leases(self, placed: Placed) -> Iterable[str]:
        """Return the names of the Leases of the pools, each once."""
        return [naming.pool(placed.reservation.name, found.name) for found in placed.classes]

    def permissions(self, site: Site, placed: Placed) -> Iterable[Manifest]:  # noqa: ARG002
        """Return the ClusterRoles and bindings of a reservation with windows."""
        return ()

    def session_objects(self, site: Site, placed: Placed, common: dict[str, Any]) -> Iterable[Manifest]:  # noqa: ARG002
        """Return what session pods need to find their seats; it is last in the file."""
        return ()

    def timetable_pool(self, site: Site, placed: Placed, found: ResourceClass) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the fields of a pool in the timetable that only this backend has."""
        return {}

    def inventory_lines(self, site: Site, placed: Placed) -> list[str]:  # noqa: ARG002
        """Return the lines of the inventory about what is held without windows."""
        return []

    def persistent_pools(self, site: Site, placed: Placed) -> Iterable[PersistentPool]:  # noqa: ARG002
        """Return what is held without windows, for each class."""
        return ()

    def shape_hashes(self, site: Site, placed: Placed) -> Iterable[tuple[str, str]]:  # noqa: ARG002
        """Return the hash of each class's objects, if one that changes is replaced by another object."""
        return ()

    def option_texts(self, holder: Holder) -> Iterable[tuple[str, str]]:  # noqa: ARG002
        """Return the name and the text of each option, for the comparison of two versions."""
        return ()

    def can_give_back(self, holder: Holder, cluster: Cluster) -> bool:  # noqa: ARG002
        """Tell whether the Site lets Berth give back what is held in a cluster."""
        return True

    def change_risks(
        self,
        before: Holder | None,  # noqa: ARG002
        after: Holder | None,  # noqa: ARG002
        *,
        is_open: bool,  # noqa: ARG002
    ) -> Iterable[tuple[str, str]]:
        """Return code and message of what a change does to what the base holds; `is_open`: in a window."""
        return ()

    def cluster_permissions(self, site: Site, cluster: Cluster) -> Iterable[Manifest]:  # noqa: ARG002
        """Return the ClusterRoles and bindings in the base of a cluster that can have it."""
        return ()

    def sweep_rules(self) -> Iterable[dict[str, Any]]:
        """Return what the sweep may do to its objects in the Berth namespace."""
        return ()

    def cluster_kinds(self, site: Site, cluster: Cluster) -> Iterable[tuple[str, str, str]]:  # noqa: ARG002
        """Return group, kind and name of its objects without a namespace; `*` stands for any reservation."""
        return ()

    def problems(self, checked: CheckedReservation) -> Iterable[Problem]:  # noqa: ARG002
        """Check a reservation of this backend."""
        return ()

    def problems_of_all(self, project: Project) -> Iterable[Problem]:  # noqa: ARG002
        """Check all reservations of this backend together; it is asked only if there are any."""
        return ()


def backends_in(cluster: Cluster) -> list[Backend]:
    """Return the backends that a cluster can have."""
    return [backend_of(holder) for holder in HOLDERS.values() if holder.is_in(cluster)]


def backend_of(holder: Holder | type[Holder]) -> Backend:
    """Return the backend of a holder, which is imported when the first reservation needs it."""
    backend: Backend = import_module(holder.implementation).BACKEND
    return backend

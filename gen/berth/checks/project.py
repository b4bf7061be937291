"""What checks are given: a whole project in memory, or one reservation of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from berth.checks.ceilings import Ceilings, PoolLoad, PoolLoads
from berth.dates.expansion import Expansion, Occurrence
from berth.findings import ERROR, Path, Problem, severity
from berth.manifests.placed import Placed, class_names, cluster_of
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.site import HubSpec
from berth.schema.values import Cluster, ResourceClass, Site

if TYPE_CHECKING:
    from berth.checks.cloudmatching import ClassFit
    from berth.machines.windowbudgets import TooManyBudgets, WindowBudgets
    from berth.schema.z2jh import Hub


class Part(NamedTuple):
    """A reservation in one cluster: its occurrences with seats there, the schedules that open them, and the
    pools that count.
    """

    placed: Placed
    occurrences: tuple[Occurrence, ...]
    schedules: tuple[str, ...]
    pools: Sequence[PoolLoad]


class Item(NamedTuple):
    """A reservation with all its dates, and its parts by cluster, in the order of the site."""

    reservation: Reservation
    expansion: Expansion
    parts: tuple[Part, ...]
    problems: tuple[Problem, ...]  # of this reservation alone

    def is_renderable(self, known: Declared) -> bool:
        """Tell whether it has no errors, and all classes, and all that these name, could be read."""
        classes = [known.classes.get(name) for name in class_names(self.reservation)]
        clouds = {name for found in classes if found for name in found.cloud_capacity}
        if None in classes or not clouds <= known.capacities.keys():
            return False
        return not any(severity(problem.code) == ERROR for problem in self.problems)

    @property
    def depends_on_itself(self) -> bool:
        """Whether no other reservation has a say in it, but only documents that all share."""
        return self.reservation.holder.shared is None and not self.reservation.spec.rehearses


class ComparedHub(NamedTuple):
    """A JupyterHub of a cluster; `path` leads to it in the Site."""

    cluster: Cluster
    files: HubSpec
    path: Path
    hub: Hub


class Project(NamedTuple):
    """Everything that was read, expanded and resolved.

    While reservations are checked one by one, nothing is known from `items` on.
    """

    declared: Declared
    site: Site
    ceilings: Ceilings
    now: int | None = None  # None: the clock is not looked at
    fits: Mapping[tuple[str, str], ClassFit] = {}  # by class and CloudCapacity
    items: Sequence[Item] = ()  # by the name of the reservation
    hubs: Sequence[ComparedHub] = ()  # whose values are known
    loads: PoolLoads = PoolLoads(())
    budgets: Mapping[str, WindowBudgets | TooManyBudgets] = {}  # by CloudCapacity

    @property
    def homes(self) -> list[tuple[ResourceClass, Cluster]]:
        """The classes whose clusters are known, with these."""
        classes = self.declared.classes.values()
        return [(found, home) for found in classes if (home := cluster_of(found, self.site))]

    @property
    def parts(self) -> list[Part]:
        return [part for item in self.items for part in item.parts]


class CheckedReservation(NamedTuple):
    """A reservation that is checked, with its parts in clusters and its dates."""

    project: Project
    reservation: Reservation
    places: Sequence[Placed]
    expansion: Expansion = Expansion()

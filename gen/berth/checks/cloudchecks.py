"""Run all checks of cloud capacity for the pipeline.

The modules are imported only if something uses a cloud: the rules of Karpenter take time to load, and most
sites have none.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from berth.checks.ceilings import PoolLoad, placed_by_berth
from berth.dates.expansion import Occurrence
from berth.findings import Problem
from berth.manifests.placed import cluster_named
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.values import Site

if TYPE_CHECKING:
    from berth.checks.cloudmatching import ClassFits
    from berth.machines.windowbudgets import TooManyBudgets, WindowBudgets

PoolsOf = Callable[[str], Sequence[PoolLoad]]
"""Returns the pools of a cluster, once all reservations are known."""


def limited(declared: Declared) -> set[str]:
    """Return the classes whose seats keep nodes of a capacity."""
    return {name for name, resource_class in declared.classes.items() if resource_class.cloud_capacity}


def check_clouds(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check capacities, and classes against them."""
    if declared.clouds:
        from berth.checks import cloudcapacities  # noqa: PLC0415

        yield from cloudcapacities.check_capacities(declared, site)


def class_fits(declared: Declared) -> "ClassFits":
    """Return what each class can use of its capacities."""
    if not declared.clouds:
        return {}
    from berth.checks import cloudmatching  # noqa: PLC0415

    return cloudmatching.class_fits(declared)


def check_reserved_clouds(
    reservation: Reservation, declared: Declared, occurrences: Sequence[Occurrence], fits: "ClassFits"
) -> Iterator[Problem]:
    """Check a reservation against the capacities of its classes."""
    if declared.clouds:
        from berth.checks import cloudwindows  # noqa: PLC0415

        yield from cloudwindows.check_windows(reservation, declared, occurrences, fits)
    if reservation.recurrence.capacity:
        from berth.checks import machinedates  # noqa: PLC0415

        yield from machinedates.check_machine_dates(reservation, declared)


def check_cloud_expiry(declared: Declared, site: Site, pools_of: PoolsOf) -> Iterator[Problem]:
    """Check lifetimes of nodes."""
    for cloud, pools in _in_clusters(declared, site, pools_of):
        from berth.checks import cloudwindows  # noqa: PLC0415

        yield from cloudwindows.check_expiry(cloud, declared, placed_by_berth(pools))


def window_budgets(
    declared: Declared, site: Site, pools_of: PoolsOf
) -> "dict[str, WindowBudgets | TooManyBudgets]":
    """Return the disruption budgets of each capacity's windows."""
    budgets = {}
    for cloud, pools in _in_clusters(declared, site, pools_of):
        from berth.checks import cloudwindows  # noqa: PLC0415

        budgets[cloud.name] = cloudwindows.budgets_of(cloud, declared, pools)
    return budgets


def check_disruption_in_windows(
    declared: Declared, budgets: "dict[str, WindowBudgets | TooManyBudgets]"
) -> Iterator[Problem]:
    """Check the budgets that `window_budgets` returned."""
    for name, budget in budgets.items():
        from berth.checks import cloudwindows  # noqa: PLC0415

        yield from cloudwindows.check_budgets(declared.clouds[name], budget)


def _in_clusters(
    declared: Declared, site: Site, pools_of: PoolsOf
) -> Iterator[tuple[CloudCapacity, Sequence[PoolLoad]]]:
    """Yield the capacities of known clusters with the pools of these."""
    for cloud in declared.clouds.values():
        cluster = cluster_named(cloud.cluster, site)
        if cluster is not None:
            yield cloud, pools_of(cluster.name)

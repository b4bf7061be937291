"""Run all checks of cloud capacity for the pipeline.

The modules are imported only if something uses a cloud: the rules of Karpenter take time to load, and most
sites have none.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from berth.backends.backendinterface import CheckedReservation
from berth.checks.ceilings import PoolLoad, placed_by_berth
from berth.findings import Problem
from berth.manifests.placed import cluster_named
from berth.schema.declared import Declared
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


def check_reserved_clouds(checked: CheckedReservation, fits: "ClassFits") -> Iterator[Problem]:
    """Check a reservation against the capacities of its classes."""
    if checked.declared.clouds:
        from berth.checks import cloudwindows  # noqa: PLC0415

        yield from cloudwindows.check_windows(checked, fits)
    if checked.reservation.recurrence.capacity:
        from berth.checks import machinedates  # noqa: PLC0415

        yield from machinedates.check_machine_dates(checked.reservation, checked.declared)


def cloud_windows(
    declared: Declared, site: Site, pools_of: PoolsOf
) -> "tuple[dict[str, WindowBudgets | TooManyBudgets], list[Problem]]":
    """Return the disruption budgets of each capacity's windows, and problems of these and of lifetimes."""
    budgets: dict[str, WindowBudgets | TooManyBudgets] = {}
    problems: list[Problem] = []
    for cloud in declared.clouds.values():
        cluster = cluster_named(cloud.cluster, site)
        if cluster is not None:
            from berth.checks import cloudwindows  # noqa: PLC0415

            pools = placed_by_berth(pools_of(cluster.name))
            budgets[cloud.name] = cloudwindows.budgets_of(cloud, declared, pools)
            problems += cloudwindows.check_expiry(cloud, declared, pools)
            problems += cloudwindows.check_budgets(cloud, budgets[cloud.name])
    return budgets, problems

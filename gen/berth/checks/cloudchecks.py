"""Run all checks of cloud capacity for the pipeline.

The modules are imported only if something uses a cloud: the rules of Karpenter take time to load, and most
sites have none.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from berth.checks.ceilings import PoolLoad, placed_by_berth
from berth.checks.project import CheckedReservation, Project
from berth.findings import Problem
from berth.manifests.placed import cluster_named
from berth.schema.declared import Declared

if TYPE_CHECKING:
    from berth.checks.cloudmatching import ClassFits
    from berth.machines.windowbudgets import TooManyBudgets, WindowBudgets
    from berth.schema.cloudcapacity import CloudCapacity


def limited(declared: Declared) -> set[str]:
    """Return the classes whose seats keep nodes of a capacity."""
    return {name for name, resource_class in declared.classes.items() if resource_class.cloud_capacity}


def check_clouds(project: Project) -> Iterator[Problem]:
    """Check capacities, and classes against them."""
    if project.declared.clouds:
        from berth.checks import cloudcapacities  # noqa: PLC0415

        yield from cloudcapacities.check_capacities(project.declared, project.site)


def class_fits(declared: Declared) -> "ClassFits":
    """Return what each class can use of its capacities."""
    if not declared.clouds:
        return {}
    from berth.checks import cloudmatching  # noqa: PLC0415

    return cloudmatching.class_fits(declared)


def check_reserved_clouds(checked: CheckedReservation) -> Iterator[Problem]:
    """Check a reservation against the capacities of its classes, and that which says when it happens."""
    reservation, declared = checked.reservation, checked.project.declared
    if declared.clouds or reservation.recurrence.capacity:
        from berth.checks import cloudwindows  # noqa: PLC0415

        yield from cloudwindows.check_windows(checked)
        yield from cloudwindows.check_machine_dates(reservation, declared)


def cloud_budgets(project: Project) -> "dict[str, WindowBudgets | TooManyBudgets]":
    """Return the disruption budgets of the windows of each capacity in a known cluster."""
    budgets: dict[str, WindowBudgets | TooManyBudgets] = {}
    for cloud in project.declared.clouds.values():
        if cluster_named(cloud.cluster, project.site):
            from berth.checks import cloudwindows  # noqa: PLC0415

            budgets[cloud.name] = cloudwindows.budgets_of(cloud, project.declared, _pools(project, cloud))
    return budgets


def check_cloud_windows(project: Project) -> Iterator[Problem]:
    """Check these budgets, and for how long nodes live."""
    for name, budgets in project.budgets.items():
        from berth.checks import cloudwindows  # noqa: PLC0415

        cloud = project.declared.clouds[name]
        yield from cloudwindows.check_expiry(cloud, project.declared, _pools(project, cloud))
        yield from cloudwindows.check_budgets(cloud, budgets)


def _pools(project: Project, cloud: "CloudCapacity") -> list[PoolLoad]:
    cluster = cluster_named(cloud.cluster, project.site)
    return placed_by_berth(project.loads.pools(cluster.name)) if cluster else []

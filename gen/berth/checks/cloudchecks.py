"""Run all checks of cloud capacity for the pipeline.

The modules are imported only if something uses a cloud: the rules of Karpenter take time to load, and most
sites have none.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from berth.checks.ceilings import PoolLoad
from berth.dates.expansion import Occurrence
from berth.findings import ERROR, Problem, severity
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.values import Site

if TYPE_CHECKING:
    from berth.karpenter.disruption import TooManyBudgets, WindowBudgets


def limited(declared: Declared) -> set[str]:
    """Return the classes whose seats a capacity's limits apply to, or that keep its nodes."""
    return {name for name, resource_class in declared.classes.items() if resource_class.cloud_capacity}


def check_clouds(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check capacities, and classes against them."""
    if declared.clouds:
        from berth.checks import cloudcapacities, cloudclasses  # noqa: PLC0415

        own = list(cloudcapacities.check_capacities(declared, site))
        faulty = {problem[1:3] for problem in own if severity(problem.code) == ERROR}
        yield from own
        # A faulty capacity is not reported again at the classes that use it.
        good = {name: cloud for name, cloud in declared.clouds.items() if cloud.origin[:2] not in faulty}
        yield from cloudclasses.check_capacities_of_classes(declared._replace(clouds=good), site)


def check_reserved_clouds(
    reservation: Reservation, declared: Declared, occurrences: Sequence[Occurrence]
) -> Iterator[Problem]:
    """Check a reservation against the capacities of its classes."""
    if declared.clouds:
        from berth.checks import cloudavailability  # noqa: PLC0415

        yield from cloudavailability.check_availability(reservation, declared, occurrences)
    if reservation.recurrence.capacity:
        from berth.checks import machinedates  # noqa: PLC0415

        yield from machinedates.check_machine_dates(reservation, declared)


def check_cloud_limits(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[PoolLoad]]
) -> Iterator[Problem]:
    """Check limits and lifetimes once all reservations are known. `pools_of` returns the pools of a
    cluster.
    """
    if declared.clouds:
        from berth.checks import clouddemand  # noqa: PLC0415

        yield from clouddemand.check_limits_at_peak(declared, site, pools_of)
        yield from clouddemand.check_expiry_in_windows(declared, site, pools_of)


def window_budgets(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[PoolLoad]]
) -> "dict[str, WindowBudgets | TooManyBudgets]":
    """Return the disruption budgets of each capacity's windows, once all reservations are known."""
    if not declared.clouds:
        return {}
    from berth.checks import clouddemand  # noqa: PLC0415

    return clouddemand.all_window_budgets(declared, site, pools_of)


def check_disruption_in_windows(
    declared: Declared, budgets: "dict[str, WindowBudgets | TooManyBudgets]"
) -> Iterator[Problem]:
    """Check the budgets that `window_budgets` returned."""
    if budgets:
        from berth.checks import clouddemand  # noqa: PLC0415

        yield from clouddemand.check_window_budgets(declared, budgets)

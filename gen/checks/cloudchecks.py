"""DOC"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from gen.checks.ceilings import PoolLoad
from gen.dates.occurrence import Occurrence
from gen.declared import Declared
from gen.finding import ERROR, Problem
from gen.model import Reservation, Site
from gen.placed import has_nodes
from gen.rules import severity

if TYPE_CHECKING:
    from gen.karpenter.disruption import TooManyBudgets, WindowBudgets


def limited(declared: Declared) -> set[str]:
    """The classes whose seats some limit of a cloud capacity bounds, or keep its nodes."""
    return {name for name, found in declared.classes.items() if found.cloud_capacity}


def of_documents(declared: Declared, site: Site) -> Iterator[Problem]:
    if declared.clouds:
        from gen.checks import cloudcapacities, cloudclasses, clouddemand  # noqa: PLC0415

        own = [*cloudcapacities.of_clouds(declared, site), *clouddemand.of_clouds(declared)]
        faulty = {one[1:3] for one in own if severity(one.code) == ERROR}
        yield from own
        # What is wrong with a capacity is no second fault of the classes that name it.
        good = {name: one for name, one in declared.clouds.items() if one.origin[:2] not in faulty}
        yield from cloudclasses.of_classes(declared._replace(clouds=good), site)


def of_reservation(
    reservation: Reservation, declared: Declared, site: Site, occurrences: Sequence[Occurrence]
) -> Iterator[Problem]:
    if declared.clouds or has_nodes(reservation):
        from gen.checks import cloudavailability, cloudclasses  # noqa: PLC0415

        yield from cloudclasses.of_reservation(reservation, declared, site, occurrences)
        yield from cloudavailability.of_reservation(reservation, declared, occurrences)


def of_limits(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[PoolLoad]]
) -> Iterator[Problem]:
    """Once all reservations are known; `pools_of` a cluster."""
    if declared.clouds:
        from gen.checks import clouddemand  # noqa: PLC0415

        yield from clouddemand.limit_problems(declared, site, pools_of)
        yield from clouddemand.expiry_problems(declared, site, pools_of)


def window_budgets(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[PoolLoad]]
) -> "dict[str, WindowBudgets | TooManyBudgets]":
    """By cloud capacity, once all reservations are known: how the windows of all that may use it are said."""
    if not declared.clouds:
        return {}
    from gen.checks import clouddemand  # noqa: PLC0415

    return clouddemand.all_window_budgets(declared, site, pools_of)


def of_windows(declared: Declared, found: "dict[str, WindowBudgets | TooManyBudgets]") -> Iterator[Problem]:
    """`found` is what `held` answered."""
    if found:
        from gen.checks import clouddemand  # noqa: PLC0415

        yield from clouddemand.budget_problems(declared, found)

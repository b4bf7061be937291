"""All checks of cloud capacity, for the pipeline.

They are imported where somebody speaks of a cloud: the rules of the planner that they ask take their time to
load, and most sites have none.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from gen.check.load import Pool
from gen.dates.occurrence import Occurrence
from gen.declared import Declared
from gen.finding import ERROR, Problem
from gen.model import Reservation, Site
from gen.placed import has_nodes
from gen.rules import severity

if TYPE_CHECKING:
    from gen.plan.windows import Budgets, TooMany


def limited(declared: Declared) -> set[str]:
    """The classes whose seats some limit of a cloud capacity bounds, or keep its nodes."""
    return {name for name, found in declared.classes.items() if found.cloud_capacity}


def of_documents(declared: Declared, site: Site) -> Iterator[Problem]:
    if declared.clouds:
        from gen.check import cloud, cloudclass, cloudexpiry  # noqa: PLC0415

        own = [*cloud.of_clouds(declared, site), *cloudexpiry.of_clouds(declared)]
        faulty = {one[1:3] for one in own if severity(one.code) == ERROR}
        yield from own
        # What is wrong with a capacity is no second fault of the classes that name it.
        good = {name: one for name, one in declared.clouds.items() if one.origin[:2] not in faulty}
        yield from cloudclass.of_classes(declared._replace(clouds=good), site)


def of_reservation(
    reservation: Reservation, declared: Declared, site: Site, occurrences: Sequence[Occurrence]
) -> Iterator[Problem]:
    if declared.clouds or has_nodes(reservation):
        from gen.check import cloudnodes, cloudwindows  # noqa: PLC0415

        yield from cloudnodes.of_reservation(reservation, declared, site, occurrences)
        yield from cloudwindows.of_reservation(reservation, declared, occurrences)


def of_limits(declared: Declared, site: Site, pools_of: Callable[[str], Sequence[Pool]]) -> Iterator[Problem]:
    """Once all reservations are known; `pools_of` a cluster."""
    if declared.clouds:
        from gen.check import cloudexpiry, cloudlimits  # noqa: PLC0415

        yield from cloudlimits.problems(declared, site, pools_of)
        yield from cloudexpiry.problems(declared, site, pools_of)


def held(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[Pool]]
) -> "dict[str, Budgets | TooMany]":
    """By cloud capacity, once all reservations are known: how the windows of all that may use it are said."""
    if not declared.clouds:
        return {}
    from gen.check import cloudbudgets  # noqa: PLC0415

    return cloudbudgets.all_held(declared, site, pools_of)


def of_windows(declared: Declared, found: "dict[str, Budgets | TooMany]") -> Iterator[Problem]:
    """`found` is what `held` answered."""
    if found:
        from gen.check import cloudbudgets  # noqa: PLC0415

        yield from cloudbudgets.problems(declared, found)

"""What a file of a cloud capacity needs: the windows of all that may use it, and whether disruption budgets
can say them; and a name that no tool takes for its own.
"""

from collections.abc import Callable, Iterator, Sequence

from gen.check.load import Pool, levels, together
from gen.check.names import KUSTOMIZE, MEET
from gen.cloud import CloudCapacity
from gen.declared import Declared
from gen.finding import Problem
from gen.manifest.cloudpools import own_budgets
from gen.model import Site
from gen.placed import cluster_named
from gen.plan.windows import MOST, Budgets, TooMany, Window, budgets
from gen.plan.windows import together as merged

TOO_MANY, NOT_EXACTLY = "B190", "B191"


def seats_on(cloud: CloudCapacity, declared: Declared) -> dict[str, int]:
    """The classes whose seats may be on its machines, each of which counts as one."""
    return {name: 1 for name, found in declared.classes.items() if cloud.name in found.cloud_capacity}


def windows(cloud: CloudCapacity, declared: Declared, pools: Sequence[Pool]) -> list[Window]:
    """While any pool holds a seat that may be on a machine of the capacity; those that touch are one.
    `pools`: of its cluster.
    """
    amounts = levels(together(pools, seats_on(cloud, declared)))
    return merged((since, until) for since, until, amount in amounts if amount > 0)


def held(cloud: CloudCapacity, declared: Declared, pools: Sequence[Pool]) -> Budgets | TooMany:
    return budgets(windows(cloud, declared, pools), MOST - len(own_budgets(cloud)))


def all_held(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[Pool]]
) -> dict[str, Budgets | TooMany]:
    """By cloud capacity; `pools_of` a cluster: with all that use one."""
    found = {}
    for name, cloud in declared.clouds.items():
        cluster = cluster_named(cloud.cluster, site)
        if cluster is not None:
            found[name] = held(cloud, declared, pools_of(cluster.name))
    return found


def problems(declared: Declared, found: dict[str, Budgets | TooMany]) -> Iterator[Problem]:
    for name, answer in found.items():
        cloud = declared.clouds[name]
        if name == KUSTOMIZE:
            message = f"its file would be named {KUSTOMIZE}.yaml, like that of kustomize."
            yield Problem(MEET, *cloud.origin[:2], ("metadata", "name"), message, "Rename the capacity.")
        room = MOST - len(own_budgets(cloud))
        fix = "Let windows open and close at the same times, or give some classes another CloudCapacity."
        if isinstance(answer, TooMany):
            message = (
                f"the windows of its classes need {answer.needed} disruption budgets; a NodePool has room "
                f"for {room}."
            )
            yield Problem(TOO_MANY, *cloud.origin[:2], ("spec",), message, fix)
        elif not answer.exactly and all(one.schedule for one in answer.held):
            message = (
                f"date by date, the windows of its classes need more than the {room} disruption budgets that "
                "a NodePool has room for: nodes are kept in like hours of other days too."
            )
            yield Problem(NOT_EXACTLY, *cloud.origin[:2], ("spec",), message, fix)

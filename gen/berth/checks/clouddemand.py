"""Check what all windows together need from a CloudCapacity: disruption budgets, node lifetime and limits.

Limits are checked against the requests of seats alone; what nodes have besides is reported by `berth plan`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from berth.checks.ceilings import (
    NO_END,
    PoolLoad,
    active_pools,
    held_by_reservation,
    holders_text,
    last_rise,
    levels,
    peak,
    per_seat,
    placed_by_berth,
    sum_changes,
)
from berth.checks.collisions import COLLISION, KUSTOMIZE
from berth.core.jsonvalues import instant_text
from berth.durations import whole_seconds
from berth.findings import Path, Problem
from berth.karpenter.disruption import (
    MAX_BUDGETS,
    TooManyBudgets,
    Window,
    WindowBudgets,
    budgets_for_windows,
    merge_windows,
)
from berth.manifests.nodeaffinity import own_budgets
from berth.manifests.placed import cluster_named
from berth.quantity import parse
from berth.quantity import text as quantity_text
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.values import ResourceClass, Site

TOO_MANY = "B190"


def classes_on(cloud: CloudCapacity, declared: Declared) -> dict[str, int]:
    """Return the classes whose seats may be on nodes of the capacity, each counting as one."""
    return {
        name: 1
        for name, resource_class in declared.classes.items()
        if cloud.name in resource_class.cloud_capacity
    }


def open_windows(cloud: CloudCapacity, declared: Declared, pools: Sequence[PoolLoad]) -> list[Window]:
    """Return when any pool of the cluster holds a seat that may be on a node of the capacity; touching ones
    merged.
    """
    amounts = levels(sum_changes(pools, classes_on(cloud, declared)))
    return merge_windows((since, until) for since, until, amount in amounts if amount > 0)


def budgets_of(
    cloud: CloudCapacity, declared: Declared, pools: Sequence[PoolLoad]
) -> WindowBudgets | TooManyBudgets:
    """Return the disruption budgets of the capacity's windows."""
    return budgets_for_windows(open_windows(cloud, declared, pools), MAX_BUDGETS - len(own_budgets(cloud)))


def all_window_budgets(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[PoolLoad]]
) -> dict[str, WindowBudgets | TooManyBudgets]:
    """Return the budgets of every capacity. `pools_of` returns all pools of a cluster that use one."""
    budgets = {}
    for name, cloud in declared.clouds.items():
        cluster = cluster_named(cloud.cluster, site)
        if cluster is not None:
            budgets[name] = budgets_of(cloud, declared, placed_by_berth(pools_of(cluster.name)))
    return budgets


def check_window_budgets(
    declared: Declared, budgets: dict[str, WindowBudgets | TooManyBudgets]
) -> Iterator[Problem]:
    """Check the budgets, and that the file's name is not one of kustomize's."""
    for name, answer in budgets.items():
        cloud = declared.clouds[name]
        if name == KUSTOMIZE:
            message = f"its file would have the name {KUSTOMIZE}.yaml, which kustomize uses."
            yield cloud.origin.problem(COLLISION, ("metadata", "name"), message, "Rename the capacity.")
        room = MAX_BUDGETS - len(own_budgets(cloud))
        fix = "Let windows open and close at the same times, or give some classes another CloudCapacity."
        if isinstance(answer, TooManyBudgets):
            message = (
                f"the windows of its classes need {answer.needed} disruption budgets; a NodePool takes "
                f"{room} more."
            )
            yield cloud.origin.problem(TOO_MANY, ("spec",), message, fix)


EXPIRES = "B172"


def node_lifetime(cloud: CloudCapacity) -> int | None:
    """Return how long nodes live, in seconds, or None if nothing limits that."""
    return None if cloud.expiry == "Never" else whole_seconds(cloud.expiry)


def expiry_text(cloud: CloudCapacity) -> str:
    """Return the end of a sentence about nodes: `are replaced 720h after their creation ...`."""
    grace = f"; sessions have {cloud.termination_grace} to end" if cloud.termination_grace else ""
    default = "" if cloud.expire_after else ", Karpenter's default"
    return (
        f"are replaced {cloud.expiry} after their creation (expireAfter{default}), regardless of budgets "
        f"and do-not-disrupt{grace}"
    )


def expiry_fix(cloud: CloudCapacity) -> str:
    """Return what to do about nodes that expire."""
    return f"Write expireAfter: Never in CloudCapacity {cloud.name}, or a longer time."


def check_expiry_in_windows(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[PoolLoad]]
) -> Iterator[Problem]:
    """Check for nodes that expire while windows need them, however many reservations these belong to.

    `pools_of` returns all pools of a cluster that use a capacity. Whole nodes are checked elsewhere: they
    have pools of their own.
    """
    for cloud in declared.clouds.values():
        cluster, most = cluster_named(cloud.cluster, site), node_lifetime(cloud)
        if cluster is None or most is None:
            continue
        pools = placed_by_berth(pools_of(cluster.name))
        bad = [
            window for window in open_windows(cloud, declared, pools) if (window[1] - window[0]) * 60 > most
        ]
        if bad:
            first = bad[0][0] * 60 + most if bad[0][0] else 0
            held = held_by_reservation(pools, classes_on(cloud, declared), first // 60)
            holders = holders_text([(name, str(seats)) for name, seats in held])
            path: Path = ("spec", "expireAfter") if cloud.expire_after else ("spec",)
            message = _expiry_message(cloud, bad, first, holders)
            yield cloud.origin.problem(EXPIRES, path, message, expiry_fix(cloud))


def _expiry_message(cloud: CloudCapacity, bad: Sequence[Window], first: int, held: str) -> str:
    since, until = bad[0]
    if not since:
        end = "forever" if until == NO_END else f"until {instant_text(until * 60)}"
        return f"seats are persistent {end} ({held}), and nodes of {cloud.name} {expiry_text(cloud)}."
    more = f", and {len(bad) - 1} more times" if len(bad) > 1 else ""
    return (
        f"windows keep nodes of {cloud.name} from {instant_text(since * 60)} to {instant_text(until * 60)} "
        f"without a break{more}; nodes {expiry_text(cloud)}: the first at {instant_text(first)}, while "
        f"these seats are open: {held}."
    )


TOO_LITTLE = "B174"


def buys_nothing(resource: str, amount: str) -> bool:
    """Tell whether such a limit excludes every node, which is reported at the capacity itself."""
    return resource in ("cpu", "memory", "nodes", "pods") and not parse(amount)


def _limited_by(cloud: CloudCapacity, declared: Declared) -> dict[str, ResourceClass]:
    if not any(resource != "nodes" for resource, _ in cloud.limits):
        return {}
    return {
        name: resource_class
        for name, resource_class in declared.classes.items()
        if resource_class.cloud_capacity == (cloud.name,)
    }


def check_limits_at_peak(
    declared: Declared, site: Site, pools_of: Callable[[str], Sequence[PoolLoad]]
) -> Iterator[Problem]:
    """Check limits at the peak. `pools_of` returns the pools of a cluster."""
    for cloud in declared.clouds.values():
        cluster, classes = cluster_named(cloud.cluster, site), _limited_by(cloud, declared)
        if cluster is None or not classes:
            continue
        pools = placed_by_berth(pools_of(cluster.name))
        for resource, amount in cloud.limits:
            each = dict.fromkeys(classes, 10**9) if resource == "pods" else per_seat(resource, classes)
            highest = peak(sum_changes(pools, each), 0, NO_END)
            most = parse(amount) or 0
            if resource != "nodes" and highest and highest[0] > most and not buys_nothing(resource, amount):
                yield _limit_problem(declared, cloud, (resource, amount), (pools, each), highest)


def _limit_problem(
    declared: Declared,
    cloud: CloudCapacity,
    limit: tuple[str, str],
    held: tuple[Sequence[PoolLoad], Mapping[str, int]],
    span: tuple[int, int],
) -> Problem:
    """Report, as for a ceiling, at the reservation that opened last, and among equal ones at the last by
    name.
    """
    pools, each = held
    amount, at = span
    holders = [(name, quantity_text(part)) for name, part in held_by_reservation(pools, each, at)]
    _, last = max((last_rise(pool.steps, at), pool.reservation) for pool, _ in active_pools(pools, each, at))
    when = f"at {instant_text(at * 60)}" if at else "always"
    message = (
        f"{when} seats request {quantity_text(amount)} of {limit[0]}, but CloudCapacity {cloud.name} is "
        f"limited to {limit[1]}: some would get no node. The seats: {holders_text(holders)}."
    )
    fix = f"Reserve fewer seats or another time, or raise limits.{limit[0]} of {cloud.name}."
    reservation = next(reservation for reservation in declared.reservations if reservation.name == last)
    return reservation.problem(TOO_LITTLE, ("spec", "provisioning"), message, fix)

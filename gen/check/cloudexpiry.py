"""Nodes whose time is over while somebody needs them: an expired node is replaced in spite of budgets and
do-not-disrupt.
"""

from collections.abc import Callable, Iterator, Sequence

from gen.check.cloudbudgets import seats_on, windows
from gen.check.load import NEVER, Pool, holders, holders_text
from gen.cloud import CloudCapacity
from gen.declared import Declared
from gen.finding import Path, Problem
from gen.model import Site
from gen.placed import cluster_named
from gen.plan.windows import Window
from gen.runtime.instant import instant_text
from gen.schema.cloudgrammar import seconds

EXPIRES, AT_ONCE = "B172", "B189"


def life(cloud: CloudCapacity) -> int | None:
    """How long its nodes last, in seconds; None: nothing ends them."""
    return None if cloud.expiry == "Never" else seconds(cloud.expiry)


def of_clouds(declared: Declared) -> Iterator[Problem]:
    for cloud in declared.clouds.values():
        if life(cloud) == 0:
            message = "nodes are replaced as soon as they come, again and again, window or not."
            fix = "Write Never, or a time that is longer than any window."
            yield Problem(AT_ONCE, *cloud.origin[:2], ("spec", "expireAfter"), message, fix)


def replaced(cloud: CloudCapacity) -> str:
    """Of nodes: `are replaced 720h after they came ...`, the end of a sentence."""
    grace = f"; sessions have {cloud.termination_grace} to end" if cloud.termination_grace else ""
    default = "" if cloud.expire_after else ", Karpenter's default"
    return (
        f"are replaced {cloud.expiry} after they came (expireAfter{default}), whatever budgets and "
        f"do-not-disrupt say{grace}"
    )


def fix(cloud: CloudCapacity) -> str:
    return f"Write expireAfter: Never in CloudCapacity {cloud.name}, or a longer time."


def problems(declared: Declared, site: Site, pools_of: Callable[[str], Sequence[Pool]]) -> Iterator[Problem]:
    """Of all that hold nodes of a capacity together, however many reservations that takes. `pools_of` a
    cluster: with all that use one. Whole nodes are judged by themselves, for these have pools of their own.
    """
    for cloud in declared.clouds.values():
        cluster, most = cluster_named(cloud.cluster, site), life(cloud)
        if cluster is None or not most:  # that nodes go at once is told already
            continue
        pools = pools_of(cluster.name)
        bad = [one for one in windows(cloud, declared, pools) if (one[1] - one[0]) * 60 > most]
        if bad:
            first = bad[0][0] * 60 + most if bad[0][0] else 0
            held = holders(pools, seats_on(cloud, declared), first // 60)
            told = holders_text([(name, str(seats)) for name, seats in held])
            path: Path = ("spec", "expireAfter") if cloud.expire_after else ("spec",)
            message = _message(cloud, bad, first, told)
            yield Problem(EXPIRES, *cloud.origin[:2], path, message, fix(cloud))


def _message(cloud: CloudCapacity, bad: Sequence[Window], first: int, held: str) -> str:
    since, until = bad[0]
    if not since:
        end = "for ever" if until == NEVER else f"until {instant_text(until * 60)}"
        return f"seats stand {end} ({held}), and nodes of {cloud.name} {replaced(cloud)}."
    more = f", and {len(bad) - 1} more times" if len(bad) > 1 else ""
    return (
        f"windows hold nodes of {cloud.name} from {instant_text(since * 60)} to {instant_text(until * 60)} "
        f"without a break{more}; nodes {replaced(cloud)}: the first at {instant_text(first)}, while "
        f"these seats are open: {held}."
    )

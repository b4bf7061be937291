"""How many nodes of a pool Karpenter may disrupt at an instant: the rule of NodePool's disruption budgets."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from gen.plan.cron import longest_gap, next_hit, parse

UNBOUNDED = 2**31 - 1
_YEAR, _MOST_HITS = 366 * 86_400, 1_500
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_PERCENT = re.compile(r"([+-]?[0-9]+)%", re.ASCII)


class Budget(NamedTuple):
    """`nodes` as written: `"10%"` or `"3"`. `duration` in seconds; with it `schedule`, which is in UTC.
    `reasons` None: all of Underutilized, Empty, Drifted.
    """

    nodes: str
    schedule: str | None = None
    duration: int | None = None
    reasons: tuple[str, ...] | None = None


def allowed(budgets: Iterable[Budget], reason: str, nodes: int, now: int) -> int:
    """Of `nodes` in the pool. Of several budgets the smallest counts; `UNBOUNDED` where none is active.

    One that cannot be read allows nothing, whatever its reasons.
    """
    every = tuple(budgets)
    found = [_allows(budget, nodes, now) for budget in every]
    if None in found:
        return 0
    counting = (n for b, n in zip(every, found, strict=True) if b.reasons is None or reason in b.reasons)
    return min((n for n in counting if n is not None), default=UNBOUNDED)


def free_from(budgets: Iterable[Budget], reason: str, now: int) -> int | None:
    """The first instant from `now` on at which they allow anything; None: for a year they do not, or as far
    as fifteen hundred hits of their schedules reach.
    """
    every = tuple(budgets)
    last = now + _YEAR
    for _ in range(_MOST_HITS):
        if allowed(every, reason, 1, now):
            return now
        ends = [_end(budget, now) for budget in every if not allowed((budget,), reason, 1, now)]
        known = [end for end in ends if end is not None]
        if len(known) < len(ends) or max(known) > last:
            return None
        now = max(known)
    return None


def _end(budget: Budget, now: int) -> int | None:
    """Of one that holds now: when its last known hit is over; None: never."""
    cron = parse(budget.schedule or "")
    hit = None if cron is None or budget.duration is None else next_hit(cron, now - budget.duration)
    return None if hit is None else hit + (budget.duration or 0)


def active(budget: Budget, now: int) -> bool | None:
    """Does it hold at this instant? None where its schedule cannot be read.

    It does from a hit of its schedule to the last instant of its duration, both included; without schedule,
    and with one that never hits, always.
    """
    if budget.schedule is None and budget.duration is None:
        return True
    cron = parse(budget.schedule or "")
    if cron is None:
        return None
    hit = next_hit(cron, now - (budget.duration or 0))
    return hit is None or hit <= now


def always(schedule: str, duration: int) -> bool:
    """Is there no instant at which a budget with this schedule, which can be read, does not hold?"""
    cron = parse(schedule)
    gap = None if cron is None else longest_gap(cron)
    return gap is None or gap <= duration


def _allows(budget: Budget, nodes: int, now: int) -> int | None:
    holds = active(budget, now)
    if holds is None:
        return None
    return _scaled(budget.nodes, nodes) if holds else UNBOUNDED


def _scaled(text: str, nodes: int) -> int | None:
    """Percentages are rounded up."""
    if _INTEGER.fullmatch(text):
        return int(text)
    percent = _PERCENT.fullmatch(text)
    return None if percent is None else -(-int(percent[1]) * nodes // 100)

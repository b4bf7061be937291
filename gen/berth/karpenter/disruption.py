"""Disruption budgets of a NodePool: which ones a set of windows needs, and how many nodes they let
Karpenter disrupt.

A budget's schedule is in UTC. Schedules have neither years nor zones, and a day of the month beside a
weekday means either of them. So windows are written as dates, one schedule for each time of day and set of
months; where that makes too many, as weekdays of months. A change of the clocks needs no rule: later dates
have another time in UTC.

Windows are half-open, in whole minutes since the epoch; all other instants are seconds.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple

from berth.cron import format_field, longest_gap, next_hit, parse
from berth.durations import format_minutes

UNLIMITED = 2**31 - 1
_YEAR_SECONDS, _MAX_HITS = 366 * 86_400, 1_500
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_PERCENT = re.compile(r"([+-]?[0-9]+)%", re.ASCII)


class DisruptionBudget(NamedTuple):
    """A budget as declared: `nodes` is `"10%"` or `"3"`, `duration` is in seconds and comes with
    `schedule`.

    `reasons` None stands for all of them.
    """

    nodes: str
    schedule: str | None = None
    duration: int | None = None
    reasons: tuple[str, ...] | None = None


def allowed_disruptions(budgets: Iterable[DisruptionBudget], reason: str, nodes: int, now: int) -> int:
    """Return how many of a pool's `nodes` may be disrupted now: the smallest number of all active budgets.

    Return `UNLIMITED` if none is active. A budget that cannot be parsed allows nothing, whatever its
    reasons.
    """
    every = tuple(budgets)
    found = [_allowed_by(budget, nodes, now) for budget in every]
    if None in found:
        return 0
    counting = (n for b, n in zip(every, found, strict=True) if b.reasons is None or reason in b.reasons)
    return min((n for n in counting if n is not None), default=UNLIMITED)


def next_disruption_allowed(budgets: Iterable[DisruptionBudget], reason: str, now: int) -> int | None:
    """Return the first instant from `now` on at which the budgets allow a disruption.

    Return None if there is none within a year or within 1,500 hits of their schedules.
    """
    every = tuple(budgets)
    last = now + _YEAR_SECONDS
    for _ in range(_MAX_HITS):
        if allowed_disruptions(every, reason, 1, now):
            return now
        ends = [_end(budget, now) for budget in every if not allowed_disruptions((budget,), reason, 1, now)]
        known = [end for end in ends if end is not None]
        if len(known) < len(ends) or max(known) > last:
            return None
        now = max(known)
    return None


def _end(budget: DisruptionBudget, now: int) -> int | None:
    """Return when an active budget ends, or None if it never does."""
    cron = parse(budget.schedule or "")
    hit = None if cron is None or budget.duration is None else next_hit(cron, now - budget.duration)
    return None if hit is None else hit + (budget.duration or 0)


def is_active(budget: DisruptionBudget, now: int) -> bool | None:
    """Tell whether a budget is active at an instant, or None if its schedule cannot be parsed.

    It is active from a hit of its schedule to the end of its duration, both inclusive. Without a schedule,
    or with one that never fires, it is always active.
    """
    if budget.schedule is None and budget.duration is None:
        return True
    cron = parse(budget.schedule or "")
    if cron is None:
        return None
    hit = next_hit(cron, now - (budget.duration or 0))
    return hit is None or hit <= now


def is_always_active(schedule: str, duration: int) -> bool:
    """Tell whether a budget with this valid schedule is active at every instant."""
    cron = parse(schedule)
    gap = None if cron is None else longest_gap(cron)
    return gap is None or gap <= duration


def _allowed_by(budget: DisruptionBudget, nodes: int, now: int) -> int | None:
    holds = is_active(budget, now)
    if holds is None:
        return None
    return _scaled(budget.nodes, nodes) if holds else UNLIMITED


def _scaled(text: str, nodes: int) -> int | None:
    """Return the number of nodes that the text stands for. Percentages are rounded up."""
    if _INTEGER.fullmatch(text):
        return int(text)
    percent = _PERCENT.fullmatch(text)
    return None if percent is None else -(-int(percent[1]) * nodes // 100)


MAX_BUDGETS = 50  # budgets in one NodePool, as its CRD has it
SHORT_GAP = 60  # minutes between two windows, in which nodes would go only to be bought again
_DAY_MINUTES = 24 * 60
_YEAR_MINUTES = 365 * _DAY_MINUTES
_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of each month in any year

Window = tuple[int, int]
_Months = dict[int, frozenset[int]]
"""Days, or weekdays, by month."""


class WindowBudget(NamedTuple):
    """A budget that blocks disruption for `minutes` from each hit of `schedule`; an empty schedule means
    always.
    """

    schedule: str
    minutes: int

    @property
    def duration(self) -> str:
        """The duration as the CRD takes it."""
        return format_minutes(self.minutes)


class WindowBudgets(NamedTuple):
    """The budgets of a set of windows, sorted so that a change of one window changes few lines.

    `exactly` tells that they block nothing but the windows and the same dates of other years. Otherwise
    they also block gaps of at most an hour, and perhaps the same hours of the same weekdays in the same
    months.
    """

    held: tuple[WindowBudget, ...]
    exactly: bool


class TooManyBudgets(NamedTuple):
    """The windows need more budgets than there is room for."""

    needed: int


def budgets_for_windows(windows: Iterable[Window], most: int = MAX_BUDGETS) -> WindowBudgets | TooManyBudgets:
    """Return the most exact budgets, at most `most` of them, that cover every minute of all windows."""
    found = merge_windows(windows)
    if any(end - opens >= _YEAR_MINUTES for opens, end in found):
        return WindowBudgets((WindowBudget("", 0),), exactly=False) if most > 0 else TooManyBudgets(1)
    for gap in (0, SHORT_GAP):
        groups = _groups(merge_windows(found, gap))
        dated = [line for group in groups for line in group.dated]
        if len(dated) <= most:
            return WindowBudgets(tuple(sorted(dated)), exactly=not gap)
    return _by_weekdays(groups, len(dated), most)


def merge_windows(windows: Iterable[Window], gap: int = 0) -> list[Window]:
    """Sort the windows and merge those that touch or are at most `gap` minutes apart."""
    found: list[Window] = []
    for opens, end in sorted(windows):
        if found and opens <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif opens < end:
            found.append((opens, end))
    return found


class _WindowGroup(NamedTuple):
    """The windows that open at one time of day and are equally long, written as dates and as weekdays."""

    dated: list[WindowBudget]
    weekly: list[WindowBudget]
    excess: int  # minutes that `weekly` holds in the months of the windows, and `dated` does not

    @property
    def saves(self) -> int:
        return len(self.dated) - len(self.weekly)


def _groups(windows: Iterable[Window]) -> list[_WindowGroup]:
    by_time: dict[tuple[int, int], set[date]] = {}
    for opens, end in windows:
        on = datetime.fromtimestamp(opens * 60, UTC).date()
        by_time.setdefault((opens % _DAY_MINUTES, end - opens), set()).add(on)
    return [_group(*key, dates) for key, dates in by_time.items()]


def _group(time: int, minutes: int, dates: set[date]) -> _WindowGroup:
    hour, minute = divmod(time, 60)
    days: dict[int, set[int]] = {}
    weekdays: dict[int, set[int]] = {}
    for one in dates:
        days.setdefault(one.month, set()).add(one.day)
        weekdays.setdefault(one.month, set()).add(one.isoweekday() % 7)
    dated = [
        WindowBudget(f"{minute} {hour} {_days(found, months)} {format_field(months)} *", minutes)
        for found, months in _months_with_same({month: frozenset(day) for month, day in days.items()})
    ]
    weekly = [
        WindowBudget(
            f"{minute} {hour} * {format_field(months)} {'*' if len(found) == 7 else format_field(found)}",
            minutes,
        )
        for found, months in _months_with_same(
            {month: frozenset(weekday) for month, weekday in weekdays.items()}
        )
    ]
    hits = sum(
        date(year, month, day).isoweekday() % 7 in weekdays[month]
        for year, month in {(one.year, one.month) for one in dates}
        for day in range(1, monthrange(year, month)[1] + 1)
    )
    return _WindowGroup(dated, weekly, (hits - len(dates)) * minutes)


def _months_with_same(by_month: Mapping[int, frozenset[int]]) -> Iterable[tuple[frozenset[int], list[int]]]:
    """Group the months that have the same days or weekdays."""
    found: dict[frozenset[int], list[int]] = {}
    for month in sorted(by_month):
        every = len(by_month[month]) == _DAYS_IN_MONTH[month - 1]
        found.setdefault(frozenset(range(1, 32)) if every else by_month[month], []).append(month)
    return found.items()


def _by_weekdays(groups: list[_WindowGroup], number: int, most: int) -> WindowBudgets | TooManyBudgets:
    """Write as few groups as needed by weekdays, first those that add least time for each budget saved."""
    saving = [group for group in groups if group.saves > 0]
    kept = [line for group in groups if group.saves <= 0 for line in group.dated]
    for one in sorted(saving, key=lambda group: (group.excess / group.saves, group.dated)):
        weekly = number > most
        kept += one.weekly if weekly else one.dated
        number -= one.saves if weekly else 0
    return WindowBudgets(tuple(sorted(kept)), exactly=False) if number <= most else TooManyBudgets(number)


def _days(found: frozenset[int], months: list[int]) -> str:
    return "*" if all(len(found) >= _DAYS_IN_MONTH[month - 1] for month in months) else format_field(found)

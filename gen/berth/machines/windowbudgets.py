"""Disruption budgets of a NodePool: which ones a set of windows needs.

A budget's schedule is in UTC. Schedules have neither years nor zones, and a day of the month beside a
weekday means either of them. So windows are written as dates, one schedule for each time of day and set of
months; where that makes too many, as weekdays of months. A change of the clocks needs no rule: later dates
have another time in UTC.

Windows are half-open, in whole minutes since the epoch.
"""

from calendar import monthrange
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple

from berth.durations import cron_field, format_minutes

MAX_BUDGETS = 50  # budgets in one NodePool, as its CRD has it
SHORT_GAP = 60  # minutes between two windows, in which nodes would go only to be bought again
_DAY_MINUTES = 24 * 60
_YEAR_MINUTES = 365 * _DAY_MINUTES
_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of each month in any year

Window = tuple[int, int]


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
    # As few groups as needed are written by weekdays, first those that add least time for each budget saved.
    number, saving = len(dated), [group for group in groups if group.saves > 0]
    kept = [line for group in groups if group.saves <= 0 for line in group.dated]
    for one in sorted(saving, key=lambda group: (group.excess / group.saves, group.dated)):
        weekly = number > most
        kept += one.weekly if weekly else one.dated
        number -= one.saves if weekly else 0
    return WindowBudgets(tuple(sorted(kept)), exactly=False) if number <= most else TooManyBudgets(number)


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
        WindowBudget(f"{minute} {hour} {_days(found, months)} {cron_field(months)} *", minutes)
        for found, months in _months_with_same({month: frozenset(day) for month, day in days.items()})
    ]
    weekly = [
        WindowBudget(
            f"{minute} {hour} * {cron_field(months)} {'*' if len(found) == 7 else cron_field(found)}",
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


def _days(found: frozenset[int], months: list[int]) -> str:
    return "*" if all(len(found) >= _DAYS_IN_MONTH[month - 1] for month in months) else cron_field(found)

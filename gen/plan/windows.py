"""Which disruption budgets of a NodePool hold while windows are open: schedules in UTC, and their durations.

Schedules have neither years nor zones, and a day of the month beside a weekday means either of them. So the
dates themselves are written, those of a month and a time of day in one schedule; where that makes too many,
the weekdays of months. A clock change needs no rule of its own: later dates have another time in UTC.

Moments are whole minutes since the epoch; windows are half-open. Pure.
"""

from calendar import monthrange
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple

MOST = 50  # budgets in one NodePool, as its CRD has it
SHORT_GAP = 60  # minutes between two windows, in which nodes would go only to be bought again
_DAY = 24 * 60
_YEAR = 365 * _DAY
_LAST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of each month in any year

Window = tuple[int, int]
_Months = dict[int, frozenset[int]]
"""Days, or weekdays, by month."""


class Held(NamedTuple):
    """One budget: from every hit of `schedule` on, for `minutes`. An empty schedule: always."""

    schedule: str
    minutes: int

    @property
    def duration(self) -> str:
        """As the CRD takes it."""
        hours, minutes = divmod(self.minutes, 60)
        return (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes or not hours else "")


class Budgets(NamedTuple):
    """`held` is sorted, so that a change of one window changes few lines. `exactly`: nothing is held but
    windows, and the same dates of other years. Else also gaps of an hour at most, and perhaps the same hours
    of the same weekdays in the same months.
    """

    held: tuple[Held, ...]
    exactly: bool


class TooMany(NamedTuple):
    """No way of saying it needs few enough."""

    needed: int


def budgets(windows: Iterable[Window], most: int = MOST) -> Budgets | TooMany:
    """The most exact way for which `most` suffice. Each minute of every window is held, whichever it is."""
    found = together(windows)
    if any(end - opens >= _YEAR for opens, end in found):
        return Budgets((Held("", 0),), exactly=False) if most > 0 else TooMany(1)
    for gap in (0, SHORT_GAP):
        groups = _groups(together(found, gap))
        dated = [line for one in groups for line in one.dated]
        if len(dated) <= most:
            return Budgets(tuple(sorted(dated)), exactly=not gap)
    return _by_weekdays(groups, len(dated), most)


def together(windows: Iterable[Window], gap: int = 0) -> list[Window]:
    """By time; those that touch, or lie no more than `gap` minutes apart, are one."""
    found: list[Window] = []
    for opens, end in sorted(windows):
        if found and opens <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif opens < end:
            found.append((opens, end))
    return found


class _Group(NamedTuple):
    """All windows that open at one time of day and last equally long, in both ways of saying them."""

    dated: list[Held]
    weekly: list[Held]
    excess: int  # minutes that `weekly` holds in the months of the windows, and `dated` does not

    @property
    def saves(self) -> int:
        return len(self.dated) - len(self.weekly)


def _groups(windows: Iterable[Window]) -> list[_Group]:
    by_time: dict[tuple[int, int], set[date]] = {}
    for opens, end in windows:
        on = datetime.fromtimestamp(opens * 60, UTC).date()
        by_time.setdefault((opens % _DAY, end - opens), set()).add(on)
    return [_group(*key, dates) for key, dates in by_time.items()]


def _group(time: int, minutes: int, dates: set[date]) -> _Group:
    hour, minute = divmod(time, 60)
    days: dict[int, set[int]] = {}
    weekdays: dict[int, set[int]] = {}
    for one in dates:
        days.setdefault(one.month, set()).add(one.day)
        weekdays.setdefault(one.month, set()).add(one.isoweekday() % 7)
    dated = [
        Held(f"{minute} {hour} {_days(found, months)} {_list(months)} *", minutes)
        for found, months in _alike({month: frozenset(found) for month, found in days.items()})
    ]
    weekly = [
        Held(f"{minute} {hour} * {_list(months)} {'*' if len(found) == 7 else _list(found)}", minutes)
        for found, months in _alike({month: frozenset(found) for month, found in weekdays.items()})
    ]
    hits = sum(
        date(year, month, day).isoweekday() % 7 in weekdays[month]
        for year, month in {(one.year, one.month) for one in dates}
        for day in range(1, monthrange(year, month)[1] + 1)
    )
    return _Group(dated, weekly, (hits - len(dates)) * minutes)


def _alike(by_month: Mapping[int, frozenset[int]]) -> Iterable[tuple[frozenset[int], list[int]]]:
    """Months that have the same, together."""
    found: dict[frozenset[int], list[int]] = {}
    for month in sorted(by_month):
        every = len(by_month[month]) == _LAST[month - 1]
        found.setdefault(frozenset(range(1, 32)) if every else by_month[month], []).append(month)
    return found.items()


def _by_weekdays(groups: list[_Group], number: int, most: int) -> Budgets | TooMany:
    """No more groups than needed are said by weekdays: those first that hold least beyond windows for each
    budget that they save.
    """
    saving = [one for one in groups if one.saves > 0]
    kept = [line for one in groups if one.saves <= 0 for line in one.dated]
    for one in sorted(saving, key=lambda one: (one.excess / one.saves, one.dated)):
        weekly = number > most
        kept += one.weekly if weekly else one.dated
        number -= one.saves if weekly else 0
    return Budgets(tuple(sorted(kept)), exactly=False) if number <= most else TooMany(number)


def _days(found: frozenset[int], months: list[int]) -> str:
    return "*" if all(len(found) >= _LAST[month - 1] for month in months) else _list(found)


def _list(numbers: Iterable[int]) -> str:
    """`1,3-5`: three and more in a row as a range."""
    runs: list[list[int]] = []
    for one in sorted(numbers):
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    texts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs]
    return ",".join(texts)

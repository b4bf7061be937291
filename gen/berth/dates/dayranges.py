"""Sets of days given as ranges: which days they are, and whether they contain a day.

Days are numbers (days since 1970-01-01). The cost grows with the number of ranges, not with their length.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

_FEW = 4000  # days: ten years of holidays


class TitledDays(NamedTuple):
    """An index of ranges with titles that finds the title of a day."""

    firsts: list[int]  # ascending
    reach: list[tuple[int, str]]  # (last day, title) of the range that ends last among those up to here


def titled_days(ranges: Iterable[tuple[int, int, str]]) -> TitledDays:
    """Index ranges (first, last, title), both days included, in any order."""
    firsts, reach, furthest = [], [], (-1, "")
    for first, last, title in sorted(ranges):
        furthest = max(furthest, (last, title))
        firsts.append(first)
        reach.append(furthest)
    return TitledDays(firsts, reach)


def title_of(days: TitledDays, day: int) -> str | None:
    """Return the title of a range that contains the day, or None."""
    at = bisect_right(days.firsts, day) - 1
    if at < 0 or days.reach[at][0] < day:
        return None
    return days.reach[at][1]


def list_days(ranges: Iterable[tuple[int, int]]) -> frozenset[int] | None:
    """Return each day of the ranges (first, last), both included; None if they are too many to list."""
    known = list(ranges)
    if sum(last - first for first, last in known) > _FEW:
        return None
    return frozenset(day for first, last in known for day in range(first, last + 1))


def has_day_between(ranges: Iterable[range], first: int, last: int) -> bool:
    """Tell whether a day from `first` to `last` is in one of the ranges, which ascend by any step."""
    for days in ranges:
        following = max(first, days.start)
        following += (days.start - following) % days.step
        if following <= last and following < days.stop:
            return True
    return False


def union(ranges: Iterable[tuple[int, int]]) -> list[range]:
    """Merge ranges (first, last), both days included, into ascending ranges that do not overlap."""
    merged: list[range] = []
    following = 0
    for first, last in sorted(ranges):
        if last >= following:
            merged.append(range(max(first, following), last + 1))
            following = last + 1
    return merged

"""Sets of days given as ranges: which days they are, and whether they contain a day."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

# Sets of days given as ranges: which days they are, and whether they hold a day. Days are numbers (days
# since 1970-01-01). The cost grows with the number of ranges, never with their length: to leave out a
# century is as cheap as to leave out a day.

_FEW = 4000  # days: ten years of holidays


class Cover(NamedTuple):
    """Ranges with a title each, made for one question: which title covers a day?"""

    firsts: list[int]  # ascending
    reach: list[tuple[int, str]]  # of the ranges up to here the one that ends last: (last day, title)


def cover(ranges: Iterable[tuple[int, int, str]]) -> Cover:
    """From (first, last, title), both days included, in any order."""
    firsts, reach, furthest = [], [], (-1, "")
    for first, last, title in sorted(ranges):
        furthest = max(furthest, (last, title))
        firsts.append(first)
        reach.append(furthest)
    return Cover(firsts, reach)


def title_of(covered: Cover, day: int) -> str | None:
    """The title of a range that holds the day; None where there is none."""
    at = bisect_right(covered.firsts, day) - 1
    if at < 0 or covered.reach[at][0] < day:
        return None
    return covered.reach[at][1]


def listed(ranges: Iterable[tuple[int, int]]) -> frozenset[int] | None:
    """Each day of (first, last), both included; None where they are too many to list."""
    known = list(ranges)
    if sum(last - first for first, last in known) > _FEW:
        return None
    return frozenset(day for first, last in known for day in range(first, last + 1))


def meets(ranges: Iterable[range], first: int, last: int) -> bool:
    """Whether a day from `first` to `last` is in one of the ranges, which go up by any step."""
    for days in ranges:
        following = max(first, days.start)
        following += (days.start - following) % days.step
        if following <= last and following < days.stop:
            return True
    return False


def union(ranges: Iterable[tuple[int, int]]) -> list[range]:
    """The same days, each once, ascending; from (first, last), both days included, in any order."""
    whole: list[range] = []
    following = 0
    for first, last in sorted(ranges):
        if last >= following:
            whole.append(range(max(first, following), last + 1))
            following = last + 1
    return whole

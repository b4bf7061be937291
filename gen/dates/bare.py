"""The bare recurrence: on which days each entry of a schedule falls, and how long it lasts on the clock.

Knows nothing of exceptions, of zones and of instants. Days and wall times are the numbers of
`gen.dates.zone`.
"""

from gen.dates.dayrange import union
from gen.dates.zone import DAY, number
from gen.model import Entry, Recurrence

Bare = tuple[int, int]
"""An occurrence: wall time of its original start; place of its entry, where extras count on from entries."""


def falls(recurrence: Recurrence) -> list[list[range]]:
    """For each entry the days on which it falls, as ranges: a century of days costs no more than one."""
    if recurrence.type == "dates":
        days = union((number(first), number(last)) for first, last in recurrence.dates)
        return [days for _ in recurrence.schedule]
    first, last = _bounds(recurrence)
    if recurrence.type == "once":
        return [[range(first, first + 1)] for _ in recurrence.schedule]
    if recurrence.type == "daily":
        return [[range(first, last + 1)] for _ in recurrence.schedule]
    step = 7 * recurrence.interval
    monday = first - (first + 3) % 7  # of the first date's ISO week; day 0 was a Thursday
    return [
        [
            range(begin if begin >= first else begin + step, last + 1, step)
            for begin in [monday + day - 1 for day in entry.days]
        ]
        for entry in recurrence.schedule
    ]


def entry_length(recurrence: Recurrence, entry: Entry) -> int:
    """Minutes on the clock. `once` lasts from the first date to the last, if these are not the same."""
    if recurrence.type == "once" and recurrence.first != recurrence.last:
        first, last = _bounds(recurrence)
        return (last - first) * DAY + entry.end - entry.start
    return length(entry.start, entry.end, entry.end_day)


def length(start: int, end: int, end_day: int | None) -> int:
    """Minutes on the clock between two times of day; an end before the start is on the next day.

    Zero or less means no window: equal times, or an `endDay` that leaves none.
    """
    if end_day is None:
        return end - start + (DAY if end < start else 0)
    return end_day * DAY + end - start


def _bounds(recurrence: Recurrence) -> tuple[int, int]:
    assert recurrence.first is not None  # only `dates` has none
    assert recurrence.last is not None
    return number(recurrence.first), number(recurrence.last)

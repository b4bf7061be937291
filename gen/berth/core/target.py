"""How many placeholders a pool should have at an instant, and when that changes next.

Pure functions of occurrences and an instant. The caller leaves out the occurrences of suspended reservations.
"""

from collections.abc import Callable, Iterable

from berth.core.timetable import TimetableOccurrence


def placeholders(behavior: str, count: int, active: int, window: tuple[int, int, int], now: int) -> int:
    """Return how many placeholders an occurrence needs for `count` seats and `active` sessions.

    `window` is open, start and end in seconds. The result is 0 before open and from end on. `none` returns
    all seats regardless of sessions, `maintain` the free seats, and `reduce` a share of the free seats that
    falls from 1 at the start to 0 at the end, rounded half up.
    """
    opens, start, end = window
    if not opens <= now < end:
        return 0
    if behavior == "none":
        return count
    spare = max(count - active, 0)
    if behavior == "maintain" or now <= start:
        return spare
    return (2 * spare * (end - now) + (end - start)) // (2 * (end - start))


def full_count(resource_class: str) -> Callable[[TimetableOccurrence], int]:
    """Return a function for the seats of an occurrence in the pool of a class, ignoring sessions."""

    def count(occurrence: TimetableOccurrence) -> int:
        return sum(seats for name, seats in occurrence.seats if name == resource_class)

    return count


def open_now(occurrences: Iterable[TimetableOccurrence], now: int) -> tuple[TimetableOccurrence, ...]:
    """Return the occurrences that are open at `now`."""
    return tuple(item for item in occurrences if item.open <= now < item.end)


def target(
    occurrences: Iterable[TimetableOccurrence], now: int, seats: Callable[[TimetableOccurrence], int]
) -> int:
    """Return the target of a pool at `now`.

    It is the sum over the started occurrences, and during the lead of an occurrence at least the sum over
    those that will run at its start. So back-to-back occurrences do not double, and overlapping ones add up
    before the second starts.

    For example, 25 seats from 08:00 to 10:00 and 25 from 10:00 to 12:00, each with half an hour of lead, are
    25 seats from 07:30 to 12:00. `seats` is called for open occurrences only.
    """
    asked = [(item, seats(item)) for item in open_now(occurrences, now)]

    def running_at(instant: int) -> int:
        return sum(count for item, count in asked if item.start <= instant < item.end)

    return max((running_at(max(now, item.start)) for item, _ in asked), default=0)


def next_change(occurrences: Iterable[TimetableOccurrence], now: int) -> int | None:
    """Return the next instant after `now` at which an occurrence opens, starts or ends."""
    return min(
        (instant for item in occurrences for instant in (item.open, item.start, item.end) if instant > now),
        default=None,
    )


def opens_within(
    occurrences: Iterable[TimetableOccurrence], now: int, seconds: int
) -> TimetableOccurrence | None:
    """Return the first occurrence that is closed at `now` and opens at most `seconds` later."""
    coming = (item for item in occurrences if now < item.open <= now + seconds)
    return min(coming, key=lambda item: (item.open, item.id), default=None)

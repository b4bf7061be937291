"""What a reservation comes to: its dated occurrences, and those that exceptions took away.

Values only. `gen.dates.recurrence` makes them; what comes after it compares instants and needs no calendar.
"""

from typing import NamedTuple

from gen.finding import Path, Problem
from gen.model import Seats


class Occurrence(NamedTuple):
    """Half-open: `open` (= start - lead) and `start` are in it, `end` is not. Instants: seconds, UTC."""

    reservation: str
    id: str  # <reservation>/<date>T<HH:MM> of the original local start, for ever
    open: int
    start: int
    end: int
    seats: Seats
    zone: str
    marks: tuple[str, ...]  # those that apply of: gap fold overnight moved extra onHoliday suspended
    date: str  # local date of the original start


class Skipped(NamedTuple):
    """What does not happen. `reason`: `except`, or `calendar <name>` with `: <title>` where there is one."""

    id: str
    date: str  # local, as in the id
    reason: str


class Expansion(NamedTuple):
    """`occurrences` by start, then id; `skipped` by date and time; `problems` in no order."""

    occurrences: tuple[Occurrence, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]


class Fault(NamedTuple):
    """A problem of one reservation, before its file is known."""

    code: str
    path: Path
    message: str
    fix: str

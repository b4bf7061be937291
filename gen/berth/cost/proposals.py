"""What past dates propose for the next ones: other seats or another lead, by rules that can be looked up.

Pure. A rule looks only at dates on which the reservation asked for what it asks for now, and nothing was
wrong: a date with faults teaches nothing. Lowering takes several dates, and more of them for a list of dates,
such as exams.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from berth.core.record import OPENED_LATE
from berth.cost.attendance import Attendance, ClassSummary
from berth.cost.rehearsalresults import RehearsalResult
from berth.machines.formatting import minutes
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit

FEWER, MORE, EARLIER, LATER, NOBODY, NO_ROOM = "B210", "B211", "B212", "B213", "B214", "B215"
FEW_DATES = 4  # with fewer, nothing is lowered
MANY_DATES = 8  # from which on the margin is small; with fewer, no list of dates is lowered
TWICE = 2  # dates on which something was too little before more is proposed
MARGIN, WIDE_MARGIN = 10, 25  # percent on top of the most sessions, with many and with few dates
STEP = 5  # seats, and minutes: proposals are multiples of it
WORTH_PERCENT = 10  # of the seats that must be saved
WORTH_MINUTES = 15  # of lead that must be saved
MAX_LEAD = 1440  # minutes, as a reservation may have
_LISTED = ("once", "dates", "capacity")


class Asked(NamedTuple):
    """What a reservation asks for now, in one class."""

    seats: int
    lead: int  # minutes
    ready_minutes: int  # of the site
    behavior: str = "maintain"
    is_listed: bool = False  # its dates are a list, such as those of exams
    unit: Unit = Unit.SEAT


class Proposal(NamedTuple):
    """A change for the next dates. `code` is that of its rule, and its finding."""

    code: str
    before: int  # seats, or minutes of lead
    after: int  # the same as before: there is nothing to write
    dates: int  # that it is derived from
    advice: str
    why: str
    saved: int = 0  # seat-seconds that would have been saved on these dates; below 0, needed more

    @property
    def is_edit(self) -> bool:
        return self.before != self.after

    @property
    def is_lead(self) -> bool:
        return self.code in (EARLIER, LATER)


def asked(reservation: Reservation, resource_class: str, ready_minutes: int) -> Asked | None:
    """Return what a reservation asks for now; None if it has no such class."""
    seats = dict(reservation.seats)
    if resource_class not in seats:
        return None
    return Asked(
        seats[resource_class],
        reservation.lead,
        ready_minutes,
        reservation.behavior,
        reservation.recurrence.type in _LISTED,
        reservation.holder.unit,
    )


def proposals(
    summary: ClassSummary, now: Asked, rehearsals: Sequence[RehearsalResult] = ()
) -> list[Proposal]:
    """Return what the dates of a class propose, at most one change of the seats and one of the lead.

    Its rehearsals tell how long all seats take, and whether there is room for them; not how many are needed.
    """
    seats = [seat for seat in _of_seats(summary.dates, now) if seat is not None]
    then = now._replace(seats=seats[0].after) if seats else now
    whole = [rehearsal.as_lead for rehearsal in rehearsals if rehearsal.promised == now.seats]
    over = [date.id for date in summary.dates]
    coming = [one for one in rehearsals if not any(date.startswith(one.rehearses) for date in over)]
    found = [*seats, *_of_lead([*summary.dates, *whole], then), *_of_room(coming, now)]
    return found if now.unit.has_machines else [each._replace(saved=0) for each in found]


def _of_room(rehearsals: Sequence[RehearsalResult], now: Asked) -> Iterator[Proposal]:
    """Yield what the last rehearsal of each occurrence lacked: one that succeeded says nothing of others.

    Whether to make room or to reserve less, people decide.
    """
    last = {rehearsal.rehearses: rehearsal for rehearsal in sorted(rehearsals, key=attrgetter("open"))}
    for occurrence, rehearsal in last.items():
        missing = rehearsal.missing
        if not missing:
            continue
        of_which = "" if len(last) == 1 else f" of {occurrence.partition('/')[2]}"
        why = f"{rehearsal.ready} of {rehearsal.promised} were ready in the last rehearsal{of_which}"
        if rehearsal.faults:
            why += f": {'; '.join(rehearsal.faults).removesuffix('.')}"
        unit = now.unit.word if missing == 1 else now.unit.plural
        advice = f"make room for {missing} more {unit} and rehearse again"
        yield Proposal(NO_ROOM, now.seats, now.seats, 1, advice, why)


def _of_seats(dates: Sequence[Attendance], now: Asked) -> Iterator[Proposal | None]:
    """Yield a proposal for the seats, from the most sessions."""
    if now.unit is not Unit.SEAT or not now.seats:
        return
    counted = [(date, date.peak) for date in dates if date.peak is not None and not date.faults]
    counted = [(one, peak) for one, peak in counted if one.promised == now.seats]
    full = [peak for one, peak in counted if peak > one.promised]
    if len(full) >= TWICE:
        yield _more(counted, max(full), len(full), now)
        return
    clean = [(one, peak) for one, peak in counted if peak + one.missing <= one.promised]  # all found a seat
    if len(clean) >= _enough(now) and not full:
        yield _fewer(clean, now)


def _enough(now: Asked) -> int:
    """Return how many dates it takes to lower something."""
    return MANY_DATES if now.is_listed else FEW_DATES


def _more(counted: Sequence[tuple[Attendance, int]], most: int, full: int, now: Asked) -> Proposal:
    after = _steps(most + most * MARGIN // 100)
    dates = [one for one, _ in counted]
    return Proposal(
        MORE,
        now.seats,
        after,
        len(dates),
        f"reserve {after} instead of {now.seats}",
        f"more sessions than seats on {full} of {_dates(len(dates))}, at most {most}",
        -_saved(dates, after - now.seats, now.behavior),
    )


def _fewer(clean: Sequence[tuple[Attendance, int]], now: Asked) -> Proposal | None:
    most, dates = max(peak for _, peak in clean), [one for one, _ in clean]
    if not most:
        advice = "look at how its sessions are recognized, or suspend it"
        why = f"no session counted in {_dates(len(dates))}"
        return Proposal(NOBODY, now.seats, now.seats, len(dates), advice, why)
    after = _steps(most + most * (MARGIN if len(dates) >= MANY_DATES else WIDE_MARGIN) // 100)
    if 100 * (now.seats - after) < WORTH_PERCENT * now.seats:
        return None
    return Proposal(
        FEWER,
        now.seats,
        after,
        len(dates),
        f"reserve {after} instead of {now.seats}",
        f"never more than {most} session{'' if most == 1 else 's'} in {_dates(len(dates))}",
        _saved(dates, now.seats - after, now.behavior),
    )


def _saved(dates: Sequence[Attendance], seats: int, behavior: str) -> int:
    """Return the seat-seconds that so many seats less would have saved.

    With `reduce` free seats fall from all at the start to none at the end; a buffer follows the sessions.
    """
    if behavior == "buffer":
        return 0
    half = 2 if behavior == "reduce" else 1
    return sum(seats * (date.start - date.open + (date.end - date.start) // half) for date in dates)


def _of_lead(dates: Sequence[Attendance], now: Asked) -> Iterator[Proposal]:
    """Yield a proposal for the lead, from the times at which all seats were ready."""
    same = [date for date in dates if date.start - date.open == 60 * now.lead and not date.faults]
    same = [one for one in same if OPENED_LATE not in dict(one.shortfalls)]
    took = [(one, one.ready - one.open) for one in same if one.ready is not None]
    late = [one for one, _ in took if one.late]
    needed = minutes(max((seconds for _, seconds in took), default=0)) + now.ready_minutes
    if len(late) >= TWICE:
        after = min(_steps(needed), MAX_LEAD)
        if after > now.lead:
            yield _earlier([one for one, _ in took], late, after, now)
        return
    is_always_ready = len(took) == len(same) and not late
    if is_always_ready and len(took) >= MANY_DATES:
        after = _steps(needed + STEP)
        if now.lead - after >= WORTH_MINUTES:
            yield _later([one for one, _ in took], after, now)


def _earlier(took: Sequence[Attendance], late: Sequence[Attendance], after: int, now: Asked) -> Proposal:
    most = minutes(max(attendance.late for attendance in late))
    return Proposal(
        EARLIER,
        now.lead,
        after,
        len(took),
        f"lead {now.lead} -> {after} minutes",
        f"ready {most} minute{'' if most == 1 else 's'} late on {len(late)} of {_openings(took)}",
        60 * (now.lead - after) * now.seats * len(took),
    )


def _later(took: Sequence[Attendance], after: int, now: Asked) -> Proposal:
    spare = (
        min(attendance.due - attendance.ready for attendance in took if attendance.ready is not None) // 60
    )
    return Proposal(
        LATER,
        now.lead,
        after,
        len(took),
        f"lead {now.lead} -> {after} minutes",
        f"ready at least {spare} minutes early in {_openings(took)}",
        60 * (now.lead - after) * now.seats * len(took),
    )


def _steps(number: int) -> int:
    """Round up to a multiple of the step."""
    return -(-number // STEP) * STEP


def _openings(some: Sequence[Attendance]) -> str:
    """Return `3 dates`; with rehearsals, which end as they start, `3 dates and rehearsals`."""
    rehearsals = sum(attendance.start == attendance.end for attendance in some)
    if not rehearsals:
        return _dates(len(some))
    if rehearsals < len(some):
        return f"{len(some)} dates and rehearsals"
    return f"{rehearsals} rehearsal{'' if rehearsals == 1 else 's'}"


def _dates(number: int) -> str:
    return f"{number} date{'' if number == 1 else 's'}"

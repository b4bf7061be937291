"""What past dates propose for the next ones: other seats or another lead, by rules that can be looked up.

Pure. A rule looks only at dates on which the reservation asked for what coming dates ask for, and nothing was
wrong: a date with faults teaches nothing. Lowering takes several dates, and more of them for a list of dates,
such as exams.
"""

import shlex
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from berth.core.record import OPENED_LATE
from berth.cost.pastdates import PastDate
from berth.machines.formatting import minutes
from berth.schema.seatholders import Unit

FEW_DATES = 4  # with fewer, nothing is lowered
MANY_DATES = 8  # from which on the margin is small; with fewer, no list of dates is lowered
TWICE = 2  # dates on which something was too little before more is proposed
MARGIN, WIDE_MARGIN = 10, 25  # percent on top of the most sessions, with many and with few dates
STEP = 5  # seats, and minutes: proposals are multiples of it
WORTH_PERCENT = 10  # of the seats that must be saved
WORTH_MINUTES = 15  # of lead that must be saved
MAX_LEAD = 1440  # minutes, as a reservation may have


class Asked(NamedTuple):
    """What coming dates of a reservation ask for, in one class."""

    seats: int
    lead: int  # minutes
    ready_minutes: int  # of the site
    is_listed: bool = False  # its dates are a list, such as those of exams
    unit: Unit = Unit.SEAT


class Proposal(NamedTuple):
    """A change for the next dates. `code` is that of its rule, and its finding."""

    code: str
    before: int  # seats, or minutes of lead
    after: int  # the same as before: people decide what to do
    advice: str
    why: str

    @property
    def is_lead(self) -> bool:
        return self.code in ("B212", "B213")


def seat_proposals(dates: Sequence[PastDate], now: Asked) -> Iterator[Proposal]:
    """Yield a proposal for the seats of a class, from the most sessions of its dates."""
    if now.unit is not Unit.SEAT:
        return
    held = [date for date in dates if not date.rehearses]
    clean = [date for date in held if date.promised == now.seats and not date.faults]
    counted = [(date, date.peak) for date in clean if date.peak is not None]
    full = [peak for _, peak in counted if peak > now.seats]
    served = [peak for date, peak in counted if peak + date.missing <= now.seats]  # all found a seat
    if len(full) >= TWICE:
        code, number, after = "B211", len(counted), _steps(max(full) * (100 + MARGIN) // 100)
        why = f"more sessions than seats on {len(full)} of {_dates(number)}, at most {max(full)}"
    elif full or len(served) < (MANY_DATES if now.is_listed else FEW_DATES):
        return
    elif not max(served):
        advice = "Look at how its sessions are recognized, or suspend it"
        why = f"no session counted in {_dates(len(served))}"
        yield Proposal("B214", now.seats, now.seats, advice, why)
        return
    else:
        code, number, most = "B210", len(served), max(served)
        after = _steps(most * (100 + (MARGIN if number >= MANY_DATES else WIDE_MARGIN)) // 100)
        why = f"never more than {most} session{'' if most == 1 else 's'} in {_dates(number)}"
        if 100 * (now.seats - after) < WORTH_PERCENT * now.seats:
            return
    yield Proposal(code, now.seats, after, f"Reserve {after} instead of {now.seats}", why)


def opening_proposals(dates: Sequence[PastDate], now: Asked) -> list[Proposal]:
    """Return what the dates of a class propose for its lead, and to make room.

    Rehearsals tell how long all seats take, and whether there is room for them; not how many are needed.
    """
    opened = [date for date in dates if not date.rehearses or date.promised == now.seats]
    return [*_of_lead(opened, now), *_of_room(dates, now)]


def _of_lead(dates: Sequence[PastDate], now: Asked) -> Iterator[Proposal]:
    """Yield a proposal for the lead, from the times at which all seats were ready."""
    same = [date for date in dates if date.start - date.open == 60 * now.lead and not date.faults]
    same = [date for date in same if OPENED_LATE not in date.shortfalls]
    ready = [(date, date.ready) for date in same if date.ready is not None]
    late = [date for date, _ in ready if date.late]
    openings = _openings([date for date, _ in ready])
    needed = minutes(max((at - date.open for date, at in ready), default=0)) + now.ready_minutes
    if len(late) >= TWICE:
        code, after = "B212", min(_steps(needed), MAX_LEAD)
        most = minutes(max(date.late for date in late))
        why = f"ready {most} minute{'' if most == 1 else 's'} late on {len(late)} of {openings}"
    elif not late and len(ready) == len(same) >= MANY_DATES:
        code, after = "B213", _steps(needed + STEP)
        why = f"ready at least {min(date.due - at for date, at in ready) // 60} minutes early in {openings}"
    else:
        return
    if after > now.lead if code == "B212" else now.lead - after >= WORTH_MINUTES:
        yield Proposal(
            code, now.lead, after, f"Open {after} minutes before the start instead of {now.lead}", why
        )


def _of_room(dates: Sequence[PastDate], now: Asked) -> Iterator[Proposal]:
    """Yield what the last rehearsal of each date to come lacked: one that succeeded says nothing of others.

    Whether to make room or to reserve less, people decide.
    """
    over = [date.id for date in dates if not date.rehearses]
    tried = sorted((date for date in dates if date.rehearses), key=attrgetter("open"))
    last = {date.rehearses: date for date in tried if not any(one.startswith(date.rehearses) for one in over)}
    for occurrence, date in last.items():
        if date.missing:
            course, _, day = occurrence.partition("/")
            which = "" if len(last) == 1 else f" of {day}"
            ready = f"{date.promised - date.missing} of {date.promised}"
            faults = f": {'; '.join(date.faults).removesuffix('.')}" if date.faults else ""
            why = f"{ready} were ready in the last rehearsal{which}{faults}"
            unit = now.unit.value if date.missing == 1 else now.unit.plural
            again = shlex.join(["berth", "rehearse", course, day, "--at", "INSTANT"])
            advice = f"Make room for {date.missing} more {unit}, and rehearse again: {again}"
            yield Proposal("B215", now.seats, now.seats, advice, why)


def _steps(number: int) -> int:
    """Round up to a multiple of the step."""
    return -(-number // STEP) * STEP


def _openings(dates: Sequence[PastDate]) -> str:
    """Return `3 dates`, `3 dates and rehearsals` or `3 rehearsals`."""
    kinds = {bool(date.rehearses) for date in dates}
    if len(kinds) > 1:
        return f"{len(dates)} dates and rehearsals"
    return _dates(len(dates), "rehearsal" if True in kinds else "date")


def _dates(number: int, word: str = "date") -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"

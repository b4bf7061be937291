"""Warn about rehearsals that prove nothing, or that are over before anybody merges them."""

from collections.abc import Iterable, Iterator, Sequence

from berth.dates.exceptions import entry_path
from berth.dates.expansion import Occurrence, id_time
from berth.dates.moments import local_text, named, span_text
from berth.dates.rehearsals import is_of_occurrence
from berth.findings import Path, Problem
from berth.schema.reservation import Reservation

PROVES_NOTHING, IS_OVER = "B130", "B131"


def check_rehearsals_prove_something(
    reservation: Reservation, rehearsals: Sequence[Occurrence], occurrences: Sequence[Occurrence]
) -> Iterator[Problem]:
    """Report the first rehearsal that cannot show anything.

    Either nobody tells what is ready, or a window of the same pool holds the seats already. Where the seats
    of windows add up, a rehearsal requests its own.
    """
    if rehearsals and not reservation.holder.tells_ready:
        what = f"{reservation.holder.path_text} of {reservation.holder.target_text}"
        message = f"a rehearsal of {what} proves nothing: nobody tells what is ready of it."
        fix = "Add ready to the target: a path below status that counts it; or remove the rehearsal."
        place = rehearsal_path(reservation, rehearsals[0])
        yield reservation.problem(PROVES_NOTHING, place, message, fix)
        return
    if reservation.overlap != "max" or reservation.holder.persistence is not None:
        return
    handover = reservation.sessions.handover
    for rehearsal in rehearsals:
        seats = dict(rehearsal.seats)
        for other in (*occurrences, *rehearsals):
            if other.id == rehearsal.id or not (
                other.open < rehearsal.end and rehearsal.open < other.end + handover
            ):
                continue
            held = [name for name, count in other.seats if count and name in seats]
            if held:
                yield _proves_nothing(reservation, rehearsal, other, held)
                return


def _proves_nothing(
    reservation: Reservation, rehearsal: Occurrence, other: Occurrence, held: Sequence[str]
) -> Problem:
    window = span_text(other.open, other.end, named(other.zone))
    message = (
        f"the rehearsal on {_when(rehearsal)} proves nothing about {', '.join(held)}: with overlap max, the "
        f"window of {window} holds these seats already."
    )
    return reservation.problem(
        PROVES_NOTHING, rehearsal_path(reservation, rehearsal), message, "Rehearse at another time."
    )


def check_rehearsals_are_ahead(
    reservation: Reservation, added: Iterable[Occurrence], occurrences: Iterable[Occurrence], now: int
) -> Iterator[Problem]:
    """Report the first new rehearsal that has begun already, of an occurrence that has not.

    Only for changes: rehearsals of past weeks stay in a repository.
    """
    coming = {occurrence.id for occurrence in occurrences if occurrence.open > now}
    for rehearsal in added:
        if rehearsal.open <= now and rehearsal.rehearses in coming and not reservation.suspend:
            state = "is in the past" if rehearsal.end <= now else "began already, and opens late"
            message = f"the rehearsal on {_when(rehearsal)} of {rehearsal.rehearses} {state}."
            fix = f"Rehearse it later: berth rehearse {_command(rehearsal)} --at DATE."
            yield reservation.problem(IS_OVER, rehearsal_path(reservation, rehearsal), message, fix)
            return


def _command(rehearsal: Occurrence) -> str:
    name, _, date = rehearsal.rehearses.partition("/")
    return f"{name} {date}"


def rehearsal_path(reservation: Reservation, rehearsal: Occurrence) -> Path:
    """Return the place that says when a rehearsal is: of its date, of its line or of the reservation."""
    recurrence = reservation.recurrence
    for i, entry in enumerate(recurrence.rehearsals):
        if is_of_occurrence(entry, rehearsal.rehearses):
            return "spec", "recurrence", "rehearsals", i, "at"
    for i, line in enumerate(recurrence.lines):
        if line.rehearsal is not None and id_time(line) == rehearsal.rehearses.partition("T")[2]:
            return (*entry_path(i, recurrence), "rehearsal")
    return "spec", "provisioning", "rehearsal"


def _when(one: Occurrence) -> str:
    return local_text(one.open, named(one.zone))

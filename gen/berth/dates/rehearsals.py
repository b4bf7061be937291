"""The rehearsals of a reservation: short windows that try the opening of an occurrence on an earlier date.

A rehearsal requests its seats at once and ends when the lead of its occurrence has passed, or as soon as all
seats are ready; that is decided in the cluster.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from berth.dates.exceptions import CHANGED_TWICE, CLOSED, LEFT_OUT, NO_OCCURRENCE, WHICH_ONE, entry_path
from berth.dates.expansion import Occurrence, Skipped
from berth.dates.moments import local_text
from berth.dates.zone import DAY, Zone, clock, date_text, local, number, resolve
from berth.findings import Fault, Path
from berth.schema.counts import Portion
from berth.schema.rehearsalspec import DatedRehearsal, RehearsalSpec
from berth.schema.reservation import Reservation
from berth.schema.values import Scaling

REHEARSAL = "rehearsal"  # the mark of its occurrences, and how their ids end
NO_TIME, TOO_MANY_SEATS = "B051", "B052"


class Rehearsals(NamedTuple):
    """The rehearsals by start, then id, and what is wrong with them."""

    occurrences: tuple[Occurrence, ...] = ()
    faults: tuple[Fault[Path], ...] = ()


class RehearsalTimes(NamedTuple):
    """The zone of a reservation, and when the site is closed there: for two wall times why, or None."""

    zone: Zone
    closed: Callable[[int, int], str | None]


class _Plan(NamedTuple):
    """When an occurrence is rehearsed: a wall time, and the places that say when, and with which seats."""

    wall: int
    seats: Portion
    path: Path
    seats_path: Path


def has_rehearsals(reservation: Reservation) -> bool:
    return bool(rehearsal_places(reservation))


def rehearsal_places(reservation: Reservation) -> list[Path]:
    """Return the places that say that something is rehearsed."""
    recurrence = reservation.recurrence
    usual: list[Path] = [("spec", "provisioning", "rehearsal")]
    lines = [
        (*entry_path(i, recurrence), "rehearsal") for i, line in enumerate(recurrence.lines) if line.rehearsal
    ]
    single = [("spec", "recurrence", "rehearsals", i) for i in range(len(recurrence.rehearsals))]
    return [*(usual if reservation.spec.provisioning.rehearsal else []), *lines, *single]


def rule_of(reservation: Reservation, line: int) -> RehearsalSpec | None:
    """Return the rule of a line of the recurrence, by its index, or else that of the reservation."""
    own: RehearsalSpec | None = reservation.recurrence.lines[line].rehearsal
    return own or reservation.spec.provisioning.rehearsal


def rehearsals(
    reservation: Reservation,
    dated: Sequence[tuple[Occurrence, int]],
    paths: Sequence[Path],
    skipped: Sequence[Skipped],
    times: RehearsalTimes,
) -> Rehearsals:
    """Return the rehearsals. `dated`: each occurrence and the index of its line; `paths`: of each line."""
    zone = times.zone
    faults: list[Fault[Path]] = []
    single = _single(reservation, [one for one, _ in dated], skipped, faults)
    found = []
    for occurrence, line in dated:
        plan = single.get(occurrence.id) or _usual(reservation, occurrence, line, paths, zone)
        if plan is None:
            continue
        rehearsal = _rehearsal(occurrence, plan, times)
        if isinstance(rehearsal, Fault):
            if rehearsal.code == CLOSED or not any(fault.at == rehearsal.at for fault in faults):
                faults.append(rehearsal)
        else:
            found.append(rehearsal)
    return Rehearsals(tuple(sorted(found, key=lambda one: (one.start, one.id))), tuple(faults))


def _usual(
    reservation: Reservation, occurrence: Occurrence, line: int, paths: Sequence[Path], zone: Zone
) -> _Plan | None:
    """Return the rehearsal that the rule of an occurrence's line says."""
    spec = rule_of(reservation, line)
    if spec is None:
        return None
    is_own = reservation.recurrence.lines[line].rehearsal is not None
    path: Path = (*paths[line], "rehearsal") if is_own else ("spec", "provisioning", "rehearsal")
    day = local(zone, occurrence.start) // DAY - spec.days_before
    return _Plan(day * DAY + spec.start_time, spec.seats, path, (*path, "seats"))


def _single(
    reservation: Reservation,
    occurrences: Sequence[Occurrence],
    skipped: Sequence[Skipped],
    faults: list[Fault[Path]],
) -> dict[str, _Plan]:
    """Return the rehearsals of single occurrences, by the id of the occurrence."""
    plans: dict[str, _Plan] = {}
    owners: dict[str, int] = {}
    for i, line in enumerate(reservation.recurrence.rehearsals):
        path: Path = ("spec", "recurrence", "rehearsals", i)
        matches = [occurrence.id for occurrence in occurrences if is_of_occurrence(line, occurrence.id)]
        if len(matches) == 1 and matches[0] not in owners:
            owners[matches[0]] = i
            wall = number(line.at.day) * DAY + line.at.start_time
            plans[matches[0]] = _Plan(wall, line.seats, (*path, "at"), (*path, "seats"))
        else:
            faults.append(_unmatched(line, matches, owners, skipped, path))
    return plans


def names_occurrence(line: DatedRehearsal, day: str, time: str, name: str) -> bool:
    """Tell whether a line names the occurrence with this original date and time, of an entry of this name."""
    is_start = line.start_time is None or clock(line.start_time) == time
    return day == line.day.isoformat() and is_start and line.name in (None, name)


def is_of_occurrence(line: DatedRehearsal, occurrence: str) -> bool:
    """Tell whether the id of an occurrence is one that a line names: `course/2026-02-02T09:00~group`."""
    day, _, rest = occurrence.partition("/")[2].partition("T")
    time, _, name = rest.partition("~")
    return names_occurrence(line, day, time, name)


def _unmatched(
    line: DatedRehearsal,
    matches: Sequence[str],
    owners: Mapping[str, int],
    skipped: Iterable[Skipped],
    path: Path,
) -> Fault[Path]:
    when = f"{line.day}" if line.start_time is None else f"{line.day} at {clock(line.start_time)}"
    if len(matches) > 1:
        message = f"{line.day} has {len(matches)} occurrences, and this does not say which one is rehearsed."
        starts = ", ".join(occurrence.partition("T")[2] for occurrence in matches)
        return Fault(WHICH_ONE, path, message, f"Add startTime or name: {starts}.")
    if matches:
        message = f"{when} is already rehearsed by rehearsals[{owners[matches[0]]}]."
        return Fault(CHANGED_TWICE, path, message, "Keep one of the two.")
    reason = next((one.reason for one in skipped if is_of_occurrence(line, one.id)), None)
    if reason is not None:
        message = f"{when} is left out ({reason}): it is not rehearsed."
        return Fault(LEFT_OUT, path, message, "Remove this entry.")
    message = f"the reservation has no occurrence on {when}."
    return Fault(NO_OCCURRENCE, (*path, "date"), message, "Name the original date of an occurrence.")


def _rehearsal(occurrence: Occurrence, plan: _Plan, times: RehearsalTimes) -> Occurrence | Fault[Path]:
    start, lead = resolve(times.zone, plan.wall), occurrence.start - occurrence.open
    when = f"{date_text(plan.wall // DAY)} {clock(plan.wall)}"
    if not lead:
        message = f"{occurrence.id} has no lead, so a rehearsal has no time for its seats to become ready."
        return Fault(NO_TIME, plan.path, message, "Give it a leadTimeMinutes, or remove the rehearsal.")
    if start + lead > occurrence.open:
        opens = local_text(occurrence.open, times.zone)
        message = f"the rehearsal at {when} is not over when {occurrence.id} opens, at {opens}."
        return Fault(NO_TIME, plan.path, message, "Rehearse at an earlier date or time.")
    if (reason := times.closed(plan.wall, plan.wall + lead // 60)) is not None:
        message = f"the rehearsal at {when} does not happen: the site is closed then ({reason})."
        return Fault(CLOSED, plan.path, message, "Choose another date, or remove the rehearsal.")
    seats = occurrence.seats
    if plan.seats.number is not None:
        if len(seats) > 1:
            message = f"{occurrence.id} has several classes: {plan.seats.number} seats may be of any of them."
            return Fault(TOO_MANY_SEATS, plan.seats_path, message, "Write a percentage, such as 50%, or all.")
        if plan.seats.number > seats[0][1]:
            message = f"{occurrence.id} has only {seats[0][1]} seats."
            return Fault(TOO_MANY_SEATS, plan.seats_path, message, f"Write at most {seats[0][1]}, or all.")
    return occurrence._replace(
        id=f"{occurrence.id}/{REHEARSAL}",
        open=start,
        start=start,
        end=start + lead,
        seats=tuple((name, plan.seats.seats_of(count)) for name, count in seats),
        marks=(REHEARSAL, *(mark for mark in occurrence.marks if mark == "suspended")),
        date=date_text(plan.wall // DAY),
        scaling=(Scaling(0, "none"),) * len(seats),
        rehearses=occurrence.id,
    )

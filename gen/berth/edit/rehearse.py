"""Rehearse single dates: add, change and remove entries of `rehearsals`."""

from datetime import date
from typing import Any, NamedTuple

from berth.dates.exceptions import NOTHING_TO_MOVE
from berth.dates.expansion import LocalOccurrence
from berth.dates.moments import local_text
from berth.dates.zone import DAY, clock, day_of, local, number, resolve
from berth.edit.datelists import ListChanges, set_keys
from berth.edit.dateselect import (
    Dates,
    NothingToDoError,
    OccurrenceEdit,
    OccurrenceSelector,
    RefusedError,
)
from berth.edit.occurrences import find_changeable
from berth.edit.rehearsalentries import REHEARSALS, rehearsal_index, rehearsal_keys
from berth.edit.roundtrip import MakeNode, TreeEdit
from berth.notation.times import end_time
from berth.schema.counts import Portion
from berth.schema.datechanges import DatedRehearsal, RehearsalTime
from berth.schema.entry import ALL_SEATS, RehearsalSpec
from berth.schema.values import Reservation

DEFAULT_RULE = RehearsalSpec.model_construct(days_before=7, start_time=6 * 60, seats=ALL_SEATS)


class RehearsalStart(NamedTuple):
    """When a rehearsal begins: a local date and time, each as usual if it is None, or else an instant."""

    day: str | None = None
    start: str | None = None
    instant: int | None = None


def rehearse_occurrence(
    which: OccurrenceSelector, at: RehearsalStart, seats: Portion | None = None
) -> OccurrenceEdit:
    """Let the opening of an occurrence be tried beforehand, with all its seats or a portion of them."""

    def plan(dates: Dates) -> TreeEdit:
        occurrence = find_changeable(dates, which, lambda candidate: candidate.happens)
        index = rehearsal_index(dates, occurrence)
        before = None if index is None else dates.reservation.recurrence.rehearsals[index]
        rule = _rule(dates, occurrence)
        wall = _begin(dates, occurrence, at, rule, before)
        portion = seats or (before.seats if before else rule.seats)
        time = RehearsalTime.model_construct(day=day_of(wall), start_time=wall % DAY)
        after = DatedRehearsal.model_construct(day=day_of(occurrence.original), at=time, seats=portion)
        keys = rehearsal_keys(after)
        if index is None:
            changes = ListChanges()
            changes.add(REHEARSALS, {**_address(dates, occurrence), **keys})
            return changes
        if before is not None and rehearsal_keys(before) == keys:
            when = local_text(resolve(dates.zone, wall), dates.zone)
            raise NothingToDoError(f"{dates.words(occurrence)} is already rehearsed on {when}")

        def change(tree: Any, make: MakeNode) -> None:
            entry = tree["spec"]["recurrence"][REHEARSALS][index]
            set_keys(entry["at"], keys["at"], make)
            set_keys(entry, {"seats": keys.get("seats")}, make)

        return change

    return plan


def undo_rehearsal(which: OccurrenceSelector) -> OccurrenceEdit:
    """Remove the entry that rehearses an occurrence."""

    def plan(dates: Dates) -> TreeEdit:
        occurrence = dates.find(which, lambda candidate: rehearsal_index(dates, candidate) is not None)
        index = None if occurrence is None else rehearsal_index(dates, occurrence)
        if index is None:
            usual = dates.find(which, lambda candidate: candidate.happens) or dates.find_left_out(which)
            if usual is None:
                raise RefusedError(dates.missing(which, NOTHING_TO_MOVE))
            own = _own_rule(dates.reservation, usual)
            why = f"; its line or provisioning says: {own}" if own else ""
            raise NothingToDoError(f"nothing to undo: rehearsals does not name {dates.words(usual)}{why}")
        changes = ListChanges()
        changes.remove(REHEARSALS, index)
        return changes

    return plan


def _begin(
    dates: Dates,
    occurrence: LocalOccurrence,
    at: RehearsalStart,
    rule: RehearsalSpec,
    before: DatedRehearsal | None,
) -> int:
    """Return the wall time at which the rehearsal begins; what is not given is as it was, or as usual."""
    if at.instant is not None:
        return local(dates.zone, at.instant)
    day = dates.shown(occurrence)[1] // DAY - rule.days_before
    minutes = rule.start_time
    if before is not None:
        day, minutes = number(before.at.day), before.at.start_time
    if at.day is not None:
        day = number(date.fromisoformat(at.day))
    return day * DAY + (minutes if at.start is None else end_time(at.start))


def _rule(dates: Dates, occurrence: LocalOccurrence) -> RehearsalSpec:
    """Return when and with how many seats an occurrence is rehearsed if nothing is given."""
    return _own_rule(dates.reservation, occurrence) or DEFAULT_RULE


def _own_rule(reservation: Reservation, occurrence: LocalOccurrence) -> RehearsalSpec | None:
    line: RehearsalSpec | None = reservation.recurrence.lines[occurrence.entry].rehearsal
    return line or reservation.spec.provisioning.rehearsal


def _address(dates: Dates, occurrence: LocalOccurrence) -> dict[str, str]:
    """Return the keys that name an occurrence: its original date, and what tells it from others then."""
    day = occurrence.original // DAY
    others = [other for other in dates.all if other.original // DAY == day]
    keys = {"date": str(day_of(occurrence.original))}
    if len(others) > 1:
        keys["startTime"] = clock(occurrence.original)
    if len([other for other in others if other.original == occurrence.original]) > 1:
        keys["name"] = occurrence.name
    return keys

"""Rehearse single dates: add, change and remove entries of `rehearsals`."""

from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

from berth.dates.expansion import LocalOccurrence
from berth.dates.rehearsals import rule_of
from berth.dates.zone import DAY, clock, day_of, local, number, resolve
from berth.edit.datelists import ListChanges, original_keys, set_keys
from berth.edit.dateselect import (
    Dates,
    NothingToDoError,
    OccurrenceEdit,
    OccurrenceSelector,
)
from berth.edit.occurrences import find_changeable
from berth.edit.rehearsalentries import REHEARSALS, rehearsal_index, rehearsal_keys
from berth.edit.roundtrip import MakeNode, TreeEdit
from berth.notation.refusal import CommandError
from berth.notation.times import end_time
from berth.schema.counts import Portion
from berth.schema.rehearsalspec import ALL_SEATS, DatedRehearsal, RehearsalSpec, RehearsalTime

DEFAULT_RULE = RehearsalSpec.model_construct(days_before=7, start_time=6 * 60, seats=ALL_SEATS)


class RehearsalStart(NamedTuple):
    """When a rehearsal begins: a local date and time, each as usual if it is None, or else an instant."""

    day: str | None = None
    start: str | None = None
    instant: int | None = None


def rehearse_occurrence(
    which: OccurrenceSelector, at: RehearsalStart, seats: Portion | None, now: int
) -> OccurrenceEdit:
    """Let the opening of an occurrence be tried beforehand, with all its seats or a portion of them.

    Groups that start together are rehearsed together if no name is given.
    """

    def plan(dates: Dates) -> TreeEdit:
        groups = dates.find_groups(which, lambda candidate: candidate.happens)
        if len(groups) <= 1:
            groups = [find_changeable(dates, which, lambda candidate: candidate.happens)]
        changes, rewritten = ListChanges(), dict[int, Mapping[str, Any]]()
        kept = []
        for occurrence in groups:
            index = rehearsal_index(dates, occurrence)
            before = None if index is None else dates.reservation.recurrence.rehearsals[index]
            after = _rehearsal(dates, occurrence, at, seats, before, now)
            keys = rehearsal_keys(after)
            if index is None or before is None:
                changes.add(REHEARSALS, {**original_keys(dates, occurrence, among_extras=True), **keys})
            elif rehearsal_keys(before) == keys:
                when = f"{after.at.day} {clock(after.at.start_time)}"
                kept.append(f"{dates.words(occurrence)} is already rehearsed on {when}")
            else:
                rewritten[index] = keys
        if not changes and not rewritten:
            raise NothingToDoError("; ".join(kept))

        def change(tree: Any, make: MakeNode) -> None:
            for index, keys in rewritten.items():
                entry = tree["spec"]["recurrence"][REHEARSALS][index]
                set_keys(entry["at"], keys["at"], make)
                set_keys(entry, {"seats": keys.get("seats")}, make)
            changes(tree, make)

        return change

    return plan


def _rehearsal(  # noqa: PLR0913, PLR0917 - what is given, and what was written before
    dates: Dates,
    occurrence: LocalOccurrence,
    at: RehearsalStart,
    seats: Portion | None,
    before: DatedRehearsal | None,
    now: int,
) -> DatedRehearsal:
    """Return the rehearsal of an occurrence; what is not given is as it was, or as usual."""
    rule = _rule(dates, occurrence)
    wall = _begin(dates, occurrence, at, rule, before, now)
    return DatedRehearsal.model_construct(
        day=day_of(occurrence.original),
        at=RehearsalTime.model_construct(day=day_of(wall), start_time=wall % DAY),
        seats=seats or (before.seats if before else rule.seats),
    )


def _begin(  # noqa: PLR0913, PLR0917 - what is given, and what was written before
    dates: Dates,
    occurrence: LocalOccurrence,
    at: RehearsalStart,
    rule: RehearsalSpec,
    before: DatedRehearsal | None,
    now: int,
) -> int:
    """Return the wall time at which the rehearsal begins; what is not given is as it was, or as usual.

    A day that is not given is never in the past: else the rehearsal is on the day before.
    """
    if at.instant is not None:
        return local(dates.zone, at.instant)
    minutes = before.at.start_time if before else rule.start_time
    if at.start is not None:
        minutes = end_time(at.start)
    if at.day is not None:
        return number(date.fromisoformat(at.day)) * DAY + minutes
    start = dates.shown(occurrence)[1]
    days = [start // DAY - rule.days_before, start // DAY - 1]
    if before is not None:
        days.insert(0, number(before.at.day))
    for day in days:
        if resolve(dates.zone, day * DAY + minutes) > now:
            return day * DAY + minutes
    example = f"berth rehearse {dates.reservation.name} {dates.address(occurrence)}"
    raise CommandError(
        f"the day before {dates.words(occurrence)} at {clock(minutes)} is over. Say when it begins, so "
        f'that it ends before the date opens: {example} --at "DATE TIME"'
    )


def _rule(dates: Dates, occurrence: LocalOccurrence) -> RehearsalSpec:
    """Return when and with how many seats an occurrence is rehearsed if nothing is given."""
    return rule_of(dates.reservation, occurrence.entry) or DEFAULT_RULE

"""Change the seats or the time of day of a schedule, for all its dates or from a date on."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from berth.dates.expansion import days_of_entries, window_minutes
from berth.dates.zone import DAY, clock, day_of, number
from berth.edit.datelists import end_keys, set_keys
from berth.edit.dateselect import Dates, OccurrenceEdit, RefusedError
from berth.edit.roundtrip import MakeNode, TreeEdit, plain_value
from berth.edit.seatcounts import Counts, set_extra_seats, with_counts
from berth.manifests.placed import class_names
from berth.notation.refusal import CommandError
from berth.notation.times import TimeSpan
from berth.output.answers import seats_text
from berth.schema.values import Seats


def change_schedule(counts: Counts | None, times: TimeSpan | None, day: str | None) -> OccurrenceEdit:
    """Give each line of the schedule other seats, and another time of day; None keeps what it has.

    From a day on, a line that has earlier dates becomes two. Seats that only some lines have of their own are
    not overwritten: the edit is refused.
    """
    first = None if day is None else number(date.fromisoformat(day))

    def plan(dates: Dates) -> TreeEdit:
        reservation, recurrence = dates.reservation, dates.reservation.recurrence
        name, schedule = reservation.name, recurrence.schedule
        if recurrence.type == "once":
            raise CommandError(f"{name} happens once: change its fields, without --from")
        lines = [
            (index, first is not None and any(one < first for days in ranges for one in days))
            for index, ranges in enumerate(days_of_entries(recurrence))
            if schedule[index].dates.listed is None
            and (first is None or any(one >= first for days in ranges for one in days))
        ]
        if not lines:
            raise CommandError(f"the schedule of {name} has no date from {day} on")
        entries = [schedule[index] for index, _ in lines]
        if times is not None and len({(entry.start, entry.end, entry.end_day) for entry in entries}) > 1:
            raise CommandError(
                f"the lines of {name} have several times of day. Change both times of one: "
                "schedule[0].startTime=10:00 schedule[0].endTime=12:00"
            )
        seats = {} if counts is None else _new_seats(dates, lines, counts, first)

        def edit(tree: Any, make: MakeNode) -> None:
            written = tree["spec"]["recurrence"]["schedule"]
            for index, has_earlier in reversed(lines):
                line = written[index]
                if has_earlier and first is not None:
                    later = {**plain_value(line), "from": str(day_of(first * DAY))}
                    set_keys(line, {"until": str(day_of((first - 1) * DAY))}, make)
                    written.insert(index + 1, make(later))
                    line = written[index + 1]
                if index in seats:
                    set_extra_seats(reservation, line, seats[index], make)
                if times is not None:
                    end = times.start + window_minutes(times.start, times.end, None)
                    set_keys(line, {"startTime": clock(times.start), **end_keys(times.start, end)}, make)

        return edit

    return plan


def _new_seats(
    dates: Dates, lines: Sequence[tuple[int, bool]], counts: Counts, first: int | None
) -> dict[int, Seats]:
    """Return the seats that lines get. `lines`: each with whether it has dates before the first.

    Raise RefusedError if some would lose seats of their own, unless all lines have the same ones, or follow
    each other in time.
    """
    reservation, schedule = dates.reservation, dates.reservation.recurrence.schedule
    unit = reservation.holder.unit
    classes = class_names(reservation) if reservation.seats_listed else ()
    entries = {index: schedule[index] for index, _ in lines}
    new = {index: with_counts(entry.seats, counts, classes) for index, entry in entries.items()}
    own = {index: entry.seats for index, entry in entries.items() if entry.seats is not reservation.seats}
    # As --from has made them: one line in several times of the term.
    kinds = {
        (entry.days, entry.name, entry.dates._replace(first=None, last=None)) for entry in entries.values()
    }
    if (len(own) == len(lines) and len({*own.values()}) == 1) or len(kinds) == 1:
        return new
    problems = []
    for index, has_earlier in lines:
        if index in own and new[index] != own[index]:
            key = "seats" if reservation.seats_listed else unit.field
            fix = f"Without --from and times=, berth set {reservation.name} seats=NUMBER keeps them."
            if first is not None and any(earlier for _, earlier in lines):
                again = f"write until: {day_of((first - 1) * DAY)} in this line, and add it again with from: "
                again += f"{day_of(first * DAY)} and its new {key}."
                fix = f"In the file, {again if has_earlier else f'write the new {key} in this line.'}"
            seats = seats_text(own[index], unit)
            message = f"this line has seats of its own, {seats}, which seats= would overwrite."
            path = ("spec", "recurrence", "schedule", index)
            problems.append(reservation.origin.problem("B016", path, message, fix))
    if problems:
        raise RefusedError(*problems)
    return new

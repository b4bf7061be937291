"""Change the seats or the time of day of a schedule, for all its dates or from a date on."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from berth.dates.expansion import days_of_entries, window_minutes
from berth.dates.zone import DAY, clock, day_of, number
from berth.edit.datelists import end_keys, set_keys
from berth.edit.dateselect import Dates, OccurrenceEdit
from berth.edit.roundtrip import MakeNode, TreeEdit
from berth.edit.seatcounts import Counts, set_extra_seats, with_counts
from berth.manifests.placed import class_names
from berth.notation.refusal import CommandError
from berth.notation.times import TimeSpan


def change_schedule(counts: Counts | None, times: TimeSpan | None, day: str | None) -> OccurrenceEdit:
    """Give each line of the schedule other seats, and another time of day; None keeps what it has.

    From a day on, a line that has earlier dates becomes two.
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
                f"the lines of {name} have several times of day. Change one: schedule[0].startTime=10:00"
            )
        classes = class_names(reservation) if reservation.seats_listed else ()

        def edit(tree: Any, make: MakeNode) -> None:
            written = tree["spec"]["recurrence"]["schedule"]
            for index, has_earlier in reversed(lines):
                line = written[index]
                if has_earlier and first is not None:
                    later = {**_plain(line), "from": str(day_of(first * DAY))}
                    set_keys(line, {"until": str(day_of((first - 1) * DAY))}, make)
                    written.insert(index + 1, make(later))
                    line = written[index + 1]
                if counts is not None:
                    seats = with_counts(schedule[index].seats, counts, classes)
                    set_extra_seats(reservation, line, seats, make)
                if times is not None:
                    end = times.start + window_minutes(times.start, times.end, None)
                    set_keys(line, {"startTime": clock(times.start), **end_keys(times.start, end)}, make)

        return edit

    return plan


def _plain(value: Any) -> Any:
    """Return a value of a document without comments and styles."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, bool | int | float) else str(value)

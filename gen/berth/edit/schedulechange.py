"""Change the seats or the time of day of a schedule, for all its dates or from a date on."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from berth.dates.expansion import days_of_entries, window_minutes
from berth.dates.zone import DAY, day_of, number
from berth.edit.datelists import end_keys, set_keys
from berth.edit.dateselect import Dates, OccurrenceEdit
from berth.edit.roundtrip import MakeNode, TreeEdit
from berth.edit.seatcounts import Counts, set_extra_seats, with_counts
from berth.manifests.placed import class_names
from berth.notation.refusal import CommandError
from berth.notation.times import TimeSpan
from berth.schema.values import Entry


class ScheduleChange(NamedTuple):
    """What lines of a schedule get; None keeps what they have."""

    counts: Counts | None = None
    times: TimeSpan | None = None


def change_schedule(change: ScheduleChange, day: str | None) -> OccurrenceEdit:
    """Change each line of the schedule. From a day on, a line that has earlier dates becomes two."""
    first = None if day is None else number(date.fromisoformat(day))

    def plan(dates: Dates) -> TreeEdit:
        name, recurrence = dates.reservation.name, dates.reservation.recurrence
        if recurrence.type == "once":
            raise CommandError(f"{name} happens once: change its fields, without --from")
        lines = [
            (index, first is not None and any(one < first for days in ranges for one in days))
            for index, ranges in enumerate(days_of_entries(recurrence))
            if recurrence.schedule[index].dates.listed is None
            and (first is None or any(one >= first for days in ranges for one in days))
        ]
        if not lines:
            raise CommandError(f"the schedule of {name} has no date from {day} on")
        if change.times is not None:
            _check_same_times(name, [recurrence.schedule[index] for index, _ in lines])
        return lambda tree, make: _change(dates, change, first, lines, tree["spec"]["recurrence"], make)

    return plan


def _check_same_times(name: str, entries: Sequence[Entry]) -> None:
    if len({(entry.start, entry.end, entry.end_day) for entry in entries}) > 1:
        raise CommandError(
            f"the lines of {name} have several times of day. Change one: schedule[0].startTime=10:00"
        )


def _change(  # noqa: PLR0913, PLR0917 - what is changed, and where
    dates: Dates,
    change: ScheduleChange,
    first: int | None,
    lines: Sequence[tuple[int, bool]],
    written: Any,
    make: MakeNode,
) -> None:
    schedule = written["schedule"]
    for index, has_earlier in reversed(lines):
        line = schedule[index]
        if has_earlier:
            assert first is not None
            later = {**_plain(line), "from": str(day_of(first * DAY))}
            set_keys(line, {"until": str(day_of((first - 1) * DAY))}, make)
            schedule.insert(index + 1, make(later))
            line = schedule[index + 1]
        _change_line(dates, change, dates.reservation.recurrence.schedule[index], line, make)


def _change_line(dates: Dates, change: ScheduleChange, entry: Entry, line: Any, make: MakeNode) -> None:
    reservation = dates.reservation
    if change.counts is not None:
        classes = class_names(reservation) if reservation.seats_listed else ()
        set_extra_seats(reservation, line, with_counts(entry.seats, change.counts, classes), make)
    if change.times is not None:
        start = change.times.start
        end = start + window_minutes(start, change.times.end, None)
        set_keys(line, {"startTime": _clock(start), **end_keys(start, end)}, make)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _plain(value: Any) -> Any:
    """Return a value of a document without comments and styles."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, bool | int | float) else str(value)

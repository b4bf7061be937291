"""What the entries of a skipped date said that `--undo` does not restore, and the commands that do."""

from berth.dates.expansion import LocalOccurrence
from berth.dates.moments import span_text
from berth.dates.zone import clock, day_of, window
from berth.edit.datelists import end_keys, original_keys
from berth.edit.dateselect import Dates, OccurrenceRange, new_times_text
from berth.output.answers import seats_text
from berth.schema.values import Seats

AS_SCHEDULED = "as in the schedule: the file no longer says whether a date was moved before it was skipped"


def skip_loss(dates: Dates, occurrence: LocalOccurrence, command: str) -> str:
    """Return what is lost with the entry of an occurrence; `command` restores it, and may be empty."""
    begin, end = window(dates.zone, occurrence.start, occurrence.end)
    seats = seats_text(occurrence.seats, dates.reservation.holder.unit)
    name = f" {occurrence.name}" if occurrence.name else ""
    restore = f"To restore it: {command}" if command else "Only an edit of the file restores it."
    return f"not kept: {span_text(begin, end, dates.zone)}{name}, {seats}. {restore}"


def change_command(dates: Dates, occurrence: LocalOccurrence, skipped: str) -> str:
    """Return the commands that let a skipped date happen again as `moved` said."""
    if occurrence.is_excepted:
        return ""
    name, which = dates.reservation.name, original_words(dates, occurrence)
    seats = _seats_words(occurrence.seats, dates.reservation.recurrence.schedule[occurrence.entry].seats)
    change = f"berth set {name} --on {_on_words(dates, occurrence)}{seats}"
    if occurrence.has_new_time:
        change = f'berth move {name} {which} --to "{new_times_text(occurrence.start, occurrence.end)}"{seats}'
    return change if occurrence.excluded else f"berth skip {name} {skipped} --undo && {change}"


def add_command(dates: Dates, occurrence: LocalOccurrence) -> str:
    """Return the command that adds an extra date again; empty if none can."""
    reservation = dates.reservation
    keys = end_keys(occurrence.start, occurrence.end)
    if reservation.recurrence.lines[occurrence.entry].scaling or keys["endDay"] is not None:
        return ""
    seats = _seats_words(occurrence.seats, reservation.seats)
    name = f" --name {occurrence.name}" if occurrence.name else ""
    day, times = day_of(occurrence.start), f"{clock(occurrence.start)}-{keys['endTime']}"
    return f"berth add {reservation.name} {day} {times}{seats}{name}"


def _seats_words(seats: Seats, usual: Seats) -> str:
    if dict(seats) == dict(usual):
        return ""
    by_class = ",".join(f"{name}={count}" for name, count in seats)
    return f" --seats {seats[0][1] if len(seats) == 1 else by_class}"


def original_words(dates: Dates, occurrence: LocalOccurrence) -> str:
    """Return the arguments DATE [TIME] [--name NAME] that name an occurrence of the schedule."""
    keys = original_keys(dates, occurrence)
    words = [keys["date"], *([keys["startTime"]] if "startTime" in keys else [])]
    return " ".join([*words, *([f"--name {keys['name'] or repr('')}"] if "name" in keys else [])])


def _on_words(dates: Dates, occurrence: LocalOccurrence) -> str:
    """Return them for `berth set --on`, where the time is an option."""
    day, separator, rest = original_words(dates, occurrence).partition(" ")
    return f"{day} --start {rest}" if separator else day


def range_words(item: OccurrenceRange) -> str:
    """Return what follows the dates of a range on a command line."""
    time = f" {item.start}" if item.start else ""
    return f"{time} --name {item.name}" if item.name else time

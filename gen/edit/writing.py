"""A reservation as a file of ours, as a person would write it: for `berth new` and `berth import`. Pure."""

from datetime import date

from gen.dates.zone import clock
from gen.model import Entry, Recurrence, Reservation, Seats
from gen.output.yamltext import quote
from gen.schema.types import WEEKDAYS

SCHEMA = ".schema.json"  # beside the site file; hidden, so that nobody takes it for a declaration
MODELINE = "# yaml-language-server: $schema={}\n"
HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
"""


def written(one: Reservation, depth: int = 0) -> str:
    """The text of a file that declares it. `depth`: folders between it and reservations/."""
    lines = [f"metadata:\n  name: {one.name}\nspec:\n"]
    if one.title != one.name:
        lines.append(f"  title: {text(one.title)}\n")
    if not one.seats_listed:
        lines.append(f"  resourceClass: {one.seats[0][0]}\n")
    lines.append(_recurrence(one.recurrence, one.seats, by_class=one.seats_listed))
    lines.append(_provisioning(one))
    if one.sessions.project_template:
        lines.append(f"  sessions: {{projectTemplate: {one.sessions.project_template}}}\n")
    if one.suspend:
        lines.append("  suspend: true\n")
    return MODELINE.format("../" * depth + SCHEMA) + HEAD + "".join(lines)


def text(value: str) -> str:
    """Without quotes where every reader takes it for the same text."""
    plain = all(c.isalnum() or c in " -_.,()/" for c in value) and value.isascii()
    if plain and value[:1].isalpha() and value.strip() == value and len(value.split()) > 1:
        return value
    return quote(value)


def _recurrence(one: Recurrence, seats: Seats, *, by_class: bool) -> str:
    lines = [f"  recurrence:\n    type: {one.type}\n"]
    if one.first and one.last:
        lines.append(f"    startDate: {one.first}\n    endDate: {one.last}\n")
    if one.dates:
        lines.append(f"    dates: [{', '.join(map(_range, one.dates))}]\n")
    if one.zone:
        lines.append(f"    timeZone: {one.zone}\n")
    if one.interval != 1:
        lines.append(f"    interval: {one.interval}\n")
    if one.calendars:
        lines.append(f"    calendars: [{', '.join(one.calendars)}]\n")
    lines.append("    schedule:\n")
    lines += [f"      - {{{_entry(entry, seats, by_class=by_class)}}}\n" for entry in one.schedule]
    return "".join(lines)


def _range(span: tuple[date, date]) -> str:
    first, last = span
    return str(first) if first == last else f"{{from: {first}, to: {last}}}"


def _entry(entry: Entry, seats: Seats, *, by_class: bool) -> str:
    said = []
    if len(entry.days) == 1:
        said.append(f"dayOfWeek: {WEEKDAYS[entry.days[0] - 1]}")
    elif entry.days:
        said.append(f"daysOfWeek: [{', '.join(WEEKDAYS[day - 1] for day in entry.days)}]")
    end = "24:00" if entry.end == 1440 else clock(entry.end)
    said.append(f'startTime: "{clock(entry.start)}", endTime: "{end}"')
    if entry.end_day is not None:
        said.append(f"endDay: {entry.end_day}")
    if entry.seats != seats and not by_class:
        said.append(f"placeholderCount: {entry.seats[0][1]}")
    return ", ".join(said)


def _provisioning(one: Reservation) -> str:
    lines = ["  provisioning:\n"]
    if one.seats_listed:
        lines.append("    seats:\n")
        lines += [
            f"      - {{resourceClass: {name}, placeholderCount: {count}}}\n" for name, count in one.seats
        ]
    else:
        lines.append(f"    placeholderCount: {one.seats[0][1]}\n")
    lines.append(f"    leadTimeMinutes: {one.lead}\n    scaleDownBehavior: {one.behavior}\n")
    return "".join(lines)

"""Make new reservation files: from flags and answers, and from Renku's payloads."""

import os
import stat
from datetime import date
from pathlib import Path
from typing import NamedTuple

from berth.dates.zone import DAY, Zone, clock, load, local, number
from berth.edit.roundtrip import EditError
from berth.findings import ERROR, Finding
from berth.output.yamltext import quote
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema import grammar
from berth.schema.holders import BEHAVIORS, Replicas
from berth.schema.report import Origin, Refusal
from berth.schema.reservation import EVERY_SESSION
from berth.schema.types import WEEKDAYS
from berth.schema.values import Entry, Recurrence, Reservation, Seats

# What somebody wants to reserve, said in a few words, and the reservation that it comes to. Pure.


class Question(NamedTuple):
    flag: str
    text: str
    example: str


QUESTIONS = {
    "class": Question("--class", "Which resource class?", ""),
    "seats": Question("--seats", "How many seats?", "25"),
    "when": Question("--weekly, --daily, --once or --dates", "On which weekdays, or which dates?", "mon,wed"),
    "times": Question("its times, such as 09:00-13:00", "From when to when?", "09:00-13:00"),
    "from": Question("--from", "First date?", "2026-02-02"),
    "until": Question("--until", "Last date?", "2026-05-15"),
}


class Wanted(NamedTuple):
    """`given`: the answers by the names of flags. `type`: weekly, daily, once, dates; empty if not said."""

    name: str
    type: str
    times: tuple[str, ...]
    given: dict[str, str]

    def missing(self) -> list[str]:
        found = [one for one in ("class", "seats") if one not in self.given]
        found += [] if self.type else ["when"]
        found += [] if self.times else ["times"]
        return found + [one for one in ("from", "until") if self.type != "dates" and one not in self.given]

    def answered(self, question: str, answer: str) -> "Wanted":
        if question == "when":
            kind = "dates" if answer[:1].isdigit() else "daily" if answer == "daily" else "weekly"
            return self._replace(type=kind, given={**self.given, kind: answer})
        if question == "times":
            return self._replace(times=tuple(answer.replace(",", " ").split()))
        return self._replace(given={**self.given, question: answer})


def reservation(wanted: Wanted) -> Reservation:
    """Nothing is missing. Raises EditError for what cannot be understood; the rest, the project checks."""
    given = wanted.given
    seats = ((given["class"], _whole(given["seats"], "--seats")),)
    days = _weekdays(given["weekly"]) if wanted.type == "weekly" else ()
    has_span = wanted.type != "dates"
    behaviour = given.get("behaviour", "maintain")
    if behaviour not in BEHAVIORS:
        raise EditError(f'--behaviour "{behaviour}" is none of {", ".join(BEHAVIORS)}')
    return Reservation(
        origin=Origin("", 0),
        name=wanted.name,
        title=given.get("title", wanted.name),
        labels=(),
        annotations=(),
        recurrence=Recurrence(
            type=wanted.type,
            zone=given.get("time-zone", ""),
            first=_date(given["from"]) if has_span else None,
            last=_date(given["until"]) if has_span else None,
            dates=() if has_span else tuple((day, day) for day in map(_date, given["dates"].split(","))),
            interval=1,
            schedule=tuple(Entry(days, *_times(one), None, seats) for one in wanted.times),
            calendars=tuple(filter(None, given.get("calendars", "").split(","))),
            excepts=(),
            moves=(),
            extras=(),
        ),
        seats=seats,
        seats_listed=False,
        lead=_whole(given.get("lead", "30"), "--lead"),
        behavior=behaviour,
        sessions=EVERY_SESSION,
        holder=Replicas(),
        suspend=False,
        renku=False,
    )


def _whole(said: str, flag: str) -> int:
    if not said.isascii() or not said.isdigit() or len(said) > 9:
        raise EditError(f'{flag} "{said}" is no whole number')
    return int(said)


def _date(said: str) -> date:
    try:
        return date.fromisoformat(said.strip())
    except ValueError:
        raise EditError(f'"{said}" is no date such as 2026-02-02') from None


def _times(said: str) -> tuple[int, int]:
    start, dash, end = said.partition("-")
    try:
        if dash:
            return grammar.start_time(start), grammar.end_time(end)
    except Refusal as refusal:
        raise EditError(f"{refusal.message} {refusal.fix.rstrip('.')}") from None
    raise EditError(f'"{said}" is no span of time such as 09:00-13:00')


def _weekdays(said: str) -> tuple[int, ...]:
    days = [one.strip().lower()[:3] for one in said.split(",")]
    if not all(day in WEEKDAYS for day in days):
        raise EditError(f'"{said}" is no list of weekdays such as mon,wed')
    return tuple(sorted({WEEKDAYS.index(day) + 1 for day in days}))


# A reservation as a file of ours, as a person would write it: for `berth new` and `berth import`. Pure.

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
    lines += [f"      - {{{_entry_text(entry, seats, by_class=by_class)}}}\n" for entry in one.schedule]
    return "".join(lines)


def _range(span: tuple[date, date]) -> str:
    first, last = span
    return str(first) if first == last else f"{{from: {first}, to: {last}}}"


def _entry_text(entry: Entry, seats: Seats, *, by_class: bool) -> str:
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


# What Renku's API exported, as reservations of ours that can be edited. Pure.


class Imported(NamedTuple):
    """`findings`: the errors of the file; with any, there are no reservations."""

    reservations: tuple[Reservation, ...]
    findings: tuple[Finding, ...]


def imported(source: Source, project: Pipeline, zone_name: str | None) -> Imported:
    """By name. The project says which class a payload means. Raises EditError.

    Renku's times are UTC. In a zone they become what clocks there show on the first date, and stay so:
    after a clock change the class is then at the same time of day, and no longer at the same time in UTC.
    """
    others = [one for one in project.sources if one.file != source.file]
    both = Pipeline(sources=sorted([*others, source]))
    findings = tuple(one for one in both.findings() if one.file == source.file and one.severity == ERROR)
    if findings:
        return Imported((), findings)
    found = [one for one in both.declared.reservations if one.renku and one.origin.file == source.file]
    if not found:
        raise EditError("there is no reservation of Renku in it")
    zone = _zone(zone_name) if zone_name else None
    return Imported(tuple(_in_zone(one, zone) if zone else one for one in found), ())


def _zone(name: str) -> Zone:
    zone = load(name)
    if zone is None:
        raise EditError(f'there is no time zone "{name}"')
    return zone


def _in_zone(one: Reservation, zone: Zone) -> Reservation:
    recurrence = one.recurrence
    schedule = tuple(_entry(one.name, entry, recurrence, zone) for entry in recurrence.schedule)
    return one._replace(recurrence=recurrence._replace(zone=zone.name, schedule=schedule))


def _entry(name: str, entry: Entry, recurrence: Recurrence, zone: Zone) -> Entry:
    assert recurrence.first is not None  # Renku has no recurrence without
    midnight = number(recurrence.first) * DAY
    start = local(zone, (midnight + entry.start) * 60) - midnight
    end = local(zone, (midnight + entry.end) * 60) - midnight
    if not (0 <= start < DAY and 0 < end <= DAY):
        raise EditError(
            f"{name}: in {zone.name} its times fall on another day; import it without --time-zone and edit it"
        )
    return entry._replace(start=start, end=end)


# Puts an edited file in the place of the old one, whole, with its permissions.


def write(file: str, text: str, expected: bytes | None) -> None:
    """`expected`: what must still stand there, None if there must be no file yet. Raises EditError."""
    path = Path(file)
    try:
        found = path.read_bytes() if path.exists() else None
        if found != expected:
            what = "there is a file already" if expected is None else "somebody else has changed it meanwhile"
            raise EditError(f"{file}: {what}; nothing was written")
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        beside.write_bytes(text.encode())
        if found is not None:
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    except OSError as error:
        raise EditError(f"{file} cannot be written: {error.strerror}") from error

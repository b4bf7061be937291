"""Create reservation files: from flags and answers, and from Renku's payloads."""

import os
import stat
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

from berth.core.timetable import Buffer
from berth.dates.zone import DAY, Zone, load, local, number
from berth.edit.recurrencetext import recurrence_lines
from berth.edit.roundtrip import EditError, is_plain
from berth.findings import ERROR, Finding
from berth.output.yamltext import quote
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema import grammar
from berth.schema.holders import BEHAVIORS, Replicas
from berth.schema.report import Origin, Refusal
from berth.schema.types import WEEKDAYS
from berth.schema.values import (
    EVERY_DATE,
    EVERY_SESSION,
    WEEKS,
    Entry,
    EntryDates,
    Recurrence,
    Reservation,
    ReservationOwner,
)

# Reservations from flags and answers

USUAL_BUFFER = Buffer(percent=20, minimum=5)  # what `--behavior buffer` writes, to be edited


class Prompt(NamedTuple):
    """A question for a value, and the flag that gives it."""

    flag: str
    text: str
    example: str


PROMPTS = {
    "class": Prompt("--class", "Which resource class?", ""),
    "seats": Prompt("--seats", "How many seats?", "25"),
    "when": Prompt("--weekly, --daily, --once or --dates", "On which weekdays, or which dates?", "mon,wed"),
    "times": Prompt("its times, such as 09:00-13:00", "From when to when?", "09:00-13:00"),
    "from": Prompt("--from or --within", "First date, or which terms?", "2026-02-02"),
    "until": Prompt("--until", "Last date?", "2026-05-15"),
}
LABELS = Prompt(
    "--match-labels",
    "Which labels do only its sessions have? Empty: count all.",
    "course=algebra",
)


class ReservationRequest(NamedTuple):
    """What a new reservation should be. `given`: values by the names of flags.

    `type`: weekly, daily, once or dates; empty if it is not given.
    """

    name: str
    type: str
    times: tuple[str, ...]
    given: dict[str, str]

    def missing(self) -> list[str]:
        """Return the keys of PROMPTS that have no value yet."""
        found = [one for one in ("class", "seats") if one not in self.given]
        found += [] if self.type else ["when"]
        found += [] if self.times else ["times"]
        has_span = self.type != "dates" and "within" not in self.given
        return found + [one for one in ("from", "until") if has_span and one not in self.given]

    def with_answer(self, question: str, answer: str) -> "ReservationRequest":
        """Return the request with an answer to a key of PROMPTS. Raise EditError if it cannot be parsed."""
        if question == "when":
            kind = "dates" if answer[:1].isdigit() else "daily" if answer == "daily" else "weekly"
            _CHECKS[kind](answer)
            return self._replace(type=kind, given={**self.given, kind: answer})
        if question == "from" and not answer[:1].isdigit():
            return self._replace(given={**self.given, "within": answer})
        if question == "times":
            times = tuple(answer.replace(",", " ").split())
            for one in times:
                _times(one)
            return self._replace(times=times)
        if question in _CHECKS:
            _CHECKS[question](answer)
        return self._replace(given={**self.given, question: answer})


def new_reservation(request: ReservationRequest) -> Reservation:
    """Create a reservation from a complete request. Raise EditError for a value that cannot be parsed."""
    given = request.given
    seats = ((given["class"], _whole(given["seats"], "--seats")),)
    days = _weekdays(given["weekly"]) if request.type == "weekly" else ()
    dates = EntryDates(weeks=_weeks(given["weeks"])) if "weeks" in given else EVERY_DATE
    within = _names(given.get("within", ""))
    has_span = request.type != "dates" and not within
    behavior = given.get("behavior", "maintain")
    if behavior not in BEHAVIORS:
        raise EditError(f'--behavior "{behavior}" is not one of {", ".join(BEHAVIORS)}')
    return Reservation(
        origin=Origin("", 0),
        name=request.name,
        title=given.get("title", request.name),
        labels=(),
        annotations=(),
        recurrence=Recurrence(
            type=request.type,
            zone=given.get("time-zone", ""),
            first=_date(given["from"]) if has_span else None,
            last=_date(given["until"]) if has_span else None,
            dates=tuple((day, day) for day in _dates(given["dates"])) if request.type == "dates" else (),
            interval=_whole(given.get("interval", "1"), "--interval"),
            schedule=tuple(Entry(days, *_times(one), None, seats, dates=dates) for one in request.times),
            calendars=_names(given.get("calendars", "")),
            excepts=(),
            moves=(),
            extras=(),
            within=within,
        ),
        seats=seats,
        seats_listed=False,
        lead=_whole(given.get("lead", "30"), "--lead"),
        behavior=behavior,
        sessions=EVERY_SESSION._replace(match_labels=_labels(given.get("match-labels", ""))),
        holder=Replicas(),
        suspend=False,
        renku=False,
        buffer=USUAL_BUFFER if behavior == "buffer" else None,
        owner=ReservationOwner(given["owner"], given.get("contact", "")) if "owner" in given else None,
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _whole(text: str, flag: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise EditError(f'{flag} "{text}" is not a whole number')
    return int(text)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise EditError(f'"{text}" is not a date. Example: 2026-02-02') from None


def _dates(text: str) -> list[date]:
    return [_date(one) for one in text.split(",")]


def _labels(text: str) -> tuple[tuple[str, str], ...]:
    found = {}
    for one in _names(text):
        key, equals, value = one.partition("=")
        if not equals:
            raise EditError(f'--match-labels "{one}" is not KEY=VALUE. Example: course=algebra')
        try:
            found[grammar.label_key(key)] = grammar.label_value(value)
        except Refusal as refusal:
            raise EditError(f"--match-labels: {refusal.message} {refusal.fix.rstrip('.')}") from None
    return tuple(found.items())


def _times(text: str) -> tuple[int, int]:
    start, dash, end = text.partition("-")
    try:
        if dash:
            return grammar.start_time(start), grammar.end_time(end)
    except Refusal as refusal:
        raise EditError(f"{refusal.message} {refusal.fix.rstrip('.')}") from None
    raise EditError(f'"{text}" is not a span of time. Example: 09:00-13:00')


def _weekdays(text: str) -> tuple[int, ...]:
    days = [one.strip().lower()[:3] for one in text.split(",")]
    if not all(day in WEEKDAYS for day in days):
        raise EditError(f'"{text}" is not a list of weekdays. Example: mon,wed')
    return tuple(sorted({WEEKDAYS.index(day) + 1 for day in days}))


def _weeks(text: str) -> tuple[int, ...]:
    if text not in WEEKS:
        raise EditError(f'--weeks "{text}" is not one of {", ".join(WEEKS)}')
    return WEEKS[text]


_CHECKS: dict[str, Callable[[str], object]] = {
    "seats": lambda text: _whole(text, "--seats"),
    "weekly": _weekdays,
    "daily": str,
    "dates": _dates,
    "from": _date,
    "until": _date,
    "match-labels": _labels,
}
"""What an answer must be, by the flag that it stands for."""


# Reservations as YAML

SCHEMA = ".schema.json"  # in reservations/; hidden, because it is not a declaration
MODELINE = "# yaml-language-server: $schema={}\n"
HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
"""


def reservation_yaml(one: Reservation, depth: int = 0, sized: str = "") -> str:
    """Return a file that declares the reservation. `depth`: the folders between it and reservations/.

    `sized` says where its seats and lead come from.
    """
    name = one.name if is_plain(one.name) else quote(one.name)
    lines = [f"metadata:\n  name: {name}\n"]
    if one.annotations:
        lines.append("  annotations:\n")
        lines += [f"    {key}: {quote(value)}\n" for key, value in one.annotations]
    lines.append("spec:\n")
    if one.title != one.name:
        lines.append(f"  title: {_scalar(one.title)}\n")
    if not one.seats_listed:
        lines.append(f"  resourceClass: {one.seats[0][0]}\n")
    lines += recurrence_lines(one.recurrence, one.seats)
    lines += [f"  # {sized}\n"] if sized else []
    lines.append(_provisioning(one))
    if one.sessions.match_labels:
        labels = ", ".join(f"{key}: {quote(value)}" for key, value in one.sessions.match_labels)
        lines.append(f"  sessions:\n    matchLabels: {{{labels}}}\n")
    if one.sessions.project_template:
        lines.append(f"  sessions: {{projectTemplate: {one.sessions.project_template}}}\n")
    if one.owner:
        lines.append(f"  owner:\n    name: {_scalar(one.owner.name)}\n")
        lines += [f"    contact: {_scalar(one.owner.contact)}\n"] if one.owner.contact else []
    if one.suspend:
        lines.append("  suspend: true\n")
    return MODELINE.format("../" * depth + SCHEMA) + HEAD + "".join(lines)


def _scalar(value: str) -> str:
    """Return the text as a YAML scalar, without quotes if every parser reads it as the same text."""
    is_plain = all(c.isalnum() or c in " -_.,()/" for c in value) and value.isascii()
    if is_plain and value[:1].isalpha() and value.strip() == value and len(value.split()) > 1:
        return value
    return quote(value)


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
    if one.buffer is not None:
        percent, minimum = one.buffer
        lines.append(f"    buffer: {{percent: {percent}, minimum: {minimum}}}\n")
    return "".join(lines)


# Reservations from Renku's payloads


class ImportedReservations(NamedTuple):
    """The reservations of a file, or the errors in it."""

    reservations: tuple[Reservation, ...]
    findings: tuple[Finding, ...]


def import_renku(source: Source, project: Pipeline, zone_name: str | None) -> ImportedReservations:
    """Convert what Renku's API exported. Raise EditError if there is nothing to convert.

    Renku's times are in UTC. With a zone, they become the local times of the first date. Later dates then
    have the same local time, even after a clock change.
    """
    others = [one for one in project.sources if one.file != source.file]
    both = Pipeline(sources=sorted([*others, source]))
    findings = tuple(one for one in both.findings() if one.file == source.file and one.severity == ERROR)
    if findings:
        return ImportedReservations((), findings)
    found = [one for one in both.declared.reservations if one.renku and one.origin.file == source.file]
    if not found:
        raise EditError("the file contains no Renku reservation")
    zone = _zone(zone_name) if zone_name else None
    return ImportedReservations(tuple(_in_zone(one, zone) if zone else one for one in found), ())


def _zone(name: str) -> Zone:
    zone = load(name)
    if zone is None:
        raise EditError(f'no time zone named "{name}"')
    return zone


def _in_zone(one: Reservation, zone: Zone) -> Reservation:
    recurrence = one.recurrence
    schedule = tuple(_entry(one.name, entry, recurrence, zone) for entry in recurrence.schedule)
    return one._replace(recurrence=recurrence._replace(zone=zone.name, schedule=schedule))


def _entry(name: str, entry: Entry, recurrence: Recurrence, zone: Zone) -> Entry:
    assert recurrence.first is not None  # Renku always has one
    midnight = number(recurrence.first) * DAY
    start = local(zone, (midnight + entry.start) * 60) - midnight
    end = local(zone, (midnight + entry.end) * 60) - midnight
    if not (0 <= start < DAY and 0 < end <= DAY):
        raise EditError(
            f"{name}: its times are on another day in {zone.name}. Import it without --time-zone, and edit it"
        )
    return entry._replace(start=start, end=end)


# Files


def write_file(file: str, content: str | bytes, expected: bytes | None) -> None:
    """Replace a file in one step and keep its permissions.

    `expected` is what the file must still contain; None if it must not exist yet. Raise EditError otherwise.
    """
    path = Path(file)
    if path.is_symlink():
        path = path.resolve()  # the link stays, and its file changes
    try:
        found = path.read_bytes() if path.exists() else None
        if found != expected:
            what = "the file exists" if expected is None else "the file has been changed meanwhile"
            raise EditError(f"{file}: {what}; nothing was written")
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        if found is not None:
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    except OSError as error:
        raise EditError(f"{file} cannot be written: {error.strerror}") from error


def remove_file(file: str, expected: bytes | None) -> None:
    """Remove a file that still contains what is expected. Raise EditError otherwise."""
    path = Path(file)
    try:
        if path.read_bytes() != expected:
            raise EditError(f"{file}: the file has been changed meanwhile; nothing was removed")
        path.unlink()
    except OSError as error:
        raise EditError(f"{file} cannot be removed: {error.strerror}") from error

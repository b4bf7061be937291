"""Capacity reservations as Renku's API has them: the body of a POST, an item of a GET answer, or all of it.

Their keys are Renku's (snake_case, no `kind`), their times UTC. What comes out is an ordinary reservation.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict

from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.dates.zone import DAY
from berth.findings import Finding, Origin, Path, Problem
from berth.notation import times
from berth.notation.days import ORDER
from berth.reading.document import Document, parse
from berth.reading.source import Source
from berth.schema import validate
from berth.schema.basemodel import Model, NonEmpty, Parsed, Text, Whole, field
from berth.schema.documentproblems import MISSING, DocumentProblems, Refusal
from berth.schema.entry import EQUAL_TIMES
from berth.schema.renkunames import KIND, LONGEST_NAME, error_answer, name
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import DEFAULT_LEAD, Provisioning, ReservationSpec, SessionMatch
from berth.schema.types import Date, LeadMinutes, SeatCount, Ulid
from berth.schema.values import Entry, Recurrence, Seats

EMPTY, DUPLICATE, SECONDS_CUT, LONG_NAME, UNKNOWN_CLASS = "B007", "B060", "B070", "B071", "B072"
ID = "renku.io/capacity_reservation_id"
"""The annotation that tells from which reservation of Renku a document was made."""

_TIME = re.compile(r"([0-9]{2}:[0-9]{2})(?::([0-5][0-9]))?", re.ASCII)


class WrittenTime(NamedTuple):
    """A time of day: minutes after midnight, and as it was written."""

    minutes: int
    written: str


def _clock(read: Text) -> Any:
    """Make the reader of HH:MM or HH:MM:SS; seconds are cut to the minute."""

    def clock(value: Any) -> WrittenTime:
        match = _TIME.fullmatch(value) if type(value) is str else None
        return WrittenTime(read.read(value if match is None else match[1]), str(value))

    return clock


def _end_time(text: str) -> int:
    if text == "24:00":
        fix = "Write a time from 00:00 to 23:59."
        raise Refusal('"24:00" is not a time of day in Renku.', fix, times.TIME)
    return times.start_time(text)


def _name(text: str) -> str:
    if len(text) > 40:
        raise Refusal(f"the name has {len(text)} characters.", "Renku takes at most 40.", LONG_NAME)
    return text


_START, _END = Text("time of day", times.start_time), Text("time of day", _end_time)
StartClock = Annotated[WrittenTime, Parsed("time of day", _clock(_START), {"type": "string"})]
EndClock = Annotated[WrittenTime, Parsed("time of day", _clock(_END), {"type": "string"})]


class _TheirModel(Model):
    model_config = ConfigDict(alias_generator=None)


class PayloadEntry(_TheirModel):
    day_of_week: Annotated[int, Whole(1, 7)] | None = field(None)
    start_time: StartClock
    end_time: EndClock

    def check(self, path: Path, report: DocumentProblems) -> None:
        for key, clock in (("start_time", self.start_time), ("end_time", self.end_time)):
            if len(clock.written) > 5 and not clock.written.endswith(":00"):
                message = f"the seconds of {clock.written} are cut: the window uses {clock.written[:5]}."
                report(SECONDS_CUT, (*path, key), message, "Write whole minutes.")


class PayloadRecurrence(_TheirModel):
    type: Literal["once", "daily", "weekly"]
    start_date: Date
    end_date: Date
    schedule: NonEmpty[PayloadEntry]

    def check(self, path: Path, report: DocumentProblems) -> None:
        first, last = self.start_date, self.end_date
        if last < first:
            message, fix = f"{last} is before start_date {first}.", "Write a date on or after start_date."
            report(ORDER, (*path, "end_date"), message, fix)
        for i, entry in enumerate(self.schedule):
            at = (*path, "schedule", i)
            if self.type == "weekly" and entry.day_of_week is None:
                report(MISSING, at, "day_of_week is missing.", "Add day_of_week: 1 (Monday) to 7.")
            same_day = self.type in ("daily", "weekly") or first == last
            if same_day and entry.start_time.minutes == entry.end_time.minutes:
                report(EQUAL_TIMES, (*at, "end_time"), "the end equals the start.", "Write a later time.")

    def recurrence(self, held: Seats) -> Recurrence:
        """Return the recurrence. Weekdays count for `weekly` only, as in Renku."""
        schedule = [
            Entry(self._days(entry), entry.start_time.minutes, entry.end_time.minutes, None, held)
            for entry in self.schedule
        ]
        for i, group in self._names().items():
            schedule[i] = schedule[i]._replace(name=group)
        return Recurrence(
            type=self.type,
            zone="UTC",
            first=self.start_date,
            last=self.end_date,
            dates=(),
            interval=1,
            schedule=tuple(schedule),
            calendars=(),
            excepts=(),
            moves=(),
            extras=(),
        )

    def _days(self, entry: PayloadEntry) -> tuple[int, ...]:
        return (entry.day_of_week,) if self.type == "weekly" and entry.day_of_week is not None else ()

    def _names(self) -> dict[int, str]:
        """Return the names of entries that start with another one: `2` and so on, by end, then position."""
        names, starts = dict[int, str](), Counter[tuple[object, ...]]()
        for i, entry in sorted(enumerate(self.schedule), key=lambda pair: (self._minutes(pair[1]), pair[0])):
            start = self._days(entry), entry.start_time.minutes
            starts[start] += 1
            if starts[start] > 1:
                names[i] = str(starts[start])
        return names

    def _minutes(self, entry: PayloadEntry) -> int:
        """Return how long an entry lasts, on its last day if it has several."""
        minutes = entry.end_time.minutes - entry.start_time.minutes
        is_one_span = self.type == "once" and self.start_date != self.end_date
        return minutes if is_one_span else minutes % DAY


class PayloadProvisioning(_TheirModel):
    placeholder_count: SeatCount
    lead_time_minutes: LeadMinutes = field(DEFAULT_LEAD)
    scale_down_behavior: Literal["maintain", "reduce", "none"] = field("maintain")


class Payload(_TheirModel):
    id: Ulid | None = field(None)
    name: Annotated[str, Text("name", _name)]
    resource_class_id: Annotated[int, Whole(0)]
    project_template_id: Ulid | None = field(None)
    recurrence: PayloadRecurrence
    provisioning: PayloadProvisioning

    @property
    def object_name(self) -> str:
        return name(self.name, self.id)

    def reservation(self, origin: Origin, resource_class: str) -> Reservation:
        held = ((resource_class, self.provisioning.placeholder_count),)
        template = self.project_template_id
        sessions = None if template is None else SessionMatch.model_construct(project_template=template)
        return Reservation(
            origin=origin,
            name=self.object_name,
            spec=ReservationSpec(title=self.name, provisioning=Provisioning(), sessions=sessions),
            labels=(),
            annotations=((ID, self.id),) if self.id else (),
            recurrence=self.recurrence.recurrence(held),
            seats=held,
            seats_listed=False,
            lead=self.provisioning.lead_time_minutes,
            behavior=self.provisioning.scale_down_behavior,
            holder=DEFAULT_HOLDER,
        )


class PayloadsReading(NamedTuple):
    """The reservations in a file, and all that is wrong with it."""

    reservations: tuple[Reservation, ...]
    problems: tuple[Problem | Finding, ...]


def read_payloads(source: Source, classes: Mapping[int, str]) -> PayloadsReading:
    """Read bodies of a POST, items of a GET answer, or such an answer. `classes`: names by Renku's ids."""
    documents, faults = parse(source)
    problems: list[Problem | Finding] = list(faults)
    reservations: dict[str, Reservation] = {}
    for document in documents:
        if document.value == []:
            message, fix = "the answer has no reservation.", "Export it again."
            problems.append(document.origin.problem(EMPTY, (), message, fix))
        for origin, item in _items(document):
            report = DocumentProblems(origin)
            reservation = _read(item, classes, report)
            if reservation is not None and reservation.name in reservations:
                message = f'duplicate name "{reservation.name}": another one in this file has it.'
                report(DUPLICATE, ("name",), message, "Rename one of them.")
            elif reservation is not None:
                reservations[reservation.name] = reservation
            problems += report.closed()
    return PayloadsReading(tuple(reservations.values()), tuple(problems))


def _items(document: Document) -> Iterator[tuple[Origin, Any]]:
    """Yield each item of a list with its place, or the only value."""
    if isinstance(document.value, list):
        yield from ((document.origin._replace(prefix=(i,)), item) for i, item in enumerate(document.value))
    else:
        yield document.origin, document.value


def _read(value: Any, classes: Mapping[int, str], report: DocumentProblems) -> Reservation | None:
    """Return the reservation of one payload; None after it was reported why there is none."""
    answer = error_answer(value)
    if answer is not None:
        report(KIND, ("error",), answer.message, answer.fix)
        return None
    payload = validate.read(Payload, value, report)
    if payload is None:
        return None
    number, length = payload.resource_class_id, len(payload.object_name)
    if length > LONGEST_NAME:
        message = f"the name of its objects would have {length} characters, {LONGEST_NAME} are allowed."
        report(LONG_NAME, ("name",), message, "Write a name that is shorter in Latin letters.")
    if number not in classes:
        fix = "Add renkuId to the class that it means, or write all classes: berth import renku-classes FILE."
        report(UNKNOWN_CLASS, ("resource_class_id",), f"no ResourceClass has renkuId {number}.", fix)
    return None if report.errors else payload.reservation(report.origin, classes[number])

"""Capacity reservations as Renku's API has them: the body of a POST, an item of a GET answer, or all of it.

Their keys are Renku's (snake_case, no `kind`), their times UTC. What comes out is an ordinary document.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from berth.core.timetable import API_VERSION
from berth.dates.zone import DAY, Zone, clock, local, number
from berth.findings import Finding, Problem
from berth.notation import times
from berth.notation.refusal import CommandError
from berth.notation.weekdays import WEEKDAYS
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema import validate
from berth.schema.basemodel import Json, Model, NonEmpty, Text, Whole, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.reservationspec import DEFAULT_LEAD
from berth.schema.types import AnyText, Date, LeadMinutes, SeatCount, Ulid

ID = "renku.io/capacity_reservation_id"
"""The annotation that tells from which reservation of Renku a document was made."""


def _seconds(text: str) -> int:
    """Read HH:MM or HH:MM:SS."""
    match = re.fullmatch(r"([0-9]{2}:[0-9]{2})(?::([0-5][0-9]))?", text, re.ASCII)
    return times.start_time(match[1] if match else text) * 60 + int((match and match[2]) or 0)


Clock = Annotated[int, Text("time of day", _seconds)]


class _TheirModel(Model, alias_generator=None):
    """Its keys are as Renku writes them."""


class PayloadEntry(_TheirModel):
    day_of_week: Annotated[int, Whole(1, 7)] | None = field(None)
    start_time: Clock
    end_time: Clock

    def check(self, report: DocumentProblems) -> None:
        for key, seconds in (("start_time", self.start_time), ("end_time", self.end_time)):
            if seconds % 60:
                message = f"its seconds are cut: the window uses {clock(seconds // 60)}."
                report("B070", key, message, "Write whole minutes.")


class PayloadRecurrence(_TheirModel):
    type: Literal["once", "daily", "weekly"]
    start_date: Date
    end_date: Date
    schedule: NonEmpty[PayloadEntry]

    def entries(self, zone: Zone) -> Iterator[Json]:
        """Yield the entries with the local times of the first date; weekdays count for `weekly` only.

        Entries that start with another one have names: `2` and so on, by end, then position.
        """
        midnight = number(self.start_date) * DAY
        days_more = self.type == "once" and self.start_date != self.end_date

        def length(i: int) -> int:
            minutes = self.schedule[i].end_time // 60 - self.schedule[i].start_time // 60
            return minutes if days_more else minutes % DAY

        names, starts = dict[int, str](), Counter[tuple[int | None, int]]()
        days = [entry.day_of_week if self.type == "weekly" else None for entry in self.schedule]
        for i in sorted(range(len(days)), key=lambda i: (length(i), i)):
            starts[days[i], self.schedule[i].start_time // 60] += 1
            names[i] = str(starts[days[i], self.schedule[i].start_time // 60])
        for i, entry in enumerate(self.schedule):
            start, end = (
                local(zone, (midnight + seconds // 60) * 60) - midnight
                for seconds in (entry.start_time, entry.end_time)
            )
            if not (0 <= start < DAY and 0 < end <= DAY) and zone.name != "UTC":
                raise CommandError(
                    f"its times are on another day in {zone.name}. Import it without --time-zone, and edit it"
                )
            day = days[i]
            yield {
                **({"name": names[i]} if names[i] != "1" else {}),
                **({} if day is None else {"dayOfWeek": WEEKDAYS[day - 1]}),
                "startTime": clock(start),
                "endTime": "24:00" if end == DAY else clock(end),
            }


class PayloadProvisioning(_TheirModel):
    placeholder_count: SeatCount
    lead_time_minutes: LeadMinutes = field(DEFAULT_LEAD)
    scale_down_behavior: Literal["maintain", "reduce", "none"] = field("maintain")


class Payload(_TheirModel):
    id: Ulid | None = field(None)
    name: AnyText
    resource_class_id: Annotated[int, Whole(0)]
    project_template_id: Ulid | None = field(None)
    recurrence: PayloadRecurrence
    provisioning: PayloadProvisioning

    def document(self, name: str, resource_class: str, zone: Zone) -> Json:
        """Return the document. Raise CommandError if its times are on another day in the time zone."""
        recurrence, provisioning = self.recurrence, self.provisioning
        template = self.project_template_id
        return {
            "apiVersion": API_VERSION,
            "kind": "CapacityReservation",
            "metadata": {"name": name, **({"annotations": {ID: self.id}} if self.id else {})},
            "spec": {
                "title": self.name,
                "resourceClass": resource_class,
                "recurrence": {
                    "type": recurrence.type,
                    "startDate": str(recurrence.start_date),
                    "endDate": str(recurrence.end_date),
                    "timeZone": zone.name,
                    "schedule": [*recurrence.entries(zone)],
                },
                "provisioning": {
                    "placeholderCount": provisioning.placeholder_count,
                    "leadTimeMinutes": provisioning.lead_time_minutes,
                    "scaleDownBehavior": provisioning.scale_down_behavior,
                },
                **({"sessions": {"projectTemplate": template}} if template else {}),
            },
        }


def read_payloads(
    files: Sequence[Source], classes: Mapping[int, str]
) -> tuple[list[Payload], list[Problem | Finding]]:
    """Read bodies of a POST, items of a GET answer, or such an answer. `classes`: names by Renku's ids."""
    problems: list[Problem | Finding] = []
    payloads: list[Payload] = []
    for source in files:
        documents, faults = parse(source)
        problems += faults
        for document in documents:
            value, origin = document.value, document.origin
            if value == []:
                message = "the answer has no reservation."
                problems.append(origin.problem("B007", (), message, "Export it again."))
            several = isinstance(value, list)
            for i, item in enumerate(value if isinstance(value, list) else [value]):
                report = DocumentProblems(origin, (i,) if several else ())
                payload = validate.read(Payload, item, report)
                if payload is not None and payload.resource_class_id not in classes:
                    message = f"no ResourceClass has renkuId {payload.resource_class_id}."
                    fix = "Add renkuId to a class, or write all classes: berth import renku-classes FILE."
                    report("B072", ("resource_class_id",), message, fix)
                payloads += [] if payload is None else [payload]
                problems += report.closed()
    return payloads, problems

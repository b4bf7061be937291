"""Renku payloads, read unchanged: the body of a POST, one item of a GET answer, or the whole array of a GET.

Their keys are Renku's (snake_case, no `kind`), their times UTC. What comes out is an ordinary reservation.
"""

import re
from collections.abc import Mapping, Set
from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.calendar import DATE
from gen.kind.reservation import BEHAVIOURS, EVERY_SESSION
from gen.kind.schedule import COUNT, EQUAL_TIMES, Clock
from gen.kind.shape import INVALID, MISSING, Field, Fields, ListOf, OneOf, Refusal, Report, Text, Whole
from gen.model import Entry, Origin, Recurrence, Reservation

SECONDS_CUT, LONG_NAME, UNKNOWN_CLASS = "B070", "B071", "B072"

_TIME = re.compile(r"([0-9]{2}:[0-9]{2})(?::([0-5][0-9]))?", re.ASCII)


class _Clock(Clock):
    """HH:MM or HH:MM:SS; seconds are cut to the minute, and that is told."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        match = _TIME.fullmatch(value) if type(value) is str else None
        if match is None:
            return Clock.check(self, value, path, report)
        if match[2] not in (None, "00"):
            message = f"the seconds of {value} are cut: the window uses {match[1]}."
            report(SECONDS_CUT, path, message, "Write whole minutes.")
        return Clock.check(self, match[1], path, report)


def _name(text: str) -> str:
    if not text.strip():
        raise Refusal("the name is empty.", "Write a name.", LONG_NAME)
    if len(text) > 40:
        raise Refusal(f"the name has {len(text)} characters.", "Renku takes at most 40.", LONG_NAME)
    return text


CLOCK = _Clock("time of day", grammar.start_time)
PAYLOAD = Fields(
    {
        "id": Field(Text("ULID", grammar.ulid), None),
        "name": Field(Text("name", _name)),
        "resource_class_id": Field(Whole(0)),
        "project_template_id": Field(Text("ULID", grammar.ulid), None),
        "recurrence": Field(
            Fields(
                {
                    "type": Field(OneOf(("once", "daily", "weekly"))),
                    "start_date": Field(DATE),
                    "end_date": Field(DATE),
                    "schedule": Field(
                        ListOf(
                            Fields(
                                {
                                    "day_of_week": Field(Whole(1, 7), None),
                                    "start_time": Field(CLOCK),
                                    "end_time": Field(CLOCK),
                                }
                            ),
                            1,
                        )
                    ),
                }
            )
        ),
        "provisioning": Field(
            Fields(
                {
                    "placeholder_count": Field(COUNT),
                    "lead_time_minutes": Field(Whole(0, 180), 30),
                    "scale_down_behavior": Field(OneOf(BEHAVIOURS), "maintain"),
                }
            )
        ),
    }
)

_SNAKE = {
    "startDate": "start_date",
    "endDate": "end_date",
    "dayOfWeek": "day_of_week",
    "startTime": "start_time",
    "endTime": "end_time",
    "placeholderCount": "placeholder_count",
    "resourceClass": "resource_class_id",
}


def is_payload(value: Mapping[str, Any]) -> bool:
    """Whether a document without `kind` looks like one of Renku's."""
    return (
        "kind" not in value
        and "apiVersion" not in value
        and ("recurrence" in value or "provisioning" in value)
    )


def their_path(path: Path, prefix: Path) -> Path:
    """A path of our own form as the payload has it; `prefix` leads to the payload in its document."""
    inner = path[1:] if path[:1] == ("spec",) else path
    return (*prefix, *(_SNAKE.get(str(part), part) for part in inner))


def slug(title: str) -> str:
    """The name of a title: NFKD, ASCII, lower case, other runs become `-`, trimmed."""
    from unicodedata import normalize  # noqa: PLC0415 - only payloads pay for it

    plain = normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "reservation"


def name(title: str, ulid: str | None) -> str:
    """The slug; with an id also `-` and the first six hex digits of the id's SHA-256."""
    if ulid is None:
        return slug(title)
    from hashlib import sha256  # noqa: PLC0415 - only payloads pay for it

    return f"{slug(title)}-{sha256(ulid.encode()).hexdigest()[:6]}"


def read(value: Mapping[str, Any], classes: Mapping[int, str], faulty: Set[str], report: Report) -> Any:
    """The reservation of one payload; INVALID after it reported.

    `classes` are our names by Renku's ids; `faulty` are ids of classes whose own faults are told already.
    """
    made = PAYLOAD.check(value, (), report)
    if made is INVALID:
        return INVALID
    resource_class = classes.get(made["resource_class_id"])
    if resource_class is None and str(made["resource_class_id"]) in faulty:
        return INVALID
    if resource_class is None:
        message = f"no ResourceClass has renkuId {made['resource_class_id']}."
        return report(
            UNKNOWN_CLASS, ("resource_class_id",), message, "Add renkuId to the class that it means."
        )
    held = ((resource_class, made["provisioning"]["placeholder_count"]),)
    when = _recurrence(made["recurrence"], held, report)
    if when is INVALID:
        return INVALID
    template = made["project_template_id"]
    return Reservation(
        origin=Origin(report.file, report.index, report.prefix),
        name=name(made["name"], made["id"]),
        title=made["name"],
        labels=(),
        annotations=(),
        recurrence=when,
        seats=held,
        seats_listed=False,
        lead=made["provisioning"]["lead_time_minutes"],
        behaviour=made["provisioning"]["scale_down_behavior"],
        sessions=EVERY_SESSION._replace(project_template=template),
        backend="placeholder",
        suspend=False,
        renku=True,
    )


def _recurrence(made: dict[str, Any], held: Any, report: Report) -> Any:
    at: Path = ("recurrence",)
    if made["end_date"] < made["start_date"]:
        message = f"{made['end_date']} is before start_date {made['start_date']}."
        return report("B024", (*at, "end_date"), message, "Write a date on or after start_date.")
    weekly = made["type"] == "weekly"
    other_day = made["type"] == "once" and made["start_date"] != made["end_date"]
    entries = []
    for i, entry in enumerate(made["schedule"]):
        where = (*at, "schedule", i)
        if weekly and entry["day_of_week"] is None:
            return report(MISSING, where, "day_of_week is missing.", "Add day_of_week: 1 (Monday) to 7.")
        if entry["start_time"] == entry["end_time"] and not other_day:
            return report(
                EQUAL_TIMES, (*where, "end_time"), "the end equals the start.", "Write a later time."
            )
        days = (entry["day_of_week"],) if weekly else ()
        entries.append(Entry(days, entry["start_time"], entry["end_time"], None, held))
    return Recurrence(
        type=made["type"],
        zone="UTC",
        first=made["start_date"],
        last=made["end_date"],
        dates=(),
        interval=1,
        schedule=tuple(entries),
        calendars=(),
        excepts=(),
        moves=(),
        extras=(),
    )

"""Renku payloads, read unchanged: the body of a POST, one item of a GET answer, or the whole array of a GET.

Their keys are Renku's (snake_case, no `kind`), their times UTC. What comes out is an ordinary reservation.
"""

import re
from collections.abc import Mapping, Set
from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.calendar import DATE, ORDER
from gen.kind.entry import COUNT, EQUAL_TIMES
from gen.kind.reservation import BEHAVIOURS, EVERY_SESSION
from gen.kind.shape import INVALID, MISSING, Field, Fields, ListOf, Made, Refusal, Report, shown
from gen.kind.value import OneOf, Text, Whole
from gen.model import Entry, Origin, Recurrence, Reservation, Seats

SECONDS_CUT, LONG_NAME, UNKNOWN_CLASS = "B070", "B071", "B072"
LONGEST_NAME = 63  # of a DNS label, and of a label's value

_TIME = re.compile(r"([0-9]{2}:[0-9]{2})(?::([0-5][0-9]))?", re.ASCII)


class _Clock(Text):
    """HH:MM or HH:MM:SS; seconds are cut to the minute, and that is told."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        match = _TIME.fullmatch(value) if type(value) is str else None
        if match is None:
            return Text.check(self, value, path, report)
        if match[2] not in (None, "00"):
            message = f"the seconds of {value} are cut: the window uses {match[1]}."
            report(SECONDS_CUT, path, message, "Write whole minutes.")
        return Text.check(self, match[1], path, report)


def _end_time(text: str) -> int:
    if text == "24:00":
        raise Refusal(
            '"24:00" is no time of day in Renku.', "Write a time from 00:00 to 23:59.", grammar.TIME
        )
    return grammar.start_time(text)


def _name(text: str) -> str:
    if len(text) > 40:
        raise Refusal(f"the name has {len(text)} characters.", "Renku takes at most 40.", LONG_NAME)
    return text


def _recurrence(made: Made, path: Path, report: Report) -> None:
    first, last = made["start_date"], made["end_date"]
    if INVALID not in (first, last) and last < first:
        message, fix = f"{last} is before start_date {first}.", "Write a date on or after start_date."
        report(ORDER, (*path, "end_date"), message, fix)
    for i, entry in enumerate(made["schedule"] if isinstance(made["schedule"], tuple) else ()):
        if entry is INVALID:
            continue
        at = (*path, "schedule", i)
        if made["type"] == "weekly" and entry["day_of_week"] is None:
            report(MISSING, at, "day_of_week is missing.", "Add day_of_week: 1 (Monday) to 7.")
        same_day = made["type"] in ("daily", "weekly") or (first == last and first is not INVALID)
        if entry["start_time"] == entry["end_time"] and entry["start_time"] is not INVALID and same_day:
            report(EQUAL_TIMES, (*at, "end_time"), "the end equals the start.", "Write a later time.")


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
                                    "start_time": Field(_Clock("time of day", grammar.start_time)),
                                    "end_time": Field(_Clock("time of day", _end_time)),
                                }
                            ),
                            1,
                        )
                    ),
                },
                agree=_recurrence,
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
    "leadTimeMinutes": "lead_time_minutes",
    "scaleDownBehavior": "scale_down_behavior",
    "sessions": "project_template_id",
    "resourceClass": "resource_class_id",
}


def is_payload(value: object) -> bool:
    """Whether a document without `kind` looks like one of Renku's."""
    return (
        isinstance(value, dict)
        and not {"kind", "apiVersion"} & value.keys()
        and bool({"recurrence", "provisioning", "resource_class_id"} & value.keys())
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


def read(value: Any, names: Mapping[int, str], faulty: Set[int | None], report: Report) -> Any:
    """The reservation of one payload; INVALID after it reported.

    `names` are our classes by Renku's ids; `faulty` are the ids of classes whose own faults are told already,
    with None if such a class does not say its id.
    """
    made = PAYLOAD.check(value, (), report)
    if made is INVALID:
        return INVALID
    number, found = made["resource_class_id"], name_of(made)
    if type(found) is str and len(found) > LONGEST_NAME:
        message = f"the name of its objects would have {len(found)} characters, {LONGEST_NAME} are allowed."
        report(LONG_NAME, ("name",), message, "Write a name that is shorter in Latin letters.")
    if number is not INVALID and number not in names and not {number, None} & faulty:
        message = f"no ResourceClass has renkuId {shown(number)}."
        report(UNKNOWN_CLASS, ("resource_class_id",), message, "Add renkuId to the class that it means.")
    if report.errors or number not in names:
        return INVALID
    return _build(made, str(found), names[number], report)


def name_of(made: Made) -> Any:
    return INVALID if INVALID in (made["name"], made["id"]) else name(made["name"], made["id"])


def _build(made: Made, found: str, resource_class: str, report: Report) -> Reservation:
    held = ((resource_class, made["provisioning"]["placeholder_count"]),)
    return Reservation(
        origin=Origin(report.file, report.index, report.prefix),
        name=found,
        title=made["name"],
        labels=(),
        annotations=(),
        recurrence=_dates(made["recurrence"], held),
        seats=held,
        seats_listed=False,
        lead=made["provisioning"]["lead_time_minutes"],
        behavior=made["provisioning"]["scale_down_behavior"],
        sessions=EVERY_SESSION._replace(project_template=made["project_template_id"]),
        backend="placeholder",
        suspend=False,
        renku=True,
    )


def _dates(made: Made, held: Seats) -> Recurrence:
    """Weekdays count for `weekly` only, as in Renku."""
    weekly = made["type"] == "weekly"
    schedule = tuple(
        Entry((one["day_of_week"],) if weekly else (), one["start_time"], one["end_time"], None, held)
        for one in made["schedule"]
    )
    return Recurrence(
        type=made["type"],
        zone="UTC",
        first=made["start_date"],
        last=made["end_date"],
        dates=(),
        interval=1,
        schedule=schedule,
        calendars=(),
        excepts=(),
        moves=(),
        extras=(),
    )

"""`recurrence` of a reservation: when it happens, and what its parts say against each other."""

from typing import Any

from gen.finding import Path
from gen.kind import entry as line
from gen.kind import grammar
from gen.kind.calendar import DATE, ORDER, in_order
from gen.kind.shape import (
    CONFLICT,
    IDLE_KEY,
    INVALID,
    MISSING,
    Either,
    Field,
    Fields,
    ListOf,
    Made,
    Report,
)
from gen.kind.value import OneOf, Text, Whole
from gen.model import Except, Recurrence, Seats

TYPES = ("once", "daily", "weekly", "dates")


def _agree(made: Made, path: Path, report: Report) -> None:
    type_ = made["type"]
    if type_ is INVALID:
        return  # what else it should say depends on it
    if type_ == "dates":
        _without_span(made, path, report)
    else:
        _with_span(made, path, report)
    if type_ != "weekly" and made["interval"] != 1:
        message, fix = f"type {type_} takes no interval.", "Remove it, or write type: weekly."
        report(CONFLICT, (*path, "interval"), message, fix, at_key=True)
    schedule = made["schedule"] if isinstance(made["schedule"], tuple) else ()
    for i, entry in enumerate(schedule):
        if entry is not INVALID:
            at = (*path, "schedule", i)
            _weekdays(entry, type_, at, report)
            _end(entry, made, at, report)


def _without_span(made: Made, path: Path, report: Report) -> None:
    for name in ("startDate", "endDate"):
        if made[name] is not None:
            fix = "Remove it, or change the type."
            report(CONFLICT, (*path, name), f"type dates takes no {name}.", fix, at_key=True)
    if made["dates"] is None:
        report(MISSING, path, "dates is missing.", "Add dates: a list of dates.")


def _with_span(made: Made, path: Path, report: Report) -> None:
    first, last = made["startDate"], made["endDate"]
    for name in ("startDate", "endDate"):
        if made[name] is None:
            report(MISSING, path, f"{name} is missing.", f"Add {name}: a date.")
    if made["dates"] is not None:
        message, fix = f"type {made['type']} takes no dates.", "Remove it, or write type: dates."
        report(CONFLICT, (*path, "dates"), message, fix, at_key=True)
    if None not in (first, last) and INVALID not in (first, last) and last < first:
        message, fix = f"{last} is before startDate {first}.", "Write a date on or after startDate."
        report(ORDER, (*path, "endDate"), message, fix)


def _weekdays(entry: Made, type_: str, path: Path, report: Report) -> None:
    given = [name for name in ("dayOfWeek", "daysOfWeek") if entry[name] is not None]
    if type_ == "weekly" and not given:
        message = "an entry of type weekly needs its weekday."
        report(MISSING, path, message, "Add dayOfWeek or daysOfWeek.")
    elif type_ == "weekly" and len(given) == 2:
        report(CONFLICT, path, "two keys say the weekday.", "Keep dayOfWeek or daysOfWeek.")
    elif type_ in ("daily", "dates"):
        for name in given:
            message = f"type {type_} does not look at weekdays."
            report(IDLE_KEY, (*path, name), message, "Remove it, or write type: weekly.", at_key=True)


def _end(entry: Made, whole: Made, path: Path, report: Report) -> None:
    """Of `once`, the end is on endDate, which may be another day; of the others, on or after the start's."""
    first, last = whole["startDate"], whole["endDate"]
    if whole["type"] == "once" and first != last:
        if INVALID not in (first, last) and entry["endDay"] is not None:
            message, fix = "endDate says the day of the end already.", "Remove endDay."
            report(CONFLICT, (*path, "endDay"), message, fix, at_key=True)
    elif whole["type"] != "once" or first not in (None, INVALID):
        line.no_length(entry, path, report)


RECURRENCE = Fields(
    {
        "type": Field(OneOf(TYPES), meaning="once, daily, weekly or dates"),
        "startDate": Field(DATE, None, "first date; needed but for `dates`", "none"),
        "endDate": Field(DATE, None, "last date, inclusive; needed but for `dates`", "none"),
        "dates": Field(
            ListOf(
                Either(
                    DATE,
                    Fields(
                        {
                            "from": Field(DATE, meaning="text (date)"),
                            "to": Field(DATE, meaning="text (date)"),
                        },
                        agree=in_order,
                    ),
                ),
                1,
            ),
            None,
            "only `dates`: dates, or ranges {from, to}",
            "none",
        ),
        "timeZone": Field(Text("time zone", grammar.zone), None, "zone of all its times", "the site's"),
        "interval": Field(
            Whole(1, 52), 1, "only `weekly`: every n-th week, counted from startDate's ISO week"
        ),
        "schedule": Field(ListOf(line.ENTRY, 1), meaning="times of day, by weekday for `weekly`"),
        "calendars": Field(ListOf(line.CLASS), (), "Calendars whose dates do not happen", "none"),
        "except": Field(ListOf(line.EXCEPT), (), "dates, {from, to} or {date, startTime} left out", "none"),
        "moved": Field(ListOf(line.MOVE), (), "single occurrences at another time", "none"),
        "extra": Field(ListOf(line.EXTRA), (), "single occurrences besides the schedule", "none"),
    },
    agree=_agree,
)


STANDING = Recurrence(
    type="standing",
    zone="",
    first=None,
    last=None,
    dates=(),
    interval=1,
    schedule=(),
    calendars=(),
    excepts=(),
    moves=(),
    extras=(),
)


def agree_on_seats(made: Any, meant: str, path: Path, report: Report) -> None:
    """Entries and extras replace the reservation's seats in the form that it has itself: `meant`."""
    lines = [
        (name, i, entry)
        for name in ("schedule", "extra")
        for i, entry in enumerate(made[name] if isinstance(made[name], tuple) else ())
        if entry is not INVALID
    ]
    for name, i, entry in lines:
        for refused in ("placeholderCount", "nodeCount", "seats"):
            if refused != meant and entry[refused] is not None:
                message = f"provisioning says {meant}; {refused} cannot replace it."
                fix = f"Write {meant} here too."
                report(CONFLICT, (*path, name, i, refused), message, fix, at_key=True)


def recurrence(made: Made, standard: Seats) -> Recurrence:
    """The recurrence as a value. Its zone is empty where it names none."""
    weekly = made["type"] == "weekly"
    return Recurrence(
        type=made["type"],
        zone=made["timeZone"] or "",
        first=made["startDate"],
        last=made["endDate"],
        dates=tuple((d["from"], d["to"]) if isinstance(d, dict) else (d, d) for d in made["dates"] or ()),
        interval=made["interval"],
        schedule=tuple(line.entry(entry, weekly, standard) for entry in made["schedule"]),
        calendars=made["calendars"],
        excepts=tuple(e if isinstance(e, Except) else Except(e, e, None) for e in made["except"]),
        moves=tuple(line.move(move) for move in made["moved"]),
        extras=tuple(line.extra(extra, standard) for extra in made["extra"]),
    )

"""`recurrence` of a reservation: when it happens. Shapes and the rules that one document can break by itself."""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.calendar import DATE, in_order
from gen.kind.shape import (
    CONFLICT,
    INVALID,
    MISSING,
    Either,
    Field,
    Fields,
    Flag,
    ListOf,
    OneOf,
    Report,
    Text,
    Whole,
    nearest,
)
from gen.model import Entry, Except, Extra, Move, Recurrence, Seats

EQUAL_TIMES, IDLE_KEY = "B028", "B029"
TIME = '"HH:MM" in the reservation\'s zone'

CLASS = Text("DNS label", grammar.dns_label)
COUNT = Whole(1)
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Clock(Text):
    """A time of day. A number gets the advice that its author needs: `0900` means \"09:00\"."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if isinstance(value, (int, str)) and type(value) is not bool and str(value).isdecimal():
            digits = str(value).zfill(4)
            text = f"{digits[:-2]}:{digits[-2:]}"
            example = text if len(text) == 5 and text < "24:00" and text[3] < "6" else "09:00"
            return report(grammar.TIME, path, f"{value} is not a time of day.", f'Write "{example}".')
        return Text.check(self, value, path, report)


START = Clock("time of day", grammar.start_time)
END = Clock("time of day", grammar.end_time)


class Weekday(Whole):
    """1 is Monday, 7 is Sunday; or the English name, or its first three letters."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not str:
            return Whole.check(self, value, path, report)
        short = value.lower()[:3]
        full = dict(zip(WEEKDAYS, _DAY_NAMES, strict=True))
        if short in full and value.lower() in (short, full[short]):
            return WEEKDAYS.index(short) + 1
        fix = nearest(value, _DAY_NAMES, "Write a number from 1 (Monday) to 7, or one of")
        return report("B014", path, f'"{value}" is not a weekday.', fix)

    def words(self) -> str:
        return "weekday: 1 (Monday) to 7, or a name such as mon"


_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAY = Weekday(1, 7)

SEATS = ListOf(
    Fields(
        {
            "resourceClass": Field(CLASS, meaning="name of a ResourceClass"),
            "placeholderCount": Field(COUNT, meaning="seats of this class"),
        }
    ),
    1,
)

_TIMES = {
    "endTime": Field(END, meaning=f"{TIME}; 24:00 is the midnight at the end of the day"),
    "endDay": Field(
        Whole(0, 366), None, "days from the start's date to the end's", "next day if endTime <= startTime"
    ),
}
_OWN_SEATS = {
    "placeholderCount": Field(COUNT, None, "seats, instead of provisioning's", "provisioning's"),
    "seats": Field(SEATS, None, "seats by class, instead of provisioning's", "provisioning's"),
}

ENTRY = Fields(
    {
        "dayOfWeek": Field(WEEKDAY, None, "1 = Monday to 7 = Sunday, or a name", "none"),
        "daysOfWeek": Field(ListOf(WEEKDAY, 1), None, "several weekdays: [mon, wed]", "none"),
        "startTime": Field(START, meaning=TIME),
        **_TIMES,
        **_OWN_SEATS,
    }
)


def _except_range(made: dict[str, Any], path: Path, report: Report) -> Any:
    single = made["date"] is not None
    if single == (made["from"] is not None) or (made["from"] is None) != (made["to"] is None):
        return report(CONFLICT, path, "write either date, or from and to.", "Keep one of the two forms.")
    if single:
        return Except(made["date"], made["date"], made["startTime"])
    if in_order(made, path, report) is INVALID:
        return INVALID
    return Except(made["from"], made["to"], made["startTime"])


EXCEPT = Fields(
    {
        "date": Field(DATE, None, "one date", "none"),
        "from": Field(DATE, None, "first date of a range", "none"),
        "to": Field(DATE, None, "last date of a range, inclusive", "none"),
        "startTime": Field(START, None, "only the occurrence that starts then", "all of the date"),
        "title": Field(Text(), "", "a remark", "none"),
    },
    _except_range,
)

MOVE = Fields(
    {
        "date": Field(DATE, meaning="date of the occurrence that moves"),
        "startTime": Field(START, None, "its start", "the date's only occurrence"),
        "to": Field(
            Fields(
                {
                    "date": Field(DATE, None, "the new date", "the same date"),
                    "startTime": Field(START, None, "the new start", "the same time"),
                    "endTime": Field(END, None, "the new end", "it keeps its length"),
                    "endDay": Field(Whole(0, 366), None, "as in a schedule entry", "as in a schedule entry"),
                }
            ),
            meaning="when it happens instead",
        ),
    }
)

EXTRA = Fields(
    {
        "date": Field(DATE, meaning="date of one more occurrence"),
        "startTime": Field(START, meaning=TIME),
        **_TIMES,
        **_OWN_SEATS,
    }
)

TYPES = ("once", "daily", "weekly", "dates")

RECURRENCE = Fields(
    {
        "type": Field(OneOf(TYPES), meaning="once, daily, weekly or dates"),
        "startDate": Field(DATE, None, "first date; needed but for `dates`", "none"),
        "endDate": Field(DATE, None, "last date, inclusive; needed but for `dates`", "none"),
        "dates": Field(
            ListOf(Either(DATE, Fields({"from": Field(DATE), "to": Field(DATE)}, in_order)), 1),
            None,
            "only `dates`: dates, or ranges {from, to}",
            "none",
        ),
        "timeZone": Field(Text("time zone", grammar.zone), None, "zone of all its times", "the site's"),
        "interval": Field(
            Whole(1, 52), 1, "only `weekly`: every n-th week, counted from startDate's ISO week"
        ),
        "schedule": Field(ListOf(ENTRY, 1), meaning="times of day, by weekday for `weekly`"),
        "calendars": Field(ListOf(CLASS), (), "Calendars whose dates do not happen", "none"),
        "except": Field(
            ListOf(Either(DATE, EXCEPT)), (), "dates, {from, to} or {date, startTime} left out", "none"
        ),
        "moved": Field(ListOf(MOVE), (), "single occurrences at another time", "none"),
        "extra": Field(ListOf(EXTRA), (), "single occurrences besides the schedule", "none"),
    }
)

SUSPEND = Flag()


class Standard:
    """What holds for entries that say nothing of their own: the reservation's seats and their form."""

    def __init__(self, seats: Seats, by_class: bool) -> None:
        self.seats = seats
        self.by_class = by_class

    def seats_of(self, made: dict[str, Any], path: Path, report: Report) -> Any:
        refused = "placeholderCount" if self.by_class else "seats"
        if made[refused] is not None:
            meant = "seats" if self.by_class else "placeholderCount"
            message = f"provisioning says {meant}; {refused} cannot replace it."
            return report(CONFLICT, (*path, refused), message, f"Write {meant} here too.", at_key=True)
        if made["seats"] is not None:
            return class_seats(made["seats"], (*path, "seats"), report)
        if made["placeholderCount"] is not None:
            return ((self.seats[0][0], made["placeholderCount"]),)
        return self.seats


def class_seats(items: tuple[dict[str, Any], ...], path: Path, report: Report) -> Any:
    names = [item["resourceClass"] for item in items]
    for i, name in enumerate(names):
        if name in names[:i]:
            message = f'class "{name}" stands twice.'
            return report(CONFLICT, (*path, i, "resourceClass"), message, "Write one line for each class.")
    return tuple((item["resourceClass"], item["placeholderCount"]) for item in items)


def recurrence(made: dict[str, Any], standard: Standard, zone: str, path: Path, report: Report) -> Any:
    """The recurrence as a value; INVALID after it reported what contradicts itself."""
    entries = [
        _entry(entry, made, standard, (*path, "schedule", i), report)
        for i, entry in enumerate(made["schedule"])
    ]
    extras = [_extra(extra, standard, (*path, "extra", i), report) for i, extra in enumerate(made["extra"])]
    if _span(made, path, report) is INVALID or INVALID in entries or INVALID in extras:
        return INVALID
    return Recurrence(
        type=made["type"],
        zone=made["timeZone"] or zone,
        first=made["startDate"],
        last=made["endDate"],
        dates=tuple((d["from"], d["to"]) if isinstance(d, dict) else (d, d) for d in made["dates"] or ()),
        interval=made["interval"],
        schedule=tuple(entries),
        calendars=made["calendars"],
        excepts=tuple(e if isinstance(e, Except) else Except(e, e, None) for e in made["except"]),
        moves=tuple(_move(move) for move in made["moved"]),
        extras=tuple(extras),
    )


def _span(made: dict[str, Any], path: Path, report: Report) -> Any:
    listed = made["type"] == "dates"
    for name in ("startDate", "endDate"):
        if listed and made[name] is not None:
            fix = "Remove it, or change the type."
            return report(CONFLICT, (*path, name), f"type dates takes no {name}.", fix, at_key=True)
        if not listed and made[name] is None:
            return report(MISSING, path, f"{name} is missing.", f"Add {name}: a date.")
    if listed != (made["dates"] is not None):
        if listed:
            return report(MISSING, path, "dates is missing.", "Add dates: a list of dates.")
        message, fix = f"type {made['type']} takes no dates.", "Remove it, or write type: dates."
        return report(CONFLICT, (*path, "dates"), message, fix, at_key=True)
    if made["interval"] != 1 and made["type"] != "weekly":
        message, fix = f"type {made['type']} takes no interval.", "Remove it, or write type: weekly."
        return report(CONFLICT, (*path, "interval"), message, fix, at_key=True)
    if listed:
        return made
    first, last = made["startDate"], made["endDate"]
    return _ordered(first, last, path, report)


def _ordered(first: Any, last: Any, path: Path, report: Report) -> Any:
    if last < first:
        message = f"{last} is before startDate {first}."
        return report("B024", (*path, "endDate"), message, "Write a date on or after startDate.")
    return first


def _days(made: dict[str, Any], type_: str, path: Path, report: Report) -> Any:
    one, several = made["dayOfWeek"], made["daysOfWeek"]
    if type_ != "weekly":
        named = "dayOfWeek" if one is not None else "daysOfWeek" if several is not None else None
        if named and type_ != "once":
            message = f"type {type_} does not look at weekdays."
            report(IDLE_KEY, (*path, named), message, "Remove it, or write type: weekly.", at_key=True)
        return ()
    if (one is None) == (several is None):
        message = "an entry of type weekly needs its weekday." if one is None else "two keys say the weekday."
        return report(MISSING if one is None else CONFLICT, path, message, "Write dayOfWeek or daysOfWeek.")
    return (one,) if one is not None else tuple(sorted(set(several)))


def _end(made: dict[str, Any], other_day: bool, path: Path, report: Report) -> Any:
    """Refuse what would have no length; `other_day`: the end is on a later date by itself."""
    start, end, days = made["startTime"], made["endTime"], made["endDay"]
    if days is None and start == end and not other_day:
        fix = "Write a later time; for a whole day add endDay: 1."
        return report(EQUAL_TIMES, (*path, "endTime"), "the end equals the start.", fix)
    if days == 0 and end <= start:
        fix = "Write a later time, or endDay: 1."
        return report(EQUAL_TIMES, (*path, "endTime"), "with endDay 0 the end is not after the start.", fix)
    return made


def _entry(
    made: dict[str, Any], whole: dict[str, Any], standard: Standard, path: Path, report: Report
) -> Any:
    once = whole["type"] == "once"
    if once and made["endDay"] is not None:
        fix = "Remove it: endDate says the end's date."
        return report(CONFLICT, (*path, "endDay"), "type once takes no endDay.", fix, at_key=True)
    other_day = once and whole["startDate"] != whole["endDate"]
    days = _days(made, whole["type"], path, report)
    seats = standard.seats_of(made, path, report)
    if INVALID in (days, seats) or _end(made, other_day, path, report) is INVALID:
        return INVALID
    return Entry(days, made["startTime"], made["endTime"], made["endDay"], seats)


def _extra(made: dict[str, Any], standard: Standard, path: Path, report: Report) -> Any:
    seats = standard.seats_of(made, path, report)
    if seats is INVALID or _end(made, False, path, report) is INVALID:
        return INVALID
    return Extra(made["date"], made["startTime"], made["endTime"], made["endDay"], seats)


def _move(made: dict[str, Any]) -> Move:
    to = made["to"]
    return Move(
        made["date"],
        made["startTime"],
        to["date"] or made["date"],
        to["startTime"],
        to["endTime"],
        to["endDay"],
    )

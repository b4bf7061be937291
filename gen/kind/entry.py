"""The lines of a recurrence, one shape for each: schedule entry, exception, move, extra."""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.calendar import DATE, in_order
from gen.kind.shape import (
    CONFLICT,
    IDLE_KEY,
    INVALID,
    MISSING,
    RANGE,
    TYPE,
    Either,
    Field,
    Fields,
    ListOf,
    Made,
    Report,
    nearest,
    shown,
)
from gen.kind.value import Text, Whole
from gen.model import Entry, Except, Extra, Move, Seats

EQUAL_TIMES = "B028"
TIME = '"HH:MM" in the reservation\'s zone'
MOST_SEATS = 1_000_000  # of one entry: 2,000 of them at once are still fewer than a Deployment can count

CLASS = Text("DNS label", grammar.dns_label)
START = Text("time of day", grammar.start_time)
END = Text("time of day", grammar.end_time)
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class _Count(Whole):
    """Seats. That there is a most matters to nobody who can have them."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is int and value > MOST_SEATS:
            message = f"{shown(value)} seats are more than any cluster has."
            return report(RANGE, path, message, f"Write a whole number up to {MOST_SEATS}.")
        return Whole.check(self, value, path, report)


class _Weekday(Whole):
    """1 is Monday, 7 is Sunday; or the English name, or its first three letters."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is list:
            return report(TYPE, path, "a list is not a weekday.", "Write daysOfWeek for several.")
        if type(value) is not str:
            return Whole.check(self, value, path, report)
        word = value.lower()
        for names in (WEEKDAYS, _DAY_NAMES):
            if word in names:
                return names.index(word) + 1
        fix = nearest(value, _DAY_NAMES, "Write a number from 1 (Monday) to 7, or one of")
        return report("B014", path, f"{shown(value)} is not a weekday.", fix)

    def words(self) -> str:
        return "weekday: 1 (Monday) to 7, or a name such as mon"


COUNT = _Count(1)
NODES = Whole(1, 100_000)
WEEKDAY = _Weekday(1, 7)


class _Seats(ListOf):
    """Seats by class, each class once."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        checked = ListOf.check(self, value, path, report)
        names: list[Any] = []
        for i, item in enumerate(checked if isinstance(checked, tuple) else ()):
            name = item if item is INVALID else item["resourceClass"]
            if name is not INVALID and name in names:
                fix = "Write one line for each class."
                report(CONFLICT, (*path, i, "resourceClass"), f'class "{name}" stands twice.', fix)
            names.append(name)
        return checked


SEATS = _Seats(
    Fields(
        {
            "resourceClass": Field(CLASS, meaning="name of a ResourceClass"),
            "placeholderCount": Field(COUNT, None, "seats of this class", "none: then write nodeCount"),
            "nodeCount": Field(NODES, None, "only backend nodePool: nodes of this class", "none"),
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
    "nodeCount": Field(
        NODES, None, "only backend nodePool: nodes, instead of provisioning's", "provisioning's"
    ),
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


def no_length(made: Made, path: Path, report: Report) -> None:
    """Report a window that would have no length. Not asked where the end's date stands elsewhere."""
    start, end, days = made["startTime"], made["endTime"], made["endDay"]
    if INVALID in (start, end, days):
        return
    if days is None and start == end:
        fix = "Write a later time; for a whole day add endDay: 1."
        report(EQUAL_TIMES, (*path, "endTime"), "the end equals the start.", fix)
    elif days == 0 and end <= start:
        fix = "Write a later time, or endDay: 1."
        report(EQUAL_TIMES, (*path, "endTime"), "with endDay 0 the end is not after the start.", fix)


EXTRA = Fields(
    {
        "date": Field(DATE, meaning="date of one more occurrence"),
        "startTime": Field(START, meaning=TIME),
        **_TIMES,
        **_OWN_SEATS,
    },
    agree=no_length,
)


def _except(made: Made, path: Path, report: Report) -> None:
    given = [name for name in ("date", "from", "to") if made[name] is not None]
    if given[:1] == ["date"] and given != ["date"]:
        message = f"date and {given[1]} are two ways to say the day."
        report(CONFLICT, path, message, "Keep date, or from and to.")
    elif not given:
        report(MISSING, path, "it says no date.", "Add date, or from and to.")
    elif given in (["from"], ["to"]):
        other = "to" if given == ["from"] else "from"
        report(MISSING, path, f"{other} is missing.", f"Add {other}: a date.")
    elif given == ["from", "to"]:
        in_order(made, path, report)


def _made_except(made: Made) -> Except:
    first, last = (made["from"], made["to"]) if made["date"] is None else (made["date"], made["date"])
    return Except(first, last, made["startTime"])


EXCEPT = Either(
    DATE,
    Fields(
        {
            "date": Field(DATE, None, "one date", "none"),
            "from": Field(DATE, None, "first date of a range", "none"),
            "to": Field(DATE, None, "last date of a range, inclusive", "none"),
            "startTime": Field(START, None, "only the occurrence that starts then", "all of the date"),
            "title": Field(Text(), "", "a remark", "none"),
        },
        _made_except,
        agree=_except,
    ),
)


def _destination(made: Made, path: Path, report: Report) -> None:
    if made["date"] is None and made["startTime"] is None and made["endTime"] is None:
        report(MISSING, path, "it says nothing new.", "Add date, startTime or endTime.")
    elif made["endDay"] is not None and made["endTime"] is None:
        message = "without endTime the occurrence keeps its length."
        report(IDLE_KEY, (*path, "endDay"), message, "Add endTime, or remove endDay.", at_key=True)


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
                },
                agree=_destination,
            ),
            meaning="when it happens instead",
        ),
    }
)


def seats(items: tuple[Made, ...]) -> Seats:
    return tuple((item["resourceClass"], count(item)) for item in items)


def count(made: Made) -> Any:
    """Of seats, or else of nodes; None where neither is said."""
    return made["nodeCount"] if made["placeholderCount"] is None else made["placeholderCount"]


def _own_seats(made: Made, standard: Seats) -> Seats:
    """What the line says of seats, else what holds for the reservation."""
    if made["seats"] is not None:
        return seats(made["seats"])
    own = count(made)
    return standard if own is None else ((standard[0][0], own),)


def entry(made: Made, weekly: bool, standard: Seats) -> Entry:
    days = (made["daysOfWeek"] or (made["dayOfWeek"],)) if weekly else ()
    times = (made["startTime"], made["endTime"], made["endDay"])
    return Entry(tuple(sorted(set(days))), *times, _own_seats(made, standard))


def extra(made: Made, standard: Seats) -> Extra:
    times = (made["startTime"], made["endTime"], made["endDay"])
    return Extra(made["date"], *times, _own_seats(made, standard))


def move(made: Made) -> Move:
    to = made["to"]
    day, times = made["date"], (to["startTime"], to["endTime"], to["endDay"])
    return Move(day, made["startTime"], to["date"] or day, *times)

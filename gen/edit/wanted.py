"""What somebody wants to reserve, said in a few words, and the reservation that it comes to. Pure."""

from datetime import date
from typing import NamedTuple

from gen.edit.roundtrip import EditError
from gen.model import Entry, Origin, Recurrence, Reservation
from gen.schema import grammar
from gen.schema.report import Refusal
from gen.schema.reservation import BEHAVIORS, EVERY_SESSION
from gen.schema.types import WEEKDAYS


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
        backend="placeholder",
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

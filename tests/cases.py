"""Reservations for tests: short to write in code, or from tests/cases/*.yaml with what must come of them."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.dates.expansion import Expansion
from berth.findings import Origin
from berth.notation.times import end_time, start_time
from berth.schema.calendardocument import Calendar, ClosedDates
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import ReservationSpec
from berth.schema.values import Entry, Except, Extra, Move, Recurrence

from tests.saying import Line, finding

ORIGIN = Origin("reservations/course.yaml", 0)
SEATS = (("small", 25),)
Case = dict[str, Any]


def read(name: str) -> list[Case]:
    text = (Path(__file__).parent / "cases" / f"{name}.yaml").read_text(encoding="utf-8")
    cases: list[Case] = yaml.load(text, Loader=yaml.BaseLoader)  # texts only
    return cases


def table(section: str, more: Mapping[str, tuple[Any, list[str]]] = {}) -> list[Any]:
    """What is given and what it says, of a section of cases/schema.yaml, for `parametrize`."""
    written = {
        name: (case["given"], _with_findings(case.get("says", [])))
        for name, case in tables("schema")[section].items()
    }
    return [pytest.param(*case, id=name) for name, case in (*written.items(), *more.items())]


def tabled(room: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each row of its table in cases/ROOM.yaml, which is a list or a mapping by ids.

    A row has the values of the first arguments of the test; a row that is no list is the first of them.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        written = _with_findings(tables(room)[test.__name__])
        table = written.items() if isinstance(written, dict) else ((None, row) for row in written)
        values = [(name, row if isinstance(row, list) else [row]) for name, row in table]
        names = [*signature(test).parameters][: len(values[0][1])]
        rows = [pytest.param(*row, id=name) for name, row in values]
        marked: Callable[..., None] = pytest.mark.parametrize(names, rows)(test)
        return marked

    return decorate


@cache
def tables(room: str) -> dict[str, Any]:
    """All tables of cases/ROOM.yaml."""
    text = (Path(__file__).parent / f"cases/{room}.yaml").read_text("utf-8")
    by_name: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return by_name


def _with_findings(value: Any) -> Any:
    """What is given, with each `CODE place | text | text` as a problem that names these texts."""
    if isinstance(value, list):
        return [_with_findings(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_findings(item) for key, item in value.items()}
    return finding(*value.split(" | ")) if isinstance(value, str) and " | " in value else value


def times(text: str) -> tuple[int, int]:
    """`09:00-13:00` as minutes."""
    start, end = text.split("-")
    return start_time(start), end_time(end)


def entry(
    hours: str, *days: int, end_day: int | None = None, seats: tuple[tuple[str, int], ...] = SEATS
) -> Entry:
    return Entry(days, *times(hours), end_day, seats)


def extra(day: str, hours: str, end_day: int | None = None) -> Extra:
    return Extra(date.fromisoformat(day), *times(hours), end_day, SEATS)


def without(days: str, start: str | None = None) -> Except:
    """`2026-04-06`, or both ends of a range: `2026-04-20/2026-04-24`."""
    return Except(*span(days), None if start is None else start_time(start))


def span(days: str) -> tuple[date, date]:
    first, _, last = days.partition("/")
    return date.fromisoformat(first), date.fromisoformat(last or first)


def move(  # noqa: PLR0913 - as many as the file format has
    day: str,
    to: str,
    start: str | None = None,
    *,
    at: str | None = None,
    end: str | None = None,
    end_day: int | None = None,
) -> Move:
    """The occurrence of `day` at `start` goes to the day `to`, from `at` to `end`."""
    return Move(
        date.fromisoformat(day),
        None if start is None else start_time(start),
        None if to == day else date.fromisoformat(to),
        None if at is None else start_time(at),
        None if end is None else end_time(end),
        end_day,
    )


def calendar(name: str, *days: str, title: str = "") -> Calendar:
    return Calendar(ORIGIN, name, tuple(ClosedDates(*span(day), title) for day in days))


def recurrence(type_: str, zone: str, *schedule: Entry, days: str = "", **more: Any) -> Recurrence:
    """`days`: first and last date, or for `dates` each of them, with commas."""
    spans = [span(one) for one in days.split(",")]
    dated = type_ == "dates"
    values: dict[str, Any] = {
        "first": None if dated else spans[0][0],
        "last": None if dated else spans[0][1],
        "dates": tuple(spans) if dated else (),
    }
    return Recurrence(type=type_, zone=zone, schedule=schedule, **(values | more))


def spec(title: str, *, suspend: bool = False) -> ReservationSpec:
    """The plain fields of a reservation."""
    return ReservationSpec.model_validate({"title": title, "suspend": suspend, "provisioning": {}})


def reservation(when: Recurrence, *, lead: int = 0, suspend: bool = False) -> Reservation:
    return Reservation(
        origin=ORIGIN,
        name="course",
        spec=spec("Course", suspend=suspend),
        labels=(),
        annotations=(),
        recurrence=when,
        seats=SEATS,
        seats_listed=False,
        lead=lead,
        behavior="maintain",
        holder=DEFAULT_HOLDER,
    )


def of_case(case: Case) -> tuple[Reservation, dict[str, Calendar]]:
    said = case["recurrence"]
    seats = (("small", int(case.get("seats", 25))),)
    schedule = [
        entry(
            one["time"],
            *map(int, one.get("days", ())),
            end_day=int(one["endDay"]) if "endDay" in one else None,
            seats=seats,
        )
        for one in case["schedule"]
    ]
    when = recurrence(
        said["type"],
        said["zone"],
        *schedule,
        days=",".join(said["dates"]) if "dates" in said else f"{said['first']}/{said['last']}",
        interval=int(said.get("interval", 1)),
        calendars=tuple(said.get("calendars", ())),
        excepts=tuple(without(one["date"], one.get("start")) for one in said.get("except", ())),
        moves=tuple(
            move(one["date"], one["to"].get("date", one["date"]), one.get("start"), at=one["to"].get("start"))
            for one in said.get("moved", ())
        ),
    )
    calendars = {name: calendar(name, *days) for name, days in case.get("calendars", {}).items()}
    return reservation(when, lead=int(case.get("lead", 0))), calendars


def text(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def starts(expansion: Expansion) -> list[str]:
    return [text(occurrence.start) for occurrence in expansion.occurrences]


def told(expansion: Expansion) -> list[str]:
    """Code and path of each problem, the paths as people read them."""
    return [
        Line(
            f"{problem.code} {'.'.join(map(str, problem.path)).removeprefix('spec.recurrence.')}",
            f"{problem.message} {problem.fix}",
        )
        for problem in expansion.problems
    ]

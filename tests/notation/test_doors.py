"""One notion, one grammar: a text means the same, or is refused with the same code, wherever it is written.

Doors that need no command are called directly; `set` and the options of commands in tests/cli.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.dates.zone import known, number
from berth.edit.create import ReservationRequest, new_reservation
from berth.edit.edits import parse_assignment
from berth.edit.roundtrip import EditError
from berth.notation.days import day
from berth.notation.refusal import Refusal
from berth.notation.weekdays import DAY_NAMES, WEEKDAYS
from berth.schema import validate
from berth.schema.entry import ScheduleEntry, StandardSeats
from berth.schema.recurrence import DateOrException, RecurrenceSpec
from berth.schema.report import Report
from berth.schema.site import SiteSpec
from berth.schema.types import Date
from berth.schema.values import Recurrence, Scaling
from hypothesis import given, settings
from hypothesis import strategies as st

TODAY = number(date(2027, 1, 6))  # a Wednesday
CASES: Mapping[str, list[dict[str, Any]]] = yaml.load(
    (Path(__file__).parents[1] / "cases/doors.yaml").read_text("utf-8"), Loader=yaml.BaseLoader
)
Door = Callable[[str], object]
"""Takes a text; returns its value, or `CODE advice` of the refusal."""
GIVEN = {"class": "small", "seats": "25", "from": "2000-01-01", "until": "2099-12-31"}


def field(
    hint: Any, wrap: Callable[[str], object] = str, unwrap: Callable[[Any], object] = lambda v: v
) -> Door:
    """A key of a file."""

    def read(text: str) -> object:
        report = Report("a.yaml", 0)
        value = validate.read_as(hint, wrap(text), report)
        if report.problems:
            return f"{report.problems[0].code} {report.problems[0].fix}"
        return unwrap(value)

    return read


def option(read: Callable[[str], object]) -> Door:
    """An option, an argument or an answer."""

    def door(text: str) -> object:
        try:
            return read(text)
        except EditError as error:
            return f"{error.code} {error}"
        except Refusal as refusal:
            return f"{refusal.code} {refusal.fix}"

    return door


def requested(kind: str, **given: str) -> Recurrence:
    return new_reservation(ReservationRequest("x", kind, ("09:00-13:00",), GIVEN | given)).recurrence


def answered(question: str, answer: str) -> Recurrence:
    request = ReservationRequest("x", "", ("09:00-13:00",), GIVEN).with_answer(question, answer)
    return new_reservation(request).recurrence


def entry_days(value: Any) -> object:
    return value.entry(weekly=True, standard=STANDARD).days


USUAL = Scaling(30, "maintain")
STANDARD = StandardSeats((("small", 1),), (USUAL,), USUAL)
TIMES = {"startTime": "09:00", "endTime": "13:00"}

WEEKDAY_DOORS: dict[str, Door] = {
    "day-of-week": field(ScheduleEntry, lambda text: {"dayOfWeek": text, **TIMES}, entry_days),
    "days-of-week": field(ScheduleEntry, lambda text: {"daysOfWeek": text, **TIMES}, entry_days),
    "list": field(ScheduleEntry, lambda text: {"daysOfWeek": [text], **TIMES}, entry_days),
    "weekly-option": option(lambda text: requested("weekly", weekly=text).schedule[0].days),
    "answer": option(lambda text: answered("when", text).schedule[0].days),
    "set": field(
        ScheduleEntry,
        lambda text: {
            "daysOfWeek": parse_assignment(f"recurrence.schedule[0].daysOfWeek={text}").value,
            **TIMES,
        },
        entry_days,
    ),
}
DATE_DOORS: dict[str, Door] = {
    "start-date": field(
        RecurrenceSpec,
        lambda text: {"type": "daily", "startDate": text, "endDate": "2099-12-31", "schedule": [TIMES]},
        lambda value: str(value.start_date),
    ),
    "except": field(DateOrException, unwrap=lambda span: str(span.first)),
    "set": field(Date, lambda text: parse_assignment(f"recurrence.startDate={text}").value, str),
    "from-option": option(lambda text: str(requested("weekly", weekly="mon", **{"from": text}).first)),
    "dates-option": option(lambda text: str(requested("dates", dates=text).dates[0][0])),
    "answer": option(lambda text: str(day(text))),
}
ZONE_DOORS: dict[str, Door] = {
    "site": field(
        SiteSpec, lambda text: {"clusters": [{"name": "a"}], "timeZone": text}, lambda v: v.time_zone
    ),
    "recurrence": field(
        RecurrenceSpec,
        lambda text: {"type": "dates", "dates": ["2027-01-12"], "timeZone": text, "schedule": [TIMES]},
        lambda value: value.time_zone,
    ),
    "option": option(lambda text: requested("weekly", weekly="mon", **{"time-zone": text}).zone),
}
RANGE_DOORS: dict[str, Door] = {
    "except": field(DateOrException, unwrap=lambda span: tuple(map(str, span))),
    "dates": field(
        RecurrenceSpec,
        lambda text: {"type": "dates", "dates": [text], "schedule": [TIMES]},
        lambda value: tuple(map(str, value.dates[0])),
    ),
    "dates-option": option(lambda text: tuple(map(str, requested("dates", dates=text).dates[0]))),
}


def _same(door: Door, case: Mapping[str, Any], value: object) -> None:
    found = door(case["text"])
    if "code" in case:
        assert isinstance(found, str)
        assert found.startswith(f"{case['code']} ")
        assert case["write"] in found
    else:
        assert found == value


@pytest.mark.parametrize("door", WEEKDAY_DOORS)
@pytest.mark.parametrize("case", CASES["weekdays"], ids=lambda case: case["text"])
def test_weekdays_mean_the_same_at_every_door(door: str, case: Mapping[str, Any]) -> None:
    _same(WEEKDAY_DOORS[door], case, tuple(map(int, case.get("value", ()))))


@pytest.mark.parametrize("door", DATE_DOORS)
@pytest.mark.parametrize("case", CASES["dates"], ids=lambda case: case["text"])
def test_dates_mean_the_same_at_every_door(door: str, case: Mapping[str, Any]) -> None:
    _same(DATE_DOORS[door], case, case.get("value"))


@pytest.mark.parametrize("door", RANGE_DOORS)
@pytest.mark.parametrize("case", CASES["ranges"], ids=lambda case: case["text"])
def test_ranges_mean_the_same_at_every_door(door: str, case: Mapping[str, Any]) -> None:
    _same(RANGE_DOORS[door], case, tuple(case.get("value", ())))


@pytest.mark.parametrize("door", ZONE_DOORS)
@pytest.mark.parametrize("case", CASES["zones"], ids=lambda case: case["text"])
def test_zones_mean_the_same_at_every_door(door: str, case: Mapping[str, Any]) -> None:
    _same(ZONE_DOORS[door], case, case.get("value"))


@pytest.mark.parametrize("case", CASES["words"], ids=lambda case: case["text"])
def test_words_are_dates_where_there_is_a_today_and_refused_in_files(case: Mapping[str, Any]) -> None:
    _same(option(lambda text: str(day(text, TODAY))), case, case.get("value"))
    for door in DATE_DOORS.values():
        assert str(door(case["text"])).startswith("B017 ")


# Near misses


SEPARATORS = ",;/ .-_:|+&\u2013\u00a0\t"
WORDS = {"mon": "lun", "monday": "montag", "wed": "mer", "to": "bis", "to ": "-"}


@st.composite
def near_misses(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """A valid text with one change of a character, a separator or the language."""
    text = draw(texts)
    place = draw(st.integers(0, len(text) - 1))
    kind = draw(st.sampled_from(["drop", "double", "swap", "case", "separator", "language"]))
    before, letter, after = text[:place], text[place], text[place + 1 :]
    if kind == "drop":
        return before + after
    if kind == "double":
        return before + letter * 2 + after
    if kind == "swap":
        return before + after[:1] + letter + after[1:]
    if kind == "case":
        return before + letter.swapcase() + after
    if kind == "separator":
        return before + draw(st.sampled_from(SEPARATORS)) + after
    for word, other in WORDS.items():
        text = text.replace(word, other, 1)
    return text


def _agree(doors: Mapping[str, Door], text: str) -> None:
    """Each door has the same value, or the same code."""
    found = {name: door(text) for name, door in doors.items() if not (name == "set" and _is_yaml(text))}
    answers = {
        value.split()[0] if isinstance(value, str) and value[:1] == "B" else value for value in found.values()
    }
    assert len(answers) == 1, found


def _is_yaml(text: str) -> bool:
    """Whether YAML makes something else of the text than itself: `set` takes YAML."""
    try:
        return bool(parse_assignment(f"x={text}").value != text)
    except EditError:
        return True


names = st.sampled_from([*WEEKDAYS, *DAY_NAMES])
lists = st.builds(
    lambda one, between, other: f"{one}{between}{other}",
    names,
    st.sampled_from([",", "-", "..", " to ", " ", "/"]),
    names,
)
dates = st.dates(date(2000, 1, 1), date(2099, 12, 31)).map(str)


@settings(max_examples=300)
@given(near_misses(names | lists))
def test_near_misses_of_weekdays_mean_the_same_at_every_door(text: str) -> None:
    doors = {name: door for name, door in WEEKDAY_DOORS.items() if name != "answer"}
    _agree(doors, text)


@settings(max_examples=300)
@given(near_misses(dates))
def test_near_misses_of_dates_mean_the_same_at_every_door(text: str) -> None:
    doors = {
        name: door for name, door in DATE_DOORS.items() if name != "dates-option" or text.split() == [text]
    }
    _agree(doors, text)


@settings(max_examples=200)
@given(near_misses(st.builds(lambda a, b: f"{min(a, b)}..{max(a, b)}", dates, dates)))
def test_near_misses_of_ranges_mean_the_same_at_every_door(text: str) -> None:
    doors = {
        name: door
        for name, door in RANGE_DOORS.items()
        if name != "dates-option" or not set(text) & set(",; \t\u00a0")
    }
    _agree(doors, text)


@settings(max_examples=200)
@given(near_misses(st.sampled_from(known())))
def test_near_misses_of_zones_mean_the_same_at_every_door(text: str) -> None:
    _agree(ZONE_DOORS, text)

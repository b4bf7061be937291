"""One notion, one grammar: a text means the same, or is refused with the same code, wherever it is written.

Doors that need no command are called directly; `set` and the options of commands in tests/cli. The doors of
a notion are YAML fields, options, answers to questions, and `set`.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.cli.dateselection import selected_time
from berth.cli.override import override_end, override_target
from berth.cli.selection import Clock
from berth.core.timetable import MAX_TARGET
from berth.dates.moments import named
from berth.dates.zone import known, number
from berth.edit.create import ReservationRequest, new_reservation
from berth.edit.edits import parse_assignment
from berth.edit.seatcounts import parse_counts, seat_count
from berth.findings import Origin
from berth.notation.days import day
from berth.notation.refusal import CommandError, Refusal
from berth.notation.times import end_time, start_time
from berth.notation.weekdays import DAY_NAMES, WEEKDAYS
from berth.reading.scalar import plain
from berth.schema import validate
from berth.schema.datechanges import DateException, ExtraEntry, MovedEntry
from berth.schema.documentproblems import DocumentProblems
from berth.schema.entry import ClassSeats, ScheduleEntry, StandardSeats
from berth.schema.recurrencespec import DateOrException, RecurrenceSpec
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import Provisioning
from berth.schema.site import SiteSpec
from berth.schema.types import Date
from berth.schema.validate import read_text
from berth.schema.values import Recurrence, Scaling
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

TODAY = number(date(2027, 1, 6))  # a Wednesday
CLOCK = Clock(TODAY * 86_400 + 9 * 3600, named("Europe/Zurich"))
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
        report = DocumentProblems(Origin("a.yaml"))
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
        except CommandError as error:
            return f"{error.code} {error}"
        except Refusal as refusal:
            return f"{refusal.code} {refusal.fix}"

    return door


def request(
    kind: str, times: tuple[str, ...] = ("09:00-13:00",), /, name: str = "x", **given: str
) -> ReservationRequest:
    return ReservationRequest(name, kind, times, GIVEN | given)


def requested(kind: str, **given: str) -> Reservation:
    return new_reservation(request(kind, **given))


def recurrence_of(kind: str, **given: str) -> Recurrence:
    return requested(kind, **given).recurrence


def spans_of(wanted: ReservationRequest) -> object:
    return tuple((span.times.start, span.times.end) for span in wanted.spans())


def entry_times(start: str, _: str, end: str) -> object:
    """Both times of a span as the two keys of a date, blanks around them left out."""
    report = DocumentProblems(Origin("a.yaml"))
    value = {"date": "2027-01-12", "startTime": start.strip(), "endTime": end.strip()}
    found = validate.read_as(ExtraEntry, value, report)
    return report.problems[0].code if report.problems else ((found.start_time, found.end_time),)


def numbers(weeks: Any) -> tuple[int, ...]:
    return tuple(weeks if isinstance(weeks[0], int) else weeks[0])


def until(text: str) -> int | None:
    """The end of an override, or what its text means where that is no time to end one."""
    try:
        return override_end(text, CLOCK)
    except CommandError as error:
        if error.code:
            raise
        return CLOCK.instant("--end", text)


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
    "weekly-option": option(lambda text: recurrence_of("weekly", weekly=text).schedule[0].days),
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
    "from-option": option(lambda text: str(recurrence_of("weekly", weekly="mon", **{"from": text}).first)),
    "dates-option": option(lambda text: str(recurrence_of("dates", dates=text).dates[0][0])),
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
    "option": option(lambda text: recurrence_of("weekly", weekly="mon", **{"time-zone": text}).zone),
}


def entry_field(key: str, unwrap: Callable[[Any], object]) -> dict[str, Door]:
    """A key of an entry of the schedule: as text, and as `set` writes it."""
    usual = {"dayOfWeek": "mon", **TIMES}
    return {
        "field": field(ScheduleEntry, lambda text: {**usual, key: text}, unwrap),
        "set": field(ScheduleEntry, lambda text: {**usual, key: assigned(text)}, unwrap),
    }


def assigned(text: str) -> object:
    return parse_assignment(f"x={text}").value


START_DOORS: dict[str, Door] = {
    **entry_field("startTime", lambda entry: entry.start_time),
    "except": field(
        DateException, lambda text: {"date": "2027-01-12", "startTime": text}, lambda value: value.start_time
    ),
    "moved": field(
        MovedEntry,
        lambda text: {"date": "2027-01-12", "to": {"startTime": text}},
        lambda value: value.to.start_time,
    ),
    "argument": option(lambda text: start_time(selected_time("TIME", text))),
}
END_DOORS: dict[str, Door] = {
    **entry_field("endTime", lambda entry: entry.end_time),
    "extra": field(
        ExtraEntry,
        lambda text: {"date": "2027-01-12", "startTime": "00:01", "endTime": text},
        lambda value: value.end_time,
    ),
    "end-option": option(lambda text: end_time(selected_time("--end", text, end_time))),
}
SPAN_DOORS: dict[str, Door] = {
    "argument": option(lambda text: spans_of(request("weekly", (text,), weekly="mon"))),
    "answer": option(lambda text: spans_of(request("weekly", (), weekly="mon").with_answer("times", text))),
    "named": option(lambda text: spans_of(request("weekly", (f"a={text}",), weekly="mon"))),
    "fields": lambda text: entry_times(*text.partition("-")),
}
WEEKS_DOORS: dict[str, Door] = {
    **entry_field("weeks", lambda entry: numbers(entry.weeks)),
    "list": field(
        ScheduleEntry,
        lambda text: {"dayOfWeek": "mon", "weeks": [text], **TIMES},
        lambda entry: numbers(entry.weeks),
    ),
    "option": option(lambda text: recurrence_of("weekly", weekly="mon", weeks=text).schedule[0].dates.weeks),
}
NAME_DOORS: dict[str, Door] = {
    **entry_field("name", lambda entry: entry.name),
    "class": field(
        ClassSeats,
        lambda text: {"resourceClass": text, "placeholderCount": 1},
        lambda seats: seats.resource_class,
    ),
    "argument": option(lambda text: request("weekly", name=text, weekly="mon").checked().name),
    "answer": option(lambda text: request("weekly", weekly="mon").with_answer("name", text).name),
    "class-option": option(lambda text: request("weekly", **{"class": text}).value("class")[0]),
    "class-answer": option(
        lambda text: request("weekly", weekly="mon").with_answer("class", text).value("class")[0]
    ),
    "within-option": option(lambda text: request("weekly", within=text).value("within")[0]),
    "span": option(lambda text: request("weekly", (f"{text}=09:00-13:00",)).spans()[0].name),
    "name-option": option(lambda text: read_text(ExtraEntry, "name", text)),
}
LISTS_OF_NAMES = ("class-option", "class-answer", "within-option")
COUNT_DOORS: dict[str, Door] = {
    "field": field(
        Provisioning,
        lambda text: {"placeholderCount": plain(text.strip())},
        lambda value: value.placeholder_count,
    ),
    "set": field(
        Provisioning,
        lambda text: {"placeholderCount": assigned(text)},
        lambda value: value.placeholder_count,
    ),
    "option": option(lambda text: requested("weekly", weekly="mon", seats=text).seats[0][1]),
    "answer": option(
        lambda text: new_reservation(request("weekly", weekly="mon").with_answer("seats", text)).seats[0][1]
    ),
    "by-class": option(
        lambda text: requested(
            "weekly", weekly="mon", **{"class": "small,big"}, seats=f"small={text},big=1"
        ).seats[0][1]
    ),
    "seats-of-edits": option(lambda text: parse_counts(text)[""]),
    "override": option(lambda text: override_target("small", text) or seat_count(text)),  # 0 is a target
}
INSTANT_DOORS: dict[str, Door] = {
    "now": option(lambda text: CLOCK.instant("--now", text)),
    "at": option(lambda text: CLOCK.instant("--at", text)),
    "until": option(until),
}
RANGE_DOORS: dict[str, Door] = {
    "except": field(DateOrException, unwrap=lambda span: tuple(map(str, span))),
    "dates": field(
        RecurrenceSpec,
        lambda text: {"type": "dates", "dates": [text], "schedule": [TIMES]},
        lambda value: tuple(map(str, value.dates[0])),
    ),
    "dates-option": option(lambda text: tuple(map(str, recurrence_of("dates", dates=text).dates[0]))),
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


@pytest.mark.parametrize(
    ("notion", "doors"),
    [
        ("spans", SPAN_DOORS),
        ("starts", START_DOORS),
        ("weeks", WEEKS_DOORS),
        ("names", NAME_DOORS),
        ("counts", COUNT_DOORS),
    ],
)
def test_other_notions_mean_the_same_at_every_door(notion: str, doors: Mapping[str, Door]) -> None:
    for case in CASES[notion]:
        for name, door in doors.items():
            found = door(case["text"])
            if "code" in case:
                assert str(found).startswith(case["code"]), (name, case, found)
                assert name == "fields" or case["write"] in str(found), (name, case, found)
            else:
                assert yaml.safe_load(str(case["value"]).replace("'", "")) == as_lists(found), (name, case)


def as_lists(value: object) -> object:
    return [as_lists(one) for one in value] if isinstance(value, tuple) else value


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
        value = parse_assignment(f"x={text}").value
        return bool(value != text and not (type(value) is int and str(value) == text))
    except CommandError:
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


times = st.times().map("{:%H:%M}".format)


@settings(max_examples=100)
@given(near_misses(times | st.just("24:00")))
@example("24:00")
def test_near_misses_of_times_mean_the_same_at_every_door(text: str) -> None:
    _agree(START_DOORS, text)
    _agree(END_DOORS, text)


@settings(max_examples=100)
@given(near_misses(st.builds("{}{}{}".format, times, st.sampled_from(["-", " - "]), times)))
@example("09:00 - 13:00")
@example("09:00-09:00")
def test_near_misses_of_spans_mean_the_same_at_every_door(text: str) -> None:
    """Commas and blanks between times make a list of an answer."""
    doors = {name: door for name, door in SPAN_DOORS.items() if name != "fields" or text.count("-") == 1}
    _agree(doors, text)


weeks = st.integers(1, 53).map(str)


@settings(max_examples=100)
@given(
    near_misses(
        st.sampled_from(["odd", "even"])
        | weeks
        | st.builds("{}{}{}".format, weeks, st.sampled_from([",", "-", "..", " to ", " ", "/"]), weeks)
    )
)
@example("8-6")
@example("-6")
@example("06")
def test_near_misses_of_weeks_mean_the_same_at_every_door(text: str) -> None:
    _agree(WEEKS_DOORS, text)


@settings(max_examples=100)
@given(
    near_misses(
        st.sampled_from(["now", "+2h", "-30m", "+7d", "tomorrow 09:00", "monday", "wed 14:30"])
        | st.builds("{}{}{}".format, dates, st.sampled_from([" ", "T"]), times)
        | st.builds("{}T{}:00Z".format, dates, times)
    )
)
def test_near_misses_of_instants_mean_the_same_at_every_door(text: str) -> None:
    _agree(INSTANT_DOORS, text)


@settings(max_examples=100)
@given(near_misses(st.sampled_from(["small", "linear-algebra", "data100", "a-1-b", "r"])))
@example("Small")
def test_near_misses_of_names_mean_the_same_at_every_door(text: str) -> None:
    """Options that take several names split them at commas; blanks around one are not part of it."""
    assume(text)  # an empty name is none
    is_one = "," not in text and text == text.strip()
    _agree({name: door for name, door in NAME_DOORS.items() if is_one or name not in LISTS_OF_NAMES}, text)


@settings(max_examples=100)
@given(near_misses(st.integers(1, 2_000_000).map(str) | st.integers(1000, 99_999).map("{:,}".format)))
@example("0")
@example("-5")
@example("1,200")
@example("1.200")
@example("025")
@example("+25")
@example("~60")
@example(" 0")
@example("0\t")
@example(" 25 ")
@example("")
@example(" ")
@example("\u00a025")
def test_near_misses_of_counts_mean_the_same_at_every_door(text: str) -> None:
    is_for_yaml = not text.strip() or text.strip().startswith("+")  # no value is none, "+25" is 25
    count = COUNT_DOORS["field"](text)
    is_target = not isinstance(count, int) or count <= MAX_TARGET
    left_out = {"field", "set"} if is_for_yaml else set() if is_target else {"override"}
    _agree({name: door for name, door in COUNT_DOORS.items() if name not in left_out}, text)

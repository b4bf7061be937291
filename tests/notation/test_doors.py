"""One notion, one grammar: a text means the same, or is refused with the same code, wherever it is written.

There are two kinds of doors. A file has the words of Berth only. Commands, forms and tables take any text
with one reading. Doors that need no command are called directly.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from berth.cli.dateselection import date_selectors, moved_to, occurrence_selector, selected_time
from berth.cli.override import override_end, override_target
from berth.cli.selection import Clock
from berth.core.timetable import MAX_TARGET
from berth.dates.moments import named
from berth.dates.zone import clock_text, date_text, known, number
from berth.edit.create import ReservationRequest, new_reservation, read_flag
from berth.edit.edits import apply_assignment, parse_assignment
from berth.edit.prompts import FORM
from berth.edit.requestform import FormAnswer, requested
from berth.edit.seatcounts import parse_counts, seat_count
from berth.findings import FilePlace, Origin
from berth.notation.days import day, spans
from berth.notation.refusal import CommandError, Refusal, taken
from berth.notation.times import end_time, start_time
from berth.notation.weekdays import DAY_NAMES, WEEKDAYS, weekdays_text
from berth.notation.zones import FIXED, zone_at
from berth.pipeline import Pipeline
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

from tests.notation.nearmisses import near_misses

TODAY = number(date(2027, 1, 6))  # a Wednesday
CLOCK = Clock(TODAY * 86_400 + 9 * 3600, named("Europe/Zurich"))
CASES: Mapping[str, list[dict[str, Any]]] = yaml.load(
    (Path(__file__).parents[1] / "cases/doors.yaml").read_text("utf-8"), Loader=yaml.BaseLoader
)
Door = Callable[[str], object]
"""Takes a text; returns its value, or `CODE advice` of the refusal."""
GIVEN = {"class": "small", "seats": "25", "from": "2000-01-01", "until": "2099-12-31"}
DECLARED = Pipeline(sources=[]).declared


class Doors(NamedTuple):
    """The doors of a notion, and how Berth writes a value of it."""

    files: Mapping[str, Door]
    commands: Mapping[str, Door]
    words: Callable[[Any], str] = str


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
            return taken(lambda: read(text))
        except CommandError as error:
            return f"{error.code} {error}"
        except Refusal as refusal:
            return f"{refusal.code} {refusal.fix}"

    return door


def assigned(key: str, read: Door) -> Door:
    """`berth set` of a key, as the file has it then; what YAML makes of the text is not its own."""

    def write(text: str) -> object:
        tree: dict[str, Any] = {
            "metadata": {},
            "spec": {"provisioning": {}, "recurrence": {"schedule": [{}], "extra": [{}]}},
        }
        apply_assignment(tree, parse_assignment(f"{key}={text}"), lambda value: value)
        value: Any = tree["spec"]
        for step in key.replace("[0]", ".0").split("."):
            value = value[0] if step == "0" else value[step]
        return read(value)

    return option(write)


def request(
    kind: str, times: tuple[str, ...] = ("09:00-13:00",), /, name: str = "x", **given: str
) -> ReservationRequest:
    usual = {key: text for key, text in GIVEN.items() if kind != "dates" or key not in ("from", "until")}
    return ReservationRequest(name, kind, times, usual | given, TODAY)


def reserved(kind: str, **given: str) -> Reservation:
    return new_reservation(request(kind, **given))


def recurrence_of(kind: str, **given: str) -> Recurrence:
    return reserved(kind, **given).recurrence


def asked(key: str, unwrap: Callable[[ReservationRequest], object], **others: str) -> Door:
    """An answer in the form, or a cell of a table."""
    usual = {"title": "X", "class": "small", "times": "09:00-11:00", "seats": "25", **others}

    def read(text: str) -> object:
        texts = {**dict.fromkeys(FORM, ""), **usual, key: text}
        answers = {name: FormAnswer(name, value, FilePlace("a.md")) for name, value in texts.items()}
        request, findings = requested(answers, "x", DECLARED, TODAY)
        wrong = [one for one in findings if one.path == FORM[key].heading]
        return f"{wrong[0].code} {wrong[0].fix}" if wrong else unwrap(request)

    return read


def spans_of(wanted: ReservationRequest) -> object:
    return tuple((span.times.start, span.times.end) for span in wanted.spans())


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
    request = ReservationRequest("x", "", ("09:00-13:00",), GIVEN, TODAY).with_answer(question, answer)
    return new_reservation(request).recurrence


def entry_days(value: Any) -> object:
    return value.entry(weekly=True, standard=STANDARD).days


def span_of(selector: Any) -> object:
    ends = (selector.first, selector.last) if hasattr(selector, "first") else (selector.day, selector.day)
    return tuple(map(str, ends))


USUAL = Scaling(30, "maintain")
STANDARD = StandardSeats((("small", 1),), (USUAL,), USUAL)
TIMES = {"startTime": "09:00", "endTime": "13:00"}
DAYS = field(ScheduleEntry, lambda text: {"daysOfWeek": text, **TIMES}, entry_days)
START_DATE = field(
    RecurrenceSpec,
    lambda text: {"type": "daily", "startDate": text, "endDate": "2099-12-31", "schedule": [TIMES]},
    lambda value: str(value.start_date),
)
ZONE = field(
    RecurrenceSpec,
    lambda text: {"type": "dates", "dates": ["2027-01-12"], "timeZone": text, "schedule": [TIMES]},
    lambda value: value.time_zone,
)
START = field(
    ScheduleEntry, lambda text: {"dayOfWeek": "mon", **TIMES, "startTime": text}, lambda e: e.start_time
)
END = field(ScheduleEntry, lambda text: {"dayOfWeek": "mon", **TIMES, "endTime": text}, lambda e: e.end_time)
COUNT = field(
    Provisioning,
    lambda text: {"placeholderCount": plain(str(text).strip())},
    lambda value: value.placeholder_count,
)

WEEKDAY_DOORS = Doors(
    {
        "day-of-week": field(ScheduleEntry, lambda text: {"dayOfWeek": text, **TIMES}, entry_days),
        "days-of-week": DAYS,
        "list": field(ScheduleEntry, lambda text: {"daysOfWeek": [text], **TIMES}, entry_days),
    },
    {
        "weekly-option": option(lambda text: recurrence_of("weekly", weekly=text).schedule[0].days),
        "answer": option(lambda text: answered("when", text).schedule[0].days),
        "form": asked("when", lambda wanted: wanted.value("weekly")),
        "set": assigned("recurrence.schedule[0].daysOfWeek", DAYS),
    },
    weekdays_text,
)
DATE_DOORS = Doors(
    {
        "start-date": START_DATE,
        "except": field(DateOrException, unwrap=lambda span: str(span.first)),
        "date": field(Date, unwrap=str),
    },
    {
        "from-option": option(
            lambda text: str(recurrence_of("weekly", weekly="mon", **{"from": text}).first)
        ),
        "dates-option": option(lambda text: str(recurrence_of("dates", dates=text).dates[0][0])),
        "set-from": option(lambda text: str(read_flag("from", text, TODAY))),
        "set": assigned("recurrence.startDate", START_DATE),
        "argument": option(lambda text: CLOCK.date("DATE", text)),
        "skip": option(lambda text: date_selectors(CLOCK, "x", [text], None)[0].day),  # type: ignore[union-attr]
        "on": option(lambda text: occurrence_selector(CLOCK, "x", text, None, None).day),
        "to": option(lambda text: moved_to(CLOCK, text, None).day),
        "form": asked("from", lambda wanted: str(wanted.value("from")), when="mon"),
    },
)
RANGE_DOORS = Doors(
    {
        "except": field(DateOrException, unwrap=lambda span: tuple(map(str, span))),
        "dates": field(
            RecurrenceSpec,
            lambda text: {"type": "dates", "dates": [text], "schedule": [TIMES]},
            lambda value: tuple(map(str, value.dates[0])),
        ),
    },
    {
        "dates-option": option(lambda text: tuple(map(str, recurrence_of("dates", dates=text).dates[0]))),
        "skip": option(lambda text: span_of(date_selectors(CLOCK, "x", [text], None)[0])),
        "form": asked("when", lambda wanted: tuple(map(str, wanted.value("dates")[0]))),
    },
    lambda value: value[0] if value[0] == value[1] else "..".join(value),
)
ZONE_DOORS = Doors(
    {
        "site": field(
            SiteSpec, lambda text: {"clusters": [{"name": "a"}], "timeZone": text}, lambda v: v.time_zone
        ),
        "recurrence": ZONE,
    },
    {
        "set": assigned("recurrence.timeZone", ZONE),
        "set-zone": option(lambda text: read_flag("time-zone", text, TODAY)),
        "init": option(zone_at),
    },
)
WEEKS_DOORS = Doors(
    {
        "field": field(
            ScheduleEntry,
            lambda text: {"dayOfWeek": "mon", **TIMES, "weeks": text},
            lambda e: numbers(e.weeks),
        ),
        "list": field(
            ScheduleEntry,
            lambda text: {"dayOfWeek": "mon", "weeks": [text], **TIMES},
            lambda entry: numbers(entry.weeks),
        ),
    },
    {
        "option": option(
            lambda text: recurrence_of("weekly", weekly="mon", weeks=text).schedule[0].dates.weeks
        )
    },
    lambda weeks: ",".join(map(str, weeks)),
)
START_DOORS = Doors(
    {
        "field": START,
        "except": field(
            DateException, lambda text: {"date": "2027-01-12", "startTime": text}, lambda v: v.start_time
        ),
        "moved": field(
            MovedEntry,
            lambda text: {"date": "2027-01-12", "to": {"startTime": text}},
            lambda value: value.to.start_time,
        ),
    },
    {
        "argument": option(lambda text: start_time(selected_time("TIME", text))),
        "set": assigned("recurrence.schedule[0].startTime", START),
    },
    clock_text,
)
END_DOORS = Doors(
    {
        "field": END,
        "extra": field(
            ExtraEntry,
            lambda text: {"date": "2027-01-12", "startTime": "00:01", "endTime": text},
            lambda value: value.end_time,
        ),
    },
    {
        "end-option": option(lambda text: end_time(selected_time("--end", text, end_time))),
        "set": assigned("recurrence.schedule[0].endTime", END),
    },
    clock_text,
)
SPAN_DOORS = Doors(
    {},
    {
        "argument": option(lambda text: spans_of(request("weekly", (text,), weekly="mon"))),
        "answer": option(
            lambda text: spans_of(request("weekly", (), weekly="mon").with_answer("times", text))
        ),
        "named": option(lambda text: spans_of(request("weekly", (f"a={text}",), weekly="mon"))),
        "form": asked("times", spans_of, when="mon"),
    },
    lambda value: f"{clock_text(value[0][0])}-{clock_text(value[0][1])}",
)
COUNT_DOORS = Doors(
    {"field": COUNT},
    {
        "option": option(lambda text: reserved("weekly", weekly="mon", seats=text).seats[0][1]),
        "form": asked("seats", lambda wanted: wanted.value("seats")[""], when="mon"),
        "by-class": option(
            lambda text: reserved(
                "weekly", weekly="mon", **{"class": "small,big"}, seats=f"small={text},big=1"
            ).seats[0][1]
        ),
        "seats-of-edits": option(lambda text: parse_counts(text)[""]),
        "set": assigned("provisioning.placeholderCount", COUNT),
        "override": option(lambda text: override_target("small", text) or seat_count(text)),  # 0 is a target
    },
)
NAME_DOORS: dict[str, Door] = {
    "name": field(ScheduleEntry, lambda text: {"dayOfWeek": "mon", **TIMES, "name": text}, lambda e: e.name),
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
INSTANT_DOORS: dict[str, Door] = {
    "now": option(lambda text: CLOCK.instant("--now", text)),
    "at": option(lambda text: CLOCK.instant("--at", text)),
    "until": option(until),
}
DOORS = {
    "weekdays": WEEKDAY_DOORS,
    "dates": DATE_DOORS,
    "ranges": RANGE_DOORS,
    "zones": ZONE_DOORS,
    "spans": SPAN_DOORS,
    "starts": START_DOORS,
    "weeks": WEEKS_DOORS,
    "names": Doors({}, NAME_DOORS),
    "counts": COUNT_DOORS,
}


def as_lists(value: object) -> object:
    return [as_lists(one) for one in value] if isinstance(value, tuple) else str(value)


def is_refused(value: object) -> bool:
    return isinstance(value, str) and value[:1] == "B" and value[1:4].isdigit()


@pytest.mark.parametrize("notion", DOORS)
def test_a_text_means_the_same_in_every_input(notion: str) -> None:
    """A file takes `value`; `taken` is what all others take, too, or else `code` refuses it everywhere."""
    for case in CASES[notion]:
        for kind in DOORS[notion][:2]:
            expected = case.get("value", case.get("taken") if kind is DOORS[notion].commands else None)
            for name, door in kind.items():
                found = door(case["text"])
                if expected is None:
                    assert str(found).startswith(f"{case['code']} "), (name, case, found)
                    assert case["write"] in str(found), (name, case, found)
                else:
                    assert expected == as_lists(found), (name, case, found)


@pytest.mark.parametrize("case", CASES["words"], ids=lambda case: case["text"])
def test_words_are_dates_in_options_but_not_in_files_and_requests(case: Mapping[str, Any]) -> None:
    """A file and a request are read again later."""
    found = str(option(lambda text: day(text, TODAY))(case["text"]))
    if "code" in case:
        assert found.startswith(case["code"])
        assert case["write"] in found
    else:
        assert found == case["value"]
    for door in (*DATE_DOORS.files.values(), option(lambda text: day(text, TODAY, False))):
        assert str(door(case["text"])).startswith("B017 ")


# Near misses


def _agree(doors: Doors, text: str, but: tuple[str, ...] = ()) -> None:
    """Doors of a kind have the same value, or the same code; what commands take is a value of files.

    The value in the words of Berth is the same value again.
    """
    brief = []
    for kind in doors[:2]:
        found = {name: door(text) for name, door in kind.items() if name not in but}
        answers = {str(value).split()[0] if is_refused(value) else value for value in found.values()}
        assert len(answers) <= 1, found
        brief += [*answers] or [None]
    file, command = brief
    if is_refused(command):
        assert file in (command, None), (text, brief)
        return
    assert is_refused(file) or file in (command, None), (text, brief)
    words = doors.words(command)
    for name, door in {**doors.files, **doors.commands}.items():
        assert name in but or door(words) == command, (text, words, name)


def is_yaml(text: str) -> bool:
    """Whether YAML makes something else of the text than itself: `set` takes YAML."""
    try:
        value = parse_assignment(f"x={text}").value
        return bool(value != text and not (type(value) is int and str(value) == text))
    except CommandError:
        return True


def without_set(text: str) -> tuple[str, ...]:
    return ("set",) if is_yaml(text) else ()


names = st.sampled_from([*WEEKDAYS, *DAY_NAMES])
lists = st.builds(
    lambda one, between, other: f"{one}{between}{other}",
    names,
    st.sampled_from([",", "-", "..", " to ", " ", "/"]),
    names,
)
dates = st.dates(date(2000, 1, 1), date(2099, 12, 31)).map(str)
people_say = st.sampled_from(
    [
        "every Monday and Wednesday",
        "MWF",
        "TTh",
        "TuTh",
        "Mondays",
        "M-F",
        "Tues & Thurs",
        "weekdays",
        "M/W/F",
    ]
)


@settings(max_examples=300)
@given(near_misses(names | lists | people_say))
def test_near_misses_of_weekdays_mean_the_same_in_every_input(text: str) -> None:
    has_digit = any(character.isdigit() for character in text)
    but = ("answer", "form") if has_digit or text.lower() in ("", "daily") else ()  # dates, or no answer
    _agree(WEEKDAY_DOORS, text, (*but, *without_set(text)))


dates_in_words = st.builds(
    lambda one, form: one.strftime(form).replace(" 0", " "),
    st.dates(date(2000, 1, 1), date(2099, 12, 31)),
    st.sampled_from(
        ["%B %d, %Y", "%d %b %Y", "%a %d %B %Y", "%A, %B %d, %Y", "%d.%m.%Y", "%d/%m/%Y", "%Y%m%d"]
    ),
)


@settings(max_examples=400)
@given(near_misses(dates | dates_in_words))
@example("02/03/2027")
@example("Thursday, July 8")
@example("Thursday, July 6")
def test_near_misses_of_dates_mean_the_same_in_every_input(text: str) -> None:
    """Some doors take more than one date, or a time or a term; a file has no day to count from."""
    assume(text.strip())
    if not any(character.isdigit() for character in text) or day_of_list(text):
        return
    found = str(DATE_DOORS.commands["argument"](text))
    but = ("skip", "on", "to") if is_refused(found) else ()
    _agree(DATE_DOORS, text, (*but, "set") if is_yaml(text) or found[:4] not in text else but)


def day_of_list(text: str) -> bool:
    """Whether a text is several dates, or a date and a time, for those doors that take these."""
    try:
        return (
            len(taken(lambda: spans(text, TODAY))) > 1
            or spans(text, TODAY)[0].first != spans(text, TODAY)[0].last
        )
    except Refusal:
        return not is_refused(option(lambda one: date_selectors(CLOCK, "x", [one], None))(text))


@settings(max_examples=200)
@given(near_misses(st.builds(lambda a, b: f"{min(a, b)}..{max(a, b)}", dates, dates)))
def test_near_misses_of_ranges_mean_the_same_in_every_input(text: str) -> None:
    but = ("dates-option", "skip", "form") if set(text) & set(",; \t\u00a0&:") else ()
    if but:
        return
    _agree(RANGE_DOORS, text)


@settings(max_examples=200)
@given(
    near_misses(
        st.sampled_from([*known(), "Pacific Time", "PT", "US/Pacific", "Eastern Time", "PST", "CST", "GMT+2"])
    )
)
@example("EST")
def test_near_misses_of_zones_mean_the_same_in_every_input(text: str) -> None:
    """EST is a name in files, and asks elsewhere; US/Pacific is there the place that it is of."""
    assume(text)
    but = {*without_set(text)}
    if text in FIXED or text in known():
        found = {name: door(text) for name, door in ZONE_DOORS.commands.items() if name not in but}
        assert len({str(one).split()[0] for one in found.values()}) == 1
    else:
        _agree(ZONE_DOORS, text, (*but,))


times = st.times().map("{:%H:%M}".format)
times_in_words = st.builds(
    "{}{}{}".format,
    st.integers(1, 12),
    st.sampled_from(["", ":00", ":30", ".15", "h45"]),
    st.sampled_from(["", " am", "pm", "p", " a.m."]),
)


@settings(max_examples=200)
@given(near_misses(times | times_in_words | st.just("24:00")))
@example("24:00")
@example("5:00")
def test_near_misses_of_times_mean_the_same_in_every_input(text: str) -> None:
    assume(text.strip())
    _agree(START_DOORS, text, without_set(text))
    _agree(END_DOORS, text, without_set(text))


between = st.sampled_from(["-", " - ", " to ", "\u2013", " until "])


@settings(max_examples=200)
@given(near_misses(st.builds("{}{}{}".format, times | times_in_words, between, times | times_in_words)))
@example("09:00 - 13:00")
@example("09:00-09:00")
@example("5:00-6:15pm")
@example("9-5")
def test_near_misses_of_spans_mean_the_same_in_every_input(text: str) -> None:
    """An answer may list several spans, with names."""
    assume(text.strip() and "=" not in text and ":-" not in text)
    answers = SPAN_DOORS.commands["answer"](text)
    if is_refused(answers) or len(answers) == 1:  # type: ignore[arg-type] # a tuple of spans
        _agree(SPAN_DOORS, text)


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
def test_near_misses_of_weeks_mean_the_same_in_every_input(text: str) -> None:
    _agree(WEEKS_DOORS, text)


@settings(max_examples=100)
@given(
    near_misses(
        st.sampled_from(["now", "+2h", "-30m", "+7d", "tomorrow 09:00", "monday", "wed 2pm", "7 March 9:30"])
        | st.builds("{}{}{}".format, dates, st.sampled_from([" ", "T"]), times)
        | st.builds("{}T{}:00Z".format, dates, times)
    )
)
def test_near_misses_of_instants_mean_the_same_in_every_input(text: str) -> None:
    _agree(
        Doors({}, INSTANT_DOORS, instant_words),
        text,
    )


def instant_words(at: int) -> str:
    minute = at - at % 60
    assume(at == minute)
    return f"{date_text(minute // 86_400)}T{clock_text(minute % 86_400 // 60)}Z"


@settings(max_examples=100)
@given(near_misses(st.sampled_from(["small", "linear-algebra", "data100", "a-1-b", "r"])))
@example("Small")
def test_near_misses_of_names_mean_the_same_in_every_input(text: str) -> None:
    """Options that take several names split them at commas; blanks around one are not part of it."""
    assume(text)  # an empty name is none
    is_one = "," not in text and text == text.strip()
    _agree(Doors({}, NAME_DOORS), text, () if is_one else LISTS_OF_NAMES)


people = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "~", "about "]),
    st.sampled_from(["350", "40-50", "30 to 40", "100+", "1,200"]),
    st.sampled_from(["", " students", " people", " seats"]),
)


@settings(max_examples=200)
@given(near_misses(st.integers(1, 2_000_000).map(str) | people))
@example("0")
@example("-5")
@example("1,200")
@example("1.200")
@example("025")
@example("~60")
@example(" 0")
@example("0\t")
@example(" 25 ")
@example("\u00a025")
@example("GPU 4090")
def test_near_misses_of_counts_mean_the_same_in_every_input(text: str) -> None:
    """In a file, +25 is the number of YAML; elsewhere it may mean 25 more, and asks."""
    assume(text.strip() and "=" not in text and not text.strip().startswith("+"))
    count = COUNT_DOORS.commands["option"](text)
    but = ("override",) if isinstance(count, int) and count > MAX_TARGET else ()
    _agree(COUNT_DOORS, text, (*but, *without_set(text)))

"""The commands that edit a reservation, from `new` and `copy` to `end` and `delete`."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from berth.cli.command import CommandError, Settings, command, exit_code
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.selection import Clock, class_option, clock_of, name_argument
from berth.diff.wording import detail_lines, left_out_lines, policy_line, title_line
from berth.edit.create import (
    LABELS,
    PROMPTS,
    QUESTIONS,
    SCHEMA,
    Prompt,
    ReservationRequest,
    new_reservation,
    option_places,
    remove_file,
    reservation_yaml,
    write_file,
)
from berth.edit.edits import (
    EditResult,
    apply_assignment,
    check_edit,
    copy_reservation,
    delete_reservation,
    edit_occurrence,
    edit_reservation,
    parse_assignment,
)
from berth.edit.fieldpaths import FieldPath, full_path, text_of
from berth.edit.occurrences import (
    EXTENDED,
    MOVED,
    RESEATED,
    DateRange,
    DateSelector,
    NewTimes,
    OccurrenceEdit,
    OccurrenceSelector,
    add_occurrence,
    change_seats,
    extend_occurrence,
    move_occurrence,
    skip_dates,
    undo_change,
    undo_skip,
)
from berth.edit.roundtrip import EditError, MakeNode
from berth.edit.seats import Counts, parse_counts, set_seats
from berth.edit.seriesend import end_series
from berth.findings import Finding
from berth.notation.days import parts
from berth.notation.times import end_time, time_span
from berth.output.table import visible
from berth.pipeline import Pipeline
from berth.reading.source import is_input
from berth.schema.base import Model
from berth.schema.datechanges import DateException, ExtraEntry
from berth.schema.declared import Declared
from berth.schema.describe import json_schema_text
from berth.schema.holders import Unit
from berth.schema.report import Refusal, nearest
from berth.schema.validate import read_text
from berth.schema.values import Reservation

_TYPES = ("weekly", "daily", "once", "dates")
UNKNOWN_CLASS, TWICE = "B061", "B060"
Places = tuple[Mapping[str, str], str]
"""Which option or argument each field of a new document comes from, by path; and that of all other fields."""


@command(
    examples=(
        "berth new algebra 09:00-13:00 --weekly mon,wed --class small --seats 25 \\",
        "    --from 2026-02-02 --until 2026-05-15",
        "berth new lab 14:00-17:00 --weekly thu --weeks odd --class small --seats 25 \\",
        "    --from 2026-02-02 --until 2026-05-15",
        "berth new exam 14:00-17:00 --dates 2026-06-01 --class small --seats 80",
    ),
)
@click.argument("name", required=False)
@click.argument("times", nargs=-1)
@class_option("Its resource class, or several: small,gpu.")
@click.option("--seats", metavar="NUMBER", help="How many seats; by group or class: regular=120,late=8.")
@click.option("--students", metavar="NUMBER", help="Size it for so many people, as berth size does.")
@click.option("--weekly", metavar="DAYS", help="On these weekdays: mon,wed or mon-fri.")
@click.option("--interval", metavar="N", help="With --weekly: every n-th week.")
@click.option("--weeks", metavar="WEEKS", help="With --weekly: odd, even, or ISO week numbers: 6-8,10.")
@click.option("--monthly", metavar="N", help="With --weekly: once a month: 1 for the first, -1 for the last.")
@click.option("--daily", is_flag=True, help="On every day.")
@click.option("--once", is_flag=True, help="From the first date to the last, without a break.")
@click.option(
    "--dates", metavar="DATES", help="On these dates and ranges: 2026-06-01,2026-06-08..2026-06-12."
)
@click.option("--from", metavar="DATE", help="First date.")
@click.option("--until", metavar="DATE", help="Last date.")
@click.option("--within", metavar="TERMS", help="In these terms, instead of --from and --until.")
@click.option("--title", metavar="TEXT", help="Title for people; default: NAME.")
@click.option("--lead", metavar="MINUTES", help="Minutes before each start; default: 30.")
@click.option("--behavior", metavar="WORD", help="maintain, reduce, none or buffer; default: maintain.")
@click.option("--behaviour", "british", hidden=True)  # how version 0.1.0 spells it
@click.option(
    "--match-labels", metavar="LABELS", help="Count only sessions with these labels: course=algebra,term=s26."
)
@click.option("--owner", metavar="NAME", help="Who asks for it: a person, a course or an institute.")
@click.option("--contact", metavar="TEXT", help="With --owner: an e-mail address, or @user or @org/team.")
@click.option("--time-zone", metavar="ZONE", help="Time zone of its times; default: the site's.")
@click.option("--calendars", metavar="NAMES", help="Calendars whose dates are left out.")
@click.option("--file", metavar="FILE", help="File to write; default: reservations/NAME.yaml.")
def new(settings: Settings, name: str | None, times: tuple[str, ...], **options: str | bool | None) -> int:
    """Write a new reservation; ask for what is missing.

    TIMES are spans such as 09:00-13:00; groups have names: regular=09:00-11:00 extra-time=09:00-11:40. Give
    one of --weekly, --daily, --once and --dates. Questions are asked on a terminal only.
    """
    options["class"] = options.pop("resource_class")
    british = options.pop("british")
    options["behavior"] = options["behavior"] or british
    given = {
        option.replace("_", "-"): "" if value is True else str(value)
        for option, value in options.items()
        if value is not None and value is not False
    }
    types = [one for one in _TYPES if one in given]
    if len(types) > 1:
        raise CommandError(f"Give only one of {', '.join(f'--{one}' for one in _TYPES)}.")
    students, file = _students(given), given.pop("file", None)
    if "within" in given and ("from" in given or "until" in given):
        raise CommandError("Give --within, or --from and --until.")
    if "contact" in given and "owner" not in given:
        raise CommandError("--contact is how to reach the owner: give --owner, too.")
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    classes = sorted(pipeline.declared.classes)
    if len(classes) == 1:
        given.setdefault("class", classes[0])
    terms = sorted({term.name for one in pipeline.declared.calendars.values() for term in one.terms})
    request = ReservationRequest(
        name or "", types[0] if types else "", times, given, clock.today, tuple(terms)
    )
    try:
        result = _asked_until_valid(settings, pipeline, clock, request.checked(), students, file)
        places = option_places(request.type), "NAME"
        code = finish_edit(settings, pipeline, result, places=places)
    except EditError as error:
        raise CommandError.of(error) from error
    if code == EXIT_OK:
        keep_schema()
    return code


def _asked_until_valid(  # noqa: PLR0913, PLR0917 - what a reservation is made of
    settings: Settings,
    pipeline: Pipeline,
    clock: Clock,
    request: ReservationRequest,
    students: str,
    given_file: str | None,
) -> EditResult:
    """Ask for what is missing, and again for what turns out to be wrong; other answers are kept."""
    answered: set[str] = set()
    while True:
        if request.missing():
            answered |= {*request.missing()}
            request = _ask(request, pipeline.declared)
        file = _file(settings, given_file, request.name)
        final, sized = _sized(settings, pipeline, request, students)
        text = reservation_yaml(new_reservation(final), file.count("/") - 1, sized)
        if any(one.file == file and one.text != text.encode() for one in pipeline.sources):
            raise EditError(f"{settings.shown(file)}: the file exists; nothing was written")
        result = check_edit(pipeline, file, text, None, clock.now)
        findings = of_options(result.findings, file, (option_places(request.type), "NAME"))
        again = {QUESTIONS[one.file] for one in findings if one.file in QUESTIONS} & answered
        if not again:
            return result
        settings.report(findings)
        for question in again:
            request = request.without(question)


def _students(given: dict[str, str]) -> str:
    """Take --students out of what is given; empty if it is not. Until it is sized, everybody has a seat."""
    students = given.pop("students", "")
    if students and given.setdefault("seats", students) != students:
        raise CommandError("Give --seats or --students.")
    return students


def _sized(
    settings: Settings, pipeline: Pipeline, wanted: ReservationRequest, students: str
) -> tuple[ReservationRequest, str]:
    """Return the request as it is sized for so many people, and the comment that says so."""
    if not students:
        return wanted, ""
    from berth.cli.sizequestion import sized_request  # noqa: PLC0415 - it loads the planner

    return sized_request(settings, pipeline, wanted, students)


def _file(settings: Settings, given: str | None, name: str) -> str:
    """Return where to write: below reservations/, as YAML."""
    file = os.path.normpath(settings.given(given) if given else f"reservations/{name}.yaml")
    if not (file.startswith("reservations/") and is_input(file) and not file.endswith(".json")):
        raise EditError(f'--file "{given}": name a file such as reservations/{name}.yaml')
    return file


def _ask(wanted: ReservationRequest, known: Declared) -> ReservationRequest:
    """Ask for everything that is missing if stdin is a terminal; otherwise say what is missing."""
    missing = wanted.missing()
    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise EditError(f"missing: {', '.join(PROMPTS[one].flag for one in missing)}")
    while missing:
        question = PROMPTS[missing[0]]._replace(example=wanted.example(missing[0]))
        answer = _answer(question, sorted(known.classes) if missing[0] == "class" else ())
        if answer:
            wanted = _accepted(wanted, missing[0], answer, known)
        else:
            stderr("An answer is needed here; Ctrl-C ends without a file.\n")
        missing = wanted.missing()
    given = wanted.given
    classes = [known.classes.get(name) for name in wanted.value("class")]
    has_sessions = any(one is not None and one.sessions is not None for one in classes)
    counts = has_sessions and given.get("behavior") != "none"
    while counts and "match-labels" not in wanted.given:
        wanted = _accepted(wanted, "match-labels", _answer(LABELS), known)
    return wanted


def _answer(question: Prompt, names: Sequence[str] = ()) -> str:
    """Ask one question, with the names to choose from or else an example."""
    hint = f"one of {', '.join(names)}" if names else f"such as {question.example}"
    stderr(f"{question.text} ({hint}) ")
    answer = sys.stdin.readline()
    if not answer:
        raise EditError(f"missing: {question.flag}")
    return answer.strip()


def _check_classes(text: str, known: Declared) -> None:
    """Raise EditError for a name in a list that is of no class."""
    for name in (part.strip() for part in text.split(",")):
        if name not in known.classes:
            advice = nearest(name, sorted(known.classes))
            raise EditError(f'--class: no class is named "{name}". {advice}', UNKNOWN_CLASS)


def _accepted(wanted: ReservationRequest, question: str, answer: str, known: Declared) -> ReservationRequest:
    """Return the request with the answer, or as it was after saying why it is not accepted."""
    try:
        if question == "class":
            _check_classes(answer, known)
        if question == "name" and any(one.name == answer for one in known.reservations):
            raise EditError(f"NAME: there is a reservation {answer} already. Write another name", TWICE)
        return wanted.with_answer(question, answer)
    except EditError as error:
        code = f" [{error.code}]" if error.code else ""
        stderr(f"{CommandError.of(error).message}{code}\n")
        return wanted


@command(
    name="set",
    examples=(
        "berth set my-course provisioning.placeholderCount=30",
        "berth set my-course metadata.labels.term=spring suspend=true",
        "berth set my-course --seats 30",
        "berth set my-course --on 2026-03-09 --seats 120",
        "berth set my-course --on 2026-03-09 --undo",
    ),
)
@name_argument
@click.argument("assignments", metavar="[PATH=VALUE...]", nargs=-1)
@click.option("--seats", metavar="COUNT", help="How many seats, or whole nodes: NUMBER or CLASS=NUMBER,...")
@click.option("--on", metavar="DATE", help="Change the seats of this date only.")
@click.option("--start", metavar="TIME", help="Start of the occurrence, where the date has several.")
@click.option("--name", "entry", metavar="NAME", help="Its name, where several start together.")
@click.option("--undo", is_flag=True, help="With --on: give the date its usual seats again.")
def set_(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    name: str,
    assignments: tuple[str, ...],
    seats: str | None,
    on: str | None,
    start: str | None,
    entry: str | None,
    undo: bool,
) -> int:
    """Change fields of a reservation, or seats of one date.

    PATH is below spec, or begins with metadata or spec; the name of the field is enough where only one has
    it: startDate. VALUE is YAML; an empty one removes the field.
    """
    if undo and (on is None or seats is not None or assignments):
        raise CommandError("--undo takes --on DATE only.")
    if on is not None and (assignments or (seats is None and not undo)):
        raise CommandError("--on takes --seats only: a single date has no other fields.")
    if on is None and (start, entry) != (None, None):
        raise CommandError(f"{'--name' if start is None else '--start'} needs --on DATE.")
    if not assignments and seats is None and not undo:
        raise CommandError("Give PATH=VALUE or --seats.")
    try:
        parsed = [parse_assignment(one) for one in assignments]
        counts = None if seats is None else parse_counts(seats)
    except EditError as error:
        raise CommandError.of(error) from error
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    if on is not None:
        which = _which(clock, on, start, entry)
        how = undo_change(which, RESEATED) if counts is None else change_seats(which, counts)
        return _edit(settings, pipeline, lambda: edit_occurrence(pipeline, name, how, clock.now))

    def change(reservation: Reservation, tree: Any, make: MakeNode) -> None:
        _check_once([full_path(one.path, tree) for one in parsed], has_seats=counts is not None)
        if counts is not None:
            set_seats(reservation, counts, tree, make)
        for one in parsed:
            apply_assignment(tree, one, make)

    return _edit(settings, pipeline, lambda: edit_reservation(pipeline, name, change, clock.now))


def _check_once(paths: Sequence[FieldPath], *, has_seats: bool) -> None:
    """Raise EditError if two values are for one place: one of them would be lost."""
    for i, path in enumerate(paths):
        if has_seats and path[:2] == ("spec", "provisioning") and (len(path) == 2 or path[2] in _COUNTS):
            raise EditError(f"--seats and {text_of(path)} are one place. Give one of them")
        for other in paths[:i]:
            if path[: len(other)] == other or other[: len(path)] == path:
                both = text_of(path) if path == other else f"{text_of(other)} and {text_of(path)}"
                raise EditError(f"{both}: two values for one place. Give one of them")


_COUNTS = ("seats", *(one.field for one in Unit))


def _edits_occurrence(function: Callable[..., OccurrenceEdit]) -> Callable[..., int]:
    """Make a command of a function that returns an edit; DATE [TIME] and --name become `which`."""

    @wraps(function)
    def run(
        settings: Settings, *, name: str, date: str, start: str | None, entry: str | None, **rest: Any
    ) -> int:
        pipeline = Pipeline()
        clock = clock_of(settings, pipeline)
        how = function(clock, _which(clock, date, start, entry), **rest)
        return _edit(settings, pipeline, lambda: edit_occurrence(pipeline, name, how, clock.now))

    name = click.option("--name", "entry", metavar="NAME", help="Its name, where several start together.")
    time = click.argument("start", metavar="[TIME]", required=False)
    return click.argument("date")(time(name(run)))


_undo_option = click.option("--undo", is_flag=True, help="Take back what the command wrote for the date.")


@command(
    examples=(
        "berth skip my-course 2026-02-09 2026-02-16",
        "berth skip my-course 2026-02-15..2026-02-26 --title Excursion",
        "berth skip my-course 2026-02-09 14:00",
        "berth skip my-course 2026-02-09 --undo",
    )
)
@name_argument
@click.argument("dates", metavar="DATE [TIME]...", nargs=-1, required=True)
@click.option("--name", "entry", metavar="NAME", help="Its name, where several start together.")
@click.option("--title", metavar="TEXT", help="Why, shown where the dates are skipped.")
@click.option("--undo", is_flag=True, help="Let dates happen that were skipped.")
def skip(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    name: str,
    dates: tuple[str, ...],
    entry: str | None,
    title: str | None,
    undo: bool,
) -> int:
    """Leave out dates of a reservation.

    DATE may be a range: 2026-02-15..2026-02-26. TIME is the start of the occurrence, where a date has
    several.
    """
    if undo and title is not None:
        raise CommandError("Give --title or --undo.")
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    selectors = _selectors(clock, dates, entry)
    text = "" if title is None else _field("--title", DateException, "title", title)
    how = undo_skip(selectors) if undo else skip_dates(selectors, text)
    return _edit(settings, pipeline, lambda: edit_occurrence(pipeline, name, how, clock.now))


def _selectors(clock: Clock, words: Sequence[str], entry: str | None) -> list[DateSelector]:
    """Parse dates, ranges and ids of occurrences, each perhaps with a time after it, and --name."""
    try:
        listed = parts(" ".join(words))
    except Refusal as refusal:
        raise CommandError.at("DATE", refusal) from None
    found: list[tuple[str, str | None]] = []
    for word in listed:
        is_time = ":" in word and not _T.search(word)
        if not is_time:
            found.append((word, None))
        elif found and found[-1][1] is None:
            found[-1] = found[-1][0], word
        else:
            raise CommandError(f"DATE: {word} has no date before it. Write DATE TIME.")
    return [_selector(clock, date, start, entry) for date, start in found]


def _selector(clock: Clock, date: str, start: str | None, entry: str | None) -> DateSelector:
    if ".." not in date:
        return _which(clock, date, start, entry)
    first, last = clock.span("DATE", date)
    return DateRange(
        str(first), str(last), None if start is None else _time("TIME", start), _entry_name(entry)
    )


def _entry_name(entry: str | None) -> str | None:
    return None if entry is None else _field("--name", DateException, "name", entry)


def _field(option: str, model: type[Model], key: str, text: str) -> Any:
    """Return what the text of an option means, by the grammar of a field."""
    try:
        return read_text(model, key, text)
    except Refusal as refusal:
        raise CommandError.at(option, refusal) from None


@command(
    examples=(
        "berth move my-course 2026-05-08 --to 2026-05-15",
        'berth move my-course 2026-05-08 --to "2026-05-15 10:00-14:00" --seats 80',
        'berth move my-course 2026-05-08 --to "2026-05-15 17:00 to 2026-05-17 12:00"',
        "berth move my-course 2026-05-08 --undo",
    ),
)
@name_argument
@_edits_occurrence
@click.option(
    "--to", metavar="WHEN", help="Where it goes: DATE, TIME, DATE TIME-TIME or DATE TIME to DATE TIME."
)
@click.option("--seats", metavar="COUNT", help="How many seats it has then: NUMBER or CLASS=NUMBER,...")
@_undo_option
def move(
    clock: Clock, which: OccurrenceSelector, to: str | None, seats: str | None, undo: bool
) -> OccurrenceEdit:
    """Move one date of a reservation to another time.

    Without a new end it keeps its length. TIME is the start of the occurrence, where a date has several.
    --undo gives the date its usual time and seats again.
    """
    if undo and (to, seats) != (None, None):
        raise CommandError("Give --to or --undo.")
    return undo_change(which, MOVED) if undo else move_occurrence(which, _target(clock, to), _counts(seats))


def _counts(seats: str | None) -> Counts | None:
    try:
        return None if seats is None else parse_counts(seats)
    except EditError as error:
        raise CommandError.of(error) from error


_T = re.compile(r"(?<=\d)T")  # between a date and a time, not that of Tuesday
_TIME = r"[^\s-]*:[^\s-]*"
_END = rf"(?:-| +to +)(?:(?P<end_day>[^\s:]+)[ T]+)?(?P<end>{_TIME})"
_WHEN = re.compile(rf"(?P<day>[^\s:]+)?(?:(?:^|[ T]+)(?P<start>{_TIME})(?:{_END})?)?")


def _target(clock: Clock, text: str | None) -> NewTimes:
    match = _WHEN.fullmatch((text or "").strip())
    if match is None or not match[0]:
        raise CommandError(
            '--to is a date or a time: --to 2026-05-15, --to "2026-05-15 10:00-14:00", --to 10:00 or '
            '--to "2026-05-15 17:00 to 2026-05-17 12:00".'
        )
    day, start, end_day, end = match["day"], match["start"], match["end_day"], match["end"]
    if start == "24:00":
        raise CommandError("24:00 can end a window, not start one. Write 00:00 of the next day.")
    return NewTimes(
        day and clock.date("--to", day),
        start and _time("--to", start),
        end and _time("--to", end),
        end_day and clock.date("--to", end_day),
    )


@command(
    examples=(
        "berth extend my-course 2026-02-02 --until 14:00",
        'berth extend my-course 2026-02-02 --until "2026-02-03 01:00"',
        "berth extend my-course 2026-02-02 --undo",
    ),
)
@name_argument
@_edits_occurrence
@click.option("--until", metavar="WHEN", help="When it ends: TIME or DATE TIME.")
@_undo_option
def extend(clock: Clock, which: OccurrenceSelector, until: str | None, undo: bool) -> OccurrenceEdit:
    """Let one date of a reservation end later.

    The end stays on its day unless --until has a date. TIME is the start of the occurrence, where a date has
    several.
    """
    if undo == (until is not None):
        raise click.UsageError("Give --until or --undo.")
    if until is None:
        return undo_change(which, EXTENDED)
    words = _T.sub(" ", until).split()
    if len(words) not in (1, 2):
        raise CommandError('--until is a time, or a date and a time: --until "2026-02-03 01:00".')
    end_day = clock.date("--until", words[0]) if len(words) == 2 else None
    end = _time("--until", words[-1])
    return extend_occurrence(which, end, end_day)


@command(
    examples=(
        "berth add my-course 2026-05-20 14:00-16:00",
        "berth add my-exam 2026-06-22 09:00-11:40 --seats 8 --name extra-time",
    )
)
@name_argument
@click.argument("date")
@click.argument("times")
@click.option(
    "--seats", metavar="COUNT", help="How many seats: NUMBER or CLASS=NUMBER,...; default: as usual."
)
@click.option("--name", "entry", metavar="NAME", help="The name of its group, where several come together.")
def add(  # noqa: PLR0913 - one for each option
    settings: Settings, *, name: str, date: str, times: str, seats: str | None, entry: str | None
) -> int:
    """Add a date to a reservation, or a group to one of its dates.

    TIMES is a span such as 14:00-16:00. A group that starts with another one needs a name. berth skip removes
    the date again.
    """
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    try:
        span = time_span(times)
    except Refusal as refusal:
        raise CommandError.at("TIMES", refusal) from None
    label = "" if entry is None else _field("--name", ExtraEntry, "name", entry)
    how = add_occurrence(clock.date("DATE", date), span, _counts(seats), label)
    return _edit(
        settings,
        pipeline,
        lambda: edit_occurrence(pipeline, name, how, clock.now),
        ({f"spec.recurrence.extra{key}": place for key, place in _ADDED.items()}, ""),
    )


_ADDED = {
    "": "DATE",
    ".startTime": "TIMES",
    ".endTime": "TIMES",
    ".name": "--name",
    ".placeholderCount": "--seats",
    ".nodeCount": "--seats",
    ".seats": "--seats",
}


@command(examples=("berth end my-course 2026-04-30",))
@name_argument
@click.argument("date")
def end(settings: Settings, name: str, date: str) -> int:
    """End a reservation early.

    DATE is the last day on which it may happen. Later dates go, and with them what was changed about them.
    """
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    how = end_series(clock.date("DATE", date))
    return _edit(settings, pipeline, lambda: edit_occurrence(pipeline, name, how, clock.now))


@command(examples=("berth copy my-course my-course-fall --from 2026-09-07 --until 2026-12-18",))
@name_argument
@click.argument("new")
@click.option("--from", "first", metavar="DATE", required=True, help="First date.")
@click.option("--until", "last", metavar="DATE", required=True, help="Last date.")
def copy(settings: Settings, name: str, new: str, first: str, last: str) -> int:
    """Copy a reservation to the dates of another term.

    The copy is NEW.yaml beside the file of NAME. Single dates (except, moved, extra) are left out, unless
    they are in the new term.
    """
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    span = clock.date("--from", first), clock.date("--until", last)
    places = (
        {
            "metadata.name": "NEW",
            "spec.recurrence.startDate": "--from",
            "spec.recurrence.endDate": "--until",
            "spec.recurrence": "--until",
        },
        "NAME",
    )
    return _edit(settings, pipeline, lambda: copy_reservation(pipeline, name, new, *span, clock.now), places)


@command(examples=("berth delete my-course",))
@name_argument
def delete(settings: Settings, name: str) -> int:
    """Remove a reservation.

    Its document goes, or its file if nothing else is in it.
    """
    pipeline = Pipeline()
    return _edit(settings, pipeline, lambda: delete_reservation(pipeline, name))


def _which(clock: Clock, date: str, start: str | None, entry: str | None) -> OccurrenceSelector:
    """Parse DATE [TIME] as `berth occurrences` shows them, or the id of an occurrence, and --name."""
    place, entry = "DATE", _entry_name(entry)
    day, *rest = _T.split(date.rpartition("/")[2])
    if rest and start is None:
        time, _, name = rest[0].partition("~")
        return OccurrenceSelector(clock.date(place, day), _time(place, time), is_id=True, name=entry or name)
    day, separator, time = date.partition(" ")
    if separator and start is None:
        return OccurrenceSelector(clock.date(place, day), _time(place, time), name=entry)
    return OccurrenceSelector(
        clock.date(place, date), None if start is None else _time("TIME", start), name=entry
    )


def _time(place: str, text: str) -> str:
    try:
        end_time(text)
    except Refusal as refusal:
        raise CommandError.at(place, refusal) from None
    return text


def _edit(
    settings: Settings, pipeline: Pipeline, edit: Callable[[], EditResult], places: Places | None = None
) -> int:
    """Edit the file of a reservation, unless the project would have errors then."""
    try:
        return finish_edit(settings, pipeline, edit(), places=places)
    except EditError as error:
        raise CommandError.of(error) from error


def finish_edit(
    settings: Settings,
    pipeline: Pipeline,
    found: EditResult,
    say: Callable[[str], object] = stdout,
    places: Places | None = None,
) -> int:
    """Write the file and say what changed, or report why not.

    `places`: where the values of a document come from that is new; findings about one that is not written
    name these, because there is no such line.
    """
    shown = settings.shown(found.file)
    before = next((one.text for one in pipeline.sources if one.file == found.file), None)
    findings = [*found.findings, *found.warnings]
    if exit_code(findings, strict=settings.strict) != EXIT_OK:
        settings.report(of_options(findings, found.file, places) if places else findings)
        stderr(f"{shown} is not {'written' if before is None else 'changed'}.\n")
        return EXIT_BAD_INPUT
    settings.report(findings)
    if found.text is None:
        remove_file(found.file, before)
        shown += " is removed"
    elif before == found.text.encode():
        say(f"{shown} is unchanged: {found.note or 'it already says so'}.\n")
        return EXIT_OK
    else:
        write_file(found.file, found.text, before)
    lines = [title_line(found.change), *detail_lines(found.change)] if found.change else []
    lines += left_out_lines(found.left_out) if before is None else []
    lines += [policy_line(one) for one in found.policies]
    changes = "".join(f"{line.sign} {visible(line.text)}".rstrip() + "\n" for line in lines)
    say(f"{shown}:\n{changes}Next: berth render\n" if changes else f"Wrote {shown}. Next: berth render\n")
    if before is None and pipeline.has_errors():
        stderr(_WITH_ERRORS)
    return EXIT_OK


_WITH_ERRORS = """\
The project has errors, so the dates above may be wrong: holidays, terms or time zones may be missing. berth
validate lists the errors.
"""


def of_options(findings: Sequence[Finding], file: str, places: Places) -> list[Finding]:
    """Return findings about a document that is not written with the options that its values come from."""
    return [_of_option(one, places) if one.file == file else one for one in findings]


def _of_option(finding: Finding, places: Places) -> Finding:
    by_path, otherwise = places
    path = re.sub(r"\[\d+\]", "", finding.path)
    while path and path not in by_path:
        path = path.rpartition(".")[0]
    if path:
        return finding._replace(file=by_path[path], line=0, column=0, path="")
    return finding._replace(file=otherwise, line=0, column=0) if otherwise else finding


def keep_schema() -> None:
    """Write the JSON Schema, which new files name for editors, if it is not there yet."""
    file = f"reservations/{SCHEMA}"
    if not Path(file).exists():
        write_file(file, json_schema_text(), None)

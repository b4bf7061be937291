"""The commands that edit a reservation, from `new` and `copy` to `end` and `delete`."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from berth.cli.command import CommandError, Settings, ask, command, exit_code, raise_all, read_all
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, is_terminal, stderr, stdout
from berth.cli.selection import Clock, class_option, clock_of, name_argument
from berth.diff.wording import detail_lines, left_out_lines, policy_line, title_line
from berth.edit.create import (
    LABELS,
    PROMPTS,
    QUESTIONS,
    Prompt,
    ReservationRequest,
    new_reservation,
    option_places,
    remove_file,
    reservation_yaml,
    write_file,
)
from berth.edit.edits import (
    Assignment,
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
    DateSelector,
    NewTimes,
    OccurrenceEdit,
    OccurrenceRange,
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
from berth.edit.seatcounts import Counts, parse_counts, set_seats
from berth.edit.seriesend import end_series
from berth.findings import Finding
from berth.notation.days import parts
from berth.notation.times import TimeSpan, end_time, start_time, time_span
from berth.output.table import visible
from berth.pipeline import Pipeline
from berth.reading.source import SCHEMA, is_input
from berth.schema.basemodel import Model
from berth.schema.datechanges import DateException, ExtraEntry
from berth.schema.declared import Declared
from berth.schema.describe import json_schema_text
from berth.schema.documentproblems import Refusal, nearest
from berth.schema.seatholders import Unit
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
    file = given.pop("file", None)
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    _, students, request = read_all(
        lambda: _check_together(given),
        lambda: _students(given),
        lambda: _request(name or "", times, given, clock, pipeline.declared),
    )
    try:
        result = _asked_until_valid(settings, pipeline, clock, request, students, file)
        places = option_places(request.type), "NAME"
        code = finish_edit(settings, pipeline, result, places=places)
    except EditError as error:
        raise CommandError.of(error) from error
    if code == EXIT_OK:
        keep_schema()
    return code


def _check_together(given: Mapping[str, str]) -> None:
    """Raise CommandError for options of which only one can be given, or which need another one."""
    wrong = []
    if len([one for one in _TYPES if one in given]) > 1:
        wrong.append(f"Give only one of {', '.join(f'--{one}' for one in _TYPES)}.")
    if "within" in given and ("from" in given or "until" in given):
        wrong.append("Give --within, or --from and --until.")
    if "dates" in given and ("from" in given or "until" in given):
        wrong.append("Give --dates, or --from and --until.")
    if "contact" in given and "owner" not in given:
        wrong.append("--contact is how to reach the owner: give --owner, too.")
    raise_all(map(CommandError, wrong))


def _request(
    name: str, times: tuple[str, ...], given: dict[str, str], clock: Clock, known: Declared
) -> ReservationRequest:
    """Return what is asked for. Raise CommandError with all values that are wrong.

    A class that is unknown is a finding if it is all that is wrong.
    """
    if len(known.classes) == 1:
        given.setdefault("class", *known.classes)
    terms = sorted({term.name for calendar in known.calendars.values() for term in calendar.terms})
    kind = next((one for one in _TYPES if one in given), "")
    request = ReservationRequest(name, kind, times, given, clock.today, tuple(terms))
    try:
        return request.checked()
    except EditError as error:
        wrong = CommandError.of(error)
    if any(other.message.startswith("--class:") for other in wrong.each):
        raise wrong
    try:
        _check_classes(given.get("class", ""), known)
    except EditError as error:
        wrong = CommandError(wrong.message, wrong.code, (*wrong.more, CommandError.of(error)))
    raise wrong


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
    if not is_terminal(sys.stdin):
        raise EditError(f"missing: {', '.join(PROMPTS[key].flag for key in wanted.missing())}")
    while missing := wanted.missing():
        prompt = PROMPTS[missing[0]]._replace(example=wanted.example(missing[0]))
        wanted = _answered(wanted, missing[0], prompt, known)
    classes = [known.classes.get(name) for name in wanted.value("class")]
    has_sessions = any(declared is not None and declared.sessions is not None for declared in classes)
    if has_sessions and wanted.given.get("behavior") != "none" and "match-labels" not in wanted.given:
        wanted = _answered(wanted, "match-labels", LABELS, known)
    return wanted


def _answered(wanted: ReservationRequest, key: str, prompt: Prompt, known: Declared) -> ReservationRequest:
    """Return the request with the answer to a question, which has an example or names to choose from."""

    def accept(text: str) -> ReservationRequest:
        answer = text.strip()
        if not answer and key in PROMPTS:
            raise click.UsageError("An answer is needed here; Ctrl-C ends without a file.")
        try:
            if key == "class":
                _check_classes(answer, known)
            if key == "name" and any(reservation.name == answer for reservation in known.reservations):
                raise EditError(f"NAME: there is a reservation {answer} already. Write another name", TWICE)
            return wanted.with_answer(key, answer)
        except EditError as error:
            code = f" [{error.code}]" if error.code else ""
            raise click.UsageError(f"{CommandError.of(error).message}{code}") from error

    names = f"one of {', '.join(sorted(known.classes))}" if key == "class" and known.classes else ""
    return ask(f"{prompt.text} ({names or f'such as {prompt.example}'})", accept)


def _check_classes(text: str, known: Declared) -> None:
    """Raise EditError for a name in a list that is of no class."""
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name not in known.classes:
            advice = nearest(name, sorted(known.classes))
            raise EditError(f'--class: no class is named "{name}". {advice}', UNKNOWN_CLASS)


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
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    counts, which, *parsed = read_all(
        lambda: _counts(seats),
        lambda: None if on is None else _which(clock, name, on, start, entry, ("--on", "--start")),
        *(partial(_assignment, one) for one in assignments),
    )
    if which is not None:
        how = undo_change(which, RESEATED) if counts is None else change_seats(which, counts)
        return _edit(settings, pipeline, lambda: edit_occurrence(pipeline, name, how, clock.now))

    def change(reservation: Reservation, tree: Any, make: MakeNode) -> None:
        _check_once([full_path(one.path, tree) for one in parsed], has_seats=counts is not None)
        if counts is not None:
            set_seats(reservation, counts, tree, make)
        for one in parsed:
            apply_assignment(tree, one, make)

    return _edit(settings, pipeline, lambda: edit_reservation(pipeline, name, change, clock.now))


def _assignment(text: str) -> Assignment:
    try:
        return parse_assignment(text)
    except EditError as error:
        raise CommandError.of(error) from error


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


def _edits_occurrence(
    function: Callable[..., Callable[[OccurrenceSelector], OccurrenceEdit]],
) -> Callable[..., int]:
    """Make a command of a function that returns an edit of what DATE [TIME] and --name select."""

    @wraps(function)
    def run(
        settings: Settings, *, name: str, date: str, start: str | None, entry: str | None, **rest: Any
    ) -> int:
        pipeline = Pipeline()
        clock = clock_of(settings, pipeline)
        which, how = read_all(
            lambda: _which(clock, name, date, start, entry), lambda: function(clock, **rest)
        )
        return _edit(settings, pipeline, lambda: edit_occurrence(pipeline, name, how(which), clock.now))

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
    selectors, text = read_all(
        lambda: _selectors(clock, name, dates, entry),
        lambda: "" if title is None else _field("--title", DateException, "title", title),
    )
    how = undo_skip(selectors) if undo else skip_dates(selectors, text)
    return _edit(settings, pipeline, lambda: edit_occurrence(pipeline, name, how, clock.now))


def _selectors(clock: Clock, reservation: str, words: Sequence[str], entry: str | None) -> list[DateSelector]:
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
    return [*read_all(*(partial(_selector, clock, reservation, date, start, entry) for date, start in found))]


def _selector(
    clock: Clock, reservation: str, date: str, start: str | None, entry: str | None
) -> DateSelector:
    if ".." not in date:
        return _which(clock, reservation, date, start, entry)
    span, time, name = read_all(
        lambda: clock.span("DATE", date),
        lambda: None if start is None else selected_time("TIME", start),
        lambda: _entry_name(entry),
    )
    return OccurrenceRange(str(span[0]), str(span[1]), time, name)


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
    clock: Clock, to: str | None, seats: str | None, undo: bool
) -> Callable[[OccurrenceSelector], OccurrenceEdit]:
    """Move one date of a reservation to another time.

    Without a new end it keeps its length. TIME is the start of the occurrence, where a date has several.
    --undo gives the date its usual time and seats again.
    """
    if undo and (to, seats) != (None, None):
        raise CommandError("Give --to or --undo.")
    if undo:
        return lambda which: undo_change(which, MOVED)
    target, counts = read_all(lambda: _target(clock, to), lambda: _counts(seats))
    return lambda which: move_occurrence(which, target, counts)


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
    return NewTimes(
        *read_all(
            lambda: day and clock.date("--to", day),
            lambda: start and selected_time("--to", start),
            lambda: end and selected_time("--to", end, end_time),
            lambda: end_day and clock.date("--to", end_day),
        )
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
def extend(clock: Clock, until: str | None, undo: bool) -> Callable[[OccurrenceSelector], OccurrenceEdit]:
    """Let one date of a reservation end later.

    The end stays on its day unless --until has a date. TIME is the start of the occurrence, where a date has
    several.
    """
    if undo == (until is not None):
        raise click.UsageError("Give --until or --undo.")
    if until is None:
        return lambda which: undo_change(which, EXTENDED)
    words = _T.sub(" ", until).split()
    if len(words) not in (1, 2):
        raise CommandError('--until is a time, or a date and a time: --until "2026-02-03 01:00".')
    end_day, end = read_all(
        lambda: clock.date("--until", words[0]) if len(words) == 2 else None,
        lambda: selected_time("--until", words[-1], end_time),
    )
    return lambda which: extend_occurrence(which, end, end_day)


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
    day, span, counts, label = read_all(
        lambda: clock.date("DATE", date),
        lambda: _span(times),
        lambda: _counts(seats),
        lambda: "" if entry is None else _field("--name", ExtraEntry, "name", entry),
    )
    how = add_occurrence(day, span, counts, label)
    return _edit(
        settings,
        pipeline,
        lambda: edit_occurrence(pipeline, name, how, clock.now),
        ({f"spec.recurrence.extra{key}": place for key, place in _ADDED.items()}, ""),
    )


def _span(text: str) -> TimeSpan:
    try:
        return time_span(text)
    except Refusal as refusal:
        raise CommandError.at("TIMES", refusal) from None


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
    begin, finish = read_all(lambda: clock.date("--from", first), lambda: clock.date("--until", last))
    places = (
        {
            "metadata.name": "NEW",
            "spec.recurrence.startDate": "--from",
            "spec.recurrence.endDate": "--until",
            "spec.recurrence": "--until",
        },
        "NAME",
    )
    return _edit(
        settings, pipeline, lambda: copy_reservation(pipeline, name, new, begin, finish, clock.now), places
    )


@command(examples=("berth delete my-course",))
@name_argument
def delete(settings: Settings, name: str) -> int:
    """Remove a reservation.

    Its document goes, or its file if nothing else is in it.
    """
    pipeline = Pipeline()
    return _edit(settings, pipeline, lambda: delete_reservation(pipeline, name))


def _which(  # noqa: PLR0913, PLR0917 - what may select one
    clock: Clock,
    reservation: str,
    date: str,
    start: str | None,
    entry: str | None,
    places: tuple[str, str] = ("DATE", "TIME"),
) -> OccurrenceSelector:
    """Parse DATE [TIME] as `berth occurrences` shows them, or the id of an occurrence, and --name."""
    (of_date, place), is_id, of_id = places, False, ""
    if start is None:
        other, _, of_reservation = date.rpartition("/")
        day, *rest = _T.split(of_reservation)
        is_id = bool(rest)
        if rest and other not in ("", reservation):
            raise CommandError(f"{of_date}: {date} is an occurrence of {other}, not of {reservation}.")
        if rest:
            start, _, of_id = rest[0].partition("~")
        else:
            day, separator, time = date.partition(" ")
            start = time if separator else None
        date, place = day, of_date
    found, time_of_day, name = read_all(
        lambda: clock.date(of_date, date),
        lambda: None if start is None else selected_time(place, start),
        lambda: _entry_name(entry),
    )
    return OccurrenceSelector(found, time_of_day, is_id=is_id, name=name or of_id if is_id else name)


def selected_time(place: str, text: str, grammar: Callable[[str], int] = start_time) -> str:
    """Return the text of a time, the value of an option or argument, as it is written."""
    try:
        grammar(text)
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
    changes += "".join(f"  {loss}\n" for loss in found.losses)
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
    path = re.sub(r"\[[^]]*\]", "", finding.path)  # of an index, or of a name
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

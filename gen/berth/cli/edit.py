"""The commands that edit a reservation: `new`, `copy`, `set`, `skip`, `move`, `extend` and `delete`."""

import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from berth.cli.command import CommandError, Settings, command
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.selection import Clock, class_option, clock_of, name_argument
from berth.diff.wording import detail_lines, policy_line, title_line
from berth.edit.create import (
    LABELS,
    PROMPTS,
    SCHEMA,
    Prompt,
    ReservationRequest,
    new_reservation,
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
from berth.edit.occurrences import (
    NewTimes,
    OccurrenceEdit,
    OccurrenceSelector,
    change_seats,
    extend_occurrence,
    move_occurrence,
    skip_occurrence,
)
from berth.edit.roundtrip import EditError, MakeNode
from berth.edit.seats import parse_counts, set_seats
from berth.notation.times import end_time
from berth.pipeline import Pipeline
from berth.reading.source import is_input
from berth.schema.declared import Declared
from berth.schema.describe import json_schema_text
from berth.schema.report import Refusal, nearest
from berth.schema.values import Reservation

_TYPES = ("weekly", "daily", "once", "dates")


@command(
    examples=(
        "berth new algebra 09:00-13:00 --weekly mon,wed --class small --seats 25 \\",
        "    --from 2026-02-02 --until 2026-05-15",
        "berth new lab 14:00-17:00 --weekly thu --weeks odd --class small --seats 25 \\",
        "    --from 2026-02-02 --until 2026-05-15",
        "berth new exam 14:00-17:00 --dates 2026-06-01 --class small --seats 80",
    ),
)
@click.argument("name")
@click.argument("times", nargs=-1)
@class_option("Its resource class.")
@click.option("--seats", metavar="NUMBER", help="How many seats.")
@click.option("--students", metavar="NUMBER", help="Size it for so many people, as berth size does.")
@click.option("--weekly", metavar="DAYS", help="On these weekdays: mon,wed.")
@click.option("--interval", metavar="N", help="With --weekly: every n-th week.")
@click.option("--weeks", metavar="WORD", help="With --weekly: odd or even, by ISO week numbers.")
@click.option("--daily", is_flag=True, help="On every day.")
@click.option("--once", is_flag=True, help="From the first date to the last, without a break.")
@click.option("--dates", metavar="DATES", help="On these dates, separated by commas.")
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
def new(settings: Settings, name: str, times: tuple[str, ...], **options: str | bool | None) -> int:
    """Write a new reservation; ask for what is missing.

    TIMES are spans such as 09:00-13:00. Give one of --weekly, --daily, --once and --dates. Questions are
    asked on a terminal only.
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
    students = _students(given)
    if "within" in given and ("from" in given or "until" in given):
        raise CommandError("Give --within, or --from and --until.")
    if "contact" in given and "owner" not in given:
        raise CommandError("--contact is how to reach the owner: give --owner, too.")
    pipeline = Pipeline()
    classes = sorted(pipeline.declared.classes)
    if len(classes) == 1:
        given.setdefault("class", classes[0])
    try:
        wanted = ReservationRequest(name, types[0] if types else "", times, given)
        if wanted.missing():
            wanted = _ask(wanted, pipeline.declared)
        file = _file(settings, given.get("file"), name)
        wanted, sized = _sized(settings, pipeline, wanted, students)
        text = reservation_yaml(new_reservation(wanted), file.count("/") - 1, sized)
        if any(one.file == file and one.text != text.encode() for one in pipeline.sources):
            raise EditError(f"{settings.shown(file)}: the file exists; nothing was written")
        now = clock_of(settings, pipeline).now
        code = finish_edit(settings, pipeline, check_edit(pipeline, file, text, None, now))
    except EditError as error:
        raise CommandError(f"{error}.", error.code) from error
    if code == EXIT_OK:
        keep_schema()
    return code


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
        answer = _answer(PROMPTS[missing[0]], sorted(known.classes) if missing[0] == "class" else ())
        if answer:
            wanted = _accepted(wanted, missing[0], answer, known)
        missing = wanted.missing()
    given = wanted.given
    found = known.classes.get(given["class"])
    counts = found is not None and found.sessions is not None and given.get("behavior") != "none"
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


def _accepted(wanted: ReservationRequest, question: str, answer: str, known: Declared) -> ReservationRequest:
    """Return the request with the answer, or as it was after saying why it is not accepted."""
    try:
        if question == "class" and answer not in known.classes:
            raise EditError(f'No class is named "{answer}". {nearest(answer, sorted(known.classes))}')
        return wanted.with_answer(question, answer)
    except EditError as error:
        stderr(f"{str(error).rstrip('.')}.\n")
        return wanted


@command(
    name="set",
    examples=(
        "berth set my-course provisioning.placeholderCount=30",
        "berth set my-course metadata.labels.term=spring suspend=true",
        "berth set my-course --seats 30",
        "berth set my-course --on 2026-03-09 --seats 120",
    ),
)
@name_argument
@click.argument("assignments", metavar="[PATH=VALUE...]", nargs=-1)
@click.option("--seats", metavar="COUNT", help="How many seats, or whole nodes: NUMBER or CLASS=NUMBER,...")
@click.option("--on", metavar="DATE", help="Change the seats of this date only.")
@click.option("--start", metavar="TIME", help="Start of the occurrence, where the date has several.")
@click.option("--name", "entry", metavar="NAME", help="Its name, where several start together.")
def set_(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    name: str,
    assignments: tuple[str, ...],
    seats: str | None,
    on: str | None,
    start: str | None,
    entry: str | None,
) -> int:
    """Change fields of a reservation, or seats of one date.

    PATH is below spec, or begins with metadata or spec. VALUE is YAML; an empty one removes the field.
    """
    if on is not None and (assignments or seats is None):
        raise CommandError("--on takes --seats only: a single date has no other fields.")
    if on is None and (start, entry) != (None, None):
        raise CommandError(f"{'--name' if start is None else '--start'} needs --on DATE.")
    if not assignments and seats is None:
        raise CommandError("Give PATH=VALUE or --seats.")
    try:
        parsed = [parse_assignment(one) for one in assignments]
        counts = None if seats is None else parse_counts(seats)
    except EditError as error:
        raise CommandError(f"{error}.", error.code) from error
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    if on is not None and counts is not None:
        how = change_seats(_which(clock, on, start, entry), counts)
        return _edit(settings, pipeline, lambda: edit_occurrence(pipeline, name, how, clock.now))

    def change(reservation: Reservation, tree: Any, make: MakeNode) -> None:
        if counts is not None:
            set_seats(reservation, counts, tree, make)
        for one in parsed:
            apply_assignment(tree, one, make)

    return _edit(settings, pipeline, lambda: edit_reservation(pipeline, name, change, clock.now))


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


@command(examples=("berth skip my-course 2026-02-09", "berth skip my-course 2026-02-09 14:00"))
@name_argument
@_edits_occurrence
def skip(_: Clock, which: OccurrenceSelector) -> OccurrenceEdit:
    """Leave out one date of a reservation.

    TIME is the start of the occurrence, where a date has several.
    """
    return skip_occurrence(which)


@command(
    examples=(
        "berth move my-course 2026-05-08 --to 2026-05-15",
        'berth move my-course 2026-05-08 --to "2026-05-15 10:00-14:00"',
        'berth move my-course 2026-05-08 --to "2026-05-15 17:00 to 2026-05-17 12:00"',
    ),
)
@name_argument
@_edits_occurrence
@click.option(
    "--to", metavar="WHEN", help="Where it goes: DATE, TIME, DATE TIME-TIME or DATE TIME to DATE TIME."
)
def move(clock: Clock, which: OccurrenceSelector, to: str | None) -> OccurrenceEdit:
    """Move one date of a reservation to another time.

    Without a new end it keeps its length. TIME is the start of the occurrence, where a date has several.
    """
    return move_occurrence(which, _target(clock, to))


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
    ),
)
@name_argument
@_edits_occurrence
@click.option("--until", metavar="WHEN", required=True, help="When it ends: TIME or DATE TIME.")
def extend(clock: Clock, which: OccurrenceSelector, until: str) -> OccurrenceEdit:
    """Let one date of a reservation end later.

    The end stays on its day unless --until has a date. TIME is the start of the occurrence, where a date has
    several.
    """
    words = _T.sub(" ", until).split()
    if len(words) not in (1, 2):
        raise CommandError('--until is a time, or a date and a time: --until "2026-02-03 01:00".')
    end_day = clock.date("--until", words[0]) if len(words) == 2 else None
    end = _time("--until", words[-1])
    return extend_occurrence(which, end, end_day)


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
    return _edit(settings, pipeline, lambda: copy_reservation(pipeline, name, new, *span, clock.now))


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
    place = "DATE"
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


def _edit(settings: Settings, pipeline: Pipeline, edit: Callable[[], EditResult]) -> int:
    """Edit the file of a reservation, unless the project would have errors then."""
    try:
        return finish_edit(settings, pipeline, edit())
    except EditError as error:
        text = str(error)
        raise CommandError(text if text.endswith(("?", ".")) else f"{text}.", error.code) from error


def finish_edit(
    settings: Settings, pipeline: Pipeline, found: EditResult, say: Callable[[str], object] = stdout
) -> int:
    """Write the file and say what changed, or report why not."""
    shown = settings.shown(found.file)
    before = next((one.text for one in pipeline.sources if one.file == found.file), None)
    if settings.report([*found.findings, *found.warnings]) != EXIT_OK:
        stderr(f"{shown} is not {'written' if before is None else 'changed'}.\n")
        return EXIT_BAD_INPUT
    if found.text is None:
        remove_file(found.file, before)
        shown += " is removed"
    elif before == found.text.encode():
        say(f"{shown} is unchanged: {found.note or 'it already says so'}.\n")
        return EXIT_OK
    else:
        write_file(found.file, found.text, before)
    lines = [title_line(found.change), *detail_lines(found.change)] if found.change else []
    lines += [policy_line(one) for one in found.policies]
    changes = "".join(f"{line.sign} {line.text}".rstrip() + "\n" for line in lines)
    say(f"{shown}:\n{changes}Next: berth render\n" if changes else f"Wrote {shown}. Next: berth render\n")
    return EXIT_OK


def keep_schema() -> None:
    """Write the JSON Schema, which new files name for editors, if it is not there yet."""
    file = f"reservations/{SCHEMA}"
    if not Path(file).exists():
        write_file(file, json_schema_text(), None)

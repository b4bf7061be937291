"""The commands that edit a reservation: `berth new`, `set`, `skip`, `move` and `extend`."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from berth.cli.command import CommandError, Settings, command
from berth.cli.completion import complete_classes
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.selection import name_argument
from berth.dates.moments import named, read
from berth.diff.wording import detail_lines, title_line
from berth.edit.create import (
    PROMPTS,
    SCHEMA,
    ReservationRequest,
    new_reservation,
    reservation_yaml,
    write_file,
)
from berth.edit.edits import (
    EditResult,
    apply_assignment,
    check_edit,
    edit_occurrence,
    edit_reservation,
    parse_assignment,
)
from berth.edit.occurrences import (
    NewTimes,
    OccurrenceEdit,
    OccurrenceSelector,
    extend_occurrence,
    move_occurrence,
    skip_occurrence,
)
from berth.edit.roundtrip import EditError, MakeNode, TreeEdit
from berth.pipeline import Pipeline
from berth.reading.source import is_input
from berth.schema.describe import json_schema_text

_TYPES = ("weekly", "daily", "once", "dates")


@command(
    examples=(
        "berth new algebra 09:00-13:00 --weekly mon,wed --class small --seats 25 \\",
        "    --from 2026-02-02 --until 2026-05-15",
        "berth new exam 14:00-17:00 --dates 2026-06-01 --class small --seats 80",
    ),
)
@click.argument("name")
@click.argument("times", nargs=-1)
@click.option(
    "--class",
    "resource_class",
    metavar="NAME",
    help="Its resource class.",
    shell_complete=complete_classes,
)
@click.option("--seats", metavar="NUMBER", help="How many seats.")
@click.option("--weekly", metavar="DAYS", help="On these weekdays: mon,wed.")
@click.option("--daily", is_flag=True, help="On every day.")
@click.option("--once", is_flag=True, help="From the first date to the last, without a break.")
@click.option("--dates", metavar="DATES", help="On these dates, separated by commas.")
@click.option("--from", metavar="DATE", help="First date.")
@click.option("--until", metavar="DATE", help="Last date.")
@click.option("--title", metavar="TEXT", help="Title for people; default: NAME.")
@click.option("--lead", metavar="MINUTES", help="Minutes before each start; default: 30.")
@click.option("--behavior", metavar="WORD", help="maintain, reduce or none; default: maintain.")
@click.option("--behaviour", "british", hidden=True)  # how version 0.1.0 spells it
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
    pipeline = Pipeline()
    classes = sorted(pipeline.declared.classes)
    if len(classes) == 1:
        given.setdefault("class", classes[0])
    try:
        wanted = _complete(ReservationRequest(name, types[0] if types else "", times, given), classes)
        file = _file(settings, given.get("file"), name)
        text = reservation_yaml(new_reservation(wanted), file.count("/") - 1)
        if any(one.file == file and one.text != text.encode() for one in pipeline.sources):
            raise EditError(f"{settings.shown(file)}: the file exists; nothing was written")
        code = _finish(settings, pipeline, check_edit(pipeline, file, text, None))
    except EditError as error:
        raise CommandError(f"{error}.") from error
    if code == EXIT_OK:
        keep_schema()
    return code


def _file(settings: Settings, given: str | None, name: str) -> str:
    """Return where to write: below reservations/, as YAML."""
    file = os.path.normpath(settings.given(given) if given else f"reservations/{name}.yaml")
    if not (file.startswith("reservations/") and is_input(file) and not file.endswith(".json")):
        raise EditError(f'--file "{given}": name a file such as reservations/{name}.yaml')
    return file


def _complete(wanted: ReservationRequest, classes: list[str]) -> ReservationRequest:
    """Ask for everything that is missing if stdin is a terminal; otherwise say what is missing."""
    missing = wanted.missing()
    if missing and not (sys.stdin is not None and sys.stdin.isatty()):
        raise EditError(f"missing: {', '.join(PROMPTS[one].flag for one in missing)}")
    while missing:
        question = PROMPTS[missing[0]]
        hint = ", ".join(classes) if missing[0] == "class" else question.example
        stderr(f"{question.text} [{hint}] ")
        answer = sys.stdin.readline()
        if not answer:
            raise EditError(f"missing: {question.flag}")
        if answer.strip():
            wanted = wanted.with_answer(missing[0], answer.strip())
        missing = wanted.missing()
    return wanted


@command(
    name="set",
    examples=(
        "berth set my-course provisioning.placeholderCount=30",
        "berth set my-course metadata.labels.term=spring suspend=true",
    ),
)
@name_argument
@click.argument("assignments", metavar="PATH=VALUE...", nargs=-1, required=True)
def set_(settings: Settings, name: str, assignments: tuple[str, ...]) -> int:
    """Change fields of a reservation and keep its comments.

    PATH is below spec, or begins with metadata or spec. VALUE is YAML; an empty one removes the field.
    """
    try:
        parsed = [parse_assignment(one) for one in assignments]
    except EditError as error:
        raise CommandError(f"{error}.") from error

    def change(tree: Any, make: MakeNode) -> None:
        for one in parsed:
            apply_assignment(tree, one, make)

    return _edit(settings, name, change)


_date_argument = click.argument("date")
_time_argument = click.argument("start", metavar="[TIME]", required=False)


@command(examples=("berth skip my-course 2026-02-09", "berth skip my-course 2026-02-09 14:00"))
@name_argument
@_date_argument
@_time_argument
def skip(settings: Settings, name: str, date: str, start: str | None) -> int:
    """Leave out one date of a reservation.

    TIME is the start of the occurrence, where a date has several.
    """
    return _edit_occurrence(settings, name, skip_occurrence(_which(date, start)))


@command(
    examples=(
        "berth move my-course 2026-05-08 --to 2026-05-15",
        'berth move my-course 2026-05-08 --to "2026-05-15 10:00-14:00"',
        'berth move my-course 2026-05-08 --to "2026-05-15 17:00 to 2026-05-17 12:00"',
    ),
)
@name_argument
@_date_argument
@_time_argument
@click.option(
    "--to", metavar="WHEN", help="Where it goes: DATE, TIME, DATE TIME-TIME or DATE TIME to DATE TIME."
)
def move(settings: Settings, name: str, date: str, start: str | None, to: str | None) -> int:
    """Move one date of a reservation to another time.

    Without a new end it keeps its length. TIME is the start of the occurrence, where a date has several.
    """
    return _edit_occurrence(settings, name, move_occurrence(_which(date, start), _target(to)))


_TIME = r"[^\s-]*:[^\s-]*"
_END = rf"(?:-| +to +)(?:(?P<end_day>[^\s:]+)[ T]+)?(?P<end>{_TIME})"
_WHEN = re.compile(rf"(?P<day>[^\s:]+)?(?:(?:^|[ T]+)(?P<start>{_TIME})(?:{_END})?)?")


def _target(text: str | None) -> NewTimes:
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
        day and _day(day),
        start and _time(start),
        end and _time(end),
        end_day and _day(end_day),
    )


@command(
    examples=(
        "berth extend my-course 2026-02-02 --until 14:00",
        'berth extend my-course 2026-02-02 --until "2026-02-03 01:00"',
    ),
)
@name_argument
@_date_argument
@_time_argument
@click.option("--until", metavar="WHEN", required=True, help="When it ends: TIME or DATE TIME.")
def extend(settings: Settings, name: str, date: str, start: str | None, until: str) -> int:
    """Let one date of a reservation end later.

    The end stays on its day unless --until has a date. TIME is the start of the occurrence, where a date has
    several.
    """
    words = until.replace("T", " ").split()
    if len(words) not in (1, 2):
        raise CommandError('--until is a time, or a date and a time: --until "2026-02-03 01:00".')
    end, end_day = _time(words[-1]), _day(words[0]) if len(words) == 2 else None
    return _edit_occurrence(settings, name, extend_occurrence(_which(date, start), end, end_day))


def _which(date: str, start: str | None) -> OccurrenceSelector:
    """Parse DATE [TIME] as `berth occurrences` shows them, or <date>T<time> as in the id of an occurrence."""
    day, separator, time = date.rpartition("/")[2].partition("T")
    if separator and start is None:
        return OccurrenceSelector(_day(day), _time(time), is_id=True)
    day, separator, time = date.partition(" ")
    if separator and start is None:
        return OccurrenceSelector(_day(day), _time(time))
    return OccurrenceSelector(_day(date), None if start is None else _time(start))


def _day(text: str) -> str:
    if len(text) != 10 or read(text, named("UTC")) is None:
        raise CommandError(f'"{text}" is not a date. Write one such as 2026-02-02.')
    return text


def _time(text: str) -> str:
    if text != "24:00" and (len(text) != 5 or read(f"2026-01-01T{text}", named("UTC")) is None):
        raise CommandError(f'"{text}" is not a time. Write one such as 09:00.')
    return text


def _edit(settings: Settings, name: str, how: TreeEdit) -> int:
    """Edit the file of a reservation, unless the project would have errors then."""
    pipeline = Pipeline()
    try:
        return _finish(settings, pipeline, edit_reservation(pipeline, name, how))
    except EditError as error:
        raise CommandError(f"{error}.") from error


def _edit_occurrence(settings: Settings, name: str, how: OccurrenceEdit) -> int:
    """Edit one occurrence of a reservation, unless the project would have errors then."""
    pipeline = Pipeline()
    try:
        return _finish(settings, pipeline, edit_occurrence(pipeline, name, how))
    except EditError as error:
        raise CommandError(f"{error}.") from error


def _finish(settings: Settings, pipeline: Pipeline, found: EditResult) -> int:
    """Write the file and say what changed, or report why not."""
    shown = settings.shown(found.file)
    if found.findings:
        settings.report(found.findings)
        stderr(f"{shown} is not changed.\n")
        return EXIT_BAD_INPUT
    before = next((one.text for one in pipeline.sources if one.file == found.file), None)
    if before == found.text.encode():
        stdout(f"{shown} is unchanged: {found.note or 'it already says so'}.\n")
        return EXIT_OK
    write_file(found.file, found.text, before)
    lines = [title_line(found.change), *detail_lines(found.change)] if found.change else []
    changes = "".join(f"{line.sign} {line.text}".rstrip() + "\n" for line in lines)
    stdout(f"{shown}:\n{changes}Next: berth render\n" if changes else f"Wrote {shown}. Next: berth render\n")
    return EXIT_OK


def keep_schema() -> None:
    """Write the JSON Schema, which new files name for editors, if it is not there yet."""
    file = f"reservations/{SCHEMA}"
    if not Path(file).exists():
        write_file(file, json_schema_text(), None)

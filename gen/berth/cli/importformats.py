"""The commands that begin files: `berth new` with its questions, `berth import`, `berth schema`."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from berth.cli.command import FILE, Settings, ask, command
from berth.cli.console import EXIT_OK, is_terminal, stdout
from berth.cli.selection import Clock, class_option, opened, read_files
from berth.cli.writing import finish_edit, keep_schema, of_options
from berth.edit.create import QUESTIONS, ReservationRequest, new_reservation, option_places, reservation_yaml
from berth.edit.edits import EditResult, check_edit
from berth.edit.prompts import LABELS, PROMPTS, Prompt
from berth.notation.refusal import CommandError, raise_all, read_all
from berth.pipeline import Pipeline
from berth.reading.source import LIMIT, is_input
from berth.schema.declared import Declared
from berth.schema.describe import json_schema_text
from berth.schema.documentproblems import nearest

FEED_LIMIT = 16 * LIMIT  # bytes of a calendar: some tens of thousands of events
_TYPES: dict[str, None] = dict.fromkeys(("weekly", "daily", "once", "dates"))
_FLAGS = {  # which options go with a source
    "renku": "time_zone suspend",
    "renku-classes": "cluster namespace pools file_name",
    "z2jh": "cluster namespace release file_name",
    "csv": "feed",
    "ics": "resource_class seats calendar first last time_zone only skip group feed",
}


@command(
    "text markdown",
    examples=(
        "berth new algebra 09:00-13:00 --weekly mon,wed --class small --seats 25 \\",
        "    --from 2026-02-02 --until 2026-05-15",
        "berth new lab 14:00-17:00 --weekly thu --weeks odd --class small --seats 25 \\",
        "    --from 2026-02-02 --until 2026-05-15",
        "berth new exam 14:00-17:00 --dates 2026-06-01 --class small --seats 80",
        "berth new --from-request issue.md -o markdown",
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
@click.option(
    "--match-labels", metavar="LABELS", help="Count only sessions with these labels: course=algebra,term=s26."
)
@click.option("--owner", metavar="NAME", help="Who asks for it: a person, a course or an institute.")
@click.option("--contact", metavar="TEXT", help="With --owner: an e-mail address, or @user or @org/team.")
@click.option("--time-zone", metavar="ZONE", help="Time zone of its times; default: the site's.")
@click.option("--calendars", metavar="NAMES", help="Calendars whose dates are left out.")
@click.option("--file", metavar="FILE", help="File to write; default: reservations/NAME.yaml.")
@click.option(
    "--from-request",
    metavar="FILE",
    type=FILE,
    multiple=True,
    help="Print the reservation that the text of an issue form asks for; later FILEs are comments.",
)
@click.option("--write", is_flag=True, help="With --from-request: write the reservation.")
def new(settings: Settings, name: str | None, times: tuple[str, ...], **options: Any) -> int:
    """Write a new reservation; ask for what is missing.

    TIMES are spans such as 09:00-13:00; groups have names: regular=09:00-11:00 extra-time=09:00-11:40. Give
    one of --weekly, --daily, --once and --dates. Questions are asked on a terminal only.

    With --from-request, nothing is asked or written: it prints YAML, or what is wrong with the request, and
    with -o markdown the answer for the people who asked. With -, stdin is read.
    """
    requests: Sequence[str] = options.pop("from_request") or ()
    writes = bool(options.pop("write"))
    if requests:
        files = [word for word in (name or "", *times) if "." in word or os.sep in word]
        if files:
            repeated = " ".join(f"--from-request {file}" for file in (*requests, *files))
            raise click.UsageError(f"--from-request takes one FILE. Repeat it for each: {repeated}")
        if times or any(options.values()):
            raise click.UsageError("--from-request takes NAME, --write and -o only.")
        from berth.cli.requests import new_from_request  # noqa: PLC0415 - only requests need it

        return new_from_request(settings, name or "", requests, writes=writes)
    if writes or settings.form != "text":
        raise click.UsageError(f"{'--write' if writes else '-o'} needs --from-request.")
    options["class"] = options.pop("resource_class")
    given = {
        option.replace("_", "-"): "" if value is True else str(value)
        for option, value in options.items()
        if value is not None and value is not False
    }
    file = given.pop("file", None)
    pipeline, clock = opened(settings)
    students = given.pop("students", "")
    _, request = read_all(
        lambda: _check_together(given, students),
        lambda: _request(name or "", times, given, clock, pipeline.declared),
    )
    result = _asked_until_valid(settings, pipeline, clock, request, students, file)
    code = finish_edit(settings, pipeline, result, places=(option_places(request.type), "NAME"))
    if code == EXIT_OK:
        keep_schema()
    return code


def _check_together(given: dict[str, str], students: str) -> None:
    """Raise CommandError for options of which only one can be given, or which need another one.

    Until it is sized, everybody has a seat.
    """
    wrong = []
    if len(_TYPES.keys() & given.keys()) > 1:
        wrong.append(f"Give only one of {', '.join(f'--{kind}' for kind in _TYPES)}.")
    if "contact" in given and "owner" not in given:
        wrong.append("--contact is how to reach the owner: give --owner, too.")
    if students and given.setdefault("seats", students) != students:
        wrong.append("Give --seats or --students.")
    raise_all(map(CommandError, wrong))


def _request(
    name: str, times: tuple[str, ...], given: dict[str, str], clock: Clock, known: Declared
) -> ReservationRequest:
    """Return what is asked for. Raise CommandError with all values that are wrong.

    A class that is unknown is a finding if it is all that is wrong.
    """
    if len(known.classes) == 1:
        given.setdefault("class", *known.classes)
    kind = next((kind for kind in _TYPES if kind in given), "")
    request = ReservationRequest(name, kind, times, given, clock.today, tuple(sorted(known.terms)))
    try:
        return request.checked()
    except CommandError as error:
        if not any(problem.message.startswith("--class:") for problem in error.each):
            _check_classes(given.get("class", ""), known, error.each)
        raise


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
        final, sized = request, ""
        if students:
            from berth.cli.size import sized_request  # noqa: PLC0415 - it loads the estimate

            final, sized = sized_request(settings, pipeline, request, students)
        text = reservation_yaml(new_reservation(final), file.count("/") - 1, sized)
        if any(source.file == file and source.text != text.encode() for source in pipeline.sources):
            raise CommandError(f"{settings.shown(file)}: the file exists; nothing was written")
        result = check_edit(pipeline, file, text, None, clock.now)
        if result.change:
            request.check_zone(occurrence.start for occurrence in result.change.occurrences.added)
        findings = of_options(result.findings, file, (option_places(request.type), "NAME"))
        again = {QUESTIONS[finding.file] for finding in findings if finding.file in QUESTIONS} & answered
        if not again:
            return result
        settings.report(findings)
        for question in again:
            request = request.without(question)


def _file(settings: Settings, given: str | None, name: str) -> str:
    """Return where to write: below reservations/, as YAML."""
    file = os.path.normpath(settings.given(given) if given else f"reservations/{name}.yaml")
    if not (file.startswith("reservations/") and is_input(file) and not file.endswith(".json")):
        raise CommandError(f'--file "{given}": name a file such as reservations/{name}.yaml')
    return file


def _ask(wanted: ReservationRequest, known: Declared) -> ReservationRequest:
    """Ask for everything that is missing if stdin is a terminal; otherwise say what is missing."""
    if not is_terminal(sys.stdin):
        raise CommandError(f"missing: {', '.join(PROMPTS[key].flag for key in wanted.missing())}")
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
                raise CommandError(
                    f"NAME: there is a reservation {answer} already. Write another name", "B060"
                )
            return wanted.with_answer(key, answer)
        except CommandError as error:
            code = f" [{error.code}]" if error.code else ""
            raise click.UsageError(f"{error}{code}") from error

    names = f"one of {', '.join(sorted(known.classes))}" if key == "class" and known.classes else ""
    if key == "from" and known.terms:
        names = f"such as {prompt.example}; terms: {', '.join(known.terms_by_date())}"
    return ask(f"{prompt.text} ({names or f'such as {prompt.example}'})", accept)


def _check_classes(text: str, known: Declared, others: Sequence[CommandError] = ()) -> None:
    """Raise CommandError for a name in a list that is of no class, after the other errors."""
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name not in known.classes:
            advice = nearest(name, sorted(known.classes))
            raise_all([*others, CommandError(f'--class: no class is named "{name}". {advice}', "B061")])


@command(
    "text json yaml",
    name="import",
    examples=(
        "berth import ics courses.ics --class small --seats 25 --until 2026-07-31",
        "berth import ics labs.ics --class small --seats 25 --only 'title:Lab*'",
        "curl https://example.org/holidays.ics |",
        "    berth import ics - --feed holidays --calendar holidays",
        "berth import csv exams.csv",
        "berth import renku reservations.json --time-zone Europe/Zurich --suspend",
        "berth import z2jh values.yaml production.yaml --release hub",
        "berth import z2jh apps/hub/helmrelease.yaml",
        "berth import renku-classes resource-pools.json",
    ),
)
@click.argument("source", metavar="csv|ics|renku|renku-classes|z2jh", type=click.Choice(tuple(_FLAGS)))
@click.argument("files", metavar="FILE...", type=FILE, nargs=-1, required=True)
@class_option("ics: make reservations, of this class where an event names none.")
@click.option("--seats", metavar="NUMBER", help="ics: seats of events whose description has no `seats: 25`.")
@click.option("--calendar", metavar="NAME", help="ics: make a Calendar of all events, such as holidays.")
@click.option("--from", "first", metavar="DATE", help="ics: leave out earlier dates; default: today.")
@click.option("--until", "last", metavar="DATE", help="ics: leave out later dates; default: two years on.")
@click.option(
    "--only",
    metavar="PATTERN",
    multiple=True,
    help="ics: import only these events: 'title:Lab*', category:, description:, free or busy; repeatable.",
)
@click.option("--skip", metavar="PATTERN", multiple=True, help="ics: leave out such events; may be repeated.")
@click.option(
    "--group",
    metavar="WORD",
    help="ics: which events are one reservation: title, uid or none; default: single dates of one title.",
)
@click.option(
    "--feed",
    metavar="NAME",
    help="csv, ics: name by which the table or calendar is recognized; default: that of FILE.",
)
@click.option(
    "--time-zone", metavar="ZONE", help="renku: write its times in this zone. ics: zone of times without one."
)
@click.option("--suspend", is_flag=True, help="renku: write suspend: true; no seats are held while it stays.")
@click.option("--cluster", metavar="NAME", help="Of resource classes: their cluster; default: the only one.")
@click.option(
    "--namespace",
    metavar="NAME",
    help="Of resource classes: where sessions run; default: that of the Helm release, jupyterhub or renku.",
)
@click.option("--release", metavar="NAME", help="z2jh: name of the Helm release of the hub.")
@click.option(
    "--pool", "pools", metavar="NAME", multiple=True, help="renku-classes: only this resource pool."
)
@click.option("--file", "file_name", metavar="FILE", help="Of resource classes: file in reservations/.")
def import_(settings: Settings, source: str, files: tuple[str, ...], **options: Any) -> int:
    """Convert tables, calendars, Renku's exports, or hub profiles.

    csv: a table with the headings of the request form: course, class, seats, days or dates, times, first,
    last, zone, contact, label. Each row becomes a reservation. Run it again to update them.

    ics: an iCalendar file. With --class, events become reservations; with --calendar, all become a Calendar.
    Run it again to update them.

    renku: capacity reservations of Renku's API. Each becomes a file, once. renku-classes: its resource pools,
    from GET /api/data/resource_pools; each class becomes a resource class.

    z2jh: the profiles in the values of the Zero to JupyterHub chart; each becomes a resource class. FILE has
    values, or is a HelmRelease of Flux or an Application of Argo CD with them. Later files win, as in Helm.
    Run it again to update the sizes and places of the classes; their other keys are yours.

    With -, stdin is read.
    """
    for option in click.get_current_context().command.params:
        if options.get(option.name or "") and option.name not in _FLAGS[source].split():
            raise click.UsageError(f"{option.opts[-1]} does not go with {source}.")
    if source != "ics" and settings.form != "text":
        raise click.UsageError(f"-o does not go with {source}.")
    if len(files) > 1 and source not in ("renku", "z2jh"):
        raise click.UsageError(f"{source} takes one FILE.")
    sources, problems = read_files(settings, files, LIMIT if source != "ics" else FEED_LIMIT)
    pipeline = Pipeline()
    if problems:
        return settings.report(pipeline.located(problems))
    given = {name: options[name] for name in _FLAGS[source].split()}
    if source == "ics":
        from berth.cli.importevents import import_events  # noqa: PLC0415 - it loads icalendar

        return import_events(settings, pipeline, sources[0], given)
    if source == "csv":
        from berth.cli.importtable import import_table  # noqa: PLC0415 - as above

        return import_table(settings, pipeline, sources[0], given["feed"])
    from berth.cli.importhubs import import_classes, import_reservations  # noqa: PLC0415 - it loads models

    if source == "renku":
        return import_reservations(settings, pipeline, sources, given)
    return import_classes(settings, pipeline, source, sources, given)


@command(in_project=False, examples=("berth schema > reservations/berth.schema.json",))
def schema(settings: Settings) -> int:  # noqa: ARG001 - one signature for all
    """Print the JSON Schema of the declarations, for editors."""
    stdout(json_schema_text(), is_data=True)
    return EXIT_OK

"""`berth report`: what past dates needed, and what to change for the next ones."""

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from berth.cli.command import Settings, command, exit_code
from berth.cli.console import EXIT_OK, has_color, stderr
from berth.cli.reaching import ClusterChoice, cluster_options, read_record_file, records_option
from berth.cli.selection import (
    items_of,
    names_argument,
    opened,
    require,
    since_option,
    until_option,
)
from berth.core.record import OccurrenceRecord
from berth.cost.comingseats import USUAL, coming_seats
from berth.cost.pastdates import PastDate, past_dates
from berth.cost.proposals import Asked, opening_proposals, seat_proposals
from berth.dates.moments import local_day, named, near_text, span_text
from berth.dates.zone import Zone
from berth.edit.fieldpaths import text_of
from berth.findings import NOTE, Finding, Problem
from berth.machines.formatting import minutes
from berth.output.answers import document, instant_column
from berth.output.columns import Column, Table, as_json
from berth.output.escape import fenced, in_markdown
from berth.output.findinglist import as_json as findings_json
from berth.output.findinglist import live_line
from berth.output.table import Fit
from berth.pipeline import Pipeline
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Site
from berth.webcalendar.outcomes import CAUSES

_LISTED = ("once", "dates", "capacity")
_SUMMARY = ("reservation", "class", "dates", "promised", "most sessions", "late", "unused h")


@command(
    "text json yaml csv markdown",
    examples=(
        "berth report",
        "berth report my-course --from 2026-02-02",
        "kubectl -n berth get configmaps -l berth.dev/role=record -o json | \\",
        "    berth report --records -",
    ),
)
@names_argument
@since_option()
@until_option
@records_option
@cluster_options
def report(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    names: tuple[str, ...],
    since: str | None,
    until: str | None,
    records: str | None,
    choice: ClusterChoice,
) -> int:
    """Report on past windows; propose seats and leads for the next.

    With NAMEs, only these reservations, date by date. The records are read from the clusters, or from
    --records: ConfigMaps as kubectl prints them in JSON.
    """
    pipeline, clock = opened(settings, cluster=choice.cluster)
    first, end = clock.between(since, until)
    declared = {item.reservation.name: item.reservation for item in items_of(settings, pipeline)}
    site = pipeline.site
    if pipeline.has_errors() or site is None:
        return settings.report(pipeline.findings())
    if records is None:
        read, code = _of_clusters(settings, site, choice)
    else:
        read, code = read_record_file(settings, records), EXIT_OK
    known = past_dates(read, site.scaler.ready_minutes, clock.now)
    recorded = {date.reservation for date in known}
    require(pipeline, [name for name in names if name not in recorded])
    uncounted = {name for name, own in declared.items() if own.holder.unit is not Unit.SEAT}
    dates = [
        date._replace(unused=None) if date.reservation in uncounted else date
        for date in known
        if (first or 0) < date.end
        and date.open < (end or clock.now)
        and (not names or date.reservation in names)
    ]
    findings, commands = _proposals(dates, declared, pipeline, site, clock.now)
    columns = _columns(declared, site)
    settings.answer(
        lambda: document(
            "Report",
            {"items": as_json(columns, dates), "proposals": findings_json(findings), "commands": commands},
        ),
        lambda: _text(settings, _tables(dates, columns, names), findings, commands),
    )
    return code


def _of_clusters(
    settings: Settings, site: Site, choice: ClusterChoice
) -> tuple[Sequence[OccurrenceRecord], int]:
    """Return the records of clusters, and the exit code that their findings mean."""
    records, findings = choice.access(settings, site).records()
    for finding in findings:
        if finding.severity != NOTE or not records:
            stderr(f"{live_line(finding, color=has_color(sys.stderr))}\n")
    return records, exit_code(findings, strict=False)


def _proposals(
    dates: Sequence[PastDate], declared: Mapping[str, Reservation], pipeline: Pipeline, site: Site, now: int
) -> tuple[list[Finding], list[str]]:
    """Return what the dates propose, and the commands that write it."""
    problems: list[Problem] = []
    commands: list[str] = []
    for name, own in groupby(sorted(dates, key=attrgetter("reservation")), attrgetter("reservation")):
        if name in declared and not declared[name].suspend:
            proposed, line = _proposed(declared[name], [*own], pipeline, site.scaler.ready_minutes, now)
            problems += proposed
            commands += line
    return pipeline.located(problems), commands


def _proposed(
    reservation: Reservation, dates: Sequence[PastDate], pipeline: Pipeline, ready_minutes: int, now: int
) -> tuple[list[Problem], list[str]]:
    """Return what its dates propose, unless it ignores the rule, and the command that writes it, if any.

    Its classes share a lead: the longest that one of them needs.
    """
    leads, problems = [], []
    seats, own_seats = list[str](), list[str]()  # those of lines of the schedule apart
    is_listed = reservation.recurrence.type in _LISTED
    zone, calendars = named(reservation.recurrence.zone), pipeline.declared.calendars
    for place, (resource_class, count) in enumerate(reservation.seats):
        own = [date for date in dates if date.resource_class == resource_class]
        coming = coming_seats(reservation, place, zone, calendars, now)
        asked = Asked(count, reservation.lead, ready_minutes, is_listed, reservation.holder.unit)
        found = [
            (proposal, one.paths)
            for one in coming
            for proposal in seat_proposals(one.past(own), asked._replace(seats=one.number))
        ]
        most = asked._replace(seats=max(one.number for one in coming))
        found += [(proposal, coming[0].paths) for proposal in opening_proposals(own, most)]
        for proposal, paths in found:
            message = f"{reservation.name}, {resource_class}: {proposal.why}."
            path = (*USUAL, "leadTimeMinutes") if proposal.is_lead else paths[0]
            problem = reservation.problem(proposal.code, path, message, f"{proposal.advice}.")
            if pipeline.is_silenced(problem):
                continue
            problems.append(problem)
            if proposal.is_lead:
                leads.append(proposal.after)
            elif proposal.after != proposal.before:
                for path in paths:
                    is_usual = path[: len(USUAL)] == USUAL
                    written = seats if is_usual else own_seats
                    written.append(f"{resource_class if is_usual else text_of(path)}={proposal.after}")
    words = [*own_seats, *(["--seats", ",".join(seats)] if seats else [])]
    words += [f"lead={max(leads)}"] if leads else []
    line = [shlex.join(["berth", "set", reservation.name, *words])] if words else []
    return problems, line


def _tables(
    dates: Sequence[PastDate], columns: Sequence[Column[PastDate]], names: Sequence[str]
) -> Iterator[Table]:
    """Yield a line for each class and each rehearsal, or with names one for each date."""
    if not names:
        key = attrgetter("reservation", "resource_class")
        held = groupby(sorted((date for date in dates if not date.rehearses), key=key), key)
        yield Table(_SUMMARY, tuple(_summary([*own]) for _, own in held)).without_empty()
    table = Table.of(columns, [date for date in dates if names or date.rehearses]).without_empty()
    yield table.without("reservation") if len(names) == 1 else table


def _text(
    settings: Settings, tables: Iterable[Table], findings: Iterable[Finding], commands: Sequence[str]
) -> str:
    is_text = settings.form == "text"
    parts = [table.written(settings.form, Fit(settings.columns, ("note",))) for table in tables if table.rows]
    if not parts:
        return "No date is over that has a record.\n"
    lines = [f"{one.file}:{one.line}: {one.message} {one.fix} ({one.code})" for one in findings]
    lines = [settings.wrapped(line) if is_text else f"- {in_markdown(line)}" for line in lines]
    parts.append("".join(f"{line}\n" for line in lines or ["No proposals."]))
    if commands:
        script = "".join(f"{'    ' if is_text else ''}{line}\n" for line in commands)
        parts.append(script if is_text else fenced(script, "shell"))
    return "\n".join(parts)


def _summary(own: Sequence[PastDate]) -> tuple[str, ...]:
    """Return the cells of a class in the table of classes."""
    promised, peaks = [date.promised for date in own], [date.peak for date in own if date.peak is not None]
    unused = [date.unused for date in own if date.unused is not None]
    return (
        own[0].reservation,
        own[0].resource_class,
        str(len(own)),
        " to ".join(map(str, sorted({min(promised), max(promised)}))),
        str(max(peaks, default="?")),
        str(sum(1 for date in own if date.late or date.missing)),
        _hours(sum(unused)) if len(unused) == len(own) else "",
    )


def _hours(seconds: int) -> str:
    return f"{seconds / 3600:,.0f}"


def _columns(declared: Mapping[str, Reservation], site: Site) -> Sequence[Column[PastDate]]:
    """Return what is said of a date, or of a rehearsal."""

    def zone(date: PastDate) -> Zone:
        own = declared.get(date.reservation)
        return named(own.recurrence.zone if own else site.zone)

    def when(date: PastDate) -> str:
        return span_text(date.open if date.rehearses else date.start, date.end, zone(date))

    def ready(date: PastDate) -> str:
        if date.ready is None:
            return "never" if date.shortfalls else "?"
        return near_text(date.ready, zone(date), local_day(date.start, zone(date)))

    def hours(seconds: int) -> float:
        return round(seconds / 3600, 2)

    return (
        Column("reservation", "reservation", lambda date: date.reservation),
        Column("", "id", lambda date: date.id),
        Column("", "rehearses", lambda date: date.rehearses or None, is_optional=True),
        Column("date", "", when),
        Column("class", "class", lambda date: date.resource_class),
        instant_column("", "open", lambda date: date.open),
        instant_column("", "start", lambda date: date.start),
        instant_column("", "end", lambda date: date.end),
        Column("promised", "promised", lambda date: date.promised),
        instant_column("", "due", lambda date: date.due),
        instant_column("", "firstReadyAt", lambda date: date.first_ready),
        instant_column("", "readyAt", lambda date: date.ready),
        Column("ready", "", ready),
        Column("", "lateSeconds", lambda date: date.late),
        Column("most sessions", "sessionsPeak", lambda date: date.peak, none="?"),
        Column("unused h", "unusedSeatHours", lambda date: date.unused, _hours, hours),
        Column("", "missing", lambda date: date.missing),
        Column("", "causes", lambda date: [*date.shortfalls]),
        Column("", "faults", lambda date: [*date.faults]),
        Column("nodes", "nodes", lambda date: dict(date.nodes), lambda nodes: str(len(nodes) or "")),
        Column("note", "", lambda date: "; ".join(_notes(date))),
    )


def _notes(date: PastDate) -> Iterator[str]:
    if date.rehearses:
        yield f"rehearsal of {date.rehearses.partition('/')[2]}"
    if date.late:
        number = minutes(date.late)
        yield f"{number} minute{'' if number == 1 else 's'} late"
    if date.peak is not None and date.peak > date.promised:
        yield f"{date.peak - date.promised} more than seats"
    for cause, number in date.shortfalls.items():
        yield f"{number} missing: {CAUSES.get(cause, cause)}"
    yield from date.faults

"""`berth report`: what past windows were like, and what they propose for the next ones."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from berth.cli import reporttext
from berth.cli.command import FILE, CommandError, Settings, command, reason
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, has_color, stderr, stdout
from berth.cli.edit import finish_edit
from berth.cli.reaching import ClusterChoice, cluster_options
from berth.cli.reporttext import Report, ReservationProposal
from berth.cli.selection import (
    Clock,
    clock_of,
    names_argument,
    require_cluster,
    require_reservations,
)
from berth.core.record import OccurrenceRecord
from berth.cost.attendance import Attendance, attendances, summaries, within
from berth.cost.proposals import Proposal, asked, proposals
from berth.cost.results import Money, PoolKey
from berth.dates.moments import local_day
from berth.dates.zone import date_text
from berth.edit.edits import edit_reservation
from berth.edit.roundtrip import Comment, EditError, MakeNode
from berth.edit.seats import set_seats
from berth.findings import ERROR, NOTE, Problem, severity
from berth.live.records import ReadRecords, of_text
from berth.pipeline import Item, Pipeline
from berth.schema.holders import Unit
from berth.schema.values import Reservation, Site

_MARK = "Report of "  # how the comment begins


@command(
    "text",
    "json",
    "yaml",
    "csv",
    "markdown",
    "html",
    examples=(
        "berth report",
        "berth report my-course --from 2026-02-02",
        "berth report --write",
        "kubectl -n berth get configmaps -l berth.dev/role=record -o json | \\",
        "    berth report --records - -o html > report.html",
    ),
)
@names_argument
@click.option("--from", "since", metavar="INSTANT", help="Only what is later.")
@click.option("--until", metavar="INSTANT", help="Only what is earlier.")
@click.option("--records", metavar="FILE", type=FILE, help="Read records from this file, or - for stdin.")
@click.option("--write", is_flag=True, help="Write the proposals to the reservations.")
@cluster_options
def report(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    names: tuple[str, ...],
    since: str | None,
    until: str | None,
    records: str | None,
    write: bool,
    choice: ClusterChoice,
) -> int:
    """Report on past windows; propose seats and leads for the next.

    With NAMEs, only these reservations, date by date. The records are read from the clusters, or from
    --records: ConfigMaps as kubectl prints them in JSON.
    """
    pipeline = Pipeline()
    require_cluster(choice.cluster, pipeline)
    clock = clock_of(settings, pipeline)
    span = clock.instant("--from", since), clock.instant("--until", until)
    total = len(pipeline.declared.reservations)
    items = list(settings.progress(pipeline.items(all_loads=_has_clouds(pipeline)), total))
    site = pipeline.site
    if pipeline.has_errors() or site is None:
        return settings.report(pipeline.findings())
    if records is None:
        found, code = _of_clusters(settings, site, choice)
    else:
        found, code = _of_file(settings, records), EXIT_OK
    known = {item.reservation.name for item in items}
    recorded = {one.occurrence.partition("/")[0] for one in found.records}
    if any(name not in known | recorded for name in names):
        require_reservations([name for name in names if name not in recorded], pipeline)
    ours = [one for one in found.records if not names or one.occurrence.partition("/")[0] in names]
    dates = within(_attendances(ours, items, site), *span, clock.now)
    made = _report(dates, pipeline, items, site, clock)
    settings.answer(
        lambda: reporttext.as_answer(made),
        lambda: reporttext.text(made, settings.form, settings.columns, each_date=bool(names)),
    )
    return max(code, _write(settings, made, clock)) if write else code


def _has_clouds(pipeline: Pipeline) -> bool:
    return bool(pipeline.declared.clouds or pipeline.declared.generic)


def _of_clusters(settings: Settings, site: Site, choice: ClusterChoice) -> tuple[ReadRecords, int]:
    """Return the records of clusters, and the exit code that their findings mean."""
    from berth.cli.livefindings import finding_line  # noqa: PLC0415 - they load the client
    from berth.live.recordlists import read_clusters  # noqa: PLC0415

    clusters = choice.of(site)
    found, findings = read_clusters(choice.access(settings, clusters), site, clusters)
    for one in findings:
        if one.severity != NOTE or not found.records:
            stderr(f"{finding_line(one, color=has_color(sys.stderr))}\n")
    has_errors = any(one.severity == ERROR for one in findings)
    return found, EXIT_BAD_INPUT if has_errors else EXIT_OK


def _of_file(settings: Settings, file: str) -> ReadRecords:
    try:
        text = sys.stdin.read() if file == "-" else Path(settings.given(file)).read_text("utf-8")
    except (OSError, ValueError) as error:  # a name with a NUL, and what is not UTF-8, is a ValueError
        raise CommandError(f"--records {file}: {reason(error)}.") from error
    try:
        found = of_text(text)
    except ValueError as error:
        command = "kubectl get configmaps -l berth.dev/role=record -o json"
        raise CommandError(f"--records {file}: {error}. Write it with: {command}") from error
    for name in found.malformed:
        stderr(f"--records {file}: {name} has no records that can be read; its dates are left out.\n")
    if not found.records:
        stderr(f"--records {file}: there is no record in it.\n")
    return found


def _attendances(records: Sequence[OccurrenceRecord], items: Sequence[Item], site: Site) -> list[Attendance]:
    windows = {one.id: (one.open, one.start, one.end) for item in items for one in item.expansion.occurrences}
    nodes = [item.reservation.name for item in items if item.reservation.holder.unit is Unit.NODE]
    untimed = [one for one in records if one.window is None and one.occurrence not in windows]
    if untimed:
        stderr(f"{len(untimed)} dates are left out: an older release wrote them without their times.\n")
    return attendances(records, windows, site.ready_minutes, frozenset(nodes))


def _report(
    dates: Sequence[Attendance], pipeline: Pipeline, items: Sequence[Item], site: Site, clock: Clock
) -> Report:
    declared = {item.reservation.name: item.reservation for item in items}
    zones = {name: one.recurrence.zone for name, one in declared.items()}
    found = [
        (problem, reservation.name, summary.resource_class, one)
        for summary in summaries(dates)
        if (reservation := declared.get(summary.reservation)) and not reservation.suspend
        if (now := asked(reservation, summary.resource_class, site.ready_minutes))
        for one in proposals(summary, now)
        for problem in [_problem(reservation, summary.resource_class, one)]
        if not pipeline.is_silenced(problem)
    ]
    places = {(one.code, one.message): one for one in pipeline.located([one[0] for one in found], severity)}
    prices = _prices(pipeline, items, site, {(one.reservation, one.resource_class) for one in dates})
    placed = [
        ReservationProposal(name, resource_class, places[problem.code, problem.message], one)
        for problem, name, resource_class, one in found
    ]
    owners = {name: one.owner for name, one in declared.items() if one.owner}
    return Report(tuple(dates), tuple(placed), prices, zones, owners, site.zone, clock.now)


def _problem(reservation: Reservation, resource_class: str, one: Proposal) -> Problem:
    """Return a proposal as a problem of the file, which has a place."""
    at: tuple[str | int, ...] = ("spec", "provisioning")
    if one.is_lead:
        at = (*at, "leadTimeMinutes")
    elif reservation.seats_listed:
        index = [name for name, _ in reservation.seats].index(resource_class)
        at = (*at, "seats", index, "placeholderCount")
    else:
        at = (*at, "placeholderCount")
    file, index = reservation.origin[:2]
    message = f"{reservation.name}, {resource_class}: {one.why}."
    return Problem(one.code, file, index, () if reservation.renku else at, message, one.advice)


def _prices(
    pipeline: Pipeline, items: Sequence[Item], site: Site, pools: set[PoolKey]
) -> dict[PoolKey, Money]:
    """Return the price of a seat of the pools, where it is known."""
    names = {name for name, _ in pools}
    own = [item for item in items if item.reservation.name in names]
    if not own or not _has_clouds(pipeline):
        return {}
    from berth.cost.seatprices import seat_prices  # noqa: PLC0415 - it loads the planner

    by_cluster: dict[str, list[Any]] = {}
    for item in own:
        for cluster, loads in item.pool_loads():
            by_cluster.setdefault(cluster, []).extend(loads)
    return seat_prices(pipeline.declared, site, by_cluster)


def _write(settings: Settings, made: Report, clock: Clock) -> int:
    """Write the proposals, one reservation after the other; a file may have several."""
    code = EXIT_OK
    say = stdout if settings.form == "text" else stderr  # beside an answer that somebody saves
    by_name: dict[str, list[ReservationProposal]] = {}
    for one in made.proposals:
        if one.proposal.is_edit:
            by_name.setdefault(one.reservation, []).append(one)
    if not by_name:
        stderr("There is nothing to write.\n")
    for name, own in by_name.items():
        pipeline = Pipeline()
        try:
            edited = edit_reservation(pipeline, name, _edit(own), clock.now, _comment(own, clock))
            code = max(code, finish_edit(settings, pipeline, edited, say))
        except EditError as error:
            stderr(f"{error}.\n")
            code = EXIT_BAD_INPUT
    return code


def _edit(own: Sequence[ReservationProposal]) -> Any:
    """Return the edit of a reservation. Its classes share a lead: the longest that one of them needs."""
    seats = {one.resource_class: one.proposal.after for one in own if not one.proposal.is_lead}
    leads = [one.proposal.after for one in own if one.proposal.is_lead]

    def change(reservation: Reservation, tree: Any, make: MakeNode) -> None:
        if seats:
            set_seats(reservation, seats, tree, make)
        if leads:
            tree["spec"]["provisioning"]["leadTimeMinutes"] = max(leads)

    return change


def _comment(own: Sequence[ReservationProposal], clock: Clock) -> Comment:
    """Return the comment that says where the numbers come from."""
    day = date_text(local_day(clock.now, clock.zone))
    why = "; ".join(dict.fromkeys(one.proposal.why for one in own))
    return Comment("provisioning", _MARK, f"{_MARK}{day}: {why}.")

"""`berth report`: what past windows were like, and what they propose for the next ones."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from berth.cli import reporttext
from berth.cli.command import Settings, command, exit_code
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, has_color, stderr, stdout
from berth.cli.reaching import ClusterChoice, cluster_options
from berth.cli.recordfile import read_record_file, records_option
from berth.cli.reporttext import Report, ReservationProposal
from berth.cli.selection import (
    Clock,
    clock_of,
    items_of,
    names_argument,
    require_cluster,
    require_reservations,
)
from berth.cli.writing import finish_edit
from berth.core.record import OccurrenceRecord
from berth.cost.attendance import Attendance, ClassSummary, attendances, summaries, within
from berth.cost.proposals import Proposal, asked, proposals
from berth.cost.rehearsalresults import RehearsalResult, course_of, rehearsal_results
from berth.dates.moments import local_day
from berth.dates.zone import date_text
from berth.edit.edits import edit_reservation
from berth.edit.roundtrip import Comment, MakeNode
from berth.edit.seatcounts import set_seats
from berth.findings import NOTE, Problem
from berth.live.records import ReadRecords
from berth.machines.results import Money, PoolKey
from berth.notation.refusal import CommandError
from berth.output.findinglist import live_line
from berth.pipeline import Item, Pipeline
from berth.schema.reservation import Reservation
from berth.schema.values import Site

_MARK = "Report of "  # how the comment begins


@command(
    "text",
    "json",
    "yaml",
    "csv",
    "markdown",
    examples=(
        "berth report",
        "berth report my-course --from 2026-02-02",
        "berth report --write",
        "kubectl -n berth get configmaps -l berth.dev/role=record -o json | \\",
        "    berth report --records -",
    ),
)
@names_argument
@click.option("--from", "since", metavar="DATE", help="First date.")
@click.option("--until", metavar="DATE", help="Last date.")
@records_option
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
    span = clock.first("--from", since), clock.end("--until", until)
    items = list(items_of(settings, pipeline, all_loads=_has_clouds(pipeline)))
    site = pipeline.site
    if pipeline.has_errors() or site is None:
        return settings.report(pipeline.findings())
    if records is None:
        read, code = _of_clusters(settings, site, choice)
    else:
        read, code = read_record_file(settings, records), EXIT_OK
    known = {item.reservation.name for item in items}
    recorded = {course_of(record) for record in read.records}
    if any(name not in known | recorded for name in names):
        require_reservations([name for name in names if name not in recorded], pipeline)
    ours = [record for record in read.records if not names or course_of(record) in names]
    dates = within(_attendances(ours, items, site), *span, clock.now)
    rehearsals = [
        rehearsal
        for rehearsal in rehearsal_results(ours, site.ready_minutes, clock.now)
        if (span[0] or 0) < rehearsal.end and (span[1] is None or rehearsal.open < span[1])
    ]
    result = _report(dates, pipeline, items, site, rehearsals)
    settings.answer(
        lambda: reporttext.as_answer(result),
        lambda: reporttext.text(result, settings.form, settings.columns, each_date=bool(names)),
    )
    return max(code, _write(settings, result, clock)) if write else code


def _has_clouds(pipeline: Pipeline) -> bool:
    return bool(pipeline.declared.clouds or pipeline.declared.generic)


def _of_clusters(settings: Settings, site: Site, choice: ClusterChoice) -> tuple[ReadRecords, int]:
    """Return the records of clusters, and the exit code that their findings mean."""
    from berth.live.recordlists import read_clusters  # noqa: PLC0415 - it loads the client

    clusters = choice.of(site)
    read, findings = read_clusters(choice.access(settings, clusters), site, clusters)
    for finding in findings:
        if finding.severity != NOTE or not read.records:
            stderr(f"{live_line(finding, color=has_color(sys.stderr))}\n")
    return read, exit_code(findings, strict=False)


def _attendances(records: Sequence[OccurrenceRecord], items: Sequence[Item], site: Site) -> list[Attendance]:
    without_hours = {
        item.reservation.name for item in items if not item.reservation.holder.unit.has_seat_hours
    }
    return attendances(records, site.ready_minutes, without_hours)


def _report(
    dates: Sequence[Attendance],
    pipeline: Pipeline,
    items: Sequence[Item],
    site: Site,
    rehearsals: Sequence[RehearsalResult],
) -> Report:
    declared = {item.reservation.name: item.reservation for item in items}
    zones = {name: reservation.recurrence.zone for name, reservation in declared.items()}
    proposed = [
        (problem, reservation.name, summary.resource_class, proposal)
        for summary in _summaries(dates, rehearsals)
        if (reservation := declared.get(summary.reservation)) and not reservation.suspend
        if (now := asked(reservation, summary.resource_class, site.ready_minutes))
        for proposal in proposals(summary, now, _of_pool(rehearsals, summary))
        for problem in [_problem(reservation, summary.resource_class, proposal)]
        if not pipeline.is_silenced(problem)
    ]
    located = pipeline.located([problem for problem, *_ in proposed])
    places = {(finding.code, finding.message): finding for finding in located}
    pools = {(date.reservation, date.resource_class) for date in dates}
    pools |= {(rehearsal.reservation, rehearsal.resource_class) for rehearsal in rehearsals}
    prices = _prices(pipeline, items, site, pools)
    placed = [
        ReservationProposal(name, resource_class, places[problem.code, problem.message], proposal)
        for problem, name, resource_class, proposal in proposed
    ]
    owners = {name: reservation.owner for name, reservation in declared.items() if reservation.owner}
    units = {name: reservation.holder.unit for name, reservation in declared.items()}
    return Report(tuple(dates), tuple(placed), prices, zones, owners, units, site.zone, tuple(rehearsals))


def _summaries(dates: Sequence[Attendance], rehearsals: Sequence[RehearsalResult]) -> Iterator[ClassSummary]:
    """Yield the dates of each class, then each class that has rehearsals and no date yet."""
    class_summaries = summaries(dates)
    yield from class_summaries
    known = {(summary.reservation, summary.resource_class) for summary in class_summaries}
    for pool in sorted(
        {(rehearsal.reservation, rehearsal.resource_class) for rehearsal in rehearsals} - known
    ):
        yield ClassSummary(*pool, ())


def _of_pool(rehearsals: Sequence[RehearsalResult], summary: ClassSummary) -> list[RehearsalResult]:
    pool = summary.reservation, summary.resource_class
    return [
        rehearsal for rehearsal in rehearsals if (rehearsal.reservation, rehearsal.resource_class) == pool
    ]


def _problem(reservation: Reservation, resource_class: str, proposal: Proposal) -> Problem:
    """Return a proposal as a problem of the file, which has a place."""
    at: tuple[str | int, ...] = ("spec", "provisioning")
    if proposal.is_lead:
        at = (*at, "leadTimeMinutes")
    elif reservation.seats_listed:
        index = [name for name, _ in reservation.seats].index(resource_class)
        at = (*at, "seats", index, "placeholderCount")
    else:
        at = (*at, "placeholderCount")
    message = f"{reservation.name}, {resource_class}: {proposal.why}."
    return reservation.origin.problem(proposal.code, at, message, proposal.advice)


def _prices(
    pipeline: Pipeline, items: Sequence[Item], site: Site, pools: set[PoolKey]
) -> dict[PoolKey, Money]:
    """Return the price of a seat of the pools, where it is known."""
    names = {name for name, _ in pools}
    own = [item for item in items if item.reservation.name in names]
    if not own or not _has_clouds(pipeline):
        return {}
    from berth.machines.poolcosts import seat_prices  # noqa: PLC0415 - it loads the estimate

    by_cluster: dict[str, list[Any]] = {}
    for item in own:
        for cluster, loads in item.pool_loads():
            by_cluster.setdefault(cluster, []).extend(loads)
    return seat_prices(pipeline.declared, site, by_cluster)


def _write(settings: Settings, result: Report, clock: Clock) -> int:
    """Write the proposals, one reservation after the other; a file may have several."""
    code = EXIT_OK
    say = stdout if settings.form == "text" else stderr  # beside an answer that somebody saves
    by_name: dict[str, list[ReservationProposal]] = {}
    for placed in result.proposals:
        if placed.proposal.is_edit:
            by_name.setdefault(placed.reservation, []).append(placed)
    if not by_name:
        stderr("There is nothing to write.\n")
    for name, own in by_name.items():
        pipeline = Pipeline()
        try:
            edited = edit_reservation(pipeline, name, _edit(own), clock.now, _comment(own, clock))
            code = max(code, finish_edit(settings, pipeline, edited, say))
        except CommandError as error:
            stderr(f"{error}\n")
            code = EXIT_BAD_INPUT
    return code


def _edit(own: Sequence[ReservationProposal]) -> Any:
    """Return the edit of a reservation. Its classes share a lead: the longest that one of them needs."""
    seats = {placed.resource_class: placed.proposal.after for placed in own if not placed.proposal.is_lead}
    leads = [placed.proposal.after for placed in own if placed.proposal.is_lead]

    def change(reservation: Reservation, tree: Any, make: MakeNode) -> None:
        if seats:
            set_seats(reservation, seats, tree, make)
        if leads:
            tree["spec"]["provisioning"]["leadTimeMinutes"] = max(leads)

    return change


def _comment(own: Sequence[ReservationProposal], clock: Clock) -> Comment:
    """Return the comment that says where the numbers come from."""
    day = date_text(local_day(clock.now, clock.zone))
    why = "; ".join(dict.fromkeys(placed.proposal.why for placed in own))
    return Comment("provisioning", _MARK, f"{_MARK}{day}: {why}.")

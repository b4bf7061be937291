"""`berth plan`: the machines that the windows need, what of the reserved ones stays idle, and the cost."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from berth.charts.barchart import BarLayer, BarPanel, bar_chart
from berth.checks.ceilings import PoolLoad
from berth.cli import planreport
from berth.cli.command import Settings, command, reason
from berth.cli.console import has_color
from berth.cli.selection import (
    chart_option,
    class_option,
    clock_of,
    cluster_option,
    names_argument,
    require_class,
    require_cluster,
    require_reservations,
)
from berth.cost.clusterplans import NO_CLOUD, ClusterPlan, plan_clusters, unplanned_items
from berth.cost.costplan import CostPlan, OccurrenceSeats, PlanFilter, cost_plan
from berth.cost.formatting import money_or_unknown, percent
from berth.cost.ledger import CAPACITY_TYPES, TimeRange, month_splitter
from berth.cost.missingnodes import missing_lines
from berth.cost.planfindings import plan_problems
from berth.cost.results import Money
from berth.cost.timeseries import PlanSeries, plan_series
from berth.dates.moments import local_text, named
from berth.notation.refusal import CommandError
from berth.pipeline import Item, Pipeline
from berth.schema.values import Site


@command(
    "text",
    "wide",
    "json",
    "yaml",
    "markdown",
    examples=(
        "berth plan --from 2026-02-02 --until 2026-03-01",
        "berth plan my-course -o wide",
        "berth plan --chart plan.svg",
    ),
)
@names_argument
@click.option("--from", "since", metavar="INSTANT", help="Only what is later.")
@click.option("--until", metavar="INSTANT", help="Only what is earlier; a DATE is included.")
@class_option()
@cluster_option
@chart_option
def plan(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    names: tuple[str, ...],
    since: str | None,
    until: str | None,
    resource_class: str | None,
    cluster: str | None,
    chart: str | None,
) -> int:
    """Plan the machines that the windows need, and their cost.

    With NAMEs, only of these reservations. A class is planned if its cloudCapacity names a
    CloudCapacity, which says what nodes there may be.
    """
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    selection = PlanFilter(
        TimeRange(clock.instant("--from", since), clock.end("--until", until)),
        require_reservations(names, pipeline),
        require_class(resource_class, pipeline),
        require_cluster(cluster, pipeline),
    )
    pools: dict[str, list[PoolLoad]] = {}
    of_courses: dict[str, list[PoolLoad]] = {}
    dated: list[OccurrenceSeats] = []
    for item in settings.progress(pipeline.items(all_loads=True), len(pipeline.declared.reservations)):
        _take(item, pools, dated)
        for name, loads in item.course_loads():
            of_courses.setdefault(name, []).extend(loads)
    site = pipeline.site
    if pipeline.has_errors() or site is None:
        return settings.report(pipeline.findings())
    some = plan_clusters(pipeline.declared, site, pools)
    left, months = unplanned_items(pipeline.declared, selection.has), month_splitter(named(site.zone))
    whole = cost_plan(some, dated, left, PlanFilter(), months)
    pipeline.problems += plan_problems(some, whole.months, pipeline.declared, site, clock.now)
    code = settings.report(pipeline.findings())
    selected = whole if selection == PlanFilter() else cost_plan(some, dated, left, selection, months)
    if selected.rehearsals:
        usual = plan_clusters(pipeline.declared, site, of_courses)
        cost = cost_plan(usual, (), (), selection, months).total.bought
        total = selected.total.bought
        added = None if cost is None or total is None else total - cost
        selected = selected._replace(rehearsal_cost=added)
    if chart is not None:
        save_chart(settings, chart, _chart(selected, some, selection, site))
    classes = [item.subject for item in selected.unplanned if item.reason == NO_CLOUD]
    settings.answer(
        lambda: planreport.as_answer(selected, site),
        lambda: _text(selected, settings, site, missing_lines(pipeline.declared, site, classes)),
    )
    return code


def _take(item: Item, pools: dict[str, list[PoolLoad]], dated: list[OccurrenceSeats]) -> None:
    for cluster, loads in item.pool_loads():
        pools.setdefault(cluster, []).extend(loads)
    unit = item.reservation.holder.unit
    for part in () if item.reservation.suspend else item.parts:
        cluster = part.placed.cluster.name
        for occurrence in part.windows:
            dated += [OccurrenceSeats(row, cluster, row.seats, unit) for row in occurrence.openings()]


def _text(plan: CostPlan, settings: Settings, site: Site, missing: str) -> str:
    style = planreport.PlanStyle(settings.form, has_color(sys.stdout), settings.columns)
    return planreport.text(plan, site, style, missing)


def save_chart(settings: Settings, name: str, picture: str) -> None:
    """Write a chart to the file of `--chart`."""
    if not name.endswith(".svg"):
        raise CommandError(f"--chart {name}: charts are SVG. Name a file that ends in .svg.")
    try:
        Path(settings.given(name)).write_text(picture, "utf-8", newline="\n")
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise CommandError(f"--chart {name}: {reason(error)}.") from error


def _chart(plan: CostPlan, some: Sequence[ClusterPlan], asked: PlanFilter, site: Site) -> str:
    """Draw seats, machines and money over the term."""
    zone = named(site.zone)
    series = plan_series(some, asked, (plan.since, plan.until), zone)
    idle = "; idle ones are reserved" if any(series.idle) else ""
    panels = [
        BarPanel(
            f"Most seats open at once, each {series.unit}",
            (BarLayer("seats", tuple(map(float, series.seats))),),
        ),
        BarPanel(f"Most machines at once, each {series.unit}{idle}", _machines(series)),
        BarPanel(f"US dollars for machines by the hour, each {series.unit}", _layers(series.money)),
    ]
    first, last = (local_text(at, zone)[4:14] for at in (plan.since, plan.until))
    title = f"{site.name}: seats, machines and money"
    return bar_chart(title, f"{first} to {last}. {_sum(plan)}", panels, series.bins)


def _machines(series: PlanSeries) -> tuple[BarLayer, ...]:
    """Stack the reserved and idle machines upon the reserved and used ones."""
    reserved, *others = _layers(series.machines)
    return reserved, BarLayer("idle", tuple(map(float, series.idle))), *others


def _layers(rows: Sequence[Sequence[float]]) -> tuple[BarLayer, ...]:
    columns = zip(*rows, strict=True) if rows else ((),) * len(CAPACITY_TYPES)
    return tuple(
        BarLayer(name, tuple(map(float, values)))
        for name, values in zip(CAPACITY_TYPES, columns, strict=True)
    )


def _sum(plan: CostPlan) -> str:
    text = f"By the hour {money_or_unknown(plan.total.bought)} USD"
    if not plan.reserved:
        return text
    uses = [reserved.use for reserved in plan.reserved]
    idle = percent(sum(use.idle for use in uses), sum(use.paid for use in uses))
    paid = [use.money for use in uses]
    whole = [money for money in paid if money is not None]
    ahead = money_or_unknown(sum(whole, Money(0)) if len(whole) == len(paid) else None)
    return f"{text}; paid ahead {ahead} USD, {idle}% of it idle"

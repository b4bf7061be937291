"""`berth plan`: the machines that the windows need, what of the reserved ones stays idle, and the cost."""

import sys

import click

from berth.checks.ceilings import PoolLoad
from berth.cli import planreport
from berth.cli.command import Settings, command
from berth.cli.console import has_color
from berth.cli.selection import (
    class_option,
    clock_of,
    cluster_option,
    items_of,
    names_argument,
    require_class,
    require_cluster,
    require_reservations,
)
from berth.dates.moments import named
from berth.machines.clusterplans import NO_CLOUD, plan_clusters, unplanned_items
from berth.machines.costplan import (
    CostPlan,
    OccurrenceSeats,
    PlanFilter,
    TimeRange,
    cost_plan,
    month_splitter,
)
from berth.machines.missingnodes import missing_lines
from berth.machines.planfindings import plan_problems
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
    ),
)
@names_argument
@click.option("--from", "since", metavar="DATE", help="First date.")
@click.option("--until", metavar="DATE", help="Last date.")
@class_option()
@cluster_option
def plan(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    names: tuple[str, ...],
    since: str | None,
    until: str | None,
    resource_class: str | None,
    cluster: str | None,
) -> int:
    """Plan the machines that the windows need, and their cost.

    With NAMEs, only of these reservations. A class is planned if its cloudCapacity names a
    CloudCapacity, which says what nodes there may be.
    """
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    selection = PlanFilter(
        TimeRange(clock.first("--from", since), clock.end("--until", until)),
        require_reservations(names, pipeline),
        require_class(resource_class, pipeline),
        require_cluster(cluster, pipeline),
    )
    pools: dict[str, list[PoolLoad]] = {}
    dated: list[OccurrenceSeats] = []
    for item in items_of(settings, pipeline, all_loads=True):
        _take(item, pools, dated)
    site = pipeline.site
    if pipeline.has_errors() or site is None:
        return settings.report(pipeline.findings())
    some = plan_clusters(pipeline.declared, site, pools)
    left, months = unplanned_items(pipeline.declared, site, selection.has), month_splitter(named(site.zone))
    whole = cost_plan(some, dated, left, PlanFilter(), months)
    pipeline.problems += plan_problems(some, whole.months, pipeline.declared, site, clock.now)
    code = settings.report(pipeline.findings())
    selected = whole if selection == PlanFilter() else cost_plan(some, dated, left, selection, months)
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
        for occurrence in part.occurrences:
            dated += [OccurrenceSeats(row, cluster, row.seats, unit) for row in occurrence.openings()]


def _text(plan: CostPlan, settings: Settings, site: Site, missing: str) -> str:
    style = planreport.PlanStyle(settings.form, has_color(sys.stdout), settings.columns)
    return planreport.text(plan, site, style, missing)

"""`berth plan`: the machines that the windows need, what of the reserved ones stays idle, and the cost."""

from typing import Any

from berth.cli import planreport
from berth.cli.command import Settings, command
from berth.cli.selection import (
    class_option,
    clock_of,
    cluster_option,
    items_of,
    names_argument,
    selected,
    since_option,
    until_option,
)
from berth.dates.moments import named
from berth.machines.clusterplans import NO_CLOUD, plan_clusters, unplanned_items
from berth.machines.costplan import OccurrenceSeats, PlanFilter, TimeRange, cost_plan, month_splitter
from berth.machines.missingnodes import missing_lines
from berth.machines.planfindings import plan_problems
from berth.pipeline import Pipeline


@command(
    "text wide json yaml markdown",
    examples=("berth plan --from 2026-02-02 --until 2026-03-01", "berth plan my-course -o wide"),
)
@names_argument
@since_option()
@until_option
@class_option()
@cluster_option
def plan(settings: Settings, **options: Any) -> int:
    """Plan the machines that the windows need, and their cost.

    With NAMEs, only of these reservations. A class is planned if its cloudCapacity names a
    CloudCapacity, which says what nodes there may be.
    """
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    names, _, since, until, resource_class, cluster = selected(clock, pipeline, **options)
    selection = PlanFilter(TimeRange(since, until), names, resource_class, cluster)
    dated: list[OccurrenceSeats] = []
    for item in items_of(settings, pipeline, all_loads=True):
        unit = item.reservation.holder.unit
        dated += [
            OccurrenceSeats(row, part.placed.cluster.name, row.seats, unit)
            for part in (() if item.reservation.suspend else item.parts)
            for occurrence in part.occurrences
            for row in occurrence.openings()
        ]
    site = pipeline.site
    if pipeline.has_errors() or site is None:
        return settings.report(pipeline.findings())
    some = plan_clusters(pipeline.declared, site, pipeline.pools)
    left, months = unplanned_items(pipeline.declared, site, selection.has), month_splitter(named(site.zone))
    whole = cost_plan(some, dated, left, PlanFilter(), months)
    pipeline.problems += plan_problems(some, whole.months, pipeline.declared, site, clock.now)
    code = settings.report(pipeline.findings())
    shown = whole if selection == PlanFilter() else cost_plan(some, dated, left, selection, months)
    classes = [item.subject for item in shown.unplanned if item.reason == NO_CLOUD]
    settings.answer(
        lambda: planreport.as_answer(shown, site),
        lambda: planreport.text(shown, site, settings, missing_lines(pipeline.declared, site, classes)),
    )
    return code

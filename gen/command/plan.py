"""`berth plan`: the machines that the windows need, what of the reserved ones stays idle, and the money."""

import sys
import time

from gen.checks.ceilings import PoolLoad, pool_loads
from gen.command import planjson, plantext, selection
from gen.command.answer import coloured, tell
from gen.command.asked import Asked
from gen.command.drawn import save
from gen.command.planchart import picture
from gen.command.progress import watched
from gen.command.say import say
from gen.cost.clusterplans import plan_clusters, unplanned_items
from gen.cost.costplan import CostPlan, OccurrenceSeats, PlanFilter, cost_plan
from gen.cost.ledger import TimeRange, month_splitter
from gen.cost.planfindings import plan_problems
from gen.dates.moment import named
from gen.model import Site
from gen.pipeline import Item, Pipeline
from gen.placed import has_nodes


def run(asked: Asked) -> int:
    pipeline = Pipeline()
    wanted = PlanFilter(
        TimeRange(
            selection.instant("--from", asked, pipeline), selection.instant("--until", asked, pipeline)
        ),
        selection.reservations(asked, pipeline),
        selection.resource_class(asked, pipeline),
        selection.cluster(asked, pipeline),
    )
    now = selection.instant("--now", asked, pipeline)
    now = int(time.time()) if now is None else now
    pools: dict[str, list[PoolLoad]] = {}
    dated: list[OccurrenceSeats] = []
    items = pipeline.items(all_loads=True)
    for item in watched(items, len(pipeline.declared.reservations)):
        _take(item, pools, dated)
    site = pipeline.site
    if pipeline.has_errors() or site is None:
        return tell(pipeline.findings(), asked)
    some = plan_clusters(pipeline.declared, site, pools)
    left, months = unplanned_items(pipeline.declared), month_splitter(named(site.zone))
    whole = cost_plan(some, dated, left, PlanFilter(), months)
    pipeline.problems += plan_problems(some, whole.months, pipeline.declared, site, now)
    code = tell(pipeline.findings(), asked)
    made = whole if wanted == PlanFilter() else cost_plan(some, dated, left, wanted, months)
    chart = asked.value("--chart")
    if chart is not None:
        save(chart, picture(made, some, wanted, site.name, site.zone))
    say(_answer(made, asked, site))
    return code


def _take(item: Item, pools: dict[str, list[PoolLoad]], dated: list[OccurrenceSeats]) -> None:
    for part, loads in zip(item.parts, item.loads, strict=True):
        cluster = part.placed.cluster.name
        pools.setdefault(cluster, []).extend(pool_loads(item.reservation, loads))
        if item.reservation.suspend:
            continue
        here = {one.name for one in part.placed.classes}
        for found in part.occurrences:
            seats = tuple(pair for pair in found.seats if pair[0] in here)
            dated.append(OccurrenceSeats(found, cluster, seats, has_nodes(item.reservation)))


def _answer(made: CostPlan, asked: Asked, site: Site) -> str:
    if asked.form == "json":
        return planjson.as_json(made, site.budget)
    budget = "" if site.budget is None else f"{site.budget:,}"
    return plantext.text(made, plantext.Scene(site.zone, budget, asked.form, coloured(sys.stdout)))

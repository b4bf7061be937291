"""`berth plan`: the machines that the windows need, what of the reserved ones stays idle, and the cost."""

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from berth.cli.command import Settings, command
from berth.cli.console import has_color
from berth.cli.selection import (
    class_option,
    cluster_option,
    items_of,
    names_argument,
    opened,
    selected,
    since_option,
    until_option,
)
from berth.core.jsonvalues import instant_text
from berth.dates.moments import hours_text, local_day, local_text, named, span_text
from berth.dates.zone import date_text
from berth.machines.capacitycatalog import PRICE_TABLE
from berth.machines.clusterplans import NO_CLOUD, plan_clusters, unplanned_items
from berth.machines.costplan import (
    CAPACITY_TYPES,
    CostPlan,
    CostSum,
    MachinePeak,
    MonthPlan,
    OccurrencePlan,
    OccurrenceSeats,
    PlanFilter,
    ReservedPlan,
    TimeRange,
    cost_plan,
    month_splitter,
)
from berth.machines.formatting import (
    USAGE,
    machines_json,
    machines_text,
    minutes,
    money_json,
    money_or_unknown,
    money_text,
)
from berth.machines.missingnodes import missing_lines
from berth.machines.nodelabels import RESERVED
from berth.machines.overtime import Money
from berth.machines.planfindings import plan_problems
from berth.output.answers import Answer, count_columns, document, hours_json, instant_column, seats_text
from berth.output.columns import Column, Table, as_json, as_object
from berth.output.table import INDENT, Fit, wrapped
from berth.schema.seatholders import Unit
from berth.schema.values import Site

_CUT = ("seats", "which", "no machine")
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


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
    pipeline, clock = opened(settings)
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
        lambda: as_answer(shown, site),
        lambda: as_text(shown, site, settings, missing_lines(pipeline.declared, site, classes)),
    )
    return code


def as_text(plan: CostPlan, site: Site, settings: Settings, missing: str = "") -> str:
    """Return what the plan comes to, and tables of peaks, dates, reserved machines and money.

    `missing`: the lines that say what nodes there are, where no file does.
    """
    if not plan.peaks and not plan.reserved:
        if missing and settings.form == "markdown":
            missing = f"```text\n{missing}```\n"
        parts = ["No machines are planned.\n", _notes(plan, settings), missing]
        return "\n".join(part for part in parts if part)
    parts = [
        f"{wrapped(_headline(plan, site), settings.columns)}\n",
        _part("Cluster peaks", settings, Table.of(_peak_columns(site), plan.peaks)),
        _part("Dates", settings, _dates(plan.occurrences, wide=settings.form == "wide")),
        _part("Reserved machines", settings, Table.of(_RESERVED, plan.reserved)),
        _part("Reservations, USD", settings, _sums("reservation", plan.reservations)),
        _part("Classes, USD", settings, _sums("class", plan.classes)),
        _part("Months, USD", settings, _months(plan, site)),
        _notes(plan, settings),
    ]
    return "\n".join(part for part in parts if part)


def _headline(plan: CostPlan, site: Site) -> str:
    zone = named(site.zone)
    first, last = (date_text(local_day(at, zone)) for at in (plan.since, max(plan.until - 1, plan.since)))
    whole, reserved = hours_text(plan.total.all_seconds), hours_text(dict(plan.total.seconds)[RESERVED])
    return (
        f"This is an estimate by the rules of Karpenter, for {first} to {last}: {whole} machine-hours, "
        f"{reserved} of them on reserved machines. The others cost {money_or_unknown(plan.total.bought)} USD."
    )


def _part(heading: str, settings: Settings, table: Table) -> str:
    """Return a table without its empty columns; nothing if it has no rows."""
    if not table.rows:
        return ""
    if settings.form == "markdown":
        heading = f"#### {heading}\n"
    elif has_color(sys.stdout):
        heading = f"{_BOLD}{heading}{_PLAIN}"
    fit = Fit(settings.columns, _CUT)
    return f"{heading}\n{table.without_empty().written(settings.form, fit)}"


def _number(value: int) -> str:
    return str(value) if value else ""


_MACHINES: tuple[Column[Any], ...] = (
    Column("machines", "", lambda row: sum(count for _, count in row.machines)),
    Column("which", "machines", lambda row: row.machines, machines_text, machines_json),
)
"""The machines of a peak or of an occurrence."""


def _cost_json(total: CostSum) -> Answer:
    unpriced = {kind.capacity_type for kind in total.unpriced}
    by_kind = {kind: None if kind in unpriced else money_json(amount) for kind, amount in total.money}
    return {**by_kind, "sum": money_json(total.bought)}


def _hours_column(kind: str) -> Column[CostSum]:
    return Column(f"{kind} h", "", lambda total: dict(total.seconds)[kind] or None, hours_text)


_HOURS_AND_COST: tuple[Column[CostSum], ...] = (
    Column("", "machineHours", lambda total: {kind: hours_json(time) for kind, time in total.seconds}),
    Column("cost", "cost", lambda total: total, lambda total: money_or_unknown(total.bought), _cost_json),
)
_SUM: tuple[Column[CostSum], ...] = (
    *map(_hours_column, CAPACITY_TYPES),
    *_HOURS_AND_COST,
)


def _peak_columns(site: Site) -> Sequence[Column[MachinePeak]]:
    zone = named(site.zone)
    return (
        Column("cluster", "cluster", lambda peak: peak.cluster),
        Column("when", "at", lambda peak: peak.at, lambda instant: local_text(instant, zone), instant_text),
        Column(
            "seats",
            "",
            lambda peak: ", ".join(filter(None, (seats_text(peak.seats), seats_text(peak.nodes, Unit.NODE)))),
        ),
        Column("", "seats", lambda peak: dict(peak.seats)),
        Column("", "nodes", lambda peak: dict(peak.nodes) or None, is_optional=True),
        *_MACHINES,
        Column("idle reserved", "idle", lambda peak: peak.idle, _number),
        Column("no machine", "withoutMachine", lambda peak: peak.shortfalls, _number),
    )


_OCCURRENCE: tuple[Column[OccurrencePlan], ...] = (
    Column("reservation", "reservation", lambda plan: plan.dated.occurrence.reservation),
    Column("", "id", lambda plan: plan.dated.occurrence.id),
    Column("cluster", "cluster", lambda plan: plan.dated.cluster),
    instant_column("", "open", lambda plan: plan.dated.occurrence.open),
    instant_column("", "start", lambda plan: plan.dated.occurrence.start),
    instant_column("", "end", lambda plan: plan.dated.occurrence.end),
    *count_columns(lambda plan: (plan.dated.seats, plan.dated.unit)),
    *_MACHINES,
    Column("", "bought", lambda plan: plan.bought),
    Column("idle reserved", "idle", lambda plan: plan.idle, _number),
    Column(
        "no machine",
        "",
        lambda plan: seats_text([(name, one.count) for name, one in plan.shortfalls], plan.dated.unit),
    ),
    Column(
        "",
        "withoutMachine",
        lambda plan: [
            {"class": name, "count": one.count, "reason": one.kind, "message": one.message}
            for name, one in plan.shortfalls
        ],
    ),
    Column("machine h", "", lambda plan: plan.cost.all_seconds, hours_text),
    *(column.of(lambda plan: plan.cost) for column in _HOURS_AND_COST),
    Column("loops", "loops", lambda plan: plan.loops, _number),
    Column(
        "lead",
        "leadSeconds",
        lambda plan: plan.lead,
        lambda lead: f"{minutes(lead)} min" if lead else "",
    ),
)


def _dates(occurrences: Sequence[OccurrencePlan], *, wide: bool) -> Table:
    """Return one row for all dates that need the same; with `wide`, a row for each."""
    table = Table.of(_OCCURRENCE, occurrences)
    groups: dict[tuple[str, ...], list[OccurrencePlan]] = {}
    for number, (cells, occurrence) in enumerate(zip(table.rows, occurrences, strict=True)):
        groups.setdefault((*cells, str(number) if wide else ""), []).append(occurrence)
    rows = [(*cells[:2], _when(group), *cells[2:-1]) for cells, group in groups.items()]
    return _of_clusters(Table((*table.headings[:2], "dates", *table.headings[2:]), tuple(rows)))


def _when(group: Sequence[OccurrencePlan]) -> str:
    first, last = group[0].dated.occurrence, group[-1].dated.occurrence
    if len(group) == 1:
        return span_text(first.start, first.end, named(first.zone))
    days = [date_text(local_day(date.start, named(date.zone))) for date in (first, last)]
    return f"{len(group)} from {' to '.join(days)}"


def _of_clusters(table: Table) -> Table:
    """Return a table without its clusters where there is one."""
    return table if len(table.values("cluster")) > 1 else table.without("cluster")


_RESERVED: tuple[Column[ReservedPlan], ...] = (
    Column("reserved", "capacityReservation", lambda plan: plan.reserved.key),
    Column("", "cluster", lambda plan: plan.cluster),
    Column("", "cloudCapacities", lambda plan: list(plan.reserved.capacities)),
    Column(
        "machines",
        "",
        lambda plan: plan.reserved.reservation,
        lambda machines: f"{machines.count} {machines.instance_type}",
    ),
    Column("", "instanceType", lambda plan: plan.reserved.reservation.instance_type),
    Column("", "zone", lambda plan: plan.reserved.reservation.zone),
    Column("", "count", lambda plan: plan.reserved.reservation.count),
    instant_column("", "from", lambda plan: plan.since),
    instant_column("", "until", lambda plan: plan.until),
    *(column.of(lambda plan: plan.use) for column in USAGE),
)
_NamedSum = tuple[tuple[str, str], CostSum]


def _sum_columns(what: str) -> Sequence[Column[_NamedSum]]:
    return (
        Column(what, "name", lambda row: row[0][0]),
        Column("cluster", "cluster", lambda row: row[0][1]),
        *(column.of(lambda row: row[1]) for column in _SUM),
    )


def _sums(what: str, rows: Sequence[_NamedSum]) -> Table:
    return _of_clusters(Table.of(_sum_columns(what), rows))


def _month_columns(site: Site) -> Sequence[Column[MonthPlan]]:
    return (
        Column("month", "month", lambda month: month.month),
        Column("most machines", "machines", lambda month: month.peak, _number),
        *(column.of(lambda month: month.sum) for column in _SUM),
        Column("paid ahead", "", lambda month: _together([use.money for _, use in month.paid])),
        Column("idle USD", "", lambda month: _together([use.idle_money for _, use in month.paid])),
        Column(
            "",
            "reserved",
            lambda month: [{"capacityReservation": key, **as_object(USAGE, use)} for key, use in month.paid],
        ),
        Column("budget", "budget", lambda _: site.diff.budget, lambda budget: f"{budget:,}", str),
    )


def _months(plan: CostPlan, site: Site) -> Table:
    """Return a row for each month, and one for all of them if there are several."""
    columns = _month_columns(site)
    table = Table.of(columns, plan.months)
    if len(plan.months) < 2:
        return table
    (total,) = Table.of(columns, [MonthPlan("all", plan.total, 0, (), {})]).rows
    return Table(table.headings, (*table.rows, (*total[:-1], "")))


def _together(amounts: Sequence[Money | None]) -> str:
    known = [money for money in amounts if money is not None]
    if not amounts:
        return ""
    return money_text(sum(known, Money(0))) if len(known) == len(amounts) else money_or_unknown(None)


def _notes(plan: CostPlan, settings: Settings) -> str:
    lacks = dict.fromkeys(
        f"No machine for {name} of {one.dated.occurrence.reservation}: {shortfall.message}."
        for one in plan.occurrences
        for name, shortfall in one.shortfalls
    )
    lines = [*lacks]
    if plan.from_table:
        lines.append(f"Prices in US dollars: from the files, else from {PRICE_TABLE}.")
    if plan.unpriced:
        lines.append(f"No total, because prices are missing: {', '.join(plan.unpriced)}.")
    for name, kind in plan.unknown:
        lines.append(f"Left out: {kind} of {name}; declare its cpu and memory in instanceTypes.")
    for name, zones in plan.assumed:
        assumed = f"assuming {', '.join(zones)}" if zones else "none is known"
        lines.append(f"{name} does not name its zones: {assumed}; declare them in requirements.")
    for reason, items in groupby(plan.unplanned, key=lambda item: item.reason):
        lines.append(f"Not planned: {', '.join(item.subject for item in items)} ({reason}).")
    if settings.form == "markdown":
        return "".join(f"- {line}\n" for line in lines)
    return "".join(f"{wrapped(line, settings.columns, INDENT)}\n" for line in lines)


def as_answer(plan: CostPlan, site: Site) -> Answer:
    """Return the answer of kind Plan."""
    return document(
        "Plan",
        {
            "estimate": True,
            "from": instant_text(plan.since),
            "until": instant_text(plan.until),
            "currency": "USD",
            "prices": {"table": PRICE_TABLE if plan.from_table else None, "missing": list(plan.unpriced)},
            "peaks": as_json(_peak_columns(site), plan.peaks),
            "occurrences": as_json(_OCCURRENCE, plan.occurrences),
            "reserved": as_json(_RESERVED, plan.reserved),
            "reservations": as_json(_sum_columns("reservation"), plan.reservations),
            "classes": as_json(_sum_columns("class"), plan.classes),
            "months": as_json(_month_columns(site), plan.months),
            "total": as_object(_SUM, plan.total),
            "notPlanned": [{"name": item.subject, "reason": item.reason} for item in plan.unplanned],
            "leftOut": [{"cloudCapacity": name, "instanceType": kind} for name, kind in plan.unknown],
            "zonesAssumed": [{"cloudCapacity": name, "zones": list(zones)} for name, zones in plan.assumed],
        },
    )

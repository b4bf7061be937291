"""The layout of a plan: tables for a terminal or as Markdown, and the answer for programs."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from berth.core.jsonvalues import instant_text
from berth.cost.capacitycatalog import PRICE_TABLE
from berth.cost.clusterplans import HOW_TO_DECLARE, NO_CLOUD
from berth.cost.costplan import CostPlan, MachinePeak, MonthPlan, OccurrencePlan, ReservedPlan
from berth.cost.formatting import (
    band_text,
    machines_json,
    machines_text,
    minutes,
    money_json,
    money_or_unknown,
    money_text,
    percent,
    use_json,
)
from berth.cost.ledger import CAPACITY_TYPES, CostSum
from berth.cost.results import Money
from berth.dates.moments import hours_text, local_day, local_text, named, span_text
from berth.dates.zone import date_text
from berth.output import report, table
from berth.output.report import Answer, hours_json, seats_text
from berth.output.table import Fit
from berth.schema.holders import Unit

_CUT = ("seats", "which", "no machine")
_SPARE = ("loops", "lead", "lowest to highest", "used", "idle share", "most machines", "which")
_NAMES = ("reservation", "class", "reserved")
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


class Scene(NamedTuple):
    zone: str  # of the site
    budget: str  # empty: none
    form: str
    color: bool = False
    columns: int | None = None  # of a terminal


def text(plan: CostPlan, scene: Scene) -> str:
    """Return tables of peaks, dates, reserved machines and money."""
    if not plan.peaks and not plan.reserved:
        return "\n".join(["No machines are planned.\n", *_notes(plan, scene)])
    parts = [
        _part("Cluster peaks", scene, *_peaks(plan.peaks, scene)),
        _part("Dates", scene, *_dates(plan.occurrences, wide=scene.form == "wide")),
        _part("Reserved machines", scene, *_reserved(plan.reserved)),
        _part("Reservations, USD", scene, *_sums("reservation", plan.reservations)),
        _part("Classes, USD", scene, *_sums("class", plan.classes)),
        _part("Months, USD", scene, *_months(plan, scene)),
        *_notes(plan, scene),
    ]
    return "\n".join(part for part in parts if part)


def _part(heading: str, scene: Scene, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table without its empty columns; nothing if it has no rows."""
    if not rows:
        return ""
    kept = [i for i in range(len(headings)) if any(row[i] for row in rows)]
    cells = [headings[i] for i in kept], [[row[i] for i in kept] for row in rows]
    if scene.form == "markdown":
        return f"#### {heading}\n\n{table.markdown(*cells)}"
    shown = f"{_BOLD}{heading}{_PLAIN}" if scene.color else heading
    return f"{shown}\n{table.text(*cells, Fit(scene.columns, _CUT, _SPARE, _NAMES))}"


def _number(value: int) -> str:
    return str(value) if value else ""


def _peaks(peaks: Iterable[MachinePeak], scene: Scene) -> tuple[list[str], list[list[str]]]:
    zone = named(scene.zone)
    rows = [
        [
            one.cluster,
            local_text(one.at, zone),
            ", ".join(told for told in (seats_text(one.seats), seats_text(one.nodes, Unit.NODE)) if told),
            band_text(sum(number for _, number in one.machines), one.least, one.most),
            machines_text(one.machines),
            _number(one.idle),
            _number(one.shortfalls),
        ]
        for one in peaks
    ]
    return ["cluster", "when", "seats", "machines", "which", "idle reserved", "no machine"], rows


def _dates(found: Sequence[OccurrencePlan], *, wide: bool) -> tuple[list[str], list[list[str]]]:
    """Return one row for all dates that need the same; with `wide`, a row for each."""
    headings = [
        *("reservation", "dates", "seats", "machines", "which"),
        *("idle reserved", "no machine", "loops", "lead"),
    ]
    groups: dict[tuple[str, ...], list[OccurrencePlan]] = {}
    for number, one in enumerate(found):
        cells = _cells(one)
        groups.setdefault((*cells, str(number)) if wide else cells, []).append(one)
    rows = [[key[0], _when(mine), *key[1:8]] for key, mine in groups.items()]
    if len({one.dated.cluster for one in found}) > 1:
        headings.insert(1, "cluster")
        rows = [
            [row[0], mine[0].dated.cluster, *row[1:]] for row, mine in zip(rows, groups.values(), strict=True)
        ]
    return headings, rows


def _cells(one: OccurrencePlan) -> tuple[str, ...]:
    lacks = [(name, lack.count) for name, lack in one.shortfalls]
    number = sum(count for _, count in one.machines)
    return (
        one.dated.occurrence.reservation,
        seats_text(one.dated.seats, one.dated.unit),
        band_text(number, one.least, one.most),
        machines_text(one.machines),
        _number(one.idle),
        seats_text(lacks, one.dated.unit),
        _number(one.loops),
        f"{minutes(one.lead)} min" if one.lead else "",
        one.dated.cluster,
    )


def _when(mine: Sequence[OccurrencePlan]) -> str:
    first, last = mine[0].dated.occurrence, mine[-1].dated.occurrence
    if len(mine) == 1:
        return span_text(first.start, first.end, named(first.zone))
    days = [date_text(local_day(one.start, named(one.zone))) for one in (first, last)]
    return f"{len(mine)} from {' to '.join(days)}"


def _reserved(found: Sequence[ReservedPlan]) -> tuple[list[str], list[list[str]]]:
    headings = ["reserved", "machines", "hours", "used h", "idle h", "idle share", "cost USD", "idle USD"]
    rows = [
        [
            one.reserved.key,
            f"{one.reserved.reservation.count} {one.reserved.reservation.instance_type}",
            hours_text(one.use.paid),
            hours_text(one.use.used),
            hours_text(one.use.idle),
            f"{percent(one.use.idle, one.use.paid)}%",
            money_or_unknown(one.use.money),
            money_or_unknown(one.use.idle_money),
        ]
        for one in found
    ]
    return headings, rows


def _hours(found: CostSum) -> list[str]:
    return [hours_text(seconds) if seconds else "" for _, seconds in found.seconds]


def _money(found: CostSum) -> list[str]:
    return [money_or_unknown(found.bought)]


_HOURS = [f"{kind} h" for kind in CAPACITY_TYPES]


def _sums(what: str, found: Sequence[tuple[tuple[str, str], CostSum]]) -> tuple[list[str], list[list[str]]]:
    several = len({cluster for (_, cluster), _ in found}) > 1
    rows = [[name, cluster if several else "", *_hours(own), *_money(own)] for (name, cluster), own in found]
    return [what, "cluster", *_HOURS, "cost"], rows


def _months(plan: CostPlan, scene: Scene) -> tuple[list[str], list[list[str]]]:
    headings = [
        "month",
        "most machines",
        *_HOURS,
        "cost",
        "lowest to highest",
        "paid ahead",
        "idle USD",
        "budget",
    ]
    rows = [_month(one, scene) for one in plan.months]
    if len(rows) > 1:
        rows.append(["all", "", *_hours(plan.total), *_money(plan.total), "", "", "", ""])
    return headings, rows


def _month(one: MonthPlan, scene: Scene) -> list[str]:
    band = ""
    if one.least is not None and one.most is not None and one.least != one.most:
        band = f"{money_text(one.least)} to {money_text(one.most)}"
    uses = [use for _, use in one.paid]
    paid = [use.money for use in uses]
    idle = [use.idle_money for use in uses]
    return [
        one.month,
        _number(one.peak),
        *_hours(one.sum),
        *_money(one.sum),
        band,
        *(_together(each) for each in (paid, idle)),
        scene.budget,
    ]


def _together(some: Sequence[Money | None]) -> str:
    whole = [money for money in some if money is not None]
    if not some:
        return ""
    return money_or_unknown(sum(whole[1:], whole[0]) if len(whole) == len(some) else None)


def _notes(plan: CostPlan, scene: Scene) -> list[str]:
    lines = []
    if plan.from_table:
        lines.append(f"Prices in US dollars: from the files, else from {PRICE_TABLE}.")
    if plan.unpriced:
        lines.append(f"No total, because prices are missing: {', '.join(plan.unpriced)}.")
    for name, kind in plan.unknown:
        lines.append(f"Left out: {kind} of {name}; declare its cpu and memory in instanceTypes.")
    for name, zones in plan.assumed:
        assumed = f"assuming {', '.join(zones)}" if zones else "none is known"
        lines.append(f"{name} does not name its zones: {assumed}; declare them in requirements.")
    for reason, own in groupby(plan.unplanned, key=lambda one: one.reason):
        lines.append(f"Not planned: {', '.join(one.subject for one in own)} ({reason}).")
        if reason == NO_CLOUD and not plan.peaks:
            lines.append(HOW_TO_DECLARE)
    bullet = "- " if scene.form == "markdown" else ""
    return ["".join(f"{bullet}{line}\n" for line in lines)] if lines else []


def as_answer(plan: CostPlan, budget: Decimal | None) -> Answer:
    """Return the answer of kind Plan."""
    return report.document(
        "Plan",
        {
            "from": instant_text(plan.since),
            "until": instant_text(plan.until),
            "currency": "USD",
            "prices": {"table": PRICE_TABLE if plan.from_table else None, "missing": list(plan.unpriced)},
            "peaks": [_peak_json(one) for one in plan.peaks],
            "occurrences": [_occurrence_json(one) for one in plan.occurrences],
            "reserved": [_reserved_json(one) for one in plan.reserved],
            "reservations": [
                {"name": name, "cluster": cluster, **_sum_json(own)}
                for (name, cluster), own in plan.reservations
            ],
            "classes": [
                {"name": name, "cluster": cluster, **_sum_json(own)} for (name, cluster), own in plan.classes
            ],
            "months": [_month_json(one, budget) for one in plan.months],
            "total": _sum_json(plan.total),
            "notPlanned": [{"name": one.subject, "reason": one.reason} for one in plan.unplanned],
            "leftOut": [{"cloudCapacity": name, "instanceType": kind} for name, kind in plan.unknown],
            "zonesAssumed": [{"cloudCapacity": name, "zones": list(zones)} for name, zones in plan.assumed],
        },
    )


def _peak_json(one: MachinePeak) -> Answer:
    return {
        "cluster": one.cluster,
        "at": instant_text(one.at),
        "seats": dict(one.seats),
        **({"nodes": dict(one.nodes)} if one.nodes else {}),
        "machines": machines_json(one.machines),
        "least": one.least,
        "most": one.most,
        "idle": one.idle,
        "withoutMachine": one.shortfalls,
    }


def _occurrence_json(one: OccurrencePlan) -> Answer:
    item = one.dated.occurrence
    return {
        "reservation": item.reservation,
        "id": item.id,
        "cluster": one.dated.cluster,
        "open": instant_text(item.open),
        "start": instant_text(item.start),
        "end": instant_text(item.end),
        **report.counts_json(one.dated.seats, one.dated.unit),
        "machines": machines_json(one.machines),
        "least": one.least,
        "most": one.most,
        "bought": one.bought,
        "idle": one.idle,
        "withoutMachine": [
            {"class": name, "count": lack.count, "reason": lack.kind, "message": lack.message}
            for name, lack in one.shortfalls
        ],
        "loops": one.loops,
        "leadSeconds": {"karpenter": one.lead, "clusterAutoscaler": one.autoscaler_lead},
    }


def _reserved_json(one: ReservedPlan) -> Answer:
    said = one.reserved.reservation
    return {
        "capacityReservation": one.reserved.key,
        "cluster": one.cluster,
        "cloudCapacities": list(one.reserved.capacities),
        "instanceType": said.instance_type,
        "zone": said.zone,
        "count": said.count,
        "from": instant_text(one.since),
        "until": instant_text(one.until),
        **use_json(one.use),
    }


def _sum_json(own: CostSum) -> Answer:
    amounts: Mapping[str, Money] = dict(own.money)
    unpriced = {sort.capacity_type for sort in own.unpriced}
    return {
        "machineHours": {kind: hours_json(seconds) for kind, seconds in own.seconds},
        "cost": {kind: None if kind in unpriced else money_json(amount) for kind, amount in amounts.items()}
        | {"sum": money_json(own.bought)},
    }


def _month_json(one: MonthPlan, budget: Decimal | None) -> Answer:
    return {
        "month": one.month,
        "machines": one.peak,
        **_sum_json(one.sum),
        "least": money_json(one.least),
        "most": money_json(one.most),
        "reserved": [{"capacityReservation": key, **use_json(use)} for key, use in one.paid],
        "budget": None if budget is None else str(budget),
    }

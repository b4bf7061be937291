"""A plan as tables: peaks, dates, what is reserved, and money; in a terminal, or as Markdown."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from gen import table
from gen.cost.capacitycatalog import PRICE_TABLE
from gen.cost.costplan import CostPlan, MachinePeak, MonthPlan, OccurrencePlan, ReservedPlan
from gen.cost.formatting import band_text, machines_text, minutes, money_or_unknown, money_text, percent
from gen.cost.ledger import CAPACITY_TYPES, CostSum
from gen.cost.results import Money
from gen.dates.moment import hours_text, local_text, named, span_text
from gen.report import seats_text

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


class Scene(NamedTuple):
    zone: str  # of the site
    budget: str  # empty: none
    form: str
    colour: bool = False


def text(plan: CostPlan, scene: Scene) -> str:
    if not plan.peaks and not plan.reserved:
        return "\n".join(["No machine is planned.\n", *_notes(plan, scene)])
    parts = [
        _part("Peaks", scene, *_peaks(plan.peaks, scene)),
        _part("Dates", scene, *_dates(plan.occurrences, wide=scene.form == "wide")),
        _part("Reserved machines", scene, *_reserved(plan.reserved)),
        _part("Reservations, USD", scene, *_sums("reservation", plan.reservations)),
        _part("Classes, USD", scene, *_sums("class", plan.classes)),
        _part("Months, USD", scene, *_months(plan, scene)),
        *_notes(plan, scene),
    ]
    return "\n".join(part for part in parts if part)


def _part(heading: str, scene: Scene, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns that say nothing in any row are left out; so is a part without rows."""
    if not rows:
        return ""
    kept = [i for i in range(len(headings)) if any(row[i] for row in rows)]
    cells = [headings[i] for i in kept], [[row[i] for i in kept] for row in rows]
    if scene.form == "markdown":
        return f"#### {heading}\n\n{table.markdown(*cells)}"
    return (
        f"{_BOLD}{heading}{_PLAIN}\n{table.text(*cells)}"
        if scene.colour
        else f"{heading}\n{table.text(*cells)}"
    )


def _number(value: int) -> str:
    return str(value) if value else ""


def _peaks(peaks: Iterable[MachinePeak], scene: Scene) -> tuple[list[str], list[list[str]]]:
    zone = named(scene.zone)
    rows = [
        [
            one.cluster,
            local_text(one.at, zone),
            ", ".join(told for told in (seats_text(one.seats), seats_text(one.nodes, nodes=True)) if told),
            band_text(sum(number for _, number in one.machines), one.least, one.most),
            machines_text(one.machines),
            _number(one.idle),
            _number(one.shortfalls),
        ]
        for one in peaks
    ]
    return ["cluster", "when", "seats", "machines", "which", "idle", "no machine"], rows


def _dates(found: Sequence[OccurrencePlan], *, wide: bool) -> tuple[list[str], list[list[str]]]:
    """Dates that need the same are one line, but for `wide`."""
    headings = ["reservation", "dates", "seats", "machines", "which", "idle", "no machine", "loops", "lead"]
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
        seats_text(one.dated.seats, nodes=one.dated.nodes),
        band_text(number, one.least, one.most),
        machines_text(one.machines),
        _number(one.idle),
        seats_text(lacks, nodes=one.dated.nodes),
        _number(one.loops),
        f"{minutes(one.lead)} min" if one.lead else "",
        one.dated.cluster,
    )


def _when(mine: Sequence[OccurrencePlan]) -> str:
    first, last = mine[0].dated.occurrence, mine[-1].dated.occurrence
    zone = named(first.zone)
    if len(mine) == 1:
        return span_text(first.start, first.end, zone)
    return f"{len(mine)} from {local_text(first.start, zone)} to {local_text(last.start, named(last.zone))}"


def _reserved(found: Sequence[ReservedPlan]) -> tuple[list[str], list[list[str]]]:
    headings = ["reserved", "machines", "hours", "used", "idle", "share idle", "cost USD", "idle USD"]
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
        "least to most",
        "paid ahead",
        "of it idle",
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
        lines.append(f"Prices in US dollars: of the files, and {PRICE_TABLE} where they say none.")
    if plan.unpriced:
        lines.append(f"No price is known, so there is no sum: {', '.join(plan.unpriced)}.")
    for name, kind in plan.unknown:
        lines.append(f"Left out: {kind} of {name}; write its cpu and memory in instanceTypes.")
    for name, zones in plan.assumed:
        taken = (
            f"{', '.join(zones)} {'is' if len(zones) == 1 else 'are'} taken for all"
            if zones
            else "none is known"
        )
        lines.append(f"Zones of {name} are not said: {taken}; write them in requirements.")
    for reason, own in groupby(plan.unplanned, key=lambda one: one.reason):
        lines.append(f"Not planned: {', '.join(one.subject for one in own)} ({reason}).")
    bullet = "- " if scene.form == "markdown" else ""
    return ["".join(f"{bullet}{line}\n" for line in lines)] if lines else []

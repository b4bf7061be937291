"""The plan of a site: what every occurrence and every peak needs, and what all of it costs. Pure.

Everything that is told comes from here; `gen.command.plan` only lays it out.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from gen.cost import ledger
from gen.cost.clusters import Planned, Unplanned
from gen.cost.dates import Asked, Dated, OccurrencePlan, idle_at, of_occurrences
from gen.cost.ledger import Held, Line, Months, Span, Sum, Use
from gen.cost.shop import Reserved
from gen.cost.standing import Machines, Standing, in_order
from gen.cost.values import Money


class Peak(NamedTuple):
    """The most machines of a cluster that stand at once, when first. `least`, `most` as above. `seats` and
    whole `nodes` by class: what is open then.
    """

    cluster: str
    at: int
    seats: tuple[tuple[str, int], ...]
    nodes: tuple[tuple[str, int], ...]
    machines: Machines
    least: int
    most: int
    idle: int
    lacks: int


class ReservedPlan(NamedTuple):
    """`cluster`: the first that uses it."""

    cluster: str
    reserved: Reserved
    since: int
    until: int
    use: Use


class MonthPlan(NamedTuple):
    """`least`, `most`: what is bought by the hour, where Karpenter's order is open. `paid`: of what is
    reserved.
    """

    month: str
    sum: Sum
    least: Money | None
    most: Money | None
    peak: int
    paid: tuple[tuple[str, Use], ...]


class Plan(NamedTuple):
    since: int
    until: int
    peaks: tuple[Peak, ...]
    occurrences: tuple[OccurrencePlan, ...]
    reserved: tuple[ReservedPlan, ...]
    reservations: tuple[tuple[tuple[str, str], Sum], ...]  # by name and cluster
    classes: tuple[tuple[tuple[str, str], Sum], ...]
    months: tuple[MonthPlan, ...]
    total: Sum
    unplanned: tuple[Unplanned, ...]
    unknown: tuple[tuple[str, str], ...]  # (CloudCapacity, type) that is left out
    assumed: tuple[tuple[str, tuple[str, ...]], ...]  # (CloudCapacity, its zones), where nothing says them
    unpriced: tuple[str, ...]  # what has no price, in words
    from_table: bool


def plan(
    some: Sequence[Planned],
    dated: Iterable[Dated],
    unplanned: Iterable[Unplanned],
    asked: Asked,
    months: Months,
) -> Plan:
    some = [one for one in some if asked.cluster in (None, one.cluster)]
    term = _term(some)
    since, until = asked.span.clip(*term)
    told = [line for one in some for line in ledger.lines(one, 0, asked.span, months) if asked.has(line.key)]
    held = ledger.held(some)
    reserved = [
        ReservedPlan(one.cluster, one.reserved, first, end, use)
        for one in held
        for first, end in [asked.span.clip(*ledger.paid_span(one.reserved, term))]
        for use in [ledger.use(one.reserved, one.stays, term, asked.span)]
        if first < end
    ]
    return Plan(
        since,
        max(since, until),
        tuple(peak for one in some if (peak := _peak(one, since, until)) is not None),
        tuple(of_occurrences(some, dated, asked)),
        tuple(reserved),
        tuple(sorted(ledger.grouped(told, lambda line: (line.key[0], line.cluster)).items())),
        tuple(sorted(ledger.grouped(told, lambda line: (line.key[1], line.cluster)).items())),
        tuple(_months(some, held, told, asked, months)),
        ledger.total(told),
        tuple(unplanned),
        tuple((name, each) for one in some for name in one.shop.clouds for each in one.shop.unknown(name)),
        tuple(assumed for one in some for assumed in one.shop.assumed.items()),
        _unpriced(told, reserved),
        any(one.shop.from_table(line.sort) for one in some for line in told if line.cluster == one.cluster),
    )


def costs(some: Sequence[Planned], months: Months) -> dict[str, dict[str, Money]]:
    """What each reservation costs in each month, on top of what is paid for already; unknown prices are 0."""
    found: dict[str, dict[str, Money]] = {}
    for one in some:
        for line in ledger.lines(one, 0, Span(), months):
            mine = found.setdefault(line.month, {})
            mine[line.key[0]] = mine.get(line.key[0], Decimal(0)) + (line.money or Decimal(0))
    return found


def _term(some: Iterable[Planned]) -> tuple[int, int]:
    """From the first opening to when the last machine has gone."""
    opens = [one.first for one in some if one.wants]
    ends = [one.last for one in some if one.wants]
    ends += [stay.until for one in some for stay in one.runs[0].stays]
    return min(opens, default=0), max(ends, default=0)


def _peak(one: Planned, since: int, until: int) -> Peak | None:
    every = [Standing(run.stays) for run in one.runs]
    number, at = every[0].most(since, until)
    if not number:
        return None
    others = [standing.most(since, until)[0] for standing in every]
    step = max((s for s in one.runs[0].steps if s.at <= at), key=lambda s: s.at, default=None)
    return Peak(
        one.cluster,
        at,
        _open(one, at, nodes=False),
        _open(one, at, nodes=True),
        in_order(every[0].at(at)),
        min(others),
        max(others),
        idle_at(one, every[0], at),
        sum(lack.count for _, lack in step.lacks) if step else 0,
    )


def _open(one: Planned, at: int, *, nodes: bool) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for want in one.wants:
        if want.nodes != nodes:
            continue
        pairs = zip(want.steps[::2], want.steps[1::2], strict=True)
        count = sum(change for minute, change in pairs if minute * 60 <= at)
        if count:
            found[want.key[1]] = found.get(want.key[1], 0) + count
    return tuple(sorted(found.items()))


def _months(
    some: Sequence[Planned], held: Sequence[Held], told: Sequence[Line], asked: Asked, months: Months
) -> Iterable[MonthPlan]:
    term = _term(some)
    sums = ledger.grouped(told, lambda line: line.month)
    paid = ledger.by_month(held, asked.span, months, term)
    others = [_other(some, number, asked, months) for number in (1, 2)]
    standing = [Standing(one.runs[0].stays) for one in some]
    for month in sorted({*sums, *paid}):
        found = sums.get(month, ledger.total(()))
        band = [found.bought, *(other[month].bought if month in other else None for other in others if other)]
        known = [money for money in band if money is not None]
        whole = len(known) == len(band)
        first, end = _bounds(month, term, months)
        yield MonthPlan(
            month,
            found,
            min(known) if whole else None,
            max(known) if whole else None,
            sum(one.most(*asked.span.clip(first, end))[0] for one in standing),
            tuple(sorted(paid.get(month, {}).items())),
        )


def _other(some: Sequence[Planned], run: int, asked: Asked, months: Months) -> Mapping[str, Sum]:
    """By month, the way with the least or the most machines; nothing where there is but one way."""
    if all(len(one.runs) == 1 for one in some):
        return {}
    found = [
        line
        for one in some
        for line in ledger.lines(one, run if len(one.runs) > run else 0, asked.span, months)
        if asked.has(line.key)
    ]
    return ledger.grouped(found, lambda line: line.month)


def _bounds(month: str, term: tuple[int, int], months: Months) -> tuple[int, int]:
    return next(((first, end) for name, first, end in months(*term) if name == month), (0, 0))


def _unpriced(told: Iterable[Line], reserved: Iterable[ReservedPlan]) -> tuple[str, ...]:
    bought = {f"{line.sort.capacity_type} {line.sort.type}" for line in told if line.money is None}
    paid = {f"reserved {one.reserved.key}" for one in reserved if one.use.price is None}
    return tuple(sorted(bought | paid))

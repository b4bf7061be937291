"""Seats, machines and money over the term, in days, weeks or months: what a chart shows. Pure."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from gen.check.load import Pool, levels, together
from gen.cost import ledger
from gen.cost.clusters import Planned
from gen.cost.dates import Asked, idle_at
from gen.cost.ledger import CAPACITY_TYPES, Months, Span
from gen.cost.months import months_of
from gen.cost.standing import Standing
from gen.cost.values import Money, dollars
from gen.dates.moment import local_day
from gen.dates.zone import DAY, Zone, day_of, resolve

_MOST_DAYS, _MOST_WEEKS = 31, 60


class OverTime(NamedTuple):
    """`unit` is day, week or month; `bins` are their names, by time. Of each bin the most seats at once, the
    machines of the first moment with the most of them, and the money of it, by capacity type. `idle`:
    reserved machines that nobody uses at that moment; none where only some reservations are told.
    """

    unit: str
    bins: tuple[str, ...]
    seats: tuple[int, ...]
    machines: tuple[tuple[int, ...], ...]
    idle: tuple[int, ...]
    money: tuple[tuple[float, ...], ...]  # what is bought by the hour; a missing price counts as 0


def over_time(some: Sequence[Planned], asked: Asked, term: tuple[int, int], zone: Zone) -> OverTime:
    """`term`: of the plan that it is drawn of."""
    unit, cut = _cutter(term, zone)
    names = [(name, first, end) for name, first, end in cut(*term)]
    some = [one for one in some if asked.cluster in (None, one.cluster)]
    standing = [
        Standing(stay for stay in one.runs[0].stays if any(asked.has(key) for key, _ in stay.payers))
        for one in some
    ]
    costs = {name: dict.fromkeys(CAPACITY_TYPES, 0.0) for name, _, _ in names}
    for one in some:
        found = [line for line in ledger.lines(one, 0, Span(*term), cut) if asked.has(line.key)]
        for (name, kind), own in ledger.grouped(found, lambda e: (e.month, e.sort.capacity_type)).items():
            costs[name][kind] += float(dollars(sum((money for _, money in own.money), Money(0))))
    return OverTime(
        unit,
        tuple(name for name, _, _ in names),
        tuple(_seats(some, asked, names)),
        tuple(_machines(standing, first, end) for _, first, end in names),
        tuple(_idle(some, standing, asked, first, end) for _, first, end in names),
        tuple(tuple(costs[name].values()) for name, _, _ in names),
    )


def _cutter(term: tuple[int, int], zone: Zone) -> tuple[str, Months]:
    days = (term[1] - term[0]) // 86_400
    if days > 7 * _MOST_WEEKS:
        return "month", months_of(zone)
    weekly = days > _MOST_DAYS

    def cut(first: int, end: int) -> Iterator[tuple[str, int, int]]:
        while first < end:
            today = local_day(first, zone)
            begins = today - (today + 3) % 7 if weekly else today  # 1970-01-01 was a Thursday
            until = min(end, resolve(zone, (begins + (7 if weekly else 1)) * DAY))
            yield _name(day_of(begins * DAY)), first, until
            first = until

    return ("week" if weekly else "day"), cut


def _name(day: date) -> str:
    return f"{day:%m-%d}"


def _seats(some: Sequence[Planned], asked: Asked, names: Sequence[tuple[str, int, int]]) -> Iterator[int]:
    pools = [
        Pool(*want.key, want.steps, want.nodes) for one in some for want in one.wants if asked.has(want.key)
    ]
    steps = list(levels(together(pools, {pool.resource_class: 1 for pool in pools}))) if pools else []
    for _, first, end in names:
        here = (total for since, until, total in steps if since * 60 < end and until * 60 > first)
        yield max(here, default=0)


def _machines(standing: Sequence[Standing], first: int, end: int) -> tuple[int, ...]:
    counts = dict.fromkeys(CAPACITY_TYPES, 0)
    for one in standing:
        _, at = one.most(first, end)
        for sort, number in one.at(at).items():
            counts[sort.capacity_type] += number
    return tuple(counts.values())


def _idle(some: Sequence[Planned], standing: Sequence[Standing], asked: Asked, first: int, end: int) -> int:
    if asked.names or asked.resource_class:
        return 0
    pairs = zip(some, standing, strict=True)
    return sum(idle_at(one, machines, machines.most(first, end)[1]) for one, machines in pairs)

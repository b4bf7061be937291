"""What each dated occurrence needs: on which machines its seats are when it has opened. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gen.cost import lead
from gen.cost.clusters import Planned
from gen.cost.ledger import Span
from gen.cost.standing import Machines, Standing, in_order
from gen.cost.values import Key, Lack, Run, Sort, Step
from gen.dates.occurrence import Occurrence


class Dated(NamedTuple):
    """One occurrence in one cluster, with the seats that it has there; or, with `nodes`, the whole nodes."""

    occurrence: Occurrence
    cluster: str
    seats: tuple[tuple[str, int], ...]
    nodes: bool = False


class OccurrencePlan(NamedTuple):
    """`machines` are those that its seats are on, when it has opened; `bought` are all that were bought then.
    `least`, `most`: of `machines`, where Karpenter's order is open. `idle`: reserved machines not in use.
    """

    dated: Dated
    machines: Machines
    least: int
    most: int
    bought: int
    loops: int
    lacks: tuple[tuple[str, Lack], ...]  # by class
    idle: int

    @property
    def lead(self) -> int:
        """Seconds that Karpenter may need."""
        return lead.karpenter(self.loops if self.bought else 0)

    @property
    def autoscaler_lead(self) -> int:
        return lead.cluster_autoscaler(self.bought)


class Asked(NamedTuple):
    """What of it is told. `names`: reservations; empty: all."""

    span: Span = Span()
    names: frozenset[str] = frozenset()
    resource_class: str | None = None
    cluster: str | None = None

    def has(self, key: Key) -> bool:
        return (not self.names or key[0] in self.names) and self.resource_class in (None, key[1])


def of_occurrences(some: Sequence[Planned], dated: Iterable[Dated], asked: Asked) -> list[OccurrencePlan]:
    found = []
    views = {one.cluster: _View(one) for one in some}
    for one in dated:
        view = views.get(one.cluster)
        seats = tuple(
            (name, count)
            for name, count in one.seats
            if view is not None
            and (one.occurrence.reservation, name) in view.keys
            and asked.has((one.occurrence.reservation, name))
        )
        first, end = asked.span.clip(one.occurrence.open, one.occurrence.end)
        if view is not None and seats and first < end:
            found.append(view.of(one._replace(seats=seats)))
    return sorted(found, key=_place)


def _place(one: OccurrencePlan) -> tuple[int, str, str, str]:
    item = one.dated.occurrence
    return item.start, item.reservation, item.id, one.dated.cluster


class _View:
    """One cluster, to be asked about its occurrences."""

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self.keys = {want.key for want in planned.wants}
        self._steps = {step.at: step for step in planned.runs[0].steps}
        self._standing = Standing(planned.runs[0].stays)

    def of(self, one: Dated) -> OccurrencePlan:
        item = one.occurrence
        keys = [(item.reservation, name) for name, _ in one.seats]
        homes = [_homes(run, keys, item.open) for run in self._planned.runs]
        machines: dict[Sort, int] = {}
        for number in homes[0]:
            sort = self._planned.runs[0].sorts[number]
            machines[sort] = machines.get(sort, 0) + 1
        step = self._steps.get(item.open) or Step(item.open, 0, 0, ())
        lacks = dict(step.lacks)
        return OccurrencePlan(
            one,
            in_order(machines),
            min(map(len, homes)),
            max(map(len, homes)),
            step.bought,
            step.loops,
            tuple(
                (name, lacks[key]._replace(count=min(lacks[key].count, count)))
                for key, (name, count) in zip(keys, one.seats, strict=True)
                if key in lacks
            ),
            idle_at(self._planned, self._standing, item.open),
        )


def _homes(run: Run, keys: Iterable[Key], at: int) -> set[int]:
    """The machines that seats of these pools are on."""
    found: set[int] = set()
    for key in keys:
        mine = run.homes.get(key, [])
        place = bisect_right(mine, at, key=lambda home: home[0]) - 1
        if place >= 0:
            found |= {number for number, _ in mine[place][1]}
    return found


def idle_at(planned: Planned, standing: Standing, now: int) -> int:
    there = sum(one.said.count for one in planned.shop.reserved.values() if one.at(now))
    return max(0, there - sum(number for sort, number in standing.at(now).items() if sort.reserved))

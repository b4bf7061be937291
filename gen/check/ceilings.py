"""Is more open at once than the site allows? Sums over all reservations of a cluster, minute by minute.

What a pool holds at a moment is the very function that the cluster runs (`gen.runtime.target`), so back-to-back
occurrences do not count twice here either.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gen.dates.moment import named
from gen.dates.occurrence import Occurrence as Dated
from gen.dates.zone import DAY, number, resolve
from gen.finding import Path, Problem
from gen.model import Ceiling, Cluster, Reservation, ResourceClass, Site
from gen.placed import Placed
from gen.quantity import parse
from gen.quantity import text as quantity_text
from gen.runtime.instant import instant_text
from gen.runtime.target import full_count, target
from gen.runtime.timetable import Occurrence

EXCEEDED = "B067"
_NEVER = 2**40  # seconds: some 34,000 years on


class Step(NamedTuple):
    """A pool goes from one number of seats to another. Sorted by time, then name."""

    at: int
    reservation: str
    resource_class: str
    change: int


class Peak(NamedTuple):
    amount: int
    at: int
    holders: tuple[tuple[str, int], ...]  # (reservation, amount), by name
    opened_last: str


def steps(reservation: str, resource_class: str, occurrences: Iterable[Occurrence]) -> Iterator[Step]:
    """How one pool rises and falls over its whole life; `occurrences` sorted by `open`."""
    group: list[Occurrence] = []
    until = 0
    for item in [*occurrences, None]:
        if group and (item is None or item.open > until):
            yield from _group_steps(reservation, resource_class, group)
            group = []
        if item is not None:
            until = max(until, item.end) if group else item.end
            group.append(item)


def _by_open(item: Occurrence) -> int:
    return item.open


def _group_steps(reservation: str, resource_class: str, group: list[Occurrence]) -> Iterator[Step]:
    held, count = 0, full_count(resource_class)
    if len(group) == 1:  # almost always; what one occurrence alone comes to needs no search
        seats = count(group[0])
        yield Step(group[0].open, reservation, resource_class, seats)
        yield Step(group[0].end, reservation, resource_class, -seats)
        return
    for at in sorted({instant for item in group for instant in (item.open, item.start, item.end)}):
        wanted = target(group, at, count)
        if wanted != held:
            yield Step(at, reservation, resource_class, wanted - held)
            held = wanted


def peak(changes: Iterable[tuple[int, str, int]], first: int, last: int) -> Peak | None:
    """The most that is held at once at a moment in [first, last), and by whom; the first such moment.

    `changes` are (instant, reservation, change), sorted by instant.
    """
    held: dict[str, int] = {}
    total, best = 0, None
    opened: list[str] = []
    pending = list(changes)
    for i, (at, name, change) in enumerate(pending):
        if at >= last:
            break
        if change > 0:
            opened = [*(opened if i and pending[i - 1][0] == at else []), name]
        held[name] = held.get(name, 0) + change
        total += change
        more_now = i + 1 < len(pending) and pending[i + 1][0] == at
        ends_before = i + 1 < len(pending) and pending[i + 1][0] <= first
        if not more_now and not ends_before and total > (best.amount if best else 0):
            holders = tuple(sorted((n, amount) for n, amount in held.items() if amount))
            best = Peak(total, max(at, first), holders, max(opened, default=name))
    return best


class Ceilings:
    """Collects the steps of every pool; `problems` judges them once all reservations are in."""

    def __init__(self, site: Site, classes: dict[str, ResourceClass]) -> None:
        self.site = site
        self.classes = classes
        self._steps: dict[str, list[Step]] = {c.name: [] for c in site.clusters if c.ceilings}

    def take(self, placed: Placed, occurrences: tuple[Dated, ...]) -> None:
        steps_of = self._steps.get(placed.cluster.name)
        if steps_of is None or placed.reservation.suspend:
            return
        in_order = sorted(
            (Occurrence(o.id, o.open, o.start, o.end, o.seats) for o in occurrences), key=_by_open
        )
        for found in placed.classes:
            steps_of += steps(placed.reservation.name, found.name, in_order)

    def problems(self, reservations: dict[str, Reservation]) -> Iterator[Problem]:
        for i, cluster in enumerate(self.site.clusters):
            for j, ceiling in enumerate(cluster.ceilings):
                yield from self._judge(cluster, ceiling, ("spec", "clusters", i, "ceilings", j), reservations)

    def _judge(
        self, cluster: Cluster, ceiling: Ceiling, path: Path, reservations: dict[str, Reservation]
    ) -> Iterator[Problem]:
        changes = sorted(self._steps[cluster.name])
        first, last = self._span(ceiling)
        for name, most in ceiling.seats:
            mine = [(s.at, s.reservation, s.change) for s in changes if s.resource_class == name]
            found = peak(mine, first, last)
            if found and found.amount > most:
                what = f"{found.amount} seats of {name}"
                yield self._problem(cluster, found, what, str(most), str, reservations)
        for resource, amount in ceiling.requests:
            each = {n: parse(dict(c.requests).get(resource, "0")) or 0 for n, c in self.classes.items()}
            mine = [(s.at, s.reservation, s.change * each.get(s.resource_class, 0)) for s in changes]
            found = peak([change for change in mine if change[2]], first, last)
            if found and found.amount > (parse(amount) or 0):
                what = f"{quantity_text(found.amount)} of {resource}"
                yield self._problem(cluster, found, what, amount, quantity_text, reservations)

    def _span(self, ceiling: Ceiling) -> tuple[int, int]:
        """The ceiling's dates as instants, [first, last), in the site's zone."""
        zone = named(self.site.zone)
        first = resolve(zone, number(ceiling.first) * DAY) if ceiling.first else 0
        last = resolve(zone, (number(ceiling.last) + 1) * DAY) if ceiling.last else _NEVER
        return first, last

    def _problem(
        self,
        cluster: Cluster,
        found: Peak,
        what: str,
        most: str,
        say: object,
        reservations: dict[str, Reservation],
    ) -> Problem:
        assert callable(say)
        reservation = reservations[found.opened_last]
        holders = ", ".join(f"{name} {say(amount)}" for name, amount in found.holders)
        message = f"at {instant_text(found.at)} {what} are open in {cluster.name}, above the ceiling of {most}: {holders}."
        path = (*reservation.origin.prefix, "provisioning") if reservation.renku else ("spec", "provisioning")
        fix = "Ask for fewer seats or another time, or have the platform team raise the ceiling."
        return Problem(EXCEEDED, *reservation.origin[:2], path, message, fix)

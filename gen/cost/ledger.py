"""Who pays for which machine in which month: every stay is shared among the seats on it, to the second.

Shares are whole seconds and money is exact, so the sums over reservations, classes or months are the total.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple, TypeVar

from gen.cost.clusters import Planned
from gen.cost.shop import Reserved
from gen.cost.values import Key, Money, Sort, Stay
from gen.plan.labels import ON_DEMAND, RESERVED, SPOT

Group = TypeVar("Group")
CAPACITY_TYPES = (RESERVED, ON_DEMAND, SPOT)


class Span(NamedTuple):
    """What is looked at: [since, until); None is open."""

    since: int | None = None
    until: int | None = None

    def clip(self, first: int, end: int) -> tuple[int, int]:
        return max(first, self.since or first), end if self.until is None else min(end, self.until)


class Line(NamedTuple):
    """`seconds` of machines of one sort that a pool caused in one month. `money` None: no price is known."""

    month: str
    cluster: str
    key: Key
    sort: Sort
    since: int
    seconds: int
    money: Money | None


class Sum(NamedTuple):
    """Of some lines. `seconds` by capacity type; `unpriced`: sorts of which no price is known, so that their
    money is not in it.
    """

    seconds: tuple[tuple[str, int], ...]
    money: tuple[tuple[str, Money], ...]
    unpriced: tuple[Sort, ...]

    @property
    def bought(self) -> Money | None:
        """What is bought by the hour; None where a price is missing."""
        return None if self.unpriced else self.priced

    @property
    def priced(self) -> Money:
        """The same, of all that has a price."""
        return sum((money for _, money in self.money), Decimal(0))

    @property
    def all_seconds(self) -> int:
        return sum(seconds for _, seconds in self.seconds)


class Held(NamedTuple):
    """A reservation at AWS, with the stays on its machines in all clusters that use it, `cluster` first."""

    cluster: str
    reserved: Reserved
    stays: tuple[Stay, ...]


class Use(NamedTuple):
    """Machines that are paid for, in a span: for how many seconds, and in how many they were used."""

    paid: int
    used: int
    price: Decimal | None

    @property
    def idle(self) -> int:
        return self.paid - self.used

    @property
    def money(self) -> Money | None:
        return None if self.price is None else self.price * self.paid

    @property
    def idle_money(self) -> Money | None:
        return None if self.price is None else self.price * self.idle


Months = Callable[[int, int], Iterable[tuple[str, int, int]]]
"""Cuts a span into months: name, first, end."""


def lines(planned: Planned, run: int, span: Span, months: Months) -> list[Line]:
    """Of one way in which it may go, by its number in `runs`."""
    found: list[Line] = []
    prices: dict[Sort, Decimal | None] = {}
    for stay in planned.runs[run].stays:
        if stay.sort not in prices:
            prices[stay.sort] = planned.shop.price(stay.sort)
        price = prices[stay.sort]
        first, end = span.clip(stay.since, stay.until)
        for month, since, until in months(first, end) if first < end else ():
            for key, seconds in shared(until - since, stay.payers):
                money = None if price is None else price * seconds
                found.append(Line(month, planned.cluster, key, stay.sort, since, seconds, money))
    return found


def shared(seconds: int, payers: Sequence[tuple[Key, int]]) -> list[tuple[Key, int]]:
    """Whole seconds by the numbers of seats; what is left over goes to the largest remainders."""
    if len(payers) == 1:
        return [(payers[0][0], seconds)]
    whole = sum(count for _, count in payers)
    parts = [(key, *divmod(seconds * count, whole)) for key, count in payers]
    left = seconds - sum(share for _, share, _ in parts)
    more = {key for key, _, _ in sorted(parts, key=lambda part: (-part[2], part[0]))[:left]}
    return [(key, share + (key in more)) for key, share, _ in parts]


def total(some: Iterable[Line]) -> Sum:
    seconds = dict.fromkeys(CAPACITY_TYPES, 0)
    money = dict.fromkeys(CAPACITY_TYPES[1:], Decimal(0))
    unpriced: set[Sort] = set()
    for line in some:
        kind = line.sort.capacity_type
        seconds[kind] += line.seconds
        if line.money is None:
            unpriced.add(line.sort)
        elif kind in money:
            money[kind] += line.money
    return Sum(tuple(seconds.items()), tuple(money.items()), tuple(sorted(unpriced)))


def grouped(some: Iterable[Line], by: Callable[[Line], Group]) -> dict[Group, Sum]:
    found: dict[Group, list[Line]] = {}
    for line in some:
        found.setdefault(by(line), []).append(line)
    return {group: total(own) for group, own in found.items()}


def held(some: Iterable[Planned]) -> list[Held]:
    """Each is paid for once, however many clusters use it. Where they say different numbers, the least
    counts.
    """
    found: dict[str, Held] = {}
    for one in some:
        stays: dict[str, list[Stay]] = {}
        for stay in one.runs[0].stays:
            stays.setdefault(stay.sort.reserved, []).append(stay)
        for key, each in one.shop.reserved.items():
            mine, known = tuple(stays.get(key, ())), found.get(key)
            if known is None:
                found[key] = Held(one.cluster, each, mine)
            else:
                least = min(known.reserved.said, each.said, key=lambda said: said.count)
                capacities = (*known.reserved.capacities, *each.capacities)
                both = known.reserved._replace(capacities=capacities, said=least)
                found[key] = Held(known.cluster, both, (*known.stays, *mine))
    return list(found.values())


def use(one: Reserved, stays: Iterable[Stay], term: tuple[int, int], span: Span) -> Use:
    """Of a reservation at AWS, by the stays on its machines: what its own dates leave open is the term's.
    More of them at once than it has are no more use of it.
    """
    first, end = span.clip(*paid_span(one, term))
    changes: dict[int, int] = {}
    for stay in stays:
        since, until = max(stay.since, first), min(stay.until, end)
        if since < until:
            changes[since] = changes.get(since, 0) + 1
            changes[until] = changes.get(until, 0) - 1
    used = level = last = 0
    for at in sorted(changes):
        used += min(level, one.said.count) * (at - last)
        level, last = level + changes[at], at
    return Use(one.said.count * max(0, end - first), used, one.said.hourly_price)


def paid_span(one: Reserved, term: tuple[int, int]) -> tuple[int, int]:
    first = term[0] if one.said.first is None else one.said.first
    end = term[1] if one.said.until is None else one.said.until
    return first, max(first, end)


def by_month(
    some: Iterable[Held], span: Span, months: Months, term: tuple[int, int]
) -> Mapping[str, dict[str, Use]]:
    """By month, then by reservation at AWS."""
    found: dict[str, dict[str, Use]] = {}
    for one in some:
        first, end = span.clip(*paid_span(one.reserved, term))
        for month, since, until in months(first, end) if first < end else ():
            uses = found.setdefault(month, {})
            uses[one.reserved.key] = use(one.reserved, one.stays, term, Span(since, until))
    return found

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


def use(one: Reserved, stays: Iterable[Stay], term: tuple[int, int], span: Span) -> Use:
    """Of a reservation at AWS: what its own dates leave open is the term's."""
    first, end = span.clip(*paid_span(one, term))
    used = 0
    for stay in stays:
        if stay.sort.reserved == one.key:
            since, until = span.clip(stay.since, stay.until)
            used += max(0, min(until, end) - max(since, first))
    return Use(one.said.count * max(0, end - first), used, one.said.hourly_price)


def paid_span(one: Reserved, term: tuple[int, int]) -> tuple[int, int]:
    first = term[0] if one.said.first is None else one.said.first
    end = term[1] if one.said.until is None else one.said.until
    return first, max(first, end)


def by_month(
    planned: Planned, span: Span, months: Months, term: tuple[int, int]
) -> Mapping[str, dict[str, Use]]:
    """By month, then by reservation at AWS."""
    found: dict[str, dict[str, Use]] = {}
    stays = planned.runs[0].stays
    for one in planned.shop.reserved.values():
        mine = [stay for stay in stays if stay.sort.reserved == one.key]
        first, end = span.clip(*paid_span(one, term))
        for month, since, until in months(first, end) if first < end else ():
            found.setdefault(month, {})[one.key] = use(one, mine, term, Span(since, until))
    return found

"""One loop of Karpenter's scheduler: pods onto machines that stand, onto claims, into new claims.

Pods that are equal and do not care where others are go in groups: what happens to one happens to the next
until something changes.
"""

from collections.abc import Iterable, Sequence

from gen.plan.amounts import NODES
from gen.plan.bookings import Bookings
from gen.plan.claim import Claim, Offer, Refusal
from gen.plan.line import Line, Run, in_order
from gen.plan.market import Entry, Market, Template
from gen.plan.openclaims import OpenClaims
from gen.plan.shape import Shape
from gen.plan.standing import Standing
from gen.plan.ties import Ties
from gen.plan.topology import Topology

Limits = dict[str, dict[str, int]]
"""By pool: what it may still add of each resource that it limits."""


class Packing:
    """`refusals`, after `pack`: by the pod's number, why the rest of it found no place."""

    def __init__(
        self, market: Market, standing: Sequence[Standing], limits: Limits, bookings: Bookings, ties: Ties
    ) -> None:
        self.claims: list[Claim] = []
        self.refusals: dict[int, Refusal] = {}
        self._market = market
        self._standing = standing
        self._limits = limits
        self._bookings = bookings
        self._ties = ties
        self._clock = 0
        self._topology = Topology(market.domains, [one.node for one in standing], ties)

    def pack(self, runs: Sequence[Run]) -> list[Run]:
        """Who found no place."""
        for _, shape, _ in runs:
            self._topology.watch(shape)
        for one in self._standing:
            self._topology.register(one.host)
        line = Line(in_order(runs, self._ties))
        while (run := line.next()) is not None:
            line.done(run, self._place(run))
        return line.left()

    def _place(self, run: Run) -> int:
        """How many of the run found a place; what is true of the first without one is true of the rest."""
        number, shape, count = run
        placed = 0
        self.refusals.pop(number, None)
        while placed < count:
            took, refusal = self._relaxing(shape, number, count - placed)
            placed += took
            if not took and refusal is not None:
                self.refusals[number] = refusal
                break
        return placed

    def _relaxing(self, shape: Shape, number: int, count: int) -> tuple[int, Refusal | None]:
        """Place some of `count`, at least one where that is possible: each pod starts with all its wishes and
        drops one after the other, unless it only waits for a reservation.
        """
        wish: Shape | None = shape
        while wish is not None:
            self._topology.watch(wish)
            bound = self._topology.binds(wish)
            took, refusal = self._attempt(wish, number, 1 if bound else count)
            if took or refusal is None or refusal.kind == "reserved":
                return took, refusal
            if bound or not refusal.static:
                count = 1
            wish = wish.relaxed
        return 0, refusal

    def _attempt(self, shape: Shape, number: int, count: int) -> tuple[int, Refusal | None]:
        """Place up to `count` with these wishes; why the next one found nothing."""
        placed = self._onto_standing(shape, number, count)
        if placed == count:
            return placed, None
        opened = OpenClaims(self.claims, shape, self._topology, self._bookings, self._ties)
        fresh: Claim | None = None
        while placed < count:
            found = opened.next()
            if found is None and fresh is not None:
                placed += self._again(fresh, shape, number, count - placed)
                if placed == count:
                    break
            if found is None:
                bought = self._new(shape)
                if isinstance(bought, Refusal):
                    return placed, bought
                found, fresh = bought, bought[0]
            claim, offer = found
            took = 1
            if not opened.others(claim, offer):
                offer, took = claim.stretch(offer, shape, count - placed)
            self._take(claim, offer, shape, (number, took))
            opened.back(claim)
            placed += took
        return placed, None

    def _onto_standing(self, shape: Shape, number: int, count: int) -> int:
        placed = 0
        for one in self._standing:
            if placed == count:
                break
            if one.closed(shape):
                continue
            offer = one.offer(shape, self._topology)
            if isinstance(offer, Refusal):
                if offer.lasting:
                    one.close(shape)
                continue
            took = min(count - placed, one.most(shape))
            one.take(offer, shape, number, took)
            self._topology.record(shape, one.host, one.node.taints, offer, took)
            placed += took
        return placed

    def _new(self, shape: Shape) -> tuple[Claim, Offer] | Refusal:
        """A claim of the first pool that accepts; one that would have to wait for a reservation ends it."""
        refusals: list[tuple[str, Refusal]] = []
        for template in self._market.templates:
            allowed = self._allowed(template)
            if isinstance(allowed, Refusal):
                refusals.append((template.pool.name, allowed))
                continue
            claim = Claim(template, allowed, self._host())
            relax = template.settings.best_effort_min_values
            offer = claim.offer(shape, self._topology, self._bookings, relax)
            if isinstance(offer, Offer):
                self.claims.append(claim)
                claim.largest = _largest(offer, self._limits[template.pool.name])
                self._spend(template, claim.largest)
                return claim, offer
            if offer.kind == "reserved":
                return offer
            refusals.append((template.pool.name, self._for_limits(template, allowed, shape, offer)))
        return _together(refusals)

    def _again(self, fresh: Claim, shape: Shape, number: int, count: int) -> int:
        """Claims just like the one that these pods filled alone, as long as nothing makes a difference."""
        several, entries = divmod(count, fresh.count)[0], fresh.allowed
        template = fresh.template
        alone = fresh.pods == [(number, fresh.count)] and fresh.closed(shape) and fresh.lasting
        if not alone or template.narrow(fresh.requirements).reserved:
            return 0
        for made in range(several):
            if self._allowed(template) != entries:
                return made * fresh.count
            self._clock += 1
            twin = fresh.copy(self._host(), self._clock)
            self.claims.append(twin)
            self._spend(template, fresh.largest)
            self._record(twin, shape, twin.count)
        return several * fresh.count

    def _take(self, claim: Claim, offer: Offer, shape: Shape, pods: tuple[int, int]) -> None:
        self._clock += 1
        claim.take(offer, shape, pods, self._bookings, self._clock)
        self._record(claim, shape, pods[1])

    def _record(self, claim: Claim, shape: Shape, count: int) -> None:
        self._topology.register(claim.host)
        self._topology.record(shape, claim.host, claim.template.pool.taints, claim.requirements, count)

    def _host(self) -> str:
        self._clock += 1
        return f"new-{self._clock}"

    def _allowed(self, template: Template) -> frozenset[Entry] | Refusal | None:
        """The types that the pool's limits leave; None: all."""
        limits = self._limits[template.pool.name]
        if limits.get(NODES) == 0:
            return Refusal("limits", "its limit of nodes is reached")
        left = frozenset(e for e in template.entries if _within(e, limits)) if limits else None
        if left is not None and not left:
            return Refusal("limits", "every type is larger than what its limits leave")
        return None if left is None or len(left) == len(template.entries) else left

    def _for_limits(
        self, template: Template, allowed: frozenset[Entry] | None, shape: Shape, refusal: Refusal
    ) -> Refusal:
        """The refusal, or that the limits are its reason: without them it would get a machine, or wait for a
        reserved one.
        """
        if allowed is None:
            return refusal
        without = Claim(template, None, "?").offer(shape, self._topology, self._bookings)
        if isinstance(without, Refusal) and without.kind != "reserved":
            return refusal
        return Refusal("limits", "every type that it could use is larger than what its limits leave")

    def _spend(self, template: Template, largest: dict[str, int]) -> None:
        """Karpenter expects the largest type of a claim."""
        limits = self._limits[template.pool.name]
        for name, value in largest.items():
            limits[name] -= value


def _within(entry: Entry, limits: dict[str, int]) -> bool:
    capacity = dict(entry.type.capacity)
    return all(capacity.get(name, 0) <= left for name, left in limits.items())


def _largest(offer: Offer, names: Iterable[str]) -> dict[str, int]:
    """Of each of these resources, the most that any type of the offer has."""
    capacities = [dict(c.entry.type.capacity) for c in offer.candidates] if names else []
    return {name: max(capacity.get(name, 0) for capacity in capacities) for name in names}


def _together(refusals: list[tuple[str, Refusal]]) -> Refusal:
    """One refusal of all pools: of the kind that people can best do something about."""
    if not refusals:
        return Refusal("pools", "no pool has a type left that is offered as the pool requires", static=True)
    kind = min((one.kind for _, one in refusals), key=_KINDS.index)
    message = "; ".join(f"{pool}: {one.message}" for pool, one in refusals)
    return Refusal(kind, message, static=all(one.static for _, one in refusals))


_KINDS = ("limits", "topology", "types", "min-values", "requirements", "taints", "pools")

"""The claims that may still take a pod, in the order in which they are asked: fewest pods first."""

from bisect import bisect_right, insort
from collections.abc import Sequence

from gen.plan.bookings import Bookings
from gen.plan.claim import Claim, Offer
from gen.plan.shape import Shape
from gen.plan.ties import Ties
from gen.plan.topology import Topology

STABLE = 12
"""Up to so many claims Go's sort happens to be stable; beyond, the order of equals is open."""


class OpenClaims:
    """For one shape. Who waits for a reservation is asked again when one was released."""

    def __init__(
        self, claims: Sequence[Claim], shape: Shape, topology: Topology, bookings: Bookings, ties: Ties
    ) -> None:
        self._all = claims
        self._shape = shape
        self._topology = topology
        self._bookings = bookings
        self._ties = ties
        self._open = sorted((claim for claim in claims if not claim.closed(shape)), key=_order)
        self._waiting: list[tuple[Claim, int]] = []

    def next(self) -> tuple[Claim, Offer] | None:
        """The first that takes the pod; it is out until it comes `back`."""
        self._reopen()
        while self._open:
            equal = self._equal()
            block = self._open[:equal]
            del self._open[:equal]
            takers = [(claim, offer) for claim in block if (offer := self._asked(claim)) is not None]
            if takers:
                chosen = takers.pop(self._choice(takers))
                self._open[:0] = [claim for claim, _ in takers]
                return chosen
        return None

    def others(self, claim: Claim, offer: Offer) -> bool:
        """May the pod after this one go to another claim, although this one has room?"""
        return bool(self._open) or (bool(self._waiting) and offer.held != claim.held)

    def back(self, claim: Claim) -> None:
        insort(self._open, claim, key=_order)

    def _reopen(self) -> None:
        version = self._bookings.version
        for claim, seen in self._waiting:
            if seen != version:
                insort(self._open, claim, key=_order)
        self._waiting = [(claim, seen) for claim, seen in self._waiting if seen == version]

    def _asked(self, claim: Claim) -> Offer | None:
        offer = claim.offer(self._shape, self._topology, self._bookings)
        if isinstance(offer, Offer):
            return offer
        if offer.lasting:
            claim.close(self._shape)
            claim.lasting = offer.kind == "types"
        else:
            self._waiting.append((claim, self._bookings.version))
        return None

    def _equal(self) -> int:
        """How many at the front have equally many pods, where it may matter which of them comes first."""
        if len(self._all) <= STABLE or len(self._open) < 2:
            return 1
        first = self._open[0]
        equal = bisect_right(self._open, (first.count, self._endless), key=_order)
        return 1 if self._open[equal - 1].state() == first.state() else equal

    def _choice(self, takers: list[tuple[Claim, Offer]]) -> int:
        """The first or the last of equals."""
        last = len(takers) - 1
        return 0 if takers[0][0].state() == takers[last][0].state() else last * self._ties.pick(2)

    _endless = 2**62


def _order(claim: Claim) -> tuple[int, int]:
    return claim.order

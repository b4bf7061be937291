"""What the windows of a cluster need and cost: values that the simulation makes and every form prints.

Instants are seconds, UTC, and spans half-open. Money is exact until it is shown: `Money` is dollars an hour
times seconds.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

Key = tuple[str, str]
"""(reservation, class): one pool of seats, or of whole nodes."""

Money = Decimal
"""In dollars an hour times seconds: exact. `dollars` shows it."""

HOUR = 3600
_CENT = Decimal("0.01")


class Want(NamedTuple):
    """One pool of a reservation as it rises and falls. `steps`: minute, change, minute, change and so on."""

    key: Key
    nodes: bool  # whole nodes, not seats
    steps: Sequence[int]


class Sort(NamedTuple):
    """What a machine is and how it is had. `reserved`: key of the reservation at AWS; empty where none."""

    capacity: str  # name of the CloudCapacity
    type: str
    zone: str  # empty where nothing says it
    capacity_type: str  # reserved | on-demand | spot
    reserved: str


class Stay(NamedTuple):
    """A machine in a span in which nothing of it changes. `payers`: whose seats are on it, or were last, with
    how many of them.
    """

    machine: int
    sort: Sort
    since: int
    until: int
    payers: tuple[tuple[Key, int], ...]


class Lack(NamedTuple):
    """Seats of one pool that find no machine. `kind`: `limits`, or what else `gen.plan` calls the reason."""

    count: int  # type: ignore[assignment] # hides tuple.count
    kind: str
    message: str


class Step(NamedTuple):
    """A moment at which machines were asked for, or given back. `bought` in `loops` loops of Karpenter."""

    at: int
    loops: int
    bought: int
    lacks: tuple[tuple[Key, Lack], ...]


class Run(NamedTuple):
    """One way in which it may go. `homes`: for each pool, from when on its seats are on which machines, by
    time. `sorts`: of each machine when it was bought.
    """

    stays: tuple[Stay, ...]
    steps: tuple[Step, ...]
    homes: dict[Key, list[tuple[int, tuple[tuple[int, int], ...]]]]
    sorts: tuple[Sort, ...]


def dollars(money: Money) -> Decimal:
    """To the cent."""
    return (money / HOUR).quantize(_CENT)

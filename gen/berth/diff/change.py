"""What a change means: values that `berth.diff.compare` and its neighbours make, and that every form prints.

`before` is the base, `after` the working tree.
"""

from decimal import Decimal
from typing import NamedTuple

from berth.cost.ledger import ReservedUsage
from berth.cost.results import CountedKinds, Money
from berth.dates.occurrence import Occurrence
from berth.diff.manifests import FileChange
from berth.findings import Finding
from berth.schema.holders import Unit

ADDED, CHANGED, REMOVED, RENAMED = "added", "changed", "removed", "renamed"


class Field(NamedTuple):
    """One thing that is said of a reservation, before and after; empty where it was not said."""

    what: str
    before: str
    after: str


class Occurrences(NamedTuple):
    """By start. `changed`: those with one id that are not equal, before and after."""

    added: tuple[Occurrence, ...]
    removed: tuple[Occurrence, ...]
    changed: tuple[tuple[Occurrence, Occurrence], ...]
    kept: int


class ReservationChange(NamedTuple):
    """`was`: the old name of one that was renamed, else its own. `units`: what is counted, before and after;
    of one that comes or goes, twice what it has itself. Seat-seconds are count x (end - open); None of whole
    nodes.

    `standing`: what stands without windows, before and after: `5 gpu, always`; empty where nothing does.
    """

    name: str
    was: str
    kind: str
    title: str
    zone: str
    clusters: tuple[str, ...]
    fields: tuple[Field, ...]
    occurrences: Occurrences
    seat_seconds: tuple[int | None, int | None]
    standing: tuple[str, ...] = ("", "")
    units: tuple[Unit, Unit] = (Unit.SEAT, Unit.SEAT)


class Peak(NamedTuple):
    """The most of something that is open at once in a cluster, before and after, and when first.

    `during`: the dates of a ceiling that has dates; empty for all time. `holders`: what each reservation
    holds at the minute of `after`, the most first. An empty `ceiling` is none.
    """

    cluster: str
    what: str  # `seats of small`, `of cpu`
    during: str  # `2026-03-01 to 2026-03-31`
    before: str
    after: str
    at: int | None
    holders: tuple[tuple[str, str], ...]
    ceiling: str


class MachinesChange(NamedTuple):
    """The most machines that stand at once in a cluster: least and most of it, before and after; `at` and
    `machines` of the head.
    """

    cluster: str
    before: tuple[int, int]
    after: tuple[int, int]
    at: int | None
    machines: CountedKinds


class MonthChange(NamedTuple):
    """What is bought by the hour in a month, before and after; None: a price is not known. `seconds` of all
    machines.
    """

    month: str
    money: tuple[Money | None, Money | None]
    seconds: tuple[int, int]
    budget: Decimal | None


class IdleChange(NamedTuple):
    """A reservation at AWS: what is paid for and used of it over the whole term."""

    reserved: str
    cluster: str
    before: ReservedUsage
    after: ReservedUsage


class PlanChange(NamedTuple):
    """What differs in the plan of machines and money, and what is wrong with that of the head."""

    machines: tuple[MachinesChange, ...]
    months: tuple[MonthChange, ...]
    idle: tuple[IdleChange, ...]
    findings: tuple[Finding, ...]

    def is_empty(self) -> bool:
        return not (self.machines or self.months or self.idle)


class Warned(NamedTuple):
    """Something to think of before merging. `code` is one word for programs."""

    code: str
    subject: str  # a reservation, a file, or empty
    message: str


class Side(NamedTuple):
    """One of the two sides: what it is called, and its findings where it does not validate."""

    name: str
    findings: tuple[Finding, ...]
    is_sound: bool


class Change(NamedTuple):
    base: Side
    head: Side
    reservations: tuple[ReservationChange, ...]
    peaks: tuple[Peak, ...]
    warnings: tuple[Warned, ...]
    files: tuple[FileChange, ...]
    plan: PlanChange | None = None  # None: there is no CloudCapacity

    def is_empty(self) -> bool:
        differs = bool(self.reservations or self.peaks or self.files)
        planned = self.plan is not None and not self.plan.is_empty()
        return not (differs or planned) and self.base.is_sound == self.head.is_sound

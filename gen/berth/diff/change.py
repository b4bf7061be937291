"""The differences between two versions of a project, as values: computed once, then printed in any format.

`before` is the base, `after` the working tree.
"""

from typing import TYPE_CHECKING, NamedTuple

from berth.checks.policychecks import PolicyResult, SharedSubject
from berth.dates.expansion import Occurrence
from berth.diff.manifests import CHANGED, FileChange
from berth.diff.permissions import Permission
from berth.findings import WARNING, Finding
from berth.schema.policies import REFUSE, WARN
from berth.schema.reservationspec import OwnerSpec
from berth.schema.seatholders import Unit

if TYPE_CHECKING:
    from decimal import Decimal

    from berth.machines.costplan import ReservedUsage
    from berth.machines.overtime import CountedKinds, Money

RENAMED = "renamed"  # besides ADDED, CHANGED and REMOVED


class FieldChange(NamedTuple):
    """One field of a reservation, before and after; empty where it is not set."""

    what: str
    before: str
    after: str


class OccurrenceChanges(NamedTuple):
    """The occurrences that differ, by start. `changed`: the same id with other times or seats.

    `reasons`: of removed ones that are left out now, id and reason; `old_reasons`: of added ones that were.
    """

    added: tuple[Occurrence, ...]
    removed: tuple[Occurrence, ...]
    changed: tuple[tuple[Occurrence, Occurrence], ...]
    kept: int
    reasons: tuple[tuple[str, str], ...] = ()
    old_reasons: tuple[tuple[str, str], ...] = ()

    @property
    def differ(self) -> bool:
        return bool(self.added or self.removed or self.changed)


class ReservationChange(NamedTuple):
    """What differs in one reservation. Pairs are before and after.

    `old_name` differs from `name` if the reservation was renamed. `seat_seconds` are count x (end - open);
    None for whole nodes. `standing` describes a reservation without windows (`5 gpu, always`), else it is
    empty. `units`: what is counted, seats or nodes; an added or removed reservation has the
    same value twice. `causes`: kind and name of the shared documents that change it, if its own document is
    the same.
    """

    name: str
    old_name: str
    kind: str
    title: str
    zone: str
    clusters: tuple[str, ...]
    fields: tuple[FieldChange, ...]
    occurrences: OccurrenceChanges
    seat_seconds: tuple[int | None, int | None]
    standing: tuple[str, ...] = ("", "")
    units: tuple[Unit, Unit] = (Unit.SEAT, Unit.SEAT)
    owner: OwnerSpec | None = None
    causes: tuple[tuple[str, str], ...] = ()
    holds: tuple[str, str] = ("", "")  # the number of somebody else's object, and what it is otherwise
    shared: str = ""  # which other reservations hold this number, and what it is by all

    @property
    def is_retitled(self) -> bool:
        """Tell whether nothing but the title differs."""
        has_title_only = [field.what for field in self.fields] == ["title"] and not self.occurrences.differ
        return self.kind == CHANGED and has_title_only


class PeakChange(NamedTuple):
    """The most of something that is open at once in a cluster, and when it is first reached.

    `during`: the dates of a ceiling that has dates; empty for all time. `holders`: the amount of each
    reservation at the minute of `after`, the largest first. `ceiling` is empty if there is none.
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
    """The most machines that run at once in a cluster; `at` and `machines` are those of the head."""

    cluster: str
    before: int
    after: int
    at: int | None
    machines: "CountedKinds"


class MonthChange(NamedTuple):
    """The cost of the machines that are bought by the hour in a month; None if a price is unknown.

    `seconds` are those of all machines.
    """

    month: str
    money: tuple["Money | None", "Money | None"]
    seconds: tuple[int, int]
    budget: "Decimal | None"


class ReservedUsageChange(NamedTuple):
    """How much of a capacity reservation of the cloud is paid for and used during its whole term."""

    reserved: str
    cluster: str
    before: "ReservedUsage"
    after: "ReservedUsage"


class PlanChange(NamedTuple):
    """What differs in the plan of machines and costs, and the findings of the head's plan: all errors, and
    what else the base's plan does not have.
    """

    machines: tuple[MachinesChange, ...]
    months: tuple[MonthChange, ...]
    reserved: tuple[ReservedUsageChange, ...]
    findings: tuple[Finding, ...] = ()

    def is_empty(self) -> bool:
        return not (self.machines or self.months or self.reserved)


class ChangeWarning(NamedTuple):
    """Something to check before merging. `code` is one word for programs."""

    code: str
    subject: str  # a reservation, a file, or empty
    message: str


class SharedChange(NamedTuple):
    """A document that all reservations share and that differs. `fields` are those that differ, by path.

    `days`: of a calendar, the dates that go, move and come, for people. `users`: of a class, how many
    reservations of the head name it. `before`: the document of the base, which policies were about.
    """

    subject: SharedSubject
    change: str
    fields: tuple[FieldChange, ...]
    days: tuple[str, ...] = ()
    users: int = 0
    before: SharedSubject | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.subject.kind, self.subject.name


class SideSummary(NamedTuple):
    """The name of the base or the head, whether it is valid, and its findings: all errors, and what else the
    other side does not have."""

    name: str
    findings: tuple[Finding, ...]
    is_valid: bool


class Change(NamedTuple):
    """All differences between the base and the head."""

    base: SideSummary
    head: SideSummary
    reservations: tuple[ReservationChange, ...]
    peaks: tuple[PeakChange, ...]
    warnings: tuple[ChangeWarning, ...]
    files: tuple[FileChange, ...]
    plan: PlanChange | None = None  # None: there is no CloudCapacity
    policies: tuple[PolicyResult, ...] = ()
    permissions: tuple[Permission, ...] = ()
    shared: tuple[SharedChange, ...] = ()
    ignored: tuple[Finding, ...] = ()  # of the head, that the base does not ignore
    is_judged: bool = True  # whether all policies could be judged
    now: int = 0  # when it is judged

    @property
    def warning_count(self) -> int:
        """Count all warnings: of the change, of policies, and the findings of the head and of its plan."""
        findings = (*self.head.findings, *(self.plan.findings if self.plan else ()))
        return (
            len(self.warnings)
            + sum(result.policy.effect == WARN for result in self.policies)
            + sum(finding.severity == WARNING for finding in findings)
        )

    @property
    def is_refused(self) -> bool:
        return not self.is_judged or any(policy.policy.effect == REFUSE for policy in self.policies)

    def is_empty(self) -> bool:
        differs = bool(self.reservations or self.peaks or self.files or self.shared)
        has_plan_changes = self.plan is not None and not self.plan.is_empty()
        return not (differs or has_plan_changes) and self.base.is_valid == self.head.is_valid

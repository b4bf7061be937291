"""`CapacityReservation`: how many seats, of which class, when."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic.alias_generators import to_camel

from berth.backends.backendregistry import DEFAULT_HOLDER, default_text
from berth.core.timetable import Buffer
from berth.findings import Path
from berth.schema.basemodel import ListOf, Model, NonEmpty, Use, field, lazy
from berth.schema.documentproblems import DocumentProblems
from berth.schema.entry import (
    BEHAVIOR,
    LEAD,
    TIME,
    ClassSeats,
    OwnSeats,
    ScaledClassSeats,
    ScalingKeys,
    StandardSeats,
    check_seats,
    dated,
    listed,
)
from berth.schema.recurrencespec import RecurrenceSpec
from berth.schema.seatholders import Holder, Unit
from berth.schema.types import (
    Annotations,
    Behavior,
    BufferMinimum,
    BufferPercent,
    Contact,
    Date,
    DnsLabel,
    HandoverMinutes,
    Labels,
    LeadMinutes,
    Line,
    NodeCount,
    SeatCount,
    StartTime,
    Title,
    Ulid,
)
from berth.schema.values import Scaling

if TYPE_CHECKING:
    from berth.backends.backendspec import BackendSpec
else:
    BackendSpec = lazy("berth.backends.backendspec", "BackendSpec")

DEFAULT_LEAD = 30


class BufferSpec(Model):
    """How many spare seats follow the sessions."""

    percent: BufferPercent = field(meaning="of the sessions, rounded up")
    minimum: BufferMinimum = field(meaning="spare seats at least")

    def __str__(self) -> str:
        return f"{self.percent} % of the sessions, at least {self.minimum}"

    @property
    def value(self) -> Buffer:
        return Buffer(self.percent, self.minimum)


class Provisioning(ScalingKeys):
    placeholder_count: SeatCount | None = dated(None, "seats of `resourceClass`", "none: then write `seats`")
    node_count: NodeCount | None = dated(None, "only backend nodePool: nodes for `resourceClass`", "none")
    seats: NonEmpty[ScaledClassSeats] | None = field(
        None, "instead of `resourceClass`: seats by class", "none"
    )
    lead_time_minutes: LeadMinutes | None = dated(None, LEAD, f"`{DEFAULT_LEAD}`")
    scale_down_behavior: Behavior | None = dated(
        None, BEHAVIOR, default_text(lambda holder: holder.behaviors[0])
    )
    overlap: Literal["sum", "max"] | None = field(
        None,
        "seats while occurrences of this reservation overlap: their sum, or max for the largest of them",
        default_text(lambda holder: holder.overlap),
        use=Use(resolved="the overlap, by default that of the backend"),
    )
    ends_when_ready: bool = field(
        False, "only with `rehearses`: true ends the window as soon as all seats are ready"
    )
    buffer: BufferSpec | None = field(
        None,
        "with scaleDownBehavior buffer: spare seats, as `{percent: 20, minimum: 5}`",
        "none",
        use=Use(name="buffer"),
    )

    def check(self, report: DocumentProblems) -> None:
        check_seats(self.seats, report.below("seats"))


SESSIONS, AT_THE_END = (
    Use(resolved="which sessions count"),
    Use(resolved="the sessions at the end of an occurrence"),
)


class SessionMatch(Model):
    """What narrows a class's sessions to one course; by default, every session of the class counts."""

    namespaces: ListOf[DnsLabel] = field(
        (), "only sessions in these namespaces of the class", "the class's", use=SESSIONS
    )
    match_labels: Labels = field({}, "only sessions with these labels", "none", use=SESSIONS)
    match_annotations: Annotations = field({}, "only sessions with these annotations", "none", use=SESSIONS)
    project_template: Ulid | None = field(
        None, "only sessions of projects made from this Renku template", "none", use=SESSIONS
    )
    earlier: Literal["count", "ignore"] = field(
        "count", "sessions created before the window opens: count or ignore", use=SESSIONS
    )
    handover_minutes: HandoverMinutes = field(
        15,
        "minutes after the end during which sessions of this occurrence do not count for the next one",
        use=AT_THE_END,
    )
    carry_over: bool = field(
        False, "true: the same people stay, and count for the next occurrence at once", use=AT_THE_END
    )

    def check(self, report: DocumentProblems) -> None:
        if self.carry_over is not True:
            return
        if "handover_minutes" in self.model_fields_set:
            message = "sessions that carry over are not handed over."
            fix = "Keep carryOver or handoverMinutes."
            report("B016", "handoverMinutes", message, fix, at_key=True)
        if self.earlier == "ignore":
            message = "sessions that carry over were created before the next window opens."
            report("B016", "earlier", message, "Remove it, or carryOver.", at_key=True)

    @property
    def course(self) -> tuple[object, ...]:
        """Return what tells its sessions from others of the class, to compare it; empty if nothing does."""
        labels, annotations = (tuple(pairs.items()) for pairs in (self.match_labels, self.match_annotations))
        course = self.namespaces, labels, annotations, self.project_template
        return course if any(course) else ()

    @property
    def handover(self) -> int:
        """Return for how many seconds an occurrence that is over keeps its sessions from the next."""
        return 60 * self.handover_minutes


EVERY_SESSION = SessionMatch.model_construct()


class OwnerSpec(Model):
    name: Line = field(meaning="who asks for the seats: a person, a course or an institute")
    contact: Contact | None = field(
        None, "how to reach them: an e-mail address, or @user or @organization/team", "none"
    )

    def __str__(self) -> str:
        return f"{self.name} ({self.contact})" if self.contact else self.name


class Rehearses(Model):
    """The date of a course whose opening is tried beforehand."""

    name: DnsLabel = field(meaning="name of the reservation")
    day: Date = field(meaning="original date of its occurrence", alias="date")
    start_time: StartTime | None = field(
        None, f"original start of the occurrence: {TIME}", "the only start of the date"
    )

    @property
    def when(self) -> str:
        """Return how the ids of what is rehearsed begin behind the name: `2026-06-22`, or with the start."""
        start = self.start_time
        return str(self.day) if start is None else f"{self.day}T{start // 60:02}:{start % 60:02}"

    def __str__(self) -> str:
        return f"{self.name}/{self.when}"


class ReservationSpec(Model):
    title: Title | None = field(
        None, "title in lists and calendars", "the name", use=Use(resolved="the title, by default the name")
    )
    resource_class: DnsLabel | None = dated(
        None, "the class of its seats", "none: then write provisioning.seats"
    )
    rehearses: Rehearses | None = field(
        None, "whose opening the reservation tries beforehand: `berth rehearse` writes it", "nothing"
    )
    recurrence: RecurrenceSpec | None = field(None, "when", "**required**, but for `backend.standing`")
    provisioning: Provisioning = field(meaning="how many seats, and how they are held")
    sessions: SessionMatch | None = field(None, "narrows the class's sessions to this course", "all of them")
    backend: BackendSpec | None = field(
        None,
        "what holds the capacity",
        "`placeholder`",
        use=Use(resolved="what holds the seats, whose fields `diff` compares by itself"),
    )
    owner: OwnerSpec | None = field(
        None, "whom to ask about it: `{name, contact}`", "none", use=Use(name="owner", is_text=True)
    )
    suspend: bool = field(
        False,
        "true: the reservation is rendered and never opens",
        use=Use(name="suspended"),
    )

    @property
    def holder(self) -> Holder:
        return DEFAULT_HOLDER if self.backend is None else self.backend.holder

    def check(self, report: DocumentProblems) -> None:
        if self.holder.persistence is not None:
            self._check_standing(report)
        elif self.recurrence is None:
            report("B011", (), "recurrence is missing.", "Add recurrence: a mapping.")
        self._check_rehearsal(report)
        self._check_seats(report)
        self._check_counts(report)
        if self.holder.has_target and self.provisioning.overlap is not None:
            message = "for a number, backend.combine says it: largest, smallest or sum."
            fix = "Remove it, or write combine."
            report("B016", ("provisioning", "overlap"), message, fix, at_key=True)
        self._check_behavior(report)
        self._check_buffer(report)

    def _check_standing(self, report: DocumentProblems) -> None:
        """Report keys about windows, which standing seats do not have."""
        if self.recurrence is not None:
            message = "backend.standing holds seats without windows, so there is no recurrence."
            report("B016", "recurrence", message, "Remove it, or standing.", at_key=True)
        values: list[tuple[Path, object]] = [
            ((key,), getattr(self.provisioning, key)) for key in ("overlap", "buffer")
        ]
        for (parent, *rest), line in self.scaling_lines():
            if parent == "provisioning":
                values.append(((*rest, "leadTimeMinutes"), line.lead_time_minutes))
                values.append(((*rest, "scaleDownBehavior"), line.scale_down_behavior))
        for at, value in values:
            if value is not None:
                message = f"standing seats have no windows: {at[-1]} has no effect."
                report("B029", ("provisioning", *at), message, "Remove it.", at_key=True)

    def _check_rehearsal(self, report: DocumentProblems) -> None:
        """Check that a rehearsal is what the cluster can end as soon as its own seats are ready."""
        provisioning = self.provisioning
        if self.rehearses is None:
            if provisioning.ends_when_ready:
                at = ("provisioning", "endsWhenReady")
                message = "only a rehearsal ends when it is ready."
                report("B016", at, message, "Remove it, or add rehearses: {name, date}.", at_key=True)
            return
        if not provisioning.ends_when_ready:
            fix = "Add endsWhenReady: true."
            report("B011", "provisioning", "endsWhenReady is missing, which rehearses needs.", fix)
        if self.holder.has_target:
            message = "backend value cannot be rehearsed: others hold the same number, so nobody can tell "
            message += "when that of the rehearsal is ready."
            report("B016", "rehearses", message, "Remove the rehearsal.", at_key=True)
        if self.recurrence is None or self.recurrence.type != "dates":
            fix = "Write recurrence with type: dates."
            report("B016", "rehearses", "a rehearsal has dates of its own.", fix, at_key=True)
        usual = provisioning.scale_down_behavior or self.holder.behaviors[0]
        if {usual, *(line.scale_down_behavior for _, line in self.scaling_lines())} - {None, "none"}:
            message = "nobody comes to a rehearsal, so its seats follow no sessions."
            report("B016", "rehearses", message, "Write scaleDownBehavior: none.", at_key=True)

    def _check_seats(self, report: DocumentProblems) -> None:
        """Check that there is one class and its count, or a list by class; never both."""
        provisioning = self.provisioning
        counted = {"placeholderCount": provisioning.placeholder_count, "nodeCount": provisioning.node_count}
        form = next((key for key, count in counted.items() if count), None)
        is_listed = provisioning.seats is not None
        if is_listed and form is not None:
            fix = f"Keep seats or {form}."
            report("B016", ("provisioning", form), "seats already has the counts.", fix, at_key=True)
        if is_listed and self.resource_class is not None:
            fix = "Keep provisioning.seats or resourceClass."
            report("B016", "resourceClass", "seats already has the classes.", fix, at_key=True)
        if not is_listed and self.resource_class is None:
            fix = "Add resourceClass, or provisioning.seats."
            report("B011", (), "resourceClass is missing.", fix)
        if self.recurrence is not None and is_listed != (form is not None):
            meant = "seats" if is_listed else form
            for where, line in self.recurrence.lines():
                for name in ("placeholder_count", "node_count", "seats"):
                    key = to_camel(name)
                    if key != meant and getattr(line, name) is not None:
                        message = f"provisioning has {meant}; {key} cannot override it."
                        fix = f"Write {meant} here too."
                        report("B016", ("recurrence", *where, key), message, fix, at_key=True)

    def _check_counts(self, report: DocumentProblems) -> None:
        """Check that nodes or seats are counted, as the backend holds them."""
        backend, unit = self.holder.backend, self.holder.unit
        other = Unit.SEAT if unit is Unit.NODE else Unit.NODE
        for at, counted, is_needed in self._lines():
            numbers = {Unit.SEAT.field: counted.placeholder_count, Unit.NODE.field: counted.node_count}
            if numbers[other.field] is not None:
                message = f"backend {backend} holds {unit.plural}, not nodes."
                fix = "Write placeholderCount, or backend: {type: nodePool}."
                if unit is Unit.NODE:
                    message = f"backend {backend} holds whole nodes, not seats."
                    fix = "Write nodeCount: how many nodes."
                report("B016", (*at, other.field), message, fix, at_key=True)
            elif is_needed and numbers[unit.field] is None:
                fix = f"Add {unit.field}: how many {unit.plural}."
                report("B011", at, f"{unit.field} is missing.", fix)

    def _check_behavior(self, report: DocumentProblems) -> None:
        """Check that the backend can follow sessions as `scaleDownBehavior` says."""
        for at, line in self.scaling_lines():
            behavior = line.scale_down_behavior
            if behavior not in (None, *self.holder.behaviors):
                message = f"whole nodes cannot {behavior}: sessions do not use them up one by one."
                report("B170", (*at, "scaleDownBehavior"), message, "Write none, or leave it out.")

    def _check_buffer(self, report: DocumentProblems) -> None:
        """Check that the behavior `buffer` and its numbers come together."""
        behaviors = [line.scale_down_behavior for _, line in self.scaling_lines()]
        has_buffer = self.provisioning.buffer is not None
        if "buffer" in behaviors and not has_buffer:
            fix = "Add buffer: {percent: 20, minimum: 5}."
            report("B011", "provisioning", "buffer is missing, which scaleDownBehavior: buffer needs.", fix)
        elif has_buffer and "buffer" not in behaviors:
            message = "buffer has no effect: no scaleDownBehavior is buffer."
            report(
                "B029", ("provisioning", "buffer"), message, "Remove it, or add the behavior.", at_key=True
            )

    def scaling_lines(self) -> Iterator[tuple[Path, ScalingKeys]]:
        """Yield what may say how seats scale, with its place below spec."""
        return ((at, line) for at, line, _ in self._lines() if isinstance(line, ScalingKeys))

    def _lines(self) -> Iterator[tuple[Path, Provisioning | OwnSeats | ClassSeats, bool]]:
        """Yield what may count seats or nodes and scale them, with its place, and whether it must count."""
        lines: list[tuple[Path, Provisioning | OwnSeats]] = [(("provisioning",), self.provisioning)]
        if self.recurrence is not None:
            lines += [(("recurrence", *at), line) for at, line in self.recurrence.lines()]
        for at, line in lines:
            yield at, line, at == ("provisioning",) and line.seats is None
            yield from (((*at, "seats", i), each, True) for i, each in enumerate(line.seats or ()))

    def standard(self, default: Scaling) -> StandardSeats:
        provisioning = self.provisioning
        usual = provisioning.scaling(default)
        if provisioning.seats is None:
            count = provisioning.placeholder_count or provisioning.node_count or 0
            return StandardSeats(((self.resource_class or "", count),), (usual,), usual)
        by_class = tuple(seat.scaling(usual) for seat in provisioning.seats)
        return StandardSeats(listed(provisioning.seats), by_class, usual)

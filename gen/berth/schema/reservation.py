"""`CapacityReservation`: how many seats, of which class, when."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from berth.findings import Path
from berth.schema.base import ListOf, Model, NonEmpty, Text, field, lazy
from berth.schema.entry import ClassSeats, OwnSeats, check_seats, listed
from berth.schema.holders import HOLDERS, Holder, Replicas, Unit
from berth.schema.metadata import KindDocument, warn_of_engine_options
from berth.schema.recurrence import STANDING, RecurrenceSpec
from berth.schema.report import CONFLICT, IDLE_KEY, INVALID, MISSING, RANGE, Origin, Refusal, Report
from berth.schema.types import Annotations, DnsLabel, Labels, LeadMinutes, NodeCount, SeatCount, Ulid
from berth.schema.values import Reservation, Seats, SessionMatch

if TYPE_CHECKING:
    from berth.schema.backend import BackendSpec
else:
    BackendSpec = lazy("berth.schema.backend", "BackendSpec")

COUNTS_SESSIONS = "B170"
Behavior = Literal["maintain", "reduce", "none"]
DEFAULT_LEAD = 30
LONGEST_TITLE = 1200  # characters; it is an annotation of every object


def _title(text: str) -> str:
    if len(text) > LONGEST_TITLE:
        raise Refusal(f"the title has {len(text)} characters.", f"Write at most {LONGEST_TITLE}.", RANGE)
    return text


class Provisioning(Model):
    placeholder_count: SeatCount | None = field(None, "seats of `resourceClass`", "none: then write `seats`")
    node_count: NodeCount | None = field(None, "only backend nodePool: nodes for `resourceClass`", "none")
    seats: NonEmpty[ClassSeats] | None = field(None, "instead of `resourceClass`: seats by class", "none")
    lead_time_minutes: LeadMinutes | None = field(
        None, "minutes before the start at which capacity is asked for", f"`{DEFAULT_LEAD}`"
    )
    scale_down_behavior: Behavior | None = field(
        None,
        "what placeholders do as sessions arrive: maintain, reduce or none",
        f"`{Holder.behaviors[0]}`; `none` for backend nodePool",
    )

    def check(self, path: Path, report: Report) -> None:
        check_seats(self.seats, (*path, "seats"), report)

    @property
    def form(self) -> str | None:
        """Return which key counts the seats or nodes of `resourceClass`."""
        if self.placeholder_count is not None:
            return "placeholderCount"
        return None if self.node_count is None else "nodeCount"

    @property
    def count(self) -> int:
        return (self.node_count if self.placeholder_count is None else self.placeholder_count) or 0


class SessionMatchSpec(Model):
    namespaces: ListOf[DnsLabel] = field((), "only sessions in these", "the class's")
    match_labels: Labels = field({}, "only sessions with these labels", "none")
    match_annotations: Annotations = field({}, "only sessions with these annotations", "none")
    project_template: Ulid | None = field(
        None, "only sessions of projects made from this Renku template", "none"
    )
    earlier: Literal["count", "ignore"] = field(
        "count", "sessions created before the window opens: count or ignore"
    )

    @property
    def match(self) -> SessionMatch:
        return SessionMatch(
            self.namespaces,
            tuple(self.match_labels.items()),
            tuple(self.match_annotations.items()),
            self.project_template,
            self.earlier,
        )


EVERY_SESSION = SessionMatch((), (), (), None, "count")


class ReservationSpec(Model):
    title: Annotated[str, Text("title", _title)] | None = field(None, "what people call it", "the name")
    resource_class: DnsLabel | None = field(
        None, "the class of its seats", "none: then write provisioning.seats"
    )
    recurrence: RecurrenceSpec | None = field(None, "when", "**required**, but for `backend.standing`")
    provisioning: Provisioning = field(meaning="how many seats, and how they are held")
    sessions: SessionMatchSpec | None = field(
        None, "narrows the class's sessions to this course", "all of them"
    )
    backend: BackendSpec | None = field(None, "what holds the capacity", "`placeholder`")
    suspend: bool = field(False, "true: rendered, never opens")

    @property
    def backend_type(self) -> str:
        return Replicas.backend if self.backend is None else self.backend.type

    def check(self, path: Path, report: Report) -> None:
        standing = self.backend.standing if isinstance(self.backend, Model) else self.backend
        if standing is True:
            self._check_standing(path, report)
        elif self.recurrence is None and standing is not INVALID:
            report(MISSING, path, "recurrence is missing.", "Add recurrence: a mapping.")
        if self.provisioning is not INVALID:  # without it the form is unknown
            self._check_seats(path, report)
        if self.backend is not INVALID and self.backend_type is not INVALID:
            self._check_counts(path, report)
            self._check_behavior(path, report)

    def _check_standing(self, path: Path, report: Report) -> None:
        """Report keys about windows, which standing seats do not have."""
        if self.recurrence is not None:
            message = "backend.standing holds seats without windows, so there is no recurrence."
            report(CONFLICT, (*path, "recurrence"), message, "Remove it, or standing.", at_key=True)
        if self.provisioning is INVALID:
            return
        pairs = (
            ("leadTimeMinutes", self.provisioning.lead_time_minutes),
            ("scaleDownBehavior", self.provisioning.scale_down_behavior),
        )
        for name, value in pairs:
            if value is not None:
                message = f"standing seats have no windows: {name} has no effect."
                report(IDLE_KEY, (*path, "provisioning", name), message, "Remove it.", at_key=True)

    def _check_seats(self, path: Path, report: Report) -> None:
        """Check that there is one class and its count, or a list by class; never both."""
        form, at = self.provisioning.form, (*path, "provisioning")
        is_listed = self.provisioning.seats is not None
        if is_listed and form is not None:
            fix = f"Keep seats or {form}."
            report(CONFLICT, (*at, form), "seats already has the counts.", fix, at_key=True)
        if is_listed and self.resource_class is not None:
            fix = "Keep provisioning.seats or resourceClass."
            at_class = (*path, "resourceClass")
            report(CONFLICT, at_class, "seats already has the classes.", fix, at_key=True)
        if not is_listed and self.resource_class is None:
            fix = "Add resourceClass, or provisioning.seats."
            report(MISSING, path, "resourceClass is missing.", fix)
        recurrence = self.recurrence
        if recurrence is not None and recurrence is not INVALID and is_listed != (form is not None):
            recurrence.check_form("seats" if is_listed else str(form), (*path, "recurrence"), report)

    def _check_counts(self, path: Path, report: Report) -> None:
        """Check that nodes or seats are counted, as the backend holds them."""
        backend = self.backend_type
        unit = HOLDERS[backend].unit
        other = Unit.SEAT if unit is Unit.NODE else Unit.NODE
        for at, counted, is_needed in self._counts():
            numbers = {Unit.SEAT: counted.placeholder_count, Unit.NODE: counted.node_count}
            if numbers[other] is not None:
                message = f"backend {backend} holds seats, not nodes."
                fix = "Write placeholderCount, or backend: {type: nodePool}."
                if unit is Unit.NODE:
                    message = f"backend {backend} holds whole nodes, not seats."
                    fix = "Write nodeCount: how many nodes."
                report(CONFLICT, (*path, *at, other.field), message, fix, at_key=True)
            elif is_needed and numbers[unit] is None:
                fix = f"Add {unit.field}: how many {unit.plural}."
                report(MISSING, (*path, *at), f"{unit.field} is missing.", fix)

    def _check_behavior(self, path: Path, report: Report) -> None:
        """Check that the backend can follow sessions as `scaleDownBehavior` says."""
        holder = HOLDERS[self.backend_type]
        behavior = None if self.provisioning is INVALID else self.provisioning.scale_down_behavior
        if behavior not in (None, INVALID, *holder.behaviors):
            message = f"whole nodes cannot {behavior}: sessions do not use them up one by one."
            at = (*path, "provisioning", "scaleDownBehavior")
            report(COUNTS_SESSIONS, at, message, "Write none, or leave it out.")

    def _counts(self) -> Iterator[tuple[Path, Provisioning | OwnSeats | ClassSeats, bool]]:
        """Yield what may count seats or nodes, with its place, and whether it must."""
        lines: list[tuple[Path, Provisioning | OwnSeats]] = [(("provisioning",), self.provisioning)]
        if self.recurrence is not None and self.recurrence is not INVALID:
            parts = (("schedule", self.recurrence.schedule), ("extra", self.recurrence.extra))
            for name, entries in parts:
                found = () if entries is INVALID else entries
                lines += [(("recurrence", name, i), one) for i, one in enumerate(found)]
        for at, one in lines:
            if one is INVALID:
                continue
            yield at, one, at == ("provisioning",) and one.seats is None
            seats = () if not one.seats or one.seats is INVALID else one.seats
            yield from (
                ((*at, "seats", i), each, True) for i, each in enumerate(seats) if each is not INVALID
            )

    @property
    def held(self) -> Seats:
        if self.provisioning.seats is not None:
            return listed(self.provisioning.seats)
        return ((self.resource_class or "", self.provisioning.count),)


class ReservationDocument(KindDocument):
    kind_of: ClassVar = "CapacityReservation"
    kind: Literal["CapacityReservation"]
    spec: ReservationSpec

    def check(self, path: Path, report: Report) -> None:
        super().check(path, report)
        if self.metadata is not INVALID:
            warn_of_engine_options(self.metadata, (*path, "metadata"), report)

    def declared(self, origin: Origin) -> Reservation:
        spec, metadata, provisioning = self.spec, self.metadata, self.spec.provisioning
        held, holder = spec.held, Replicas() if spec.backend is None else spec.backend.holder
        is_persistent = holder.persistence is not None
        lead = provisioning.lead_time_minutes
        return Reservation(
            origin=origin,
            name=metadata.name,
            title=spec.title or metadata.name,
            labels=metadata.label_pairs,
            annotations=metadata.annotation_pairs,
            recurrence=STANDING if spec.recurrence is None else spec.recurrence.recurrence(held),
            seats=held,
            seats_listed=provisioning.seats is not None,
            lead=0 if is_persistent else DEFAULT_LEAD if lead is None else lead,
            behavior="none" if is_persistent else provisioning.scale_down_behavior or holder.behaviors[0],
            sessions=EVERY_SESSION if spec.sessions is None else spec.sessions.match,
            holder=holder,
            suspend=spec.suspend,
            renku=False,
        )

"""A reservation as it is declared, and what follows from that: its dates, seats and sessions."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol

from berth.core.timetable import Buffer
from berth.findings import Origin, Path, Problem
from berth.schema.documentproblems import DocumentProblems
from berth.schema.metadata import KindDocument, warn_of_engine_options
from berth.schema.recurrencespec import STANDING
from berth.schema.reservationspec import DEFAULT_LEAD, EVERY_SESSION, OwnerSpec, ReservationSpec, SessionMatch
from berth.schema.seatholders import Holder
from berth.schema.values import Recurrence, Scaling, Seats


class Scaled(Protocol):
    """An entry, an extra or an occurrence."""

    @property
    def seats(self) -> Seats: ...
    @property
    def scaling(self) -> tuple[Scaling, ...]: ...


class Reservation(NamedTuple):
    """A reservation as it is declared, and what is resolved from that: the rest of the program uses both."""

    origin: Origin
    name: str
    spec: ReservationSpec  # as it is declared
    labels: tuple[tuple[str, str], ...]
    annotations: tuple[tuple[str, str], ...]
    recurrence: Recurrence
    seats: Seats  # of the reservation; every entry repeats what holds for it
    seats_listed: bool  # written as provisioning.seats, not as resourceClass and placeholderCount
    lead: int  # minutes
    behavior: str  # maintain | reduce | none | buffer
    holder: Holder

    @property
    def title(self) -> str:
        return self.name if self.spec.title is None else self.spec.title

    @property
    def suspend(self) -> bool:
        return self.spec.suspend

    @property
    def owner(self) -> OwnerSpec | None:
        return self.spec.owner

    @property
    def sessions(self) -> SessionMatch:
        return self.spec.sessions or EVERY_SESSION

    @property
    def overlap(self) -> str:
        """Return what holds for seats of occurrences that overlap: sum, max or min."""
        return self.spec.provisioning.overlap or self.holder.combined

    @property
    def buffer(self) -> Buffer | None:
        """Return the numbers of behavior `buffer`."""
        spare = self.spec.provisioning.buffer
        return None if spare is None else spare.value

    def problem(self, code: str, path: Path, message: str, fix: str) -> Problem:
        """Return a problem with the value at a path."""
        return self.origin.problem(code, path, message, fix)

    def scaling_of(self, item: Scaled) -> tuple[Scaling, ...]:
        """Return how each of the seats of an item scales."""
        return item.scaling or (Scaling(self.lead, self.behavior),) * len(item.seats)

    def scalings(self) -> Iterator[tuple[int, str, Scaling]]:
        """Yield how each class scales in each line of the recurrence, with the index of the line."""
        for i, line in enumerate(self.recurrence.lines):
            for (name, _), scaling in zip(line.seats, self.scaling_of(line), strict=True):
                yield i, name, scaling

    def scaling_for(self, seats: Seats, item: Scaled) -> tuple[Scaling, ...]:
        """Return how other seats of an item scale: those of a class as its own."""
        by_class = dict(zip((name for name, _ in item.seats), self.scaling_of(item), strict=True))
        usual = Scaling(self.lead, self.behavior)
        return tuple(by_class.get(name, usual) for name, _ in seats)


class ReservationDocument(KindDocument):
    kind: Literal["CapacityReservation"]
    spec: ReservationSpec

    @property
    def renders_metadata(self) -> bool:
        return True

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        warn_of_engine_options(self.metadata, report.below("metadata"))

    def declared(self, origin: Origin) -> Reservation:
        spec, metadata, holder = self.spec, self.metadata, self.spec.holder
        standard = spec.standard(Scaling(DEFAULT_LEAD, holder.behaviors[0]))
        usual = standard.usual if holder.persistence is None else Scaling(0, "none")
        return Reservation(
            origin=origin,
            name=metadata.name,
            spec=spec,
            labels=metadata.label_pairs,
            annotations=metadata.annotation_pairs,
            recurrence=STANDING if spec.recurrence is None else spec.recurrence.recurrence(standard),
            seats=standard.seats,
            seats_listed=spec.provisioning.seats is not None,
            lead=usual.lead,
            behavior=usual.behavior,
            holder=holder,
        )

"""Compare two versions of a reservation: its fields and occurrences; find renamed and similar reservations.

Values are compared with all defaults filled in, so that only a difference in meaning counts.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.backends.backendinterface import backend_of
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import Occurrence, Skipped
from berth.dates.zone import clock
from berth.diff.change import (
    ADDED,
    CHANGED,
    REMOVED,
    RENAMED,
    FieldChange,
    OccurrenceChanges,
    ReservationChange,
)
from berth.manifests.nodeaffinity import placement
from berth.manifests.placed import class_names
from berth.notation.weekdays import WEEKDAYS
from berth.output.answers import seats_text
from berth.schema.calendardocument import Calendar
from berth.schema.plainfields import plain_fields, plain_settings
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import SessionMatch
from berth.schema.values import Entry, Extra, ResourceClass, Scaling

_NONE: tuple[Occurrence, ...] = ()


class ReservationVersion(NamedTuple):
    """A reservation on one side, with everything it refers to.

    `calendars`: its own and those of all. `clusters`: the cluster of each class. `slot_hashes`: a
    hash of the slots of each class. `peers`: other reservations that hold the same number.
    `shared_most`: the most that it is by all who hold it.
    """

    reservation: Reservation
    classes: tuple[ResourceClass, ...]
    clusters: tuple[str, ...]
    calendars: tuple[Calendar, ...]
    occurrences: tuple[Occurrence, ...]
    slot_hashes: tuple[tuple[str, str], ...] = ()
    skipped: tuple[Skipped, ...] = ()
    peers: tuple[str, ...] = ()
    shared_most: int = 0

    def is_complete(self) -> bool:
        """Tell whether all its classes and calendars, and all its dates, are known."""
        recurrence = self.reservation.recurrence
        has_calendars = {calendar.name for calendar in self.calendars} >= {*recurrence.calendars}
        has_dates = has_calendars and not recurrence.has_unknown_dates
        return has_dates and {resource_class.name for resource_class in self.classes} >= {
            *class_names(self.reservation)
        }

    def cluster_of(self, resource_class: str) -> str:
        return next(
            cluster
            for one, cluster in zip(self.classes, self.clusters, strict=True)
            if one.name == resource_class
        )


def is_same(before: ReservationVersion, after: ReservationVersion) -> bool:
    """Tell whether both are written alike, wherever in the files. Occurrences need not be computed."""
    return _declared_values(before) == _declared_values(after) and before.slot_hashes == after.slot_hashes


def _declared_values(version: ReservationVersion) -> tuple[object, ...]:
    """Return the reservation, then all other values that it refers to, without their places in files."""
    return (
        version.reservation._replace(origin=None),  # type: ignore[arg-type] # a place is not a difference
        tuple(resource_class._replace(origin=None) for resource_class in version.classes),  # type: ignore[arg-type]
        version.clusters,
        tuple((calendar.dates, calendar.closes) for calendar in version.calendars),
    )


def compare_versions(
    before: ReservationVersion | None, after: ReservationVersion | None
) -> ReservationChange | None:
    """Compare two versions of a reservation; None is a missing one. Return None if nothing differs."""
    found = after or before
    assert found is not None
    reservation = found.reservation
    units = (before or found).reservation.holder.unit, (after or found).reservation.holder.unit
    has_other_unit = units[0] is not units[1] and all(unit.is_number for unit in units)
    occurrences = _compare_occurrences(
        before.occurrences if before else _NONE,
        after.occurrences if after else _NONE,
        after.skipped if after else (),
        has_other_unit=has_other_unit,
    )
    fields = tuple(_compare_fields(before, after)) if before and after else ()
    kind = ADDED if before is None else REMOVED if after is None else CHANGED
    old_name = before.reservation.name if before else reservation.name
    if kind == CHANGED and old_name != reservation.name:
        kind = RENAMED
    if kind == CHANGED and not (fields or occurrences.differ):
        return None
    clusters = dict.fromkeys((*(before.clusters if before else ()), *(after.clusters if after else ())))
    return ReservationChange(
        reservation.name,
        old_name,
        kind,
        reservation.title,
        reservation.recurrence.zone,
        tuple(clusters),
        fields,
        occurrences,
        (
            _seat_seconds(before) if units[0].has_seat_hours else None,
            _seat_seconds(after) if units[1].has_seat_hours else None,
        ),
        tuple([_standing_text(one.reservation) if one else "" for one in (before, after)]),
        units,
        reservation.owner,
        holds=(_held_text(before), _held_text(after)),
        shared=_shared_text(found),
    )


def _held_text(version: ReservationVersion | None) -> str:
    held = version.reservation.holder.held_text if version else ""
    return f"{held}, {_shared_text(version)}" if version and version.peers else held


def _shared_text(version: ReservationVersion) -> str:
    """Return who else holds the number, and what it is by all of them: `shared with lab: 128 together`."""
    if not version.peers:
        return ""
    most = version.reservation.holder.unit.amount(version.shared_most)
    overlap = version.reservation.overlap
    effect = {"sum": f"{most} together", "min": f"the smallest counts, at most {most}"}.get(
        overlap, f"the largest counts: {most}"
    )
    return f"shared with {' and '.join(version.peers)}: {effect}"


def _compare_occurrences(
    before: Sequence[Occurrence],
    after: Sequence[Occurrence],
    skipped: Sequence[Skipped],
    *,
    has_other_unit: bool,
) -> OccurrenceChanges:
    """Match occurrences by the part of their ids after the name, which a new name does not change.

    `has_other_unit`: the same counts mean other numbers, so no date stays.
    """

    def is_changed(key: str) -> bool:
        return has_other_unit or _differ(old[key], new[key])

    left_out = {_date_of(item): item.reason for item in skipped}
    old = {_date_of(item): item for item in before}
    new = {_date_of(item): item for item in after}
    return OccurrenceChanges(
        tuple(item for key, item in new.items() if key not in old),
        tuple(item for key, item in old.items() if key not in new),
        tuple((old[key], item) for key, item in new.items() if key in old and is_changed(key)),
        sum(key in old and not is_changed(key) for key in new),
        tuple((old[key].id, left_out[key]) for key in old if key not in new and key in left_out),
    )


def _date_of(item: Occurrence | Skipped) -> str:
    return item.id.partition("/")[2]


def _differ(one: Occurrence, other: Occurrence) -> bool:
    return _times_and_seats(one) != _times_and_seats(other)


def _times_and_seats(item: Occurrence) -> tuple[object, ...]:
    return item.start, item.end, item.seats, item.opens_by_class()


def _seat_seconds(version: ReservationVersion | None) -> int:
    if version is None or version.reservation.suspend:
        return 0
    return sum(item.seat_seconds() for item in version.occurrences)


def _standing_text(reservation: Reservation) -> str:
    """Return `5 gpu, always`, or an empty text for a reservation with windows."""
    found = reservation.holder.persistence
    if found is None:
        return ""
    until = "always" if found.until is None else f"until {instant_text(found.until)}"
    return f"{seats_text(reservation.seats)}, {until}"


# Fields as text


def _compare_fields(before: ReservationVersion, after: ReservationVersion) -> Iterable[FieldChange]:
    old, new = dict(_fields(before)), dict(_fields(after))
    if before.reservation.holder.backend == after.reservation.holder.backend:
        old |= _option_texts(before)
        new |= _option_texts(after)
    for name in dict.fromkeys((*old, *new)):
        if old.get(name, "") != new.get(name, ""):
            yield FieldChange(name, old.get(name, ""), new.get(name, ""))
    yield from _compare_scaling(before.reservation, after.reservation)


def _compare_scaling(before: Reservation, after: Reservation) -> Iterator[FieldChange]:
    """Yield what changes for a class of an entry, but not in the same way for the reservation."""
    old, new = _scaling_by_entry(before), _scaling_by_entry(after)
    for key in (key for key in new if key in old):
        was, becomes = old[key], new[key]
        if was.lead != becomes.lead and (was.lead, becomes.lead) != (before.lead, after.lead):
            yield FieldChange(f"lead of {key}", f"{was.lead} min", f"{becomes.lead} min")
        pair = was.behavior, becomes.behavior
        if was.behavior != becomes.behavior and pair != (before.behavior, after.behavior):
            yield FieldChange(f"behavior of {key}", *pair)


def _scaling_by_entry(reservation: Reservation) -> dict[str, Scaling]:
    """Return how each class of each entry scales: `small on Mon, Wed 09:00`."""
    scalings: dict[str, Scaling] = {}
    for entry in reservation.recurrence.schedule:
        days = ", ".join(WEEKDAYS[day - 1].capitalize() for day in entry.days)
        when = "" if reservation.recurrence.type == "capacity" else f"{days} {clock(entry.start)}"
        scalings |= _scaling_by_class(entry, when.strip(), reservation)
    for extra in reservation.recurrence.extras:
        scalings |= _scaling_by_class(extra, f"{extra.day} {clock(extra.start)}", reservation)
    return scalings


def _scaling_by_class(item: Entry | Extra, when: str, reservation: Reservation) -> dict[str, Scaling]:
    pairs = zip(item.seats, reservation.scaling_of(item), strict=True)
    return {f"{name} on {when}" if when else name: one for (name, _), one in pairs}


def _fields(version: ReservationVersion) -> Iterable[tuple[str, str]]:
    """Yield every field of a reservation and its classes, except its dates.

    By hand only what is resolved; the plain fields follow from the model.
    """
    one, recurrence = version.reservation, version.reservation.recurrence
    yield "name", one.name
    yield "title", one.title
    yield one.holder.unit.key, seats_text(one.seats, one.holder.unit)
    yield "clusters", ", ".join(dict.fromkeys(version.clusters))
    yield "lead", f"{one.lead} min"
    yield "behavior", one.behavior
    yield "time zone", recurrence.zone
    yield "backend", one.holder.backend
    yield "sessions", _sessions(one.sessions)
    yield "sessions at the end", _next_sessions(one.sessions)
    yield "overlap", one.overlap
    yield from ((field.name, field.text) for field in plain_fields(one.spec))
    for key, value in one.labels:
        yield f"label {key}", value
    for key, value in one.annotations:
        yield f"annotation {key}", value
    for resource_class in version.classes:
        for resource, amount in resource_class.requests:
            yield f"{resource_class.name} asks for {resource}", amount
        for resource, amount in resource_class.limits:
            yield f"{resource_class.name} is limited in {resource}", amount
        yield f"{resource_class.name} images", ", ".join(resource_class.images.names)
        yield f"{resource_class.name} image warm-up", resource_class.images.warm_up or ""
        for key, value in placement(resource_class).items():
            yield f"{resource_class.name} {key}", str(value)


def _option_texts(version: ReservationVersion) -> Iterator[tuple[str, str]]:
    """Yield the options of the backend, and the shapes of what is replaced where they change."""
    yield from backend_of(version.reservation.holder).option_texts(version.reservation.holder)
    for name, slot_hash in version.slot_hashes:
        yield f"shape of the slots of {name}", slot_hash


def _sessions(match: SessionMatch) -> str:
    parts = [
        *(f"namespace {name}" for name in match.namespaces),
        *(f"{key}={value}" for key, value in (*match.match_labels.items(), *match.match_annotations.items())),
        *([f"template {match.project_template}"] if match.project_template else ()),
        *(["not those from before the window"] if match.earlier == "ignore" else ()),
    ]
    return ", ".join(parts) or "all of the class"


def _next_sessions(match: SessionMatch) -> str:
    return "carried over" if match.carry_over else f"handed over after {match.handover // 60} min"


# Renamed and similar reservations. A rename is certain: everything but name, title, owner, labels and
# annotations is equal. Reservations that only share most of their dates are reported for people to judge.


class SimilarReservations(NamedTuple):
    """A removed and an added reservation; `same` of the `dates` of the added one are equal."""

    old: str
    new: str
    same: int
    dates: int


def find_renamed(
    removed: Sequence[ReservationVersion], added: Sequence[ReservationVersion]
) -> list[tuple[ReservationVersion, ReservationVersion]]:
    """Return pairs that differ in names and texts only, each version once, in the order of `added`."""
    left: dict[Hashable, list[ReservationVersion]] = {}
    for old in removed:
        left.setdefault(_dates(old), []).append(old)
    pairs = []
    for new in added:
        candidates = left.get(_dates(new), [])
        for old in candidates:
            if _without_names(old) == _without_names(new):
                pairs.append((old, new))
                candidates.remove(old)
                break
    return pairs


def find_similar(
    removed: Sequence[ReservationVersion], added: Sequence[ReservationVersion]
) -> Iterator[SimilarReservations]:
    """Yield for each added reservation the removed one of the same classes with the most dates in common.

    The two must share more than half of the dates of the one that has more.
    """
    by_date: dict[Hashable, list[ReservationVersion]] = {}
    sizes = {
        reservation_version.reservation.name: len(reservation_version.occurrences)
        for reservation_version in removed
    }
    for old in removed:
        for date in _spans(old):
            by_date.setdefault((_classes(old), date), []).append(old)
    for new in added:
        spans = _spans(new)
        shared = Counter(
            one.reservation.name for date in spans for one in by_date.get((_classes(new), date), ())
        )
        best = min(shared, key=lambda name: (-shared[name], name), default=None)
        if best is not None and 2 * shared[best] > max(sizes[best], len(spans)):
            yield SimilarReservations(best, new.reservation.name, shared[best], len(spans))


def _classes(version: ReservationVersion) -> tuple[str, ...]:
    return tuple(sorted(resource_class.name for resource_class in version.classes))


def _spans(version: ReservationVersion) -> list[tuple[int, int]]:
    return [(item.start, item.end) for item in version.occurrences]


def _dates(version: ReservationVersion) -> Hashable:
    return tuple((item.open, item.start, item.end, item.seats, item.scaling) for item in version.occurrences)


def _without_names(version: ReservationVersion) -> tuple[object, ...]:
    one, *rest = _declared_values(version)
    assert isinstance(one, Reservation)
    settings = plain_settings(one)
    return one._replace(name="", spec=None, annotations=(), labels=()), settings, *rest  # type: ignore[arg-type]

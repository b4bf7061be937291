"""Compare two versions of a reservation: its fields and occurrences; find renamed ones.

Values are compared with all defaults filled in, so that only a difference in meaning counts.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from berth.backends.backendinterface import backend_of
from berth.checks.project import Item
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import Occurrence, Skipped
from berth.dates.zone import clock
from berth.diff.change import RENAMED, FieldChange, OccurrenceChanges, ReservationChange
from berth.diff.manifests import ADDED, CHANGED, REMOVED
from berth.manifests.nodeaffinity import placement
from berth.manifests.placed import class_names
from berth.notation.weekdays import WEEKDAYS
from berth.output.answers import seats_text
from berth.output.yamltext import flow
from berth.schema.calendardocument import Calendar
from berth.schema.plainfields import plain_fields, plain_settings
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import SessionMatch
from berth.schema.seatholders import Unit
from berth.schema.values import Entry, Extra, ResourceClass, Scaling


class ReservationVersion(NamedTuple):
    """A reservation on one side, with everything it refers to.

    `calendars`: its own and those of all. `clusters`: the cluster of each class. `slot_hashes`: a
    hash of the slots of each class. `peers`: other reservations that hold the same number.
    `shared_most`: the most that it is by all who hold it.
    """

    item: Item
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


Versions = tuple[ReservationVersion | None, ReservationVersion | None]
"""A reservation of the base and of the head; None where there is none."""


def is_same(before: ReservationVersion, after: ReservationVersion) -> bool:
    """Tell whether both are written alike, wherever in the files. Occurrences need not be computed."""
    return before.item is after.item or (
        _declared_values(before) == _declared_values(after) and before.slot_hashes == after.slot_hashes
    )


def _declared_values(version: ReservationVersion) -> tuple[object, ...]:
    """Return the reservation, then all other values that it refers to, without their places in files."""
    return (
        version.reservation._replace(origin=None),  # type: ignore[arg-type] # a place is not a difference
        tuple(resource_class.without_place for resource_class in version.classes),
        version.clusters,
        tuple((calendar.dates, calendar.closes) for calendar in version.calendars),
    )


def compare_versions(
    before: ReservationVersion | None, after: ReservationVersion | None
) -> ReservationChange | None:
    """Compare two versions of a reservation; None is a missing one. Return None if nothing differs."""
    found = after or before
    assert found is not None
    reservation, old = found.reservation, (before or found).reservation
    sides = before, after
    units = old.holder.unit, reservation.holder.unit
    occurrences = _compare_occurrences(before, after, units)
    fields = _compare_fields(before, after) if before and after else ()
    kind = ADDED if before is None else REMOVED if after is None else CHANGED
    if kind == CHANGED and old.name != reservation.name:
        kind = RENAMED
    if kind == CHANGED and not (fields or occurrences.differ):
        return None
    return ReservationChange(
        reservation.name,
        old.name,
        kind,
        reservation.title,
        reservation.recurrence.zone,
        tuple(dict.fromkeys(cluster for side in sides if side for cluster in side.clusters)),
        tuple(fields),
        occurrences,
        (
            _seat_seconds(before) if units[0].has_seat_hours else None,
            _seat_seconds(after) if units[1].has_seat_hours else None,
        ),
        tuple([_standing_text(side.reservation) if side else "" for side in sides]),
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
    effects = {"sum": f"{most} together", "min": f"the smallest counts, at most {most}"}
    effect = effects.get(version.reservation.overlap, f"the largest counts: {most}")
    return f"shared with {' and '.join(version.peers)}: {effect}"


def _compare_occurrences(
    before: ReservationVersion | None, after: ReservationVersion | None, units: tuple[Unit, Unit]
) -> OccurrenceChanges:
    """Match occurrences by the part of their ids after the name, which a new name does not change."""
    old, new = ({_date_of(one): one for one in side.occurrences} if side else {} for side in (before, after))
    was_left_out, left_out = (
        {_date_of(one): one.reason for one in side.skipped} if side else {} for side in (before, after)
    )
    # the same counts of another unit mean other numbers, so no date stays
    has_other_unit = units[0] is not units[1] and all(unit.is_number for unit in units)
    both = [(old[key], one) for key, one in new.items() if key in old]
    changed = [pair for pair in both if has_other_unit or _meaning(pair[0]) != _meaning(pair[1])]
    return OccurrenceChanges(
        tuple(one for key, one in new.items() if key not in old),
        tuple(one for key, one in old.items() if key not in new),
        tuple(changed),
        len(both) - len(changed),
        tuple((old[key].id, left_out[key]) for key in old if key not in new and key in left_out),
        tuple((new[key].id, was_left_out[key]) for key in new if key not in old and key in was_left_out),
    )


def _date_of(item: Occurrence | Skipped) -> str:
    return item.id.partition("/")[2]


def _meaning(item: Occurrence) -> tuple[object, ...]:
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


def _compare_fields(before: ReservationVersion, after: ReservationVersion) -> list[FieldChange]:
    has_options = before.reservation.holder.backend == after.reservation.holder.backend
    old, new = (dict(_fields(side, has_options=has_options)) for side in (before, after))
    names = dict.fromkeys((*old, *new))
    found = [FieldChange(name, old.get(name, ""), new.get(name, "")) for name in names]
    was, becomes = before.reservation, after.reservation
    scalings = _scalings(was)
    for key, scaling in _scalings(becomes).items():  # what does not change alike for the reservation
        one = scalings.get(key, scaling)
        if (one.lead, scaling.lead) != (was.lead, becomes.lead):
            found.append(FieldChange(f"lead of {key}", f"{one.lead} min", f"{scaling.lead} min"))
        if (one.behavior, scaling.behavior) != (was.behavior, becomes.behavior):
            found.append(FieldChange(f"behavior of {key}", one.behavior, scaling.behavior))
    return [field for field in found if field.before != field.after]


def _scalings(reservation: Reservation) -> dict[str, Scaling]:
    """Return how each class of each entry scales: `small on Mon, Wed 09:00`."""
    items: list[tuple[Entry | Extra, str]] = []
    for entry in reservation.recurrence.schedule:
        days = ", ".join(WEEKDAYS[day - 1].capitalize() for day in entry.days)
        has_times = reservation.recurrence.type != "capacity"
        items.append((entry, f"{days} {clock(entry.start)}".strip() if has_times else ""))
    items += [(extra, f"{extra.day} {clock(extra.start)}") for extra in reservation.recurrence.extras]
    return {
        f"{name} on {when}" if when else name: scaling
        for item, when in items
        for (name, _), scaling in zip(item.seats, reservation.scaling_of(item), strict=True)
    }


def _fields(version: ReservationVersion, *, has_options: bool) -> Iterator[tuple[str, str]]:
    """Yield every field of a reservation and its classes, except its dates.

    By hand only what is resolved; the plain fields follow from the model. `has_options`: with the options of
    the backend, and the shapes of what is replaced where they change.
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
    handover = f"handed over after {one.sessions.handover // 60} min"
    yield "sessions at the end", "carried over" if one.sessions.carry_over else handover
    yield "overlap", one.overlap
    yield from ((field.name, field.text) for field in plain_fields(one.spec))
    yield from ((f"label {key}", value) for key, value in one.labels)
    yield from ((f"annotation {key}", value) for key, value in one.annotations)
    for found in version.classes:
        for words, amounts in (("asks for", found.requests), ("is limited in", found.limits)):
            yield from ((f"{found.name} {words} {name}", amount) for name, amount in amounts.items())
        yield f"{found.name} images", ", ".join(found.images)
        yield f"{found.name} image warm-up", found.image_warm_up or ""
        yield from ((f"{found.name} {key}", flow(value)) for key, value in placement(found).items())
    if has_options:
        yield from backend_of(one.holder).option_texts(one.holder)
        yield from ((f"shape of the slots of {name}", slot_hash) for name, slot_hash in version.slot_hashes)


def _sessions(match: SessionMatch) -> str:
    parts = [
        *(f"namespace {name}" for name in match.namespaces),
        *(f"{key}={value}" for key, value in (*match.match_labels.items(), *match.match_annotations.items())),
        *([f"template {match.project_template}"] if match.project_template else ()),
        *(["not those from before the window"] if match.earlier == "ignore" else ()),
    ]
    return ", ".join(parts) or "all of the class"


# A rename is certain: everything but name, title, owner, labels and annotations is equal.


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


def _dates(version: ReservationVersion) -> Hashable:
    return tuple((item.open, item.start, item.end, item.seats, item.scaling) for item in version.occurrences)


def _without_names(version: ReservationVersion) -> tuple[object, ...]:
    one, *rest = _declared_values(version)
    assert isinstance(one, Reservation)
    settings = plain_settings(one)
    return one._replace(name="", spec=None, annotations=(), labels=()), settings, *rest  # type: ignore[arg-type]

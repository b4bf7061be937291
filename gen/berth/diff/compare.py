"""Compare two versions of a reservation: fields, dates, and whether one is the other renamed."""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from berth.core.instants import instant_text
from berth.dates.occurrence import Occurrence
from berth.diff.change import ADDED, CHANGED, REMOVED, RENAMED, Field, Occurrences, ReservationChange
from berth.manifests.nodeaffinity import placement
from berth.manifests.placed import class_names
from berth.output.report import seats_text
from berth.schema.holders import Persistence, Slots
from berth.schema.slots import Owner
from berth.schema.values import Calendar, Reservation, ResourceClass, SessionMatch

# What is said of a reservation's slots, in words. Pure.


def slot_facts(slots: Slots, shapes: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """`shapes` by class."""
    yield "standing", _said(slots.standing)
    yield "expires", slots.expires or ""
    yield "ttl", slots.ttl or ""
    yield "owners", "; ".join(map(_owner, slots.owners)) or "sessions of the class"
    yield "allocate once", _said(slots.allocate_once)
    yield "allocate policy", slots.allocate_policy or "the cluster's"
    yield "with placeholders", _said(slots.with_placeholders)
    yield "session affinity", _said(slots.session_affinity)
    yield "pre-allocation", _said(slots.pre_allocation)
    yield "pre-allocation required", _said(slots.pre_allocation_required)
    yield "pre-allocation policy", _tree(slots.pre_allocation_policy and slots.pre_allocation_policy.dump())
    yield "unschedulable", _said(slots.unschedulable)
    yield "taints", _tree([one.dump() for one in slots.taints])
    yield "order", _number(slots.order)
    yield "priority", _number(slots.priority)
    yield "restricted resources", ", ".join(slots.restricted_resources)
    for key, value in slots.labels:
        yield f"slot label {key}", value
    for key, value in slots.annotations:
        yield f"slot annotation {key}", value
    template = {"metadata": slots.template.named_metadata(), "spec": slots.template.spec()}
    if slots.template.ports:
        template["container"] = {"ports": slots.template.container_ports()}
    for part, said in template.items():
        for key, value in said.items():
            yield f"slot {part}.{key}", _tree(value)
    for name, shape in shapes:
        yield f"shape of the slots of {name}", shape


def standing_text(reservation: Reservation) -> str:
    """`5 gpu, always`; empty where it has windows."""
    found = reservation.holder.persistence
    return "" if found is None else f"{seats_text(reservation.seats)}, {until_text(found)}"


def until_text(found: Persistence) -> str:
    return "always" if found.until is None else f"until {instant_text(found.until)}"


def _said(flag: bool) -> str:
    return "yes" if flag else "no"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _tree(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""


def _owner(one: Owner) -> str:
    return " and ".join(f"{key} {_tree(value)}" for key, value in one.parts().items())


# How does one reservation differ from what it was? Pure. What people wrote is compared as values, with
# every default filled in, and its dates as they fall.

_NONE: tuple[Occurrence, ...] = ()


class Version(NamedTuple):
    """A reservation as one side has it. `clusters`: of each class; `shapes`: how its slots are made, by
    class.
    """

    reservation: Reservation
    classes: tuple[ResourceClass, ...]
    clusters: tuple[str, ...]
    calendars: tuple[Calendar, ...]
    occurrences: tuple[Occurrence, ...]
    shapes: tuple[tuple[str, str], ...] = ()

    def is_whole(self) -> bool:
        """Whether all its classes and calendars are known, and where it is."""
        has_calendars = len(self.calendars) == len(self.reservation.recurrence.calendars)
        return has_calendars and {one.name for one in self.classes} >= {*class_names(self.reservation)}

    def cluster_of(self, resource_class: str) -> str:
        return next(
            cluster
            for one, cluster in zip(self.classes, self.clusters, strict=True)
            if one.name == resource_class
        )


def same(before: Version, after: Version) -> bool:
    """Whether they say the same, wherever in the files they stand. Dates need not be known."""
    return said_by(before) == said_by(after) and before.shapes == after.shapes


def said_by(version: Version) -> tuple[object, ...]:
    """The reservation first, then all else that it says."""
    return (
        version.reservation._replace(origin=None),  # type: ignore[arg-type] # where it stands says nothing
        tuple(one._replace(origin=None) for one in version.classes),  # type: ignore[arg-type]
        version.clusters,
        tuple(one.dates for one in version.calendars),
    )


def compared(before: Version | None, after: Version | None) -> ReservationChange | None:
    """None where nothing differs that anybody would notice."""
    found = after or before
    assert found is not None
    reservation = found.reservation
    dates = occurrences(before.occurrences if before else _NONE, after.occurrences if after else _NONE)
    fields = tuple(_fields(before, after)) if before and after else ()
    kind = ADDED if before is None else REMOVED if after is None else CHANGED
    was = before.reservation.name if before else reservation.name
    if kind == CHANGED and was != reservation.name:
        kind = RENAMED
    if kind == CHANGED and not (fields or dates.added or dates.removed or dates.changed):
        return None
    units = (before or found).reservation.holder.unit, (after or found).reservation.holder.unit
    clusters = dict.fromkeys((*(before.clusters if before else ()), *(after.clusters if after else ())))
    return ReservationChange(
        reservation.name,
        was,
        kind,
        reservation.title,
        reservation.recurrence.zone,
        tuple(clusters),
        fields,
        dates,
        (
            _seat_seconds(before) if units[0].has_seat_hours else None,
            _seat_seconds(after) if units[1].has_seat_hours else None,
        ),
        tuple([standing_text(one.reservation) if one else "" for one in (before, after)]),
        units,
    )


def occurrences(before: Sequence[Occurrence], after: Sequence[Occurrence]) -> Occurrences:
    """Matched by their ids; those of a renamed reservation by what comes after its name."""
    old = {_date_of(item): item for item in before}
    new = {_date_of(item): item for item in after}
    return Occurrences(
        tuple(item for key, item in new.items() if key not in old),
        tuple(item for key, item in old.items() if key not in new),
        tuple((old[key], item) for key, item in new.items() if key in old and _differ(old[key], item)),
        sum(key in old and not _differ(old[key], item) for key, item in new.items()),
    )


def _date_of(item: Occurrence) -> str:
    return item.id.partition("/")[2]


def _differ(one: Occurrence, other: Occurrence) -> bool:
    return (one.open, one.start, one.end, one.seats) != (other.open, other.start, other.end, other.seats)


def _seat_seconds(version: Version | None) -> int:
    if version is None or version.reservation.suspend:
        return 0
    return sum(count * (item.end - item.open) for item in version.occurrences for _, count in item.seats)


def _fields(before: Version, after: Version) -> Iterable[Field]:
    old, new = dict(_facts(before)), dict(_facts(after))
    was, now = before.reservation.holder, after.reservation.holder
    if isinstance(was, Slots) and isinstance(now, Slots):
        old |= slot_facts(was, before.shapes)
        new |= slot_facts(now, after.shapes)
    for what in dict.fromkeys((*old, *new)):
        if old.get(what, "") != new.get(what, ""):
            yield Field(what, old.get(what, ""), new.get(what, ""))


def _facts(version: Version) -> Iterable[tuple[str, str]]:
    """What is said of a reservation beside its dates, in words."""
    one, recurrence = version.reservation, version.reservation.recurrence
    yield "name", one.name
    yield "title", one.title
    yield one.holder.unit.plural, seats_text(one.seats, one.holder.unit)
    yield "clusters", ", ".join(dict.fromkeys(version.clusters))
    yield "lead", f"{one.lead} min"
    yield "behaviour", one.behavior
    yield "time zone", recurrence.zone
    yield "suspended", "yes" if one.suspend else "no"
    yield "backend", one.holder.backend
    yield "sessions", _sessions(one.sessions)
    for key, value in one.labels:
        yield f"label {key}", value
    for key, value in one.annotations:
        yield f"annotation {key}", value
    for found in version.classes:
        for resource, amount in found.requests:
            yield f"{found.name} asks for {resource}", amount
        for resource, amount in found.limits:
            yield f"{found.name} is limited in {resource}", amount
        for key, value in placement(found).items():
            yield f"{found.name} {key}", str(value)


def _sessions(match: SessionMatch) -> str:
    said = [
        *(f"namespace {name}" for name in match.namespaces),
        *(f"{key}={value}" for key, value in (*match.match_labels, *match.match_annotations)),
        *([f"template {match.project_template}"] if match.project_template else ()),
        *(["not those from before the window"] if match.earlier == "ignore" else ()),
    ]
    return ", ".join(said) or "all of the class"


# Which reservations only changed their names, and which merely look as if they had? Pure. A rename is
# found, not guessed: but for name, title, labels and annotations both are equal. What is no more than alike
# is told, and people judge.


class Alike(NamedTuple):
    """`same` of the dates of the new one are dates of the old one, too."""

    old: str
    new: str
    same: int
    dates: int


def renamed(removed: Sequence[Version], added: Sequence[Version]) -> list[tuple[Version, Version]]:
    """Pairs that differ in their names and words only, each version once; in the order of `added`."""
    left: dict[Hashable, list[Version]] = {}
    for old in removed:
        left.setdefault(_dates(old), []).append(old)
    pairs = []
    for new in added:
        alike = left.get(_dates(new), [])
        for old in alike:
            if _without_name(old) == _without_name(new):
                pairs.append((old, new))
                alike.remove(old)
                break
    return pairs


def likenesses(removed: Sequence[Version], added: Sequence[Version]) -> Iterator[Alike]:
    """For each added one the removed one of the same classes with which it shares most of its dates, if any.

    Most: more than half of the dates of the one that has more.
    """
    by_date: dict[Hashable, list[Version]] = {}
    sizes = {one.reservation.name: len(one.occurrences) for one in removed}
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
            yield Alike(best, new.reservation.name, shared[best], len(spans))


def _classes(version: Version) -> tuple[str, ...]:
    return tuple(sorted(one.name for one in version.classes))


def _spans(version: Version) -> list[tuple[int, int]]:
    return [(item.start, item.end) for item in version.occurrences]


def _dates(version: Version) -> Hashable:
    """What can be looked up; equal for all that are equal."""
    return tuple((item.open, item.start, item.end, item.seats) for item in version.occurrences)


def _without_name(version: Version) -> tuple[object, ...]:
    one, *rest = said_by(version)
    assert isinstance(one, Reservation)
    return one._replace(name="", title="", annotations=(), labels=()), *rest

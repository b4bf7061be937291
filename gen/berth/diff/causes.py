"""Say what changed documents that all share do to the reservations: one cause, one line.

A reservation whose own document is the same changes because of a calendar, a class, a cloud capacity or the
site. All reservations with the same causes are one effect.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.dates.moments import hours_text
from berth.diff.change import (
    REMOVED,
    Change,
    FieldChange,
    OccurrenceChanges,
    ReservationChange,
    SharedChange,
)
from berth.diff.compare import ReservationVersion
from berth.diff.shared import CALENDAR, CLOUD_CAPACITY, RESOURCE_CLASS
from berth.diff.wording import DiffLine, change_text, detail_lines, number_of, quantity_change, sign_of
from berth.diff.zonemoves import has_other_zone, move_text

SITE = "Site"
_FEW_DAYS = 6  # dates of a calendar in its line
_FEW = 3  # reservations that are shown whole

DocumentKey = tuple[str, str]
"""Kind and name of a document that all share."""


class Effect(NamedTuple):
    """The reservations that the same documents change."""

    causes: tuple[DocumentKey, ...]
    reservations: tuple[ReservationChange, ...]

    @property
    def is_small(self) -> bool:
        """Tell whether each reservation is shown whole."""
        return len(self.reservations) <= _FEW


def causes_of(
    old: ReservationVersion,
    new: ReservationVersion,
    dates: OccurrenceChanges,
    changed: Mapping[DocumentKey, SharedChange],
) -> tuple[DocumentKey, ...]:
    """Return the changed documents that change a reservation; none if its own document differs.

    `dates`: how its dates differ. Calendars change it only if dates go or come.
    """
    if _own_document(old) != _own_document(new):
        return ()
    sides = old, new
    names = [
        *((CALENDAR, calendar.name) for side in sides for calendar in side.calendars),
        *((RESOURCE_CLASS, resource_class.name) for side in sides for resource_class in side.classes),
    ]
    found = [key for key in dict.fromkeys(names) if key in changed]
    if old.reservation.recurrence.terms != new.reservation.recurrence.terms:
        found += [key for key in changed if key[0] == CALENDAR and key not in found]
    if old.reservation.recurrence.usable != new.reservation.recurrence.usable:
        capacity = CLOUD_CAPACITY, new.reservation.recurrence.capacity
        found += [key for key in changed if key == capacity]
    if not found or old.reservation.recurrence.zone != new.reservation.recurrence.zone:
        found += [key for key in changed if key[0] == SITE]
    others = [key for key in found if key[0] != CALENDAR]
    return tuple(found if dates.added or dates.removed or not others else others)


def _own_document(version: ReservationVersion) -> tuple[object, ...]:
    reservation = version.reservation
    return reservation.name, reservation.spec, reservation.labels, reservation.annotations


def effects(change: Change) -> list[Effect]:
    """Return the effects of shared documents, in the order of the first reservation of each."""
    groups: dict[tuple[DocumentKey, ...], list[ReservationChange]] = {}
    for reservation in change.reservations:
        if reservation.causes:
            groups.setdefault(reservation.causes, []).append(reservation)
    return [Effect(causes, tuple(group)) for causes, group in groups.items()]


def shown_whole(change: Change) -> list[ReservationChange]:
    """Return the reservations that are not lines of an effect: changed themselves, or one of few."""
    small = {effect.causes for effect in effects(change) if effect.is_small}
    return [
        reservation
        for reservation in change.reservations
        if not reservation.causes or reservation.causes in small
    ]


def document_text(key: DocumentKey, changes: Iterable[ReservationChange]) -> str:
    """Return `15 reservations, 11 dates go, 8 come`: what one document does in sum; empty if nothing.

    Where others do something to the same reservations, a calendar lets dates go and come, a site moves them,
    and a class only counts.
    """
    concerned = [change for change in changes if key in change.causes]
    if all(len(found.causes) == 1 for found in concerned):
        return effect_text(concerned) if concerned else ""
    dates = [found.occurrences for found in concerned]
    if key[0] == CALENDAR:
        both = zip(concerned, dates, strict=True)
        concerned = [found for found, own in both if own.added or own.removed]
        concerned = [
            found._replace(occurrences=found.occurrences._replace(changed=())) for found in concerned
        ]
    elif key[0] == SITE:
        kept = [own._replace(added=(), removed=()) for own in dates]
        concerned = [found._replace(occurrences=own) for found, own in zip(concerned, kept, strict=True)]
    else:
        return number_of(len(concerned), "reservation")
    return effect_text([found._replace(seat_seconds=(0, 0)) for found in concerned]) if concerned else ""


def effect_text(changes: Sequence[ReservationChange]) -> str:
    """Return `15 reservations, 11 dates go, 8 come; seat-hours 30 -> 20`."""
    count = number_of(len(changes), "reservation")
    dates = ": ".join(filter(None, [_dates_text(changes), _moves_text(changes)]))
    return "; ".join(filter(None, [f"{count}, {dates}" if dates else count, _hours_text(changes)]))


def _dates_text(changes: Sequence[ReservationChange]) -> str:
    """Return `11 dates go, 8 come`; empty if all dates stay."""
    pairs = [pair for change in changes for pair in change.occurrences.changed]
    counts = (
        (sum(len(change.occurrences.removed) for change in changes), "goes", "go"),
        (sum(len(change.occurrences.added) for change in changes), "comes", "come"),
        (sum(map(has_other_zone, pairs)), "moves", "move"),
        (sum(not has_other_zone(pair) for pair in pairs), "changes", "change"),
    )
    parts: list[str] = []
    for count, single, several in counts:
        noun = "" if parts else " date" if count == 1 else " dates"
        parts += [f"{count}{noun} {single if count == 1 else several}"] if count else []
    return ", ".join(parts)


def _moves_text(changes: Sequence[ReservationChange]) -> str:
    pairs = [pair for change in changes for pair in change.occurrences.changed]
    return move_text(pairs, is_whole=not any(change.occurrences.kept for change in changes))


def _hours_text(changes: Sequence[ReservationChange]) -> str:
    before, after = (sum(change.seat_seconds[side] or 0 for change in changes) for side in (0, 1))
    return f"seat-hours {hours_text(before)} -> {hours_text(after)}" if before != after else ""


def shared_lines(document: SharedChange, changes: Iterable[ReservationChange]) -> Iterator[DiffLine]:
    """Yield one line for a shared document and what it does, and a line for each further key.

    The dates of a calendar are a key of theirs only if they are not all in the first line.
    """
    fields = document.fields if document.change != REMOVED else ()
    days = document.days[:_FEW_DAYS]
    left = len(document.days) - len(days)
    if days and not left:
        fields = tuple(field for field in fields if field.what != "spec.dates")
    inline = [", ".join(days) + (f" and {left} more" if left else "")] if days else []
    if not inline and len(fields) == 1:
        inline, fields = [_field_text(fields[0])], ()
    users = f"{number_of(document.users, 'reservation')} of this class" if document.users else ""
    texts = [*inline, *filter(None, [document_text(document.key, changes) or users])]
    title = f"{document.title}: {'; '.join(texts)}" if texts else document.title
    yield DiffLine(sign_of(document.change), title)
    for field in fields:
        yield DiffLine("~", f"  {_field_text(field)}")


def _field_text(field: FieldChange) -> str:
    before, after = quantity_change(field.what.rpartition(".")[2], field.before, field.after)
    return f"{field.what}: {change_text(before, after)}"


def joint_line(effect: Effect) -> DiffLine:
    """Return the line of the reservations that several documents change together."""
    names = " and ".join(" ".join(key) for key in effect.causes)
    count = number_of(len(effect.reservations), "reservation")
    return DiffLine("~", "; ".join(filter(None, [f"{names}: {count}", _hours_text(effect.reservations)])))


def course_lines(effect: Effect, *, is_brief: bool = False) -> list[DiffLine]:
    """Return a line for each reservation, without what stays the same or changes alike in all of them.

    `is_brief`: sums instead of dates.
    """
    describe = _brief_text if is_brief else _full_text
    moves = _moves_text(effect.reservations)
    same = {*effect.reservations[0].fields}.intersection(
        *(reservation.fields for reservation in effect.reservations)
    )
    lines = []
    for reservation in effect.reservations:
        fields = tuple(field for field in reservation.fields if field not in same)
        text = describe(reservation._replace(fields=fields), moves)
        lines.append(DiffLine(" ", f"{reservation.name}: {text or reservation.title}"))
    return lines


def _full_text(found: ReservationChange, _: str) -> str:
    hours = found.seat_seconds if found.seat_seconds[0] != found.seat_seconds[1] else (None, None)
    lines = detail_lines(found._replace(seat_seconds=hours))
    return "; ".join(f"{line.sign} {line.text}".strip() for line in lines)


def _brief_text(found: ReservationChange, moves_of_all: str) -> str:
    moves = _moves_text([found])
    fields = ", ".join(_field_text(field) for field in found.fields)
    dates = ": ".join(filter(None, [_dates_text([found]), moves if moves != moves_of_all else ""]))
    return "; ".join(filter(None, [fields, dates, _hours_text([found])]))


def effects_by_document(
    documents: Iterable[SharedChange], found: Sequence[Effect]
) -> tuple[dict[DocumentKey, Effect], list[Effect]]:
    """Return the effect of each document alone, and those of several documents together."""
    keys = {document.key for document in documents}
    alone = {
        effect.causes[0]: effect for effect in found if len(effect.causes) == 1 and effect.causes[0] in keys
    }
    return alone, [effect for effect in found if effect not in alone.values()]

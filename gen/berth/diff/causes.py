"""Say what changed documents that all share do to the reservations: one cause, one line.

A reservation whose own document is the same changes because of a calendar, a class or the site. All
reservations with the same causes are one effect.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.dates.moments import hours_text
from berth.diff.change import REMOVED, Change, FieldChange, ReservationChange, SharedChange
from berth.diff.compare import ReservationVersion
from berth.diff.shared import CALENDAR
from berth.diff.wording import DiffLine, change_text, detail_lines, number_of, quantity_change, sign_of
from berth.diff.zonemoves import has_other_zone, move_text

RESOURCE_CLASS, SITE = "ResourceClass", "Site"
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
    old: ReservationVersion, new: ReservationVersion, changed: Mapping[DocumentKey, SharedChange]
) -> tuple[DocumentKey, ...]:
    """Return the changed documents that change a reservation; none if its own document differs."""
    if _own_document(old) != _own_document(new):
        return ()
    sides = old, new
    names = [
        *((CALENDAR, calendar.name) for side in sides for calendar in side.calendars),
        *((RESOURCE_CLASS, found.name) for side in sides for found in side.classes),
    ]
    found = [key for key in dict.fromkeys(names) if key in changed]
    if old.reservation.recurrence.terms != new.reservation.recurrence.terms:
        found += [key for key in changed if key[0] == CALENDAR and key not in found]
    if not found or old.reservation.recurrence.zone != new.reservation.recurrence.zone:
        found += [key for key in changed if key[0] == SITE]
    return tuple(found)


def _own_document(version: ReservationVersion) -> tuple[object, ...]:
    reservation = version.reservation
    return reservation.name, reservation.spec, reservation.labels, reservation.annotations


def effects(change: Change) -> list[Effect]:
    """Return the effects of shared documents, in the order of the first reservation of each."""
    groups: dict[tuple[DocumentKey, ...], list[ReservationChange]] = {}
    for reservation in change.reservations:
        if reservation.causes:
            groups.setdefault(reservation.causes, []).append(reservation)
    return [Effect(causes, tuple(found)) for causes, found in groups.items()]


def shown_whole(change: Change) -> list[ReservationChange]:
    """Return the reservations that are not lines of an effect: changed themselves, or one of few."""
    small = {effect.causes for effect in effects(change) if effect.is_small}
    return [found for found in change.reservations if not found.causes or found.causes in small]


def effect_text(effect: Effect) -> str:
    """Return `15 reservations, 11 dates go, 8 come`."""
    count = number_of(len(effect.reservations), "reservation")
    dates = ": ".join(filter(None, [_dates_text(effect.reservations), _moves_text(effect.reservations)]))
    hours = _hours_text(effect.reservations)
    return "; ".join(filter(None, [f"{count}, {dates}" if dates else count, hours]))


def _dates_text(changes: Sequence[ReservationChange]) -> str:
    """Return `11 dates go, 8 come`; empty if all dates stay."""
    pairs = [pair for found in changes for pair in found.occurrences.changed]
    counts = (
        (sum(len(found.occurrences.removed) for found in changes), "goes", "go"),
        (sum(len(found.occurrences.added) for found in changes), "comes", "come"),
        (sum(map(has_other_zone, pairs)), "moves", "move"),
        (sum(not has_other_zone(pair) for pair in pairs), "changes", "change"),
    )
    parts: list[str] = []
    for count, single, several in counts:
        noun = "" if parts else " date" if count == 1 else " dates"
        parts += [f"{count}{noun} {single if count == 1 else several}"] if count else []
    return ", ".join(parts)


def _moves_text(changes: Sequence[ReservationChange]) -> str:
    pairs = [pair for found in changes for pair in found.occurrences.changed]
    return move_text(pairs, is_whole=not any(found.occurrences.kept for found in changes))


def _hours_text(changes: Sequence[ReservationChange]) -> str:
    before, after = (sum(found.seat_seconds[side] or 0 for found in changes) for side in (0, 1))
    return f"seat-hours {hours_text(before)} -> {hours_text(after)}" if before != after else ""


def shared_lines(document: SharedChange, effect: Effect | None) -> Iterator[DiffLine]:
    """Yield one line for a shared document and what it does alone, and a line for each further key.

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
    texts = [*inline, *([effect_text(effect)] if effect else [])]
    title = f"{document.title}: {'; '.join(texts)}" if texts else document.title
    yield DiffLine(sign_of(document.change), title)
    for field in fields:
        yield DiffLine("~", f"  {_field_text(field)}")


def _field_text(field: FieldChange) -> str:
    before, after = quantity_change(field.what.rpartition(".")[2], field.before, field.after)
    return f"{field.what}: {change_text(before, after)}"


def joint_line(effect: Effect) -> DiffLine:
    """Return the line of what several documents do together."""
    names = " and ".join(" ".join(key) for key in effect.causes)
    return DiffLine("~", f"{names}: {effect_text(effect)}")


def course_lines(effect: Effect, *, is_brief: bool = False) -> list[DiffLine]:
    """Return a line for each reservation, without what stays the same or changes alike in all of them.

    `is_brief`: sums instead of dates.
    """
    describe = _brief_text if is_brief else _full_text
    moves = _moves_text(effect.reservations)
    same = {*effect.reservations[0].fields}.intersection(*(found.fields for found in effect.reservations))
    lines = []
    for found in effect.reservations:
        fields = tuple(field for field in found.fields if field not in same)
        text = describe(found._replace(fields=fields), moves)
        lines.append(DiffLine(" ", f"{found.name}: {text or found.title}"))
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

"""Say what changed documents that all share do to the reservations: one cause, one line.

A reservation whose own document is the same changes because of a calendar, a class, a cloud capacity or the
site. All reservations with the same causes are one effect.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from berth.dates.expansion import Occurrence
from berth.dates.moments import hours_text
from berth.diff.change import Change, FieldChange, OccurrenceChanges, ReservationChange, SharedChange
from berth.diff.compare import ReservationVersion
from berth.diff.manifests import REMOVED
from berth.diff.shared import CALENDAR, CLOUD_CAPACITY, RESOURCE_CLASS
from berth.diff.wording import (
    SIGNS,
    DiffLine,
    change_text,
    detail_lines,
    has_other_zone,
    move_text,
    number_of,
    quantity_change,
)

SITE = "Site"
_FEW_DAYS = 6  # dates of a calendar in its line
_FEW = 3  # reservations that are shown whole

DocumentKey = tuple[str, str]
"""Kind and name of a document that all share."""


def causes_of(
    old: ReservationVersion,
    new: ReservationVersion,
    dates: OccurrenceChanges,
    changed: Mapping[DocumentKey, SharedChange],
) -> tuple[DocumentKey, ...]:
    """Return the changed documents that change a reservation; none if its own document differs.

    `dates`: how its dates differ. A calendar changes it only if dates go or come because of it.
    """
    was, becomes = old.reservation, new.reservation
    if any(getattr(was, key) != getattr(becomes, key) for key in ("name", "spec", "labels", "annotations")):
        return ()
    sides = old, new
    names = [
        *((CALENDAR, calendar.name) for side in sides for calendar in side.calendars),
        *((RESOURCE_CLASS, resource_class.name) for side in sides for resource_class in side.classes),
    ]
    found = [key for key in dict.fromkeys(names) if key in changed]
    if was.recurrence.terms != becomes.recurrence.terms:
        found += [key for key in changed if key[0] == CALENDAR and key not in found]
    found = [key for key in found if key[0] != CALENDAR or _dates_of(changed[key], dates).differ]
    if was.recurrence.usable != becomes.recurrence.usable:
        capacity = CLOUD_CAPACITY, becomes.recurrence.capacity
        found += [key for key in changed if key == capacity]
    if not found or was.recurrence.zone != becomes.recurrence.zone:
        found += [key for key in changed if key[0] == SITE]
    return tuple(found)


def _dates_of(calendar: SharedChange, dates: OccurrenceChanges) -> OccurrenceChanges:
    """Return the dates that go and come because of a calendar: it leaves them out, or its terms do."""
    has_terms = any(field.what.startswith("spec.terms") for field in calendar.fields)
    reasons = dict((*dates.reasons, *dates.old_reasons))

    def is_its(occurrence: Occurrence) -> bool:
        reason = reasons.get(occurrence.id)
        return reason.partition(":")[0] == f"calendar {calendar.subject.name}" if reason else has_terms

    return OccurrenceChanges(
        tuple(filter(is_its, dates.added)), tuple(filter(is_its, dates.removed)), (), dates.kept
    )


def shown_whole(change: Change) -> list[ReservationChange]:
    """Return the reservations that are not lines of an effect: changed themselves, or one of few."""
    small = {causes for causes, group in _effects(change).items() if len(group) <= _FEW}
    return [one for one in change.reservations if not one.causes or one.causes in small]


def _effects(change: Change) -> dict[tuple[DocumentKey, ...], list[ReservationChange]]:
    """Return the reservations that the same documents change, in the order of the first of each."""
    groups: dict[tuple[DocumentKey, ...], list[ReservationChange]] = {}
    for reservation in change.reservations:
        if reservation.causes:
            groups.setdefault(reservation.causes, []).append(reservation)
    return groups


def _document_text(document: SharedChange, changes: Iterable[ReservationChange]) -> str:
    """Return `15 reservations, 11 dates go, 8 come; seat-hours 30 -> 20`; empty if nothing changes.

    Where others do something to the same reservations, a calendar lets dates go and come, a site moves them,
    and a class only counts.
    """
    key = document.key
    concerned = [change for change in changes if key in change.causes]
    if any(len(found.causes) > 1 for found in concerned):
        if key[0] not in {CALENDAR, SITE}:
            return number_of(len(concerned), "reservation")
        concerned = [
            found._replace(
                occurrences=_dates_of(document, found.occurrences)
                if key[0] == CALENDAR
                else found.occurrences._replace(added=(), removed=()),
                seat_seconds=(0, 0),
            )
            for found in concerned
        ]
    if not concerned:
        return ""
    count = number_of(len(concerned), "reservation")
    dates = ": ".join(filter(None, [_dates_text(concerned), _moves_text(concerned)]))
    return "; ".join(filter(None, [f"{count}, {dates}" if dates else count, _hours_text(concerned)]))


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


def _shared_lines(document: SharedChange, changes: Iterable[ReservationChange]) -> Iterator[DiffLine]:
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
    texts = [*inline, *filter(None, [_document_text(document, changes) or users])]
    subject = document.subject
    title = f"{subject.kind} {subject.name} ({subject.origin.file})"
    yield DiffLine(SIGNS[document.change], ": ".join(filter(None, [title, "; ".join(texts)])))
    for field in fields:
        yield DiffLine("~", f"  {_field_text(field)}")


def _field_text(field: FieldChange) -> str:
    before, after = quantity_change(field.what.rpartition(".")[2], field.before, field.after)
    return f"{field.what}: {change_text(before, after)}"


def course_lines(changes: Sequence[ReservationChange], *, is_brief: bool = False) -> list[DiffLine]:
    """Return a line for each reservation, without what stays the same or changes alike in all of them.

    `is_brief`: sums instead of dates.
    """
    moves_of_all = _moves_text(changes)
    same = {*changes[0].fields}.intersection(*(one.fields for one in changes))
    lines = []
    for one in changes:
        fields = tuple(field for field in one.fields if field not in same)
        if is_brief:
            moves = _moves_text([one])
            dates = ": ".join(filter(None, [_dates_text([one]), moves if moves != moves_of_all else ""]))
            texts = [", ".join(map(_field_text, fields)), dates, _hours_text([one])]
        else:
            hours = one.seat_seconds if one.seat_seconds[0] != one.seat_seconds[1] else (None, None)
            details = detail_lines(one._replace(fields=fields, seat_seconds=hours))
            texts = [f"{line.sign} {line.text}".strip() for line in details]
        lines.append(DiffLine(" ", f"{one.name}: {'; '.join(filter(None, texts)) or one.title}"))
    return lines


def shared_parts(change: Change) -> Iterator[tuple[list[DiffLine], Sequence[ReservationChange]]]:
    """Yield the lines of each shared document, then of several together, with the reservations they change.

    Few reservations are shown whole elsewhere.
    """
    effects = _effects(change)
    parts = [
        ([*_shared_lines(document, change.reservations)], effects.get((document.key,), []))
        for document in change.shared
    ]
    for causes, group in effects.items():
        if len(causes) > 1:
            names = " and ".join(" ".join(key) for key in causes)
            texts = [f"{names}: {number_of(len(group), 'reservation')}", _hours_text(group)]
            parts.append(([DiffLine("~", "; ".join(filter(None, texts)))], group))
    for lines, group in parts:
        yield lines, group if len(group) > _FEW else ()

"""Describe a change in lines of plain text, which every format for people lays out.

Each line has a sign: `+`, `-`, `~`, `!` for a warning, or a space for an explanation. Times are on the clock
of the reservation's zone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from berth.checks.ceilings import holders_text
from berth.checks.policychecks import PolicyResult, result_text
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import EXCEPT, Occurrence, Skipped, dates_by_reason
from berth.dates.moments import (
    day_text,
    hours_text,
    local_day,
    local_text,
    named,
    near_span_text,
    near_text,
    span_text,
)
from berth.dates.zone import day_of, number
from berth.diff.change import (
    ADDED,
    REMOVED,
    RENAMED,
    ChangeWarning,
    FieldChange,
    OccurrenceChanges,
    PeakChange,
    ReservationChange,
)
from berth.diff.manifests import FileChange, ObjectChange
from berth.diff.permissions import Permission
from berth.diff.zonemoves import has_other_zone, move_text, shift_of
from berth.findings import Finding
from berth.manifests import naming
from berth.output.answers import seats_text
from berth.quantity import readable
from berth.schema.seatholders import Unit
from berth.schema.values import Seats

LOSSES = "Refused, removed or reduced"
POLICIES, PEAKS, PLAN, WARNINGS = "Policies", "Peaks", "Machines and money", "Check before merging"
PERMISSIONS, SHARED, IGNORED = "New permissions", "Shared documents", "Ignored findings"
MANIFESTS = "Manifests"
"""Headings."""

_SIGNS = {ADDED: "+", REMOVED: "-", "changed": "~", RENAMED: "~"}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FEW = 3  # dates that are listed one by one
_LONGEST_TITLE = 80  # characters


class DiffLine(NamedTuple):
    """A line of text with its sign."""

    sign: str
    text: str


def permission_lines(permissions: Iterable[Permission]) -> list[DiffLine]:
    """Return a line for the permissions that are alike but for the name of their reservation."""
    alike: dict[tuple[str, ...], list[Permission]] = {}
    for permission in permissions:
        alike.setdefault(_without_reservation(permission), []).append(permission)
    return [_permission_line(group[0], len(group) - 1) for group in alike.values()]


def _without_reservation(one: Permission) -> tuple[str, ...]:
    folder, _, file = one.file.rpartition("/")
    name = file.removesuffix(".yaml")
    texts = one.kind, one.name, one.where, *one.grants
    if not folder.endswith("/reservations"):
        return folder, file, *texts
    return folder, "", *(re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w])", "\0", text) for text in texts)


def _permission_line(one: Permission, others: int) -> DiffLine:
    verbs: dict[str, list[str]] = {}
    for verb, _, what in (grant.partition(" ") for grant in one.grants):
        verbs.setdefault(what, []).append(verb)
    grants = ", ".join(f"{'/'.join(found)} {what}" for what, found in verbs.items())
    verb = f"and {others} like it grant" if others else "grants"
    meaning = f". {one.meaning}" if one.meaning else ""
    return DiffLine("+", f"{one.place}: {one.kind} {one.name} {verb} {grants}{meaning}{_reach(one)}")


def _reach(one: Permission) -> str:
    """Say what a taken-over pod could do to an object of somebody else whose number is held."""
    if not naming.is_held_role(one.name):
        return ""
    patched = [what for verb, _, what in (grant.partition(" ") for grant in one.grants) if verb == "patch"]
    if any("/scale" not in what for what in patched):
        return ": a pod of Berth that is taken over may change every field there, not only the number"
    return (
        ": a pod of Berth that is taken over may change its scale, and nothing else there" if patched else ""
    )


def ignored_line(one: Finding) -> DiffLine:
    path = f"{one.path}: " if one.path else ""
    return DiffLine("!", f"{one.file}:{one.line}: {one.code} {path}{one.message}")


def policy_line(one: PolicyResult) -> DiffLine:
    return DiffLine("!", f"{one.subject}: {result_text(one)}")


def title_line(one: ReservationChange) -> DiffLine:
    renamed = f" (was {one.old_name})" if one.kind == RENAMED else ""
    clusters = ", ".join(one.clusters) or "no cluster"
    title = f": {_cut(one.title)}" if one.title != one.name else ""
    if one.is_retitled:
        title = f": title {change_text(_cut(one.fields[0].before), _cut(one.fields[0].after))}"
    owner = f", owner {one.owner}" if one.owner else ""
    return DiffLine(_SIGNS[one.kind], f"{one.name}{renamed}{title} [{clusters}]{owner}")


def _cut(title: str) -> str:
    """Cut a long title, so that it leaves room for what changes."""
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"


def line_of(one: ReservationChange) -> DiffLine:
    """Return the title and all details in one line."""
    title = title_line(one)
    details = "; ".join(f"{line.sign} {line.text}".strip() for line in detail_lines(one))
    return DiffLine(title.sign, f"{title.text}: {details}" if details else title.text)


def detail_lines(one: ReservationChange) -> list[DiffLine]:
    """Describe the fields of a reservation that differ, its dates and its seat-hours.

    A title that changes alone is in the title line.
    """
    if one.is_retitled:
        return []
    dates = one.occurrences
    moves = move_text(dates.changed, is_whole=not dates.kept)
    diff_lines = [DiffLine("~", _field_text(field, moves)) for field in one.fields]
    reasons = dict(dates.reasons)
    for sign, items, unit in (("+", dates.added, one.units[1]), ("-", dates.removed, one.units[0])):
        for group in _group_occurrences(items, reasons):
            seats = seats_text(group.seats, unit)
            why = f", {group.reason}" if group.reason not in ("", EXCEPT) else ""
            diff_lines += [DiffLine(sign, f"{seats}: {text}{why}") for text in _date_texts(group)]
    diff_lines += _changed_occurrences(dates, one.units)
    if dates.kept and dates.differ:
        verb = "stays" if dates.kept == 1 else "stay"
        diff_lines.append(DiffLine(" ", f"{number_of(dates.kept, 'other date')} {verb}"))
    diff_lines += _standing(*one.standing)
    if one.kind in {ADDED, REMOVED} and any(one.holds):
        diff_lines.append(DiffLine(_SIGNS[one.kind], f"holds {one.holds[one.kind == ADDED]}"))
    elif one.shared:
        diff_lines.append(DiffLine(" ", f"the number is {one.shared}"))
    return [*diff_lines, *_seat_hours(one)]


def _field_text(field: FieldChange, moves: str) -> str:
    before, after = quantity_change(field.what.rpartition(" ")[2], field.before, field.after)
    if field.what == "title":
        before, after = _cut(before), _cut(after)
    text = f"{field.what}: {change_text(before, after)}"
    return f"{text}, {moves}" if field.what == "time zone" and moves else text


def left_out_lines(skipped: Iterable[Skipped]) -> list[DiffLine]:
    """Say which dates do not happen, with the holiday that each is on."""
    lines = []
    for reason, dates in dates_by_reason(skipped).items():
        shown = [day_text(number(date.fromisoformat(day))) for day in dates]
        text = (
            ", ".join(shown) if len(shown) <= _FEW else f"{len(shown)} dates from {shown[0]} to {shown[-1]}"
        )
        lines.append(DiffLine(" ", f"left out by {reason}: {text}"))
    return lines


def sign_of(kind: str) -> str:
    """Return the sign of what is added, changed, removed or renamed."""
    return _SIGNS[kind]


def quantity_change(resource: str, before: str, after: str) -> tuple[str, str]:
    """Return both amounts in the units that people read, a common unit once: `25` and `30 cores`."""
    old, new = readable(resource, before), readable(resource, after)
    if old == new:
        return before, after
    number, _, unit = old.partition(" ")
    has_unit = new != after and unit == new.partition(" ")[2]
    return (number, new) if has_unit else (old, new)


def change_text(before: str, after: str) -> str:
    return f"{before or 'none'} -> {after or 'none'}" if before != after else before


def _standing(before: str, after: str) -> list[DiffLine]:
    if bool(before) == bool(after):
        return []  # the fields show what differs
    return [DiffLine("-", before)] if before else [DiffLine("+", after)]


def _seat_hours(one: ReservationChange) -> list[DiffLine]:
    has_hours = any(unit.has_seat_hours for unit in one.units)
    if not has_hours or one.seat_seconds == (None, None) or (any(one.standing) and not any(one.seat_seconds)):
        return []
    before, after = ("" if seconds is None else hours_text(seconds) for seconds in one.seat_seconds)
    return [DiffLine(" ", f"seat-hours: {after if one.kind == ADDED else change_text(before, after)}")]


def number_of(number: int, noun: str) -> str:
    """Return `1 file` or `3 files`."""
    return f"{number} {noun}{'s' if number != 1 else ''}"


def peak_line(one: PeakChange, zone_name: str) -> DiffLine:
    resource = one.what.removeprefix("of ")
    during = f" from {one.during}" if one.during else ""
    at = f" at {local_text(one.at, named(zone_name))} ({zone_name})" if one.at is not None else ""
    ceiling = f", ceiling {readable(resource, one.ceiling)}" if one.ceiling else ""
    shown = [(name, readable(resource, amount)) for name, amount in one.holders]
    amounts = [(name, re.sub(" cores?$", "", amount)) for name, amount in shown]
    holders = f": {holders_text(amounts)}" if amounts else ""
    before, after = quantity_change(resource, one.before, one.after)
    return DiffLine("~", f"{one.cluster}, most {one.what}{during}: {before} -> {after}{at}{ceiling}{holders}")


def warning_line(one: ChangeWarning) -> DiffLine:
    return DiffLine("!", f"{one.subject}: {one.message}" if one.subject else one.message)


def file_line(one: FileChange) -> DiffLine:
    return DiffLine(_SIGNS[one.change], f"{one.path}: {objects_text(one.objects)}")


def objects_text(objects: Iterable[ObjectChange]) -> str:
    """Return `~ConfigMap, +CronJob x2`."""
    kinds = Counter(f"{_SIGNS[item.change]}{item.kind}" for item in objects)
    return ", ".join(f"{kind} x{count}" if count > 1 else kind for kind, count in kinds.items())


def object_title(one: ObjectChange) -> str:
    lines = one.lines(0)
    plus = sum(line.startswith("+") for line in lines)
    minus = sum(line.startswith("-") for line in lines)
    return f"{one.kind} {one.name} (+{plus} -{minus})"


# Occurrences: those at the same local time with the same seats share a line


class _OccurrenceGroup(NamedTuple):
    """Occurrences at one local time with the same seats, by start; at least one."""

    times: str  # `09:00-13:00`
    seats: Seats
    reason: str  # why they are left out; may be empty
    occurrences: tuple[Occurrence, ...]


def _group_occurrences(
    occurrences: Iterable[Occurrence], reasons: Mapping[str, str]
) -> list[_OccurrenceGroup]:
    """Group occurrences by local time, seats and reason, in the order of the first start of each group."""
    found: dict[tuple[str, Seats, str], list[Occurrence]] = {}
    for item in sorted(occurrences, key=lambda occurrence: (occurrence.start, occurrence.id)):
        found.setdefault((_times(item), item.seats, reasons.get(item.id, "")), []).append(item)
    return [_OccurrenceGroup(*key, tuple(items)) for key, items in found.items()]


def _times(item: Occurrence) -> str:
    """Return `09:00-13:00` or `17:00 to Sun 12:00`, and the name of its entry."""
    zone = named(item.zone)
    return _with_name(near_span_text(item.start, item.end, zone, local_day(item.start, zone)), item)


def date_and_times(item: Occurrence) -> str:
    """Return `Mon 2026-02-02 09:00-13:00`, and the name of its entry."""
    return _with_name(span_text(item.start, item.end, named(item.zone)), item)


def _with_name(times: str, item: Occurrence) -> str:
    return f"{times} {item.name}" if item.name else times


def _date_texts(group: _OccurrenceGroup) -> list[str]:
    """Return `Mon, Wed 09:00-13:00, 28 dates from 2026-02-02 to 2026-05-13 (08:00-12:00 UTC)`."""
    items = group.occurrences
    if len(items) <= _FEW:
        return [f"{date_and_times(item)} ({_utc_text([item])})" for item in items]
    zone = named(items[0].zone)
    days = [day_of(local_day(item.start, zone) * 1440) for item in items]
    weekdays = sorted({day.weekday() for day in days})
    names = "daily" if len(weekdays) == 7 else ", ".join(_DAYS[day] for day in weekdays)
    return [f"{names} {group.times}, {len(items)} dates from {days[0]} to {days[-1]} ({_utc_text(items)})"]


def _utc_text(items: Sequence[Occurrence]) -> str:
    """Return the times in UTC, and the dates from which they differ."""
    parts, last = list[str](), ""
    for item in items:
        times = _utc_times(item)
        if times != last:
            parts.append(f"from {instant_text(item.start)[:10]} {times}" if parts else times)
            last = times
        if len(parts) > _FEW:
            return f"{'; '.join(parts[:_FEW])}; and other times UTC"
    return f"{'; '.join(parts)} UTC"


def _utc_times(item: Occurrence) -> str:
    zone = named("UTC")
    return near_span_text(item.start, item.end, zone, local_day(item.start, zone))


def _changed_occurrences(changes: OccurrenceChanges, units: tuple[Unit, Unit]) -> list[DiffLine]:
    """Describe occurrences with other times or seats; equal changes share a line."""
    diff_lines: list[DiffLine] = []
    groups: dict[str, list[Occurrence]] = {}
    shifted: dict[str, list[tuple[Occurrence, Occurrence]]] = {}
    for before, after in changes.changed:
        if _day(before) != _day(after):
            shifted.setdefault(_shift(before, after, units), []).append((before, after))
        else:
            groups.setdefault(_time_change(before, after, units), []).append(after)
    for text, pairs in shifted.items():
        if len(pairs) > _FEW:
            groups[text] = [after for _, after in pairs]
            continue
        for before, after in pairs:
            dates = f"{date_and_times(before)} -> {date_and_times(after)}"
            diff_lines.append(DiffLine("~", f"{dates}{_seats_change(before, after, units)}"))
    for text, items in groups.items():
        dates = ", ".join(map(_day, items))
        if len(items) > _FEW:
            dates = f"{len(items)} dates, {_day(items[0])} to {_day(items[-1])}"
        diff_lines.append(DiffLine("~", f"{text}: {dates}"))
    return diff_lines


def _shift(before: Occurrence, after: Occurrence, units: tuple[Unit, Unit]) -> str:
    """Return how an occurrence changes whose day is another: `09:00-13:00, 2 days later`."""
    days = local_day(after.start, named(after.zone)) - local_day(before.start, named(before.zone))
    old, new = _times(before), _times(after)
    by = f"{number_of(abs(days), 'day')} {'later' if days > 0 else 'earlier'}"
    return f"{change_text(old, new)}, {by}{_seats_change(before, after, units)}"


def _time_change(before: Occurrence, after: Occurrence, units: tuple[Unit, Unit]) -> str:
    seats = _seats_change(before, after, units)
    if has_other_zone((before, after)):
        if _times(before) == _times(after):
            return f"{_times(after)} opens {shift_of((before, after))}{seats}"
        return f"{_times(before)} ({before.zone}) -> {_times(after)} ({after.zone}){seats}"
    if _times(before) != _times(after):
        return f"{_times(before)} -> {_times(after)}{seats}"
    old, new = before.opens_by_class(), after.opens_by_class()
    pairs = {name: (old[name], new[name]) for name in new if old.get(name, new[name]) != new[name]}
    if not pairs:
        return f"{_times(after)}{seats}"
    zone = named(after.zone)
    day = local_day(after.start, zone)
    changes = {name: " -> ".join(near_text(at, zone, day) for at in pair) for name, pair in pairs.items()}
    if len({*pairs.values()}) == 1 and pairs.keys() == new.keys():
        return f"{_times(after)} opens at {next(iter(changes.values()))}{seats}"
    openings = ", ".join(f"{name} opens at {text}" for name, text in changes.items())
    return f"{_times(after)}, {openings}{seats}"


def _day(item: Occurrence) -> str:
    return date_and_times(item)[:14]


def _seats_change(before: Occurrence, after: Occurrence, units: tuple[Unit, Unit]) -> str:
    if before.seats == after.seats and units[0] is units[1]:
        return ""
    old, new = (seats_text(one.seats, unit) for one, unit in zip((before, after), units, strict=True))
    return f", {old} -> {new}"

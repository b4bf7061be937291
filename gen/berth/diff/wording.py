"""Describe a change in lines of plain text, which every format for people lays out.

Each line has a sign: `+`, `-`, `~`, `!` for a warning, or a space for an explanation. Times are on the clock
of the reservation's zone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from berth.dates.zone import DAY, FOLD, GAP, day_of, local, number, resolve
from berth.diff.change import RENAMED, OccurrenceChanges, PeakChange, ReservationChange
from berth.diff.manifests import ADDED, REMOVED, FileChange, ObjectChange
from berth.diff.permissions import Permission
from berth.manifests import naming
from berth.output.answers import seats_text
from berth.quantity import readable
from berth.schema.seatholders import Unit
from berth.schema.values import Seats

SIGNS = {ADDED: "+", REMOVED: "-", "changed": "~", RENAMED: "~"}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FEW = 3  # dates that are listed one by one
_WINTER, _SUMMER = "in winter", "in summer"
_LONGEST_TITLE = 80  # characters


class DiffLine(NamedTuple):
    """A line of text with its sign."""

    sign: str
    text: str


def permission_lines(permissions: Iterable[Permission]) -> list[DiffLine]:
    """Return a line for the permissions that are alike but for the name of their reservation."""
    alike: dict[tuple[str, ...], list[Permission]] = {}
    for one in permissions:
        folder, _, file = one.file.rpartition("/")
        texts: tuple[str, ...] = one.kind, one.name, one.where, *one.grants
        if folder.endswith("/reservations"):
            name, file = rf"(?<![\w-]){re.escape(file.removesuffix('.yaml'))}(?![\w])", ""
            texts = tuple(re.sub(name, "\0", text) for text in texts)
        alike.setdefault((folder, file, *texts), []).append(one)
    lines = []
    for one, *others in alike.values():
        verbs: dict[str, list[str]] = {}
        for verb, _, what in (grant.partition(" ") for grant in one.grants):
            verbs.setdefault(what, []).append(verb)
        grants = ", ".join(f"{'/'.join(found)} {what}" for what, found in verbs.items())
        patched = [
            what for what, found in verbs.items() if "patch" in found and naming.is_held_role(one.name)
        ]
        reach = ": a pod of Berth that is taken over may change " if patched else ""
        if any("/scale" not in what for what in patched):
            reach += "every field there, not only the number"
        elif patched:
            reach += "its scale, and nothing else there"
        verb = f"and {len(others)} like it grant" if others else "grants"
        meaning = f". {one.meaning}" if one.meaning else ""
        lines.append(DiffLine("+", f"{one.place}: {one.kind} {one.name} {verb} {grants}{meaning}{reach}"))
    return lines


def policy_line(one: PolicyResult) -> DiffLine:
    return DiffLine("!", f"{one.subject}: {result_text(one)}")


def title_line(one: ReservationChange) -> DiffLine:
    renamed = f" (was {one.old_name})" if one.kind == RENAMED else ""
    clusters = ", ".join(one.clusters) or "no cluster"
    title = f": {_cut(one.title)}" if one.title != one.name else ""
    if one.is_retitled:
        title = f": title {change_text(_cut(one.fields[0].before), _cut(one.fields[0].after))}"
    owner = f", owner {one.owner}" if one.owner else ""
    return DiffLine(SIGNS[one.kind], f"{one.name}{renamed}{title} [{clusters}]{owner}")


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
    dates, (before, after), kind = one.occurrences, one.standing, one.kind
    moves = move_text(dates.changed, is_whole=not dates.kept)
    lines = []
    for field in one.fields:
        pair = quantity_change(field.what.rpartition(" ")[2], field.before, field.after)
        text = change_text(*map(_cut, pair)) if field.what == "title" else change_text(*pair)
        text += f", {moves}" if field.what == "time zone" and moves else ""
        lines.append(DiffLine("~", f"{field.what}: {text}"))
    reasons = dict(dates.reasons)
    lines += [DiffLine("+", text) for text in date_texts(dates.added, one.units[1], reasons)]
    lines += [DiffLine("-", text) for text in date_texts(dates.removed, one.units[0], reasons)]
    lines += _changed_occurrences(dates, one.units)
    if dates.kept and dates.differ:
        verb = "stays" if dates.kept == 1 else "stay"
        lines.append(DiffLine(" ", f"{number_of(dates.kept, 'other date')} {verb}"))
    if bool(before) != bool(after):  # else the fields show what differs
        lines.append(DiffLine("-", before) if before else DiffLine("+", after))
    if kind in {ADDED, REMOVED} and any(one.holds):
        lines.append(DiffLine(SIGNS[kind], f"holds {one.holds[kind == ADDED]}"))
    elif one.shared:
        lines.append(DiffLine(" ", f"the number is {one.shared}"))
    has_hours = any(unit.has_seat_hours for unit in one.units) and one.seat_seconds != (None, None)
    if has_hours and (any(one.seat_seconds) or not any(one.standing)):
        hours = ["" if seconds is None else hours_text(seconds) for seconds in one.seat_seconds]
        lines.append(DiffLine(" ", f"seat-hours: {hours[1] if kind == ADDED else change_text(*hours)}"))
    return lines


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


def file_line(one: FileChange) -> DiffLine:
    return DiffLine(SIGNS[one.change], f"{one.path}: {objects_text(one.objects)}")


def objects_text(objects: Iterable[ObjectChange]) -> str:
    """Return `~ConfigMap, +CronJob x2`."""
    kinds = Counter(f"{SIGNS[item.change]}{item.kind}" for item in objects)
    return ", ".join(f"{kind} x{count}" if count > 1 else kind for kind, count in kinds.items())


def object_title(one: ObjectChange) -> str:
    lines = one.lines(0)
    plus = sum(line.startswith("+") for line in lines)
    minus = sum(line.startswith("-") for line in lines)
    return f"{one.kind} {one.name} (+{plus} -{minus})"


# Occurrences: those at the same local time with the same seats share a line


def date_texts(occurrences: Iterable[Occurrence], unit: Unit, reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield `5 seats: Mon, Wed 09:00-13:00, 28 dates from 2026-02-02 to 2026-05-13 (08:00-12:00 UTC)`.

    In the order of the first starts. `reasons`: why they are left out.
    """
    groups: dict[tuple[str, Seats, str], list[Occurrence]] = {}
    for item in sorted(occurrences, key=lambda occurrence: (occurrence.start, occurrence.id)):
        groups.setdefault((_times(item), item.seats, reasons.get(item.id, "")), []).append(item)
    for (times, seats, reason), items in groups.items():
        texts = [f"{date_and_times(item)} ({_utc_text([item])})" for item in items]
        if len(items) > _FEW:
            zone = named(items[0].zone)
            days = [day_of(local_day(item.start, zone) * DAY) for item in items]
            weekdays = sorted({day.weekday() for day in days})
            names = "daily" if len(weekdays) == 7 else ", ".join(_DAYS[day] for day in weekdays)
            span = f"{len(items)} dates from {days[0]} to {days[-1]}"
            texts = [f"{names} {times}, {span} ({_utc_text(items)})"]
        why = f", {reason}" if reason not in ("", EXCEPT) else ""
        yield from (f"{seats_text(seats, unit)}: {text}{why}" for text in texts)


def _times(item: Occurrence) -> str:
    """Return `09:00-13:00` or `17:00 to Sun 12:00`, and the name of its entry."""
    zone = named(item.zone)
    return _with_name(near_span_text(item.start, item.end, zone, local_day(item.start, zone)), item)


def date_and_times(item: Occurrence) -> str:
    """Return `Mon 2026-02-02 09:00-13:00`, and the name of its entry."""
    return _with_name(span_text(item.start, item.end, named(item.zone)), item)


def some_dates(items: Sequence[Occurrence]) -> str:
    """Return the first date, and how many follow."""
    first = date_and_times(items[0])
    return first if len(items) == 1 else f"{first} and {len(items) - 1} more"


def clock_changes(occurrences: Sequence[Occurrence]) -> list[str]:
    """Say which dates start or end at a time that a clock change skips or repeats."""
    marked = {mark: [one for one in occurrences if mark in one.marks] for mark in (GAP, FOLD)}
    return [
        f"{some_dates(dates)}: a clock change {verb} the time at which it starts or ends."
        for dates, verb in zip(marked.values(), ("skips", "repeats"), strict=True)
        if dates
    ]


def _with_name(times: str, item: Occurrence) -> str:
    return f"{times} {item.name}" if item.name else times


def _utc_text(items: Sequence[Occurrence]) -> str:
    """Return the times in UTC, and the dates from which they differ."""
    parts, last, zone = list[str](), "", named("UTC")
    for item in items:
        times = near_span_text(item.start, item.end, zone, local_day(item.start, zone))
        if times != last:
            parts.append(f"from {instant_text(item.start)[:10]} {times}" if parts else times)
            last = times
        if len(parts) > _FEW:
            return f"{'; '.join(parts[:_FEW])}; and other times UTC"
    return f"{'; '.join(parts)} UTC"


def _changed_occurrences(changes: OccurrenceChanges, units: tuple[Unit, Unit]) -> Iterator[DiffLine]:
    """Describe occurrences with other times or seats; equal changes share a line."""
    groups: dict[tuple[bool, str], list[tuple[Occurrence, Occurrence]]] = {}
    for before, after in changes.changed:
        has_other_day = _day(before) != _day(after)
        text = _time_change(before, after, has_other_day=has_other_day) + _seats_change(before, after, units)
        groups.setdefault((has_other_day, text), []).append((before, after))
    for (has_other_day, _), group in groups.items():
        for before, after in group if has_other_day and len(group) <= _FEW else ():
            dates = f"{date_and_times(before)} -> {date_and_times(after)}"
            yield DiffLine("~", f"{dates}{_seats_change(before, after, units)}")
    for (has_other_day, text), group in sorted(groups.items(), key=lambda item: item[0][0]):
        days = [_day(after) for _, after in group]
        if len(days) > _FEW:
            yield DiffLine("~", f"{text}: {len(days)} dates, {days[0]} to {days[-1]}")
        elif not has_other_day:
            yield DiffLine("~", f"{text}: {', '.join(days)}")


def _time_change(before: Occurrence, after: Occurrence, *, has_other_day: bool) -> str:
    """Return `09:00-13:00, 2 days later`, `09:00-13:00 -> 10:00-13:00` or `09:00-13:00 opens at ...`."""
    old, new = _times(before), _times(after)
    zone = named(after.zone)
    day = local_day(after.start, zone)
    if has_other_day:
        days = day - local_day(before.start, named(before.zone))
        return f"{change_text(old, new)}, {number_of(abs(days), 'day')} {'later' if days > 0 else 'earlier'}"
    if has_other_zone((before, after)):
        if old == new:
            return f"{new} opens {_shift_text(after.open - before.open)}"
        return f"{old} ({before.zone}) -> {new} ({after.zone})"
    was, becomes = before.opens_by_class(), after.opens_by_class()
    pairs = {name: (was[name], at) for name, at in becomes.items() if was.get(name, at) != at}
    if old != new or not pairs:
        return change_text(old, new)
    texts = {name: " -> ".join(near_text(at, zone, day) for at in pair) for name, pair in pairs.items()}
    if len({*pairs.values()}) == 1 and pairs.keys() == becomes.keys():
        return f"{new} opens at {next(iter(texts.values()))}"
    return f"{new}, {', '.join(f'{name} opens at {text}' for name, text in texts.items())}"


def _day(item: Occurrence) -> str:
    return date_and_times(item)[:14]


def _seats_change(before: Occurrence, after: Occurrence, units: tuple[Unit, Unit]) -> str:
    if before.seats == after.seats and units[0] is units[1]:
        return ""
    old, new = (seats_text(one.seats, unit) for one, unit in zip((before, after), units, strict=True))
    return f", {old} -> {new}"


# By how much windows move when the time zone changes in which they are written

Pair = tuple[Occurrence, Occurrence]
"""An occurrence before and after."""


def has_other_zone(pair: Pair) -> bool:
    return pair[0].zone != pair[1].zone


def move_text(pairs: Sequence[Pair], *, is_whole: bool) -> str:
    """Return `opens 1 h later in winter, 2 h later in summer`; empty if no occurrence has another zone.

    Most dates of a season move by the same time; the others are counted. `is_whole`: the pairs are all
    dates, so a season is named only where the two differ.
    """
    moved: dict[str, Counter[int]] = {}
    for pair in pairs:
        if has_other_zone(pair):
            moved.setdefault(_season(pair), Counter())[pair[1].open - pair[0].open] += 1
    if not moved:
        return ""
    most = {
        season: moved[season].most_common(1)[0][0] for season in (_WINTER, _SUMMER, "") if season in moved
    }
    if len({*most.values()}) == 1 and (is_whole or len(most) > 1 or "" in most):
        text = _shift_text(next(iter(most.values())))
    else:
        text = ", ".join(f"{_shift_text(shift)} {season}".strip() for season, shift in most.items())
    others: Counter[int] = Counter()
    for season, shifts in moved.items():
        others += Counter({shift: count for shift, count in shifts.items() if shift != most[season]})
    counts = [
        f"{count} {'date' if count == 1 else 'dates'} {_shift_text(shift)}"
        for shift, count in sorted(others.items())
    ]
    return "; ".join([f"opens {text}", *counts])


def _shift_text(seconds: int) -> str:
    """Return `1 h later`, `30 min earlier` or `at the same time`."""
    if not seconds:
        return "at the same time"
    amount = abs(seconds)
    text = f"{amount // 60} min" if amount < 3600 else f"{hours_text(amount)} h"
    return f"{text} {'later' if seconds > 0 else 'earlier'}"


def _season(pair: Pair) -> str:
    """Return the half of the year by the clocks of the new zone, or of the old one if it never changes."""
    for occurrence in reversed(pair):
        zone = named(occurrence.zone)
        year = day_of(local_day(occurrence.start, zone) * DAY).year
        instants = [resolve(zone, number(date(year, month, 1)) * DAY) for month in (1, 7)]
        ahead, *offsets = (local(zone, at) - at // 60 for at in (occurrence.start, *instants))  # of UTC
        if offsets[0] != offsets[1]:
            return _SUMMER if ahead == max(offsets) else _WINTER
    return ""

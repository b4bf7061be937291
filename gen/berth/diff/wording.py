"""Describe a change in lines of plain text, which every format for people lays out.

Each line has a sign: `+`, `-`, `~`, `!` for a warning, or a space for an explanation. Times are on the clock
of the reservation's zone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from berth.checks.ceilings import holders_text
from berth.checks.policychecks import PolicyResult, result_text
from berth.core.jsonvalues import instant_text
from berth.cost.formatting import band_text, machines_text, money_or_unknown, money_text, percent
from berth.cost.results import Money
from berth.dates.expansion import EXCEPT, Occurrence, Skipped
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
    Change,
    ChangeWarning,
    MachinesChange,
    MonthChange,
    OccurrenceChanges,
    PeakChange,
    PlanChange,
    ReservationChange,
    ReservedUsageChange,
    SharedChange,
)
from berth.diff.manifests import FileChange, ObjectChange
from berth.diff.permissions import Permission
from berth.findings import Finding
from berth.output import findinglist
from berth.output.answers import seats_text
from berth.schema.policies import APPROVAL, REFUSE
from berth.schema.seatholders import Unit
from berth.schema.values import Seats

POLICIES, PEAKS, PLAN, WARNINGS = "Policies", "Peaks", "Machines and money", "Check before merging"
PERMISSIONS, SHARED, IGNORED = "New permissions", "Shared documents", "Ignored findings"
"""Headings."""

_SIGNS = {ADDED: "+", REMOVED: "-", "changed": "~", RENAMED: "~"}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FEW = 3  # dates that are listed one by one


class DiffLine(NamedTuple):
    """A line of text with its sign."""

    sign: str
    text: str


def summary(change: Change) -> str:
    """Return `1 reservation added, 2 changed; peak seats of small in prod 200 -> 230; 2 warnings`."""
    parts = _permissions_summary(change.permissions)
    parts += [_count_reservations(change)] if change.reservations else []
    parts += [f"{number_of(len(change.shared), 'shared document')} changed"] if change.shared else []
    peaks = [one for one in change.peaks if one.what.startswith("seats") and not one.during]
    parts += [f"peak {one.what} in {one.cluster} {one.before} -> {one.after}" for one in peaks[:2]]
    parts += [f"{number_of(len(peaks) - 2, 'more peak')}"] if len(peaks) > 2 else []
    is_known = change.base.is_valid and change.head.is_valid
    if not change.reservations and not change.shared and change.files and is_known:
        parts.append(f"dates and seats are the same; {number_of(len(change.files), 'rendered file')} changed")
    parts += _plan_summary(change.plan) if change.plan else []
    parts += _policies_summary(change.policies)
    parts += [number_of(len(change.warnings), "warning")] if change.warnings else []
    parts += [f"{side.name} is not valid" for side in (change.base, change.head) if not side.is_valid]
    parts += [] if change.is_judged else ["policies cannot be judged"]
    return "; ".join(parts) or "Nothing changes."


def _policies_summary(results: Sequence[PolicyResult]) -> list[str]:
    """Return who must approve, and what refuses."""
    refusing = dict.fromkeys(one.policy.name for one in results if one.policy.effect == REFUSE)
    approvers = dict.fromkeys(one.policy.approver for one in results if one.policy.effect == APPROVAL)
    parts = [f"refused by policy {', '.join(refusing)}"] if refusing else []
    return [*parts, f"needs approval by {' and '.join(approvers)}"] if approvers else parts


def _permissions_summary(permissions: Sequence[Permission]) -> list[str]:
    places = ", ".join(dict.fromkeys(one.where for one in permissions))
    return [f"new permissions in {places}"] if places else []


def permission_line(one: Permission) -> DiffLine:
    verbs: dict[str, list[str]] = {}
    for verb, _, what in (grant.partition(" ") for grant in one.grants):
        verbs.setdefault(what, []).append(verb)
    grants = ", ".join(f"{'/'.join(found)} {what}" for what, found in verbs.items())
    return DiffLine("+", f"{one.where}: {one.kind} {one.name} grants {grants}")


def shared_lines(one: SharedChange) -> Iterator[DiffLine]:
    """Yield the title of a shared document, and what differs in it."""
    yield DiffLine(_SIGNS[one.change], one.title)
    for field in one.fields if one.change != REMOVED else ():
        yield DiffLine("~", f"  {field.what}: {_change(field.before, field.after)}")


def ignored_line(one: Finding) -> DiffLine:
    path = f"{one.path}: " if one.path else ""
    return DiffLine("!", f"{one.file}:{one.line}: {one.code} {path}{one.message}")


def policy_line(one: PolicyResult) -> DiffLine:
    return DiffLine("!", f"{one.subject}: {result_text(one)}")


def _count_reservations(change: Change) -> str:
    kinds = [one.kind for one in change.reservations]
    added, removed = kinds.count(ADDED), kinds.count(REMOVED)
    counts = {"added": added, "changed": len(kinds) - added - removed, "removed": removed}
    (first, count), *others = [(kind, count) for kind, count in counts.items() if count]
    return ", ".join(
        [f"{number_of(count, 'reservation')} {first}", *(f"{count} {kind}" for kind, count in others)]
    )


def title_line(one: ReservationChange) -> DiffLine:
    renamed = f" (was {one.old_name})" if one.kind == RENAMED else ""
    clusters = ", ".join(one.clusters) or "no cluster"
    title = f": {one.title}" if one.title != one.name else ""
    owner = f", owner {one.owner}" if one.owner else ""
    return DiffLine(_SIGNS[one.kind], f"{one.name}{renamed}{title} [{clusters}]{owner}")


def detail_lines(one: ReservationChange) -> list[DiffLine]:
    """Describe the fields of a reservation that differ, its dates and its seat-hours."""
    found = [DiffLine("~", f"{field.what}: {_change(field.before, field.after)}") for field in one.fields]
    dates = one.occurrences
    reasons = dict(dates.reasons)
    for sign, items, unit in (("+", dates.added, one.units[1]), ("-", dates.removed, one.units[0])):
        for group in _group_occurrences(items, reasons):
            seats = seats_text(group.seats, unit)
            why = f", {group.reason}" if group.reason not in ("", EXCEPT) else ""
            found += [DiffLine(sign, f"{seats}: {text}{why}") for text in _date_texts(group)]
    found += _changed_occurrences(dates, one.units)
    if dates.kept and dates.differ:
        verb = "stays" if dates.kept == 1 else "stay"
        found.append(DiffLine(" ", f"{number_of(dates.kept, 'other date')} {verb}"))
    found += _rehearsals(one)
    found += _standing(*one.standing)
    return [*found, *_seat_hours(one)]


def _rehearsals(one: ReservationChange) -> list[DiffLine]:
    """Describe the rehearsals that come, go or change; they are no dates of the course."""
    changes = one.rehearsals
    lines = []
    for sign, items, unit in (("+", changes.added, one.units[1]), ("-", changes.removed, one.units[0])):
        for group in _group_occurrences(items, {}):
            lines += [
                DiffLine(sign, f"{seats_text(group.seats, unit)}: {text}") for text in _date_texts(group)
            ]
    lines += _changed_occurrences(changes, one.units)
    return [DiffLine(line.sign, f"rehearsal, {line.text}") for line in lines]


def left_out_lines(skipped: Iterable[Skipped]) -> list[DiffLine]:
    """Say which dates do not happen, with the holiday that each is on."""
    by_reason: dict[str, list[str]] = {}
    for one in skipped:
        by_reason.setdefault(one.reason, []).append(day_text(number(date.fromisoformat(one.date))))
    lines = []
    for reason, days in by_reason.items():
        shown = list(dict.fromkeys(days))
        text = (
            ", ".join(shown) if len(shown) <= _FEW else f"{len(shown)} dates from {shown[0]} to {shown[-1]}"
        )
        lines.append(DiffLine(" ", f"left out by {reason}: {text}"))
    return lines


def _change(before: str, after: str) -> str:
    return f"{before or 'none'} -> {after or 'none'}" if before != after else before


def _standing(before: str, after: str) -> list[DiffLine]:
    if bool(before) == bool(after):
        return []  # the fields show what differs
    return [DiffLine("-", before)] if before else [DiffLine("+", after)]


def _seat_hours(one: ReservationChange) -> list[DiffLine]:
    has_hours = any(unit.has_seat_hours for unit in one.units)
    if not has_hours or (any(one.standing) and not any(one.seat_seconds)):
        return []
    before, after = ("" if seconds is None else hours_text(seconds) for seconds in one.seat_seconds)
    return [DiffLine(" ", f"seat-hours: {after if one.kind == ADDED else _change(before, after)}")]


def number_of(number: int, noun: str) -> str:
    """Return `1 file` or `3 files`."""
    return f"{number} {noun}{'s' if number != 1 else ''}"


def peak_line(one: PeakChange, zone_name: str) -> DiffLine:
    during = f" from {one.during}" if one.during else ""
    at = f" at {local_text(one.at, named(zone_name))} ({zone_name})" if one.at is not None else ""
    ceiling = f", ceiling {one.ceiling}" if one.ceiling else ""
    holders = f": {holders_text(one.holders)}" if one.holders else ""
    return DiffLine(
        "~", f"{one.cluster}, most {one.what}{during}: {one.before} -> {one.after}{at}{ceiling}{holders}"
    )


def warning_line(one: ChangeWarning) -> DiffLine:
    return DiffLine("!", f"{one.subject}: {one.message}" if one.subject else one.message)


def file_line(one: FileChange) -> DiffLine:
    kinds: dict[str, int] = {}
    for item in one.objects:
        kind = f"{_SIGNS[item.change]}{item.kind}"
        kinds[kind] = kinds.get(kind, 0) + 1
    objects = ", ".join(f"{kind} x{number}" if number > 1 else kind for kind, number in kinds.items())
    return DiffLine(_SIGNS[one.change], f"{one.path}: {objects}")


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
    for item in sorted(occurrences, key=lambda one: (one.start, one.id)):
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
    found: list[DiffLine] = []
    groups: dict[str, list[Occurrence]] = {}
    for before, after in changes.changed:
        if _day(before) != _day(after):
            dates = f"{date_and_times(before)} -> {date_and_times(after)}"
            found.append(DiffLine("~", f"{dates}{_seats_change(before, after, units)}"))
        else:
            groups.setdefault(_time_change(before, after, units), []).append(after)
    for text, items in groups.items():
        dates = ", ".join(map(_day, items))
        if len(items) > _FEW:
            dates = f"{len(items)} dates, {_day(items[0])} to {_day(items[-1])}"
        found.append(DiffLine("~", f"{text}: {dates}"))
    return found


def _time_change(before: Occurrence, after: Occurrence, units: tuple[Unit, Unit]) -> str:
    seats = _seats_change(before, after, units)
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
    told = ", ".join(f"{name} opens at {text}" for name, text in changes.items())
    return f"{_times(after)}, {told}{seats}"


def _day(item: Occurrence) -> str:
    return date_and_times(item)[:14]


def _seats_change(before: Occurrence, after: Occurrence, units: tuple[Unit, Unit]) -> str:
    if before.seats == after.seats:
        return ""
    old, new = (seats_text(one.seats, unit) for one, unit in zip((before, after), units, strict=True))
    return f", {old} -> {new}"


# Machines and costs


def plan_lines(plan: PlanChange, zone: str) -> Iterator[DiffLine]:
    """Yield the findings of the plan, then what differs in it."""
    for one in plan.findings:
        yield DiffLine("!", findinglist.text([one], color=False).partition("\n")[0])
    for machines in plan.machines:
        yield _machines_line(machines, zone)
    for month in plan.months:
        yield _month_line(month)
    if len(plan.months) > 1:
        yield _all_months_line(plan.months)
    for reserved in plan.reserved:
        yield _reserved_line(reserved)


def _plan_summary(plan: PlanChange) -> list[str]:
    errors = sum(one.severity == "error" for one in plan.findings)
    parts = [f"the plan has {number_of(errors, 'error')}"] if errors else []
    before, after = _sums(plan.months)
    if plan.months:
        return [*parts, f"cost {money_or_unknown(before)} -> {money_or_unknown(after)} USD"]
    if plan.machines:
        return [*parts, "other machines"]
    return [*parts, "other use of reserved machines"] if plan.reserved else parts


def _machines_line(one: MachinesChange, zone: str) -> DiffLine:
    before, after = (band_text(least, least, most) for least, most in (one.before, one.after))
    at = "" if one.at is None else f" at {local_text(one.at, named(zone))} ({zone})"
    machines = f": {machines_text(one.machines)}" if one.machines else ""
    return DiffLine("~", f"{one.cluster}, most machines: {before} -> {after}{at}{machines}")


def _month_line(one: MonthChange) -> DiffLine:
    before, after = one.money
    hours = " -> ".join(hours_text(seconds) for seconds in one.seconds)
    budget = "" if one.budget is None else f", budget {one.budget}"
    return DiffLine(
        "~",
        f"{one.month}: {money_or_unknown(before)} -> {money_or_unknown(after)} USD, "
        f"machine-hours {hours}{budget}",
    )


def _all_months_line(months: tuple[MonthChange, ...]) -> DiffLine:
    before, after = _sums(months)
    difference = ""
    if before is not None and after is not None:
        difference = f" ({'+' if after >= before else '-'}{money_text(abs(after - before))})"
    cost = f"{money_or_unknown(before)} -> {money_or_unknown(after)} USD"
    return DiffLine(" ", f"these {len(months)} months: {cost}{difference}")


def _sums(months: tuple[MonthChange, ...]) -> tuple[Money | None, Money | None]:
    before, after = ([one.money[side] for one in months] for side in (0, 1))
    return _sum(before), _sum(after)


def _sum(amounts: list[Money | None]) -> Money | None:
    found = [money for money in amounts if money is not None]
    return sum(found, Money(0)) if len(found) == len(amounts) else None


def _reserved_line(one: ReservedUsageChange) -> DiffLine:
    before, after = one.before, one.after
    idle = f"{percent(before.idle, before.paid)}% -> {percent(after.idle, after.paid)}% idle"
    paid = (
        f"{money_or_unknown(after.idle_money)} of {money_or_unknown(after.money)} USD paid ahead"
        if after.paid
        else "gone"
    )
    return DiffLine("~", f"{one.reserved}: {idle}, {paid}")

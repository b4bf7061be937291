"""Word a change: one home of the sentences that text, Markdown and annotations lay out."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.checks.ceilings import holders_text
from berth.core.instants import instant_text
from berth.cost.formatting import band_text, machines_text, money_or_unknown, money_text, percent
from berth.cost.results import Money
from berth.dates.moments import hours_text, local_day, local_text, named, near_span_text, span_text
from berth.dates.occurrence import Occurrence
from berth.dates.zone import day_of
from berth.diff.change import (
    ADDED,
    REMOVED,
    RENAMED,
    Change,
    IdleChange,
    MachinesChange,
    MonthChange,
    Peak,
    PlanChange,
    ReservationChange,
    Warned,
)
from berth.diff.manifests import FileChange, ObjectChange
from berth.output import report
from berth.output.report import seats_text
from berth.schema.holders import Unit
from berth.schema.values import Seats

# A line of what is told of a change.


class Line(NamedTuple):
    """`sign` is `+`, `-`, `~`, `!`, or a space."""

    sign: str
    text: str


# Dates that are alike, told in one line: sixty Mondays are one line, a single date is itself. Pure. Local
# times are on the clock of the reservation's zone.

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
FEW = 3  # dates that are told one by one


class Alike(NamedTuple):
    """Occurrences at one local time with the same seats, by start. Never empty."""

    times: str  # `09:00-13:00`
    seats: Seats
    occurrences: tuple[Occurrence, ...]


def alike(occurrences: Iterable[Occurrence]) -> list[Alike]:
    """By their first start."""
    found: dict[tuple[str, Seats], list[Occurrence]] = {}
    for item in sorted(occurrences, key=lambda one: (one.start, one.id)):
        found.setdefault((times(item), item.seats), []).append(item)
    return [Alike(*key, tuple(items)) for key, items in found.items()]


def times(item: Occurrence) -> str:
    """`09:00-13:00`, `17:00 to Sun 12:00`."""
    zone = named(item.zone)
    return near_span_text(item.start, item.end, zone, local_day(item.start, zone))


def date_and_times(item: Occurrence) -> str:
    """`Mon 2026-02-02 09:00-13:00`."""
    return span_text(item.start, item.end, named(item.zone))


def date_lines(group: Alike) -> list[str]:
    """`Mon, Wed 09:00-13:00, 28 dates from 2026-02-02 to 2026-05-13 (08:00-12:00 UTC)`."""
    items = group.occurrences
    if len(items) <= FEW:
        return [f"{date_and_times(item)} ({utc([item])})" for item in items]
    zone = named(items[0].zone)
    days = [day_of(local_day(item.start, zone) * 1440) for item in items]
    weekdays = sorted({day.weekday() for day in days})
    names = "daily" if len(weekdays) == 7 else ", ".join(_DAYS[day] for day in weekdays)
    return [f"{names} {group.times}, {len(items)} dates from {days[0]} to {days[-1]} ({utc(items)})"]


def utc(items: Sequence[Occurrence]) -> str:
    """The same times in UTC, and from when on they are others."""
    told, last = list[str](), ""
    for item in items:
        said = _utc_times(item)
        if said != last:
            told.append(f"from {instant_text(item.start)[:10]} {said}" if told else said)
            last = said
        if len(told) > FEW:
            return f"{'; '.join(told[:FEW])}; and other times UTC"
    return f"{'; '.join(told)} UTC"


def _utc_times(item: Occurrence) -> str:
    zone = named("UTC")
    return near_span_text(item.start, item.end, zone, local_day(item.start, zone))


# What changes of machines and money, in lines as `said` has them.

HEADING = "Machines and money"


def plan_lines(plan: PlanChange, zone: str) -> Iterator[Line]:
    """What is wrong comes first."""
    for one in plan.findings:
        yield Line("!", report.text([one], color=False).partition("\n")[0])
    for machines in plan.machines:
        yield _machines(machines, zone)
    for month in plan.months:
        yield _month(month)
    if len(plan.months) > 1:
        yield _all(plan.months)
    for idle in plan.idle:
        yield _idle(idle)


def plan_verdict(plan: PlanChange) -> list[str]:
    """For the line that says it all."""
    errors = sum(one.severity == "error" for one in plan.findings)
    told = [f"the plan has {errors} error{'s' if errors > 1 else ''}"] if errors else []
    before, after = _sums(plan.months)
    if plan.months:
        return [*told, f"cost {money_or_unknown(before)} -> {money_or_unknown(after)} USD"]
    if plan.machines:
        return [*told, "other machines"]
    return [*told, "what is paid ahead changes"] if plan.idle else told


def _machines(one: MachinesChange, zone: str) -> Line:
    before, after = (band_text(least, least, most) for least, most in (one.before, one.after))
    at = "" if one.at is None else f" at {local_text(one.at, named(zone))} ({zone})"
    which = f": {machines_text(one.machines)}" if one.machines else ""
    return Line("~", f"{one.cluster}, most machines: {before} -> {after}{at}{which}")


def _month(one: MonthChange) -> Line:
    before, after = one.money
    hours = " -> ".join(hours_text(seconds) for seconds in one.seconds)
    budget = "" if one.budget is None else f", budget {one.budget}"
    return Line(
        "~",
        f"{one.month}: {money_or_unknown(before)} -> {money_or_unknown(after)} USD, "
        f"machine-hours {hours}{budget}",
    )


def _sums(months: tuple[MonthChange, ...]) -> tuple[Money | None, Money | None]:
    before, after = ([one.money[side] for one in months] for side in (0, 1))
    return _sum(before), _sum(after)


def _sum(some: list[Money | None]) -> Money | None:
    found = [money for money in some if money is not None]
    return sum(found, Money(0)) if len(found) == len(some) else None


def _all(months: tuple[MonthChange, ...]) -> Line:
    before, after = _sums(months)
    more = ""
    if before is not None and after is not None:
        more = f" ({'+' if after >= before else '-'}{money_text(abs(after - before))})"
    return Line(
        " ", f"these {len(months)} months: {money_or_unknown(before)} -> {money_or_unknown(after)} USD{more}"
    )


def _idle(one: IdleChange) -> Line:
    before, after = one.before, one.after
    told = f"{one.reserved}: {percent(before.idle, before.paid)}% -> {percent(after.idle, after.paid)}% idle"
    paid = (
        f", {money_or_unknown(after.idle_money)} of {money_or_unknown(after.money)} USD paid ahead"
        if after.paid
        else ", gone"
    )
    return Line("~", f"{told}{paid}")


# A change in words: the lines that every form for people shows, without colours and markup. A line begins
# with its sign: `+`, `-`, `~`, `!` for a warning, or a space for what only explains.

SIGNS = {ADDED: "+", REMOVED: "-", "changed": "~", RENAMED: "~"}


def verdict(change: Change) -> str:
    """`+1 ~2 reservations; peak seats of small in prod 200 -> 230; 2 warnings`."""
    kinds = [one.kind for one in change.reservations]
    counts = [
        f"{sign}{number}"
        for sign, number in (
            ("+", kinds.count(ADDED)),
            ("~", len(kinds) - kinds.count(ADDED) - kinds.count(REMOVED)),
            ("-", kinds.count(REMOVED)),
        )
        if number
    ]
    said = [f"{' '.join(counts)} {'reservations' if len(kinds) > 1 else 'reservation'}"] if counts else []
    peaks = [one for one in change.peaks if one.what.startswith("seats") and not one.during]
    said += [f"peak {one.what} in {one.cluster} {one.before} -> {one.after}" for one in peaks[:2]]
    said += [f"{number_of(len(peaks) - 2, 'more peak')}"] if len(peaks) > 2 else []
    if not counts and change.files:
        said.append(f"no date and no seat changes; {number_of(len(change.files), 'file')} of rendered/")
    said += plan_verdict(change.plan) if change.plan else []
    said += [number_of(len(change.warnings), "warning")] if change.warnings else []
    for side in (change.base, change.head):
        said += [] if side.is_sound else [f"{side.name} does not validate"]
    return "; ".join(said) or "Nothing changes."


def title(one: ReservationChange) -> Line:
    was = f" (was {one.was})" if one.kind == RENAMED else ""
    where = ", ".join(one.clusters) or "no cluster"
    said = f"{one.name}{was}: {one.title}" if one.title != one.name else f"{one.name}{was}"
    return Line(SIGNS[one.kind], f"{said} [{where}]")


def details(one: ReservationChange) -> list[Line]:
    """What is said of it, its dates, and what it comes to."""
    found = [Line("~", f"{field.what}: {_change(field.before, field.after)}") for field in one.fields]
    dates = one.occurrences
    for sign, items, unit in (("+", dates.added, one.units[1]), ("-", dates.removed, one.units[0])):
        found += [Line(sign, text) for group in alike(items) for text in _with_seats(group, unit)]
    found += _changed(one)
    if dates.kept and (dates.added or dates.removed or dates.changed):
        found.append(Line(" ", f"{number_of(dates.kept, 'other date')} stay{'s' if dates.kept == 1 else ''}"))
    found += _standing(*one.standing)
    return [*found, *_seat_hours(one)]


def _seat_hours(one: ReservationChange) -> list[Line]:
    has_hours = any(unit.has_seat_hours for unit in one.units)
    if not has_hours or (any(one.standing) and not any(one.seat_seconds)):
        return []
    before, after = ("" if seconds is None else hours_text(seconds) for seconds in one.seat_seconds)
    return [Line(" ", f"seat-hours: {after if one.kind == ADDED else _change(before, after)}")]


def _standing(before: str, after: str) -> list[Line]:
    """What of it differs on both sides is told by its fields."""
    if bool(before) == bool(after):
        return []
    return [Line("-", before)] if before else [Line("+", after)]


def _change(before: str, after: str) -> str:
    return f"{before or 'none'} -> {after or 'none'}" if before != after else before


def _with_seats(group: Alike, unit: Unit) -> list[str]:
    return [f"{seats_text(group.seats, unit)}: {text}" for text in date_lines(group)]


def _changed(one: ReservationChange) -> list[Line]:
    """Occurrences with the same id; those of one day together where the same happens to them."""
    found: list[Line] = []
    groups: dict[str, list[Occurrence]] = {}
    for before, after in one.occurrences.changed:
        if _day(before) != _day(after):
            moved = f"{date_and_times(before)} -> {date_and_times(after)}"
            found.append(Line("~", f"{moved}{_seats(before, after, one.units)}"))
        else:
            groups.setdefault(_what_happens(before, after, one.units), []).append(after)
    for what, items in groups.items():
        told = ", ".join(map(_day, items))
        if len(items) > FEW:
            told = f"{len(items)} dates, {_day(items[0])} to {_day(items[-1])}"
        found.append(Line("~", f"{what}: {told}"))
    return found


def _what_happens(before: Occurrence, after: Occurrence, units: tuple[Unit, Unit]) -> str:
    seats = _seats(before, after, units)
    if times(before) != times(after):
        return f"{times(before)} -> {times(after)}{seats}"
    if before.open != after.open:
        return f"{times(after)} opens at {_clock(before)} -> {_clock(after)}{seats}"
    return f"{times(after)}{seats}"


def _clock(item: Occurrence) -> str:
    return local_text(item.open, named(item.zone))[-5:]


def _day(item: Occurrence) -> str:
    return date_and_times(item)[:14]


def _seats(before: Occurrence, after: Occurrence, units: tuple[Unit, Unit]) -> str:
    if before.seats == after.seats:
        return ""
    was, now = (seats_text(one.seats, unit) for one, unit in zip((before, after), units, strict=True))
    return f", {was} -> {now}"


def number_of(number: int, what: str) -> str:
    """`1 file`, `3 files`."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def peak(one: Peak, zone_name: str) -> Line:
    during = f" from {one.during}" if one.during else ""
    at = f" at {local_text(one.at, named(zone_name))} ({zone_name})" if one.at is not None else ""
    ceiling = f", ceiling {one.ceiling}" if one.ceiling else ""
    held = f": {holders_text(one.holders)}" if one.holders else ""
    told = f"{one.cluster}, most {one.what}{during}: {one.before} -> {one.after}{at}{ceiling}{held}"
    return Line("~", told)


def warning(one: Warned) -> Line:
    return Line("!", f"{one.subject}: {one.message}" if one.subject else one.message)


def file(one: FileChange) -> Line:
    kinds: dict[str, int] = {}
    for item in one.objects:
        kinds[f"{SIGNS[item.change]}{item.kind}"] = kinds.get(f"{SIGNS[item.change]}{item.kind}", 0) + 1
    told = ", ".join(f"{kind} x{number}" if number > 1 else kind for kind, number in kinds.items())
    return Line(SIGNS[one.change], f"{one.path}: {told}")


def object_title(one: ObjectChange) -> str:
    lines = one.lines(0)
    plus = sum(line.startswith("+") for line in lines)
    minus = sum(line.startswith("-") for line in lines)
    return f"{one.kind} {one.name} (+{plus} -{minus})"

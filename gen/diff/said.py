"""A change in words: the lines that every form for people shows, without colours and markup.

A line begins with its sign: `+`, `-`, `~`, `!` for a warning, or a space for what only explains.
"""

from gen.checks.ceilings import holders_text
from gen.dates.moment import hours_text, local_text, named
from gen.dates.occurrence import Occurrence
from gen.diff import saidplan
from gen.diff.change import ADDED, REMOVED, RENAMED, Change, Peak, ReservationChange, Warned
from gen.diff.dategroup import FEW, Alike, alike, date_and_times, lines, times
from gen.diff.line import Line
from gen.diff.manifests import FileChange, ObjectChange
from gen.report import seats_text

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
    said += saidplan.verdict(change.plan) if change.plan else []
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
    for sign, items, nodes in (("+", dates.added, one.nodes[1]), ("-", dates.removed, one.nodes[0])):
        found += [Line(sign, text) for group in alike(items) for text in _with_seats(group, nodes=nodes)]
    found += _changed(one)
    if dates.kept and (dates.added or dates.removed or dates.changed):
        found.append(Line(" ", f"{number_of(dates.kept, 'other date')} stay{'s' if dates.kept == 1 else ''}"))
    found += _standing(*one.standing)
    return [*found, *_seat_hours(one)]


def _seat_hours(one: ReservationChange) -> list[Line]:
    if all(one.nodes) or (any(one.standing) and not any(one.seat_seconds)):
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


def _with_seats(group: Alike, *, nodes: bool) -> list[str]:
    return [f"{seats_text(group.seats, nodes=nodes)}: {text}" for text in lines(group)]


def _changed(one: ReservationChange) -> list[Line]:
    """Occurrences with the same id; those of one day together where the same happens to them."""
    found: list[Line] = []
    groups: dict[str, list[Occurrence]] = {}
    for before, after in one.occurrences.changed:
        if _day(before) != _day(after):
            moved = f"{date_and_times(before)} -> {date_and_times(after)}"
            found.append(Line("~", f"{moved}{_seats(before, after, one.nodes)}"))
        else:
            groups.setdefault(_what_happens(before, after, one.nodes), []).append(after)
    for what, items in groups.items():
        told = ", ".join(map(_day, items))
        if len(items) > FEW:
            told = f"{len(items)} dates, {_day(items[0])} to {_day(items[-1])}"
        found.append(Line("~", f"{what}: {told}"))
    return found


def _what_happens(before: Occurrence, after: Occurrence, nodes: tuple[bool, bool]) -> str:
    seats = _seats(before, after, nodes)
    if times(before) != times(after):
        return f"{times(before)} -> {times(after)}{seats}"
    if before.open != after.open:
        return f"{times(after)} opens at {_clock(before)} -> {_clock(after)}{seats}"
    return f"{times(after)}{seats}"


def _clock(item: Occurrence) -> str:
    return local_text(item.open, named(item.zone))[-5:]


def _day(item: Occurrence) -> str:
    return date_and_times(item)[:14]


def _seats(before: Occurrence, after: Occurrence, nodes: tuple[bool, bool]) -> str:
    if before.seats == after.seats:
        return ""
    was, now = (seats_text(one.seats, nodes=of) for one, of in zip((before, after), nodes, strict=True))
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

"""Parse a text of sessions that come and go: `08:55+10,09:20+8,11:00-3`."""

import re
from collections.abc import Iterator, Mapping
from math import ceil
from typing import NamedTuple

from berth.core.jsonvalues import instant_text
from berth.dates.moments import local_text, read
from berth.dates.zone import DAY, Zone, clock, day_of, local, resolve
from berth.notation.refusal import CommandError
from berth.simulation import SessionChange

MOST = 10_000  # sessions at once; more would take minutes to simulate
_EARLIEST = 86_400  # seconds before the opening

# A time, and the first number that only a class may follow, unlike the numbers in dates and offsets.
_ITEM = re.compile(r"(.+?)\s*([+-][1-9]\d{0,5})(?:\s+([^\s:+]+))?", re.ASCII)
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_NUMBER = re.compile(r"[+-]?[1-9]\d{0,5}", re.ASCII)
_HOW = "Write 08:55+10 for ten that come, 11:00-3 for three that leave."


class SessionScene(NamedTuple):
    """The occurrence to simulate. `usual` is the class of a change without one; empty if it needs one."""

    zone: Zone
    open: int
    end: int
    classes: tuple[str, ...]
    usual: str


# An example crowd, as shares of the seats: most come around the start, and some leave before the end.
_COME, _LEAVE = 0.8, 0.2
_ARRIVALS = ((-600, 0.15), (-300, 0.45), (0, 0.8), (300, 1.0))  # seconds after the start, share of the crowd
_LEAVE_AT = 0.75  # of the time from the start to the end


def example_crowd(scene: SessionScene, start: int, seats: Mapping[str, int]) -> str:
    """Return sessions of a class of ordinary people, as a text of `--sessions` that can be copied.

    They come while the occurrence is open; empty if it has no seats.
    """
    changes: dict[int, list[str]] = {}
    for name, count in seats.items():
        crowd, there = ceil(_COME * count), 0
        suffix = "" if name == scene.usual else f" {name}"
        for after, share in _ARRIVALS:
            come = round(share * crowd) - there
            there += come
            at = max(scene.open, min(start + after, scene.end - 60))
            changes.setdefault(at, []).extend([f"+{come}{suffix}"] if come else [])
        leaving = int(_LEAVE * crowd)
        leave_at = start + int(_LEAVE_AT * (scene.end - start))
        changes.setdefault(leave_at - leave_at % 60, []).extend([f"-{leaving}{suffix}"] if leaving else [])
    return ",".join(f"{_crowd_time(at, scene)}{change}" for at in sorted(changes) for change in changes[at])


def _crowd_time(at: int, scene: SessionScene) -> str:
    """Return the time of day, with the date in a window of a day or more; the instant if it is ambiguous."""
    wall = local(scene.zone, at)
    if resolve(scene.zone, wall) != at:
        return instant_text(at)
    return clock(wall) if scene.end - scene.open < _EARLIEST else f"{day_of(wall)} {clock(wall)}"


class _ParsedChange(NamedTuple):
    """A change before its time and class are resolved."""

    place: str  # for people
    time: str
    number: int
    resource_class: str  # empty: not given


def parse_changes(text: str, source: str, scene: SessionScene) -> dict[str, list[SessionChange]]:
    """Parse changes by class, in the order of the text. `source` names its origin. Raises CommandError.

    A line has changes separated by commas, or `TIME,CHANGE` or `TIME,CHANGE,CLASS` as in a CSV file; comments
    (#) and CSV headers are ignored. A time of day is the first one while the occurrence is open and not
    before the previous change, or else on the day of the opening. A date in front sets the day. An instant
    with `Z` or an offset is itself.
    """
    found: dict[str, list[SessionChange]] = {name: [] for name in scene.classes}
    there = dict.fromkeys(scene.classes, 0)
    before: int | None = None
    for parsed in _items(text, source):
        at = before = _instant(parsed, before, scene)
        name = _resource_class(parsed, scene)
        if there[name] + parsed.number < 0:
            raise CommandError(
                f"{parsed.place}: {-parsed.number} leave, but only {there[name]} are there. "
                "Let no more leave than came."
            )
        there[name] += parsed.number
        if there[name] > MOST:
            raise CommandError(
                f"{parsed.place}: more than {MOST} sessions at once are too many to simulate. Let fewer come."
            )
        found[name].append(SessionChange(at, parsed.number))
    return found


def _items(text: str, source: str) -> Iterator[_ParsedChange]:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        place = source if source.startswith("--") else f"{source}:{number}"
        cells = [cell.strip().strip('"').strip() for cell in line.partition("#")[0].split(",")]
        if cells == [""] or (number == 1 and cells[:2] == ["time", "change"]):
            continue
        if len(cells) in (2, 3) and _NUMBER.fullmatch(cells[1]):
            shown = ",".join(cells)
            yield _ParsedChange(f'{place}: "{shown}"', cells[0], int(cells[1]), "".join(cells[2:]))
            continue
        for cell in cells:
            match = _ITEM.fullmatch(cell.replace("\u2212", "-"))  # a minus as word processors write it
            if match is None:
                raise CommandError(f'{place}: "{cell}" is not a session change. {_HOW}')
            time, change, resource_class = match.groups()
            yield _ParsedChange(f'{place}: "{cell}"', time, int(change), resource_class or "")


def _instant(parsed: _ParsedChange, before: int | None, scene: SessionScene) -> int:
    match = _TIME.fullmatch(parsed.time)
    if match:
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        at: int | None = _time_of_day(hours * 60 + minutes, seconds, before, scene)
    else:
        at = read(parsed.time, scene.zone)
    if at is None:
        raise CommandError(f'{parsed.place}: "{parsed.time}" is not a time. {_HOW}')
    if before is not None and at < before:
        raise CommandError(f"{parsed.place} is earlier than the change in front of it. Put them in order.")
    if at >= scene.end:
        end = local_text(scene.end, scene.zone)
        raise CommandError(f"{parsed.place} is not before the end, {end}. Leave it out.")
    if at < scene.open - _EARLIEST:
        opens = local_text(scene.open, scene.zone)
        fix = f"Sessions that run by then are {opens[-5:]}+{max(parsed.number, 1)}."
        raise CommandError(f"{parsed.place} is more than a day before the opening, {opens}. {fix}")
    return at


def _time_of_day(minutes: int, seconds: int, before: int | None, scene: SessionScene) -> int:
    first, last = (local(scene.zone, at) // DAY for at in (scene.open, scene.end))
    instants = [resolve(scene.zone, day * DAY + minutes) + seconds for day in range(first, last + 1)]
    in_time = [at for at in instants if before is None or at >= before]
    inside = [at for at in instants if scene.open <= at < scene.end]
    for choice in ([at for at in inside if at in in_time], inside, in_time):
        if choice:
            return choice[0]
    return instants[0]


def _resource_class(parsed: _ParsedChange, scene: SessionScene) -> str:
    name = parsed.resource_class or scene.usual
    if name in scene.classes:
        return name
    known = ", ".join(scene.classes)
    if name:
        raise CommandError(f'{parsed.place}: there are no seats of class "{name}" then, but of {known}.')
    fix = f"Write 08:55+10 {scene.classes[0]}, or choose one by --class."
    raise CommandError(f"{parsed.place} names no class of {known}. {fix}")

"""Apply the exceptions of a schedule: left out dates, moved occurrences, and entries that overlap."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from berth.dates.dayranges import TitledDays, has_day_between, list_days, title_of, titled_days
from berth.dates.expansion import EXCEPT, BareOccurrence, Occurrence, window_minutes
from berth.dates.moments import span_text
from berth.dates.zone import DAY, Zone, clock, day_of, local, number
from berth.findings import Fault, Path
from berth.schema.calendardocument import Calendar
from berth.schema.values import Entry, Except, Move, Recurrence

DATES_OF_MACHINES: Path = ("spec", "recurrence", "cloudCapacity")


def calendars_of(recurrence: Recurrence, calendars: Mapping[str, Calendar]) -> tuple[Calendar, ...]:
    """Return the calendars that a recurrence follows: its own in its order, then those of all reservations.

    Unknown ones are ignored; `berth.checks.references` reports them.
    """
    own = [calendars[name] for name in recurrence.calendars if name in calendars]
    every = [
        calendar
        for calendar in calendars.values()
        if (calendar.is_site_wide or calendar.closes) and calendar.name not in recurrence.calendars
    ]
    return (*own, *every)


class Exclusions:
    """What `except` and the calendars leave out. `except` is asked first.

    A date that is left out concerns what starts on it, and with hours, what also overlaps these. While a
    calendar closes the site, nothing happens, not even in part.
    """

    def __init__(self, recurrence: Recurrence, calendars: Iterable[Calendar]) -> None:
        """`calendars` are those of `calendars_of`."""
        days_off = [(calendar, _days_off(calendar)) for calendar in calendars]
        excepted = list_days((number(item.first), number(item.last)) for item in recurrence.excepts)
        self.calendars = [days for calendar, days in days_off if not calendar.closes]
        self.closings = [days for calendar, days in days_off if calendar.closes]
        ranges: dict[tuple[int | None, str | None], list[tuple[int, int, str]]] = {}
        for item in recurrence.excepts:
            days_of_item = number(item.first), number(item.last), item.title
            ranges.setdefault((item.start, item.name), []).append(days_of_item)
        # By start time and name; None stands for every one.
        self.excepts = {key: titled_days(days) for key, days in ranges.items()}
        self._days = _union([*(days.every for days in self.calendars), excepted])

    def candidates(self, bare: Sequence[BareOccurrence]) -> Sequence[BareOccurrence]:
        """Return the occurrences on days that `except` or a calendar mentions: usually few."""
        days = self._days
        return (
            bare
            if days is None
            else [bare_occurrence for bare_occurrence in bare if bare_occurrence[0] // DAY in days]
        )

    def reason(self, start: int, end: int, name: str) -> str | None:
        """Return why an occurrence of the schedule with this name is left out; None if it is not."""
        day, minutes = divmod(start, DAY)
        for (at, named), days in self.excepts.items():
            title = title_of(days, day) if at in (None, minutes) and named in (None, name) else None
            if title is not None:
                return _with_title(EXCEPT, title)
        return self.holiday(start, end)

    def holiday(self, start: int, end: int) -> str | None:
        """Return `calendar <name>: <title>` of the first calendar that leaves it out, or None."""
        return next(filter(None, (days.reason(start // DAY, start, end) for days in self.calendars)), None)

    def closed(self, start: int, end: int) -> str | None:
        """Return `calendar <name>: <title>` of the first calendar that closes the site then, or None."""
        for days in self.closings:
            for day in range(start // DAY, (end - 1) // DAY + 1):
                reason = days.reason(day, start, end)
                if reason is not None:
                    return reason
        return None


class _DaysOff(NamedTuple):
    """The dates of a calendar, with the reason that is shown: whole days, and hours by day."""

    whole: TitledDays
    hours: dict[int, list[tuple[int, int, str]]]  # from and until as wall times
    every: frozenset[int] | None  # all of them; None if they are too many to list

    def reason(self, day: int, start: int, end: int) -> str | None:
        """Return why something from `start` to `end` cannot happen on a day, or None."""
        found = title_of(self.whole, day)
        if found is None and day in self.hours:
            found = next(
                (why for since, until, why in self.hours[day] if start < until and since < end), None
            )
        return found


@lru_cache(maxsize=1024)
def _days_off(calendar: Calendar) -> _DaysOff:
    """Index the days of a calendar. Cached, because reservations share calendars."""
    whole: list[tuple[int, int, str]] = []
    hours: dict[int, list[tuple[int, int, str]]] = {}
    for date in calendar.dates:
        first, last = number(date.first), number(date.last)
        reason = _with_title(f"calendar {calendar.name}", date.title)
        if (date.since, date.until) == (0, DAY):
            whole.append((first, last, reason))
        else:
            hours.setdefault(first, []).append((first * DAY + date.since, first * DAY + date.until, reason))
    every = list_days([*((first, last) for first, last, _ in whole), *((day, day) for day in hours)])
    return _DaysOff(titled_days(whole), hours, every)


def _with_title(reason: str, title: str) -> str:
    return f"{reason}: {title}" if title else reason


def _union(sets: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
    every: frozenset[int] = frozenset()
    for days in sets:
        if days is None:
            return None
        every |= days
    return every


def unused_excepts(
    excepts: Sequence[Except], schedule: Sequence[Entry], days: Sequence[Sequence[range]]
) -> list[Fault[Path]]:
    """Report entries of `except` that match no date; `days` are those of each entry of the schedule."""
    return [_unused(item, i) for i, item in enumerate(excepts) if not _matches(item, schedule, days)]


def _matches(item: Except, schedule: Sequence[Entry], days: Sequence[Sequence[range]]) -> bool:
    first, last = number(item.first), number(item.last)
    return any(
        item.start in (None, entry.start)
        and item.name in (None, entry.name)
        and has_day_between(ranges, first, last)
        for entry, ranges in zip(schedule, days, strict=True)
    )


def _unused(item: Except, i: int) -> Fault[Path]:
    when = f"on {item.first}" if item.first == item.last else f"from {item.first} to {item.last}"
    message = f"the schedule has no occurrence {when}{_which(item)}."
    fix = "Name an occurrence of the schedule, or remove this exception."
    return Fault("B045", ("spec", "recurrence", "except", i), message, fix)


def _which(item: Except | Move) -> str:
    """Return the start and the name that an exception or a move gives: ` at 09:00 named extra-time`."""
    at = "" if item.start is None else f" at {clock(item.start)}"
    return at if item.name is None else f"{at} named {item.name}" if item.name else f"{at} without a name"


# Moved occurrences, and those with other seats


class MovedTo(NamedTuple):
    """What an entry of `moved` makes of an occurrence: the wall times of its start and end.

    `has_time`: the entry names them, so that the occurrence also happens if it would be left out.
    """

    move: int  # its index
    start: int
    end: int
    has_time: bool


Moves = dict[BareOccurrence, MovedTo]


def resolve_moves(
    recurrence: Recurrence, bare: Iterable[BareOccurrence], lengths: Sequence[int], faults: list[Fault[Path]]
) -> Moves:
    """Find the occurrence of each move. `lengths` are the minutes of each entry. Problems go to `faults`."""
    moves, schedule = recurrence.moves, recurrence.schedule
    by_day: dict[int, list[BareOccurrence]] = {}
    for occurrence in bare if moves else ():
        by_day.setdefault(occurrence[0] // DAY, []).append(occurrence)
    found: Moves = {}
    movers: dict[BareOccurrence, int] = {}
    for i, move in enumerate(moves):
        path: Path = ("spec", "recurrence", "moved", i)
        matches = sorted(
            o for o in by_day.get(number(move.day), ()) if _is_meant(move, o[0], schedule[o[1]].name)
        )
        fault = _move_fault(move, matches, movers, schedule, path)
        if fault is None:
            movers[matches[0]] = i
            start, end = _destination(move, matches[0], lengths)
            if start < end:
                found[matches[0]] = MovedTo(i, start, end, move.has_time)
                continue
            fault = empty_window((*path, "to", "endTime"))
        faults.append(fault)
    return found


def _is_meant(move: Move, wall: int, name: str) -> bool:
    """Tell whether an occurrence of this start and name is one that moves."""
    is_start = number(move.day) == wall // DAY and move.start in (None, wall % DAY)
    return is_start and move.name in (None, name)


def _move_fault(
    move: Move,
    matches: Sequence[BareOccurrence],
    movers: Mapping[BareOccurrence, int],
    schedule: Sequence[Entry],
    path: Path,
) -> Fault[Path] | None:
    """Report a move that does not match exactly one occurrence, or whose occurrence has another one."""
    if not matches:
        message = f"the schedule has no occurrence on {move.day}{_which(move)}."
        fix = "Name an occurrence of the schedule, or add one with `extra`."
        return Fault("B045", (*path, "date"), message, fix)
    starts = list(dict.fromkeys(clock(wall) for wall, _ in matches))
    names = list(dict.fromkeys(schedule[entry].name or '""' for _, entry in matches))
    for key, known, given in (("startTime", starts, move.start), ("name", names, move.name)):
        if given is None and len(known) > 1:
            message = f"{move.day} has {len(matches)} occurrences, and {key} does not say which one changes."
            return Fault("B047", path, message, f"Add {key}: {' or '.join(known)}.")
    if len(matches) > 1:
        message = f"{move.day} at {starts[0]} is the start of {len(matches)} lines: they have the same id."
        return Fault("B049", path, message, _NAME_ONE)
    if matches[0] in movers:
        message = f"{move.day} at {starts[0]} is already changed by moved[{movers[matches[0]]}]."
        return Fault("B048", path, message, "Keep one of the two.")
    return None


def moves_left_out(recurrence: Recurrence, moves: Moves, exclusions: Exclusions) -> Iterator[Fault[Path]]:
    """Report each entry of `moved` whose occurrence is left out.

    A single date in `except` contradicts it. A move out of a range or calendar is meant; other seats have no
    effect there.
    """
    for (wall, entry), to in moves.items():
        name = recurrence.schedule[entry].name
        singles = single_excepts(recurrence.excepts, wall, name)
        for i in singles:
            yield from _contradiction(i, to, wall)
        reason = None
        if not singles and not to.has_time:
            reason = exclusions.reason(to.start, to.end, name) or exclusions.closed(to.start, to.end)
        if reason is not None:
            message = f"{day_of(wall)} at {clock(wall)} is left out ({reason}): it has no seats to change."
            fix = "Add the new date to `to`, or remove this entry."
            yield Fault("B053", ("spec", "recurrence", "moved", to.move), message, fix)


def closed_changes(
    recurrence: Recurrence, moves: Moves, reasons: Mapping[BareOccurrence, str]
) -> Iterator[Fault[Path]]:
    """Report entries of `moved` and `extra` that do not happen; only a closed site leaves these out."""
    for one, reason in reasons.items():
        (start, entry), to = one, moves.get(one)
        path: Path = entry_path(entry, recurrence)
        if to is not None and to.has_time:
            start, path = to.start, ("spec", "recurrence", "moved", to.move)
        elif entry < len(recurrence.schedule):
            continue
        message = f"{day_of(start)} {clock(start)} does not happen: the site is closed then ({reason})."
        yield Fault("B059", path, message, "Choose another date, or remove this entry.")


def single_excepts(excepts: Sequence[Except], wall: int, name: str) -> list[int]:
    """Return the entries of `except` that name this occurrence as a single date, by index."""
    day, minutes = day_of(wall), wall % DAY
    return [
        i
        for i, item in enumerate(excepts)
        if item.first == day == item.last and item.start in (None, minutes) and item.name in (None, name)
    ]


def _contradiction(i: int, to: MovedTo, wall: int) -> Iterator[Fault[Path]]:
    which, verb = f"{day_of(wall)} at {clock(wall)}", "moves" if to.has_time else "changes"
    for name, index, message in (
        ("except", i, f"it leaves out {which}, which moved[{to.move}] {verb}."),
        ("moved", to.move, f"it {verb} {which}, which except[{i}] leaves out."),
    ):
        path: Path = ("spec", "recurrence", name, index)
        yield Fault("B048", path, message, "Remove one of the two entries.")


def empty_window(path: Path) -> Fault[Path]:
    """Report a window whose end is not after its start."""
    fix = "Write a later time; for 24 hours add endDay: 1."
    return Fault("B024", path, "the end is not after the start.", fix)


def _destination(move: Move, occurrence: BareOccurrence, lengths: Sequence[int]) -> tuple[int, int]:
    wall, entry = occurrence
    time = wall % DAY if move.to_start is None else move.to_start
    minutes = lengths[entry] if move.to_end is None else window_minutes(time, move.to_end, move.to_end_day)
    start = number(move.to_day or move.day) * DAY + time
    return start, start + minutes


# Entries that overlap or have the same id. Each pair of entries is reported once, with its first date.

_NAME_ONE = "Name one of them (name: extra-time), change a time, or write one entry with all the seats."


def any_overlap(occurrences: Iterable[Occurrence]) -> bool:
    """Tell whether any of the occurrences, which are sorted by start, overlap."""
    end = 0
    for occurrence in occurrences:
        if occurrence.start < end:
            return True
        end = occurrence.end
    return False


class OccurrenceSource(NamedTuple):
    """The lines of the file that an occurrence comes from."""

    entry: int
    move: int | None  # the index in `moved` of the one that says when it happens


def find_overlaps(
    dated: Iterable[tuple[Occurrence, OccurrenceSource]], recurrence: Recurrence, zone: Zone
) -> list[Fault[Path]]:
    """Report entries whose occurrences overlap and share a class, so that their seats add up.

    Groups that each have a name are meant to be there together. A moved occurrence is reported at its entry
    of `moved`, unless the schedule overlaps there anyway.

    `dated`: occurrences by start. For later occurrences, only the one of each source that ends last matters.
    """
    latest: dict[OccurrenceSource, Occurrence] = {}
    faults: dict[tuple[OccurrenceSource, OccurrenceSource], Fault[Path]] = {}
    for occurrence, source in dated:
        for other, earlier in latest.items():
            first, second = sorted((source, other), key=_moved_last)
            are_groups = bool(occurrence.name and earlier.name) and occurrence.name != earlier.name
            is_new = (first, second) not in faults and not are_groups
            if occurrence.start < earlier.end and is_new:
                classes = [name for name, _ in occurrence.seats if name in dict(earlier.seats)]
                if classes:
                    pair = (earlier, occurrence) if first == other else (occurrence, earlier)
                    faults[first, second] = _overlap(
                        (first, second), pair, ", ".join(classes), recurrence, zone
                    )
        if source not in latest or latest[source].end < occurrence.end:
            latest[source] = occurrence
    usual = {(first.entry, second.entry) for first, second in faults if second.move is None}
    return [
        fault
        for (first, second), fault in faults.items()
        if second.move is None or (*sorted((first.entry, second.entry)),) not in usual
    ]


def _moved_last(source: OccurrenceSource) -> tuple[bool, int, int]:
    return source.move is not None, source.move or 0, source.entry


def _overlap(
    sources: tuple[OccurrenceSource, OccurrenceSource],
    occurrences: tuple[Occurrence, Occurrence],
    classes: str,
    recurrence: Recurrence,
    zone: Zone,
) -> Fault[Path]:
    """Report the second of two sources, with the occurrences of both."""
    (first, second), (earlier, occurrence) = sources, occurrences
    ignore = 'annotate berth.dev/ignore: "B031: <reason>".'
    if second.move is not None:
        other = _entry_text(first.entry, recurrence)
        if first.move is not None:
            other = f"moved[{first.move}] ({span_text(earlier.start, earlier.end, zone)})"
        when = span_text(occurrence.start, occurrence.end, zone)
        message = f"{when} overlaps {other}: seats of {classes} add up."
        path: Path = ("spec", "recurrence", "moved", second.move)
        return Fault("B031", path, message, f"Choose another time; if it is meant, {ignore}")
    day = day_of(local(zone, max(earlier.start, occurrence.start)))
    other = "its next occurrence" if first == second else _entry_text(first.entry, recurrence)
    hours = _hours(second.entry, recurrence)
    message = f"{hours} overlaps {other}, first on {day}: seats of {classes} add up."
    fix = f"Change one of the times; if both are meant, give each its name (name: regular), or {ignore}"
    return Fault("B031", entry_path(second.entry, recurrence), message, fix)


def find_duplicate_ids(bare: Sequence[BareOccurrence], recurrence: Recurrence) -> list[Fault[Path]]:
    """Report entries with occurrences that start at the same time and have the same name."""
    names = [line.name for line in recurrence.lines]
    starts: dict[tuple[int, str], int] = {}
    faults: dict[tuple[int, int], Fault[Path]] = {}
    for wall, entry in sorted(bare):
        first = starts.setdefault((wall, names[entry]), entry)
        if first != entry and (first, entry) not in faults:
            faults[first, entry] = Fault(
                "B049",
                (*entry_path(entry, recurrence), "startTime"),
                f"{day_of(wall)} {clock(wall)} is also a start of {_entry_text(first, recurrence)}: "
                "two occurrences have the same id.",
                _NAME_ONE,
            )
    return list(faults.values())


def entry_path(entry: int, recurrence: Recurrence) -> Path:
    """Return the path of an entry; the indices of extras follow those of the schedule."""
    if recurrence.type == "capacity":
        return DATES_OF_MACHINES
    extra = entry - len(recurrence.schedule)
    if extra >= 0:
        return "spec", "recurrence", "extra", extra
    listed = recurrence.schedule[entry].dates.listed
    item: Path = ("schedule", entry) if listed is None else ("dates", listed)
    return "spec", "recurrence", *item


def _entry_text(entry: int, recurrence: Recurrence) -> str:
    *_, name, position = entry_path(entry, recurrence)
    return f"{name}[{position}] ({_hours(entry, recurrence)})"


def _hours(entry: int, recurrence: Recurrence) -> str:
    item = recurrence.lines[entry]
    return f"{clock(item.start)}-{'24:00' if item.end == DAY else clock(item.end)}"

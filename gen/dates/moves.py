"""`moved`: which occurrence of the bare recurrence a move means, and when that happens instead."""

from collections.abc import Iterable, Mapping, Sequence

from gen.dates.bare import Bare, length
from gen.dates.occurrence import Fault
from gen.dates.zone import DAY, clock, number
from gen.finding import Path
from gen.model import Move

NO_LENGTH, NOTHING_TO_MOVE, WHICH_ONE, MOVED_TWICE = "B028", "B046", "B047", "B048"

Moved = dict[Bare, tuple[int, int]]
"""Of each occurrence that moves: the wall times of its new start and end."""


def moved(moves: Sequence[Move], bare: Iterable[Bare], lengths: Sequence[int], faults: list[Fault]) -> Moved:
    """`lengths` are the minutes of each entry. What is wrong is added to `faults`."""
    by_day: dict[int, list[Bare]] = {}
    for occurrence in bare if moves else ():
        by_day.setdefault(occurrence[0] // DAY, []).append(occurrence)
    destinations: Moved = {}
    movers: dict[Bare, int] = {}
    for i, move in enumerate(moves):
        path: Path = ("spec", "recurrence", "moved", i)
        meant = sorted(o for o in by_day.get(number(move.day), ()) if move.start in (None, o[0] % DAY))
        fault = _unclear(move, meant, movers, path)
        if fault is None:
            movers[meant[0]] = i
            start, end = _destination(move, meant[0], lengths)
            if start < end:
                destinations[meant[0]] = start, end
                continue
            fault = no_length((*path, "to", "endTime"))
        faults.append(fault)
    return destinations


def _unclear(move: Move, meant: Sequence[Bare], movers: Mapping[Bare, int], path: Path) -> Fault | None:
    """Why a move does not say which one occurrence it means; `meant` are those that its words fit."""
    if not meant:
        at = "" if move.start is None else f" at {clock(move.start)}"
        message = f"the recurrence has nothing on {move.day}{at} that could be moved."
        fix = "Name an occurrence of the schedule, or write `extra` for one more."
        return Fault(NOTHING_TO_MOVE, (*path, "date"), message, fix)
    starts = [clock(wall) for wall, _ in meant]
    if move.start is None and len(meant) > 1:
        message = f"{move.day} has {len(meant)} occurrences, and startTime does not say which one moves."
        return Fault(WHICH_ONE, path, message, f"Add startTime: {' or '.join(starts)}.")
    if meant[0] in movers:
        message = f"{move.day} at {starts[0]} is moved by moved[{movers[meant[0]]}] already."
        return Fault(MOVED_TWICE, path, message, "Keep one of the two.")
    return None


def no_length(path: Path) -> Fault:
    fix = "Write a later time; for a whole day add endDay: 1."
    return Fault(NO_LENGTH, path, "the end is not after the start.", fix)


def _destination(move: Move, occurrence: Bare, lengths: Sequence[int]) -> tuple[int, int]:
    wall, entry = occurrence
    time = wall % DAY if move.to_start is None else move.to_start
    minutes = lengths[entry] if move.to_end is None else length(time, move.to_end, move.to_end_day)
    start = number(move.to_day) * DAY + time
    return start, start + minutes

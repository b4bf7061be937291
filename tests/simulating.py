"""Plans for the simulation, and what it holds."""

from bisect import bisect_right
from collections.abc import Sequence

from berth.core.sessions import Match
from berth.core.timetable import Buffer, TimetableOccurrence, TimetablePool
from berth.simulation import SimulationSetup, SimulationStep

EVERYBODY = Match()


# Spare seats for the behavior `buffer`, which a pool may follow instead.
BUFFER = Buffer(percent=30, minimum=2)
POOL = TimetablePool("small", "course-small", "maintain", buffer=BUFFER)


def plan(*occurrences: TimetableOccurrence, match: Match = EVERYBODY, wait: int = 30) -> SimulationSetup:
    return SimulationSetup(POOL._replace(match=match), occurrences, wait)


def held(steps: Sequence[SimulationStep], moment: int, behaviour: int = 0) -> int:
    """The target at a moment; nothing before the first step."""
    place = bisect_right(steps, moment, key=lambda step: step.at)
    return steps[place - 1].targets[behaviour] if place else 0

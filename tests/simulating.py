"""Plans for the simulation, and what it holds."""

from bisect import bisect_right
from collections.abc import Sequence

from gen.runtime.session import Match
from gen.runtime.timetable import Occurrence, Pool
from gen.simulation import (
    Plan,
    Step,
)

EVERYBODY = Match()


def plan(*occurrences: Occurrence, match: Match = EVERYBODY, wait: int = 30) -> Plan:
    return Plan(Pool("small", "course-small", "maintain", None, match), occurrences, wait)


def held(steps: Sequence[Step], moment: int, behaviour: int = 0) -> int:
    """The target at a moment; nothing before the first step."""
    place = bisect_right(steps, moment, key=lambda step: step.at)
    return steps[place - 1].targets[behaviour] if place else 0

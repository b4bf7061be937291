"""The steps of a simulation as a table: a line for each instant at which something happens."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gen import table
from gen.dates.moment import local_day, near_text
from gen.dates.zone import Zone
from gen.simulation import CLOCK, COME, LEAVE, WAIT_OVER, SimulationEvent, SimulationStep

_LONGEST_RUN = 4  # of lines that the clock alone has made


class Scene(NamedTuple):
    """What the words of a table are relative to."""

    occurrence: str
    start: int
    zone: Zone
    stabilization_seconds: int


def text(steps: Sequence[SimulationStep], behaviours: Sequence[str], scene: Scene) -> str:
    """One behaviour is told with what it promises; several stand beside each other."""
    alone = len(behaviours) == 1
    targets = ["target", "promised"] if alone else list(behaviours)
    rows = []
    for step, skipped in _shortened(steps):
        if skipped:
            rows.append(["...", *[""] * (len(targets) + 1), f"{skipped} more steps by the clock"])
        numbers = [*step.targets, *([step.active + step.targets[0]] if alone else [])]
        happens = ", ".join(_words(event, scene) for event in step.events)
        rows.append([_time(step.at, scene), *map(str, [step.active, *numbers]), happens])
    return table.text(["local time", "active", *targets, "what happens"], rows)


def _shortened(steps: Sequence[SimulationStep]) -> Iterator[tuple[SimulationStep, int]]:
    """The steps to show, each with the number of those left out in front of it: the middle of long runs."""
    run: list[SimulationStep] = []
    for step in steps:
        if [event.kind for event in step.events] == [CLOCK]:
            run.append(step)
            continue
        yield from _ends(run)
        run = []
        yield step, 0
    yield from _ends(run)


def _ends(run: list[SimulationStep]) -> Iterator[tuple[SimulationStep, int]]:
    if len(run) <= _LONGEST_RUN:
        yield from ((step, 0) for step in run)
    else:
        yield run[0], 0
        yield run[-1], len(run) - 2


def _time(at: int, scene: Scene) -> str:
    """With seconds only where there are any, with the day only where it is another."""
    seconds = f":{at % 60:02}" if at % 60 else ""
    return near_text(at, scene.zone, local_day(scene.start, scene.zone)) + seconds


def _words(event: SimulationEvent, scene: Scene) -> str:
    one = event.number == 1
    if event.kind == COME:
        return f"{event.number} {'comes' if one else 'come'}"
    if event.kind == LEAVE:
        still = f", counted for {scene.stabilization_seconds} s more" if scene.stabilization_seconds else ""
        return f"{event.number} {'leaves' if one else 'leave'}{still}"
    if event.kind == WAIT_OVER:
        return f"the wait of {event.number} is over"
    if event.kind == CLOCK:
        return "by the clock"
    return event.kind if event.occurrence == scene.occurrence else f"{event.occurrence} {event.kind}"

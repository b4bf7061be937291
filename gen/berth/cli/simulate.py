"""`berth simulate`: one occurrence while sessions come and go, by the scaler's own code."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from berth.cli.command import FILE, Settings, command, reason
from berth.cli.console import EXIT_OK, stderr
from berth.cli.selection import (
    class_option,
    clock_of,
    items_of,
    name_argument,
    require_class,
    require_reservations,
)
from berth.cli.selection import occurrence as selected_occurrence
from berth.core.jsonvalues import instant_text
from berth.core.timetable import BEHAVIORS, parse_timetable
from berth.dates.expansion import Occurrence
from berth.dates.moments import local_day, named, near_text, span_text
from berth.dates.zone import Zone
from berth.manifests.timetabletext import timetable_text
from berth.notation.refusal import CommandError
from berth.output.answers import Answer, document, seats_text
from berth.output.columns import Table
from berth.output.table import Fit, wrapped
from berth.pipeline import Item, Pipeline
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Site
from berth.sessiontext import SessionScene, SessionsError, example_crowd, parse_changes
from berth.simulation import (
    CLOCK,
    COME,
    LEAVE,
    WAIT_OVER,
    SessionChange,
    SimulationEvent,
    SimulationSetup,
    SimulationStep,
)
from berth.simulation import simulate as simulate_pool

_LARGEST = 1 << 20  # bytes of a file of sessions
_AS_BEFORE = "as before"
_LONGEST_RUN = 4  # rows that only the clock has made
_SESSIONS_LINE = 62  # characters of an example crowd in a line


class _Run(NamedTuple):
    """One class of the occurrence, and the steps of its pool."""

    title: str
    resource_class: str
    unit: Unit
    behaviors: tuple[str, ...]
    stabilization_seconds: int
    steps: list[SimulationStep]
    closed: SimulationStep | None = None  # the step after which the number is what it was before

    def targets(self, step: SimulationStep) -> Sequence[int | None]:
        """Return the target of each behavior; None for what was there before."""
        return [None] * len(step.targets) if step is self.closed else step.targets

    @property
    def follows_sessions(self) -> bool:
        """Whether sessions change the target, or take seats of it."""
        return self.unit is Unit.SEAT or any(behavior != "none" for behavior in self.behaviors)

    @property
    def has_promised(self) -> bool:
        """Whether a session takes one of what is counted, so that both together are what was promised."""
        return self.unit is Unit.SEAT and len(self.behaviors) == 1


class _Simulation(NamedTuple):
    occurrence: Occurrence
    runs: list[_Run]
    example: str = ""  # the sessions, if nobody gave any

    @property
    def when(self) -> str:
        occurrence, zone = self.occurrence, self.occurrence.zone
        return f"{occurrence.id}, {span_text(occurrence.start, occurrence.end, named(zone))} {zone}"


@command(
    "text json yaml csv",
    examples=(
        "berth simulate my-course --sessions 08:55+10,09:20+8,11:00-3",
        "berth simulate my-course --on 2026-02-02 --compare",
    ),
)
@name_argument
@click.option(
    "--sessions",
    metavar="FILE",
    type=FILE,
    help="Sessions such as 08:55+10,11:00-3, or a file of them; - is standard input; default: an example.",
)
@click.option(
    "--on", metavar="DATE", help="Its date, or its id, where a date has several; default: the next to open."
)
@class_option()
@click.option("--compare", is_flag=True, help="Compare maintain, reduce, none, and buffer if it is set.")
def simulate(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    name: str,
    sessions: str | None,
    on: str | None,
    resource_class: str | None,
    compare: bool,
) -> int:
    """Simulate one occurrence while sessions come and go.

    Shows the target of the pool at each instant at which something happens. Without --sessions, an example
    crowd comes, which is marked as one; answers for programs have no sessions then.
    """
    pipeline = Pipeline()
    require_reservations([name], pipeline)
    require_class(resource_class, pipeline)
    now = clock_of(settings, pipeline).now
    item: Item | None = None
    number = next((one.holder.shared for one in pipeline.declared.reservations if one.name == name), None)
    sharing: list[Item] = []
    for candidate in items_of(settings, pipeline):
        if candidate.reservation.name == name:
            item = candidate
        elif number is not None and candidate.reservation.holder.shared == number:
            sharing.append(candidate)
    code = settings.report(pipeline.findings())
    if code != EXIT_OK or item is None or pipeline.site is None:
        return code
    _refuse_without_choice(item, compare=compare)
    chosen = selected_occurrence(item, on, resource_class, now)
    shown = chosen.of_classes((resource_class,)) if resource_class else chosen
    if sessions is not None and not compare:
        _refuse_idle_sessions(item.reservation, shown)
    scene = _scene(chosen, resource_class)
    is_example = sessions is None and settings.form == "text" and item.reservation.holder.unit is Unit.SEAT
    example = example_crowd(scene, shown.start, dict(shown.seats)) if is_example else ""
    coming = _sessions(settings, example or sessions, scene)
    simulation = _simulation(item, sharing, pipeline.site, shown, coming, compare=compare)
    simulation = simulation._replace(example=example)
    if item.reservation.suspend:
        stderr(f"berth: {name} is suspended: this would happen if it were not.\n")
    settings.answer(lambda: _answer(simulation), lambda: _text(simulation, settings.columns))
    return EXIT_OK


def _refuse_without_choice(item: Item, *, compare: bool) -> None:
    """Raise CommandError for a reservation of which there is nothing to simulate, or to compare."""
    name = item.reservation.name
    if item.reservation.holder.persistence is not None:
        raise CommandError(f"{name} has no windows: there is nothing to simulate.")
    if compare and len(behaviors := _comparable(item)) == 1:
        raise CommandError(
            f"{name} can have no behavior but {behaviors[0]}: there is nothing to compare. "
            "Leave out --compare."
        )


def _refuse_idle_sessions(reservation: Reservation, shown: Occurrence) -> None:
    """Raise CommandError for sessions that change nothing of what an occurrence holds."""
    unit, behaviors = reservation.holder.unit, {one.behavior for one in reservation.scaling_of(shown)}
    if unit is not Unit.SEAT and behaviors == {"none"}:
        raise CommandError(
            f"{reservation.name} has behavior none, so no session changes its {unit.key}. Leave out "
            "--sessions."
        )


def _comparable(item: Item) -> tuple[str, ...]:
    """Return the behaviors that a reservation can have as it is."""
    buffer = item.reservation.buffer
    is_shared = any(part.placed.peers for part in item.parts)
    allowed = item.reservation.holder.allowed_behaviors(buffer.minimum if buffer else 0, is_shared=is_shared)
    return tuple(word for word in BEHAVIORS if word in allowed and (word != "buffer" or buffer))


def _scene(occurrence: Occurrence, resource_class: str | None) -> SessionScene:
    names = tuple(name for name, _ in occurrence.seats)
    default = resource_class or (names[0] if len(names) == 1 else "")
    return SessionScene(named(occurrence.zone), occurrence.open, occurrence.end, names, default)


def _simulation(  # noqa: PLR0913
    item: Item,
    sharing: Sequence[Item],
    site: Site,
    occurrence: Occurrence,
    coming: dict[str, list[SessionChange]],
    *,
    compare: bool,
) -> _Simulation:
    """Simulate each class of an occurrence. `sharing`: what holds the same number."""
    reservation = item.reservation
    own = {
        name: (count, scaling.behavior)
        for (name, count), scaling in zip(occurrence.seats, reservation.scaling_of(occurrence), strict=True)
    }
    runs = []
    for part in item.parts:
        timetable = parse_timetable(timetable_text(site, part.placed, part.occurrences))
        pools = {pool.resource_class: pool for pool in timetable.pools}
        names = part.placed.peers
        peers = tuple(
            parse_timetable(timetable_text(site, other.placed, other.occurrences))
            for each in sharing
            for other in each.parts
            if each.reservation.name in names and other.placed.cluster.name == part.placed.cluster.name
        )
        for name, (count, behavior) in own.items():
            if name in pools:
                pool, held = pools[name], seats_text([(name, count)], reservation.holder.unit)
                title = f"{held} in {part.placed.cluster.name}{'' if compare else f', {behavior}'}"
                title += f", shared with {' and '.join(names)}" if names else ""
                # Where nobody counts sessions, nobody waits.
                waits = (compare or pool.behavior != "none") and reservation.holder.is_stabilized
                wait = site.stabilization_seconds if waits else 0
                setup = SimulationSetup(pool, timetable.occurrences, wait, peers)
                known = _comparable(item)
                asked = known if compare else ("",)
                done = simulate_pool(setup, coming[name], asked, occurrence.open, occurrence.end)
                shown = known if compare else (behavior,)
                run = _Run(title, name, reservation.holder.unit, shown, wait, done)
                runs.append(_with_end(run, reservation))
    return _Simulation(occurrence, runs)


def _with_end(run: _Run, reservation: Reservation) -> _Run:
    """Let the run end with what the number is outside of windows, unless another window goes on."""
    otherwise, last = reservation.holder.otherwise_count, run.steps[-1]
    if otherwise == 0 or any(last.targets):
        return run
    if otherwise is None:
        return run._replace(closed=last)
    return run._replace(steps=[*run.steps[:-1], last._replace(targets=(otherwise,) * len(last.targets))])


def _sessions(settings: Settings, given: str | None, scene: SessionScene) -> dict[str, list[SessionChange]]:
    """Read --sessions: a text begins with a digit and has a colon; all else names a file."""
    if given is None:
        return {name: [] for name in scene.classes}
    if not given:
        raise CommandError("--sessions is empty. Name a file, or write 08:55+10,11:00-3.")
    text, source = given.strip(), "--sessions"
    if not (text[:1].isdigit() and ":" in text):
        text, source = _content(settings, given), "standard input" if given == "-" else given
    try:
        return parse_changes(text, source, scene)
    except SessionsError as error:
        raise CommandError(str(error)) from error


def _content(settings: Settings, name: str) -> str:
    try:
        if name == "-":
            content = sys.stdin.buffer.read(_LARGEST + 1) if sys.stdin else b""
        else:
            with Path(settings.given(name)).open("rb") as file:
                content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        message = f"--sessions {name}: {reason(error)}. Name a file, or write 08:55+10,11:00-3."
        raise CommandError(message) from error
    if len(content) > _LARGEST:
        raise CommandError(f"--sessions {name}: the file is larger than 1 MiB.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"--sessions {name}: the file is not UTF-8 text.") from error


def _text(simulation: _Simulation, columns: int | None) -> str:
    occurrence = simulation.occurrence
    zone = named(occurrence.zone)
    mark = " (example crowd)" if simulation.example else ""
    parts = [f"{wrapped(simulation.when, columns)}\n{_example_text(simulation, columns)}"]
    for run in simulation.runs:
        setting = _Setting(occurrence.id, occurrence.start, zone, run.stabilization_seconds, columns)
        parts.append(f"{run.title}{mark}\n{_table(run, setting)}")
    return "\n".join(parts)


def _example_text(simulation: _Simulation, columns: int | None) -> str:
    if not simulation.example:
        return ""
    text = "This is an EXAMPLE crowd, because no --sessions are given. They would be:"
    return f"{wrapped(text, columns)}\n  --sessions {shlex.quote(_in_lines(simulation.example))}\n"


def _in_lines(sessions: str) -> str:
    """Break sessions into lines that can be copied: --sessions reads lines as a file has them."""
    lines = [""]
    for change in sessions.split(","):
        if len(lines[-1]) + len(change) > _SESSIONS_LINE:
            lines.append("")
        lines[-1] += f",{change}" if lines[-1] else change
    return "\n    ".join(lines)


def _answer(simulation: _Simulation) -> Answer:
    """Return the answer of kind Simulation: an item for each step and behavior, by time."""
    items = [
        {
            "at": instant_text(step.at),
            "class": run.resource_class,
            "behavior": behavior,
            "active": step.active,
            "target": target,
            **({} if run.unit is Unit.SEAT else {"unit": run.unit.word}),
        }
        for step, run in sorted(
            ((step, run) for run in simulation.runs for step in run.steps), key=lambda pair: pair[0].at
        )
        for behavior, target in zip(run.behaviors, run.targets(step), strict=True)
    ]
    return document("Simulation", {"items": items})


class _Setting(NamedTuple):
    """What the cells of a table are relative to, and how wide it may be."""

    occurrence: str
    start: int
    zone: Zone
    stabilization_seconds: int
    columns: int | None


def _table(run: _Run, setting: _Setting) -> str:
    """Return a row for each step: one behavior with what it promises, or several beside each other."""
    targets = ["target"] if len(run.behaviors) == 1 else list(run.behaviors)
    headings = ["local time", "active", *targets, "promised", "what happens"]
    hidden = [
        *([] if run.follows_sessions else ["active"]),
        *([] if run.has_promised else ["promised"]),
    ]
    rows = []
    for step, skipped in _shortened(run.steps):
        if skipped:
            rows.append(("...", *[""] * (len(targets) + 2), f"{skipped} more steps by the clock"))
        numbers: list[object] = [*step.targets, step.active + step.targets[0]]
        if step is run.closed:
            numbers = [_AS_BEFORE] * len(numbers)
        happens = ", ".join(_event(event, setting) for event in step.events)
        rows.append((_time(step.at, setting), *map(str, [step.active, *numbers]), happens))
    shown = Table(tuple(headings), tuple(rows)).without(*hidden)
    return shown.written("text", Fit(setting.columns, ("what happens",)))


def _shortened(steps: Sequence[SimulationStep]) -> Iterator[tuple[SimulationStep, int]]:
    """Yield the steps to show, each with the number of steps left out before it: the middle of long runs."""
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


def _time(at: int, setting: _Setting) -> str:
    """Return the local time, with seconds and the day only where they are needed."""
    seconds = f":{at % 60:02}" if at % 60 else ""
    return near_text(at, setting.zone, local_day(setting.start, setting.zone)) + seconds


def _event(event: SimulationEvent, setting: _Setting) -> str:
    single = event.number == 1
    if event.kind == COME:
        return f"{event.number} {'comes' if single else 'come'}"
    if event.kind == LEAVE:
        still = (
            f", counted for {setting.stabilization_seconds} s more" if setting.stabilization_seconds else ""
        )
        return f"{event.number} {'leaves' if single else 'leave'}{still}"
    if event.kind == WAIT_OVER:
        return "the wait is over"
    if event.kind == CLOCK:
        return "by the clock"
    return event.kind if event.occurrence == setting.occurrence else f"{event.occurrence} {event.kind}"

"""`berth simulate`: one occurrence while sessions come and go, by the scaler's own code."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import click

from berth.checks.project import Item
from berth.cli.command import FILE, Settings, command
from berth.cli.console import EXIT_OK, stderr
from berth.cli.dateselection import occurrence_selector
from berth.cli.selection import class_option, items_of, name_argument, opened, read_option
from berth.cli.selection import occurrence as selected_occurrence
from berth.core.jsonvalues import instant_text
from berth.core.timetable import BEHAVIORS, parse_timetable
from berth.dates.expansion import Occurrence
from berth.dates.moments import local_day, named, near_text, span_text
from berth.manifests.timetabletext import timetable_text
from berth.notation.refusal import CommandError
from berth.output.answers import Answer, document, seats_text
from berth.output.columns import Items, Table
from berth.output.table import Fit, wrapped
from berth.schema.seatholders import Unit
from berth.schema.values import Site
from berth.sessiontext import SessionScene, example_crowd, parse_changes
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

_KEYS = ("at", "class", "behavior", "active", "target", "unit")
_LARGEST = 1 << 20  # bytes of a file of sessions
_ADVICE = " Name a file, or write 08:55+10,11:00-3."
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
    "--on",
    metavar="DATE",
    help="Its date; with a time, or its id, where it has several; default: the next to open.",
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
    pipeline, clock = opened(settings, [name], resource_class)
    which = None if on is None else occurrence_selector(clock, name, on, None, None, "--on")
    items = [*items_of(settings, pipeline)]
    site = settings.valid_site(pipeline)
    (item,) = (each for each in items if each.reservation.name == name)
    behaviors = _comparable(item) if compare else ()
    _refuse_without_choice(item, behaviors)
    chosen = selected_occurrence(item, which, resource_class, clock.now)
    shown = chosen.of_classes((resource_class,)) if resource_class else chosen
    unit = item.reservation.holder.unit
    is_idle = unit is not Unit.SEAT and {s.behavior for s in item.reservation.scaling_of(shown)} == {"none"}
    if sessions is not None and not compare and is_idle:
        raise CommandError(
            f"{name} has behavior none, so no session changes its {unit.key}. Leave out --sessions."
        )
    classes = tuple(seats[0] for seats in chosen.seats)
    usual = resource_class or (classes[0] if len(classes) == 1 else "")
    scene = SessionScene(named(chosen.zone), chosen.open, chosen.end, classes, usual)
    is_example = sessions is None and settings.form == "text" and unit is Unit.SEAT
    example = example_crowd(scene, shown.start, dict(shown.seats)) if is_example else ""
    coming = _sessions(settings, example or sessions, scene)
    runs = _runs(item, items, site, shown, coming, behaviors)
    if item.reservation.suspend:
        stderr(f"berth: {name} is suspended: this would happen if it were not.\n")
    settings.answer(lambda: _answer(runs), lambda: _text(shown, runs, example, settings.columns))
    return EXIT_OK


def _comparable(item: Item) -> tuple[str, ...]:
    """Return the behaviors that a reservation can have as it is."""
    buffer = item.reservation.buffer
    is_shared = any(part.placed.peers for part in item.parts)
    allowed = item.reservation.holder.allowed_behaviors(buffer.minimum if buffer else 0, is_shared=is_shared)
    return tuple(word for word in BEHAVIORS if word in allowed and (word != "buffer" or buffer))


def _refuse_without_choice(item: Item, behaviors: Sequence[str]) -> None:
    """Raise CommandError for a reservation of which there is nothing to simulate, or to compare."""
    name = item.reservation.name
    if item.reservation.holder.persistence is not None:
        raise CommandError(f"{name} has no windows: there is nothing to simulate.")
    if len(behaviors) == 1:
        raise CommandError(
            f"{name} can have no behavior but {behaviors[0]}: there is nothing to compare. "
            "Leave out --compare."
        )


def _runs(  # noqa: PLR0913, PLR0917
    item: Item,
    items: Sequence[Item],
    site: Site,
    occurrence: Occurrence,
    coming: dict[str, list[SessionChange]],
    compared: tuple[str, ...],
) -> list[_Run]:
    """Simulate each class of an occurrence, with its own behavior or with those that are compared."""
    reservation, holder, runs = item.reservation, item.reservation.holder, list[_Run]()
    scalings = reservation.scaling_of(occurrence)
    for part in item.parts:
        timetable = parse_timetable(timetable_text(site, part.placed, part.occurrences))
        pools = {pool.resource_class: pool for pool in timetable.pools}
        cluster, names = part.placed.cluster.name, part.placed.peers
        peers = tuple(
            parse_timetable(timetable_text(site, other.placed, other.occurrences))
            for each in items
            for other in each.parts
            if each.reservation.name in names and other.placed.cluster.name == cluster
        )
        for (name, count), scaling in zip(occurrence.seats, scalings, strict=True):
            if name not in pools:
                continue
            pool, behavior = pools[name], scaling.behavior
            title = f"{seats_text([(name, count)], holder.unit)} in {cluster}"
            title += "" if compared else f", {behavior}"
            title += f", shared with {' and '.join(names)}" if names else ""
            # Where nobody counts sessions, nobody waits.
            waits = (compared or pool.behavior != "none") and holder.is_stabilized
            wait = site.scaler.stabilization_seconds if waits else 0
            setup = SimulationSetup(pool, timetable.occurrences, wait, peers)
            steps = simulate_pool(setup, coming[name], compared or ("",), occurrence.open, occurrence.end)
            run = _Run(title, name, holder.unit, compared or (behavior,), wait, steps)
            otherwise, last = holder.otherwise_count, steps[-1]
            if any(last.targets) or otherwise == 0:  # another window goes on, or nothing is left
                runs.append(run)
            elif otherwise is None:
                runs.append(run._replace(closed=last))
            else:
                steps[-1] = last._replace(targets=(otherwise,) * len(last.targets))
                runs.append(run)
    return runs


def _sessions(settings: Settings, given: str | None, scene: SessionScene) -> dict[str, list[SessionChange]]:
    """Read --sessions: a text begins with a digit and has a colon; all else names a file."""
    if given is None:
        return {name: [] for name in scene.classes}
    text, source = given.strip(), "--sessions"
    if not (text[:1].isdigit() and ":" in text):
        text, source = _content(settings, given), "standard input" if given == "-" else given
    return parse_changes(text, source, scene)


def _content(settings: Settings, name: str) -> str:
    try:
        return read_option(settings, "--sessions", name, _LARGEST, _ADVICE).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"--sessions {name}: the file is not UTF-8 text.") from error


def _text(occurrence: Occurrence, runs: Sequence[_Run], example: str, columns: int | None) -> str:
    span = span_text(occurrence.start, occurrence.end, named(occurrence.zone))
    head = f"{wrapped(f'{occurrence.id}, {span} {occurrence.zone}', columns)}\n"
    if example:
        lines = [""]  # that can be copied: --sessions reads lines as a file has them
        for change in example.split(","):
            if len(lines[-1]) + len(change) > _SESSIONS_LINE:
                lines.append("")
            lines[-1] += f",{change}" if lines[-1] else change
        text = "This is an EXAMPLE crowd, because no --sessions are given. They would be:"
        sessions = shlex.quote("\n    ".join(lines))
        head += f"{wrapped(text, columns)}\n  --sessions {sessions}\n"
    mark = " (example crowd)" if example else ""
    fit = Fit(columns, ("what happens",))
    tables = (f"{run.title}{mark}\n{_table(run, occurrence).written('text', fit)}" for run in runs)
    return "\n".join([head, *tables])


def _answer(runs: Sequence[_Run]) -> Answer:
    """Return the answer of kind Simulation: an item for each step and behavior, by time."""
    items = [
        {
            "at": instant_text(step.at),
            "class": run.resource_class,
            "behavior": behavior,
            "active": step.active,
            "target": None if step is run.closed else target,
            **({} if run.unit is Unit.SEAT else {"unit": run.unit.value}),
        }
        for step, run in sorted(
            ((step, run) for run in runs for step in run.steps), key=lambda pair: pair[0].at
        )
        for behavior, target in zip(run.behaviors, step.targets, strict=True)
    ]
    return document("Simulation", {"items": Items(_KEYS, items)})


def _table(run: _Run, occurrence: Occurrence) -> Table:
    """Return a row for each step: one behavior with what it promises, or several beside each other."""
    targets = ["target"] if len(run.behaviors) == 1 else list(run.behaviors)
    hidden = []
    if run.unit is not Unit.SEAT:  # no session takes one of what is counted
        hidden += ["promised", *(["active"] if {*run.behaviors} == {"none"} else [])]
    elif len(run.behaviors) > 1:
        hidden += ["promised"]
    zone = named(occurrence.zone)
    day = local_day(occurrence.start, zone)
    rows = []
    for step, skipped in _shortened(run.steps):
        if skipped:
            rows.append(("...", *[""] * (len(targets) + 2), f"{skipped} more steps by the clock"))
        numbers: list[object] = [*step.targets, step.active + step.targets[0]]
        if step is run.closed:
            numbers = [_AS_BEFORE] * len(numbers)
        seconds = f":{step.at % 60:02}" if step.at % 60 else ""
        happens = ", ".join(_event(event, run, occurrence) for event in step.events)
        rows.append((near_text(step.at, zone, day) + seconds, *map(str, [step.active, *numbers]), happens))
    headings = ("local time", "active", *targets, "promised", "what happens")
    return Table(headings, tuple(rows)).without(*hidden)


def _shortened(steps: Sequence[SimulationStep]) -> Iterator[tuple[SimulationStep, int]]:
    """Yield the steps to show, each with the number of steps left out before it: the middle of long runs."""
    for is_run, group in groupby(steps, lambda step: [event.kind for event in step.events] == [CLOCK]):
        run = [*group]
        if is_run and len(run) > _LONGEST_RUN:
            yield from ((run[0], 0), (run[-1], len(run) - 2))
        else:
            yield from ((step, 0) for step in run)


def _event(event: SimulationEvent, run: _Run, occurrence: Occurrence) -> str:
    single = event.number == 1
    if event.kind == COME:
        return f"{event.number} {'comes' if single else 'come'}"
    if event.kind == LEAVE:
        wait = run.stabilization_seconds
        still = f", counted for {wait} s more" if wait else ""
        return f"{event.number} {'leaves' if single else 'leave'}{still}"
    if event.kind == WAIT_OVER:
        return "the wait is over"
    if event.kind == CLOCK:
        return "by the clock"
    return event.kind if event.occurrence == occurrence.id else f"{event.occurrence} {event.kind}"

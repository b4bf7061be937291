"""`berth simulate`: one occurrence for sessions that come and go, by the scaler's own code."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gen import report
from gen.chart import svg, terminal
from gen.chart.drawing import SESSIONS, TARGET, Line, Panel, Span
from gen.command import screen, selection, steps
from gen.command.answer import tell
from gen.command.asked import Asked, UsageError
from gen.command.drawn import save
from gen.command.exits import GOOD
from gen.command.progress import watched
from gen.command.say import say
from gen.dates.moment import named, span_text
from gen.dates.occurrence import Occurrence
from gen.manifest.timetabletext import timetable_text
from gen.model import Site
from gen.pipeline import Item, Pipeline
from gen.placed import has_nodes, stands
from gen.report import seats_text
from gen.runtime.instant import instant_text
from gen.runtime.timetable import BEHAVIOURS, parse
from gen.sessiontext import Scene, SessionsError, changes
from gen.simulation import Change, Plan, Step, simulate

_LARGEST = 1 << 20  # bytes of a file of sessions


class _Run(NamedTuple):
    """One class of the occurrence, and what becomes of its pool."""

    title: str
    resource_class: str
    seats: int
    steps: list[Step]


class _Simulation(NamedTuple):
    occurrence: Occurrence
    title: str
    behaviours: tuple[str, ...]
    stabilization_seconds: int
    runs: list[_Run]

    @property
    def span(self) -> Span:
        found = self.occurrence
        return Span(found.open, found.start, found.end, named(found.zone))

    @property
    def when(self) -> str:
        found = self.occurrence
        return f"{found.id}, {span_text(found.start, found.end, named(found.zone))} {found.zone}"


def run(asked: Asked) -> int:
    pipeline = Pipeline()
    names, resource_class = selection.reservations(asked, pipeline), selection.resource_class(asked, pipeline)
    now = selection.instant("--now", asked, pipeline)
    item: Item | None = None
    for one in watched(pipeline.items(), len(pipeline.declared.reservations)):
        item = one if one.reservation.name in names else item
    code = tell(pipeline.findings(), asked)
    if code != GOOD or item is None or pipeline.site is None:
        return code
    if stands(item.reservation) is not None:
        raise UsageError(f"{item.reservation.name} stands without windows: there is nothing to simulate.")
    if has_nodes(item.reservation) and asked.has("--compare"):
        message = "holds whole nodes, which no session changes: there is nothing to compare"
        raise UsageError(f"{item.reservation.name} {message}. Leave out --compare.")
    now = int(time.time()) if now is None else now
    occurrence = selection.occurrence(item, asked.value("--occurrence"), resource_class, now)
    made = _simulation(asked, item, pipeline.site, occurrence)
    chart = asked.value("--chart")
    if chart is not None:
        save(chart, svg.svg(made.title, made.when, _panels(made), made.span))
    if item.reservation.suspend:
        say(f"berth: {item.reservation.name} is suspended: this would happen if it were not.\n", aside=True)
    say(_json(made) if asked.form == "json" else _text(made))
    return GOOD


def _simulation(asked: Asked, item: Item, site: Site, occurrence: Occurrence) -> _Simulation:
    reservation, wanted = item.reservation, asked.value("--class")
    names = tuple(name for name, _ in occurrence.seats)
    usual = wanted or (names[0] if len(names) == 1 else "")
    scene = Scene(named(occurrence.zone), occurrence.open, occurrence.end, names, usual)
    coming = _sessions(asked.value("--sessions"), scene)
    behaviours = BEHAVIOURS if asked.has("--compare") else (reservation.behavior,)
    # Where nobody counts sessions, nobody waits; and a session that leaves its slot leaves it free at once.
    waits = behaviours != ("none",) and reservation.slots is None
    wait = site.stabilization_seconds if waits else 0
    runs = []
    for part in item.parts:
        timetable = parse(timetable_text(site, part.placed, part.occurrences))
        plans = {pool.resource_class: Plan(pool, timetable.occurrences, wait) for pool in timetable.pools}
        for name, count in occurrence.seats:
            if name in plans and wanted in (None, name):
                held = seats_text([(name, count)], nodes=has_nodes(reservation))
                title = f"{held} in {part.placed.cluster.name}"
                if not asked.has("--compare"):
                    title += f", {reservation.behavior}"
                done = simulate(plans[name], coming[name], behaviours, occurrence.open, occurrence.end)
                runs.append(_Run(title, name, count, done))
    return _Simulation(occurrence, reservation.title, behaviours, wait, runs)


def _sessions(said: str | None, scene: Scene) -> dict[str, list[Change]]:
    """A text has a colon and begins with a digit; all else names a file."""
    if said is None:
        return {name: [] for name in scene.classes}
    if not said:
        raise UsageError("--sessions is empty. Name a file, or write 08:55+10,11:00-3.")
    text, source = said.strip(), "--sessions"
    if not (text[:1].isdigit() and ":" in text):
        text, source = _content(said), "standard input" if said == "-" else said
    try:
        return changes(text, source, scene)
    except SessionsError as error:
        raise UsageError(str(error)) from error


def _content(name: str) -> str:
    try:
        if name == "-":
            content = sys.stdin.buffer.read(_LARGEST + 1) if sys.stdin else b""
        else:
            with Path(name).open("rb") as file:
                content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"--sessions {name}: {reason}. Name a file, or write 08:55+10,11:00-3.") from error
    if len(content) > _LARGEST:
        raise UsageError(f"--sessions {name}: more than 1 MiB are no sessions of a course.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"--sessions {name}: this is not UTF-8 text.") from error


def _panels(made: _Simulation) -> list[Panel]:
    return [Panel(run.title, run.seats, _lines(run.steps, made.behaviours)) for run in made.runs]


def _lines(done: Sequence[Step], behaviours: Sequence[str]) -> tuple[Line, ...]:
    """The first behaviour is drawn last: it lies on top. Sessions only where there are any."""
    styles = behaviours if len(behaviours) > 1 else [TARGET]
    lines = [
        Line(style, tuple((step.at, step.targets[place]) for step in done))
        for place, style in enumerate(styles)
    ]
    if any(step.active for step in done):
        lines.append(Line(SESSIONS, tuple((step.at, step.active) for step in done)))
    return tuple(reversed(lines))


def _text(made: _Simulation) -> str:
    found, look = made.occurrence, screen.look(sys.stdout)
    scene = steps.Scene(found.id, found.start, named(found.zone), made.stabilization_seconds)
    parts = [f"{made.when}\n"]
    for run, panel in zip(made.runs, _panels(made), strict=True):
        table = steps.text(run.steps, made.behaviours, scene)
        parts.append(f"{run.title}\n{table}\n{terminal.draw(panel, made.span, look)}")
    return "\n".join(parts)


def _json(made: _Simulation) -> str:
    items = [
        (step.at, place, order, run.resource_class, step)
        for place, run in enumerate(made.runs)
        for step in run.steps
        for order in range(len(made.behaviours))
    ]
    answers = [
        {
            "at": instant_text(at),
            "class": name,
            "behaviour": made.behaviours[order],
            "active": step.active,
            "target": step.targets[order],
        }
        for at, _, order, name, step in sorted(items, key=lambda item: item[:3])
    ]
    return report.document("Simulation", {"items": answers})

"""`berth preflight`: what was checked in each cluster before the day, and what was found."""

import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

from berth import quantity
from berth.cli.command import Settings, command, exit_code
from berth.cli.console import EXIT_OK, has_color
from berth.cli.reaching import ClusterChoice, cluster_options
from berth.cli.selection import clock_of, items_of, names_argument, require_cluster, require_reservations
from berth.core.jsonvalues import instant_text
from berth.findings import LiveFinding
from berth.live.access import ClusterAccess
from berth.live.clusterfacts import ClusterLocation
from berth.live.expected import ExpectedState, expected_states
from berth.live.heldnumbers import most_units
from berth.live.preflight import PreflightCheck, PreflightClock, PreflightScope, run_preflight
from berth.live.room import Room, WindowSteps, steps_by_cluster
from berth.output.answers import Answer, document
from berth.output.columns import Column, Table, as_json
from berth.output.findinglist import live_json, live_line
from berth.output.table import INDENT, Fit, wrapped
from berth.pipeline import Pipeline
from berth.schema.values import Cluster, Site

CLOCK = PreflightClock(time.monotonic, time.sleep)
_DRY_RUNS = 60.0  # seconds for all dry runs and permissions of a cluster


@command(
    "text",
    "json",
    "yaml",
    examples=("berth preflight", "berth preflight my-course", "berth preflight --context prod=admin@prod"),
)
@names_argument
@cluster_options
@click.option(
    "--timeout",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    default=120,
    show_default=True,
    help="How long each test Job may take.",
)
def preflight(settings: Settings, *, names: tuple[str, ...], choice: ClusterChoice, timeout: int) -> int:
    """Prove that Jobs can run and scale: by dry runs and a test Job.

    With NAMEs, only these reservations, with a test Job for each. Exits 1 if anything is not proven.
    """
    pipeline = Pipeline()
    selected = require_reservations(names, pipeline)
    require_cluster(choice.cluster, pipeline)
    items = list(items_of(settings, pipeline))
    code = settings.report(pipeline.findings())
    site = pipeline.site
    if code != EXIT_OK or site is None:
        return code
    expected = expected_states(site, items, pipeline.declared.classes.values())
    clusters = choice.of(site)
    means = choice.access(settings, clusters, _DRY_RUNS + timeout * max(len(selected), 1))
    now = clock_of(settings, pipeline).now
    question = PreflightQuestion(selected, timeout, steps_by_cluster(items), now)
    outcome = run(means, site, clusters, expected, question)
    settings.answer(lambda: as_answer(outcome), lambda: as_text(outcome, settings.columns))
    return exit_code(outcome.findings, strict=settings.strict)


class PreflightQuestion(NamedTuple):
    """What to check: the `names` of reservations (empty: all), with the windows of each cluster."""

    names: frozenset[str]
    seconds: int  # for each test Job
    steps: Mapping[str, WindowSteps]
    now: int

    def scope(self, site: Site, cluster: str, state: ExpectedState) -> PreflightScope:
        """Return what to check in a cluster."""
        return PreflightScope(
            site.name,
            state.access,
            [name for name in state.timetables if not self.names or name in self.names],
            self.names,
            self.seconds,
            self.steps.get(cluster, WindowSteps({}, {})),
            self.now // 60,
            site.zone,
            {name: most_units(timetable) for name, timetable in state.timetables.items()},
        )


class Outcome:
    """The checks of all clusters; a cluster that cannot be read has a finding instead."""

    def __init__(self, checks: Sequence[PreflightCheck], findings: Mapping[str, LiveFinding]) -> None:
        self.checks, self.unreachable = checks, findings

    @property
    def findings(self) -> list[LiveFinding]:
        findings = [
            *self.unreachable.values(),
            *(finding for check in self.checks for finding in check.findings),
        ]
        return list(dict.fromkeys(findings))


def run(
    means: ClusterAccess,
    site: Site,
    clusters: Sequence[Cluster],
    expected: Mapping[str, ExpectedState],
    question: PreflightQuestion,
) -> Outcome:
    """Run the preflight in all clusters at once."""
    places = means.places(site, clusters)
    scopes = {cluster: question.scope(site, cluster, state) for cluster, state in expected.items()}
    known = [
        place
        for place in places.values()
        if isinstance(place, ClusterLocation) and (scopes[place.cluster].reservations or not question.names)
    ]
    answers = means.at_each(
        known, lambda client, place: run_preflight(client, place, scopes[place.cluster], CLOCK)
    )
    unreachable = {name: place for name, place in places.items() if isinstance(place, LiveFinding)}
    unreachable |= {name: answer for name, answer in answers.items() if isinstance(answer, LiveFinding)}
    checks = [check for checked in answers.values() if isinstance(checked, list) for check in checked]
    return Outcome(checks, unreachable)


def _result(check: PreflightCheck) -> str:
    if check.findings:
        return ", ".join(dict.fromkeys(finding.brief for finding in check.findings))
    if check.seconds is not None:
        return f"ok after {check.seconds} s"
    return "; ".join(["ok", *(room.text for room in check.rooms)])


def _rooms_json(rooms: Sequence[Room]) -> list[dict[str, object]]:
    return [
        {
            "resource": room.resource,
            "limit": quantity.text(room.most),
            "used": quantity.text(room.used),
            "needed": None if room.needed is None else quantity.text(room.needed),
            "at": None if room.needed is None else instant_text(room.at * 60),
        }
        for room in rooms
    ]


CHECK_COLUMNS: tuple[Column[PreflightCheck], ...] = (
    Column("cluster", "cluster", lambda check: check.cluster),
    Column("reservation", "reservation", lambda check: check.reservation or None),
    Column("check", "check", lambda check: check.what),
    Column("object", "object", lambda check: check.name),
    Column("result", "", _result),
    Column("", "passed", lambda check: check.is_passed),
    Column("", "seconds", lambda check: check.seconds),
    Column("", "room", lambda check: check.rooms, json=_rooms_json),
    Column("", "findings", lambda check: check.findings, json=live_json),
)


def as_text(outcome: Outcome, columns: int | None = None) -> str:
    """Return a table of checks, and the findings below it."""
    fit = Fit(columns, ("result",))
    text = Table.of(CHECK_COLUMNS, outcome.checks).written("text", fit) if outcome.checks else ""
    color = has_color(sys.stdout)
    lines = (live_line(finding, color=color) for finding in outcome.findings)
    findings = "".join(f"{wrapped(line, columns, INDENT)}\n" for line in lines)
    return "\n".join(filter(None, (text, findings))) or "Nothing to check.\n"


def as_answer(outcome: Outcome) -> Answer:
    """Return the answer of kind Preflight."""
    clusters = [
        {"name": name, "findings": live_json([finding])} for name, finding in outcome.unreachable.items()
    ]
    return document("Preflight", {"items": as_json(CHECK_COLUMNS, outcome.checks), "clusters": clusters})

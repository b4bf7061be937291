"""`berth preflight`: what was checked in each cluster before the day, and what was found."""

import sys
import time
from collections.abc import Mapping, Sequence

import click

from berth import quantity
from berth.cli.command import Settings, command, exit_code
from berth.cli.console import has_color
from berth.cli.reaching import ClusterChoice, cluster_options
from berth.cli.selection import items_of, names_argument, opened
from berth.core.jsonvalues import instant_text
from berth.findings import LiveFinding
from berth.live.access import ClusterAccess
from berth.live.expected import expected_states
from berth.live.preflight import Preflight, PreflightCheck, PreflightClock, PreflightScope
from berth.live.room import Room, WindowSteps, steps_by_cluster
from berth.output.answers import Answer, document
from berth.output.columns import Column, Table, as_json
from berth.output.findinglist import live_json, live_text
from berth.output.table import Fit

CLOCK = PreflightClock(time.monotonic, time.sleep)
_DRY_RUNS = 60.0  # seconds for all dry runs and permissions of a cluster


@command(
    "text json yaml",
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
    pipeline, clock = opened(settings, names, cluster=choice.cluster)
    items = list(items_of(settings, pipeline))
    site = settings.valid_site(pipeline)
    access = choice.access(settings, site, patience=_DRY_RUNS + timeout * max(len({*names}), 1))
    steps, minute = steps_by_cluster(items), clock.now // 60
    scopes = {
        cluster: PreflightScope(
            site, git, frozenset(names), timeout, steps.get(cluster, WindowSteps({}, {})), minute
        )
        for cluster, git in expected_states(site, items, pipeline.declared.classes.values()).items()
    }
    checks, unreachable = _run(access, scopes)
    told = [*unreachable.values(), *(finding for check in checks for finding in check.findings)]
    findings = list(dict.fromkeys(told))
    settings.answer(
        lambda: as_answer(checks, unreachable), lambda: as_text(checks, findings, settings.columns)
    )
    return exit_code(findings, strict=settings.strict)


def _run(
    access: ClusterAccess, scopes: Mapping[str, PreflightScope]
) -> tuple[list[PreflightCheck], dict[str, LiveFinding]]:
    """Run the preflight in all clusters at once.

    Return the checks, and a finding for each cluster that cannot be read.
    """
    places = {
        name: place
        for name, place in access.places().items()
        if isinstance(place, LiveFinding) or scopes[name].reservations or not scopes[name].named
    }
    answers = access.at_each(
        places, lambda client, place: [*Preflight(client, place, scopes[place.cluster], CLOCK).checks()]
    )
    unreachable = {name: answer for name, answer in answers.items() if isinstance(answer, LiveFinding)}
    checks = [check for checked in answers.values() if isinstance(checked, list) for check in checked]
    return checks, unreachable


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


def as_text(
    checks: Sequence[PreflightCheck], findings: Sequence[LiveFinding], columns: int | None = None
) -> str:
    """Return a table of checks, and the findings below it."""
    table = Table.of(CHECK_COLUMNS, checks).written("text", Fit(columns, ("result",))) if checks else ""
    lines = live_text(findings, color=has_color(sys.stdout), columns=columns)
    return "\n".join(filter(None, (table, lines))) or "Nothing to check.\n"


def as_answer(checks: Sequence[PreflightCheck], unreachable: Mapping[str, LiveFinding]) -> Answer:
    """Return the answer of kind Preflight."""
    clusters = [{"name": name, "findings": live_json([finding])} for name, finding in unreachable.items()]
    return document("Preflight", {"items": as_json(CHECK_COLUMNS, checks), "clusters": clusters})

"""`berth status --preflight`: what was checked in each cluster before the day, and what was found."""

import sys
import time
from collections.abc import Mapping, Sequence

from berth.cli.command import Settings
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, has_color
from berth.cli.livefindings import finding_line, findings_json
from berth.findings import ERROR, WARNING
from berth.live.access import ClusterAccess
from berth.live.clusterfacts import ClusterLocation
from berth.live.expected import ExpectedState
from berth.live.findings import LiveFinding
from berth.live.preflight import Check, Clock, PreflightScope, run_preflight
from berth.output import report, table
from berth.output.table import Fit
from berth.schema.values import Cluster, Site

CLOCK = Clock(time.monotonic, time.sleep)


class Outcome:
    """The checks of all clusters; a cluster that cannot be read has a finding instead."""

    def __init__(self, checks: Sequence[Check], findings: Mapping[str, LiveFinding]) -> None:
        self.checks, self.unreachable = checks, findings

    @property
    def findings(self) -> list[LiveFinding]:
        found = [*self.unreachable.values(), *(one for check in self.checks for one in check.findings)]
        return list(dict.fromkeys(found))


def run(  # noqa: PLR0913, PLR0917 - what and where
    means: ClusterAccess,
    site: Site,
    clusters: Sequence[Cluster],
    expected: Mapping[str, ExpectedState],
    names: frozenset[str],
    seconds: int,
) -> Outcome:
    """Run the preflight in all clusters at once."""
    places = means.places(site, clusters)
    scopes = {
        cluster: PreflightScope(
            site.name,
            state.access,
            [name for name in state.timetables if not names or name in names],
            names,
            seconds,
        )
        for cluster, state in expected.items()
    }
    known = [
        one
        for one in places.values()
        if isinstance(one, ClusterLocation) and (scopes[one.cluster].reservations or not names)
    ]
    found = means.at_each(
        known, lambda client, place: run_preflight(client, place, scopes[place.cluster], CLOCK)
    )
    unreachable = {name: one for name, one in places.items() if isinstance(one, LiveFinding)}
    unreachable |= {name: one for name, one in found.items() if isinstance(one, LiveFinding)}
    checks = [one for checked in found.values() if isinstance(checked, list) for one in checked]
    return Outcome(checks, unreachable)


def show(outcome: Outcome, settings: Settings) -> int:
    """Print the outcome and return the exit code."""
    settings.answer(lambda: as_answer(outcome), lambda: as_text(outcome, settings.columns))
    bad = (ERROR, WARNING) if settings.strict else (ERROR,)
    return EXIT_BAD_INPUT if any(one.severity in bad for one in outcome.findings) else EXIT_OK


def as_text(outcome: Outcome, columns: int | None = None) -> str:
    """Return a table of checks, and the findings below it."""
    headings = ["cluster", "reservation", "check", "object", "result"]
    cells = [[one.cluster, one.reservation, one.what, one.name, _result(one)] for one in outcome.checks]
    fit = Fit(columns, ("result",), (), ("reservation", "object"))
    text = table.text(headings, cells, fit) if cells else ""
    color = has_color(sys.stdout)
    found = "".join(f"{finding_line(one, color=color)}\n" for one in outcome.findings)
    return "\n".join(filter(None, (text, found))) or "Nothing to check.\n"


def _result(check: Check) -> str:
    if not check.is_passed:
        return ", ".join(dict.fromkeys(one.brief for one in check.findings))
    return "ok" if check.seconds is None else f"ok after {check.seconds} s"


def as_answer(outcome: Outcome) -> report.Answer:
    """Return the answer of kind Preflight."""
    items = [
        {
            "cluster": one.cluster,
            "reservation": one.reservation or None,
            "check": one.what,
            "object": one.name,
            "passed": one.is_passed,
            "seconds": one.seconds,
            "findings": findings_json(one.findings),
        }
        for one in outcome.checks
    ]
    clusters = [{"name": name, "findings": findings_json([one])} for name, one in outcome.unreachable.items()]
    return report.document("Preflight", {"items": items, "clusters": clusters})

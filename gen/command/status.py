"""`berth status`: what every pool is doing now in its cluster, against what it should do."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import NoReturn

from gen.backend import code as runtime
from gen.command import redraw, selection
from gen.command.answer import coloured, tell
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD
from gen.command.progress import watched
from gen.command.reaching import reach
from gen.command.say import say
from gen.command.statustext import as_json, as_text, pools_of
from gen.dates.moment import named
from gen.dates.zone import Zone
from gen.finding import ERROR, WARNING
from gen.live.clusterfacts import ClusterFacts, ClusterLocation
from gen.live.expected import ExpectedState, expected_states
from gen.live.findings import LiveFinding
from gen.live.judge import judge_cluster
from gen.live.poolstate import ClusterStatus, cluster_state, status_from_git
from gen.model import Cluster, Site
from gen.output.renderer import Renderer
from gen.output.templatefiles import TemplateError
from gen.pipeline import Item, Pipeline

EVERY = 5.0  # seconds between two looks


def run(asked: Asked) -> int:
    if asked.has("--watch") and asked.form == "json":
        raise UsageError("--watch shows a table. Leave out -o json, or leave out --watch and ask again.")
    pipeline = Pipeline()
    names, resource_class = selection.reservations(asked, pipeline), selection.resource_class(asked, pipeline)
    cluster, now = selection.cluster(asked, pipeline), selection.instant("--now", asked, pipeline)
    items = list(watched(pipeline.items(), len(pipeline.declared.reservations)))
    code = tell(pipeline.findings(), asked)
    site = pipeline.site
    if code != GOOD or site is None:
        return code
    clusters = [one for one in site.clusters if cluster in (None, one.name)]
    try:
        wanted = expected_states(site, items, Renderer(asked.value("--templates")))
    except TemplateError as error:
        tell(error.findings, asked)
        return BAD_INPUT
    look = _looking(asked, site, clusters, wanted)

    def answer() -> list[ClusterStatus]:
        found = look(int(time.time()) if now is None else now)
        return [_only(one, names, resource_class) for one in found]

    tell_zone = _zones(site, items)
    if asked.has("--watch"):
        _watch(lambda: _text(asked, answer(), tell_zone, now))
    found = answer()
    say(as_json(found) if asked.form == "json" else _text(asked, found, tell_zone, now))
    return _code(found, strict=asked.has("--strict"))


def _looking(
    asked: Asked, site: Site, clusters: list[Cluster], wanted: Mapping[str, ExpectedState]
) -> Callable[[int], list[ClusterStatus]]:
    """Looks at all clusters at an instant, as often as one likes."""
    means = reach(asked, clusters)

    def look(now: int) -> list[ClusterStatus]:
        places = means.places(site, clusters)
        seen = means.facts(site, [one for one in places.values() if isinstance(one, ClusterLocation)], now)
        return [status(one, places[one.name], seen.get(one.name), now) for one in clusters]

    def status(
        cluster: Cluster,
        place: ClusterLocation | LiveFinding,
        seen: ClusterFacts | LiveFinding | None,
        now: int,
    ) -> ClusterStatus:
        at = (
            place
            if isinstance(place, ClusterLocation)
            else ClusterLocation(cluster.name, cluster.namespace, None)
        )
        facts = seen if isinstance(seen, ClusterFacts) else ClusterFacts()
        asked = cluster_state(at, site, wanted[cluster.name], facts, now)
        if isinstance(place, LiveFinding):
            return status_from_git(asked, place)._replace(place=None)
        if isinstance(seen, LiveFinding):
            return status_from_git(asked, seen)
        return judge_cluster(asked, runtime.together(koordinator=cluster.koordinator is not None))

    return look


def _only(status: ClusterStatus, names: frozenset[str], resource_class: str | None) -> ClusterStatus:
    kept = [
        row
        for row in status.pools
        if (not names or row.reservation in names) and resource_class in (None, row.resource_class)
    ]
    return status._replace(pools=tuple(kept))


def _zones(site: Site, items: list[Item]) -> Callable[[str], Zone]:
    """That of each reservation; the site's for what git does not have."""
    zones = {item.reservation.name: item.reservation.recurrence.zone for item in items}
    return lambda name: named(zones.get(name, site.zone))


def _text(asked: Asked, found: list[ClusterStatus], zone_of: Callable[[str], Zone], now: int | None) -> str:
    at = int(time.time()) if now is None else now
    return as_text(found, zone_of, at, wide=asked.form == "wide", colour=coloured(sys.stdout))


def _watch(text: Callable[[], str]) -> NoReturn:
    """Until somebody interrupts."""
    with redraw.on_screen(say) if sys.stdout.isatty() else redraw.changes(say) as show:
        while True:
            show(text())
            time.sleep(EVERY)


def _code(found: list[ClusterStatus], *, strict: bool) -> int:
    """A promise that is broken now is bad; with `strict`, whatever threatens one is too."""
    findings = [finding for one in found for finding in one.findings]
    findings += [finding for row in pools_of(found) for finding in row.findings]
    bad = (ERROR, WARNING) if strict else (ERROR,)
    return BAD_INPUT if any(one.severity in bad for one in findings) else GOOD

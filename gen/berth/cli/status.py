"""`berth status`: what every pool does now in its cluster, against what it should do."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn

import click

from berth.cli import preflight as preflights
from berth.cli.command import CommandError, Settings, command
from berth.cli.console import (
    EXIT_BAD_INPUT,
    EXIT_OK,
    has_color,
    is_terminal,
    new_lines,
    on_screen,
    stderr,
    stdout,
)
from berth.cli.livefindings import finding_line, findings_json
from berth.cli.reaching import ClusterChoice, cluster_options
from berth.cli.selection import (
    class_option,
    clock_of,
    names_argument,
    require_class,
    require_cluster,
    require_reservations,
    templates_option,
)
from berth.core.jsonvalues import instant_text
from berth.dates.moments import local_day, local_text, named, near_span_text
from berth.dates.zone import Zone
from berth.findings import ERROR, WARNING
from berth.live.access import ANSWER_SECONDS, ClusterAccess
from berth.live.clusterfacts import ClusterFacts, ClusterLocation
from berth.live.earlier import NO_LOOKS, EarlierLooks
from berth.live.expected import ExpectedState, expected_states
from berth.live.findings import LiveFinding
from berth.live.judge import judge_cluster, remember_look
from berth.live.poolstate import (
    ACTIVE,
    COMPLETED,
    DEGRADED,
    SCHEDULED,
    ClusterStatus,
    PoolStatus,
    SlotCount,
    cluster_state,
    status_from_git,
)
from berth.manifests import code
from berth.output import report, table
from berth.output.table import Fit
from berth.output.templates import Renderer, TemplateError
from berth.pipeline import Item, Pipeline
from berth.schema.values import Cluster, ReservationOwner, Site

_EVERY = 5.0  # seconds between two looks
_PREFLIGHT = 60.0  # seconds for all dry runs and permissions of a cluster
_UNSYNCED = ("S020", "S021", "S022", "S023", "S024")
_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"
_STATES = {ACTIVE: _GREEN, DEGRADED: _RED, SCHEDULED: "", COMPLETED: ""}


class _View(NamedTuple):
    """What is shown, and how."""

    names: frozenset[str]
    resource_class: str | None
    form: str
    now: int | None  # instead of the clock
    owners: Mapping[str, ReservationOwner]  # by reservation

    def instant(self, later: int = 0) -> int:
        """Return the current time. `later`: the seconds waited, where --now replaces the clock."""
        return int(time.time()) if self.now is None else self.now + later

    def of(self, status: ClusterStatus) -> ClusterStatus:
        kept = [
            row._replace(owner=self.owners.get(row.reservation))
            for row in status.pools
            if (not self.names or row.reservation in self.names)
            and self.resource_class in (None, row.resource_class)
        ]
        return status._replace(pools=tuple(kept))


@command(
    "text",
    "wide",
    "json",
    "yaml",
    examples=(
        "berth status",
        "berth status my-course -o wide",
        "berth status --context prod=admin@prod --watch",
        "berth status --preflight my-course",
    ),
)
@names_argument
@class_option()
@cluster_options
@templates_option
@click.option("--watch", is_flag=True, help="Look again every 5 seconds, until Ctrl-C.")
@click.option(
    "--preflight",
    is_flag=True,
    help="Prove that the Jobs can run and scale: by dry runs, permissions and one test Job.",
)
@click.option(
    "--timeout",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    default=120,
    show_default=True,
    help="How long the test Job of --preflight may take.",
)
def status(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    names: tuple[str, ...],
    resource_class: str | None,
    choice: ClusterChoice,
    templates: str | None,
    watch: bool,
    preflight: bool,
    timeout: int,
) -> int:
    """Show what every pool does in its cluster, and what is wrong.

    With NAMEs, only of these reservations. Exits 1 if a promise is broken or a cluster cannot be read.
    """
    if watch and settings.form in report.DATA_FORMS:
        raise CommandError(f"--watch shows a table. Leave out -o {settings.form}, or leave out --watch.")
    if preflight and (watch or resource_class is not None):
        raise CommandError("--preflight checks whole reservations, once. Leave out --watch and --class.")
    pipeline = Pipeline()
    selected = require_reservations(names, pipeline)
    require_class(resource_class, pipeline)
    require_cluster(choice.cluster, pipeline)
    now = None if settings.now is None else clock_of(settings, pipeline).now
    owners = {one.name: one.owner for one in pipeline.declared.reservations if one.owner}
    view = _View(selected, resource_class, settings.form, now, owners)
    items = list(settings.progress(pipeline.items(), len(pipeline.declared.reservations)))
    code = settings.report(pipeline.findings())
    site = pipeline.site
    if code != EXIT_OK or site is None:
        return code
    try:
        wanted = expected_states(
            site,
            items,
            pipeline.declared.classes.values(),
            Renderer(None if templates is None else settings.given(templates)),
        )
    except TemplateError as error:
        settings.report(error.findings)
        return EXIT_BAD_INPUT
    clusters = choice.of(site)
    patience = _PREFLIGHT + timeout * max(len(selected), 1) if preflight else ANSWER_SECONDS
    means = choice.access(settings, clusters, patience)
    if preflight:
        outcome = preflights.run(means, site, clusters, wanted, selected, timeout)
        return preflights.show(outcome, settings)
    return _show(_Looks(means, site, clusters, wanted), view, _zones(site, items), settings, watch=watch)


def _show(
    looks: "_Looks", view: _View, zone_of: Callable[[str], Zone], settings: Settings, *, watch: bool
) -> int:
    """Show what the clusters do now, or with `watch` until somebody interrupts; return the exit code."""

    def current(later: int = 0) -> list[ClusterStatus]:
        return [view.of(one) for one in looks.look(view.instant(later))]

    def shown(found: list[ClusterStatus]) -> str:
        wide = view.form == "wide"
        color = has_color(sys.stdout)
        return as_text(found, zone_of, view.instant(), wide=wide, color=color, columns=settings.columns)

    if watch:
        _watch(lambda: shown(current()))
    found = settled(current, pause)
    settings.answer(lambda: as_answer(found), lambda: shown(found))
    return _exit_code(found, strict=settings.strict)


class _Looks:
    """Looks at all clusters, as often as asked, and remembers what one look cannot tell."""

    def __init__(
        self,
        means: ClusterAccess,
        site: Site,
        clusters: list[Cluster],
        wanted: Mapping[str, ExpectedState],
    ) -> None:
        self._means, self._site, self._clusters, self._wanted = means, site, clusters, wanted
        self._earlier: dict[str, EarlierLooks] = {}

    def look(self, now: int) -> list[ClusterStatus]:
        places = self._means.places(self._site, self._clusters)
        known = [one for one in places.values() if isinstance(one, ClusterLocation)]
        seen = self._means.facts(self._site, known, now)
        return [self._status(one, places[one.name], seen.get(one.name), now) for one in self._clusters]

    def _status(
        self,
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
        case = cluster_state(at, self._site, self._wanted[cluster.name], facts, now)
        if isinstance(place, LiveFinding):
            return status_from_git(case, place)._replace(place=None)
        if isinstance(seen, LiveFinding):
            return status_from_git(case, seen)
        earlier = self._earlier.get(cluster.name, NO_LOOKS)
        names = [one.name for one in code.of_cluster(cluster)]
        found = judge_cluster(case._replace(earlier=earlier), names)
        self._earlier[cluster.name] = remember_look(earlier, facts, found, now)
        return found


pause = time.sleep


def settled(
    look: Callable[[int], list[ClusterStatus]], wait: Callable[[float], object]
) -> list[ClusterStatus]:
    """Look, and look again after a wait where one look cannot tell. `look` takes the seconds waited."""
    found = look(0)
    unsure = [row for row in pools_of(found) if row.look_again]
    if not unsure:
        return found
    seconds = max(row.look_again for row in unsure)
    first = unsure[0]
    more = f" and {len(unsure) - 1} more" if len(unsure) > 1 else ""
    stderr(
        f"{first.cluster}: {first.subject}{more} may be about to be corrected, because a session left or "
        f"somebody scaled it; looking again in {seconds} s.\n"
    )
    wait(seconds)
    return look(seconds)


def _zones(site: Site, items: list[Item]) -> Callable[[str], Zone]:
    """Return the zone of each reservation; the site's for what git does not have."""
    zones = {item.reservation.name: item.reservation.recurrence.zone for item in items}
    return lambda name: named(zones.get(name, site.zone))


def _watch(text: Callable[[], str]) -> NoReturn:
    """Show the text again and again, until somebody interrupts."""
    with on_screen(stdout) if is_terminal(sys.stdout) else new_lines(stdout) as show:
        while True:
            show(text())
            time.sleep(_EVERY)


def _exit_code(found: list[ClusterStatus], *, strict: bool) -> int:
    """A broken promise is an error; with `strict`, so is whatever threatens one."""
    findings = [finding for one in found for finding in one.findings]
    findings += [finding for row in pools_of(found) for finding in row.findings]
    bad = (ERROR, WARNING) if strict else (ERROR,)
    return EXIT_BAD_INPUT if any(one.severity in bad for one in findings) else EXIT_OK


def as_text(  # noqa: PLR0913 - what and how
    clusters: Sequence[ClusterStatus],
    zone_of: Callable[[str], Zone],
    now: int,
    *,
    wide: bool,
    color: bool,
    columns: int | None = None,
) -> str:
    """Return a table of pools, and the findings below it. `zone_of` returns the zone of a reservation."""
    rows = pools_of(clusters)
    lines = [finding_line(one, color=color) for one in _once(clusters)]
    found = "".join(f"{line}\n" for line in lines)
    if not rows:
        return found or "No pools.\n"
    cells = [_cells(row, zone_of(row.reservation), now, wide) for row in rows]
    headings = ["reservation", "class", "cluster", "state", "open", "wanted", "ready", "pending", "sessions"]
    headings += ["replicas", "opens (UTC)", "ends (UTC)", "git"] if wide else []
    if wide and any(row.slots for row in rows):
        headings.append("slots")
        for cell, row in zip(cells, rows, strict=True):
            cell.insert(-1, _slots(row.slots))
    if wide and any(row.owner for row in rows):
        headings.append("owner")
        for cell, row in zip(cells, rows, strict=True):
            cell.insert(-1, row.owner.text if row.owner else "")
    headings.append("note")
    if len(clusters) == 1 and not wide:
        cells = [[*cell[:2], *cell[3:]] for cell in cells]
        headings.remove("cluster")
    text = table.text(
        headings, cells, Fit(columns, ("note",), ("pending", "sessions", "open"), ("reservation",))
    )
    if color:
        text = _colored(text, rows)
    return text + (f"\n{found}" if found else "")


def pools_of(clusters: Sequence[ClusterStatus]) -> list[PoolStatus]:
    """Return all pools by reservation, and then in the order of clusters and classes."""
    return sorted((row for one in clusters for row in one.pools), key=lambda row: row.reservation)


def _once(clusters: Sequence[ClusterStatus]) -> list[LiveFinding]:
    """Return each finding once, those of clusters first."""
    found = [finding for one in clusters for finding in one.findings]
    found += [finding for row in pools_of(clusters) for finding in row.findings]
    return list(dict.fromkeys(found))


def _cells(row: PoolStatus, zone: Zone, now: int, wide: bool) -> list[str]:
    numbers = [_number(one) for one in (row.wanted, row.ready, row.pending, row.active)]
    more = []
    if wide:
        opens, ends = (_utc(at) for at in (row.open, row.end))
        more = [_number(row.replicas), opens, ends, _drift(row)]
    note = ", ".join(
        dict.fromkeys([*([row.remark] if row.remark else []), *(one.brief for one in row.findings)])
    )
    return [
        row.reservation,
        row.resource_class,
        row.cluster,
        row.state,
        _when(row, zone, now),
        *numbers,
        *more,
        note,
    ]


def _when(row: PoolStatus, zone: Zone, now: int) -> str:
    """Return the span of an open occurrence, the opening of the next one, or the end of a persistent pool."""
    if row.persistent:
        over = row.end is not None and row.end <= now
        return "over" if over else "always" if row.end is None else f"until {local_text(row.end, zone)}"
    if row.open is None or row.end is None or row.end <= now:
        return "never" if row.open is None else "over"
    if row.open <= now:
        return near_span_text(row.open, row.end, zone, local_day(now, zone))
    return local_text(row.open, zone)


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _slots(found: SlotCount | None) -> str:
    """Return `20 free, 3 in use, 2 pending`, or `none`."""
    if found is None:
        return ""
    words = [f"{number} {name.replace('_', ' ')}" for name, number in found._asdict().items() if number]
    return ", ".join(words) or "none"


def _utc(at: int | None) -> str:
    return "" if at is None else instant_text(at)[:16].replace("T", " ")


def _drift(row: PoolStatus) -> str:
    """Return how the cluster differs from git: the first kind of difference, and all of that kind."""
    found = [one for one in row.findings if one.code in _UNSYNCED]
    if found:
        alike = [one.message for one in found if one.code == found[0].code]
        return "; ".join(text.removeprefix("not synced: ").removesuffix(".") for text in alike)
    return "?" if row.replicas is None else "synced"


def _colored(text: str, rows: Sequence[PoolStatus]) -> str:
    """Color the state in each line of a table."""
    head, *lines = text.splitlines(keepends=True)
    for n, row in enumerate(rows):
        if _STATES[row.state]:
            lines[n] = lines[n].replace(f" {row.state} ", f" {_STATES[row.state]}{row.state}{_PLAIN} ", 1)
    return head + "".join(lines)


def as_answer(clusters: Sequence[ClusterStatus]) -> report.Answer:
    """Return the answer of kind Status."""
    items = [
        {
            "reservation": row.reservation,
            "class": row.resource_class,
            "cluster": row.cluster,
            "state": row.state,
            "open": _instant(row.open),
            "end": _instant(row.end),
            "wanted": row.wanted,
            "ready": row.ready,
            "pending": row.pending,
            "active": row.active,
            "owner": report.owner_json(row.owner),
            "findings": findings_json(row.findings),
            **_slots_json(row.slots),
        }
        for row in pools_of(clusters)
    ]
    about = [
        {
            "name": one.cluster,
            "context": one.place.context if one.place else None,
            "findings": findings_json(one.findings),
        }
        for one in clusters
    ]
    return report.document("Status", {"items": items, "clusters": about})


def _slots_json(found: SlotCount | None) -> dict[str, object]:
    """Return the counts of slots, of a pool that has slots."""
    if found is None:
        return {}
    names = ("free", "inUse", "handed", "pending", "over")
    return {"slots": dict(zip(names, found, strict=True))}


def _instant(at: int | None) -> str | None:
    return None if at is None else instant_text(at)

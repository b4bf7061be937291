"""`berth status`: what every pool does now in its cluster, against what it should do."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn

import click

from berth.checks.project import Item
from berth.cli.command import Settings, command, exit_code
from berth.cli.console import controls, has_color, is_terminal, new_lines, on_screen, stderr, stdout
from berth.cli.reaching import ClusterChoice, cluster_options
from berth.cli.selection import class_option, items_of, names_argument, opened
from berth.core.poolobjects import PoolObject
from berth.dates.moments import local_day, local_text, named, near_span_text
from berth.dates.zone import Zone
from berth.findings import LiveFinding
from berth.live.access import ClusterAccess
from berth.live.clusterfacts import ClusterFacts, ClusterLocation
from berth.live.earlier import NO_LOOKS, EarlierLooks
from berth.live.expected import ExpectedState, expected_states
from berth.live.judge import judge_cluster
from berth.live.poolstate import (
    ACTIVE,
    COMPLETED,
    DEGRADED,
    SCHEDULED,
    UNKNOWN,
    ClusterState,
    ClusterStatus,
    PoolStatus,
    number_text,
    status_from_git,
    units_text,
)
from berth.manifests import code
from berth.names import REPOSITORY
from berth.notation.refusal import CommandError
from berth.output.answers import DATA_FORMS, Answer, document, instant_column, owner_column
from berth.output.columns import Column, Table, as_json
from berth.output.findinglist import live_json, live_text
from berth.output.table import Fit
from berth.plugins.numbers.foreignnumbers import field_value, path_text
from berth.plugins.slots.slots import SlotCounts
from berth.schema.reservationspec import OwnerSpec
from berth.schema.values import Site
from berth.version import VERSION

_EVERY = 5.0  # seconds between two looks
_UNSYNCED = ("S020", "S022", "S023", "S024")
_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"
_STATES = {ACTIVE: _GREEN, DEGRADED: _RED, SCHEDULED: "", COMPLETED: "", UNKNOWN: ""}


class _View(NamedTuple):
    """What is shown, and how."""

    names: frozenset[str]
    resource_class: str | None
    now: int | None  # instead of the clock
    owners: Mapping[str, OwnerSpec]  # by reservation

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
    "text wide json yaml",
    examples=(
        "berth status",
        "berth status my-course -o wide",
        "berth status --context prod=admin@prod --watch",
    ),
)
@names_argument
@class_option()
@cluster_options
@click.option("--watch", is_flag=True, help="Look again every 5 seconds, until Ctrl-C.")
def status(
    settings: Settings,
    *,
    names: tuple[str, ...],
    resource_class: str | None,
    choice: ClusterChoice,
    watch: bool,
) -> int:
    """Show what every pool does in its cluster, and what is wrong.

    With NAMEs, only of these reservations. Exits 1 if a promise is broken or a cluster cannot be read.
    """
    if watch and settings.form in DATA_FORMS:
        raise CommandError(f"--watch shows a table. Leave out -o {settings.form}, or leave out --watch.")
    pipeline, clock = opened(settings, names, resource_class, choice.cluster)
    now = None if settings.now is None else clock.now
    owners = {each.name: each.owner for each in pipeline.declared.reservations if each.owner}
    view = _View(frozenset(names), resource_class, now, owners)
    items = list(items_of(settings, pipeline))
    site = settings.valid_site(pipeline)
    wanted = expected_states(site, items, pipeline.declared.classes.values())
    looks = _Looks(choice.access(settings, site), site, wanted)
    return _show(looks, view, _zones(site, items), settings, watch=watch)


def _show(
    looks: "_Looks", view: _View, zone_of: Callable[[str], Zone], settings: Settings, *, watch: bool
) -> int:
    """Show what the clusters do now, or with `watch` until somebody interrupts; return the exit code."""

    def current(later: int = 0) -> list[ClusterStatus]:
        return [view.of(status) for status in looks.look(view.instant(later))]

    def shown(clusters: list[ClusterStatus]) -> str:
        wide, color = settings.form == "wide", has_color(sys.stdout)
        return as_text(clusters, zone_of, view.instant(), wide=wide, color=color, columns=settings.columns)

    if watch:
        _watch(lambda: shown(current()))
    clusters = settled(current, pause)
    settings.answer(lambda: as_answer(clusters), lambda: shown(clusters))
    if settings.form not in DATA_FORMS and any(pool.state == DEGRADED for pool in pools_of(clusters)):
        page = f"https://github.com/{REPOSITORY}/blob/v{VERSION}/docs/no-seats.md"
        stderr(f"If people have no seats, read {page}\n")
    # A broken promise is an error; with --strict, so is whatever threatens one.
    return exit_code(_once(clusters), strict=settings.strict)


class _Looks:
    """Looks at all clusters, as often as asked, and remembers what one look cannot tell."""

    def __init__(self, access: ClusterAccess, site: Site, wanted: Mapping[str, ExpectedState]) -> None:
        self._access, self._site, self._wanted = access, site, wanted
        self._earlier: dict[str, EarlierLooks] = {}

    def look(self, now: int) -> list[ClusterStatus]:
        places = self._access.places()
        seen = self._access.facts(places, now)
        return [self._status(places[name], self._wanted[name], answer, now) for name, answer in seen.items()]

    def _status(
        self,
        place: ClusterLocation | LiveFinding,
        git: ExpectedState,
        seen: ClusterFacts | LiveFinding,
        now: int,
    ) -> ClusterStatus:
        if isinstance(seen, LiveFinding):
            context = place.context if isinstance(place, ClusterLocation) else None
            return status_from_git(git, context, seen, now)
        assert isinstance(place, ClusterLocation)  # it was reached there
        earlier = self._earlier.get(git.cluster, NO_LOOKS)
        case = ClusterState(place, self._site, git, seen, now, earlier=earlier)
        names = [configmap.name for configmap in code.of_cluster(case.cluster)]
        status, self._earlier[git.cluster] = judge_cluster(case, names)
        return status


pause = time.sleep


def settled(
    look: Callable[[int], list[ClusterStatus]], wait: Callable[[float], object]
) -> list[ClusterStatus]:
    """Look, and look again after a wait where one look cannot tell. `look` takes the seconds waited."""
    clusters = look(0)
    unsure = [pool for pool in pools_of(clusters) if pool.look_again]
    if not unsure:
        return clusters
    seconds = max(row.look_again or 0 for row in unsure)
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
    with on_screen(controls) if is_terminal(sys.stdout) else new_lines(stdout) as show:
        while True:
            show(text())
            time.sleep(_EVERY)


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
    pools = pools_of(clusters)
    findings = live_text(_once(clusters), color=color, columns=columns)
    if not pools:
        return findings or "No pools.\n"
    opening = Column[PoolStatus]("open", "", lambda pool: _when(pool, zone_of(pool.reservation), now))
    table = Table.of((*POOL_COLUMNS, opening), pools, (*(_WIDE if wide else _NARROW), "note"))
    if wide:
        table = table.without_empty("slots", "number", "owner")
    elif len(clusters) == 1:
        table = table.without("cluster")
    text = table.written("text", Fit(columns, ("note",)))
    if color:
        text = _colored(text, pools)
    return text + (f"\n{findings}" if findings else "")


def pools_of(clusters: Sequence[ClusterStatus]) -> list[PoolStatus]:
    """Return all pools by reservation, and then in the order of clusters and classes."""
    return sorted((pool for cluster in clusters for pool in cluster.pools), key=lambda pool: pool.reservation)


def _once(clusters: Sequence[ClusterStatus]) -> list[LiveFinding]:
    """Return each finding once, those of clusters first."""
    findings = [finding for cluster in clusters for finding in cluster.findings]
    findings += [finding for pool in pools_of(clusters) for finding in pool.findings]
    return list(dict.fromkeys(findings))


def _note(pool: PoolStatus) -> str:
    notes = [*([pool.remark] if pool.remark else []), *(finding.brief for finding in pool.findings)]
    return ", ".join(dict.fromkeys(notes))


def _when(pool: PoolStatus, zone: Zone, now: int) -> str:
    """Return the span of an open occurrence, the opening of the next one, or the end of a persistent pool."""
    if pool.persistent:
        over = pool.end is not None and pool.end <= now
        return "over" if over else "always" if pool.end is None else f"until {local_text(pool.end, zone)}"
    if pool.open is None or pool.end is None or pool.end <= now:
        return "never" if pool.open is None else "over"
    if pool.open <= now:
        return near_span_text(pool.open, pool.end, zone, local_day(now, zone))
    return local_text(pool.open, zone)


def _slots(slots: SlotCounts) -> str:
    """Return `20 free, 3 in use, 2 pending`, or `none`."""
    words = [f"{number} {name}" for name, number in _slots_json(slots).items() if number]
    return ", ".join(words).replace("inUse", "in use") or "none"


def _slots_json(slots: SlotCounts) -> dict[str, int]:
    """Count slots. `handed` ones are owned by a placeholder only; `over` hold nothing."""
    groups = {"free": slots.free, "inUse": slots.used, "handed": slots.handed, "pending": slots.pending}
    return {name: len(some) for name, some in {**groups, "over": (*slots.dead, *slots.going)}.items()}


def _number(found: PoolObject) -> str:
    """Return `spec.minReplicas of HorizontalPodAutoscaler shop/web: 25, before 3`."""
    number, values = found.number.foreign, _number_json(found)
    assert number is not None
    value, before = ("nothing" if values[key] is None else values[key] for key in ("value", "before"))
    return f"{number.text}: {value}{f', before {before}' if found.held else ''}"


def _number_json(found: PoolObject) -> dict[str, object]:
    number = found.number
    return {
        "apiVersion": number.object_kind.version,
        "kind": number.object_kind.name,
        "namespace": number.namespace or None,
        "name": number.name,
        "path": path_text(number.path),
        "unit": units_text(number, 1),
        "value": field_value(found.tree, number.path),
        "isHeld": found.held is not None,
        "before": found.held.before if found.held else None,
    }


def _drift(pool: PoolStatus) -> str:
    """Return how the cluster differs from git: the first kind of difference, and all of that kind."""
    differences = [finding for finding in pool.findings if finding.code in _UNSYNCED]
    if differences:
        alike = [finding.message for finding in differences if finding.code == differences[0].code]
        return "; ".join(text.removeprefix("not synced: ").removesuffix(".") for text in alike)
    return "?" if pool.replicas is None else "synced"


def _colored(text: str, pools: Sequence[PoolStatus]) -> str:
    """Color the state in each row of a table, whose further lines begin with a space."""
    head, *lines = text.splitlines(keepends=True)
    at = head.index(" STATE ") + 1
    rows = [number for number, line in enumerate(lines) if not line.startswith(" ")]
    for number, pool in zip(rows, pools, strict=True):
        color, line, end = _STATES[pool.state], lines[number], at + len(pool.state)
        if color:
            lines[number] = f"{line[:at]}{color}{line[at:end]}{_PLAIN}{line[end:]}"
    return head + "".join(lines)


POOL_COLUMNS: tuple[Column[PoolStatus], ...] = (
    Column("reservation", "reservation", lambda pool: pool.reservation),
    Column("class", "class", lambda pool: pool.resource_class),
    Column("cluster", "cluster", lambda pool: pool.cluster),
    Column("state", "state", lambda pool: pool.state),
    instant_column("opens (UTC)", "open", lambda pool: pool.open),
    instant_column("ends (UTC)", "end", lambda pool: pool.end),
    Column("wanted", "wanted", lambda pool: pool.wanted, number_text, none="?"),
    Column("ready", "ready", lambda pool: pool.ready, none="?"),
    Column("pending", "pending", lambda pool: pool.pending, none="?"),
    Column("sessions", "active", lambda pool: pool.active, none="?"),
    Column("replicas", "", lambda pool: pool.replicas, number_text, none="?"),
    owner_column(lambda pool: pool.owner),
    Column("git", "", _drift),
    Column("note", "", _note),
    Column("", "findings", lambda pool: pool.findings, json=live_json),
    Column("slots", "slots", lambda pool: pool.slots, _slots, _slots_json, is_optional=True),
    Column("number", "number", lambda pool: pool.number, _number, _number_json, is_optional=True),
)
_NARROW = ("reservation", "class", "cluster", "state", "open", "wanted", "ready", "pending", "sessions")
_WIDE = (*_NARROW, "replicas", "opens (UTC)", "ends (UTC)", "git", "slots", "number", "owner")


def as_answer(clusters: Sequence[ClusterStatus]) -> Answer:
    """Return the answer of kind Status."""
    about = [
        {
            "name": cluster.cluster,
            "context": cluster.context,
            "findings": live_json(cluster.findings),
        }
        for cluster in clusters
    ]
    return document("Status", {"items": as_json(POOL_COLUMNS, pools_of(clusters)), "clusters": about})

"""From what was seen in a cluster, what git says, and now, to what is told. A pure function.

Everything is judged by the timetable in the cluster, for that is what the pods there follow; that git says
something else is told beside it.
"""

from collections.abc import Iterable, Iterator, Mapping

from gen.finding import ERROR
from gen.live import ours, ready, seats, slotcase, slotseats, standing, sync
from gen.live.bydates import by_clock
from gen.live.case import Case, Look, occurrences_of, wanted_by_git
from gen.live.facts import Deployment
from gen.live.known import UNKNOWN, Known, known
from gen.live.rules import Live
from gen.live.sessions import Roll
from gen.live.status import FAILED, ClusterStatus, Numbers, PoolStatus
from gen.runtime.instant import instant_text
from gen.runtime.override import in_force, over_at
from gen.runtime.plan import wish
from gen.runtime.session import NO_TEMPLATE, UNKNOWN_TEMPLATE, Session
from gen.runtime.target import open_now
from gen.runtime.timetable import Pool
from gen.runtime.timetable import Timetable as Read


def judged(look: Look, code: Mapping[str, str]) -> ClusterStatus:
    """`code` is the in-cluster code of this Berth, by file."""
    found = {one.reservation: known(one) for one in look.facts.timetables}
    look = look._replace(has_sweep=ours.sweep_works(look.facts, look.now))
    names = {*look.expected, *found, *(one.reservation for one in look.facts.deployments)}
    names |= slotcase.reservations(look.facts)
    readable = [one.read for one in found.values() if one.read]
    roll = Roll(readable, look.facts.sessions, look.now)
    pools: list[PoolStatus] = []
    for name in sorted({*names, *standing.names(look)}):
        if name in names:
            pools += _Reservation(look, name, found.get(name, UNKNOWN), roll).pools()
        pools += standing.pools(look, name)
    findings = [*ours.of_cluster(look, code), *ours.of_koordinator(look), *_of_sessions(look, readable)]
    findings += ours.of_jobs(
        look,
        "",
        [one for one in look.facts.pods if not one.reservation],
        [one for one in look.facts.jobs if not one.reservation],
    )
    return ClusterStatus(look.place.cluster, look.place, tuple(pools), tuple(findings))


class _Reservation:
    """One reservation in one cluster, with what is common to its pools."""

    def __init__(self, look: Look, name: str, known: Known, roll: Roll) -> None:
        self._look, self._name, self._known, self._roll = look, name, known, roll
        self._git = look.expected.get(name)
        facts = look.facts
        self._deployments = {one.name: one for one in facts.deployments if one.reservation == name}
        self._pods = tuple(one for one in facts.pods if one.reservation == name)
        self._classes_of_slots = slotcase.classes(facts, name)
        self.findings = self._common()

    def _common(self) -> tuple[Live, ...]:
        look, name, known = self._look, self._name, self._known
        if nothing := ours.of_nothing(look):
            return (nothing,)
        cronjobs = [one for one in look.facts.cronjobs if one.reservation == name]
        found = list(sync.of_reservation(look, name, known.read, known.malformed, cronjobs))
        found += ours.of_jobs(
            look, name, self._pods, [one for one in look.facts.jobs if one.reservation == name]
        )
        if known.bad_override:
            message = f"an override of it is ignored: {known.bad_override}."
            fix = "Write it with berth override, or remove it with --clear."
            found.append(Live("S037", look.place.cluster, name, message, fix))
        return tuple(found)

    def _timetable(self) -> Read | None:
        """The one that holds: where the cluster's is lost or malformed, pods keep what git said before."""
        if self._known.read is None and (
            self._known.malformed or self._deployments or self._classes_of_slots
        ):
            return self._git
        return self._known.read

    def pools(self) -> list[PoolStatus]:
        """Those of the timetable, then those that only git has, then Deployments and slots that nobody
        knows.
        """
        found: dict[str, Pool] = {}
        for timetable in (self._timetable(), self._git):
            for pool in timetable.pools if timetable else ():
                found.setdefault(pool.scaled, pool)
        for one in sorted(self._deployments.values()):
            nodes = one.name if one.is_nodes else ""
            found.setdefault(one.name, Pool(one.resource_class, one.name, "none", node_pool=nodes))
        known = {pool.resource_class for pool in found.values()}
        for name in sorted(self._classes_of_slots - known):
            found[f"/{name}"] = Pool(name, "", "none")
        return [self._status(pool) for pool in found.values()]

    def _case(self, pool: Pool) -> Case:
        look, timetable = self._look, self._timetable()
        override = self._known.overrides.get(pool.resource_class)
        ordered = in_force(self._known.overrides, pool.resource_class, look.now)
        sessions = self._roll.counts(pool)
        wanted, active = _wish(timetable, pool, sessions, ordered, look.now)
        over = over_at(self._known.overrides, pool.resource_class)
        waiting = [
            one
            for one in look.facts.waiting
            if (one.reservation, one.resource_class) == (self._name, pool.resource_class)
        ]
        case = Case(
            look,
            self._name,
            pool,
            timetable,
            self._git,
            self._known.changed,
            wanted,
            active,
            None if ordered is None else override,
            over if over <= look.now else 0,
            self._deployments.get(pool.scaled),
            tuple(waiting),
            self._pods,
        )
        return slotcase.with_slots(case, sessions)

    def _status(self, pool: Pool) -> PoolStatus:
        case = self._case(pool)
        findings = [*self.findings, *sync.of_template(case), *sync.of_pool(case)]
        if self._known is not UNKNOWN or self._deployments or self._classes_of_slots:
            findings += [*_of_override(case), *_of_seats(case)]
        bad = any(one.severity == ERROR for one in findings)
        timetable = case.timetable or self._git
        state, opens, ends = by_clock(timetable, pool.resource_class, self._look.now)
        return PoolStatus(
            self._name,
            pool.resource_class,
            self._look.place.cluster,
            FAILED if bad else state,
            opens,
            ends,
            *_numbers(case),
            tuple(findings),
            "suspended" if timetable is not None and timetable.suspend else "",
            slotcase.count(case),
        )


def _of_seats(case: Case) -> Iterator[Live]:
    if case.pool.slots is not None:
        yield from slotseats.judged(case)
        return
    if case.pool.deployment:
        yield from seats.judged(case)
        yield from ready.judged(case)
    yield from slotseats.left(case)


def _numbers(case: Case) -> Numbers:
    """Wanted, asked for, ready, pending, active."""
    if case.pool.slots is not None or not case.pool.deployment:
        return slotcase.numbers(case)
    found = case.deployment
    replicas, there = (found.replicas, found.ready) if found else (None, None)
    return _wanted(case, found), replicas, there, case.pending, case.active


def _wish(
    timetable: Read | None, pool: Pool, sessions: Mapping[str, int] | None, ordered: int | None, now: int
) -> tuple[int | None, int | None]:
    """Placeholders and sessions, by the very plan of our pods; None where nobody can tell."""
    if timetable is None:
        return ordered or 0, 0
    found = wish(timetable, pool, now, sessions, ordered)
    if not found.occurrences:
        return found.replicas, 0
    depends = pool.behaviour != "none" and ordered is None
    return None if sessions is None and depends else found.replicas, found.sessions


def _wanted(case: Case, deployment: Deployment | None) -> int | None:
    """Where the cluster knows of nothing, what git says."""
    if case.timetable is None and deployment is None:
        return wanted_by_git(case)
    if case.wanted is None:
        return deployment.replicas if deployment else None
    return case.wanted


def _of_override(case: Case) -> list[Live]:
    if case.override is None:
        return []
    message = f"an override asks for {case.override.target} until {instant_text(case.override.until)}."
    return [case.live("S036", message, "It ends by itself; berth override --clear ends it now.")]


def _of_sessions(look: Look, timetables: Iterable[Read]) -> list[Live]:
    """Told once for each class with something open whose sessions are unknown, or whose templates are."""
    found: dict[tuple[str, str], Live] = {}
    cluster = look.place.cluster
    for timetable in timetables:
        for pool in timetable.pools:
            name, seen = (
                pool.resource_class,
                look.facts.sessions.get(pool.sessions) if pool.sessions else None,
            )
            if isinstance(seen, str):
                message = f"sessions cannot be listed: {seen}."
                known = "what there is" if pool.slots else "what the Deployment asks for"
                fix = f"Ask for the right to list them; until then wanted is {known}."
                found["S004", name] = Live("S004", cluster, name, message, fix)
            elif _lacks_templates(timetable, pool, seen, look.now):
                message = "templates of projects are not looked up: its sessions count by their class alone."
                fix = "Compare with the log of its pod, which asks Renku."
                found["S005", name] = Live("S005", cluster, name, message, fix)
    return [found[key] for key in sorted(found)]


def _lacks_templates(timetable: Read, pool: Pool, seen: tuple[Session, ...] | None, now: int) -> bool:
    """Whether it matters now that nobody looked up the templates of projects."""
    if pool.match.template == NO_TEMPLATE or not seen:
        return False
    is_open = open_now(occurrences_of(timetable, pool.resource_class), now)
    return bool(is_open) and any(session.template == UNKNOWN_TEMPLATE for session in seen)

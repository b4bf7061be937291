"""The status of a cluster, from what was read there, what git says, and the time. A pure function.

A pool is judged by the timetable in the cluster, because pods follow that one; differences to git are
reported as well.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial

from berth.core.holders import holder_of_object
from berth.core.jsonvalues import instant_text
from berth.core.labels import SWEEP
from berth.core.leases import ended_rehearsals
from berth.core.sessions import NO_TEMPLATE, UNKNOWN_TEMPLATE, Session
from berth.core.target import EARLY_START, desired_state, open_now, opens_within
from berth.core.timetable import Timetable, TimetablePool, active_occurrences, end_rehearsals
from berth.findings import ERROR, LiveFinding
from berth.live import health, heldnumbers, persistent, seats, slotseats, sync
from berth.live.clusterfacts import NO_TIMETABLE, LiveCronJob, LiveJob, LiveTimetable
from berth.live.earlier import EarlierLooks, departed_sessions, remember, with_departed
from berth.live.expected import timetable_difference
from berth.live.gather import SessionCounts, session_counts
from berth.live.poolstate import (
    ACTIVE,
    DEGRADED,
    REPAIR,
    RESET,
    UNKNOWN,
    ClusterState,
    ClusterStatus,
    PoolNumbers,
    PoolState,
    PoolStatus,
    occurrences_of,
    state_by_clock,
    wanted_by_git,
)
from berth.plugins.numbers.peers import peer_targets
from berth.plugins.slots.slots import slot_demand


def judge_cluster(snapshot: ClusterState, code: Collection[str]) -> tuple[ClusterStatus, EarlierLooks]:
    """Return the status of a cluster, and what the next look at it needs of this one.

    `code` are the names of the ConfigMaps with this version's code.
    """
    timetables = {timetable.reservation: timetable for timetable in snapshot.facts.timetables}
    snapshot = snapshot._replace(has_sweep=health.sweep_works(snapshot.facts, snapshot.now))
    names = {
        *snapshot.git.timetables,
        *timetables,
        *(deployment.reservation for deployment in snapshot.facts.pools),
        *(number.reservation for number in snapshot.facts.numbers if number.is_held),
    } - {""}
    slots = snapshot.facts.slots or ()
    names |= {slot.reservation for slot in slots if not slot.is_persistent}
    standing = {*snapshot.git.persistent, *(slot.reservation for slot in slots if slot.is_persistent)}
    readable = [timetable.read for timetable in timetables.values() if timetable.read]
    counts_by_class = session_counts(readable, snapshot.facts.sessions, snapshot.now)
    waits = [timetable.settings.stabilization_seconds for timetable in readable]
    seconds = max(waits, default=0) + RESET  # for which sessions that left may matter
    departed = departed_sessions(snapshot.earlier, snapshot.facts.sessions, snapshot.now, seconds)
    lately = with_departed(snapshot.facts.sessions, departed)
    counts_lately = session_counts(readable, lately, snapshot.now)
    pools: list[PoolStatus] = []
    for name in sorted(names | standing):
        if name in names:
            known = timetables.get(name, NO_TIMETABLE)
            pools += _ReservationJudge(snapshot, name, known, counts_by_class, counts_lately).pools()
        pools += persistent.persistent_pools(snapshot, name)
    findings = [
        *health.check_cluster(snapshot, code),
        *health.check_koordinator(snapshot),
        *health.check_namespaces(snapshot),
        *health.check_foreign(snapshot),
        *(() if health.nothing_applied(snapshot) else health.check_grants(snapshot, "", is_needed=True)),
        *_check_sessions(snapshot, readable),
    ]
    if not health.sweep_trouble(snapshot.facts):
        findings += health.check_jobs(
            snapshot,
            "",
            [pod for pod in snapshot.facts.pods if pod.role == SWEEP],
            [job for job in snapshot.facts.jobs if job.role == SWEEP],
        )
    place, unlike = snapshot.place, [pool.subject for pool in pools if pool.look_again is not None]
    status = ClusterStatus(place.cluster, place.context, tuple(pools), tuple(findings))
    return status, remember(snapshot.earlier, snapshot.facts.sessions, unlike, snapshot.now, seconds)


class _ReservationJudge:
    """Judges the pools of one reservation in a cluster."""

    def __init__(
        self,
        snapshot: ClusterState,
        name: str,
        known: LiveTimetable,
        counts_by_class: SessionCounts,
        counts_lately: SessionCounts,
    ) -> None:
        self._snapshot, self._name, self._known = snapshot, name, known
        self._sessions, self._lately = counts_by_class, counts_lately
        facts, now = snapshot.facts, snapshot.now
        ended = ended_rehearsals(lease for lease in facts.leases.values() if lease.reservation == name)
        git = snapshot.git.timetables.get(name)
        self._git = git and end_rehearsals(git, ended)
        objects = [each for each in facts.pools if each.reservation == name]
        self._objects = {(each.kind.name, each.name): each for each in objects}
        self._numbers = {number.pool.key: number for number in facts.numbers if number.reservation == name}
        slots = [each for each in facts.slots or () if each.reservation == name and not each.is_persistent]
        self._classes_of_slots = {slot.resource_class for slot in slots}
        is_held = any(number.is_held for number in self._numbers.values())
        self._has_pools = bool(self._objects or self._classes_of_slots or is_held)
        # Where it is missing or malformed in the cluster, pods keep the previous one, which git has.
        is_kept = known.read is None and (known.malformed or self._has_pools)
        self._timetable = self._git if is_kept else known.read and end_rehearsals(known.read, ended)
        occurrences = active_occurrences(self._timetable) if self._timetable else ()
        opened = max((occurrence.open for occurrence in open_now(occurrences, now)), default=None)
        jobs = [job for job in facts.jobs if job.reservation == name]
        cronjobs = [cronjob for cronjob in facts.cronjobs if cronjob.reservation == name]
        self._pods = tuple(pod for pod in facts.pods if pod.reservation == name)
        since = (now if opened is None else opened) - EARLY_START
        self._uncreated = health.creation_trouble(facts, jobs, cronjobs, since)
        self._state = partial(
            PoolState,
            snapshot,
            name,
            timetable=self._timetable,
            git=self._git,
            changed=known.changed,
            pods=self._pods,
            uncreated=self._uncreated,
            begun=next((job.name for job in jobs if not job.is_over), ""),
            record=next((record for record in facts.records if record.reservation == name), None),
            is_suspended=bool(cronjobs) and all(cronjob.suspended for cronjob in cronjobs),
        )
        is_open_soon = opened is not None or opens_within(occurrences, now, REPAIR) is not None
        self.findings = tuple(self._common(jobs, cronjobs, is_open_soon=is_open_soon))

    def _common(
        self, jobs: Collection[LiveJob], cronjobs: Collection[LiveCronJob], *, is_open_soon: bool
    ) -> Iterator[LiveFinding]:
        """Check what all pools share. `is_open_soon`: before the sweep can correct anything."""
        snapshot, name, known = self._snapshot, self._name, self._known
        if nothing := health.nothing_applied(snapshot):
            yield nothing
            return
        yield from sync.check_reservation(snapshot, name, known, cronjobs)
        if self._uncreated:
            rules = "quotas, LimitRanges, policies and webhooks of the namespace"
            fix = f"Check the {rules}: one of them refuses it."
            yield snapshot.place.finding("S052", self._uncreated, fix, name)
        yield from health.check_jobs(snapshot, name, self._pods, jobs)
        if known.read is not None:
            git = snapshot.git.timetables.get(name)
            is_synced = git is not None and not timetable_difference(git, known.read)
            yield from health.check_grants(snapshot, name, is_needed=is_synced and is_open_soon)
        yield from health.check_labels(snapshot, name)
        if known.bad_override:
            message = f"an override is ignored: {known.bad_override}."
            fix = "Write it with berth override, or remove it with --clear."
            yield snapshot.place.finding("S024", message, fix, name)

    def pools(self) -> list[PoolStatus]:
        """Return the status of all pools: of the timetable, then of git, then unknown ones."""
        pools: dict[str, TimetablePool] = {}
        for timetable in (self._timetable, self._git):
            for pool in timetable.pools if timetable else ():
                pools.setdefault(pool.key if pool.holder.foreign else pool.scaled, pool)
        known_objects = {
            (pool.object_kind.name, pool.scaled) for pool in pools.values() if not pool.holder.foreign
        }
        for key in sorted(self._objects.keys() - known_objects):
            deployment = self._objects[key]
            holder = holder_of_object(*key)
            pools["/".join(key)] = TimetablePool(
                deployment.resource_class, deployment.name, "none", holder=holder
            )
        for number in self._numbers.values():
            if number.is_held:
                pools.setdefault(number.pool.key, number.pool)
        known = {pool.resource_class for pool in pools.values()}
        for name in sorted(self._classes_of_slots - known):
            pools[f"/{name}"] = TimetablePool(name, "", "none")
        return [self._status(pool) for pool in pools.values()]

    def _case(self, pool: TimetablePool) -> PoolState:
        snapshot = self._snapshot
        override = self._known.overrides.get(pool.resource_class)
        is_overridden = override is not None and snapshot.now < override.until
        slots = slotseats.find_slots(snapshot.facts, self._name, pool.resource_class, persistent=False)
        key = self._name, pool.resource_class
        waiting = [each for each in snapshot.facts.waiting if (each.reservation, each.resource_class) == key]
        number = self._numbers.get(pool.key) if pool.holder.foreign else None
        deployment = self._objects.get((pool.object_kind.name, pool.scaled))
        if pool.holder.foreign:
            deployment = number.live_pool if number else None
        case = self._state(
            pool,
            override=override if is_overridden else None,
            overridden=override.until if override and not is_overridden else 0,
            object=deployment,
            waiting=tuple(waiting),
            slots=slots,
            slot_counts=slotseats.count_live_slots(slots or (), snapshot.place.namespace, pool.name),
            number=number,
        )
        return _with_demand(case, self._sessions(pool), self._lately(pool))

    def _status(self, pool: TimetablePool) -> PoolStatus:
        case = self._case(pool)
        findings = [*self.findings, *sync.check_template(case), *sync.check_pool(case)]
        findings += seats.check_rehearsals(case)
        if self._known is not NO_TIMETABLE or self._has_pools:
            findings += [*_check_override(case), *_check_seats(case)]
        bad = any(finding.severity == ERROR for finding in findings)
        timetable = case.timetable or self._git
        state, opens, ends = state_by_clock(timetable, pool.resource_class, self._snapshot.now)
        if state == ACTIVE and not case.is_readable:
            state = UNKNOWN
        has_slots = case.slots or (case.pool.holder.slots and case.slots is not None)
        return PoolStatus(
            self._name,
            pool.resource_class,
            self._snapshot.place.cluster,
            DEGRADED if bad else state,
            opens,
            ends,
            *_numbers(case),
            tuple(findings),
            _remark(case, timetable),
            case.slot_counts if has_slots else None,
            look_again=seats.look_again(case),
            number=case.number.object if case.number else None,
        )


def _remark(case: PoolState, timetable: Timetable | None) -> str:
    if timetable is not None and timetable.suspend:
        return "suspended"
    opened = case.open()
    return "rehearsal" if opened and all(occurrence.rehearses for occurrence in opened) else ""


def _check_seats(case: PoolState) -> Iterator[LiveFinding]:
    if case.pool.holder.slots is not None:
        yield from slotseats.check_slots(case)
        return
    if number := case.pool.holder.foreign:
        yield from heldnumbers.check_held_number(case, number)
    elif case.pool.name:
        yield from seats.check_pool_seats(case)
    yield from slotseats.leftover_slots(case)


def _numbers(case: PoolState) -> PoolNumbers:
    """Return the numbers wanted, requested, ready, pending and active.

    What is wanted follows git if the cluster does not know the pool.
    """
    if case.pool.holder.slots is not None or not case.pool.name:
        return slotseats.slot_numbers(case)
    deployment = case.object
    replicas = deployment.replicas if deployment else None
    there = deployment.ready if deployment and deployment.tells_ready else None
    wanted = replicas if case.wanted is None else case.wanted
    if case.number is not None:
        wanted = heldnumbers.wanted_number(case)
    elif case.timetable is None and deployment is None:
        wanted = wanted_by_git(case)
    return wanted, replicas, there, case.pending, case.active


def _with_demand(
    case: PoolState, sessions: Mapping[str, int] | None, lately: Mapping[str, int] | None
) -> PoolState:
    """Return the state with what the scaler demands, by the sessions, and with those that left a moment ago.

    A single look cannot tell which sessions had enough time to take a slot, so `demand.kept` counts none of
    them.
    """
    order = case.override
    if case.pool.holder.slots is not None and case.slots is None:
        return case
    if case.timetable is None:
        wanted = order.target if order else 0
        return case._replace(wanted=wanted, certain=wanted, active=0)
    now, timetables = case.snapshot.now, case.snapshot.facts.timetables
    others = [(each.read, each.overrides) for each in timetables if each.reservation in case.pool.peers]
    peers = peer_targets(case.pool, others, now)
    overrides = {case.pool.resource_class: order} if order else {}
    owners = sum(case.slot_counts.owners.values())
    demand, certain = (
        slot_demand(desired_state(case.timetable, case.pool, now, counts, overrides, peers), owners, 0)
        for counts in (sessions, lately)
    )
    target = demand.target
    # Nobody comes to a rehearsal.
    is_counted = bool(target.occurrences) and any(not occurrence.rehearses for occurrence in case.open())
    depends = is_counted and case.counts_sessions and order is None
    active = target.sessions if sessions is not None else None
    return case._replace(
        demand=demand,
        wanted=None if sessions is None and depends else target.replicas,
        certain=None if lately is None and depends else certain.wanted,
        active=active if is_counted else 0,
    )


def _check_override(case: PoolState) -> list[LiveFinding]:
    if case.override is None:
        return []
    message = (
        f"an override sets the target to {case.override.target} until {instant_text(case.override.until)}."
    )
    return [case.finding("S036", message, "It ends by itself; berth override --clear ends it now.")]


def _check_sessions(snapshot: ClusterState, timetables: Iterable[Timetable]) -> list[LiveFinding]:
    """Report once per open class that its sessions or templates are unknown."""
    findings: dict[str, LiveFinding] = {}
    for timetable in timetables:
        for pool in timetable.pools:
            name = pool.resource_class
            seen = snapshot.facts.sessions.get(pool.sessions) if pool.sessions else None
            if isinstance(seen, str):
                message = f"sessions cannot be listed: {seen}."
                known = "the number of slots" if pool.holder.slots else "the Deployment's replicas"
                fix = f"Ask for permission to list them; until then, wanted shows {known}."
                findings[name] = snapshot.place.finding("S004", message, fix, name)
            elif _lacks_templates(timetable, pool, seen, snapshot.now):
                message = "templates of projects are not looked up: its sessions count by their class alone."
                fix = "Compare with the log of its pod, which asks Renku."
                findings[name] = snapshot.place.finding("S004", message, fix, name)
    return [findings[key] for key in sorted(findings)]


def _lacks_templates(
    timetable: Timetable, pool: TimetablePool, seen: tuple[Session, ...] | None, now: int
) -> bool:
    """Return whether missing templates of projects matter now."""
    if pool.match.template == NO_TEMPLATE or not seen:
        return False
    is_open = open_now(occurrences_of(timetable, pool.resource_class), now)
    return bool(is_open) and any(session.template == UNKNOWN_TEMPLATE for session in seen)

"""The status of clusters and pools, and the state of a pool that checks work on. Pure values."""

from typing import NamedTuple

from berth.core import decide as sweepdecisions
from berth.core.holders import BUFFER, PLACEHOLDERS, SLOTS, PoolHolder
from berth.core.poolobjects import PoolObject
from berth.core.target import full_count, open_now, pool_target
from berth.core.timetable import Override, Timetable, TimetableOccurrence, TimetablePool, active_occurrences
from berth.findings import LiveFinding
from berth.live.clusterfacts import (
    ClusterFacts,
    ClusterLocation,
    LiveNumber,
    LivePod,
    LivePool,
    LiveRecord,
    LiveSlot,
    WaitingPlaceholder,
)
from berth.live.earlier import NO_LOOKS, EarlierLooks
from berth.live.expected import ExpectedState
from berth.plugins.slots.slots import SlotCounts, SlotDemand
from berth.schema.reservationspec import OwnerSpec
from berth.schema.values import Cluster, Site

SCHEDULED, ACTIVE, COMPLETED = "scheduled", "active", "completed"
DEGRADED, UNKNOWN = "degraded", "unknown"


PoolNumbers = tuple[float | None, float | None, int | None, int | None, int | None]
"""Wanted, asked for (replicas), ready, pending, active."""


class PoolStatus(NamedTuple):
    """The status of a pool.

    `open` and `end` (seconds) are those of the open occurrence, else the next, else the last; None without
    any. Unknown numbers are None.

    `wanted` and `replicas` are the placeholders that should exist and that are requested, `ready` and
    `pending` those that run and that wait, `active` the sessions that count. With slots, `wanted`, `ready`
    and `pending` are those without a session, and `replicas` all that exist. For a number of somebody else
    that no window holds, `wanted` is what stands there, or what it is about to go back to.
    """

    reservation: str
    resource_class: str
    cluster: str
    state: str
    open: int | None
    end: int | None
    wanted: float | None = None
    replicas: float | None = None
    ready: int | None = None
    pending: int | None = None
    active: int | None = None
    findings: tuple[LiveFinding, ...] = ()
    remark: str = ""  # shown, and not a finding: suspended
    slots: SlotCounts | None = None  # None: slots hold nothing of it, or nobody knows
    persistent: bool = False  # without windows: `end` is when it expires, None never
    # Its pod has not made it as it should be: seconds after which another look can tell; 0: this one could.
    look_again: int | None = None
    owner: OwnerSpec | None = None  # by git
    number: PoolObject | None = None  # of somebody else, that could be read

    @property
    def subject(self) -> str:
        return f"{self.reservation}/{self.resource_class}"


class ClusterStatus(NamedTuple):
    """The status of a cluster: its pools, and findings about the cluster."""

    cluster: str
    context: str | None
    pools: tuple[PoolStatus, ...]
    findings: tuple[LiveFinding, ...]


# How long each may take until it is a broken promise, in seconds.
RESET = 10  # replicas that somebody changed, while a pod serves
EDIT = sweepdecisions.EDIT_GRACE  # an edit of the timetable, or an override
REPAIR = 360  # everything else: the sweep comes every five minutes


class ClusterState(NamedTuple):
    """What is known of a cluster. `git` is what git says.

    `has_sweep`: the sweep works here and repairs what pods miss.
    """

    place: ClusterLocation
    site: Site
    git: ExpectedState
    facts: ClusterFacts
    now: int
    has_sweep: bool = True
    earlier: EarlierLooks = NO_LOOKS

    @property
    def cluster(self) -> Cluster:
        return next(cluster for cluster in self.site.clusters if cluster.name == self.git.cluster)

    @property
    def scheduler(self) -> str:
        """Koordinator's; empty: the cluster has none."""
        return self.cluster.koordinator.scheduler_name if self.cluster.koordinator else ""


class PoolState(NamedTuple):
    """What is known of a pool.

    `timetable` is that of the cluster (None: none), last changed at `changed`; `git` that of git. `wanted`
    and `active` (sessions) are None if unknown. `certain` is what is wanted even if all sessions that left
    lately still count.
    """

    snapshot: ClusterState
    reservation: str
    pool: TimetablePool
    timetable: Timetable | None = None
    git: Timetable | None = None
    changed: int = 0
    wanted: int | None = None
    certain: int | None = None
    active: int | None = None
    override: Override | None = None  # that is in force
    overridden: int = 0  # until when one was, that is over; 0: none
    object: LivePool | None = None
    waiting: tuple[WaitingPlaceholder, ...] = ()
    pods: tuple[LivePod, ...] = ()  # of the reservation's Jobs
    slots: tuple[LiveSlot, ...] | None = None  # of windows; None: nobody knows
    slot_counts: SlotCounts = SlotCounts()  # of these
    demand: SlotDemand | None = None  # None: slots do not hold it, or nobody knows
    uncreated: str = ""  # why the API server refuses its Job or the Job's pod
    begun: str = ""  # the name of its Job that is not over
    record: LiveRecord | None = None
    is_suspended: bool = False  # all its CronJobs are, so no Job starts by itself
    number: LiveNumber | None = None  # of somebody else; None: nobody looked

    @property
    def subject(self) -> str:
        return f"{self.reservation}/{self.pool.resource_class}"

    @property
    def is_readable(self) -> bool:
        """Whether what holds its seats could be read, be it that nothing does."""
        if self.pool.holder.foreign:
            return self.object is not None
        return self.pool.holder.slots is None or self.slots is not None

    @property
    def counts_sessions(self) -> bool:
        """Whether its seats depend on sessions now."""
        behaviors = [occurrence.behavior or self.pool.behavior for occurrence in self.open()]
        return any(behavior != "none" for behavior in behaviors or [self.pool.behavior])

    @property
    def pending(self) -> int:
        """The number of placeholders without a node."""
        return sum(placeholder.is_pending for placeholder in self.waiting)

    @property
    def placeholders(self) -> int:
        """The number of placeholders that are requested."""
        return int(self.object.replicas) if self.object and self.pool.holder.has_deployment else 0

    @property
    def requested(self) -> float:
        """The seats without a session: replicas, or slots and placeholders that will hand over."""
        if self.pool.holder.slots is None:
            return self.object.replicas if self.object else 0
        counts = self.slot_counts
        return len(counts.free) + max(len(counts.handed) + len(counts.pending), self.placeholders)

    @property
    def is_asked(self) -> bool:
        """Whether a window or an override asks for seats, be it for 0 of them."""
        return bool(self.open()) or self.override is not None

    def lacks(self, wanted: float) -> bool:
        """Return whether fewer seats are requested; for somebody else's number, whether it is another."""
        if self.pool.holder.foreign:
            return self.is_asked and self.object is not None and self.requested != wanted
        return self.requested < wanted

    @property
    def newest_slot(self) -> int:
        """When the last slot was made or ended; 0 if slots do not hold the pool."""
        if self.pool.holder.slots is None:
            return 0
        dead = {slot.uid for slot in self.slot_counts.dead}
        over = [slot.changed for slot in self.slots or () if slot.held.uid in dead]
        return max([*over, *(slot.created for slot in self.slot_counts.present)], default=0)

    @property
    def running(self) -> tuple[LivePod, ...]:
        return tuple(pod for pod in self.pods if pod.serves_at(self.snapshot.now))

    @property
    def served(self) -> bool:
        """Whether a pod holds the Lease of the pool; while nothing is open, one that runs may take it."""
        if not self.open():
            return bool(self.running)
        lease = self.snapshot.facts.leases.get(self.pool.lease)
        return lease is not None and bool(lease.holder) and lease.is_valid(self.snapshot.now)

    @property
    def settling(self) -> int:
        """The seconds for which a session that left still counts here; 0 if sessions change nothing."""
        follows = self.counts_sessions and self.active is not None and self.override is None
        by_others = self.object is not None and self.object.is_scaled_by_others
        if not follows or by_others or self.timetable is None or not self.pool.holder.is_stabilized:
            return 0
        return self.timetable.settings.stabilization_seconds

    def time_left(self, seconds: int) -> int:
        """Return how long its pod still has, if it has `seconds` from when the pool was first seen unlike."""
        now = self.snapshot.now
        return max(self.snapshot.earlier.since.get(self.subject, now) + seconds - now, 0)

    def occurrences(self) -> tuple[TimetableOccurrence, ...]:
        """Return the occurrences with seats in this pool that may open."""
        return occurrences_of(self.timetable, self.pool.resource_class)

    def open(self) -> tuple[TimetableOccurrence, ...]:
        return open_now(self.occurrences(), self.snapshot.now)

    def seats(self, number: float) -> str:
        """Return `3 seats`, `3 nodes` for a pool of whole nodes, or `3 Gi` for a quantity."""
        return f"{number_text(number)} {units_text(self.pool.holder, number)}"

    def finding(self, code: str, message: str, fix: str) -> LiveFinding:
        return self.snapshot.place.finding(code, message, fix, self.subject)

    def kubectl(self, command: str, *, namespaced: bool = True) -> str:
        return self.snapshot.place.kubectl(command, namespaced=namespaced)

    def kubectl_on_object(self, verb: str, more: str = "") -> str:
        """Return a command about the object that has the number of the pool."""
        kind, place, number = self.pool.object_kind, self.snapshot.place, self.pool.holder.foreign
        name = f"{kind.name.lower()}/{self.pool.scaled}"
        if number:  # a kind of somebody else may have the name of a usual one
            place = place._replace(namespace=number.namespace or "")
            name = f"{'.'.join(filter(None, (kind.plural, kind.group)))}/{self.pool.scaled}"
        return place.kubectl(" ".join(filter(None, (verb, name, more))), namespaced=not kind.of_cluster)


def occurrences_of(timetable: Timetable | None, resource_class: str) -> tuple[TimetableOccurrence, ...]:
    if timetable is None:
        return ()
    count = full_count(resource_class)
    return tuple(occurrence for occurrence in active_occurrences(timetable) if count(occurrence))


def wanted_by_git(case: PoolState) -> int:
    """Return the wanted number by git alone."""
    return pool_target(case.git, case.pool, case.snapshot.now).replicas if case.git else 0


def seats_text(number: int) -> str:
    """Return `1 seat`, `3 seats`."""
    return f"{number} seat{'' if number == 1 else 's'}"


def number_text(number: float) -> str:
    """Return `1048576` or `0.5`: a quantity may be no whole number of its unit."""
    return str(int(number)) if number == int(number) else f"{number:g}"


def units_text(holder: PoolHolder, number: float = 0) -> str:
    """Return what a pool counts: `seat`, `seats`, `replicas`, or the unit of a quantity, such as `Gi`."""
    kind = "seats" if holder.kind in {PLACEHOLDERS, SLOTS, BUFFER} else holder.kind
    return kind.removesuffix("s") if number == 1 else kind


def state_by_clock(
    timetable: Timetable | None, resource_class: str, now: int
) -> tuple[str, int | None, int | None]:
    """Return state, open and end by the time alone. A suspended reservation is scheduled."""
    occurrences = occurrences_of(timetable, resource_class)
    current = open_now(occurrences, now)
    if current:
        return (
            ACTIVE,
            min(occurrence.open for occurrence in current),
            max(occurrence.end for occurrence in current),
        )
    # A rehearsal is not what people wait for.
    occurrences = tuple(occurrence for occurrence in occurrences if not occurrence.rehearses)
    coming = min(
        (occurrence for occurrence in occurrences if occurrence.open > now),
        key=lambda occurrence: occurrence.open,
        default=None,
    )
    if coming is not None:
        return SCHEDULED, coming.open, coming.end
    if timetable is not None and timetable.suspend:
        return SCHEDULED, None, None
    last = max(occurrences, key=lambda occurrence: occurrence.end, default=None)
    return COMPLETED, last.open if last else None, last.end if last else None


def status_from_git(git: ExpectedState, context: str | None, finding: LiveFinding, now: int) -> ClusterStatus:
    """Return the status of an unreachable cluster; each pool has the `finding`."""
    pools = []
    for name, timetable in sorted(git.timetables.items()):
        for pool in timetable.pools:
            _, opens, ends = state_by_clock(timetable, pool.resource_class, now)
            row = PoolStatus(name, pool.resource_class, git.cluster, UNKNOWN, opens, ends)
            pools.append(row._replace(remark="suspended" if timetable.suspend else ""))
    for name, pools_of_one in sorted(git.persistent.items()):
        for seats in pools_of_one:
            row = PoolStatus(name, seats.resource_class, git.cluster, UNKNOWN, None, seats.until)
            pools.append(row._replace(persistent=True))
    return ClusterStatus(
        git.cluster, context, tuple(row._replace(findings=(finding,)) for row in pools), (finding,)
    )

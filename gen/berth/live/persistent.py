"""Checks of persistent slots, which git holds without a timetable. Pure.

Only the engine makes and repairs them.
"""

from collections.abc import Iterator, Sequence

from berth.core.jsonvalues import instant_text
from berth.core.timetable import TimetablePool
from berth.findings import ERROR, LiveFinding
from berth.live import health, slotseats
from berth.live.clusterfacts import LiveSlot
from berth.live.expected import PersistentSeats
from berth.live.poolstate import (
    ACTIVE,
    COMPLETED,
    DEGRADED,
    REPAIR,
    UNKNOWN,
    ClusterState,
    PoolState,
    PoolStatus,
    seats_text,
)
from berth.live.seats import most_common_reason
from berth.live.slotseats import count_live_slots, find_slots, slots_text
from berth.live.sync import apply_hint
from berth.plugins.slots.slots import SlotCounts


def persistent_pools(snapshot: ClusterState, name: str) -> Iterator[PoolStatus]:
    """Yield the status of pools in git, then of pools that only the cluster has."""
    known = snapshot.git.persistent.get(name, ())
    slots = [slot for slot in snapshot.facts.slots or () if slot.is_persistent]
    gone = {slot.resource_class for slot in slots if slot.reservation == name}
    gone -= {seats.resource_class for seats in known}
    for seats in (*known, *(PersistentSeats(each, "", (), None, False) for each in sorted(gone))):
        yield _PersistentPool(snapshot, name, seats).status()


class _PersistentPool:
    """The persistent seats of a class of a reservation."""

    def __init__(self, snapshot: ClusterState, name: str, git: PersistentSeats) -> None:
        self._snapshot, self._name, self._git = snapshot, name, git
        slots = find_slots(snapshot.facts, name, git.resource_class, persistent=True)
        self._is_known = slots is not None
        self._slots = slots or ()
        self._ours = tuple(slot for slot in self._slots if slot.held.name in git.names)
        self._slot_counts = count_live_slots(self._ours, snapshot.place.namespace, git.pool)
        pool = TimetablePool(git.resource_class, git.pool, "none")
        self._case = PoolState(snapshot, name, pool, slots=self._ours, slot_counts=self._slot_counts)

    @property
    def _is_over(self) -> bool:
        return self._git.until is not None and self._git.until <= self._snapshot.now

    @property
    def _taken(self) -> int:
        """The number of seats that sessions have or have used up."""
        spent = (
            [slot for slot in self._slot_counts.dead if slot.phase == "Succeeded"] if self._git.once else []
        )
        return len(self._slot_counts.used) + len(spent)

    def status(self) -> PoolStatus:
        nothing = health.nothing_applied(self._snapshot)
        findings = (nothing,) if nothing else tuple(self._findings()) if self._is_known else ()
        bad = any(finding.severity == ERROR for finding in findings)
        row = PoolStatus(
            self._name,
            self._git.resource_class,
            self._snapshot.place.cluster,
            DEGRADED if bad else COMPLETED if self._is_over else ACTIVE if self._is_known else UNKNOWN,
            None,
            self._git.until,
            findings=findings,
            persistent=True,
        )
        if not self._is_known:
            return row
        there = count_live_slots(self._slots, self._snapshot.place.namespace, self._git.pool)
        return row._replace(
            wanted=0 if self._is_over else len(self._git.names) - self._taken,
            replicas=len(there.living),
            ready=len(there.free) + len(there.handed),
            pending=len(there.pending),
            active=sum(there.owners.values()),
            slots=there,
        )

    def _findings(self) -> Iterator[LiveFinding]:
        if self._is_over:
            return
        yield from self._unlike()
        yield from self._dead(self._slot_counts)
        yield from slotseats.check_pending_slots(self._case, self._ours)
        yield from slotseats.check_overbooked(self._case, self._ours)
        late = [slot for slot in self._slot_counts.pending if slot.created + REPAIR <= self._snapshot.now]
        if late:
            see = self._case.kubectl(f"describe {slotseats.RESOURCE} {late[0].name}", namespaced=False)
            shortage = f"{len(late)} of {len(self._git.names)} seats are not ready"
            since = instant_text(min(slot.created for slot in late))
            message = f"{shortage}, and should stand since {since}."
            yield self._case.finding("S043", message, f"See what they wait for: {see}")

    def _unlike(self) -> Iterator[LiveFinding]:
        """Report differences to git. A reservation that is missing altogether has its own finding."""
        there = {slot.held.name for slot in self._slots}
        missing = [name for name in self._git.names if name not in there]
        others = [slot for slot in self._slots if slot.held.name not in self._git.names]
        if not self._git.names and others:
            yield self._case.finding(
                "S023",
                f"{slots_text(len(others))} are in the cluster but not in git.",
                f"They go with the next sync, if that prunes. By hand: {self._delete(others)}",
            )
            return
        words = [f"{slots_text(len(missing))} missing"] if missing else []
        words += [f"{len(others)} of another shape or number"] if others else []
        moved = [slot for slot in self._ours if slot.held.expires != self._git.until]
        words += [f"{len(moved)} with another end"] if moved else []
        if len(missing) == len(self._git.names) and not others:
            yield self._case.finding(
                "S022", "it is in git but not in the cluster.", apply_hint(self._snapshot, self._name)
            )
        elif words:
            message = f"not synced: {', '.join(words)}."
            pruned = self._snapshot.cluster.engine != "none" or not others
            more = "" if pruned else f"; then remove what is not in git: {self._delete(others)}"
            yield self._case.finding("S022", message, f"{apply_hint(self._snapshot, self._name)}{more}")

    def _dead(self, seen: SlotCounts) -> Iterator[LiveFinding]:
        over = {slot.uid for slot in seen.dead if not (self._git.once and slot.phase == "Succeeded")}
        dead = [slot for slot in self._ours if slot.held.uid in over]
        if not dead:
            return
        troubles = [slot.trouble for slot in dead if slot.trouble]
        why = f": {most_common_reason(troubles)}" if troubles else "."
        message = (
            f"{seats_text(len(dead))} lost, for {'its slot is' if len(dead) == 1 else 'their slots are'} over"
        )
        again = "Koordinator removes them a day later, and the engine makes them again."
        fix = f"{again} To have them at once: {self._delete(dead)}"
        yield self._case.finding("S067", f"{message}{why}", fix)

    def _delete(self, slots: Sequence[LiveSlot]) -> str:
        some = " ".join(sorted(slot.held.name for slot in slots)[:3])
        more = " ..." if len(slots) > 3 else ""
        return self._case.kubectl(f"delete {slotseats.RESOURCE} {some}{more}", namespaced=False)

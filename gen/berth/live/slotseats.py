"""Checks of a pool of slots: are there as many as needed, and why do others wait? Pure.

A slot does not say for how long another one has been missing, so two checks within seconds may report what
the pod is about to correct.
"""

from collections.abc import Iterator, Sequence

from berth import quantity
from berth.core.jsonvalues import instant_text
from berth.core.labels import CLASS, PERSISTENT, RESERVATION, ROLE, SITE, SLOT
from berth.findings import LiveFinding
from berth.live import seats
from berth.live.clusterfacts import ClusterFacts, LiveSlot
from berth.live.poolstate import EDIT, REPAIR, PoolNumbers, PoolState, wanted_by_git
from berth.live.seats import SCHEDULING_SECONDS, most_common_reason
from berth.plugins.slots.slots import PlaceholderOwner, SlotCounts, count_slots


def find_slots(
    facts: ClusterFacts, reservation: str, resource_class: str, *, persistent: bool
) -> tuple[LiveSlot, ...] | None:
    """Return the slots of a class of a reservation, None if unknown."""
    if facts.slots is None:
        return None
    key = reservation, resource_class, persistent
    return tuple(
        each for each in facts.slots if (each.reservation, each.resource_class, each.is_persistent) == key
    )


def slot_numbers(case: PoolState) -> PoolNumbers:
    """Return the numbers wanted, requested, ready, pending and active; unknown wanted equals requested."""
    if case.slots is None:
        return None, None, None, None, case.active
    living = len(case.slot_counts.living) + case.placeholders
    wanted = case.requested if case.wanted is None else case.wanted
    if case.timetable is None and not living:
        wanted = wanted_by_git(case)
    return wanted, living, ready_seats(case), len(case.slot_counts.pending) + case.pending, case.active


def count_live_slots(live_slots: tuple[LiveSlot, ...], namespace: str, pool: str) -> SlotCounts:
    return count_slots([slot.held for slot in live_slots], PlaceholderOwner(namespace, pool))


def ready_seats(case: PoolState) -> int:
    """Return the seats that sessions can take."""
    there = case.object.ready if case.object and case.pool.holder.has_deployment else 0
    seen = case.slot_counts
    return len(seen.free) + max(len(seen.handed), there)


RESOURCE = "reservations.scheduling.koordinator.sh"


def check_slots(case: PoolState) -> Iterator[LiveFinding]:
    """Check a pool of slots. If slots cannot be listed, the cluster has a finding instead."""
    if case.pool.holder.has_deployment:
        yield from seats.check_waiting(case)
        if case.object is None:
            yield seats.missing(case)
    elif case.object is not None and case.object.replicas:
        yield seats.left(case, case.object, 0, "its seats are held by slots")
    if case.demand is None or case.demand.expires is None:
        yield from leftover_slots(case)
        return
    yield from seats.check_requested(case)
    if case.served and (over := case.slot_counts.spare - case.demand.kept) > 0:
        yield _over(case, over, case.demand.kept)
    yield from check_pending_slots(case, case.slots or ())
    yield from check_overbooked(case, case.slots or ())
    yield from _late(case)
    yield from _short(case)


def _over(case: PoolState, over: int, kept: int) -> LiveFinding:
    """Report more free slots than are kept."""
    message = f"{slots_text(over)} too many: {case.slot_counts.spare} have no session, at most {kept} should."
    is_soon = case.snapshot.now < max(seats.opened(case), case.changed, case.newest_slot) + REPAIR
    return seats.too_many(case, message, f"Read the pod's log: {seats.pod_log(case)}", is_soon=is_soon)


def leftover_slots(case: PoolState) -> Iterator[LiveFinding]:
    """Report slots with nothing open."""
    present = case.slot_counts.present
    if not present:
        return
    number, now = slots_text(len(present)), case.snapshot.now
    if case.timetable is None and case.git is None:
        ends = [slot.expires for slot in present if slot.expires is not None]
        if len(ends) < len(present) or now < max(ends) + REPAIR:
            message = f"{number} left, and nothing else of the reservation."
            swept = "The sweep removes them within 6 minutes. " if case.snapshot.has_sweep else ""
            yield case.finding("S023", message, f"{swept}By hand: {_delete(case)}")
            return
    why = seats.nothing_open(case)
    if case.pool.holder.slots is None and case.open():
        why = (
            "its seats are held by placeholders"
            if case.pool.holder.has_deployment
            else "it has whole nodes now"
        )
    message = f"{number} too many: {why}."
    yield seats.too_many(case, message, f"By hand: {_delete(case)}", is_soon=seats.is_closing(case))


def check_pending_slots(case: PoolState, slots: Sequence[LiveSlot]) -> Iterator[LiveFinding]:
    """Report what pending slots wait for, after a minute."""
    pending = {slot.uid for slot in case.slot_counts.pending}
    since = case.snapshot.now - SCHEDULING_SECONDS
    waiting = [slot for slot in slots if slot.held.uid in pending and slot.held.created <= since]
    unseen = [slot for slot in waiting if not slot.is_seen]
    if unseen:
        yield _unseen(case, unseen)
    refused = [slot for slot in waiting if slot.trouble]
    if not refused:
        return
    troubles = [slot.trouble for slot in refused if slot.trouble]
    for_what = "for a node" if all(trouble.lacks_node for trouble in troubles) else "to be held"
    words = most_common_reason(troubles)
    verb = "waits" if len(refused) == 1 else "wait"
    message = f"{slots_text(len(refused))} {verb} {for_what} since {_since(refused)}: {words}"
    yield case.finding("S040", message, f"{seats.how_to_add_nodes(case)}{_of_policies(case)}")


def check_overbooked(case: PoolState, slots: Sequence[LiveSlot]) -> Iterator[LiveFinding]:
    """Report free slots on overbooked nodes."""
    free = {slot.uid for slot in case.slot_counts.free}
    for node in case.snapshot.facts.overbooked:
        there = [slot for slot in slots if slot.node == node.name and slot.held.uid in free]
        size = quantity.parse(str(there[0].size.get(node.resource, "0"))) if there else 0
        if not size:
            continue
        number = min(len(there), -((node.allocatable - node.requested) // size))
        asked, room = quantity.text(node.requested), quantity.text(node.allocatable)
        free_slots = "free slot" if len(there) == 1 else f"{len(there)} free slots"
        message = (
            f"no session can take the {free_slots} on node {node.name}: pods and slots there request "
            f"{asked} of {room} {node.resource}."
        )
        names = " ".join(slot.held.name for slot in there[:number])
        delete = case.kubectl(f"delete {RESOURCE} {names}", namespaced=False)
        yield case.finding(
            "S067", message, f"Let {slots_text(number)} be made again where there is room: {delete}"
        )


def _of_policies(case: PoolState) -> str:
    """Say which Reservations of others keep slots from their nodes."""
    names = sorted(case.snapshot.facts.unset)
    if not names:
        return ""
    some = ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and others"
    return f" No slot shares a node with a Reservation that has no allocatePolicy: {some}."


def _unseen(case: PoolState, unseen: Sequence[LiveSlot]) -> LiveFinding:
    verb = "has" if len(unseen) == 1 else "have"
    message = (
        f"{slots_text(len(unseen))} made at {_since(unseen)} or later {verb} no status: "
        f"{case.snapshot.scheduler} does not process them."
    )
    if case.snapshot.facts.unread:
        return case.finding(
            "S040", message, f"Fix what it cannot read: {next(iter(case.snapshot.facts.unread))}."
        )
    command = "get pods --all-namespaces --selector=koord-app=koord-scheduler"
    see = case.kubectl(command, namespaced=False)
    return case.finding("S040", message, f"See whether it runs, and under that name: {see}")


def _late(case: PoolState) -> Iterator[LiveFinding]:
    """Report seats that are not ready; a pending slot is not a seat."""
    if case.wanted is None:
        return
    missing = min(case.wanted, case.requested) - ready_seats(case)
    if missing <= 0:
        return
    waiting = [*(slot.created for slot in case.slot_counts.pending), *(each.since for each in case.waiting)]
    see = case.kubectl(f"describe {RESOURCE} --selector='{_selector(case)}'", namespaced=False)
    due = min(waiting) + REPAIR if waiting else None
    yield from seats.late(case, missing, "seats", due, see)


def _short(case: PoolState) -> Iterator[LiveFinding]:
    """Report slots that end before their window."""
    ends = case.demand.expires if case.demand else None
    early = [slot for slot in case.slot_counts.living if ends and slot.expires and slot.expires < ends]
    if early and case.snapshot.now >= max(case.changed, seats.opened(case)) + EDIT:
        first = instant_text(min(slot.expires or 0 for slot in early))
        verb = "ends" if len(early) == 1 else "end"
        message = (
            f"{slots_text(len(early))} {verb} at {first}, before the window at {instant_text(ends or 0)}."
        )
        log = case.kubectl(f"logs --selector={seats.pods(case)} --container=occurrence --tail=20")
        yield case.finding("S022", message, f"Read the pod's log: {log}")


def _since(slots: Sequence[LiveSlot]) -> str:
    return instant_text(min(slot.held.created for slot in slots))


def _selector(case: PoolState) -> str:
    pairs = {
        SITE: case.snapshot.site.name,
        RESERVATION: case.reservation,
        CLASS: case.pool.resource_class,
        ROLE: SLOT,
    }
    return ",".join([*(f"{key}={value}" for key, value in pairs.items()), f"!{PERSISTENT}"])


def _delete(case: PoolState) -> str:
    return case.kubectl(f"delete {RESOURCE} --selector='{_selector(case)}'", namespaced=False)


def slots_text(number: int) -> str:
    return f"{number} slot{'' if number == 1 else 's'}"

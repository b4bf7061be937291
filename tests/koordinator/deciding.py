"""One look of the fake koord-scheduler at everything: what it would write, in order. Pure.

It knows what the programs of Berth meet: slots with a template and owners, the room of placeholders that they
take over, owners and expiry. What else a Reservation can say is for the real one, which the
tests in `tests/e2e` run.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from berth import durations
from berth.core.jsonvalues import instant_text
from berth.plugins.slots.slots import AVAILABLE, FINISHED_PHASES, PENDING

from tests.koordinator.objects import (
    REQUIRED,
    SCHEDULER,
    Tree,
    allocated_to,
    allocation,
    cpu_of,
    is_available,
    is_running,
    labels_of,
    metadata,
    node_of,
    owns,
    phase_of,
    priority_of,
    room_of,
    spec_of,
    status_of,
    template_of,
    uid_of,
)

EXPIRY_LAG = 0.1  # seconds after the end of a slot until its status tells it
NO_ROOM = "Insufficient cpu"


class Seen(NamedTuple):
    node: Tree  # the only one that there is
    pods: Sequence[Tree]
    reservations: Sequence[Tree]


class SetStatus(NamedTuple):
    """Of a Reservation. `donors` are annotated first."""

    reservation: Tree
    status: Tree
    donors: tuple[Tree, ...] = ()


class Bind(NamedTuple):
    """A pod; its annotation comes before its node. `allocated` is empty without a Reservation."""

    pod: Tree
    allocated: str = ""


Action = SetStatus | Bind


class HeldSeat:
    """A Reservation that is Available, and what its owners have of it, by their uid."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.size = cpu_of(template_of(tree))
        self.owners: dict[str, int] = {}

    @property
    def free(self) -> int:
        return self.size - sum(self.owners.values())

    def admits(self, pod: Tree) -> bool:
        is_served = self.owners and spec_of(self.tree).get("allocateOnce") is not False
        meant = any(owns(one, pod) for one in spec_of(self.tree)["owners"])
        return meant and not is_served and cpu_of(spec_of(pod)) <= self.free


class NodeRoom:
    """The node in the scheduler's cache. `free` is what neither a slot nor a pod outside of slots holds."""

    def __init__(self, tree: Tree) -> None:
        self.name: str = metadata(tree)["name"]
        self.free = room_of(tree)
        self.seats: dict[str, HeldSeat] = {}  # by uid
        self.pods: dict[str, Tree] = {}  # by uid

    def open(self, slot: Tree, donors: Iterable[Tree] = ()) -> None:
        """The slot is Available here, in the room of `donors` first."""
        seat = self.seats[uid_of(slot)] = HeldSeat(slot)
        self.free -= seat.size
        for pod in donors:
            self.free += cpu_of(spec_of(pod))
            seat.owners[uid_of(pod)] = cpu_of(spec_of(pod))

    def hold(self, pod: Tree, slot: str) -> None:
        """The pod runs here, in the slot with this uid if there is one."""
        self.pods[uid_of(pod)] = pod
        if slot in self.seats:
            self.seats[slot].owners[uid_of(pod)] = cpu_of(spec_of(pod))
        else:
            self.free -= cpu_of(spec_of(pod))


def room_in(there: Seen) -> NodeRoom:
    """The scheduler's cache. What is on a node that is gone counts for nothing."""
    found = NodeRoom(there.node)
    for slot in there.reservations:
        if is_available(slot) and node_of(slot) == found.name:
            found.open(slot)
    for pod in there.pods:
        if is_running(pod) and spec_of(pod)["nodeName"] == found.name:
            found.hold(pod, allocated_to(pod))
    return found


def place_pod(node: NodeRoom, pod: Tree) -> str | None:
    """The uid of the fullest slot that admits it, empty if only the node does; None: there is no room."""
    asked = cpu_of(spec_of(pod))
    # Where more is taken than there is, no slot of the node admits anybody.
    seats = [seat for seat in node.seats.values() if seat.admits(pod) and asked <= node.free + seat.free]
    if seats:
        return uid_of(min(seats, key=lambda seat: (seat.free, metadata(seat.tree)["name"])).tree)
    return "" if asked <= node.free else None


def place_slot(node: NodeRoom, slot: Tree) -> tuple[Tree, ...] | None:
    """The pod whose room it takes over, where one may give it, or else none; None: there is no room."""
    size, is_claim = cpu_of(template_of(slot)), bool(spec_of(slot).get("preAllocation"))
    for donor in _donors(node, slot) if is_claim else ():
        if cpu_of(spec_of(donor)) <= size <= node.free + cpu_of(spec_of(donor)):
            return (donor,)
    is_required = is_claim and labels_of(slot).get(REQUIRED) == "true"
    return () if size <= node.free and not is_required else None


def _donors(node: NodeRoom, slot: Tree) -> list[Tree]:
    """Pods outside of slots that may own this one, by name."""
    owned = {uid for seat in node.seats.values() for uid in seat.owners}
    outside = [pod for uid, pod in node.pods.items() if uid not in owned and not allocated_to(pod)]
    meant = [pod for pod in outside if any(owns(one, pod) for one in spec_of(slot)["owners"])]
    return sorted(meant, key=lambda pod: str(metadata(pod)["name"]))


def decide(now: float, there: Seen) -> list[Action]:
    """All that is due: first what the controller says of slots, then each that waits, in the order of the
    queue.
    """
    actions: list[Action] = []
    current: list[Tree] = []
    for slot in there.reservations:
        status = synced(slot, there.node, there.pods, now)
        if status is not None:
            actions.append(SetStatus(slot, status))
        current.append(slot if status is None else {**slot, "status": status})
    now_there = there._replace(reservations=current)
    node = room_in(now_there)
    for tree in queue(now_there):
        actions += _schedule_slot(now, node, tree) if _is_slot(tree) else _schedule_pod(node, tree)
    return actions


def queue(there: Seen) -> list[Tree]:
    """Slots and pods that wait: the highest priority first, then the oldest."""
    slots = [
        reservation
        for reservation in there.reservations
        if _is_slot(reservation) and phase_of(reservation) == PENDING
    ]
    pods = [pod for pod in there.pods if not spec_of(pod).get("nodeName")]
    waiting = [slot for slot in slots if template_of(slot).get("schedulerName") == SCHEDULER]
    waiting += [pod for pod in pods if spec_of(pod).get("schedulerName") == SCHEDULER]
    return sorted(waiting, key=_turn)


def _turn(tree: Tree) -> tuple[int, str, str]:
    return -priority_of(tree), metadata(tree)["creationTimestamp"], metadata(tree)["name"]


def _is_slot(tree: Tree) -> bool:
    """A Reservation without a template is never tried."""
    return "template" in spec_of(tree)


def _schedule_slot(now: float, node: NodeRoom, slot: Tree) -> list[Action]:
    donors = place_slot(node, slot)
    if donors is None:
        is_told = bool(status_of(slot).get("conditions"))
        return [] if is_told else [SetStatus(slot, _status(slot, PENDING, "Scheduled", NO_ROOM, now))]
    status = _status(slot, AVAILABLE, "Ready", "", now) | {"nodeName": node.name}
    node.open({**slot, "status": status}, donors)
    return [SetStatus(slot, status, donors)]


def _schedule_pod(node: NodeRoom, pod: Tree) -> list[Action]:
    placed = place_pod(node, pod)
    if placed is None:
        return []
    node.hold({**pod, "spec": {**spec_of(pod), "nodeName": node.name}}, placed)
    return [Bind(pod, allocation(node.seats[placed].tree) if placed else "")]


def synced(slot: Tree, node: Tree, pods: Iterable[Tree], now: float) -> Tree | None:
    """The status that a slot with a node should have, where it has another."""
    if phase_of(slot) in FINISHED_PHASES or not node_of(slot):
        return None
    if is_due(slot, now - EXPIRY_LAG) or node_of(slot) != metadata(node)["name"]:
        return expired(slot, now)
    uid, place = uid_of(slot), node_of(slot)
    mine = [pod for pod in pods if allocated_to(pod) == uid and is_running(pod)]
    owners = [
        {key: metadata(pod)[key] for key in ("namespace", "name", "uid")}
        for pod in sorted(mine, key=uid_of)
        if spec_of(pod)["nodeName"] == place
    ]
    status = {key: value for key, value in status_of(slot).items() if key != "currentOwners"}
    if owners == sorted(status_of(slot).get("currentOwners") or [], key=lambda owner: str(owner["uid"])):
        return None
    if owners:
        status["currentOwners"] = owners
    if spec_of(slot).get("allocateOnce") is False:
        return status
    return _status({**slot, "status": status}, "Succeeded", "Ready", "Succeeded", now)


def is_due(slot: Tree, now: float) -> bool:
    """The earlier of `expires` and `ttl` after its creation has passed."""
    expires, created = spec_of(slot).get("expires"), metadata(slot)["creationTimestamp"]
    seconds = durations.nanoseconds(spec_of(slot).get("ttl", "24h")) / 10**9
    if not seconds:
        return False
    return now > _instant(created) + seconds or (expires is not None and now > _instant(expires))


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def expired(slot: Tree, now: float) -> Tree:
    return _status(slot, "Failed", "Ready", "Expired", now)


def _status(slot: Tree, phase: str, kind: str, reason: str, now: float) -> Tree:
    """`reason` is why the condition is false; empty: it is true."""
    said = {"status": "False", "reason": reason} if reason else {"status": "True", "reason": phase}
    condition = {"type": kind, **said, "lastTransitionTime": instant_text(int(now))}
    return {**status_of(slot), "phase": phase, "conditions": [condition]}

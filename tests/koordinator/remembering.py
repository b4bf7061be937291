"""One look of the scheduler after another, and what it remembers between them: what it has refused, which it
tries again only when certain things happen, and what its status tells late. As seen of koord-scheduler 1.8.0.
"""

from collections.abc import Collection
from random import Random

from tests.koordinator.deciding import Action, Bind, Seen, SetStatus, decide, place_pod, queue, room_in
from tests.koordinator.objects import (
    Tree,
    allocated_to,
    is_available,
    is_running,
    metadata,
    node_of,
    owners_of,
    owns,
    room_of,
    spec_of,
    uid_of,
)

UNTRIED = 305.0  # seconds until what was refused is tried again, whatever else happens
WAKING = (0.1, 0.3)  # seconds until it is tried after a pod has ended, or a node has come
TELLING = (0.02, 0.14)  # seconds until a status tells who its owners are
CRASHING = 1 / 500  # how often a slot that ends while a pod was refused kills the scheduler
RESTARTING = (1.0, 15.0)  # seconds until it works again; this was not measured: leases last for 15
BETWEEN = 0.5  # how often a pod that waits comes between when an owner leaves: 31 of 100, and up to 13 of 25


class Memory:
    """Of one scheduler."""

    def __init__(self, random: Random, between: float = BETWEEN, crashing: float = CRASHING) -> None:
        self._random, self._between, self._crashing = random, between, crashing
        self._back = float("-inf")  # until when it has crashed
        self.crashes = 0
        self._forget()

    def _forget(self) -> None:
        self._until: dict[str, float] = {}  # by uid of what was refused
        self._telling: dict[str, tuple[list[str], float]] = {}  # by uid, which owners are told and when
        self._ran: dict[str, str] = {}  # by uid of a pod, the uid of its Reservation, at the last look
        self._room: int | None = None  # of the node, at the last look; None: this is the first
        self._available: set[str] = set()
        self.due = float("inf")  # when to look again, if nothing happens before

    def look(self, now: float, there: Seen) -> list[Action]:
        """What it would write, in order."""
        if self._has_crashed(now, there):
            self.due = self._back
            return []
        waiting = {uid_of(tree) for tree in queue(there)}
        self._wake(now, there)
        self._until = {uid: until for uid, until in self._until.items() if uid in waiting}
        between = self._come_between(there)
        self._ran, self._room, self._available = _running(there), room_of(there.node), _available(there)
        away = {uid for uid, until in self._until.items() if now < until}
        away |= {uid_of(bind.pod) for bind in between}
        awake = Seen(there.node, _without(there.pods, away), _without(there.reservations, away))
        bound = [_bound(bind, there.node) for bind in between]
        found = decide(now, awake._replace(pods=[*awake.pods, *bound]))
        placed = {uid_of(one.pod) for one in found if isinstance(one, Bind)}
        placed |= {
            uid_of(one.reservation) for one in found if isinstance(one, SetStatus) and node_of(_after(one))
        }
        self._until = {uid: until for uid, until in self._until.items() if uid not in placed}
        self._until |= dict.fromkeys(waiting - away - placed, now + UNTRIED)
        telling, self._telling = self._telling, {}
        actions = [*between, *(one for one in found if not self._is_early(now, one, telling))]
        self.due = min(
            [*self._until.values(), *(due for _, due in self._telling.values())], default=float("inf")
        )
        return actions

    def _has_crashed(self, now: float, there: Seen) -> bool:
        """A slot that ends while a pod was refused may kill it: pull request 3127 of Koordinator."""
        if now < self._back:
            return True
        ended = len(self._available - _available(there))
        is_refused = any(uid_of(pod) in self._until for pod in there.pods)
        if not is_refused or all(self._random.random() >= self._crashing for _ in range(ended)):
            return False
        self._forget()
        self._back = now + self._random.uniform(*RESTARTING)
        self.crashes += 1
        return True

    def _wake(self, now: float, there: Seen) -> None:
        """A pod that has ended and a node that has come wake everything. A Reservation that is Available
        wakes those who may own it; one that goes, expires or changes its owners wakes nothing.
        """
        if self._room is None:
            return
        woken = set(self._until)
        if self._ran.keys() <= _running(there).keys() and room_of(there.node) == self._room:
            new = [
                reservation
                for reservation in there.reservations
                if uid_of(reservation) in _available(there) - self._available
            ]
            entries = [entry for reservation in new for entry in spec_of(reservation)["owners"]]
            pods = [pod for pod in there.pods if uid_of(pod) in self._until]
            woken = {uid_of(pod) for pod in pods if any(owns(entry, pod) for entry in entries)}
        soon = now + self._random.uniform(*WAKING)
        self._until |= {uid: min(self._until[uid], soon) for uid in woken}

    def _come_between(self, there: Seen) -> list[Bind]:
        """When the owner of a slot leaves while another pod waits for its node, that pod may get the room
        of the slot, which goes on to be Available. An owner that waits and need not have a slot may too.
        """
        slots = {self._ran[uid] for uid in self._ran.keys() - _running(there).keys()}
        binds: list[Bind] = []
        for slot in there.reservations:
            if not is_available(slot) or uid_of(slot) not in slots or self._random.random() >= self._between:
                continue
            taken = [bind.pod for bind in binds]
            pods = [
                *_without(there.pods, set(map(uid_of, taken))),
                *(_bound(one, there.node) for one in binds),
            ]
            without = Seen(there.node, pods, _without(there.reservations, {uid_of(slot)}))
            waiting = queue(without._replace(reservations=()))
            node = room_in(without)
            binds += [Bind(pod) for pod in waiting if place_pod(node, pod) == ""][:1]
        return binds

    def _is_early(self, now: float, action: Action, telling: dict[str, tuple[list[str], float]]) -> bool:
        """Whether it tells of owners that have just come or left."""
        if not isinstance(action, SetStatus) or not is_available(action.reservation):
            return False
        uid, owners = uid_of(action.reservation), owners_of(_after(action))
        if owners == owners_of(action.reservation):
            return False
        known, due = telling.get(uid, ([], -1.0))
        if known != owners or due < 0:
            due = now + self._random.uniform(*TELLING)
        if now < due:
            self._telling[uid] = (owners, due)
        return now < due


def _after(action: SetStatus) -> Tree:
    return {**action.reservation, "status": action.status}


def _bound(action: Bind, node: Tree) -> Tree:
    return {**action.pod, "spec": {**spec_of(action.pod), "nodeName": metadata(node)["name"]}}


def _without(trees: Collection[Tree], uids: Collection[str]) -> list[Tree]:
    return [tree for tree in trees if uid_of(tree) not in uids]


def _running(there: Seen) -> dict[str, str]:
    """By uid of a pod that takes room on a node, the uid of its Reservation."""
    return {uid_of(pod): allocated_to(pod) for pod in there.pods if is_running(pod)}


def _available(there: Seen) -> set[str]:
    return {uid_of(reservation) for reservation in there.reservations if is_available(reservation)}

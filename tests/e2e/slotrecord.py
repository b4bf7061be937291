"""What every pool of slots had, look by look."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.e2e.direct import Direct, Mirror, Object
from tests.e2e.koordscheduler import RESERVATIONS as SLOTS
from tests.e2e.looking import Looking
from tests.e2e.seats import CLASS, INTERVAL, RESERVATION, Seats, is_placed
from tests.koordinator.objects import is_available, phase_of, uid_of

ALIVE = ("Pending", "Available")


class Look(NamedTuple):
    """When (seconds since the epoch); slots that are Pending, free, handed over by placeholders, in use by
    sessions, and over; placeholders that hold room beside slots, and those that are there at all; replicas
    asked for; sessions on a node, and those of them that own a slot; Jobs that are active.
    """

    at: float
    pending: int
    free: int
    handed: int
    used: int
    dead: int
    beside: int
    placeholders: int
    replicas: int
    sessions: int
    owning: int
    jobs: int

    @property
    def slots(self) -> int:
        return self.pending + self.free + self.handed + self.used + self.dead

    @property
    def seats(self) -> Seats:
        """As the judges of the fault tests want it."""
        held = self.free + self.handed + self.beside
        left = self.slots + self.placeholders
        return Seats(self.at, self.slots + self.replicas, held, left, self.sessions, self.jobs)


class SlotRecord(Looking):
    """Looks at all pools of a site twice a second, until it is stopped."""

    def __init__(
        self, direct: Direct, site: str, namespace: str, sessions: str, reservations: Iterable[str]
    ) -> None:
        """Of these reservations there is a look from the beginning on."""
        self._namespace = namespace
        ours = f"?labelSelector=berth.dev/site={site}"
        self._slots = Mirror(direct, SLOTS + ours, self._note_handovers)
        self._pods = Mirror(direct, f"/api/v1/namespaces/{namespace}/pods?labelSelector={CLASS}")
        self._pools = Mirror(direct, f"/apis/apps/v1/namespaces/{namespace}/deployments{ours}")
        self._jobs = Mirror(direct, f"/apis/batch/v1/namespaces/{namespace}/jobs?labelSelector={RESERVATION}")
        self._sessions = Mirror(direct, f"/api/v1/namespaces/{sessions}/pods?labelSelector=session")
        mirrors = (self._slots, self._pods, self._pools, self._jobs, self._sessions)
        super().__init__(mirrors, INTERVAL)
        self.looks: dict[str, list[Look]] = {name: [] for name in reservations}
        self.ends: dict[str, list[tuple[str | None, str | None]]] = {}  # ttl and expires of slots, in turn
        self.made: dict[str, dict[str, str]] = {}  # by reservation and slot, its creationTimestamp
        self.handed: dict[str, set[str]] = {}  # by reservation, uids of placeholders that slots took over

    def slots(self, reservation: str) -> list[Object]:
        """As they are now."""
        return [object_ for object_ in self._slots.objects() if _label(object_, RESERVATION) == reservation]

    def _look(self, at: float) -> None:
        slots, pods = self._slots.objects(), self._pods.objects()
        sessions = [object_ for object_ in self._sessions.objects() if is_placed(object_)]
        for slot in slots:
            self._note(slot)
        for name, looks in self.looks.items():
            ours = [session for session in sessions if session["metadata"]["labels"].get("course") == name]
            looks.append(self._count(at, name, _of(slots, name), _of(pods, name), ours))

    def _note_handovers(self) -> None:
        """At every change: one may be over before the next look."""
        for slot in self._slots.objects():
            if self._kind(slot) == "handed":
                taken = self.handed.setdefault(_label(slot, RESERVATION), set())
                taken.update(owner["uid"] for owner in _owners(slot))

    def _note(self, slot: Object) -> None:
        name, spec = _label(slot, RESERVATION), slot["spec"]
        said = (spec.get("ttl"), spec.get("expires"))
        if said not in self.ends.setdefault(name, []):
            self.ends[name].append(said)
        meta = slot["metadata"]
        self.made.setdefault(name, {})[meta["name"]] = meta["creationTimestamp"]

    def _count(
        self, at: float, name: str, slots: list[Object], pods: list[Object], sessions: list[Object]
    ) -> Look:
        kinds = Counter(self._kind(slot) for slot in slots)
        owners = {owner["uid"] for slot in slots if is_available(slot) for owner in _owners(slot)}
        beside = sum(is_placed(pod) and uid_of(pod) not in owners for pod in pods)
        replicas = sum(one["spec"].get("replicas", 0) for one in _of(self._pools.objects(), name))
        jobs = sum(one["status"].get("active", 0) > 0 for one in _of(self._jobs.objects(), name))
        owning = sum(uid_of(session) in owners for session in sessions)
        return Look(
            at,
            kinds["pending"],
            kinds["free"],
            kinds["handed"],
            kinds["used"],
            kinds["dead"],
            beside,
            placeholders=len(pods),
            replicas=replicas,
            sessions=len(sessions),
            owning=owning,
            jobs=jobs,
        )

    def _kind(self, slot: Object) -> str:
        owners = [owner["namespace"] for owner in _owners(slot)]
        if phase_of(slot) not in ALIVE:
            return "dead"
        if not is_available(slot):
            return "pending"
        if any(owner != self._namespace for owner in owners):
            return "used"
        return "handed" if owners else "free"

    def histories(self, zero: float) -> str:
        """A line for each pool, with its changes: second:pending/free/handed/used/dead, then placeholders
        beside slots (all of them/replicas), sessions (those that own a slot), and Jobs.
        """
        return "".join(f"{name}: {_history(looks, zero)}\n" for name, looks in sorted(self.looks.items()))


def _history(looks: Sequence[Look], zero: float) -> str:
    told: list[str] = []
    for look, before in zip(looks, [None, *looks], strict=False):
        if before is None or look[1:] != before[1:]:
            slots = "/".join(str(number) for number in look[1:6])
            beside = f"{look.beside}({look.placeholders}/{look.replicas})"
            told.append(f"{look.at - zero:.0f}:{slots}+{beside}+{look.sessions}({look.owning}),{look.jobs}")
    return " ".join(told)


def _owners(slot: Object) -> list[Object]:
    objects: list[Object] = (slot.get("status") or {}).get("currentOwners") or []
    return objects


def _of(objects: Sequence[Object], name: str) -> list[Object]:
    return [object_ for object_ in objects if _label(object_, RESERVATION) == name]


def _label(found: Object, key: str) -> str:
    return str((found["metadata"].get("labels") or {}).get(key, ""))

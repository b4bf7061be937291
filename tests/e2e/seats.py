"""What every pool had, look by look, and what that says about the seats that were promised."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tests.e2e.direct import Direct, Mirror, Object
from tests.e2e.looking import Looking

RESERVATION, CLASS = "berth.dev/reservation", "berth.dev/resource-class"
INTERVAL = 0.5  # seconds between looks


class Seats(NamedTuple):
    """One look at a pool: when (seconds since the epoch), replicas asked for, placeholders that hold room on
    a node, those that are there at all, active sessions of its course, and how many of its Jobs are active.
    """

    at: float
    wanted: int
    placed: int
    placeholders: int
    sessions: int
    jobs: int

    @property
    def held(self) -> int:
        return self.placed + self.sessions

    @property
    def is_clean(self) -> bool:
        return self.wanted == self.placeholders == self.jobs == 0


class Promise(NamedTuple):
    """Seats from `first` until `last`, in seconds since the epoch."""

    first: float
    last: float
    seats: int


class SeatRecord(Looking):
    """Looks at all pools of some namespaces until it is stopped. A deleted Deployment wants nothing."""

    def __init__(
        self, direct: Direct, namespaces: Iterable[str], sessions: Callable[[], Counter[str]] = Counter
    ) -> None:
        """`sessions` tells how many are active now, by pool."""
        self._sessions = sessions
        self.looks: dict[str, list[Seats]] = {}  # by pool, which is the name of its Deployment
        self._reservations: dict[str, str] = {}  # by pool
        self._mirrors = {
            kind: [Mirror(direct, root.format(name)) for name in namespaces] for kind, root in _LISTS.items()
        }
        super().__init__([mirror for several in self._mirrors.values() for mirror in several], INTERVAL)

    def histories(self, zero: float) -> str:
        """A line for each pool, with its changes: second:replicas/placed/placeholders+sessions,Jobs."""
        return "".join(f"{name}: {_history(looks, zero)}\n" for name, looks in sorted(self.looks.items()))

    def _look(self, at: float) -> None:
        placed, there, wanted, jobs = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        for pod in self._objects("pods"):
            if CLASS in pod["metadata"]["labels"]:
                there[_pool(pod)] += 1
                placed[_pool(pod)] += is_placed(pod)
        for job in self._objects("jobs"):
            jobs[_label(job, RESERVATION)] += job["status"].get("active", 0) > 0
        for pool in self._objects("deployments"):
            wanted[_pool(pool)] += pool["spec"].get("replicas", 0)
            self.looks.setdefault(_pool(pool), [])
            self._reservations[_pool(pool)] = _label(pool, RESERVATION)
        sessions = self._sessions()
        for name, looks in self.looks.items():
            active = jobs[self._reservations[name]]
            looks.append(Seats(at, wanted[name], placed[name], there[name], sessions[name], active))

    def _objects(self, kind: str) -> list[Object]:
        return [object_ for mirror in self._mirrors[kind] for object_ in mirror.objects()]


def _history(looks: Sequence[Seats], zero: float) -> str:
    told: list[str] = []
    for look, before in zip(looks, [None, *looks], strict=False):
        if before is None or look[1:] != before[1:]:
            state = f"{look.wanted}/{look.placed}/{look.placeholders}+{look.sessions},{look.jobs}"
            told.append(f"{look.at - zero:.0f}:{state}")
    return " ".join(told)


_LISTS = {
    "pods": "/api/v1/namespaces/{}/pods?labelSelector=berth.dev/reservation",
    "deployments": "/apis/apps/v1/namespaces/{}/deployments?labelSelector=berth.dev/reservation",
    "jobs": "/apis/batch/v1/namespaces/{}/jobs?labelSelector=berth.dev/reservation",
}


def _label(found: Object, key: str) -> str:
    value: str = found["metadata"]["labels"][key]
    return value


def _pool(found: Object) -> str:
    """Of a Deployment, or of one of its pods."""
    found = found["spec"].get("template", found)
    return f"{_label(found, RESERVATION)}-{_label(found, CLASS)}"


def is_placed(pod: Object) -> bool:
    """It holds its room. Not whether it is Ready: after an outage of the API server the node controller marks
    pods unready for a while, which moves nothing.
    """
    alive = "deletionTimestamp" not in pod["metadata"]
    return alive and "nodeName" in pod["spec"] and pod["status"].get("phase") in ("Pending", "Running")


def longest_shortage(looks: Sequence[Seats], promises: Iterable[Promise]) -> float:
    """For how many seconds at most, without a break, fewer seats were held than promised."""
    longest, since = 0.0, None
    promised = sorted(promises)
    for look in looks:
        due = max(
            (promise.seats for promise in promised if promise.first <= look.at < promise.last), default=0
        )
        if look.held >= due:
            longest = max(longest, look.at - since) if since is not None else longest
            since = None
        elif since is None:
            since = look.at
    if since is not None:
        end = max(promise.last for promise in promised)
        longest = max(longest, min(end, looks[-1].at) - since)
    return longest


def clean_after(looks: Sequence[Seats], end: float) -> float | None:
    """How many seconds after `end` nothing was left, for good; None: something is left to this day."""
    left = [look.at for look in looks if not look.is_clean]
    if not looks or not looks[-1].is_clean:
        return None
    return max(0.0, (max(left) if left else end) - end)


def surplus(looks: Sequence[Seats], first: float, last: float) -> int:
    """The most that was asked for between two instants."""
    return max((look.wanted for look in looks if first <= look.at < last), default=0)

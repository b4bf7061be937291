"""The reservations of the fault tests: one for each fault, with what is promised and how soon it must hold.

Minutes count from the first opening. The sweep runs at minutes 3, 8 and 13: its period is the real one, only
its phase is chosen. Windows are five minutes and shorter, so each bound here is tighter than the general one.
"""

import datetime
from collections.abc import Sequence
from typing import NamedTuple

from tests.e2e import faulty_api
from tests.e2e.project import Document, document
from tests.e2e.windows import MINUTE, entry, reservation

NAMESPACE, SITE = "berth-faults", "faults"
OTHER_NAMESPACE, OTHER_SITE = "berth-faults-none", "faults-none"
SESSIONS, DENIED, REVOKED = "faults-sessions", "faults-denied", "faults-revoked"
SWEEPS = (3, 8, 13)
COUNT = 4
PLENTY = 10_000  # sessions
START = "-from-the-start"
UNREADABLE, UNREADABLE_LATER = "unreadable", "unreadable-later"
LONG_ERRORS = "errors-for-long"  # longer than the ten minutes for which the last counts stand
BLIND = 2.6  # the minute from which on, or later, when they have been counted

STARTED = 60  # seconds until all windows of a minute have opened, on one small machine
FIRST_LOOK = 10  # seconds for which a scaler waits for sessions that it cannot read
SWEPT = 60  # seconds that a sweep takes on a busy machine, its start counted
EDITED = 60  # seconds until an edit acts
SERVED = 55  # seconds after `end` until a Job that runs has closed and ended; the sweep would come after 60


class Case(NamedTuple):
    fault: int  # its number in docs/reliability.md
    name: str
    opens: float = 2
    ends: float = 7
    behaviour: str = "none"
    resource_class: str = "small"
    sessions: int = 0  # of its course, from half a minute after `opens` on
    short: float = STARTED  # seconds at most for which seats may be missing
    clean: float = SERVED  # seconds after `ends` until nothing is left
    seats: int = COUNT

    @property
    def reservation(self) -> str:
        """One reservation has all pools whose sessions cannot be read, so that one fault meets another."""
        if self.fault != 6 or self.name == LONG_ERRORS:
            return self.name
        return UNREADABLE if self.name.endswith(START) else UNREADABLE_LATER

    @property
    def pool(self) -> str:
        """The name of its Deployment."""
        return f"{self.reservation}-{self.resource_class}"


def swept_after(minute: float) -> float:
    """Seconds from then until the next sweep has done its work."""
    return min(at - minute for at in SWEEPS if at >= minute) * MINUTE + SWEPT


UNSERVED = swept_after(7)

CONTROLLERS_AWAY = (-0.3, 1.4)  # the controller manager, minutes
SERVER_AWAY = (9.5, 11.5)
SLOW_ADMISSION = {
    "slow-leases": ("leases", "coordination.k8s.io"),
    "slow-notes": ("configmaps", ""),
}
RETURN = 60  # seconds that clients of the API server may wait before they try again, kubelet and watches too

CASES: Sequence[Case] = (
    Case(1, "missed-to-the-middle", opens=0, ends=3, short=1.4 * MINUTE + 60, clean=60),
    Case(1, "missed-over-open", opens=1, ends=4, short=0.4 * MINUTE + 60, clean=60),
    Case(2, "doubled", opens=3),
    Case(3, "deleted-five-times", clean=UNSERVED),
    Case(3, "evicted", behaviour="maintain", sessions=1),
    Case(3, "out-of-memory"),
    Case(3, "node-lost", behaviour="maintain", sessions=1),
    Case(3, "sidecar-crashes", behaviour="maintain", short=swept_after(2), clean=UNSERVED),
    Case(3, "sidecar-cannot-start", behaviour="maintain", short=swept_after(2), clean=UNSERVED),
    Case(3, "sidecar-stops", behaviour="maintain", sessions=1),
    Case(4, "job-deleted"),
    Case(4, "job-failed"),
    Case(4, "job-complete-too-early", short=swept_after(2), clean=UNSERVED),
    Case(4, "cronjob-deleted", clean=UNSERVED),
    Case(5, "server-away-over-open", opens=10, ends=14, short=1.5 * MINUTE + RETURN + 40, clean=60),
    Case(
        5,
        "server-away-in-the-middle",
        opens=8,
        ends=13,
        behaviour="maintain",
        sessions=1,
        short=RETURN,
        clean=60,
    ),
    Case(5, "server-away-over-end", opens=8, ends=10, clean=1.5 * MINUTE + RETURN + 60),
    *(
        Case(6, name, behaviour="maintain", resource_class=name, sessions=2, short=short)
        for what in ("denied", "errors", "silence", "nonsense", "crowd")
        for name, short in ((f"{what}{START}", STARTED + FIRST_LOOK), (f"{what}-later", STARTED))
    ),
    Case(6, LONG_ERRORS, ends=14, behaviour="maintain", resource_class=LONG_ERRORS, sessions=2),
    # Its node is lost later, and it may run on no other.
    Case(7, "token-rotated", behaviour="maintain", sessions=1, clean=UNSERVED),
    Case(8, "scaled-by-hand", behaviour="maintain", sessions=1),
    Case(8, "deployment-deleted", behaviour="maintain"),
    Case(9, "withdrawn", opens=3, ends=4.9, clean=60),
    Case(9, "ends-earlier", opens=3, ends=5, clean=60),
    Case(9, "ends-later", opens=3, ends=7),
    Case(9, "other-day", opens=3, ends=4.9, clean=EDITED + SERVED),
    Case(9, "another-day-too", opens=3, ends=6),
    Case(9, "raised", opens=3, ends=6),
    Case(9, "lowered", opens=3, ends=6),
    Case(9, "suspended", opens=3, ends=4.9, clean=EDITED + SERVED),
    Case(9, "new-image", opens=3, ends=6),
    Case(9, "recognized-otherwise", behaviour="maintain", sessions=1),
    Case(10, "clock-ahead", opens=3, behaviour="maintain"),
    Case(10, "clock-behind", opens=3, behaviour="maintain"),
    Case(11, "full", opens=3, ends=4, short=45),
    Case(14, "timetable-broken", behaviour="maintain", sessions=1),
    Case(14, "code-broken"),
    *(Case(16, name, behaviour="maintain", sessions=1) for name in SLOW_ADMISSION),
)
# Those that the general judgement does not fit.
FILLER = Case(11, "filler", opens=2, ends=4, resource_class="second", seats=12)
UNPULLABLE = Case(12, "no-image", resource_class="real")
AGAIN = Case(15, "applied-again", behaviour="maintain", sessions=1)
DROPPED = Case(15, "dropped", opens=3, ends=60)

# Classes whose sessions come from the faulty API, and those whose sessions may not be read.
FAULTY = tuple(one.name for one in CASES if one.fault == 6 and not one.name.startswith("denied"))
FORBIDDEN = {"denied-from-the-start": DENIED, "denied-later": REVOKED}


ENDED_BEFORE = {"ends-earlier": 7, "ends-later": 6}  # what was declared at first


def case(name: str) -> Case:
    (found,) = [one for one in (*CASES, FILLER, UNPULLABLE, AGAIN, DROPPED) if one.name == name]
    return found


def declared(one: Case, opens: int, **changed: object) -> Document:
    """`opens` is minute 0. Whatever is `changed` is a field of the case."""
    now = one._replace(**changed)  # type: ignore[arg-type]
    first = round(opens + now.opens * MINUTE)
    # Those whose window a fault ends would have lasted to minute 7.
    length = round((now.ends if now.ends == int(now.ends) else 7) - now.opens)
    spec: dict[str, object] = {"behaviour": now.behaviour}
    if now.resource_class == "small":
        spec["sessions"] = {"matchLabels": {"course": now.name}}
    beside = [other for other in CASES if other.reservation == now.reservation and other.name != now.name]
    seats = {each.resource_class: each.seats for each in (now, *beside)}
    return reservation(now.reservation, first, [entry(first, 0, length)], lead=0, seats=seats, **spec)


def later_date(date: str, days: int) -> str:
    return f"{datetime.date.fromisoformat(date) + datetime.timedelta(days=days)}"


def site(name: str, namespace: str, engine: str) -> Document:
    return document("Site", name, {"namespace": namespace, "engine": engine, "clusters": [{"name": "real"}]})


def classes() -> list[Document]:
    pretending = {
        "nodeSelector": {"type": "kwok"},
        "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}],
    }
    pods = {"small": SESSIONS, **FORBIDDEN}
    made = [_class(name, _pods(namespace), pretending) for name, namespace in pods.items()]
    made += [_class(name, _custom(name), pretending) for name in FAULTY]
    real = {"nodeSelector": {"kubernetes.io/hostname": "real-node"}}
    second = {
        "nodeSelector": {"kubernetes.io/hostname": "second-node"},
        "tolerations": [{"key": "e2e.berth.dev/node", "operator": "Exists"}],
    }
    return [*made, _class("real", None, real), _class("second", None, second)]


def _class(name: str, sessions: Document | None, placement: Document) -> Document:
    spec: Document = {"requests": {"cpu": "10m", "memory": "8Mi"}, **placement}
    return document("ResourceClass", name, {**spec, **({"sessions": sessions} if sessions else {})})


def _pods(namespace: str) -> Document:
    return {"source": "pods", "namespaces": [namespace], "selector": {"matchLabels": {"session": "yes"}}}


def _custom(resource: str) -> Document:
    named = {"group": faulty_api.GROUP, "version": faulty_api.VERSION, "resource": resource}
    return {"source": "custom", **named, "namespaces": [SESSIONS]}

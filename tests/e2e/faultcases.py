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

STARTED = 25  # seconds until seats are ready: many windows open at one minute on one small machine
SWEPT = 35  # seconds that a sweep takes, its start counted
SERVED = 20  # seconds after `end` until a Job that runs has closed and ended


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


def swept_after(minute: float) -> float:
    """Seconds from then until the next sweep has done its work."""
    return min(at - minute for at in SWEEPS if at >= minute) * MINUTE + SWEPT


UNSERVED = swept_after(7)

CONTROLLERS_AWAY = (-0.3, 1.4)  # the controller manager, minutes
SERVER_AWAY = (8.4, 10.4)
RETURN = 60  # seconds that clients of the API server may wait before they try again, kubelet and watches too

CASES: Sequence[Case] = (
    Case(1, "missed-to-the-middle", opens=0, ends=3, short=1.4 * MINUTE + 60, clean=60),
    Case(1, "missed-over-open", opens=1, ends=4, short=0.4 * MINUTE + 60, clean=60),
    Case(2, "doubled"),
    Case(3, "deleted-five-times", clean=UNSERVED),
    Case(3, "evicted", behaviour="maintain", sessions=1),
    Case(3, "out-of-memory"),
    Case(3, "node-lost", behaviour="maintain", sessions=1),
    Case(3, "sidecar-crashes", behaviour="maintain", sessions=1, short=40),
    Case(3, "sidecar-cannot-start", behaviour="maintain", short=swept_after(2), clean=UNSERVED),
    Case(3, "sidecar-hangs", behaviour="maintain", short=40),
    Case(3, "sidecar-stops", behaviour="maintain", sessions=1),
    Case(4, "job-deleted"),
    Case(4, "job-failed"),
    Case(4, "job-complete-too-early", short=swept_after(2), clean=UNSERVED),
    Case(4, "cronjob-deleted", clean=UNSERVED),
    Case(5, "server-away-over-open", opens=9, ends=12, short=1.4 * MINUTE + RETURN + 60, clean=60),
    Case(5, "server-away-in-the-middle", opens=7, ends=12, behaviour="maintain", sessions=1, short=RETURN),
    Case(5, "server-away-over-end", opens=7, ends=9, clean=1.4 * MINUTE + RETURN + 60),
    Case(6, "denied-from-the-start", behaviour="maintain", resource_class="denied"),
    Case(6, "denied-later", behaviour="maintain", resource_class="revoked"),
    Case(6, "errors-from-the-start", behaviour="maintain", resource_class="errors-from-the-start"),
    Case(6, "errors-later", behaviour="maintain", resource_class="errors-later", sessions=2),
    Case(6, "silence-from-the-start", behaviour="maintain", resource_class="silence-from-the-start"),
    Case(6, "silence-later", behaviour="maintain", resource_class="silence-later", sessions=2),
    Case(6, "nonsense-from-the-start", behaviour="maintain", resource_class="nonsense-from-the-start"),
    Case(6, "nonsense-later", behaviour="maintain", resource_class="nonsense-later", sessions=2),
    Case(6, "crowd-from-the-start", behaviour="maintain", resource_class="crowd-from-the-start"),
    Case(6, "crowd-later", behaviour="maintain", resource_class="crowd-later"),
    Case(7, "token-rotated", behaviour="maintain", sessions=1),
    Case(8, "scaled-by-hand", behaviour="maintain", sessions=1),
    Case(8, "deployment-deleted", behaviour="maintain", short=60),
    Case(9, "withdrawn", ends=3.7),
    Case(9, "ends-earlier", ends=4, clean=60),
    Case(9, "ends-later", ends=6),
    Case(9, "other-day", ends=3.8, clean=60),
    Case(9, "another-day-too", ends=6),
    Case(9, "raised", ends=6),
    Case(9, "lowered", ends=6),
    Case(9, "suspended", ends=3.8, clean=60),
    Case(9, "new-image", ends=6, short=30),
    Case(10, "clock-ahead", behaviour="maintain", short=STARTED + 35),
    Case(10, "clock-behind", behaviour="maintain", short=STARTED + 35, clean=SERVED + 35),
    Case(11, "full", opens=3, ends=4),
    Case(14, "timetable-broken", behaviour="maintain", sessions=1),
    Case(14, "code-broken"),
)
# Those that the general judgement does not fit.
FILLER = Case(11, "filler", opens=2, ends=4, resource_class="second", seats=12)
UNPULLABLE = Case(12, "no-image", resource_class="real")
AGAIN = Case(15, "applied-again", behaviour="maintain", sessions=1)
DROPPED = Case(15, "dropped", ends=60)

FAULTY = tuple(one.resource_class for one in CASES if one.resource_class == one.name)


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
    seats = {now.resource_class: now.seats}
    return reservation(now.name, first, [entry(first, 0, length)], lead=0, seats=seats, **spec)


def later_date(date: str, days: int) -> str:
    return f"{datetime.date.fromisoformat(date) + datetime.timedelta(days=days)}"


def site(name: str, namespace: str, engine: str) -> Document:
    return document("Site", name, {"namespace": namespace, "engine": engine, "clusters": [{"name": "real"}]})


def classes() -> list[Document]:
    pretending = {
        "nodeSelector": {"type": "kwok"},
        "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}],
    }
    pods = {"small": SESSIONS, "denied": DENIED, "revoked": REVOKED}
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

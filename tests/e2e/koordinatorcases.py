"""The reservations of the story of slots: windows of every behaviour, and one for each fault.

Minutes count from the first opening. Most windows are two minutes; the sweep runs every minute, so what waits
for it waits for a minute here and for five elsewhere.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tests.e2e.koordscheduler import NAME as SCHEDULER
from tests.e2e.project import Document, document
from tests.e2e.windows import MINUTE, entry, reservation

NAMESPACE, SITE, SESSIONS = "berth-slots", "slots", "slots-sessions"
ENDS = 2
COUNT = 4
CROWD = 200
STABLE = 10  # seconds that the scaler waits before it believes that somebody left
STARTED = 45  # seconds until all windows of a minute have opened, beside other stories
SWEPT = 105  # seconds until the next sweep has done its work, a minute and its start
EDITED = 60  # seconds until an edit acts
CLOSED = 40  # seconds until whoever serves a window has closed it

UNSERVED = 30 + SWEPT  # the sweep leaves half a minute to those who serve
KEY = "e2e.berth.dev/slots"  # label and taint of the nodes for slots
ROOM = {"pods": "400", "cpu": "400", "memory": "400Gi"}


class Case(NamedTuple):
    name: str
    behaviour: str = "maintain"
    seats: int = COUNT
    opens: float = 0
    ends: float = ENDS
    where: str = "wide"  # on which nodes
    placeholders: bool = False  # come first
    short: float = STARTED  # seconds at most for which seats may be missing
    clean: float = CLOSED  # seconds after the end until nothing is left
    row: str = ""  # of the faults in docs/reliability.md

    @property
    def pool(self) -> str:
        return f"{self.name}-{self.where}"


CASES: Sequence[Case] = (
    Case("maintained"),
    Case("reduced", "reduce", seats=8),
    Case("topped-up", "none"),
    Case("ran-before"),
    Case("nowhere", where="nowhere"),
    Case("crowd", "none", seats=CROWD, opens=1, short=55),
    Case("handed-over", where="narrow", placeholders=True),
    Case("pod-deleted", row="pod deleted"),
    Case("scaler-cannot-start", short=SWEPT, clean=UNSERVED, row="sidecar cannot start"),
    Case("job-deleted", row="Job deleted"),
    Case("cronjob-deleted", clean=UNSERVED, row="CronJob deleted with its Job"),
    Case("never-fired", short=SWEPT, clean=UNSERVED, row="no Job at all"),
    Case("slot-deleted", row="slot deleted by hand"),
    Case("node-deleted", where="lost", row="node of slots deleted"),
    Case("raised", short=EDITED, row="count raised"),
    Case("ends-later", ends=ENDS + 1, row="end later"),
    Case("withdrawn", clean=UNSERVED, row="reservation deleted from git"),
)
RAISED = 6
LAB = "lab"  # the one that stands


def case(name: str) -> Case:
    (found,) = [one for one in CASES if one.name == name]
    return found


def declared(one: Case, opens: int, **changed: object) -> Document:
    """`opens` is minute 0. Whatever is `changed` is a field of the case."""
    now = one._replace(**changed)  # type: ignore[arg-type]
    first = round(opens + now.opens * MINUTE)
    backend = {"type": "koordinator", **({"withPlaceholders": True} if one.placeholders else {})}
    return reservation(
        now.name,
        first,
        [entry(first, 0, round(now.ends - now.opens))],
        lead=0,
        seats={now.where: now.seats},
        behaviour=now.behaviour,
        sessions={"matchLabels": {"course": now.name}},
        backend=backend,
    )


def standing() -> Document:
    owners = [{"object": {"namespace": SESSIONS}, "labelSelector": {"matchLabels": {"course": LAB}}}]
    backend = {"type": "koordinator", "standing": True, "owners": owners}
    provisioning = {"placeholderCount": 2}
    spec = {"resourceClass": "wide", "provisioning": provisioning, "backend": backend}
    return document("CapacityReservation", LAB, spec)


def documents(
    opens: int, name: str = SITE, namespace: str = NAMESPACE, cases: Sequence[Case] = CASES
) -> list[Document]:
    """A site of this name with all that it declares at first."""
    clusters = [{"name": "real", "koordinator": {"schedulerName": SCHEDULER}}]
    spec = {
        "namespace": namespace,
        "engine": "argocd",
        "scaler": {"stabilizationSeconds": STABLE},
        "clusters": clusters,
    }
    site = document("Site", name, spec)
    classes = [_class(where) for where in sorted({one.where for one in cases})]
    at_first = [one._replace(ends=ENDS) if one.name == "ends-later" else one for one in cases]
    stands = [standing()] if cases is CASES else []
    return [site, *classes, *(declared(one, opens) for one in at_first), *stands]


def _class(where: str) -> Document:
    spec = {
        "requests": {"cpu": "1", "memory": "64Mi"},
        "schedulerName": SCHEDULER,
        **placement(where),
        "sessions": {
            "source": "pods",
            "namespaces": [SESSIONS],
            "selector": {"matchLabels": {"session": "yes"}},
        },
    }
    return document("ResourceClass", where, spec)


def placement(where: str) -> Document:
    tolerations = [{"key": key, "operator": "Exists"} for key in (KEY, "kwok.x-k8s.io/node")]
    return {"nodeSelector": {KEY: where}, "tolerations": tolerations}

"""Windows on Karpenter's nodes, and a record of how many nodes there were.

`courses` holds seats for a course; `free` is a pool without windows, for comparison; `lab` is whole nodes;
`slow` has nodes that take a minute to start. In the first two a stranger comes, needs a node of its own and
leaves it empty while the window is open. `short` is limited to one node, which git does not know, and a
course that needs two is rehearsed.
"""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from berth.machines.nodelabels import ARCH, INSTANCE_TYPE, ON_DEMAND

from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct, Mirror, Object
from tests.e2e.gitops import Engine
from tests.e2e.images import PAUSE
from tests.e2e.karpenter import (
    CLAIMS,
    FOR,
    MACHINE,
    NODE_CLASS,
    POOLS,
    SLOW,
    START,
    node_pool,
    one_of,
    placement,
)
from tests.e2e.kwok import LABEL
from tests.e2e.looking import Looking
from tests.e2e.project import Document, berth, document
from tests.e2e.seats import CLASS, is_placed
from tests.e2e.windows import MINUTE, entry, rehearsed, reservation, sleep_until, wait_until

SITE, NAMESPACE, SESSIONS = "karpenter", "berth-karpenter", "karpenter-sessions"
SEATS, ACTIVE, NODES = 6, 4, 2
BOUGHT = SEATS // 3 + 1  # three seats on a machine, and one machine for the stranger who fills it
PEOPLE = 9  # who come to `slow`, where there is a seat for each
LENGTH, LAB = 3, 2  # minutes of the windows
LEAD = 2  # minutes of the one that is rehearsed
LATE = 90  # seconds after opening within which nodes stand, also where many windows open in one minute
EMPTIED = 15  # seconds after the sessions came, when the strangers go
# Seconds after which a node that nobody needs has gone: looked at, validated for 15 s, maybe twice, drained.
GONE = 105
EAGER: Document = {
    "consolidationPolicy": "WhenEmptyOrUnderutilized",
    "consolidateAfter": "5s",
    "budgets": [{"nodes": "100%"}],
}
_PODS = f"/api/v1/namespaces/{SESSIONS}/pods"


class Look(NamedTuple):
    """Nodes and NodeClaims of each pool, by what its nodes are for. `placeholders` and `placed`, which have a
    node, are those of `courses`, `slow` and `slow_placed` the others; `sessions` have a node.
    """

    at: float
    nodes: Counter[str]
    claims: Counter[str]
    asked: int  # replicas of the static pool
    placeholders: int
    placed: int
    sessions: int
    slow: int
    slow_placed: int


class RehearsalTold(NamedTuple):
    """Its record, and the messages of Events about how it went, by reason."""

    record: dict[str, Any]
    events: dict[str, str]


class Told(NamedTuple):
    """Instants in seconds since the epoch."""

    opens: int
    came: float  # the sessions
    emptied: float
    looks: list[Look]
    bought: dict[str, float]  # NodeClaims of `courses`, by name: when each was first seen
    sized: int  # seconds after which all seats of `slow` are ready, as `berth size` says
    rehearsal: RehearsalTold

    def between(self, first: float, last: float) -> list[Look]:
        return [look for look in self.looks if first <= look.at < last]


def documents(opens: int) -> list[Document]:
    gates = {"version": "1.15", "gates": {"StaticCapacity": True}}
    cluster = {"name": "real", "autoscaler": "karpenter", "karpenter": gates}
    site = {"namespace": NAMESPACE, "engine": "argocd", "clusters": [cluster]}
    return [
        document("Site", SITE, site),
        cloud("courses"),
        cloud("lab"),
        cloud("slow", nodeStartMinutes=START // MINUTE),
        cloud("short"),
        seat_class("exam", "short"),
        seat_class("slow", "slow"),
        seat_class("seat", "courses", sessions={"source": "pods", "namespaces": [SESSIONS]}),
        seat_class("node", "lab"),
        reservation(
            "course",
            opens,
            [entry(opens, 0, LENGTH)],
            lead=0,
            seats={"seat": SEATS},
            behaviour="maintain",
            sessions={"matchLabels": {"course": "yes"}},
        ),
        _lab(opens),
        reservation("slow", opens, [entry(opens, 0, LENGTH)], lead=0, seats={"slow": PEOPLE}),
        *rehearsed(
            reservation("exam", opens, [entry(opens, LEAD, LENGTH)], lead=LEAD, seats={"exam": SEATS}), opens
        ),
    ]


def _lab(opens: int) -> Document:
    made = reservation("lab", opens, [entry(opens, 0, LAB)], lead=0, seats={}, backend={"type": "nodePool"})
    made["spec"]["provisioning"]["seats"] = [{"resourceClass": "node", "nodeCount": NODES}]
    return made


def cloud(name: str, **more: object) -> Document:
    terms = [{"tags": {"karpenter.sh/discovery": "prod"}}]
    node_class = {
        "role": "KarpenterNodeRole",
        "subnetSelectorTerms": terms,
        "securityGroupSelectorTerms": terms,
        "amiSelectorTerms": [{"alias": "al2023@v20260107"}],
    }
    spec = {
        "nodeClass": node_class,
        "capacityTypes": [ON_DEMAND],
        "requirements": [one_of(INSTANCE_TYPE, MACHINE), one_of(ARCH, "amd64")],
        "labels": {**LABEL, FOR: name},
        "taints": [{"key": FOR, "value": name, "effect": "NoSchedule"}],
        "disruption": EAGER,
        **more,
    }
    return document("CloudCapacity", name, spec)


def seat_class(name: str, cloud: str, **more: object) -> Document:
    requests = {"cpu": "1", "memory": "1Gi"}
    tolerations = placement(cloud)["tolerations"]
    spec = {"requests": requests, "tolerations": tolerations, "cloudCapacity": [cloud], **more}
    return document("ResourceClass", name, spec)


def pretend(found: Object) -> None:
    """The provider at hand knows another class of nodes, and somebody has limited a pool to one of them."""
    if found["kind"] == "NodePool":
        spec = found["spec"]["template"]["spec"]
        whose = _for(found["spec"]["template"])
        spec["nodeClassRef"] = SLOW if whose == "slow" else NODE_CLASS
        if whose == "short":
            found["spec"]["limits"] = {"cpu": "4"}


def session_pod(name: str, whose: str, cpu: str, **labels: str) -> Object:
    container = {"name": "session", "image": PAUSE, "resources": {"requests": {"cpu": cpu}}}
    spec = {**placement(whose), "containers": [container], "terminationGracePeriodSeconds": 0}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}


class Record(Looking):
    """Looks once a second until it is stopped."""

    def __init__(self, direct: Direct) -> None:
        places = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector={CLASS}"
        lists = (f"/api/v1/nodes?labelSelector={FOR}", f"{CLAIMS}?labelSelector={FOR}", POOLS, places, _PODS)
        self._mirrors = [Mirror(direct, path) for path in lists]
        super().__init__(self._mirrors, interval=1)
        self.looks: list[Look] = []
        self.bought: dict[str, float] = {}

    def _look(self, at: float) -> None:
        nodes, claims, pools, placeholders, sessions = (mirror.objects() for mirror in self._mirrors)
        for claim in claims:
            if _for(claim) == "courses":
                self.bought.setdefault(claim["metadata"]["name"], at)
        slow = [
            placeholder for placeholder in placeholders if placeholder["metadata"]["labels"][CLASS] == "slow"
        ]
        seats = [
            placeholder for placeholder in placeholders if placeholder["metadata"]["labels"][CLASS] == "seat"
        ]
        running = sum(
            map(
                is_placed,
                (session for session in sessions if "course" in session["metadata"].get("labels", {})),
            )
        )
        asked = sum(pool["spec"].get("replicas", 0) for pool in pools)
        counts = Counter(map(_for, nodes)), Counter(map(_for, claims))
        placed, slow_placed = sum(map(is_placed, seats)), sum(map(is_placed, slow))
        self.looks.append(Look(at, *counts, asked, len(seats), placed, running, len(slow), slow_placed))


def _for(found: Object) -> str:
    whose: str = found["metadata"]["labels"][FOR]
    return whose


def happen(cluster: Cluster, direct: Direct, folder: Path, opens: int) -> Told:
    """From before the first opening until everything has gone."""
    cluster.create_namespace(SESSIONS)
    direct.create(POOLS, node_pool("free", EAGER))
    engine = Engine(direct, folder, pretend)
    engine.begin(documents(opens))
    record = Record(direct)
    record.start()
    try:
        return _happen(direct, record, opens, _sized(folder))
    finally:
        record.stop()


def _sized(folder: Path) -> int:
    words = ("size", "slow", "--students", str(PEOPLE), "--over", "0m", "-o", "json")
    seconds: int = json.loads(berth(folder, *words))["nodeSeconds"]["window"]
    return seconds


def _happen(direct: Direct, record: Record, opens: int, sized: int) -> Told:
    sleep_until(opens)
    for whose in ("courses", "free"):
        direct.create(_PODS, session_pod(f"stranger-{whose}", whose, "3500m"))
    wait_until(lambda: record.looks[-1].placed == SEATS, opens + LATE)
    came = time.time()
    for number in range(ACTIVE):
        direct.create(_PODS, session_pod(f"session-{number}", "courses", "1", course="yes"))
    sleep_until(came + EMPTIED)
    emptied = time.time()
    for whose in ("courses", "free"):
        direct.delete(f"{_PODS}/stranger-{whose}")
    sleep_until(opens + LENGTH * MINUTE - 3)
    for number in range(ACTIVE):
        direct.delete(f"{_PODS}/session-{number}")
    sleep_until(opens + LENGTH * MINUTE)
    wait_until(lambda: not record.looks[-1].claims, opens + LENGTH * MINUTE + GONE)
    time.sleep(3)  # for one more look
    return Told(opens, came, emptied, record.looks, record.bought, sized, _rehearsal(direct))


def _rehearsal(direct: Direct) -> RehearsalTold:
    home = f"/api/v1/namespaces/{NAMESPACE}"
    (found,) = json.loads(direct.get(f"{home}/configmaps/exam-record")["data"]["records.json"])
    events = [one for one in direct.items(f"{home}/events") if one["involvedObject"]["name"] == "exam-exam"]
    said = {event["reason"]: event["message"] for event in events if event["reason"].startswith("Rehearsal")}
    return RehearsalTold(found, said)

"""A window that a CapacityBuffer holds on nodes of Karpenter: who asks for nodes, and who uses them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct, Mirror
from tests.e2e.gitops import Engine
from tests.e2e.karpenter import CLAIMS, FOR
from tests.e2e.karpenterstory import GONE, LATE, cloud, pretend, seat_class, session_pod
from tests.e2e.looking import Looking
from tests.e2e.project import Document, document
from tests.e2e.seats import is_placed
from tests.e2e.windows import MINUTE, entry, reservation, sleep_until, wait_until

SITE, NAMESPACE, SESSIONS, WHOSE = "buffers", "berth-buffers", "buffer-sessions", "buffered"
SEATS, ACTIVE, NODES = 6, 4, 2  # three seats on a node
LENGTH = 3  # minutes
_BUFFERS = f"/apis/autoscaling.x-k8s.io/v1beta1/namespaces/{NAMESPACE}/capacitybuffers"
_PODS = f"/api/v1/namespaces/{SESSIONS}/pods"


class Look(NamedTuple):
    """`reason` is that of the condition `Provisioning`; `sessions` have a node, and `pods` are Berth's."""

    at: float
    replicas: int
    reason: str
    claims: int
    nodes: int
    sessions: int
    pods: int


class Told(NamedTuple):
    """Instants in seconds since the epoch."""

    opens: int
    came: float  # the sessions
    looks: list[Look]

    def between(self, first: float, last: float) -> list[Look]:
        return [look for look in self.looks if first <= look.at < last]


def documents(opens: int) -> list[Document]:
    gates = {"version": "1.15", "gates": {"CapacityBuffer": True}}
    cluster = {"name": "real", "autoscaler": "karpenter", "karpenter": gates}
    sessions = {"source": "pods", "namespaces": [SESSIONS]}
    return [
        document("Site", SITE, {"namespace": NAMESPACE, "engine": "argocd", "clusters": [cluster]}),
        cloud(WHOSE),
        seat_class("seat", WHOSE, sessions=sessions),
        reservation(
            "course",
            opens,
            [entry(opens, 0, LENGTH)],
            lead=0,
            seats={"seat": SEATS},
            behaviour="maintain",
            backend={"type": "capacityBuffer"},
        ),
    ]


class Record(Looking):
    """Looks once a second until it is stopped."""

    def __init__(self, direct: Direct) -> None:
        ours = f"{FOR}={WHOSE}"
        lists = (_BUFFERS, f"{CLAIMS}?labelSelector={ours}", f"/api/v1/nodes?labelSelector={ours}", _PODS)
        placeholders = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=berth.dev/resource-class"
        self._mirrors = [Mirror(direct, path) for path in (*lists, placeholders)]
        super().__init__(self._mirrors, interval=1)
        self.looks: list[Look] = []

    def last(self, holds: Callable[[Look], bool]) -> bool:
        """Whether it holds at the last look, if there was one."""
        return bool(self.looks) and holds(self.looks[-1])

    def _look(self, at: float) -> None:
        buffers, claims, nodes, sessions, pods = (mirror.objects() for mirror in self._mirrors)
        for buffer in buffers:
            told = buffer.get("status", {}).get("conditions", [])
            reason = next((one["reason"] for one in told if one["type"] == "Provisioning"), "")
            placed = sum(map(is_placed, sessions))
            counts = len(claims), len(nodes), placed, len(pods)
            self.looks.append(Look(at, buffer["spec"]["replicas"], reason, *counts))


def happen(cluster: Cluster, direct: Direct, folder: Path, opens: int) -> Told:
    """From before the opening until everything has gone."""
    cluster.create_namespace(SESSIONS)
    engine = Engine(direct, folder, pretend)
    engine.begin(documents(opens))
    record = Record(direct)
    record.start()
    try:
        sleep_until(opens)
        wait_until(lambda: record.last(lambda look: look.reason == "FitsExistingCapacity"), opens + LATE)
        came = time.time()
        for number in range(ACTIVE):
            direct.create(_PODS, session_pod(f"session-{number}", WHOSE, "1"))
        sleep_until(opens + LENGTH * MINUTE - 3)
        for number in range(ACTIVE):
            direct.delete(f"{_PODS}/session-{number}")
        sleep_until(opens + LENGTH * MINUTE)
        wait_until(lambda: record.last(lambda look: not look.claims), opens + LENGTH * MINUTE + GONE)
        time.sleep(3)  # for one more look
        return Told(opens, came, record.looks)
    finally:
        record.stop()

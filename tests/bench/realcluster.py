"""From the API server accepting a session to the API server accepting the new scale, on the real cluster; and
what the scaler has resident.

Both instants are the API server's own, from its audit log. The cluster of the end-to-end tests is used: where
it cannot be had (no root, no Go, another one runs), one line says why.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from tests.bench.rendering import Row
from tests.e2e import cgroups, faultcases, sessionkinds, windows
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import AUDIT_LOG
from tests.e2e.direct import Direct, Object, at_once
from tests.e2e.errors import E2EError
from tests.e2e.gitops import Engine
from tests.e2e.project import Document, document
from tests.e2e.waiting import wait_for
from tests.e2e.windows import MINUTE, entry, reservation

NAMESPACE, SESSIONS, POOL = "berth-bench", "bench-sessions", "arrivals-small"
CRD = Path(__file__).parents[1] / "e2e" / "crds" / "renku-amaltheasession.yaml"
ROOT = sessionkinds.RENKU.format(SESSIONS)
SEATS = 600
ONE_BY_ONE, APART = 200, 0.25  # sessions, seconds between two
ROUNDS, AT_ONCE, REST = 8, 25, 3
SIZE = 6000  # bytes of a session
FEW, MANY = 50, 5000


class Accepted(NamedTuple):
    """Instants in seconds since the epoch; of a scale also the replicas."""

    at: float
    replicas: int = 0


def rows() -> Iterator[Row]:
    try:
        with _open_window() as (cluster, direct):
            yield from _measured(cluster, direct)
    except E2EError as error:
        sys.stderr.write(f"real cluster: not measured, because there is no cluster: {error}\n")


@contextmanager
def _open_window() -> Iterator[tuple[Cluster, Direct]]:
    cluster = Cluster()
    cluster.control_plane.audit()
    with cluster, tempfile.TemporaryDirectory(prefix="berth-bench-") as folder, closing(Direct()) as direct:
        cluster.apply(CRD)
        cluster.create_namespace(SESSIONS)
        cluster.kwok.create_nodes(3, "seats", {"pods": "300", "cpu": "200", "memory": "400Gi"})
        opens = windows.next_minute(15)
        engine = Engine(direct, Path(folder))
        engine.declare(_documents(opens))
        engine.sync()
        wait_for(lambda: _replicas(direct) == SEATS, 120, "the window to open")
        wait_for(lambda: _ready(direct) == SEATS, 120, "its seats")
        yield cluster, direct


def _documents(opens: int) -> list[Document]:
    sessions = {"source": "renku", "namespaces": [SESSIONS]}
    placed = {"requests": {"cpu": "10m"}, **sessionkinds.PRETENDING}
    small = document(
        "ResourceClass", "small", {**placed, "renkuId": sessionkinds.RENKU_ID, "sessions": sessions}
    )
    entries = [entry(opens, 0, 60)]
    window = reservation("arrivals", opens, entries, lead=0, seats={"small": SEATS}, behaviour="maintain")
    return [faultcases.site("bench", NAMESPACE, "argocd"), small, window]


def _measured(cluster: Cluster, direct: Direct) -> Iterator[Row]:
    for number in range(ONE_BY_ONE):
        direct.create(ROOT, _session(f"one-{number}"))
        time.sleep(APART)
        if number == FEW - 1:
            few = _resident(direct)
    alone = _delays("one-")
    for turn in range(ROUNDS):
        at_once([partial(direct.create, ROOT, _session(f"burst-{turn}-{n}")) for n in range(AT_ONCE)])
        time.sleep(REST)
    burst = _delays("burst-")
    there = ONE_BY_ONE + ROUNDS * AT_ONCE
    at_once([partial(direct.create, ROOT, _session(f"many-{n}")) for n in range(MANY - there)])
    time.sleep(MINUTE / 2)
    many = _resident(direct)
    yield _row(f"session to scale, one by one, p50 of {len(alone)}, ms", alone, 50, 20)
    yield _row(f"session to scale, one by one, p99 of {len(alone)}, ms", alone, 99, 60)
    yield _row(f"session to scale, {AT_ONCE} at once, p99 of {len(burst)}, ms", burst, 99, 150)
    yield Row(f"scaler resident, {FEW} sessions, MiB", few, 24, "")
    yield Row(f"scaler resident, {MANY} sessions, MiB", many, 36, "just after their arrival")
    del cluster


def _session(name: str) -> Object:
    return sessionkinds.amalthea(name, size=SIZE)


def _row(what: str, delays: Sequence[float], percentile: int, most: float) -> Row:
    found = quantiles(delays, n=100, method="inclusive")[percentile - 1]
    return Row(what, found * 1000, most, f"worst {max(delays) * 1000:.0f} ms")


def _delays(prefix: str) -> list[float]:
    """Of the sessions of these names. The n-th to be accepted is answered by the first scale after it that
    leaves room for n fewer than stood before the first.
    """
    sessions, scales = _audit(prefix)
    first = min(one.at for one in sessions)
    stood = [SEATS, *(scale.replicas for scale in scales if scale.at < first)][-1]
    found = []
    for number, session in enumerate(sorted(sessions), start=1):
        answers = [scale.at for scale in scales if scale.at > session.at and scale.replicas <= stood - number]
        if answers:
            found.append(min(answers) - session.at)
        else:
            raise E2EError(f"no scale answers session {number} of {prefix}*")
    return found


def _audit(prefix: str) -> tuple[list[Accepted], list[Accepted]]:
    """Sessions with names that begin so, and all scales of the pool."""
    sessions, scales = [], []
    for line in AUDIT_LOG.read_text().splitlines():
        event = json.loads(line)
        at = datetime.fromisoformat(event["stageTimestamp"]).timestamp()
        named = event["objectRef"]
        if event["responseStatus"]["code"] not in (200, 201):
            continue
        if named["resource"] == "deployments" and named.get("name") == POOL:
            scales.append(Accepted(at, event["requestObject"]["spec"].get("replicas", 0)))
        elif named["resource"] == "amaltheasessions" and named.get("name", "").startswith(prefix):
            sessions.append(Accepted(at))
    return sessions, sorted(scales)


def _replicas(direct: Direct) -> int:
    found: int = _pool(direct)["spec"].get("replicas", 0)
    return found


def _ready(direct: Direct) -> int:
    found: int = _pool(direct)["status"].get("readyReplicas", 0)
    return found


def _pool(direct: Direct) -> Object:
    return direct.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{POOL}")


def _resident(direct: Direct) -> float:
    """Of the scaler, in MiB. Its image lies in memory here, so the kernel counts files as shared memory."""
    selector = "labelSelector=berth.dev/reservation=arrivals,batch.kubernetes.io/job-name"
    (pod,) = direct.items(f"/api/v1/namespaces/{NAMESPACE}/pods?{selector}")
    (sidecar,) = pod["status"]["initContainerStatuses"]
    (process,) = cgroups.processes(sidecar["containerID"].rpartition("/")[2])
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Rss")) / 1024

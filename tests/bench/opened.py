"""What reservations that are open at once cost: `python -m tests.bench.opened 1 10 100 200`.

Each number gets the real cluster of the end-to-end tests for itself, with a class whose sessions are counted
and five placeholders for each reservation. Once all are open, a minute is measured. Requests and watches are
the API server's own figures, less those of the first cluster before anything of ours was in it. All open in
one minute; of more than a hundred, a few each minute: a machine of two cores cannot start more at once.
"""

import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from berth.output import table

from tests.bench.realcluster import CRD, NAMESPACE, SESSIONS
from tests.e2e import cgroups, faultcases, sessionkinds, windows
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct
from tests.e2e.gitops import Engine
from tests.e2e.project import Document, document
from tests.e2e.waiting import wait_for
from tests.e2e.windows import MINUTE, entry, reservation

SEATS, MEASURED = 5, 60
AT_ONCE, A_MINUTE = 100, 40
_REQUESTS, _WATCHES = "apiserver_request_total{", "apiserver_longrunning_requests{"


class Load(NamedTuple):
    """What the API server has answered so far, what it holds open, and what it has resident in MiB."""

    requests: float
    watches: float
    resident: float


class Cost(NamedTuple):
    reservations: int
    opened: float  # seconds from the last minute in which any opens to the last pool
    requests: float  # a second
    watches: float
    server: float  # MiB more than without us
    pods: int
    resident: float  # MiB in all of our containers


def measured(number: int, idle: Load | None) -> tuple[Cost, Load]:
    """And what the API server does without us, which is measured if nobody knows it yet."""
    with Cluster() as cluster, tempfile.TemporaryDirectory() as folder, closing(Direct()) as direct:
        cluster.apply(CRD)
        cluster.create_namespace(SESSIONS)
        cluster.kwok.create_nodes(10, "seats", {"pods": "300", "cpu": "200", "memory": "400Gi"})
        if idle is None:
            time.sleep(10)
            idle = _over_a_minute(direct)
        opens = windows.next_minute(30 + number // 4)
        engine = Engine(direct, Path(folder))
        engine.declare(_documents(opens, number))
        engine.sync()
        wait_for(lambda: _open_pools(direct) == number, 1200, f"{number} pools to be open")
        opened = time.time() - _opens(opens, number)[-1]
        time.sleep(30)
        busy = _over_a_minute(direct)
        pods = direct.items(f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=berth.dev/role=occurrence")
        resident = sum(_resident(pod) for pod in pods)
        cost = Cost(
            number,
            opened,
            (busy.requests - idle.requests) / MEASURED,
            busy.watches - idle.watches,
            busy.resident - idle.resident,
            len(pods),
            resident,
        )
        return cost, idle


def _documents(opens: int, number: int) -> list[Document]:
    sessions = {"source": "renku", "namespaces": [SESSIONS]}
    placed = {"requests": {"cpu": "10m"}, **sessionkinds.PRETENDING}
    small = document(
        "ResourceClass", "small", {**placed, "renkuId": sessionkinds.RENKU_ID, "sessions": sessions}
    )
    windows_ = [
        reservation(
            f"course-{n}",
            at,
            [entry(at, 0, 60)],
            lead=0,
            seats={"small": SEATS},
            behaviour="maintain",
            sessions={"matchLabels": {"course": f"c{n}"}},
        )
        for n, at in enumerate(_opens(opens, number))
    ]
    site = faultcases.site("bench", NAMESPACE, "argocd")
    # Two cores are asked for by a hundred pods of two containers; the bench has no more for twice as many.
    site["spec"]["runtime"] = {"resources": {"requests": {"cpu": "1m", "memory": "32Mi"}}}
    return [site, small, *windows_]


def _opens(first: int, number: int) -> list[int]:
    """When each of so many opens."""
    each = number if number <= AT_ONCE else A_MINUTE
    return [first + n // each * MINUTE for n in range(number)]


def _open_pools(direct: Direct) -> int:
    pools = direct.items(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments")
    return sum(pool["spec"].get("replicas", 0) == SEATS for pool in pools)


def _over_a_minute(direct: Direct) -> Load:
    """Requests of a minute; the rest as it is at its end."""
    before = _load(direct)
    time.sleep(MEASURED)
    after = _load(direct)
    return after._replace(requests=after.requests - before.requests)


def _load(direct: Direct) -> Load:
    lines = direct.text("/metrics").splitlines()
    requests = sum(
        _value(line) for line in lines if line.startswith(_REQUESTS) and 'verb="WATCH"' not in line
    )
    watches = sum(_value(line) for line in lines if line.startswith(_WATCHES) and 'verb="WATCH"' in line)
    resident = sum(_value(line) for line in lines if line.startswith("process_resident_memory_bytes "))
    return Load(requests, watches, resident / 2**20)


def _value(line: str) -> float:
    return float(line.rpartition(" ")[2])


def _resident(pod: Mapping[str, object]) -> float:
    status = pod["status"]
    assert isinstance(status, dict)
    found = 0.0
    for one in (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())):
        for process in cgroups.processes(one["containerID"].rpartition("/")[2]):
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            if _is_first(lines):  # not a probe, which is there for a moment
                found += sum(int(line.split()[1]) for line in lines if line.startswith("Rss")) / 1024
    return found


def _is_first(status: list[str]) -> bool:
    """Of its container."""
    return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in status)


def main(numbers: list[str]) -> None:
    cells, idle = [], None
    for number in map(int, numbers):
        cost, idle = measured(number, idle)
        cells.append(
            (
                str(cost.reservations),
                f"{cost.opened:.0f} s",
                f"{cost.requests:.1f}",
                f"{cost.watches:.0f}",
                f"{cost.server:.0f}",
                str(cost.pods),
                f"{cost.resident:.0f}",
            )
        )
        sys.stderr.write(f"{cost}\n")
    headings = (
        "open at once",
        "all open after",
        "requests/s",
        "watches",
        "API server MiB",
        "pods",
        "their MiB",
    )
    sys.stdout.write(table.text(headings, cells))


if __name__ == "__main__":
    main(sys.argv[1:])

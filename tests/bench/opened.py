"""What reservations that are open at once cost: `python -m tests.bench.opened 1 10 100 200`.

Each number gets the real cluster of the end-to-end tests for itself, with a class whose sessions are counted
and five placeholders for each reservation. Once all are open, a minute is measured. Requests and watches are
the API server's own figures, less those of the first cluster before anything of ours was in it. All open in
one minute. CPU is that of the whole machine, control plane and kubelet included, until the last is open.
With `image` before the numbers, the pods run an image that has the code.
"""

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from berth.output import table

from tests.e2e import cgroups, code_image, faultcases, sessionkinds, windows
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct
from tests.e2e.gitops import Engine
from tests.e2e.project import Document, document
from tests.e2e.waiting import wait_for
from tests.e2e.windows import entry, reservation, sleep_until

NAMESPACE, SESSIONS = "berth-bench", "bench-sessions"
CRD = Path(__file__).parents[1] / "e2e" / "crds" / "renku-amaltheasession.yaml"

SEATS, MEASURED = 5, 60
_REQUESTS, _WATCHES = "apiserver_request_total{", "apiserver_longrunning_requests{"


class Load(NamedTuple):
    """What the API server has answered so far, what it holds open, and what it has resident in MiB."""

    requests: float
    watches: float
    resident: float


class Cost(NamedTuple):
    reservations: int
    opened: float  # seconds from the opening to the last pool
    cpu: float  # seconds of a core for each, of the whole machine less what it takes at rest
    requests: float  # a second
    watches: float
    server: float  # MiB more than without us
    pods: int
    resident: float  # MiB in all of our containers


def measured(number: int, idle: Load | None, *, by_image: bool) -> tuple[Cost, Load]:
    """And what the API server does without us, which is measured if nobody knows it yet."""
    with Cluster() as cluster, tempfile.TemporaryDirectory() as folder, closing(Direct()) as direct:
        cluster.apply(CRD)
        cluster.create_namespace(SESSIONS)
        cluster.kwok.create_nodes(10, "seats", {"pods": "300", "cpu": "200", "memory": "400Gi"})
        if idle is None:
            time.sleep(10)
            idle = _over_a_minute(direct)
        image = _imported(cluster, Path(folder)) if by_image else ""
        opens = windows.next_minute(30 + number // 4)
        engine = Engine(direct, Path(folder))
        engine.declare(_documents(opens, number, image))
        engine.sync()
        resting, at = _busy(), time.time()
        sleep_until(opens - 1)
        resting, at, before = (_busy() - resting) / (time.time() - at), time.time(), _busy()
        wait_for(lambda: _open_pools(direct) == number, 1200, f"{number} pools to be open")
        opened = time.time() - opens
        cpu = (_busy() - before - resting * (time.time() - at)) / number
        time.sleep(30)
        busy = _over_a_minute(direct)
        pods = direct.items(f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=berth.dev/role=occurrence")
        resident = sum(_resident(pod) for pod in pods)
        cost = Cost(
            number,
            opened,
            cpu,
            (busy.requests - idle.requests) / MEASURED,
            busy.watches - idle.watches,
            busy.resident - idle.resident,
            len(pods),
            resident,
        )
        return cost, idle


def _imported(cluster: Cluster, folder: Path) -> str:
    reference, archive = code_image.build(folder)
    cluster.node.import_image(archive)
    return reference


def _documents(opens: int, number: int, image: str) -> list[Document]:
    sessions = {"source": "renku", "namespaces": [SESSIONS]}
    placed = {"requests": {"cpu": "10m"}, **sessionkinds.PRETENDING}
    small = document(
        "ResourceClass", "small", {**placed, "renkuId": sessionkinds.RENKU_ID, "sessions": sessions}
    )
    windows_ = [
        reservation(
            f"course-{n}",
            opens,
            [entry(opens, 0, 60)],
            lead=0,
            seats={"small": SEATS},
            behaviour="maintain",
            sessions={"matchLabels": {"course": f"c{n}"}},
        )
        for n in range(number)
    ]
    site = faultcases.site("bench", NAMESPACE, "argocd")
    # Two cores are asked for by a hundred pods of two containers; the bench has no more for twice as many.
    site["spec"]["runtime"] = {"resources": {"requests": {"cpu": "1m", "memory": "32Mi"}}}
    if image:
        site["spec"]["runtime"]["image"] = image
    return [site, small, *windows_]


def _busy() -> float:
    """Return the seconds that all cores have worked so far."""
    fields = [int(one) for one in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


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
        if "containerID" not in one:  # of a pod that has not begun
            continue
        for process in cgroups.processes(one["containerID"].rpartition("/")[2]):
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            if _is_first(lines):  # not a probe, which is there for a moment
                found += sum(int(line.split()[1]) for line in lines if line.startswith("Rss")) / 1024
    return found


def _is_first(status: list[str]) -> bool:
    """Of its container."""
    return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in status)


def main(words: list[str]) -> None:
    by_image = words[0] == "image"
    cells, idle = [], None
    for number in map(int, words[by_image:]):
        cost, idle = measured(number, idle, by_image=by_image)
        cells.append(
            (
                str(cost.reservations),
                f"{cost.opened:.0f} s",
                f"{cost.cpu:.2f} s",
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
        "CPU each",
        "requests/s",
        "watches",
        "API server MiB",
        "pods",
        "their MiB",
    )
    sys.stdout.write(table.text(headings, cells))


if __name__ == "__main__":
    main(sys.argv[1:])

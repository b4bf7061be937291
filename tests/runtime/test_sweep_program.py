"""The sweep as its Job starts it: a real process, real sockets, TLS, the real clock."""

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from berth.core.jsonvalues import instant_text
from berth.runtime.sweep import main

from tests.objectstore import Tree
from tests.runtime.programs import START, events, make_berth
from tests.runtime.stub_server import Received, Reply, StubServer, answered_by, reply
from tests.runtime.sweepworld import FakeObjects, cronjob, deployment, job, lease, timetable
from tests.runtime.timetables import Row, pool, whole_timetable_text

SWEEP = START.format("sweep")
MINUTE = 60


def text(name: str, occurrences: int = 1) -> str:
    """Open since a quarter of an hour; more occurrences follow every day."""
    day, now = 86_400, int(time.time())

    def row(n: int) -> Row:
        opens, start, end = (instant_text(now + minutes * MINUTE + n * day) for minutes in (-15, 0, 60))
        return f"{name}/{n}", opens, start, end, {"small": 25}

    return whole_timetable_text(
        name, {"small": pool(f"{name}-small", "maintain")}, map(row, range(occurrences))
    )


def course(name: str, occurrences: int = 1, replicas: int = 0) -> list[Tree]:
    found = [timetable(name=name, text=text(name, occurrences))]
    return [*found, deployment(replicas, f"{name}-small", reservation=name), cronjob(name, reservation=name)]


@pytest.fixture
def berth(tmp_path: Path) -> Path:
    return make_berth(tmp_path)


def environment(server: StubServer) -> dict[str, str]:
    return {
        "BERTH_NAMESPACE": "berth",
        "BERTH_SITE": "example",
        "BERTH_ENGINE": "argocd",
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }


def run(
    berth: Path, account: Path, variables: Mapping[str, str], code: str = SWEEP
) -> subprocess.CompletedProcess[str]:
    """Without the packages of this interpreter: an installed Berth would be found first."""
    arguments = [sys.executable, "-S", "-c", code, str(account)]
    return subprocess.run(
        arguments, cwd=berth, env=dict(variables), stdout=subprocess.PIPE, text=True, check=False, timeout=60
    )


def test_the_sweep_needs_only_its_folder_and_a_second_sweep_writes_nothing(
    berth: Path, account: Path
) -> None:
    cluster = FakeObjects(int(time.time()), *course("course"))
    with StubServer(answered_by(cluster), account) as server:
        first = run(berth, account, environment(server))
        cluster.writes.clear()
        second = run(berth, account, environment(server))

    assert (first.returncode, second.returncode, cluster.writes) == (0, 0, [])
    assert cluster.replicas() == {"course-small": 25}
    assert events(first.stdout) == ["scale", "start", "swept"]
    assert events(second.stdout) == ["swept"]


@pytest.mark.long
def test_a_sweep_of_200_reservations_takes_few_lists_and_five_seconds_at_most(
    berth: Path, account: Path
) -> None:
    """Seconds of a processor, so that others on this machine do not count.

    All open: half of them are served, half are opened by the first run. The second one is at rest. Each has
    ten Jobs that are over, as a CronJob keeps them, with their pods; of Jobs, 500 are in an answer.
    """
    trees = []
    for n in range(200):
        name = f"course-{n}"
        trees += course(name, 60, 25 * (n % 2))
        if n % 2:
            trees += [job(f"{name}-1", reservation=name), lease(name=f"{name}-small", reservation=name)]
        for old in range(10):
            of = f"{name}-old-{old}"
            trees.append(job(of, reservation=name, end="Complete"))
    cluster = FakeObjects(int(time.time()), *trees)
    with StubServer(answered_by(cluster), account) as server:
        for expected in ({"SweepOpened": 100, "SweepStartedJob": 100}, {}):
            cluster.requests.clear()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = run(berth, account, environment(server))

            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            swept = json.loads(done.stdout.splitlines()[-1])
            assert (done.returncode, swept["done"]) == (0, expected)
            lists = [request for request in cluster.requests if request.startswith("LIST")]
            assert list(dict.fromkeys(lists)) == [
                f"LIST {kind}" for kind in ("deployments", "leases", "jobs", "cronjobs", "configmaps")
            ]
            assert len(lists) < 40, "an answer has about 256 KiB"
            assert took < 5
            for pool in cluster.of("deployments").values():
                pool["status"] = {"readyReplicas": 25}  # or it would look why not
    assert set(cluster.replicas().values()) == {25}


def test_the_sweep_leaves_no_alarm_set(account: Path) -> None:
    with StubServer(answered_by(FakeObjects(int(time.time()))), account) as server:
        assert main(environment(server), str(account)) == 0

    assert signal.alarm(0) == 0


def test_a_sweep_that_takes_too_long_ends_itself_and_logs_the_reason(berth: Path, account: Path) -> None:
    """As with a server that sends a byte now and then, and is never silent for long enough to be given up."""

    def hang(_: Received) -> Reply:
        time.sleep(3)
        return reply(200, b"")

    code = SWEEP.replace(
        "import main", "import main; import berth.runtime.sweep as sweep; sweep.MAX_SECONDS = 1"
    )
    with StubServer(hang, account) as server:
        done = run(berth, account, environment(server), code)

    (line,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, line["reason"]) == (1, "not finished after 1 seconds; the next run continues")

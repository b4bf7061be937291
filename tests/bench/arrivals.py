"""How long it takes from the server's word of a session to the scaler's write, against a stub on this
machine.

A real API server and its admission add their own; what is measured here is ours alone.
"""

import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.memory import resident
from tests.bench.rendering import Row
from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.programs import (
    OPEN,
    SESSIONS,
    both,
    environment,
    session,
    start,
    start_main,
    timetable,
    wait_until,
)
from tests.runtime.stub_server import StubServer, make_account
from tests.runtime.watched_cluster import WatchedCluster

COUNT = 1000
ONE_BY_ONE, AT_ONCE, ROUNDS = 200, 25, 8
STATUS_SECONDS = 0.02  # after which the Deployment's controller writes its status, and so another version


class Stage:
    def __init__(self) -> None:
        text = timetable(OPEN, "maintain").replace('"small": 25', f'"small": {COUNT}')
        self.cluster = FakeCluster(text, {"course-small": 0})
        self.cluster.watch = self._written
        self.sessions = WatchedCluster()
        self.number = 0
        self._told: dict[int, float] = {}  # when the server told of the n-th session
        self.delays: list[float] = []  # seconds, from then to the write that counts it

    def arrive(self) -> None:
        self.number += 1
        self._told[self.number] = time.monotonic()
        self.sessions.put(SESSIONS, session(f"session-{self.number}"))

    def _written(self, name: str, replicas: int) -> None:
        now = time.monotonic()
        for number in [number for number in self._told if number <= COUNT - replicas]:
            self.delays.append(now - self._told.pop(number))
        threading.Timer(STATUS_SECONDS, self._change_status, [name]).start()

    def _change_status(self, name: str) -> None:
        self.cluster.set(name, self.cluster.scales[name])

    def is_done(self) -> bool:
        return not self._told


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        share = Path(folder) / "share"
        share.mkdir()
        account, it = make_account(Path(folder) / "account"), Stage()
        with StubServer(both(it.cluster, it.sessions), account) as server:
            programs = [start(account, environment(server, share)), start_main(share)]
            wait_until(lambda: it.cluster.scales["course-small"] == COUNT)
            yield from _measured(it)
            scaler = resident(programs[0].pid)
            yield Row("scaler, resident MiB", scaler, 24, f"{it.number} sessions")
            for program in programs:
                program.kill()
                program.communicate()
            it.sessions.end_watches()
        shutil.rmtree(share)


def _measured(it: Stage) -> Iterator[Row]:
    for _ in range(ONE_BY_ONE):
        it.arrive()
        wait_until(it.is_done, 5)
        time.sleep(0.05)
    yield _row("one by one", it, 20, 30)
    for _ in range(ROUNDS):
        for _ in range(AT_ONCE):
            it.arrive()
        wait_until(it.is_done, 5)
        time.sleep(0.5)
    yield _row(f"{AT_ONCE} at once", it, None, 100)


def _row(what: str, it: Stage, median: float | None, most: float) -> Row:
    """In milliseconds; the ratio is the 99th of a hundred."""
    delays, it.delays = sorted(1000 * delay for delay in it.delays), []
    p50, p99 = statistics.median(delays), delays[int(len(delays) * 0.99)]
    note = f"p50 {p50:.1f} ms" + (f", at most {median:.0f}" if median else "") + f"; {len(delays)} sessions"
    return Row(f"session to scale, {what}, p99 in ms", p99, most, note)

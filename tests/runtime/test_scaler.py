"""The scaler's program beside the occurrence's: real processes, real sockets, TLS, real signals."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from berth.runtime.scaler import main

from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.programs import (
    INCOMPLETE,
    OPEN,
    SESSIONS,
    both,
    environment,
    events,
    session,
    start,
    timetable,
    wait_until,
)
from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.watched_cluster import WatchedCluster


class Scene(NamedTuple):
    cluster: FakeCluster
    sessions: WatchedCluster
    share: Path
    variables: dict[str, str]
    account: Path
    server: StubServer

    def start(self, program: str) -> subprocess.Popen[str]:
        return start(self.account, self.variables, program)

    def reaches(self, replicas: int) -> bool:
        return wait_until(lambda: self.cluster.scales["course-small"][0] == replicas)


@contextmanager
def scene(account: Path, share: Path, running: int = 0) -> Iterator[Scene]:
    cluster, sessions = FakeCluster(timetable(OPEN, "maintain"), {"course-small": 0}), WatchedCluster()
    sessions.fill(SESSIONS, [session(f"early-{n}") for n in range(running)])
    with StubServer(both(cluster, sessions), account) as server:
        variables = environment(server, share)
        yield Scene(cluster, sessions, share, variables, account, server)
        sessions.end_watches()


def stop(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    """Its exit code and what it told; it has three seconds."""
    process.terminate()
    output, _ = process.communicate(timeout=3)
    return process.returncode, events(output)


def test_both_open_by_the_sessions_that_run_and_follow_those_that_come(account: Path, tmp_path: Path) -> None:
    with scene(account, tmp_path, running=4) as it:
        scaler, occurrence = it.start("scaler"), it.start("occurrence")

        assert it.reaches(21)

        it.sessions.put(SESSIONS, session("late"))

        assert it.reaches(20)
        assert stop(occurrence) == (143, ["timetable", "open", "terminated"])
        code, told = stop(scaler)
        assert (code, told[0], told[-1], told.count("scaled")) == (0, "timetable", "terminated", 2)
        assert it.cluster.writers == ["scaler", "scaler"]
        assert it.cluster.scales["course-small"][0] == 20
        told_last = json.loads((tmp_path / "attributed.json").read_text())
        assert told_last["classes"] == {"small": {"course/1": 5}}
        assert (tmp_path / "scaler.alive").exists()
        assert (tmp_path / "occurrence.alive").exists()


def test_a_scaler_that_is_killed_and_starts_anew_moves_nothing(account: Path, tmp_path: Path) -> None:
    with scene(account, tmp_path, running=4) as it:
        scaler, occurrence = it.start("scaler"), it.start("occurrence")
        assert it.reaches(21)
        scaler.kill()
        scaler.communicate()
        scaler = it.start("scaler")
        it.sessions.put(SESSIONS, session("late"))

        assert it.reaches(20)
        assert len(it.cluster.writers) == 2
        stop(occurrence)
        stop(scaler)


def test_a_scaler_that_is_stopped_in_the_middle_of_a_request_ends_at_once(
    account: Path, tmp_path: Path
) -> None:
    def hang(_received: Received) -> Reply:
        time.sleep(3.5)
        return reply(500, b"")

    with StubServer(hang, account) as server:
        scaler = start(account, environment(server, tmp_path), "scaler")
        assert wait_until(lambda: len(server.received) >= 1)
        began = time.monotonic()
        code, told = stop(scaler)

    assert (code, told) == (0, ["terminated"])
    assert time.monotonic() - began < 2


def test_a_hanging_scaler_goes_on_where_it_was(account: Path, tmp_path: Path) -> None:
    with scene(account, tmp_path) as it:
        scaler, occurrence = it.start("scaler"), it.start("occurrence")
        assert it.reaches(25)
        scaler.send_signal(signal.SIGSTOP)
        it.sessions.put(SESSIONS, session("late"))
        time.sleep(0.3)
        scaler.send_signal(signal.SIGCONT)

        assert it.reaches(24)
        stop(occurrence)
        stop(scaler)


@pytest.mark.parametrize(("variables", "missing"), INCOMPLETE, ids=["nothing", "no-namespace"])
def test_without_its_environment_it_says_what_is_missing(
    variables: dict[str, str], missing: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert main(variables) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (
        json.loads(capfd.readouterr().out)["reason"] == f"missing or invalid environment variable: {missing}"
    )

"""The program as the Job starts it: real processes, real sockets, TLS, real signals, real sleeps."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from berth.runtime.occurrence import main

from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.programs import (
    INCOMPLETE,
    OPEN,
    OVER,
    PACKAGE,
    START,
    environment,
    events,
    foreign_modules,
    make_berth,
    start,
    timetable,
    wait_until,
)
from tests.runtime.stub_server import Received, Reply, StubServer, answered_by, reply


@pytest.fixture
def berth(tmp_path: Path) -> Path:
    return make_berth(tmp_path)


@pytest.fixture
def _signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def requests(server: StubServer, number: int) -> bool:
    return wait_until(lambda: len(server.received) >= number)


def test_it_needs_nothing_but_its_folder_and_the_standard_library(berth: Path) -> None:
    assert foreign_modules(berth, "occurrence") == ["__main__", "berth"]


def test_over_it_closes_and_exits_0(tmp_path: Path, account: Path) -> None:
    cluster = FakeCluster(timetable(OVER), {"course-small": 25})
    with (
        StubServer(answered_by(cluster), account) as server,
        start(account, environment(server, tmp_path)) as process,
    ):
        output, _ = process.communicate(timeout=30)

    assert (process.returncode, cluster.scales["course-small"][0]) == (0, 0)
    assert events(output) == ["timetable", "scaled", "ended"]


def test_on_sigterm_while_it_sleeps_it_exits_143_and_scales_nothing(tmp_path: Path, account: Path) -> None:
    cluster = FakeCluster(timetable(OPEN), {"course-small": 0})
    with (
        StubServer(answered_by(cluster), account) as server,
        start(account, environment(server, tmp_path)) as process,
    ):
        assert requests(server, 3)
        time.sleep(0.1)
        process.terminate()
        output, _ = process.communicate(timeout=3)

    assert (process.returncode, cluster.scales["course-small"][0]) == (143, 25)
    assert events(output) == ["timetable", "open", "scaled", "terminated"]


def test_on_sigterm_during_a_request_it_exits_143(tmp_path: Path, account: Path) -> None:
    def hang(_received: Received) -> Reply:
        time.sleep(3.5)
        return reply(500, b"")

    with StubServer(hang, account) as server, start(account, environment(server, tmp_path)) as process:
        assert requests(server, 1)
        process.terminate()
        began = time.monotonic()
        output, _ = process.communicate(timeout=3)

    assert process.returncode == 143
    assert time.monotonic() - began < 2
    assert events(output) == ["terminated"]


@pytest.mark.usefixtures("_signals")
def test_trouble_passes_and_the_mounted_copy_serves_meanwhile(
    account: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster = FakeCluster(None, {"course-small": 25})
    replies = iter([reply(503, b"", "Retry-After: 1")] * 2)
    (tmp_path / "timetable.json").write_text(timetable(OVER), encoding="utf-8")

    def answer(received: Received) -> Reply:
        return next(replies, None) or answered_by(cluster)(received)

    with StubServer(answer, account) as server:
        code = main(environment(server, tmp_path), str(account))

    assert (code, cluster.scales["course-small"][0]) == (0, 0)
    assert events(capfd.readouterr().out) == [
        "failed",  # the timetable: 503
        "timetable",  # from the mounted copy
        "failed",  # the Deployment: 503
        "failed",  # the timetable: 404
        "scaled",
        "recovered",
        "ended",
    ]


@pytest.mark.usefixtures("_signals")
@pytest.mark.parametrize(("variables", "missing"), INCOMPLETE, ids=["nothing", "no-namespace"])
def test_without_its_environment_it_says_what_is_missing(
    variables: dict[str, str], missing: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(variables) == 1
    assert (
        json.loads(capfd.readouterr().out)["reason"] == f"missing or invalid environment variable: {missing}"
    )


def test_a_closed_log_is_no_reason_to_stop(tmp_path: Path, account: Path) -> None:
    cluster = FakeCluster(timetable(OVER), {"course-small": 25})
    with StubServer(answered_by(cluster), account) as server:
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.run(
            [sys.executable, "-c", START.format("occurrence"), str(account)],
            cwd=PACKAGE.parents[1],
            env=environment(server, tmp_path),
            stdout=writer,
            check=False,
        )
        os.close(writer)

    assert (process.returncode, cluster.scales["course-small"][0]) == (0, 0)

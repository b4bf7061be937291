"""The scaler with slots as the Job starts it: a real process, over TLS."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from berth.runtime.scaler import PARALLEL_REQUESTS

from tests.runtime.fake_koordinator import FakeKoordinator
from tests.runtime.programs import OPEN, OVER, START, environment, make_berth, wait_until
from tests.runtime.slotworld import DIGEST, SlotCluster, slots
from tests.runtime.stub_server import StubServer, answered_by
from tests.runtime.world import pool, whole_timetable_text

MOST_MEBIBYTES = 25


def text(window: tuple[str, str, str], count: int) -> str:
    said = {**pool("course-small", "none"), "slots": slots()}
    row = ("course/1", *window, {"small": count})
    return whole_timetable_text("course", {"small": said}, [row])


def cluster_of(said: str) -> SlotCluster:
    return SlotCluster(said, {}, FakeKoordinator(time.time))


def large(tree: dict[str, Any]) -> None:
    """As an object is that Koordinator has written to: some 5 KB."""
    fields: dict[str, Any] = {f"f:{n}": {"f:a": {}, "f:b": {}} for n in range(90)}
    tree["metadata"]["managedFields"] = [{"manager": "koord-scheduler", "fieldsV1": fields}]
    tree["status"] = {
        "phase": "Available",
        "nodeName": "node-1",
        "conditions": [{"type": kind, "reason": "x" * 200, "message": "y" * 400} for kind in "ab"],
    }


def resident(process: "subprocess.Popen[str]") -> float:
    status = Path(f"/proc/{process.pid}/status").read_text("ascii")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return sum(int(fields[name].split()[0]) for name in ("RssAnon", "RssFile")) / 1024


def start(berth: Path, account: Path, variables: dict[str, str]) -> "subprocess.Popen[str]":
    """As the pod has it, without compiled files of ours, and without what else is installed here."""
    lean = {"PYTHONDONTWRITEBYTECODE": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
    command = [sys.executable, "-S", "-c", START.format("scaler"), str(account)]
    return subprocess.Popen(command, cwd=berth, env=variables | lean, stdout=subprocess.PIPE, text=True)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is resident")
def test_two_hundred_slots_are_made_and_followed_in_little_memory(account: Path, tmp_path: Path) -> None:
    berth, cluster = make_berth(tmp_path), cluster_of(text(OPEN, 200))
    koordinator = cluster.koordinator
    with StubServer(answered_by(cluster), account) as server:
        process = start(berth, account, environment(server, tmp_path))
        try:
            assert wait_until(lambda: len(koordinator.objects) == 200, 60)
            for tree in koordinator.objects.values():
                large(tree)
            assert len(json.dumps(next(iter(koordinator.objects.values())))) > 4_500
            looks = len(server.received)
            assert wait_until(lambda: len(server.received) > looks + 4, 30)
            mebibytes = resident(process)
        finally:
            process.kill()
            process.communicate()

    assert server.connections <= PARALLEL_REQUESTS + 2  # the watch and the Lease have their own
    assert [verb for verb, _ in koordinator.writes] == ["POST"] * 200
    assert mebibytes <= MOST_MEBIBYTES


def test_over_it_removes_them_and_says_so(account: Path, tmp_path: Path) -> None:
    cluster = cluster_of(text(OVER, 3))
    for n in range(3):
        cluster.koordinator.put(f"example-course-small-{n}-{DIGEST}", slots()["object"])
    with StubServer(answered_by(cluster), account) as server:
        process = start(make_berth(tmp_path), account, environment(server, tmp_path))
        assert wait_until(lambda: not cluster.koordinator.objects)
        time.sleep(0.5)
        process.terminate()
        output, _ = process.communicate(timeout=60)

    assert (process.returncode, (tmp_path / "until").read_text("ascii")) == (0, "closed")
    assert [json.loads(line)["event"] for line in output.splitlines()] == [
        "timetable",
        "lease",
        "slots",
        "ended",
    ]

"""What a scaler has in memory does not grow with what it does not need."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from berth.core.jsonvalues import instant_text

from tests.runtime.stub_server import StubServer
from tests.runtime.watched_cluster import WatchedCluster

ROOT = Path(__file__).parents[2]
SESSIONS = "/apis/amalthea.dev/v1alpha1/namespaces/renku/amaltheasessions"


def session(number: int) -> dict[str, Any]:
    """6.5 KB, as Renku's are."""
    return {
        "apiVersion": "amalthea.dev/v1alpha1",
        "kind": "AmaltheaSession",
        "metadata": {
            "name": f"s{number}",
            "namespace": "renku",
            "uid": f"00000000-0000-4000-8000-{number:012d}",
            "creationTimestamp": instant_text(1_770_000_000 + number % 20_000),
            "annotations": {
                "renku.io/resource_class_id": "5",
                "renku.io/project_id": f"01JC3CB5426KC7P5ST{number % 300:08d}",
                "renku.io/launcher_id": "01JC3CB5426KC7P5STS5X3KSS8",
            },
            "labels": {"course": "x", "app": f"s{number}"},
            "managedFields": [{"fieldsV1": {f"f:{n}": {"f:a": {}, "f:b": {}} for n in range(40)}}],
        },
        "spec": {
            "hibernated": False,
            "session": {"env": [{"name": f"V{n}", "value": "y" * 50} for n in range(60)]},
        },
        "status": {"state": "Running"},
    }


@contextmanager
def observing(
    account: Path, sessions: int, folder: Path
) -> Iterator[tuple[WatchedCluster, "subprocess.Popen[str]"]]:
    """A process of its own, as the pod has it: over TLS, and without compiled files of ours."""
    package = ROOT / "gen" / "berth"
    for name in ("core", "runtime"):
        shutil.copytree(package / name, folder / "berth" / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests" / "runtime" / "observing.py", folder)
    cluster = WatchedCluster()
    cluster.fill(SESSIONS, [session(number) for number in range(sessions)])
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_ARENA_MAX": "1"}
    environment |= {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
    with StubServer(cluster.answer, account) as server:
        command = [sys.executable, "-S", "observing.py", str(server.port), str(account)]
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            yield cluster, process
            process.kill()
        cluster.end_watches()


def reported(process: "subprocess.Popen[str]") -> tuple[int, float]:
    assert process.stdout
    active, mebibytes = json.loads(process.stdout.readline())
    return active, mebibytes


AT_REST = 24 if sys.version_info < (3, 14) else 28  # the interpreter itself has become larger


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is resident")
@pytest.mark.parametrize(
    ("sessions", "most"), [(50, AT_REST), pytest.param(5000, 36, marks=pytest.mark.long)]
)
def test_sessions_are_read_whole_and_kept_small(
    account: Path, tmp_path: Path, sessions: int, most: int
) -> None:
    assert 6_300 < len(json.dumps(session(1))) < 6_700
    with observing(account, sessions, tmp_path) as (cluster, process):
        active, mebibytes = reported(process)
        assert active == sessions
        for number in range(50):
            cluster.put(SESSIONS, session(100_000 + number))
        while active < sessions + 50:
            active, mebibytes = reported(process)

    assert mebibytes <= most

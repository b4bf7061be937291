"""The programs of a pod as real processes, in front of a server that has what they look for."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import berth.core
import berth.plugins
import berth.runtime

from tests.objectstore import Tree
from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.stub_server import Received, Reply, StubServer, answered_by
from tests.runtime.timetables import pool, whole_timetable_text
from tests.runtime.watched_cluster import WatchedCluster
from tests.runtime.watching import SESSIONS as RENKU

CODE = Path(berth.runtime.__path__[0]).parents[1]
OPEN = "2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z", "9000-01-01T00:00:00Z"
OVER = "2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z", "2000-01-02T00:00:00Z"
START = "import os, sys; from berth.runtime.{} import main; sys.exit(main(os.environ, sys.argv[1]))"
MAIN = "import sys; from berth.runtime import occurrence as o; {}; sys.exit(o.main())"
SESSIONS = "/api/v1/namespaces/students/pods"
CONFIGMAPS = "/api/v1/namespaces/berth/configmaps"
PODS: Tree = {"source": "pods", "namespaces": ["students"], "selector": {}, "earlier": "count"}


def timetable(window: tuple[str, str, str], behaviour: str = "none") -> str:
    pools = {"small": pool("course-small", behaviour, None if behaviour == "none" else PODS)}
    return whole_timetable_text("course", pools, [("course/1", *window, {"small": 25})])


def make_berth(folder: Path) -> Path:
    """The folder as the ConfigMaps' mounts make it: these files, and nothing else of ours."""
    for package in (berth.core, berth.runtime):
        source = Path(package.__path__[0])
        to = folder / "berth" / "berth" / source.name
        to.mkdir(parents=True)
        for file in source.glob("[!_]*.py"):
            shutil.copy(file, to)
    plugins = Path(berth.plugins.__path__[0])
    shutil.copytree(plugins, folder / "berth/berth/plugins", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "berth"


def environment(server: StubServer, share: Path) -> dict[str, str]:
    return {
        "BERTH_SHARE": str(share),
        "BERTH_NAMESPACE": "berth",
        "BERTH_RESERVATION": "course",
        "BERTH_TIMETABLE": "course",
        "BERTH_PLUGINS": "numbers rehearsals renku slots",
        "HOSTNAME": "course-1-x",
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }


def start(
    account: Path, variables: Mapping[str, str], program: str = "scaler", folder: Path = CODE
) -> subprocess.Popen[str]:
    """Of this very code, whatever else is installed here."""
    return run_code(START.format(program), variables, str(account), folder=folder)


def start_main(share: Path, changes: str = "pass", folder: Path = CODE) -> subprocess.Popen[str]:
    """The main container. It has no token, and no environment but this. `changes` of its constants `o`."""
    return run_code(MAIN.format(changes), {"BERTH_SHARE": str(share)}, folder=folder)


def run_code(
    code: str,
    variables: Mapping[str, str],
    *arguments: str,
    folder: Path = CODE,
    stdout: int = subprocess.PIPE,
    stderr: int | None = None,
) -> subprocess.Popen[str]:
    """Without packages that are installed here."""
    command = [sys.executable, "-BS", "-c", code, *arguments]
    return subprocess.Popen(command, cwd=folder, env=dict(variables), stdout=stdout, stderr=stderr, text=True)


def wait_until(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def events(text: str) -> list[str]:
    return [json.loads(line)["event"] for line in text.splitlines()]


def session(name: str, **metadata: object) -> Tree:
    """As metadata of a pod, which is all that is asked for."""
    known = {"uid": name, "name": name, "namespace": "students", "creationTimestamp": "2026-02-02T07:00:00Z"}
    return {"kind": "PartialObjectMetadata", "metadata": {**known, **metadata}}


def both(cluster: FakeCluster, sessions: WatchedCluster) -> Callable[[Received], Reply]:
    """One server with the objects of the pod's own namespace, and those that are watched."""
    of_cluster = answered_by(cluster)

    def answer(received: Received) -> Reply:
        path = received.path.partition("?")[0]
        is_watched = path in (SESSIONS, RENKU, CONFIGMAPS)
        return sessions.answer(received) if is_watched else of_cluster(received)

    return answer

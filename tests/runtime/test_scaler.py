"""The programs of a pod as its Job starts them: real processes, real sockets, TLS, real signals."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import pytest
import yaml
from berth.runtime import sweep
from berth.runtime.occurrence import CLOSED, LATE_SECONDS, STUCK_SECONDS, exit_code
from berth.runtime.scaler import PARALLEL_REQUESTS, _replace, main

from tests.bench.memory import resident
from tests.console import ROOT
from tests.runtime.fake_cluster import LEASES, FakeCluster
from tests.runtime.fake_koordinator import FakeKoordinator
from tests.runtime.programs import (
    CODE,
    OPEN,
    OVER,
    SESSIONS,
    START,
    both,
    environment,
    events,
    make_berth,
    run_code,
    session,
    start,
    start_main,
    timetable,
    wait_until,
)
from tests.runtime.slotworld import SlotCluster, slots
from tests.runtime.stub_server import Received, Reply, StubServer, answered_by, reply
from tests.runtime.timetables import at, pool, whole_timetable_text
from tests.runtime.watched_cluster import WatchedCluster
from tests.runtime.watching import SESSIONS as RENKU
from tests.runtime.watching import session as renku_session

# The scaler


class Scene(NamedTuple):
    cluster: FakeCluster
    sessions: WatchedCluster
    share: Path
    variables: dict[str, str]
    account: Path
    server: StubServer

    def start(self) -> subprocess.Popen[str]:
        return start(self.account, self.variables)

    def reaches(self, replicas: int) -> bool:
        return wait_until(lambda: self.cluster.scales["course-small"] == replicas)

    @property
    def word(self) -> str:
        file = self.share / "until"
        return file.read_text("ascii") if file.exists() else ""


@contextmanager
def scene(
    account: Path, share: Path, running: int = 0, window: tuple[str, str, str] = OPEN, replicas: int = 0
) -> Iterator[Scene]:
    cluster = FakeCluster(timetable(window, "maintain"), {"course-small": replicas})
    sessions = WatchedCluster()
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


FOLLOWED = """\
import json, sys
from berth.core.timetable import parse_timetable
from berth.runtime.program import Log, RuntimeContext, load_plugins
from berth.runtime.pools import pool_reconciler
from berth.runtime.sessionobserver import SessionObserver
plugins = load_plugins({"BERTH_PLUGINS": sys.argv[1]}, "sweep")
log = Log(print, lambda: 0.0, "")
context = RuntimeContext(None, "berth", log, lambda: 0.0, lambda: 0.0, plugins=plugins)
for text in json.load(sys.stdin):
    timetable = parse_timetable(text)
    for pool in timetable.pools:
        assert pool.holder.plugin in {"", *plugins}, pool
        pool_reconciler(context, pool)
    observed = SessionObserver(context, lambda: sys.exit("watched"))
    observed._watches.arrange = lambda wanted: None
    observed.update(timetable)
"""


def test_each_rendered_pod_has_the_plugins_that_its_timetable_needs(tmp_path: Path) -> None:
    texts: dict[str, list[str]] = {}
    for file in sorted((ROOT / "rendered/clusters").glob("*/reservations/*.yaml")):
        objects = list(yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader))
        found = [one["data"]["timetable.json"] for one in objects if "timetable.json" in one.get("data", {})]
        for job in (one for one in objects if one["kind"] == "CronJob"):
            (scaler,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["initContainers"]
            variables = {one["name"]: one.get("value", "") for one in scaler["env"]}
            texts.setdefault(variables.get("BERTH_PLUGINS", ""), []).extend(found)
    for plugins, timetables in texts.items():
        berth = make_berth(tmp_path / f"code-{plugins}")
        for folder in (berth / "berth/plugins").iterdir():
            if folder.is_dir() and folder.name not in plugins.split():
                rmtree(folder)
        command = [sys.executable, "-S", "-c", FOLLOWED, plugins]
        subprocess.run(command, cwd=berth, input=json.dumps(timetables), text=True, check=True)

    assert {"", "renku", "slots"} <= texts.keys()


def test_the_scaler_subtracts_sessions_with_nothing_but_its_folder_and_no_plugin(
    account: Path, tmp_path: Path
) -> None:
    """Also where the site has a Renku, of which all timetables know."""
    berth = make_berth(tmp_path / "code")
    rmtree(berth / "berth/plugins")
    with scene(account, tmp_path, running=4) as site:
        tree = json.loads(str(site.cluster.timetable))
        tree["settings"]["renkuUrl"] = "https://renku.example.org"
        site.cluster.timetable = json.dumps(tree)
        scaler = start(account, {**site.variables, "BERTH_PLUGINS": ""}, folder=berth)
        occurrence = start_main(tmp_path)

        assert site.reaches(21)

        site.sessions.put(SESSIONS, session("late"))

        assert site.reaches(20)
        assert site.word == "221845392000"
        assert stop(occurrence) == (143, [])
        code, told = stop(scaler)
        # The second scale is in the cluster a moment before it is in the log.
        assert (code, told[0], told[-1], "scaled" in told) == (0, "timetable", "terminated", True)
        assert "failed" not in told
        assert site.cluster.writers == ["scaler", "scaler"]


def test_after_the_end_the_scaler_closes_its_pool_and_keeps_running(account: Path, tmp_path: Path) -> None:
    with scene(account, tmp_path, window=OVER, replicas=25) as site:
        scaler, occurrence = site.start(), start_main(tmp_path)
        occurrence.communicate(timeout=30)

        assert (occurrence.returncode, site.cluster.scales["course-small"], site.word) == (0, 0, "closed")

        time.sleep(0.5)

        assert scaler.poll() is None
        assert stop(scaler) == (0, ["timetable", "lease", "scaled", "ended"])


def test_a_stopped_scaler_releases_its_lease_and_keeps_renew_time_and_seats(
    account: Path, tmp_path: Path
) -> None:
    """However slow the machine of the test is."""
    patient = "import os, sys; from berth.runtime import scaler as s; s.RELEASE_SECONDS = 20.0"
    with scene(account, tmp_path) as site:
        scaler = run_code(
            f"{patient}; sys.exit(s.main(os.environ, sys.argv[1]))", site.variables, str(account)
        )
        assert site.reaches(25)
        held = dict(site.cluster.all_in(LEASES)["course-small"]["spec"])
        scaler.terminate()
        output, _ = scaler.communicate(timeout=30)
        code, told = scaler.returncode, events(output)

        assert (code, told[-1], held["holderIdentity"]) == (0, "terminated", "course-1-x")
        assert site.cluster.all_in(LEASES)["course-small"]["spec"] == {**held, "holderIdentity": ""}
        assert (site.cluster.scales["course-small"], len(site.cluster.writers)) == (25, 1)


def test_a_scaler_that_is_stopped_in_the_middle_of_a_request_ends_at_once(
    account: Path, tmp_path: Path
) -> None:
    def hang(_received: Received) -> Reply:
        time.sleep(3.5)
        return reply(500, b"")

    with StubServer(hang, account) as server:
        scaler = start(account, environment(server, tmp_path))
        assert wait_until(lambda: len(server.received) >= 1)
        began = time.monotonic()
        code, told = stop(scaler)

    assert (code, told) == (0, ["terminated"])
    assert time.monotonic() - began < 2


def test_the_scaler_goes_on_if_its_log_is_closed(account: Path, tmp_path: Path) -> None:
    with scene(account, tmp_path, window=OVER, replicas=25) as site:
        reader, writer = os.pipe()
        os.close(reader)
        with run_code(START.format("scaler"), site.variables, str(account), stdout=writer) as scaler:
            os.close(writer)
            assert site.reaches(0)
            assert wait_until(lambda: site.word == "closed")
            scaler.terminate()

    assert scaler.returncode == 0


INCOMPLETE = [
    ({}, "'KUBERNETES_SERVICE_HOST'"),
    ({"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}, "'BERTH_NAMESPACE'"),
]


@pytest.mark.parametrize("program", [main, sweep.main], ids=["scaler", "sweep"])
@pytest.mark.parametrize(("variables", "missing"), INCOMPLETE, ids=["nothing", "no-namespace"])
def test_a_missing_environment_variable_is_reported(
    program: Callable[[dict[str, str]], int],
    variables: dict[str, str],
    missing: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert program(variables) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    reason = json.loads(capfd.readouterr().out)["reason"]
    assert reason == f"missing or invalid environment variable: {missing}"


# Writes what functions import of ours and the program has not loaded before it begins.
LATE = """\
import ast, sys
from importlib import import_module
from berth.runtime.program import load_plugins
import_module("berth.runtime." + sys.argv[1])
load_plugins({"BERTH_PLUGINS": sys.argv[3]}, sys.argv[2])
for name in [name for name in sys.modules if name.startswith("berth.") and sys.modules[name].__file__]:
    tree = ast.parse(open(sys.modules[name].__file__, encoding="utf-8").read())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in [node for function in functions for node in ast.walk(function)]:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("berth."):
            print(*{node.module} - sys.modules.keys())
"""


@pytest.mark.parametrize(
    ("program", "unused", "plugins"),
    [("scaler", "sweep", "numbers rehearsals renku slots"), ("sweep", "reconciler", "numbers pruning slots")],
)
def test_nothing_of_berth_is_imported_after_the_start(program: str, unused: str, plugins: str) -> None:
    """So an upgrade of the mounted code cannot mix two versions in one process."""
    output, _ = run_code(LATE, os.environ, program, unused, plugins).communicate()

    assert output.split() == []


# Memory, on Linux, which alone tells what is resident


AT_REST = 25 if sys.version_info < (3, 14) else 29  # MiB; the interpreter itself has become larger
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is resident")


def mebibytes_of(account: Path, variables: dict[str, str], berth: Path, live: Callable[[], object]) -> float:
    """What a scaler has resident after a life as the pod has it, without compiled files of ours."""
    lean = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
    process = start(account, variables | lean, folder=berth)
    try:
        live()
        return resident(process.pid)
    finally:
        process.kill()
        process.communicate()


def large_session(number: int) -> dict[str, Any]:
    """6.5 KB, as Renku's are."""
    project, launcher = f"01JC3CB5426KC7P5ST{number % 300:08d}", "01JC3CB5426KC7P5STS5X3KSS8"
    name = f"00000000-0000-4000-8000-{number:012d}"
    tree = renku_session(name, {"app": f"s{number}"}, project_id=project, launcher_id=launcher)
    fields: dict[str, Any] = {f"f:{n}": {"f:a": {}, "f:b": {}} for n in range(40)}
    tree["metadata"] |= {"name": name, "namespace": "renku", "managedFields": [{"fieldsV1": fields}]}
    tree["spec"] = {"session": {"env": [{"name": f"V{n}", "value": "y" * 50} for n in range(60)]}}
    return tree


@on_linux
@pytest.mark.parametrize(("sessions", "more"), [(50, 0), pytest.param(5000, 6, marks=pytest.mark.long)])
def test_many_large_sessions_use_little_memory(
    account: Path, tmp_path: Path, sessions: int, more: int
) -> None:
    assert 6_000 < len(json.dumps(large_session(1))) < 6_700
    watched = WatchedCluster()
    watched.fill(RENKU, [large_session(number) for number in range(sessions)])
    keys = {"source": "renku", "namespaces": ["renku"], "selector": {}, "earlier": "count", "renkuId": 5}
    row = ("course/1", *OPEN, {"small": 9000})
    text = whole_timetable_text("course", {"small": pool("course-small", "maintain", keys)}, [row])
    cluster = FakeCluster(text, {"course-small": 0})
    with StubServer(both(cluster, watched), account) as server:

        def live() -> None:
            assert wait_until(lambda: cluster.scales["course-small"] == 9000 - sessions, 60)
            for number in range(50):
                watched.put(RENKU, large_session(100_000 + number))
            assert wait_until(lambda: cluster.scales["course-small"] == 8950 - sessions, 60)

        variables = environment(server, tmp_path) | {"BERTH_PLUGINS": ""}
        assert mebibytes_of(account, variables, make_berth(tmp_path), live) <= AT_REST + more
        watched.end_watches()


# Slots


def large(tree: dict[str, Any]) -> None:
    """As an object is that Koordinator has written to: some 5 KB."""
    fields: dict[str, Any] = {f"f:{n}": {"f:a": {}, "f:b": {}} for n in range(90)}
    tree["metadata"]["managedFields"] = [{"manager": "koord-scheduler", "fieldsV1": fields}]
    tree["status"] = {
        "phase": "Available",
        "nodeName": "node-1",
        "conditions": [{"type": kind, "reason": "x" * 200, "message": "y" * 400} for kind in "ab"],
    }


@pytest.mark.long
@on_linux
def test_two_hundred_slots_use_little_memory_and_few_connections(account: Path, tmp_path: Path) -> None:
    pools = {"small": {**pool("course-small", "none"), "slots": slots()}}
    timetable = whole_timetable_text("course", pools, [("course/1", *OPEN, {"small": 200})])
    cluster = SlotCluster(timetable, {}, FakeKoordinator(time.time))
    koordinator = cluster.koordinator
    with StubServer(answered_by(cluster), account) as server:

        def live() -> None:
            assert wait_until(lambda: len(koordinator.objects) == 200, 60)
            for tree in koordinator.objects.values():
                large(tree)
            assert len(json.dumps(next(iter(koordinator.objects.values())))) > 4_500
            looks = len(server.received)
            assert wait_until(lambda: len(server.received) > looks + 4, 30)

        variables = environment(server, tmp_path)
        assert mebibytes_of(account, variables, make_berth(tmp_path), live) <= AT_REST

    assert server.connections <= PARALLEL_REQUESTS + 2  # the watch and the Lease have their own
    assert [verb for verb, _ in koordinator.writes] == ["POST"] * 200


# The main container


END = at("10:00")
# What the interpreter itself has not loaded at its start, and this program has afterwards.
LOADED = """\
import runpy, sys
before = set(sys.modules)
import {}
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize(
    ("word", "now", "silence", "expected"),
    [
        pytest.param("", "09:00", 0, None, id="it-has-just-started"),
        pytest.param("", "09:00", STUCK_SECONDS - 1, None, id="the-scaler-may-start-slowly"),
        pytest.param("", "09:00", STUCK_SECONDS, 1, id="no-word-ever"),
        pytest.param(str(END), "09:59:59", 5, None, id="open"),
        pytest.param(str(END), "09:59:59", STUCK_SECONDS, 1, id="open-and-silent"),
        pytest.param(str(END), "10:00:59", 5, None, id="over-and-not-silent"),
        pytest.param(str(END), "10:00:00", LATE_SECONDS - 1, None, id="over-and-not-silent-for-long"),
        pytest.param(str(END), "10:00:00", LATE_SECONDS, 0, id="over-and-silent"),
        pytest.param(str(END), "23:00:00", 3, None, id="the-clock-has-jumped"),
        pytest.param(CLOSED, "09:00", 0, 0, id="closed"),
        pytest.param("clos", "09:00", LATE_SECONDS, None, id="nonsense"),
        pytest.param("-1", "09:00", LATE_SECONDS, None, id="no-instant"),
        pytest.param("1e9", "09:00", STUCK_SECONDS, 1, id="nonsense-and-silent"),
    ],
)
def test_the_exit_code_depends_on_the_shared_time_and_the_silence_of_the_scaler(
    word: str, now: str, silence: float, expected: int | None
) -> None:
    assert exit_code(word, float(at(now)), silence) == expected


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    output, _ = process.communicate(timeout=20)
    return process.returncode, output


def say(share: Path, word: str) -> None:
    _replace(str(share / "until"), word)


def test_the_main_container_stays_after_the_end_while_the_scaler_reports(tmp_path: Path) -> None:
    process = start_main(tmp_path, "o.LATE_SECONDS = o.STUCK_SECONDS = 2.5")
    for _ in range(7):
        say(tmp_path, "1000000000")
        time.sleep(0.5)

    assert process.poll() is None
    assert ended(process) == (0, "")


@pytest.mark.parametrize("word", ["", "9000000000", "nonsense", "\xff"])
def test_the_main_container_exits_1_if_the_scaler_hangs(tmp_path: Path, word: str) -> None:
    if word:
        (tmp_path / "until").write_text(word, encoding="latin-1")

    assert ended(start_main(tmp_path, "o.STUCK_SECONDS = 1.5")) == (1, "")


def test_the_main_container_loads_only_its_own_module() -> None:
    """Nothing of ours but itself, and nothing of the network."""

    def loaded(what: str) -> set[str]:
        command = [sys.executable, "-BSE", "-c", LOADED.format(what)]
        found = subprocess.run(command, cwd=CODE, capture_output=True, text=True, check=True)
        return set(found.stdout.split())

    ours = {"berth", "berth.runtime", "berth.runtime.occurrence"}
    assert loaded("berth.runtime.occurrence") - loaded("os, _signal, sys, time") == ours


def test_the_scaler_replaces_its_shared_file_atomically(tmp_path: Path) -> None:
    say(tmp_path, "1000000000")
    with (tmp_path / "until").open(encoding="ascii") as old:
        say(tmp_path, CLOSED)

        assert old.read() == "1000000000"
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("until", CLOSED)]
    with pytest.raises(OSError, match="No such file or directory"):
        say(tmp_path / "nowhere", CLOSED)

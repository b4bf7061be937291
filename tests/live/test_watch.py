"""`berth status --watch`: looks again and again, until somebody interrupts."""

import contextlib
import gc
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Self

import pytest
from berth import cli
from berth.cli import console, status
from berth.cli.console import new_lines, on_screen
from berth.live import access
from berth.live.kubeobject import ClusterError

from tests.cases import tabled
from tests.live import project
from tests.live.api_server import ApiServer, kubeconfig
from tests.live.happenings import NOW, in_order
from tests.live.judged import wordless
from tests.live.sites import TEXT
from tests.live.world import World

ROOT = Path(__file__).parents[2]
LINE = "course       small  active  08:30-13:00  20      20     0        5\n"


def test_only_new_lines_are_written_if_the_output_is_no_terminal() -> None:
    """A cell that makes its column wider changes no other line."""
    written: list[str] = []
    with new_lines(written.append) as show:
        for text in (
            "A  B\n1  2\n3  4\n",
            "A  B\n1  2\n3  4\n",
            "A      B\n1      2\n3 400  5\n",
            "A  B\n1  2\n",
        ):
            show(text)
        show("A  B\n3  4\n")

    assert written == ["A  B\n1  2\n3  4\n", "3 400  5\n", "3  4\n"]


def test_a_terminal_shows_each_text_over_the_last_and_then_is_restored() -> None:
    written: list[str] = []

    def interrupted() -> None:
        with on_screen(written.append, lambda: (80, 24)) as show:
            show("a\nb\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert written == ["\x1b[?1049h\x1b[?25l", "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J", "\x1b[?25h\x1b[?1049l"]


@tabled("live")
def test_lines_that_do_not_fit_the_terminal_are_counted(
    lines: list[str], shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "has_color", lambda _: True)
    written: list[str] = []
    with on_screen(written.append, lambda: (10, 3)) as show:
        show("\n".join(lines))

    assert written[1] == "\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in shown) + "\x1b[J"


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(in_order(project.project())) as made:
        yield made


def started(server: ApiServer, folder: Path, **streams: int) -> subprocess.Popen[bytes]:
    file = kubeconfig(folder / "kubeconfig", {"prod": server.url})
    words = ["-C", str(project.write(folder)), "status", "--watch", "--now", NOW, "--kubeconfig", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    command = [sys.executable, "-m", "berth", *words]
    return subprocess.Popen(command, env=environment, **streams)  # type: ignore[call-overload,no-any-return]


def until(stream: IO[bytes], end: bytes) -> bytes:
    found = b""
    while not found.endswith(end):
        more = stream.read(1)
        assert more, found
        found += more
    return found


def test_an_interrupt_ends_watch_without_output(server: ApiServer, tmp_path: Path) -> None:
    process = started(server, tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        until(process.stdout, LINE.encode())
        process.send_signal(signal.SIGINT)

        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert process.returncode == 130


def test_a_terminal_shows_its_old_screen_after_an_interrupt(server: ApiServer, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = started(server, tmp_path, stdout=theirs, stderr=theirs)
    os.close(theirs)
    with process, closing(os.fdopen(ours, "rb", buffering=0)) as terminal:
        shown = until(terminal, b"\x1b[J")
        process.send_signal(signal.SIGINT)
        last = until(terminal, b"\x1b[?1049l")
        process.wait()

    assert process.returncode == 130
    assert last == b"\x1b[?25h\x1b[?1049l"
    assert b"\x1b[32mactive\x1b[0m" in shown
    assert (
        re.sub(rb"\x1b\[[^a-zA-Z]*[a-zA-Z]", b"", shown).replace(b"\r\n", b"\n").decode().endswith(LINE[:-1])
    )


class _Outage:
    """A client whose lists fail at some looks, and the pause between two looks, which takes no time."""

    def __init__(self, world: World, failures: Sequence[ClusterError | None]) -> None:
        self.failures = [*failures]
        self.tracked: list[int] = []  # objects that the garbage collector knows, after each look
        self.is_collecting: list[bool] = []
        self._world = world
        self._threads = {*threading.enumerate()}

    def client(self, *_: object) -> Self:
        return self

    def get(self, path: str, query: Mapping[str, str], accept: str) -> Any:
        failure = self.failures[0]
        if failure is not None:  # a new one each time, as each request has its own
            raise ClusterError(failure.status, str(failure))
        return self._world.ask(path, query, accept)

    def pause(self, _: float) -> None:
        for thread in {*threading.enumerate()} - self._threads:
            thread.join()
        self._world.asked.clear()
        self.is_collecting.append(gc.isenabled())
        gc.collect()
        self.tracked.append(len(gc.get_objects()))
        del self.failures[0]
        if not self.failures:
            raise KeyboardInterrupt


def test_watch_continues_after_failed_requests_without_using_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failure is shown once, the cluster again when it answers, and memory does not grow."""
    down, forbidden = ClusterError(0, "Connection refused"), ClusterError(401, "HTTP 401: Unauthorized")
    outage = _Outage(in_order(project.project()), [None, *[down] * 12, forbidden, None, None])
    monkeypatch.setattr(access, "ClusterClient", outage.client)
    monkeypatch.setattr(status, "time", SimpleNamespace(sleep=outage.pause))
    file = kubeconfig(tmp_path / "kubeconfig", {"prod": "http://127.0.0.1:9"})
    words = ["-C", str(project.write(tmp_path)), "status", "--watch", "--now", NOW, "--kubeconfig", str(file)]
    monkeypatch.setattr(sys, "argv", ["berth", *words])
    threshold = gc.get_threshold()
    written = tmp_path / "written"
    try:
        with (
            written.open("w") as stream,
            contextlib.redirect_stdout(stream),
            pytest.raises(SystemExit) as ended,
        ):
            cli.main()
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)

    unreachable = "course       small  unknown  08:30-13:00  ?       ?      ?        ?         unreachable\n"
    assert wordless(written.read_text()) == (
        f"{TEXT}{unreachable}\n"
        "prod: error[S001] kubectl --context=prod --namespace=berth get deployments\n"
        "prod: error[S001] 401\n"
        f"{LINE}"
    )
    assert (ended.value.code, capsys.readouterr().err) == (130, "")
    assert outage.is_collecting == [True] * 16
    assert max(outage.tracked[2:13]) - outage.tracked[2] < 12  # not even one for each failed look

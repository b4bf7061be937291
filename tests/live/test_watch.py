"""`berth status --watch`: looks again and again, until somebody interrupts."""

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest
from berth.cli.console import new_lines, on_screen

from tests.live import project
from tests.live.api_server import ApiServer, kubeconfig
from tests.live.happenings import NOW, in_order

ROOT = Path(__file__).parents[2]
LINE = "course       small  active  08:30-13:00  20      20     0        5\n"


def test_elsewhere_than_on_a_terminal_only_new_lines_are_written() -> None:
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


def test_a_terminal_shows_each_text_over_the_one_before_and_then_the_old_screen() -> None:
    written: list[str] = []

    def interrupted() -> None:
        with on_screen(written.append, lambda: (80, 24)) as show:
            show("a\nb\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert written == ["\x1b[?1049h\x1b[?25l", "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J", "\x1b[?25h\x1b[?1049l"]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["1", "2", "3"], ["1", "2", "3"]),
        (["1", "2", "3", "4"], ["1", "2", "... and 2 more lines"]),
        (["1" * 11, "2"], ["1" * 11, "2"]),
        (["1" * 21, "2"], ["... and 2 more lines"]),
        ([f"\x1b[31m{'1' * 10}\x1b[0m", "2", "3"], [f"\x1b[31m{'1' * 10}\x1b[0m", "2", "3"]),
    ],
    ids=["all", "too-many", "one-takes-two", "one-takes-three", "colour-takes-no-room"],
)
def test_what_does_not_fit_is_counted(lines: list[str], shown: list[str]) -> None:
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


def test_an_interrupt_ends_it_quietly(server: ApiServer, tmp_path: Path) -> None:
    process = started(server, tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        until(process.stdout, LINE.encode())
        process.send_signal(signal.SIGINT)

        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert process.returncode == 130


def test_a_terminal_gets_its_screen_back(server: ApiServer, tmp_path: Path) -> None:
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

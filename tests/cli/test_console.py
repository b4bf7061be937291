"""Progress, and what a terminal can show; a file or a pipe gets the same everywhere."""

import os
import pty
import struct
from fcntl import ioctl
from io import StringIO
from itertools import count
from termios import TIOCSWINSZ

import pytest
from berth.cli.console import columns, has_color, progress

ITEMS = ["course", "night", "rest"]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_progress_each_second_and_is_cleared_at_the_end() -> None:
    clock, terminal = count(0, 0.75), Terminal()

    assert list(progress(ITEMS, 3, terminal, lambda: next(clock))) == ITEMS
    assert terminal.getvalue() == "\r1 of 3 reservations\r\x1b[K"


def test_short_work_shows_no_progress() -> None:
    clock, terminal = count(0, 0.25), Terminal()

    assert list(progress(ITEMS, 3, terminal, lambda: next(clock))) == ITEMS
    assert terminal.getvalue() == ""


def test_a_file_never_gets_progress() -> None:
    clock, file = count(0, 100), StringIO()

    assert list(progress(ITEMS, 3, file, lambda: next(clock))) == ITEMS
    assert list(progress(ITEMS, 3)) == ITEMS
    assert file.getvalue() == ""


def test_canceled_work_clears_the_progress_line() -> None:
    clock, terminal = count(0, 100), Terminal()
    items = progress(ITEMS, 3, terminal, lambda: next(clock))

    next(items)
    items.close()

    assert terminal.getvalue() == "\r0 of 3 reservations\r\x1b[K"


def test_a_file_has_no_width_and_no_color() -> None:
    assert (columns(StringIO()), has_color(StringIO()), columns(None)) == (None, False, None)


@pytest.mark.parametrize(("told", "expected"), [(120, 120), (0, 80)], ids=["told", "untold"])
def test_a_terminal_has_a_width_and_color(told: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TERM": "xterm", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 24, told, 0, 0))

    with os.fdopen(theirs, "w") as stream:
        assert (columns(stream), has_color(stream)) == (expected, True)
        monkeypatch.setenv("NO_COLOR", "1")
        assert (columns(stream), has_color(stream)) == (expected, False)
    os.close(ours)

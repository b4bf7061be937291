"""Progress, and what a terminal can show; a file or a pipe gets the same everywhere."""

import io
import os
import pty
import struct
from collections.abc import Mapping
from fcntl import ioctl
from io import StringIO
from itertools import count
from termios import TIOCSWINSZ

import pytest
from berth.charts.terminal import TerminalStyle
from berth.cli.console import has_boxes, progress
from berth.cli.simulate import look_of

ITEMS = ["course", "night", "rest"]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_each_second_and_wiped_at_the_end() -> None:
    clock, terminal = count(0, 0.75), Terminal()

    assert list(progress(ITEMS, 3, terminal, lambda: next(clock))) == ITEMS
    assert terminal.getvalue() == "\r1 of 3 reservations\r\x1b[K"


def test_short_work_is_done_in_silence() -> None:
    clock, terminal = count(0, 0.25), Terminal()

    assert list(progress(ITEMS, 3, terminal, lambda: next(clock))) == ITEMS
    assert terminal.getvalue() == ""


def test_a_file_is_never_told() -> None:
    clock, file = count(0, 100), StringIO()

    assert list(progress(ITEMS, 3, file, lambda: next(clock))) == ITEMS
    assert list(progress(ITEMS, 3)) == ITEMS
    assert file.getvalue() == ""


def test_work_that_is_given_up_leaves_a_clean_line() -> None:
    clock, terminal = count(0, 100), Terminal()
    items = progress(ITEMS, 3, terminal, lambda: next(clock))

    next(items)
    items.close()

    assert terminal.getvalue() == "\r0 of 3 reservations\r\x1b[K"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, True),
        ({"LANG": "de_CH.UTF-8"}, True),
        ({"LANG": "en_US.utf8", "TERM": "xterm"}, True),
        ({"LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "C.UTF-8"}, True),
        ({"LC_ALL": "C"}, False),
        ({"LC_ALL": "C", "LANG": "de_CH.UTF-8"}, False),
        ({"LC_ALL": "", "LANG": "POSIX"}, False),
        ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, False),
        ({"LC_CTYPE": "en_GB.UTF-8", "LANG": "C"}, True),
        ({"LANG": "en_US.ISO-8859-1"}, False),
        ({"LANG": "de_CH"}, False),
        ({"LANG": "de_CH.UTF-8", "TERM": "dumb"}, False),
    ],
    ids=lambda value: "-".join(value) or "nothing" if isinstance(value, dict) else None,
)
def test_boxes_are_for_locales_that_have_them(environment: Mapping[str, str], expected: bool) -> None:
    """The ninth is how Python starts in a locale C."""
    assert has_boxes(environment) is expected


def test_a_file_or_a_pipe_has_the_default_width_and_no_color() -> None:
    assert look_of(io.StringIO()) == look_of(None) == TerminalStyle(80)


@pytest.mark.parametrize(("columns", "expected"), [(120, 120), (0, 80)], ids=["told", "untold"])
def test_a_terminal_says_its_width(columns: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LC_ALL": "de_CH.UTF-8", "TERM": "xterm", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    with os.fdopen(theirs, "w") as stream:
        colored = look_of(stream)
        monkeypatch.setenv("NO_COLOR", "1")
        plain = look_of(stream)
    os.close(ours)

    assert colored == TerminalStyle(expected, True, True)
    assert plain == TerminalStyle(expected, True, False)

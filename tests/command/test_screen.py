"""What a terminal can show is asked only of terminals; all else gets the same everywhere."""

import io
import os
import pty
import struct
from collections.abc import Mapping
from fcntl import ioctl
from termios import TIOCSWINSZ

import pytest

from gen.chart.terminal import TerminalStyle
from gen.command.screen import look, shows_boxes


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
    assert shows_boxes(environment) is expected


def test_a_file_or_a_pipe_has_the_usual_width_and_no_colour() -> None:
    assert look(io.StringIO()) == look(None) == TerminalStyle(80, boxes=True, color=False)


@pytest.mark.parametrize(("columns", "expected"), [(120, 120), (0, 80)], ids=["told", "untold"])
def test_a_terminal_says_its_width(columns: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LC_ALL": "de_CH.UTF-8", "TERM": "xterm", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    with os.fdopen(theirs, "w") as stream:
        coloured = look(stream)
        monkeypatch.setenv("NO_COLOR", "1")
        plain = look(stream)
    os.close(ours)

    assert coloured == TerminalStyle(expected, boxes=True, color=True)
    assert plain == TerminalStyle(expected, boxes=True, color=False)

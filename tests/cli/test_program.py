"""From the arguments of a process to an exit code, and unexpected errors."""

import contextlib
import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from berth import cli
from berth.output.escape import visible
from berth.version import VERSION

from tests.answer import Berth

Act = Callable[[Sequence[str]], int]


def ended(act: Act) -> object:
    with pytest.raises(SystemExit) as caught:
        cli.main(act)
    return caught.value.code


def answering(code: int) -> Act:
    return lambda _: code


def raising(error: BaseException) -> Act:
    def act(_: Sequence[str]) -> int:
        raise error

    return act


def test_the_version_option_prints_the_version(berth: Berth) -> None:
    expected = (0, f"berth {VERSION}\n", "")

    assert berth("--version") == berth("list", "--version") == berth("--version", "list") == expected
    assert berth("--strict", "--version") == expected


def test_a_path_that_is_not_a_folder_is_a_usage_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("nowhere", f"{folder}/reservations/site.yaml", "a\0b"):
        assert cli.run(["-C", name, "validate"]) == 2
        out, err = capsys.readouterr()
        assert (out, err.startswith(f"berth: -C {visible(name)}: ")) == ("", True)


def test_main_exits_with_the_code_of_the_command() -> None:
    assert [ended(answering(code)) for code in (0, 1, 4)] == [0, 1, 4]


def test_an_interrupt_exits_130() -> None:
    """Its stdout is no file here, so there is nothing that could be silenced."""
    with contextlib.redirect_stdout(None):
        assert ended(raising(KeyboardInterrupt())) == 130


def test_an_internal_error_exits_3_and_asks_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(raising(ZeroDivisionError("of ours"))) == 3

    out, err = capsys.readouterr()
    first, second, *trace = err.splitlines()
    assert out == ""
    assert first == "berth: internal error; please report it with the text below."
    assert second.startswith(f"berth {VERSION}, Python {sys.version.split()[0]}, berth ")
    assert trace[0] == "Traceback (most recent call last):"
    assert trace[-1] == "ZeroDivisionError: of ours"


def test_memory_is_collected_while_a_command_runs() -> None:
    """`status --watch` runs for days, and each failed look leaves a cycle."""

    class Node:
        alive = 0

        def __init__(self) -> None:
            Node.alive += 1
            self.itself = self

        def __del__(self) -> None:
            Node.alive -= 1

    def act(_: Sequence[str]) -> int:
        for _cycle in range(300_000):
            Node()
        return 0 if Node.alive < 250_000 else 1

    threshold = gc.get_threshold()
    try:
        assert ended(act) == 0
    finally:
        gc.unfreeze()
        gc.enable()
        gc.set_threshold(*threshold)

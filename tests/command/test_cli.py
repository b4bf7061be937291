"""From arguments to an exit code, and what becomes of faults that nobody foresaw."""

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gen import cli
from gen.version import VERSION
from tests.command.conftest import Berth

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


def test_version(berth: Berth) -> None:
    assert berth("--version") == berth("list", "--version") == (0, f"berth {VERSION}\n", "")


def test_a_slip_exits_2_with_a_hint_on_stderr(berth: Berth) -> None:
    told = "berth: there is no command rendr. Did you mean render?\nTry: berth --help\n"

    assert berth("rendr") == (2, "", told)


def test_a_folder_to_work_in_that_is_none_is_a_slip(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, why in (
        ("nowhere", "No such file or directory"),
        (f"{folder}/reservations/site.yaml", "Not a directory"),
    ):
        assert cli.run(["-C", name, "validate"]) == 2
        assert capsys.readouterr() == ("", f"berth: -C {name}: {why}.\n")


def test_without_a_folder_it_works_where_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.chdir(folder):
        assert cli.run(["validate"]) == 0
    assert capsys.readouterr() == ("3 reservations in order.\n", "")


def test_main_exits_with_the_code_of_the_command() -> None:
    assert [ended(answering(code)) for code in (0, 1, 4)] == [0, 1, 4]


def test_an_interrupt_exits_130() -> None:
    """Its stdout is no file here, so there is nothing that could be silenced."""
    with contextlib.redirect_stdout(None):
        assert ended(raising(KeyboardInterrupt())) == 130


def test_a_fault_of_ours_exits_3_and_asks_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(raising(ZeroDivisionError("of ours"))) == 3

    out, err = capsys.readouterr()
    first, second, *trace = err.splitlines()
    assert out == ""
    assert first == "berth: this is our fault, not yours. Please report it with the text below."
    assert second.startswith(f"berth {VERSION}, Python {sys.version.split()[0]}, berth ")
    assert trace[0] == "Traceback (most recent call last):"
    assert trace[-1] == "ZeroDivisionError: of ours"

"""Questions: asked until an answer is accepted, and how they end without one."""

import io
import sys

import click
import pytest
from berth.cli.command import ask
from berth.notation.refusal import CommandError


class InterruptedInput(io.StringIO):
    """A person who presses Ctrl-C."""

    def readline(self, _size: int | None = -1, /) -> str:  # type: ignore[override] # as StringIO does
        raise KeyboardInterrupt


def number(answer: str) -> int:
    if not answer.isdecimal():
        raise click.UsageError(f"{answer} is not a number.")
    return int(answer)


def test_ask_repeats_the_question_until_an_answer_is_valid(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("many\n12\n"))

    assert ask("How many?", number) == 12
    assert capsys.readouterr().err == "How many? berth: many is not a number.\nHow many? "


def test_an_empty_answer_returns_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))

    assert ask("How many?", number, "30") == 30


def test_the_end_of_the_input_is_an_error_and_ctrl_c_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("many\n"))
    with pytest.raises(CommandError, match=r"Nothing was written\."):
        ask("How many?", number)

    monkeypatch.setattr(sys, "stdin", InterruptedInput())
    with pytest.raises(KeyboardInterrupt):
        ask("How many?", number)

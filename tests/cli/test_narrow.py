"""Tables in a terminal: the examples of this repository, at its width."""

import contextlib

import pytest
from berth import cli
from berth.output.table import width

from tests.cli.conftest import ROOT
from tests.terminal import on_terminal

COMMANDS = [
    "list",
    "list --week 2027-03-03",
    "occurrences --from 2027-01-31",
    "occurrences machine-learning --from 2027-01-31",
    "plan",
    "-C tests/examples/size size linear-algebra --students 300 --show-up 80%",
    "simulate data-science-101 --sessions 08:55+10,11:00-3 --on 2027-03-01",
]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setattr("berth.cli.command.columns", lambda _: 80)


def answer(capsys: pytest.CaptureFixture[str], command: str) -> str:
    with contextlib.chdir(ROOT):
        assert cli.run([*command.split(), "--now", "2027-02-19"]) == 0
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], command: str) -> list[str]:
    return [line for line in answer(capsys, command).splitlines() if not line.endswith(".")]


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("command", COMMANDS, ids=["_".join(one.split()[:2]) for one in COMMANDS])
def test_every_table_fits_into_80_columns(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert max(map(width, told(capsys, command))) <= 80


@pytest.mark.parametrize("command", COMMANDS[:-1], ids=["_".join(one.split()[:2]) for one in COMMANDS[:-1]])
def test_a_narrow_table_has_the_same_text_as_a_piped_table(
    command: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    """Zones and times in UTC least of all: 09:00 in Zurich stands above 10:00 in Los Angeles."""
    whole = answer(capsys, command)
    request.getfixturevalue("terminal")

    assert sorted("".join(answer(capsys, command).split())) == sorted("".join(whole.split()))


@pytest.mark.usefixtures("terminal")
def test_the_wide_table_is_not_broken_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, "list -o wide")

    assert max(map(width, lines)) > 80
    assert not [line for line in lines if line.startswith(" ")]


# The program as it is, on a terminal of 80 columns.

SENTENCES = [
    "-C tests/examples/faulty validate",
    "-C tests/examples/size size linear-algebra --students 300",
    "size --class small --students 100",
    "plan data-science-101",
    "plan",
    "simulate spring-hackathon",
    "diff tests/examples/size",
    "list --class smal",
    "skip data-science-101 2027-03-02",
    "status --context nowhere",
    "move data-science-101 2027-03-03",
    "help diff",
]


@pytest.mark.parametrize("command", SENTENCES, ids=["_".join(one.split()[-3:]) for one in SENTENCES])
def test_all_output_on_a_terminal_fits_into_80_columns(command: str) -> None:
    _, shown = on_terminal(ROOT, [*command.split(), "--quiet", "--now", "2027-01-31"])
    assert [line for line in shown.splitlines() if width(line) > 80 and len(line.split()) > 1] == []


def test_yaml_to_copy_is_not_broken_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown = on_terminal(ROOT, ["plan", "--class", "gpu"])
    piped = answer(capsys, "plan --class gpu")

    assert "apiVersion" in piped
    assert shown.partition("apiVersion")[2] == piped.partition("apiVersion")[2]

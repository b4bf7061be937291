"""`--help` and `berth help`."""

import pytest
from berth.cli.group import COMMANDS, load
from berth.output.table import width

from tests.answer import Berth


def test_the_help_lists_every_command_and_common_option(berth: Berth) -> None:
    code, out, err = berth("--help")

    assert (code, err) == (0, "")
    assert [name for name in COMMANDS if f"\n  {name.ljust(11)}  {COMMANDS[name][1]}\n" not in out] == []
    assert [name for name in ("-C DIR", "-o, --output", "--strict", "--now") if f"  {name}" not in out] == []
    assert "INSTANT is" in out
    assert "Exit codes: 0 success; 1 " in out
    assert berth("-h") == berth("help") == (0, out, "")


def test_without_a_command_the_help_goes_to_stderr(berth: Berth) -> None:
    code, out, err = berth()

    assert (code, out, err) == (2, "", berth("--help").out)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_lists_every_option_and_has_examples(berth: Berth, name: str) -> None:
    command = load(name)
    code, out, err = berth(name, "--help")

    assert (code, err) == (0, "")
    assert berth("help", name) == berth(name, "-h") == berth("--help", name) == (0, out, "")
    hidden = [param for param in command.params if getattr(param, "hidden", False)]
    options = [opt for param in command.params if param not in hidden for opt in param.opts if opt[0] == "-"]
    assert [option for option in [*options, "--help"] if f"{option}" not in out] == []
    assert "\nExamples:\n  " in out


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_the_help_fits_into_80_columns(berth: Berth, name: str) -> None:
    assert max(map(width, berth("help", *([name] if name else [])).out.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_shows_the_first_help_line_of_each_command(name: str) -> None:
    assert (load(name).help or "").partition("\n")[0] == COMMANDS[name][1]

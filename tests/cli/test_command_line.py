"""How a command line is parsed: options before and after the command, in every notation, and mistakes."""

import json
from pathlib import Path

import pytest
from berth import cli
from berth.cli.group import COMMANDS, load
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.answer import Berth
from tests.cases import tabled

OPTIONS = sorted({name for one in COMMANDS for param in load(one).params for name in param.opts})
OCCURRENCES = ["course/2026-02-02T09:00", "course/2026-02-23T09:00"]


def ids(answer: str) -> list[str]:
    return [item["id"] for item in json.loads(answer)["items"]]


@tabled("cli")
def test_options_stand_before_or_after_the_command_in_any_notation(line: str, berth: Berth) -> None:
    code, out, err = berth(*line.split())

    assert (code, err) == (0, "")
    assert ids(out) == OCCURRENCES


@pytest.mark.parametrize("line", ["-C {} validate", "-C{} validate", "-C={} validate", "validate -C {}"])
def test_the_folder_option_is_read_in_each_notation(line: str, folder: Path, berth: Berth) -> None:
    assert berth(*line.format(folder).split()).code == 0


def test_the_last_value_of_a_repeated_option_is_used(folder: Path) -> None:
    assert cli.run(["-C", "/nowhere", "validate", "-C", str(folder)]) == 0


@pytest.mark.parametrize("line", ["render --strict --check", "--strict render --check"])
def test_switches_are_read_before_and_after_the_command(berth: Berth, line: str) -> None:
    assert berth(*line.split()).code == 4


def test_an_option_value_may_look_like_an_option_or_be_empty(berth: Berth) -> None:
    assert berth("list", "--class", "--strict").err.startswith('berth: No class is named "--strict".')
    assert berth("list", "--class=a=b").err.startswith('berth: No class is named "a=b".')
    assert berth("list", "--cluster", "").err.startswith('berth: No cluster is named "".')


def test_words_after_two_dashes_are_arguments(berth: Berth) -> None:
    assert berth("occurrences", "--", "--at").err.startswith('berth: No reservation is named "--at".')
    assert berth("occurrences", "-").err.startswith('berth: No reservation is named "-".')


@pytest.mark.parametrize("before", [(), ("help",)], ids=["command", "help"])
@tabled("cli")
def test_a_command_name_of_another_program_gets_a_hint_to_the_berth_command(
    word: str, hint: str, berth: Berth, before: tuple[str, ...]
) -> None:
    code, _, err = berth(*before, word)

    assert (code, "Did you mean" in err) == (2, False)
    assert hint in err.splitlines()[0]
    assert word not in COMMANDS


@pytest.mark.parametrize(
    "word", ["send", "spend", "append", "lend", "ned", "extended", "deploy", "ski", "slip", "deleted-dates"]
)
def test_a_misspelled_word_never_suggests_delete_end_or_skip(berth: Berth, word: str) -> None:
    err = berth(word).err

    assert not any(f"Did you mean {name}?" in err for name in ("delete", "end", "skip"))


@pytest.mark.parametrize(("word", "command"), [("delet", "delete"), ("delte", "delete"), ("skipp", "skip")])
def test_a_single_typo_suggests_the_command(berth: Berth, word: str, command: str) -> None:
    assert f"Did you mean {command}?" in berth(word).err


def test_all_values_of_a_repeatable_option_are_used(berth: Berth) -> None:
    code, _, err = berth("status", "--context", "prod=a", "--context=nowhere=b")

    assert (code, err.startswith("berth: --context: ")) == (2, True)


@tabled("cli")
def test_a_usage_error_exits_2_with_a_message_and_a_hint(
    line: str, words: list[str], command: str, berth: Berth
) -> None:
    code, out, err = berth(*line.split())
    message, hint = err.splitlines()

    assert (code, out) == (2, "")
    assert message.startswith("berth: ")
    assert [word for word in words if word not in message] == []
    assert hint == f"Try: {command} --help"


def test_an_unknown_class_gets_a_message_without_a_hint(berth: Berth) -> None:
    told = 'berth: No class is named "smal". Did you mean small?\n'

    assert berth("list", "--class", "smal") == (2, "", told)


@settings(max_examples=150)
@given(st.lists(st.sampled_from([*OPTIONS, "--", "-", "", "a", "-x", "--x=y", "=", "-o=", "--=", "ü"])))
@example(["--="])
@example([""])
def test_words_without_a_command_exit_with_0_or_2(words: list[str]) -> None:
    assert cli.run(words) in (0, 2)


@tabled("cli")
def test_lookalike_characters_in_a_refused_word_are_named(words: list[str], name: str, berth: Berth) -> None:
    options = ("--class", "small", "--seats", "5", "--from", "2026-02-02", "--until", "2026-05-01")
    code, out, err = berth(*words, *(options if words[0] == "new" else ()))

    assert (code, out) == (2, "")
    assert name in err

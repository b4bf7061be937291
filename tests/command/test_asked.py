"""What a command line asks for, and how a slip in it is told."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gen.command.asked import Asked, UsageError, parse
from gen.command.flags import BERTH, COMMANDS, EVERYWHERE

COMMAND = {command.name: command for command in COMMANDS}
FLAGS = [
    name for owner in (EVERYWHERE, *(one.flags for one in COMMANDS)) for flag in owner for name in flag[::3]
]


def refused(line: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse(line.split())
    return str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "-C a render --check --output-dir b",
        "render --check --output-dir b -C a",
        "render -Ca --output-dir=b --check",
        "-C=a render --output-dir b --check",
        "-C first render --output-dir first --check -C a --output-dir=b --check",
    ],
    ids=["before", "after", "together", "equals", "the-last-counts"],
)
def test_flags_stand_before_or_after_the_command_in_any_notation(line: str) -> None:
    expected = {"-C": "a", "--check": "", "--output-dir": "b"}

    assert parse(line.split()) == Asked(COMMAND["render"], (), expected, "text")


def test_a_few_flags_may_be_repeated() -> None:
    asked = parse(["status", "--context", "a=b", "--context=c", "--watch", "--context", "d", "--watch"])

    assert asked.values("--context") == ["a=b", "c", "d"]
    assert parse(["status"]).values("--context") == []


def test_a_short_flag_is_the_long_one() -> None:
    for line in ("list -o json", "list -ojson", "-o=json list", "list --output json", "--output=json list"):
        assert parse(line.split()) == Asked(COMMAND["list"], (), {"--output": "json"}, "json")
    assert parse(["-h"]).has("--help")


def test_a_value_is_taken_as_it_is() -> None:
    asked = parse(["list", "--now", "--strict", "--class=a=b", "--cluster", ""])

    assert (asked.value("--now"), asked.value("--class"), asked.value("--cluster")) == ("--strict", "a=b", "")
    assert not asked.has("--strict")
    assert asked.value("-C") is None


def test_after_two_dashes_nothing_is_a_flag_and_a_dash_alone_is_a_word() -> None:
    assert parse(["occurrences", "a", "-", "--", "--at", "--", "b"]).words == ("a", "-", "--at", "--", "b")
    assert parse(["--", "validate"]).command == COMMAND["validate"]


def test_without_a_command_it_is_about_the_program_itself() -> None:
    assert parse([]) == Asked(BERTH, (), {}, "")
    assert parse(["--version"]) == Asked(BERTH, (), {"--version": ""}, "")


def test_where_help_is_wanted_nothing_is_missing() -> None:
    assert parse(["completion", "--help"]).command == COMMAND["completion"]
    assert parse(["completion", "bash"]).words == ("bash",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rendr", "there is no command rendr. Did you mean render?\nTry: berth --help"),
        ("frobnicate x", "there is no command frobnicate.\nTry: berth --help"),
        (
            "render --chek",
            "--chek is no flag of berth render. Did you mean --check?\nTry: berth render --help",
        ),
        ("render --class a", "--class is no flag of berth render.\nTry: berth render --help"),
        ("list -xy", "-xy is no flag of berth list.\nTry: berth list --help"),
        ("--strikt=1 list", "--strikt is no flag of berth. Did you mean --strict?\nTry: berth --help"),
        (
            "--check render",
            "--check stands before its command. Write: berth render --check.\nTry: berth render --help",
        ),
        (
            "--at x occurrences",
            "--at stands before its command. Write: berth occurrences --at INSTANT.\n"
            "Try: berth occurrences --help",
        ),
        ("list --now", "--now needs a value: --now INSTANT.\nTry: berth list --help"),
        ("-C", "-C needs a value: -C DIR.\nTry: berth --help"),
        ("render --check=no", "--check is a switch and takes no value.\nTry: berth render --help"),
        ("render -hx", "-h is a switch and takes no value.\nTry: berth render --help"),
        ("validate all", 'berth validate takes only flags, not "all".\nTry: berth validate --help'),
        ("completion", "berth completion takes one of bash, zsh, fish.\nTry: berth completion --help"),
        (
            "completion tcsh",
            'berth completion takes one of bash, zsh, fish, not "tcsh".\nTry: berth completion --help',
        ),
        (
            "completion bash zsh",
            'berth completion takes one of bash, zsh, fish, not "bash zsh".\nTry: berth completion --help',
        ),
        ("render -o wide", "render cannot answer as wide; it can as text, json, github."),
        ("-o text completion bash", "completion answers in one form only; leave out -o."),
    ],
    ids=lambda value: value.replace(" ", "_")[:24],
)
def test_a_slip_is_told_with_what_to_write(line: str, message: str) -> None:
    assert refused(line) == message


def test_an_abbreviated_flag_is_none() -> None:
    """A script that wrote one would break when another flag begins like it."""
    message = "--output-d is no flag of berth render. Did you mean --output-dir?\nTry: berth render --help"

    assert refused("render --output-d x") == message


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.lists(st.sampled_from([*COMMAND, *FLAGS, "--", "-", "", "a", "-x", "--x=y", "=", "-o=", "--=", "ü"]))
)
@example(["--="])
@example([""])
def test_any_words_are_understood_or_refused(words: list[str]) -> None:
    try:
        asked = parse(words)
    except UsageError:
        return

    assert asked.command is BERTH or asked.command.name in words
    assert set(asked.given) <= {flag.name for flag in (*EVERYWHERE, *asked.command.flags)}

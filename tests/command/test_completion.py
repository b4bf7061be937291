"""Completion scripts, tried in the shells that this machine has."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gen.command.flags import COMMANDS, EVERYWHERE, SHELLS
from tests.command.conftest import ROOT, Berth

EVERY = ["-C", "-o", "--output", "--strict", "--now", "-h", "--help", "--version"]
COMPLETIONS = {
    "berth ": [*(command.name for command in COMMANDS), *EVERY],
    "berth re": ["render"],
    "berth --s": ["--strict"],
    "berth -C templ": ["templates"],
    "berth -C . re": ["render"],
    "berth render --": [
        "--check",
        "--output-dir",
        "--templates",
        "--output",
        "--strict",
        "--now",
        "--help",
        "--version",
    ],
    "berth --strict render --ch": ["--check"],
    "berth render -o ": ["text", "json", "github"],
    "berth render --output j": ["json"],
    "berth list -o w": ["wide"],
    "berth -o i": ["ics"],
    "berth render --templates t": ["templates", "tests"],
    "berth list --now ": [],
    "berth occurrences --at 2": [],
    "berth simulate course --c": ["--class", "--compare", "--chart"],
    "berth simulate course --sessions s": ["sessions.csv"],
    "berth simulate --chart t": ["templates", "tests"],
    "berth simulate --occurrence 2": [],
    "berth simulate -o ": ["text", "json"],
    "berth status --co": ["--context"],
    "berth status --kubeconfig s": ["sessions.csv"],
    "berth override --context a": [],
    "berth completion ": ["bash", "zsh", "fish", "names", *EVERY],
    "berth completion z": ["zsh"],
    "berth validate --check": [],
}
# Readline cuts a word at "=", and hands over the pieces.
PIECES = {
    ("berth", "render", "--output", "="): ["text", "json", "github"],
    ("berth", "list", "--output", "=", "m"): ["markdown"],
    ("berth", "render", "--templates", "=", "te"): ["templates", "tests"],
}
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_berth "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(berth: Berth, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The script of the shell that the test's first parameter names, in a file."""
    shell = str(request.param)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    code, out, err = berth("completion", shell)
    assert (code, err) == (0, "")
    file = tmp_path / f"berth.{shell}"
    file.write_text(out)
    return file


def completed(script: Path, words: tuple[str, ...], folder: Path) -> list[str]:
    for name in ("templates", "tests", "rendered"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "sessions.csv").touch()
    command = ["bash", "--norc", "-c", BASH, "bash", str(script), *words]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("script", SHELLS, indirect=True)
def test_the_shell_can_read_it(script: Path) -> None:
    shell = script.suffix[1:]
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_completes_commands_flags_forms_and_folders(script: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()

    lines = {line: completed(script, tuple(line.split(" ")), folder) for line in COMPLETIONS}
    pieces = {words: completed(script, words, folder) for words in PIECES}

    assert lines == COMPLETIONS
    assert pieces == PIECES


@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_completes_commands_flags_and_forms(script: Path) -> None:
    for line, expected in COMPLETIONS.items():
        if any(
            flag in line for flag in ("-C", "--templates", "--sessions", "--chart", "--kubeconfig")
        ) or line.endswith(" "):
            continue  # folders, files and order are fish's own
        command = ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        words = {word.partition("\t")[0] for word in done.stdout.splitlines()}

        assert words == set(expected), line


# Each prints the completions of the last of the words.
NAMED = {
    "bash": BASH,
    "zsh": """
compdef() { :; }; compadd() { shift; print -rl -- "$@"; }
source "$1"; shift
words=("$@"); CURRENT=$#
_berth
""",
    "fish": "source $argv[1]; complete -C (string join ' ' -- $argv[2..])",
}


@pytest.mark.parametrize("script", SHELLS, indirect=True)
def test_names_of_reservations_are_completed_in_any_folder(script: Path, folder: Path) -> None:
    shell = script.suffix[1:]
    berth_program = folder / "berth"
    berth_program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m gen "$@"\n')
    berth_program.chmod(0o755)
    (folder / "reservations/broken.yaml").write_text(
        'kind: CapacityReservation\nmetadata: {name: "$(touch touched)"}\n---\nkind: [\n'
    )

    def names(where: Path, *words: str) -> set[str]:
        command = {"bash": ["bash", "--norc", "-c", NAMED["bash"], "bash"], "zsh": ["zsh", "-f", "-c"]}
        start = command.get(shell, ["fish", "--no-config", "-c"])
        if shell != "bash":
            start = [*start, NAMED[shell], *(["zsh"] if shell == "zsh" else [])]
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        done = subprocess.run(
            [*start, str(script), *words],
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return {line.partition("\t")[0] for line in done.stdout.splitlines()} & {"course", "night", "rest"}

    assert names(folder, "berth", "skip", "") == {"course", "night", "rest"}
    assert names(folder.parent, "berth", "-C", str(folder), "simulate", "") == {"course", "night", "rest"}
    assert names(folder, "berth", "list", "") == set()
    assert names(folder, "berth", "list", "--now", "") == set()
    assert not (folder / "touched").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_flag_and_form_is_in_it(berth: Berth, shell: str) -> None:
    """Also on machines without the shell."""
    words = berth("completion", shell).out.replace("'", " ").replace("|", " ").split()

    for command in COMMANDS:
        assert {command.name, *command.forms, *command.choices} <= {*words}
        for flag in (*command.flags, *EVERYWHERE):
            names = [flag.name, flag.short] if flag.short else [flag.name]
            assert all(name in words or name.lstrip("-") in words for name in names), flag.name

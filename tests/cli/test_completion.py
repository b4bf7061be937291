"""Shell completion: what is completed, and the scripts in the shells of this machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from berth.cli.completion import SHELLS
from berth.cli.group import COMMANDS, berth
from click.shell_completion import ShellComplete

from tests.answer import Answer, Berth
from tests.cli.conftest import ROOT

COMMON = ["-C", "--strict", "--quiet", "--now", "--version", "-h", "--help"]
RENDER = ["--check", "--output-dir", "--staged", "-o", "--output"]
COMPLETIONS = {
    "": list(COMMANDS),
    "re": ["rehearse", "render", "report"],
    "--s": ["--strict"],
    "-C . re": ["rehearse", "render", "report"],
    "-o ": ["text", "wide", "json", "yaml", "csv", "markdown", "github", "ics"],
    "render --": [name for name in [*RENDER, *COMMON] if name.startswith("--")],
    "--strict render --ch": ["--check"],
    "render -o ": ["text", "github"],
    "validate --output j": ["json"],
    "list -o w": ["wide"],
    "list --now ": [],
    "simulate course --c": ["--class", "--compare"],
    "status --co": ["--context"],
    "completion z": ["zsh"],
    "help re": ["rehearse", "render", "report"],
    "occurrences -o c": ["csv"],
    "list --w": ["--week"],
    "copy n": ["night"],
    "delete n": ["night"],
    "skip ": ["course", "night", "rest"],
    "occurrences course n": ["night"],
    "list --class ": ["bench", "small"],
    "override course s": ["small"],
    "plan --cluster p": ["prod"],
    "import ": ["csv", "ics", "renku", "renku-classes", "z2jh"],
    "validate --check": [],
    "nonsense --": [name for name in ["--output", *COMMON] if name.startswith("--")],
}
Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Complete:
    monkeypatch.chdir(folder)

    def of(line: str) -> list[str]:
        *args, incomplete = line.split(" ")
        found = ShellComplete(berth, {}, "berth", "_BERTH_COMPLETE").get_completions(args, incomplete)
        assert os.getcwd() == str(folder) or "-C" in args  # noqa: PTH109
        return [item.value for item in found]

    return of


@pytest.mark.parametrize("line", COMPLETIONS)
def test_commands_options_and_values_are_completed(complete: Complete, line: str) -> None:
    assert sorted(complete(line)) == sorted(COMPLETIONS[line])


def test_paths_are_left_to_the_shell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    complete = ShellComplete(berth, {}, "berth", "_BERTH_COMPLETE").get_completions

    for option, kind in (("-C", "dir"), ("--output-dir", "dir")):
        assert [(one.type, one.value) for one in complete(["render", option], "x")] == [(kind, "x")]


def test_completed_names_come_from_the_project_of_the_command_line(
    folder: Path,
    complete: Complete,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    names = ["course", "night", "rest"]
    (folder / "docs").mkdir()
    monkeypatch.chdir(folder / "docs")
    assert complete(f"-C {folder} skip ") == names
    monkeypatch.chdir(folder / "docs")
    assert complete("-C .. skip ") == names
    monkeypatch.chdir(folder / "docs")
    assert complete(f"-C {folder}/nowhere skip ") == []
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    assert complete(f"skip -C {folder} ") == names


def test_names_of_faulty_files_are_completed_if_they_are_safe_in_a_shell(
    folder: Path, complete: Complete
) -> None:
    (folder / "reservations" / "broken.yaml").write_text(
        'kind: CapacityReservation\nmetadata: {name: "$(touch touched)"}\n---\n'
        "kind: CapacityReservation\nmetadata: {name: good}\n---\n"
        "kind: CapacityReservation\nmetadata: 3\n---\n[1, {kind: Site, spec: {clusters: [1, {name: [x]}]}}]\n"
    )
    (folder / "reservations" / "unreadable.yaml").write_text("kind: [\n")

    assert complete("skip ") == ["course", "good", "night", "rest"]
    assert complete("list --cluster ") == ["lab", "prod"]


def test_completion_names_prints_the_names_of_the_reservations(berth: Berth) -> None:
    assert berth("completion", "names") == (0, "course\nnight\nrest\n", "")


@pytest.fixture
def script(berth: Berth, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The script of the shell that the test's parameter names, in a file."""
    shell = str(request.param)
    code, out, err = berth("completion", shell)
    assert (code, err) == (0, "")
    file = tmp_path / f"berth.{shell}"
    file.write_text(out)
    return file


# Each prints the completions of the last of the words.
ASK = {
    "bash": """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_berth_completion berth
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """
compdef() { :; }; compadd() { print -rl -- ${(P)@[-1]}; }; _describe() { print -rl -- ${${(P)3}%%:*}; }
source "$1"; shift
words=("$@"); CURRENT=$#
_berth_completion
""",
    "fish": "source $argv[1]; complete -C (string join ' ' -- $argv[2..])",
}
START = {
    "bash": ["bash", "--norc", "-c", ASK["bash"], "bash"],
    "zsh": ["zsh", "-f", "-c", ASK["zsh"], "zsh"],
    "fish": ["fish", "--no-config", "-c", ASK["fish"]],
}


@pytest.mark.parametrize("script", SHELLS, indirect=True)
def test_a_shell_completes_with_its_script(script: Path, folder: Path) -> None:
    shell = script.suffix[1:]
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    program = folder / "berth"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m berth "$@"\n')
    program.chmod(0o755)

    def completed(*words: str) -> list[str]:
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        done = subprocess.run(
            [*START[shell], str(script), *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    assert completed("berth", "re") == ["render", "rehearse", "report"]
    assert completed("berth", "skip", "n") == ["night"]
    assert completed("berth", "validate", "-o", "j") == ["json"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_script_calls_the_program(berth: Berth, shell: str) -> None:
    """Also on machines without the shell."""
    answer: Answer = berth("completion", shell)

    assert f"_BERTH_COMPLETE={shell}_complete" in answer.out.replace("env ", "").replace("\\", "")
    assert answer.out.endswith("\n")

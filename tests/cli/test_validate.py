"""`berth validate`: findings in each form, and which exit code they mean."""

import json
from pathlib import Path

import pytest
from berth.cli import run

from tests.answer import Berth
from tests.cli import project

# -3 is an error, two windows that overlap are a warning, sessions that nothing narrows are a note.
ERROR = project.COURSE.replace("placeholderCount: 25", "placeholderCount: -3")
WARNING = project.REST.replace("schedule: [", 'schedule: [{startTime: "10:05", endTime: "10:10"}, ')
NOTE_CLASS = project.CLASSES.replace(
    "requests: {cpu: 250m}", "requests: {cpu: 250m}\n  sessions: {source: pods, namespaces: [a]}"
)
NOTE = project.REST.replace("scaleDownBehavior: none", "scaleDownBehavior: maintain")
TOLD_ERROR = (
    "reservations/course.yaml:16:36: error[B012] spec.provisioning.placeholderCount: -3 is below 1. "
    "Write a whole number from 1 up.\n"
)


def test_valid_reservations_are_counted(berth: Berth, folder: Path) -> None:
    assert berth("validate") == (0, "3 reservations are valid.\n", "")

    project.write(folder, night=None, rest=None)

    assert berth("validate") == (0, "1 reservation is valid.\n", "")


def test_errors_go_to_stdout_and_exit_1(berth: Berth, folder: Path) -> None:
    project.write(folder, course=ERROR)

    assert berth("validate") == (1, f"{TOLD_ERROR}1 error.\n", "")


def test_warnings_fail_only_with_strict_and_notes_never_fail(berth: Berth, folder: Path) -> None:
    project.write(folder, rest=WARNING)
    code, out, err = berth("validate")

    assert (code, err) == (0, "")
    assert out.endswith("1 warning.\n3 reservations are valid.\n")
    assert berth("validate", "--strict") == (1, out.removesuffix("3 reservations are valid.\n"), "")

    project.write(folder, rest=NOTE, classes=NOTE_CLASS)
    code, out, err = berth("--strict", "validate")

    assert (code, err) == (0, "")
    assert out.endswith("1 note.\n3 reservations are valid.\n")


def test_json_is_a_finding_list_with_or_without_findings(berth: Berth, folder: Path) -> None:
    code, out, err = berth("validate", "-o", "json")

    assert (code, err) == (0, "")
    assert json.loads(out) == {"apiVersion": "berth.dev/v1alpha1", "kind": "FindingList", "items": []}
    assert list(json.loads(out)) == ["apiVersion", "kind", "items"]

    project.write(folder, course=ERROR)
    code, out, err = berth("validate", "-o", "json")
    (item,) = json.loads(out)["items"]

    assert (code, err) == (1, "")
    assert item == {
        "severity": "error",
        "code": "B012",
        "file": "reservations/course.yaml",
        "line": 16,
        "column": 36,
        "path": "spec.provisioning.placeholderCount",
        "message": "-3 is below 1.",
        "fix": "Write a whole number from 1 up.",
    }
    assert list(item) == ["severity", "code", "file", "line", "column", "path", "message", "fix"]


def test_github_output_has_annotations_or_is_empty_for_valid_input(berth: Berth, folder: Path) -> None:
    assert berth("validate", "-o", "github") == (0, "", "")

    project.write(folder, course=ERROR)

    assert berth("validate", "-o", "github") == (
        1,
        f"::error file={folder}/reservations/course.yaml,line=16,col=36,title=B012::"
        "spec.provisioning.placeholderCount: -3 is below 1. Write a whole number from 1 up.\n",
        "",
    )


def test_an_unreadable_file_is_reported_with_all_other_findings(berth: Berth, folder: Path) -> None:
    project.write(folder, course=ERROR, broken="kind: [\n")

    code, out, err = berth("validate")

    assert (code, err) == (1, "")
    assert out == (
        'reservations/broken.yaml:1:7: error[B003] the bracket "[" is never closed. '
        f'Write "]" after its last value.\n{TOLD_ERROR}2 errors.\n'
    )


def test_a_folder_without_reservations_gets_the_finding_b001_with_advice(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str], berth: Berth
) -> None:
    empty = tmp_path_factory.mktemp("empty")

    code = run(["-C", str(empty), "validate"])

    assert (code, *capsys.readouterr()) == (
        1,
        "reservations:1:1: error[B001] the folder cannot be read: No such file or directory. "
        'Run the command in the project\'s folder, name it with "-C DIR", or create one with "berth init".\n'
        "1 error.\n",
        "",
    )
    assert berth("validate").code == 0


def test_render_counts_notes_unless_it_is_quiet(berth: Berth, folder: Path) -> None:
    project.write(folder, rest=NOTE, classes=NOTE_CLASS)

    assert berth("render").err == "1 note; berth validate shows it.\n"
    assert berth("render", "--quiet").err == ""
    assert berth("--quiet", "render").err == ""
    assert berth("render", "-o", "github").err == ""


@pytest.mark.parametrize("command", ["list", "occurrences", "simulate course"])
def test_list_occurrences_and_simulate_print_no_notes(command: str, berth: Berth, folder: Path) -> None:
    project.write(folder, rest=NOTE, classes=NOTE_CLASS)

    assert berth(*command.split()).err == ""


def test_a_date_far_from_now_gets_the_finding_b084(berth: Berth, folder: Path) -> None:
    project.write(folder, course=project.COURSE)

    assert "B084" in berth("validate", "--now", "2020-01-01").out
    assert "B084" not in berth("validate", "--now", "2026-01-01").out


def test_notes_are_not_counted_beside_errors(berth: Berth, folder: Path) -> None:
    project.write(folder, rest=NOTE, classes=NOTE_CLASS, course=ERROR)

    assert berth("list") == (1, "", f"{TOLD_ERROR}1 error.\n")

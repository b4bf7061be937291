"""Commands that change files: what `set`, `skip`, `move` and others write, say and refuse."""

import shlex
import subprocess
from pathlib import Path

import pytest
from berth.edit.edits import parse_assignment
from berth.notation.refusal import CommandError

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project
from tests.edit.newcourse import GIVEN, once_on


def test_skip_prints_the_removed_date(berth: Berth, folder: Path) -> None:
    assert berth("skip", "course", "2026-02-02") == (
        0,
        "reservations/course.yaml:\n"
        "~ course: Zürich, Café | Lab [prod]\n"
        "- 25 small: Mon 2026-02-02 09:00-13:00 (08:00-12:00 UTC)\n"
        "  1 other date stays\n"
        "  seat-hours: 225 -> 112.5\n"
        "Next: berth render\n",
        "",
    )
    text = (folder / "reservations/course.yaml").read_text("utf-8")
    assert "    except:\n      - 2026-02-02\n      - 2026-02-09\n" in text


def test_set_removes_keys_and_creates_missing_keys(berth: Berth, folder: Path) -> None:
    told = berth("set", "course", "recurrence.except=", "metadata.labels.term=spring", "suspend=true").out
    assert "~ suspended: no -> yes\n~ label term: none -> spring\n" in told
    text = (folder / "reservations/course.yaml").read_text("utf-8")
    assert "except" not in text
    assert "metadata: {name: course, labels: {term: spring}}\n" in text
    assert berth("set", "course", "recurrence.except=").code == 2
    assert berth("set", "course", "provisioning.leadTimeMinutes=10").code == 0


def test_an_error_in_another_file_does_not_stop_an_edit(berth: Berth, folder: Path) -> None:
    project.write(folder, broken=project.REST.replace("name: rest", "name: -"))
    assert berth("validate").code == 1
    assert berth("skip", "course", "2026-02-02").code == 0


@pytest.mark.parametrize("command", [("set", "suspend=true"), ("skip", "2026-02-09")], ids=["set", "skip"])
def test_a_file_with_errors_is_not_edited_and_its_errors_are_reported(
    command: tuple[str, str], berth: Berth, folder: Path
) -> None:
    wrong = project.COURSE.replace("startDate: 2026-02-02", "startDate: 2026-02-30")
    project.write(folder, course=wrong)
    told = berth(command[0], "course", command[1])

    assert (told.code, told.out) == (1, "")
    assert "error[B017] spec.recurrence.startDate: " in told.err
    assert told.err.endswith("reservations/course.yaml is not changed.\n")
    assert (folder / "reservations/course.yaml").read_text("utf-8") == wrong


LARGE = "  policies: [{name: large, when: {seatsAbove: 25}, require: {approvalBy: platform}}]\n"


def test_an_edit_prints_the_approval_that_a_policy_requires(berth: Berth, folder: Path) -> None:
    site = folder / "reservations/site.yaml"
    site.write_text(site.read_text("utf-8") + LARGE, "utf-8")

    assert "policy" not in berth("set", "course", "title=Course").out
    assert berth("set", "course", "provisioning.placeholderCount=26").out.endswith(
        "! course: needs approval by platform, policy large: 26 seats, above 25\nNext: berth render\n"
    )


@tabled("edit")
def test_set_uses_the_whole_text_as_the_value(text: str, value: object) -> None:
    assert parse_assignment(f"title={text}").value == value


@pytest.mark.parametrize(
    "text", ['"a" # b', "[a] # b", '"a", "b"', "[a], [b]", '"a": b', "'a' b", "[a", "{a: 1} #"]
)
def test_a_value_that_yaml_would_read_only_in_part_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="not valid YAML"):
        parse_assignment(f"title={text}")


@pytest.mark.parametrize(
    "path", ["metadata.annotations.example.org/why", 'metadata.annotations["example.org/why"]']
)
def test_a_key_with_dots_is_one_key(berth: Berth, folder: Path, path: str) -> None:
    assert berth("set", "course", f"{path}=exam").code == 0
    assert "annotations: {example.org/why: exam}" in (folder / "reservations/course.yaml").read_text("utf-8")
    assert berth("set", "course", f"{path}=").code == 0
    assert "example.org" not in (folder / "reservations/course.yaml").read_text("utf-8")


@pytest.mark.parametrize("word", ["mond", "mon-fry"])
def test_a_message_ends_with_one_punctuation_mark(berth: Berth, word: str) -> None:
    answer = berth("new", "x", "09:00-10:00", *GIVEN, "--weekly", word)
    assert "?." not in answer.err
    assert ".." not in answer.err


# How an edit is taken back


@pytest.fixture
def tracked(folder: Path) -> Path:
    """The course, in a repository that has it in its index."""
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    subprocess.run(["git", "-C", folder, "add", "."], check=True)
    return folder / "reservations/course.yaml"


@tabled("edit")
def test_an_edit_of_an_unmodified_tracked_file_prints_a_git_restore_command(
    words: list[str], berth: Berth, tracked: Path
) -> None:
    before = tracked.read_bytes()
    told = berth(*words).out

    command = told.splitlines()[-1].removeprefix("Undo: ")
    assert command == f"git -C {tracked.parents[1]} restore reservations/course.yaml"
    subprocess.run(shlex.split(command), check=True)
    assert tracked.read_bytes() == before


@pytest.mark.usefixtures("tracked")
def test_a_second_edit_of_a_file_prints_no_undo_command(berth: Berth) -> None:
    assert "Undo" in berth("set", "course", "title=A").out
    assert "Undo" not in berth("set", "course", "title=B").out
    assert "Undo" not in berth("delete", "course").out


@pytest.mark.usefixtures("folder")
def test_an_edit_outside_of_a_git_repository_prints_no_undo_command(berth: Berth) -> None:
    assert "Undo" not in berth("set", "course", "title=A").out


@pytest.mark.usefixtures("tracked")
def test_an_edit_that_changes_nothing_prints_no_undo_command(berth: Berth) -> None:
    assert "Undo" not in berth("add", "course", "2026-02-02").out


def test_the_undo_command_of_a_new_file_quotes_its_path(berth: Berth, folder: Path) -> None:
    told = berth(*once_on("2026-03-02"), "--file", "reservations/a course/algebra.yaml").out

    assert told.splitlines()[-1] == f"Undo: rm '{folder}/reservations/a course/algebra.yaml'"


def test_seats_that_no_date_would_get_are_refused(berth: Berth, folder: Path) -> None:
    file = folder / "reservations/course.yaml"
    assert berth("set", "course", "recurrence.schedule[0].placeholderCount=3").code == 0
    before = file.read_text("utf-8")
    told = berth("set", "course", "--seats", "60")

    assert (told.code, file.read_text("utf-8")) == (2, before)
    assert "recurrence.schedule[0].placeholderCount=NUMBER" in told.err


@tabled("edit")
def test_commands_accept_unambiguous_spellings_of_dates_times_and_seats(
    words: list[str], expected: str, berth: Berth, folder: Path
) -> None:
    assert berth(*words).code == 0
    assert expected in (folder / "reservations/course.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ("set", "course", "title=\udcff"),
        ("new", "x", "--title", "\udcff"),
        ("skip", "\udcff", "2026-02-02"),
        ("list", "--class", "\udcff"),
    ],
    ids=["set", "option", "argument", "list"],
)
def test_an_argument_that_is_not_utf_8_is_a_usage_error(berth: Berth, words: tuple[str, ...]) -> None:
    told = berth(*words)

    assert (told.code, told.out, "is not UTF-8" in told.err) == (2, "", True)

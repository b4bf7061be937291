"""A change does not choose what it is compared with."""

import contextlib
import json
import shutil
from pathlib import Path

import pytest
from berth import cli

from tests.answer import Answer
from tests.diff.conftest import NOW, History, Pair

MANY = ("course.yaml", "placeholderCount: 25", "placeholderCount: 500")


def copy_as(history: History, folder: str) -> None:
    """Commit a change, and a folder of this name in which it has been made before."""
    history.pair.edit(*MANY)
    shutil.copytree(history.root / "reservations", history.root / folder / "reservations")
    history.commit("a small correction")


def remote_main(history: History) -> str:
    commit = history.git("rev-parse", "HEAD")
    history.git("update-ref", "refs/remotes/origin/main", commit)
    return commit


@pytest.mark.parametrize(
    "name", ["main", "origin/main", "refs/remotes/origin/main", "v1", "commit", "commit~0"]
)
def test_a_folder_named_like_the_base_is_not_used_as_the_base(history: History, name: str) -> None:
    commit = remote_main(history)
    history.git("tag", "v1")
    history.git("checkout", "--quiet", "-b", "change")
    name = name.replace("commit", commit)
    copy_as(history, name)

    assert "peak seats of small in prod 25 -> 500" in history.diff(name).out


def test_a_base_is_a_folder_only_if_it_is_written_as_a_path(history: History) -> None:
    copy_as(history, "other")
    answer = history.diff("other")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith('berth: no commit named "other".')
    for folder in ("./other", "../now/other", str(history.root / "other")):
        assert "\nseats" not in history.diff(folder).out
        assert history.diff(folder).out.splitlines()[1] == f"{folder} -> working tree"
    assert history.diff("./nothing").err == "berth: ./nothing has no folder reservations/.\n"


@pytest.mark.parametrize("other", ["tags", "heads"])
def test_an_ambiguous_base_name_is_refused(history: History, other: str) -> None:
    remote_main(history)
    history.git("checkout", "--quiet", "-b", "change")
    history.pair.edit(*MANY)
    history.git("update-ref", f"refs/{other}/origin/main", history.commit("a small correction"))

    for name in ("origin/main", "origin/main~0", "origin/main^{commit}"):
        answer = history.diff(name)
        assert (answer.code, answer.out) == (2, "")
        assert f'"{name}" is ambiguous: refs/{other}/origin/main, refs/remotes/origin/main.' in answer.err
    for name in ("refs/remotes/origin/main", "remotes/origin/main", ""):
        words = [name] if name else []
        assert "peak seats of small in prod 25 -> 500" in history.diff(*words).out


def test_a_commit_id_means_that_commit_despite_a_branch_of_its_name(history: History) -> None:
    commit = history.git("rev-parse", "HEAD")
    history.pair.edit(*MANY)
    later = history.commit("a small correction")
    for name in (commit, commit[:9]):
        history.git("update-ref", f"refs/heads/{name}", later)

    assert "peak seats of small in prod 25 -> 500" in history.diff(commit).out
    assert f'"{commit[:9]}" is ambiguous: refs/heads/{commit[:9]}, {commit}.' in history.diff(commit[:9]).err


@pytest.mark.parametrize("name", ["", "^HEAD", "HEAD..HEAD", "HEAD^@", "--all", "HEAD:reservations", "@{-9}"])
def test_a_base_that_is_not_one_commit_is_refused(history: History, name: str) -> None:
    answer = history.diff("--", name)

    assert (answer.code, answer.out) == (2, "")
    assert f'no commit named "{name}"' in answer.err


# Links and submodules


@pytest.fixture
def university(pair: Pair) -> History:
    """The project is a folder of the repository, and beside it is another one, with 500 seats."""
    history = History(pair, pair.now.parent)
    shutil.copytree(pair.now, history.root / "mine")
    course = history.root / "mine/reservations/course.yaml"
    course.write_text(course.read_text("utf-8").replace(*MANY[1:]), "utf-8")
    history.commit("mine")
    return history


def replace_by_link(history: History) -> None:
    shutil.rmtree(history.pair.now)
    history.pair.now.symlink_to("mine")
    history.commit("a small correction")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> Answer:
    return Answer(cli.run([*words, "--now", NOW]), *capsys.readouterr())


@pytest.mark.parametrize("command", [["diff", "HEAD~1"], ["validate"], ["render", "--check"], ["list"]])
@pytest.mark.parametrize("folder", ["now", "now/", "./now", "mine/../now", "now/reservations/.."])
def test_a_symlink_in_place_of_the_project_is_refused(
    university: History, command: list[str], folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_by_link(university)
    with contextlib.chdir(university.root):
        answer = run(capsys, "-C", folder, *command)

    assert (answer.code, answer.out) == (2, "")
    assert "now is a symbolic link. Use the folder that it leads to.\n" in answer.err


def test_a_working_directory_reached_through_a_symlink_is_refused(
    university: History, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_by_link(university)
    monkeypatch.setenv("PWD", str(university.pair.now))
    with contextlib.chdir(university.pair.now):
        answer = run(capsys, "diff", "HEAD~1")
        monkeypatch.setenv("PWD", str(university.root / "mine"))
        real = run(capsys, "diff", "HEAD~1")

    assert (answer.code, answer.out) == (2, "")
    assert "now is a symbolic link. Change to the folder that it leads to.\n" in answer.err
    assert (real.code, "peak seats" in real.out) == (0, False)


def test_a_symlink_outside_of_a_repository_is_followed(
    pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to("now")
    History(pair, pair.now)
    monkeypatch.setenv("PWD", str(tmp_path / "link"))
    with contextlib.chdir(tmp_path / "link"):
        here = run(capsys, "diff", "HEAD")
    named = run(capsys, "-C", str(tmp_path / "link"), "diff", "HEAD")

    assert [answer.out.splitlines()[0] for answer in (here, named)] == ["Nothing changes."] * 2


def test_a_symlink_in_place_of_a_base_folder_is_refused(university: History) -> None:
    (university.root / "other").symlink_to("was")
    answer = university.diff("../other")

    assert (answer.code, answer.out) == (2, "")
    assert "other is a symbolic link. Use the folder that it leads to.\n" in answer.err


@pytest.mark.parametrize("place", ["now", "now/reservations"])
def test_a_symlink_in_the_base_makes_the_base_invalid(university: History, place: str) -> None:
    project, base = university.pair.now, university.git("rev-parse", "HEAD")
    shutil.move(university.root / place, university.root / "elsewhere")
    (university.root / place).symlink_to("elsewhere" if place == "now" else "../elsewhere")
    university.commit("linked")
    university.git("checkout", "--quiet", base, "--", "now")
    assert not project.is_symlink()
    change = json.loads(university.diff("HEAD", "-o", "json").out)

    assert (change["base"]["valid"], change["head"]["valid"]) == (False, True)
    (finding,) = change["base"]["findings"]
    assert (finding["code"], finding["file"]) == ("B001", "../now" if place == "now" else "reservations")


def add_submodule(history: History, path: str) -> None:
    """Register a submodule that is not checked out."""
    history.git("update-index", "--add", "--cacheinfo", f"160000,{history.git('rev-parse', 'HEAD')},{path}")


def test_a_submodule_among_reservations_is_refused_on_both_sides(history: History) -> None:
    (history.root / "reservations/other").mkdir()
    add_submodule(history, "reservations/other")
    added = json.loads(history.diff("HEAD", "-o", "json").out)
    history.git("commit", "--quiet", "--message", "a submodule")
    kept = json.loads(history.diff("HEAD", "-o", "json").out)

    assert [change[side]["valid"] for change in (added, kept) for side in ("base", "head")] == [
        *(True, False),
        *(False, False),
    ]
    assert "reservations/other:1:1: error[B001] it is a submodule." in history.diff("HEAD").out


def test_a_submodule_in_the_place_of_the_project_is_refused(
    university: History, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has the same files as another folder of the base, and a project is above it."""
    shutil.copytree(university.pair.was / "reservations", university.root / "reservations")
    university.commit("a project above")
    base = university.git("rev-parse", "HEAD")
    shutil.rmtree(university.pair.now)
    university.git("rm", "--quiet", "-r", "--cached", "now")
    add_submodule(university, "now")
    university.git("commit", "--quiet", "--message", "a small correction")
    university.pair.now.mkdir()
    with contextlib.chdir(university.root):
        empty = run(capsys, "-C", "now", "diff", base)
        university.git("clone", "--quiet", ".", "now")
        checked_out = run(capsys, "-C", "now", "diff", base)

    assert (empty.code, "not valid" in empty.out) == (1, True)
    assert (checked_out.code, "it is a submodule." in checked_out.out) == (1, True)


def test_a_submodule_above_the_base_makes_the_base_invalid(university: History) -> None:
    project = university.git("rev-parse", "HEAD:now")
    university.git("rm", "--quiet", "-r", "--cached", "now")
    add_submodule(university, "now")
    university.git("commit", "--quiet", "--message", "a submodule")
    university.git("rm", "--quiet", "--cached", "now")
    university.git("read-tree", "--prefix=now/", project)
    change = json.loads(university.diff("HEAD", "-o", "json").out)

    assert [(one["code"], one["file"]) for one in change["base"]["findings"]] == [("B001", "../now")]

"""The shell of the workflows, run on real histories."""

from pathlib import Path

import pytest

from tests.flow.conftest import SCRIPTS, Repository


def outcome(folder: Path) -> tuple[str, str]:
    return (folder / "valid").read_text().strip(), (folder / "fresh").read_text().strip()


def preview(repository: Repository, out: Path) -> str:
    base = repository.git("rev-parse", "origin/main")
    done = repository.run("bash", str(SCRIPTS / "preview.sh"), BASE=base, OUT=str(out))
    assert done.code == 0
    return done.out


def test_a_change_that_was_not_rendered_is_valid_but_not_fresh(
    repository: Repository, tmp_path: Path
) -> None:
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.commit("more seats")
    preview(repository, tmp_path / "out")
    assert outcome(tmp_path / "out") == ("true", "false")
    text = (tmp_path / "out/preview.md").read_text("utf-8")
    assert text.startswith("### Berth: \\~\u200b1 reservation; peak seats of small in prod 25 → 30")
    assert text.endswith("**rendered/ is not up to date.** Run `berth render` and commit what it writes.\n")


def test_errors_are_annotations_at_their_line(repository: Repository, tmp_path: Path) -> None:
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 0")
    told = preview(repository, tmp_path / "out")
    assert told.startswith("::error file=reservations/course.yaml,line=16,col=36,title=B012::")
    assert outcome(tmp_path / "out") == ("false", "true")
    assert "does not validate" in (tmp_path / "out/preview.md").read_text("utf-8")


def test_a_fresh_change_is_valid_and_fresh(repository: Repository, tmp_path: Path) -> None:
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.run("berth", "render")
    repository.commit("more seats")
    preview(repository, tmp_path / "out")
    assert outcome(tmp_path / "out") == ("true", "true")


def test_a_stale_branch_gets_a_commit_of_ours(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    theirs = repository.commit("more seats")
    repository.git("push", "--quiet", "origin", "change")
    done = repository.run("bash", str(SCRIPTS / "commit.sh"), BRANCH="change")
    assert done.code == 0
    assert repository.git("ls-remote", "origin", "refs/heads/change").split()[0] == done.out.strip()
    assert repository.git("rev-parse", f"{done.out.strip()}~1") == theirs
    assert repository.git("log", "-1", "--format=%s") == "Render"
    again = repository.run("bash", str(SCRIPTS / "commit.sh"), BRANCH="change")
    assert again.out == done.out


def test_a_push_in_between_is_not_overwritten(repository: Repository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.commit("more seats")
    repository.git("push", "--quiet", "origin", "change")
    other = tmp_path / "other"
    repository.git("clone", "--quiet", "--branch", "change", str(repository.remote), str(other))
    night = other / "reservations/night.yaml"
    night.write_text(night.read_text("utf-8").replace("placeholderCount: 2}", "placeholderCount: 4}"))
    repository.git("-C", str(other), "commit", "--quiet", "--all", "--message", "somebody else")
    repository.git("-C", str(other), "push", "--quiet", "origin", "change")
    done = repository.run("bash", str(SCRIPTS / "commit.sh"), BRANCH="change")
    assert done.code == 0
    assert repository.git("log", "--format=%s", "origin/change~0", "-3").splitlines() == [
        "Render",
        "somebody else",
        "more seats",
    ]
    assert repository.run("berth", "render", "--check").code == 0


FAKE_GH = """\
echo "$@" >>"{calls}"
case "$*" in
  *--paginate*) cat "{folder}/comments" ;;
  *pulls/7*) cat "{folder}/sha" ;;
esac
"""


@pytest.fixture
def github(repository: Repository, tmp_path: Path) -> Repository:
    """Its `gh` notes in the file `calls` what it was asked."""
    repository.program("gh", FAKE_GH.format(calls=tmp_path / "calls", folder=tmp_path))
    return repository


@pytest.mark.parametrize(
    ("comments", "expected"),
    [
        ("", "--method POST repos/o/r/issues/7/comments"),
        ("12\n34\n", "--method PATCH repos/o/r/issues/comments/12"),
    ],
    ids=["the-first", "again"],
)
def test_there_is_one_comment(github: Repository, tmp_path: Path, comments: str, expected: str) -> None:
    (tmp_path / "comments").write_text(comments)
    body = tmp_path / "body"
    body.write_text("hello\n")
    done = github.run("bash", str(SCRIPTS / "comment.sh"), REPOSITORY="o/r", NUMBER="7", BODY=str(body))
    assert done.code == 0
    assert expected in (tmp_path / "calls").read_text().splitlines()[-1]
    assert Path(f"{body}.marked").read_text() == "<!-- berth preview -->\nhello\n"


@pytest.mark.parametrize(
    ("said", "sha", "told"),
    [("7", "abc", "7\n"), ("7", "other", ""), ("7; rm -rf /", "abc", ""), ("", "abc", "")],
    ids=["its-own", "of-another", "no-number", "nothing"],
)
def test_a_fork_speaks_only_of_its_own_pull_request(
    github: Repository, tmp_path: Path, said: str, sha: str, told: str
) -> None:
    (tmp_path / "sha").write_text(f"{sha}\n")
    (tmp_path / "number").write_text(f"{said}\n")
    script = str(SCRIPTS / "number.sh")
    done = github.run("bash", script, str(tmp_path / "number"), REPOSITORY="o/r", SHA="abc")
    assert (done.code == 0, done.out) == (bool(told), told)

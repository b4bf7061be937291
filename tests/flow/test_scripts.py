"""The scripts of the second run for forks, and those that call the API of GitHub."""

import json
from pathlib import Path

import pytest

from tests.flow.conftest import SCRIPTS, Repository

FAKE_GH = """\
echo "$@" >>"{calls}"
case "$*" in
  *--paginate*) jq -r "$5" "{folder}/comments" ;;
  *pulls/7*) cat "{folder}/sha" ;;
esac
"""
MARKER = "<!-- berth preview of . -->\n"


def comments(*texts: tuple[str, str]) -> str:
    """Return the comments of a pull request as GitHub answers them: logins and texts."""
    return json.dumps(
        [
            {"id": 12 + number, "user": {"login": who}, "body": text}
            for number, (who, text) in enumerate(texts)
        ]
    )


@pytest.fixture
def github(repository: Repository, tmp_path: Path) -> Repository:
    """Its `gh` notes in the file `calls` what it was asked."""
    repository.program("gh", FAKE_GH.format(calls=tmp_path / "calls", folder=tmp_path))
    return repository


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ([], "--method POST repos/o/r/issues/7/comments"),
        ([("github-actions[bot]", MARKER)] * 2, "--method PATCH repos/o/r/issues/comments/12"),
        ([("eve", MARKER)], "--method POST repos/o/r/issues/7/comments"),
        ([("eve", MARKER), ("github-actions[bot]", MARKER)], "--method PATCH repos/o/r/issues/comments/13"),
    ],
    ids=["the-first", "again", "of-somebody-else", "of-both"],
)
def test_the_script_updates_its_own_comment_and_no_comment_of_other_users(
    github: Repository, tmp_path: Path, there: list[tuple[str, str]], expected: str
) -> None:
    (tmp_path / "comments").write_text(comments(*there))
    body = tmp_path / "body"
    body.write_text("hello\n")
    done = github.run("bash", str(SCRIPTS / "comment.sh"), REPOSITORY="o/r", NUMBER="7", BODY=str(body))
    assert done.code == 0
    assert expected in (tmp_path / "calls").read_text().splitlines()[-1]
    assert Path(f"{body}.marked").read_text() == "<!-- berth preview of . -->\nhello\n"


def test_a_directory_name_cannot_end_the_comment_mark(github: Repository, tmp_path: Path) -> None:
    (tmp_path / "comments").write_text("[]")
    body = tmp_path / "body"
    body.write_text("hello\n")
    about = {"REPOSITORY": "o/r", "NUMBER": "7", "BODY": str(body), "DIRECTORY": 'a/b "-->'}
    assert github.run("bash", str(SCRIPTS / "comment.sh"), **about).code == 0
    assert Path(f"{body}.marked").read_text() == "<!-- berth preview of a/b_____ -->\nhello\n"


STATUS = {"REPOSITORY": "o/r", "SHA": "abc", "CONTEXT": "berth", "GOOD": "true", "BODY": "/dev/null/none"}
STATUS |= {"BASE_BRANCH": "refs/heads/main", "DEFAULT_BRANCH": "main"}


@pytest.mark.parametrize(
    ("good", "state"),
    [("true", "success"), ("false", "failure"), ("", "failure")],
    ids=["good", "bad", "unknown"],
)
def test_the_status_is_on_the_commit(github: Repository, tmp_path: Path, good: str, state: str) -> None:
    assert github.run("bash", str(SCRIPTS / "status.sh"), **{**STATUS, "GOOD": good}).code == 0
    assert (tmp_path / "calls").read_text() == (
        f"api --silent --method POST repos/o/r/statuses/abc -f context=berth -f state={state}\n"
    )


def test_the_status_has_the_first_headline_of_the_comment(github: Repository, tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_text("### Berth: cost 6\\.96 → 18\\.33 USD; 2 warnings\n\n### Berth: no\n")
    assert github.run("bash", str(SCRIPTS / "status.sh"), **{**STATUS, "BODY": str(body)}).code == 0
    calls = (tmp_path / "calls").read_text()
    assert calls.endswith(" -f description=cost 6.96 → 18.33 USD; 2 warnings\n")


@pytest.mark.parametrize(
    ("base", "context"),
    [("main", "berth"), ("playground", "berth (playground)"), ("a b;c", "berth (a b;c)")],
)
def test_the_status_names_every_base_branch_but_the_default(
    github: Repository, tmp_path: Path, base: str, context: str
) -> None:
    assert github.run("bash", str(SCRIPTS / "status.sh"), **{**STATUS, "BASE_BRANCH": base}).code == 0
    assert f"-f context={context} -f state=success" in (tmp_path / "calls").read_text()


@pytest.mark.parametrize(
    ("said", "sha", "told"),
    [("7", "abc", "7\n"), ("7", "other", ""), ("7; rm -rf /", "abc", ""), ("", "abc", "")],
    ids=["its-own", "of-another", "no-number", "nothing"],
)
def test_the_number_of_a_fork_is_accepted_only_for_its_own_pull_request(
    github: Repository, tmp_path: Path, said: str, sha: str, told: str
) -> None:
    (tmp_path / "sha").write_text(f"{sha}\n")
    (tmp_path / "number").write_text(f"{said}\n")
    script = str(SCRIPTS / "forks/number.sh")
    done = github.run("bash", script, str(tmp_path / "number"), REPOSITORY="o/r", SHA="abc")
    assert (done.code == 0, done.out) == (bool(told), told)

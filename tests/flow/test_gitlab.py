"""The example for GitLab: bash runs its script, with a stub of GitLab's API."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.answer import Answer
from tests.cli import project
from tests.flow.conftest import ROOT, Repository

JOB: Any = yaml.safe_load((ROOT / "docs/examples/.gitlab-ci.yml").read_text("utf-8"))["berth"]
REFUSE = "  policies: [{name: large, when: {seatsAbove: 29}, require: refuse}]\n"
MARKER = "<!-- berth preview -->\n"
# Answers who the token belongs to and which notes there are, and writes down every other call.
CURL = f"""\
exec "{sys.executable}" - "$@" <<'END'
import json, pathlib, sys
folder, words = pathlib.Path("{{folder}}"), sys.argv[1:]
assert "PRIVATE-TOKEN: secret" in words
if "-X" in words:
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps([words[words.index("-X") + 1], words[-1]]) + "\\n")
elif words[-1].endswith("/user"):
    print('{{{{"id": 5}}}}')
else:
    print((folder / "notes.json").read_text())
END
"""


class MergeRequest:
    """A merge request with 30 seats."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        repository.program("curl", CURL.format(folder=folder))
        repository.program("date", "echo 2026-01-01T00:00:00Z")
        repository.git("checkout", "--quiet", "-b", "change")
        repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
        repository.run("berth", "render")
        repository.push("more seats")

    def run(self, *notes: tuple[int, int, str], token: str = "secret") -> Answer:
        """`notes`: id, author and text of each that is there."""
        there = [{"id": one, "author": {"id": author}, "body": body} for one, author, body in notes]
        (self.folder / "notes.json").write_text(json.dumps(there))
        (self.folder / "calls").write_text("")
        shell = ("bash", "-eo", "pipefail", "-c", "\n".join(JOB["script"]))
        return self.repository.run(
            *shell,
            **({"BERTH_TOKEN": token} if token else {}),
            CI_API_V4_URL="https://gitlab.example.org/api/v4",
            CI_COMMIT_SHA=self.repository.git("rev-parse", "HEAD"),
            CI_MERGE_REQUEST_IID="7",
            CI_MERGE_REQUEST_SOURCE_BRANCH_NAME="change",
            CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
            CI_PROJECT_ID="3",
        )

    def refuse(self) -> None:
        """Let the target branch get a policy after the branch left it."""
        repository = self.repository
        with repository.on_main("a policy"):
            (repository.folder / "reservations/site.yaml").write_text(project.SITE + REFUSE, "utf-8")
            repository.run("berth", "render")

    @property
    def text(self) -> str:
        """What the note or the artifact shows."""
        return (self.repository.folder / "preview/preview.md").read_text("utf-8")

    @property
    def calls(self) -> list[tuple[str, str]]:
        lines = (self.folder / "calls").read_text().splitlines()
        return [(how, path.partition("/merge_requests/")[2]) for how, path in map(json.loads, lines)]


@pytest.fixture
def request_of_seats(repository: Repository, tmp_path: Path) -> MergeRequest:
    return MergeRequest(repository, tmp_path)


def test_a_change_that_a_policy_refuses_fails_and_the_note_shows_it(request_of_seats: MergeRequest) -> None:
    """The branch left before the policy."""
    assert request_of_seats.run().code == 0

    request_of_seats.refuse()

    assert request_of_seats.run().code == 1
    assert request_of_seats.calls == [("POST", "7/notes")]
    assert "refused by policy large" in request_of_seats.text


@pytest.mark.parametrize("name", ["origin/main", "refs/heads/main"])
@pytest.mark.parametrize("kind", ["folder", "tag"])
def test_no_folder_or_tag_replaces_the_target_branch(
    request_of_seats: MergeRequest, kind: str, name: str
) -> None:
    request_of_seats.refuse()
    repository = request_of_seats.repository
    if kind == "tag":
        repository.git("update-ref", f"refs/tags/{name}", "HEAD")
        repository.git("push", "--quiet", "origin", f"refs/tags/{name}")
    else:
        shutil.copytree(repository.folder / "reservations", repository.folder / name / "reservations")
        repository.push("a folder")

    assert request_of_seats.run().code == 1
    assert "refused by policy large" in request_of_seats.text


def test_the_job_without_a_token_calls_no_api(request_of_seats: MergeRequest) -> None:
    """The pipeline of a branch runs what the branch says."""
    assert request_of_seats.run(token="").code == 0
    assert request_of_seats.calls == []
    assert request_of_seats.text.startswith("### Berth: 1 reservation changed")


@pytest.mark.parametrize(
    ("notes", "call"),
    [
        ([(1, 9, MARKER)], ("POST", "7/notes")),
        ([(1, 9, MARKER), (2, 5, MARKER)], ("PUT", "7/notes/2")),
    ],
    ids=["of-somebody-else", "of-both"],
)
def test_notes_of_other_users_are_not_changed(
    request_of_seats: MergeRequest, notes: list[tuple[int, int, str]], call: tuple[str, str]
) -> None:
    request_of_seats.run(*notes)

    assert request_of_seats.calls == [call]

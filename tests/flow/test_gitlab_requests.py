"""The example of requests for GitLab: bash runs its script, with a stub of the API and a real git remote."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.edit.prompts import FORM

from tests.answer import Answer
from tests.console import ROOT, blocks
from tests.flow.conftest import Repository
from tests.flow.requestjob import MARK
from tests.requesting import FILE, HOSTILE, assert_harmless, form_text, part_text

JOB: Any = yaml.safe_load((ROOT / "docs/examples/requests.gitlab-ci.yml").read_text("utf-8"))["berth-request"]
ADA, EVE, BOT = 7, 8, 5
# Answers from files, by the end of the path, and keeps notes; a member has a file.
CURL = f"""\
exec "{sys.executable}" - "$@" <<'END'
import json, pathlib, sys
folder, words = pathlib.Path("{{folder}}"), sys.argv[1:]
assert "PRIVATE-TOKEN: secret" in words
path = words[-1].partition("/api/v4/")[2].partition("?")[0].replace("/", "-")
notes = folder / "projects-3-issues-4-notes"
kept = json.loads(notes.read_text())
if "POST" in words:
    body = json.loads(pathlib.Path(words[words.index("-d") + 1][1:]).read_text())["body"]
    note = {{{{"id": 100 + len(kept), "author": {{{{"id": {BOT}}}}}, "system": False, "body": body}}}}
    notes.write_text(json.dumps([*kept, note]))
elif "DELETE" in words:
    notes.write_text(json.dumps([one for one in kept if str(one["id"]) != words[-1].rpartition("/")[2]]))
elif "per_page=" in words[-1]:
    page = int(words[-1].partition("&page=")[2])
    print(json.dumps(kept[(page - 1) * 100 : page * 100]))
elif (folder / path).exists():
    print((folder / path).read_text())
else:
    sys.exit(22)
END
"""


class Gitlab:
    """A project with one issue."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository, self.folder = repository, folder / "gitlab"
        self.folder.mkdir()
        repository.program("curl", CURL.format(folder=self.folder))
        berth = (repository.programs / "berth").read_text().partition("\n")[2].strip()
        dated = berth.replace('"$@"', '"$@" --now 2026-01-01')
        guard = 'if [ -n "$BERTH_TOKEN$CI_JOB_TOKEN$KUBE_PASSWORD" ]; then exit 9; fi\n'
        repository.program("berth", f'{guard}case "$1" in new) {dated} ;; *) {berth} ;; esac')
        repository.run("git", "-C", str(repository.remote), "config", "receive.advertisePushOptions", "true")
        hook = repository.remote / "hooks/pre-receive"
        hook.write_text(f"#!/bin/sh\nenv | grep ^GIT_PUSH_OPTION_ | sort >'{self.folder}/options'\n")
        hook.chmod(0o755)
        self.keep("user", {"id": BOT})
        self.keep(f"projects-3-members-all-{ADA}", {"access_level": 20})
        self.keep("projects-3-merge_requests", [])
        self.keep("projects-3-issues-4-notes", [])

    def keep(self, path: str, answer: Any) -> None:
        (self.folder / path).write_text(json.dumps(answer))

    def comment(self, text: str, author: int = ADA, *, system: bool = False) -> None:
        notes = self.notes
        self.keep(
            "projects-3-issues-4-notes",
            [*notes, {"id": len(notes), "author": {"id": author}, "system": system, "body": text}],
        )

    @property
    def notes(self) -> list[dict[str, Any]]:
        data: list[dict[str, Any]] = json.loads((self.folder / "projects-3-issues-4-notes").read_text())
        return data

    @property
    def answers(self) -> list[str]:
        return [note["body"] for note in self.notes if note["author"]["id"] == BOT]

    @property
    def options(self) -> str:
        file = self.folder / "options"
        return file.read_text() if file.exists() else ""

    def branch(self) -> str:
        return self.repository.git("ls-remote", "origin", "refs/heads/berth-request-4").split("\t")[0]

    def run(
        self, text: str, author: int = ADA, labels: tuple[str, ...] = (), state: str = "opened"
    ) -> Answer:
        issue = {"description": text, "author": {"id": author}, "labels": labels, "state": state}
        self.keep(
            "projects-3-issues-4",
            {**issue, "user_notes_count": sum(not note["system"] for note in self.notes)},
        )
        self.keep("payload", {"object_kind": "issue", "object_attributes": {"iid": 4}})
        url = "https://oauth2:secret@gitlab.example.org/uni/seats.git"
        self.repository.git("fetch", "--quiet", "origin")
        return self.repository.run(
            *("bash", "-eo", "pipefail", "-c", "\n".join(JOB["script"])),
            BERTH_TOKEN="secret",
            CI_JOB_TOKEN="secret",
            KUBE_PASSWORD="secret",
            CI_API_V4_URL="https://gitlab.example.org/api/v4",
            CI_DEFAULT_BRANCH="main",
            CI_PROJECT_ID="3",
            CI_PROJECT_PATH="uni/seats",
            CI_SERVER_HOST="gitlab.example.org",
            GIT_CONFIG_COUNT="1",
            GIT_CONFIG_KEY_0=f"url.{self.repository.remote}.insteadOf",
            GIT_CONFIG_VALUE_0=url,
            TRIGGER_PAYLOAD=str(self.folder / "payload"),
        )


@pytest.fixture
def gitlab(repository: Repository, tmp_path: Path) -> Gitlab:
    return Gitlab(repository, tmp_path)


def test_a_request_becomes_a_branch_with_a_merge_request_and_an_answer(gitlab: Gitlab) -> None:
    assert gitlab.run(form_text()).code == 0

    assert "merge_request.create" in gitlab.options
    assert "merge_request.target=main" in gitlab.options
    (answer,) = gitlab.answers
    assert answer.startswith(MARK)
    assert "Mon 2026-02-02 09:00-13:00  25 small\n" in answer


def test_a_later_comment_of_the_author_changes_the_same_branch(gitlab: Gitlab) -> None:
    gitlab.run(form_text())
    gitlab.keep("projects-3-merge_requests", [{"state": "opened"}])
    gitlab.comment(part_text(seats="900"), EVE)
    gitlab.comment(part_text(seats="40"))

    assert gitlab.run(form_text()).code == 0
    (answer,) = gitlab.answers
    assert "40 small" in answer
    gitlab.repository.git("fetch", "--quiet", "origin", "berth-request-4")
    assert "placeholderCount: 40" in gitlab.repository.git("show", f"FETCH_HEAD:{FILE}")


@pytest.mark.parametrize(
    ("author", "labels", "state", "starts"),
    [
        (EVE, (), "opened", False),
        (EVE, ("seats-allowed",), "opened", True),
        (ADA, (), "closed", False),
    ],
    ids=["stranger", "allowed", "closed"],
)
def test_members_and_whom_they_allow_may_ask(
    gitlab: Gitlab, author: int, labels: tuple[str, ...], state: str, starts: bool
) -> None:
    assert gitlab.run(form_text(), author, labels, state).code == 0
    assert (bool(gitlab.branch()), len(gitlab.answers)) == (starts, int(starts))


def test_a_closed_merge_request_stays_closed(gitlab: Gitlab) -> None:
    gitlab.run(form_text())
    before = gitlab.branch()
    gitlab.keep("projects-3-merge_requests", [{"state": "merged"}])
    gitlab.comment(part_text(seats="40"))
    gitlab.run(form_text())

    assert gitlab.branch() == before
    assert "closed" in gitlab.answers[0]


def test_notes_of_the_system_hide_no_comment_of_a_later_page(gitlab: Gitlab) -> None:
    for _ in range(205):
        gitlab.comment("changed the description", system=True)
    gitlab.comment(part_text(seats="40"))

    assert gitlab.run(form_text()).code == 0
    assert gitlab.run(form_text()).code == 0
    (answer,) = gitlab.answers
    assert "40 small" in answer


def test_a_render_that_fails_is_answered_and_nothing_is_pushed(gitlab: Gitlab) -> None:
    file = gitlab.repository.programs / "berth"
    file.write_text(file.read_text().replace('case "$1" in', 'case "$1" in render) exit 1 ;;'))

    assert gitlab.run(form_text()).code == 1
    assert gitlab.branch() == ""
    assert "Something went wrong" in gitlab.answers[0]


def test_a_merge_by_people_stays(gitlab: Gitlab) -> None:
    gitlab.run(form_text())
    gitlab.repository.merge_into("berth-request-4")
    before = gitlab.branch()
    gitlab.keep("projects-3-merge_requests", [{"state": "opened"}])
    gitlab.comment(part_text(seats="40"))
    gitlab.run(form_text())

    assert gitlab.branch() == before
    assert "People have changed" in gitlab.answers[0]


def test_findings_are_answered_and_nothing_is_pushed(gitlab: Gitlab) -> None:
    assert gitlab.run(form_text(seats="many")).code == 0

    assert gitlab.branch() == ""
    assert "- **Seats**: " in gitlab.answers[0]


@pytest.mark.parametrize("name", ["command", "mention", "html", "path"])
def test_a_hostile_request_is_data(gitlab: Gitlab, tmp_path: Path, name: str) -> None:
    marker = tmp_path / "pwned"
    text = HOSTILE[name].replace("/tmp/pwned", str(marker))
    assert gitlab.run(form_text(title=text, notes=text)).code == 0

    assert not marker.exists()
    assert_harmless(gitlab.answers[0])


def test_the_template_of_the_page_has_the_headings_of_the_form() -> None:
    page = (ROOT / "docs/requests.md").read_text("utf-8")
    (template,) = [text for language, text in blocks(page) if language == "markdown"]

    assert template.strip() == "\n\n".join(f"### {one.heading}\n\n_No response_" for one in FORM.values())

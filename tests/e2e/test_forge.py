"""Requests on a real forge: its issue form, its issues and comments, and pull requests that people merge.

It has no runner, so bash runs the steps of the workflow, with the API of the forge.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from berth.edit.issueform import ISSUE_FORM
from berth.edit.prompts import FORM

from tests.e2e.gitea import API, URL, Gitea
from tests.e2e.waiting import wait_for
from tests.flow.conftest import Repository
from tests.flow.requestjob import Forge, RequestJob
from tests.requesting import ANSWERS, FILE, HOSTILE, assert_harmless, form_text, part_text

REPOSITORY = "platform/seats"
_CHOICES = {"class": ["bench", "small"], "time-zone": ["Europe/Zurich", "America/New_York"]}


class Desk:
    """The forge with a project in it, its users, and the job that answers requests."""

    def __init__(self, gitea: Gitea, folder: Path) -> None:
        self.gitea = gitea
        self.tokens = {name: gitea.user(name) for name in ("platform", "bot", "ada", "eve")}
        self.forge = Forge(API, URL, REPOSITORY, "bot", self.tokens["bot"])
        self._call("POST", "user/repos", name="seats", default_branch="main")
        self._call("PUT", f"repos/{REPOSITORY}/collaborators/bot", permission="write")
        repository = Repository(folder)
        repository.begin()
        assert repository.run("berth", "init", "--requests").code == 0
        repository.commit("the form")
        token = self.tokens["platform"]
        repository.git("push", "--quiet", f"{URL.replace('//', f'//platform:{token}@')}/{REPOSITORY}", "main")
        repository.git("remote", "set-url", "origin", f"{URL}/{REPOSITORY}.git")
        wait_for(lambda: self.forge.call("GET", "branches"), 60, "Gitea to take in what was pushed")
        self.job = RequestJob(repository, folder, self.forge, "2026-01-01")

    def _call(self, method: str, path: str, **fields: Any) -> Any:
        request = urllib.request.Request(f"{API}/{path}", json.dumps(fields).encode(), method=method)
        request.add_header("Authorization", f"token {self.tokens['platform']}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def ask(self, user: str = "ada", **changed: str) -> int:
        """Fill in the form in a browser: a choice is sent as its place in the list."""
        answers = {key: text for key, text in {**ANSWERS, **changed}.items() if text != ANSWERS["notes"]}
        answers |= {key: str(names.index(answers[key])) for key, names in _CHOICES.items()}
        fields = {FORM[key].field: text for key, text in answers.items()}
        return self.gitea.submit_form(user, REPOSITORY, ISSUE_FORM, fields)

    def comment(self, number: int, text: str, user: str = "ada") -> None:
        self.forge.call("POST", f"issues/{number}/comments", self.tokens[user], body=text)

    def answer(self, number: int) -> str:
        """Run the job; return the only answer that the issue has then."""
        ran = self.job.run(number)
        assert ran.failed == [], ran.log
        (text,) = self.forge.answers(number)
        return text

    def wait_until_mergeable(self, pull: int) -> None:
        """Wait until the forge has looked for conflicts, as it does in the background after each push."""
        wait_for(lambda: self.forge.call("GET", f"pulls/{pull}")["mergeable"], 60, "the forge to look at it")

    def pull(self, number: int) -> dict[str, Any]:
        """Return the pull request of an issue: there is one."""
        (found,) = [pull for pull in self.forge.pulls() if pull["head"]["ref"] == f"berth-request-{number}"]
        return found

    def file(self, revision: str, path: str = FILE) -> str:
        repository = self.job.repository
        repository.git("fetch", "--quiet", "origin", revision)
        return repository.git("show", f"FETCH_HEAD:{path}")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with Gitea(tmp_path_factory.mktemp("gitea")) as gitea:
        yield Desk(gitea, tmp_path_factory.mktemp("desk"))


def test_the_forge_has_the_form_and_stores_its_text_as_berth_expects(desk: Desk) -> None:
    (template,) = desk.forge.call("GET", "issue_templates")
    assert [one["attributes"]["label"] for one in template["body"][1:]] == [
        one.heading for one in FORM.values()
    ]

    number = desk.ask(contact="ada@example.org")
    text = desk.forge.call("GET", f"issues/{number}")["body"].replace("\r\n", "\n")
    assert text.rstrip() == form_text(contact="ada@example.org")


def test_a_request_is_changed_by_a_comment_merged_by_people_and_closed(desk: Desk) -> None:
    number = desk.ask()
    assert "Mon 2026-02-02 09:00-13:00  25 small\n" in desk.answer(number)
    first = desk.pull(number)
    assert (first["state"], first["merged"], first["base"]["ref"]) == ("open", False, "main")

    desk.comment(number, part_text(seats="900"), "eve")
    desk.comment(number, part_text(seats="30", until="2026-02-18"))
    assert "Wed 2026-02-18 09:00-13:00  30 small\n" in desk.answer(number)
    assert desk.pull(number)["number"] == first["number"]
    assert "placeholderCount: 30" in desk.file(f"berth-request-{number}")
    branch = desk.job.repository.git("ls-remote", "origin", f"refs/heads/berth-request-{number}")
    desk.comment(number, "Thank you!")
    desk.answer(number)
    assert desk.job.repository.git("ls-remote", "origin", f"refs/heads/berth-request-{number}") == branch

    with pytest.raises(urllib.error.HTTPError):  # the requester merges nothing
        desk.forge.call("POST", f"pulls/{first['number']}/merge", desk.tokens["ada"], Do="merge")
    desk.wait_until_mergeable(first["number"])
    desk.forge.call("POST", f"pulls/{first['number']}/merge", desk.tokens["platform"], Do="merge")
    assert "placeholderCount: 30" in desk.file("main")
    assert desk.forge.call("GET", f"issues/{number}")["state"] == "closed"
    assert "closed" in desk.answer(number)


def test_the_answer_lists_findings_by_the_headings_of_the_form(desk: Desk) -> None:
    number = desk.ask(title="Faulty", seats="many", until="never")

    headings = [line.partition(":")[0] for line in desk.answer(number).splitlines() if line.startswith("- ")]
    assert headings == ["- **Seats**", "- **Last date**"]
    assert [pull for pull in desk.forge.pulls() if pull["head"]["ref"] == f"berth-request-{number}"] == []


@pytest.mark.parametrize("name", ["yaml", "expression", "fence", "mention", "html", "path"])
def test_a_hostile_request_is_treated_as_data(desk: Desk, name: str) -> None:
    number = desk.ask("eve", title=HOSTILE[name], notes=HOSTILE[name])

    assert_harmless(desk.answer(number))
    for pull in desk.forge.pulls():
        assert pull["head"]["ref"].startswith("berth-request-")
        files = desk.forge.call("GET", f"pulls/{pull['number']}/files")
        assert {file["filename"].split("/")[0] for file in files} <= {"reservations", "rendered"}

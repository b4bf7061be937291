"""The workflow of `berth init --requests`: bash runs its steps, with git and a forge in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from berth.edit.prompts import ANSWER_MARK

from tests.flow.conftest import Repository
from tests.flow.fakeforge import STRANGER, FakeForge, fake_forge
from tests.flow.requestjob import JOB, WORKFLOW, RequestJob, may_start
from tests.requesting import FILE, HOSTILE, assert_harmless, form_text, part_text

SCRIPTS = {
    name: HOSTILE[name]
    for name in ("expression", "command", "fence", "mention", "html", "yaml", "path", "workflow-command")
}
"""What somebody writes who hopes for a shell, a forge or a git that reads it."""


class Requests:
    """The forge, and the job that answers its issues."""

    def __init__(self, fake: FakeForge, job: RequestJob) -> None:
        self.fake, self.job = fake, job

    def run(self, number: int, **changed: str) -> str:
        """Run the job for an issue, which must not fail; return its answer, the only one."""
        ran = self.job.run(number, **changed)
        assert ran.failed == [], ran.log
        (answer,) = self.fake.forge.answers(number)
        assert answer.startswith(ANSWER_MARK)
        return answer

    def begin(self) -> int:
        """Ask for seats, and let the job answer; return the number of the issue."""
        number = self.fake.issue(form_text())
        self.run(number)
        return number

    def correct(self, number: int, **answers: str) -> str:
        """Comment with other answers; return what the job answers."""
        self.fake.comment(number, part_text(**answers))
        return self.run(number)

    @property
    def pulls(self) -> list[tuple[str, str]]:
        return [(pull["head"]["ref"], pull["state"]) for pull in self.fake.state.pulls.values()]

    def branch(self, number: int) -> str:
        """Return the commit of the branch of a request on the remote; empty if there is none."""
        line = self.job.repository.git("ls-remote", "origin", f"refs/heads/berth-request-{number}")
        return line.split("\t")[0]

    def file(self, number: int, path: str = FILE) -> str:
        self.job.repository.git("fetch", "--quiet", "origin", f"refs/heads/berth-request-{number}")
        return self.job.repository.git("show", f"FETCH_HEAD:{path}")


@pytest.fixture
def requests(repository: Repository, tmp_path: Path) -> Iterator[Requests]:
    with fake_forge() as fake:
        yield Requests(fake, RequestJob(repository, tmp_path, fake.forge))


def test_a_request_gets_a_rendered_pull_request_and_an_answer_with_its_dates(
    requests: Requests,
) -> None:
    number = requests.fake.issue(form_text())
    answer = requests.run(number)

    assert requests.pulls == [(f"berth-request-{number}", "open")]
    assert "Mon 2026-02-02 09:00-13:00  25 small\n" in answer
    assert requests.fake.state.pulls[2]["body"].startswith(f"Closes #{number}.\n")
    assert requests.fake.state.pulls[2]["base"] == "main"
    assert "startDate: 2026-02-02" in requests.file(number)
    requests.job.repository.git("checkout", "--quiet", "FETCH_HEAD")
    assert requests.job.repository.run("berth", "render", "--check").code == 0


def test_a_later_comment_and_an_edit_change_the_same_pull_request(requests: Requests) -> None:
    number = requests.begin()
    answer = requests.correct(number, seats="40")
    assert "40 small" in answer
    assert "placeholderCount: 40" in requests.file(number)

    requests.fake.edit(number, form_text(title="Algebra 2"))
    assert "Algebra 2" in requests.run(number)
    assert requests.pulls == [(f"berth-request-{number}", "open")]
    assert "placeholderCount: 40" in requests.file(number, "reservations/algebra-2.yaml")
    listed = requests.job.repository.git("ls-tree", "--name-only", "FETCH_HEAD", "reservations/")
    assert FILE not in listed.splitlines()


def test_a_date_without_a_year_counts_from_the_day_of_the_request(requests: Requests) -> None:
    number = requests.fake.issue(
        form_text(when="7 March", **{"from": "_No response_", "until": "_No response_"})
    )

    assert "Sat 2026-03-07 09:00-13:00  25 small\n" in requests.run(number)


def test_a_run_that_changes_nothing_pushes_and_answers_nothing(requests: Requests) -> None:
    number = requests.begin()
    before, comments = requests.branch(number), dict(requests.fake.state.comments)
    requests.fake.comment(number, "Thank you!")
    requests.run(number)

    assert requests.branch(number) == before
    assert comments.items() <= requests.fake.state.comments.items()


def test_a_request_with_findings_gets_an_answer_and_no_pull_request(requests: Requests) -> None:
    number = requests.fake.issue(form_text(seats="many"))
    answer = requests.run(number)

    assert "- **Seats**: " in answer
    assert (requests.pulls, requests.branch(number)) == ([], "")


def test_findings_of_a_later_comment_do_not_change_the_pull_request(requests: Requests) -> None:
    number = requests.begin()
    before = requests.branch(number)

    assert "stays as it was" in requests.correct(number, until="never")
    assert requests.branch(number) == before


def test_a_comment_of_another_user_is_ignored(requests: Requests) -> None:
    number = requests.fake.issue(form_text())
    requests.fake.comment(number, part_text(seats="900"), STRANGER)

    assert "25 small" in requests.run(number)


def test_a_forged_answer_of_another_user_is_not_removed(requests: Requests) -> None:
    number = requests.fake.issue(form_text())
    forged = requests.fake.comment(number, f"{ANSWER_MARK}\nAll is well.", STRANGER)
    requests.run(number)
    requests.correct(number, seats="40")

    assert forged in requests.fake.state.comments


@pytest.mark.parametrize("is_merge", [False, True], ids=["commit", "merge"])
def test_commits_of_people_on_the_branch_are_kept(requests: Requests, *, is_merge: bool) -> None:
    number = requests.begin()
    branch, repository = f"berth-request-{number}", requests.job.repository
    if is_merge:
        repository.merge_into(branch)
    else:
        repository.git("fetch", "--quiet", "origin")
        repository.git("checkout", "--quiet", "--detach", requests.branch(number))
        repository.push("a longer lead", branch)
    before = requests.branch(number)

    assert "People have changed pull request" in requests.correct(number, seats="40")
    assert requests.branch(number) == before


def test_a_closed_pull_request_is_not_opened_again(requests: Requests) -> None:
    number = requests.begin()
    requests.fake.close(2)
    before = requests.branch(number)

    assert "open a new issue" in requests.correct(number, seats="40")
    assert (requests.pulls, requests.branch(number)) == ([(f"berth-request-{number}", "closed")], before)


@pytest.mark.parametrize("tag", ["origin/main", "main", "HEAD", "berth-request-1"])
def test_a_request_ignores_tags_that_are_named_like_branches(requests: Requests, tag: str) -> None:
    """It has one commit, on top of the main branch, whatever others call a tag."""
    repository = requests.job.repository
    main = repository.git("rev-parse", "main")
    repository.git("update-ref", f"refs/tags/{tag}", repository.commit("of somebody else"))
    repository.git("push", "--quiet", "origin", f"refs/tags/{tag}")
    number = requests.begin()

    assert "40 small" in requests.correct(number, seats="40")
    assert "placeholderCount: 40" in requests.file(number)
    assert repository.git("rev-parse", "FETCH_HEAD~1") == main


def test_a_pull_request_of_a_fork_with_the_same_branch_is_not_changed(requests: Requests) -> None:
    number = requests.fake.issue(form_text())
    head = {"ref": f"berth-request-{number}", "repo": {"full_name": "eve/seats"}}
    requests.fake.state.pulls[99] = {"number": 99, "state": "open", "head": head, "body": ""}
    requests.run(number)

    assert requests.fake.state.pulls[99]["body"] == ""
    assert len(requests.pulls) == 2


@pytest.mark.parametrize("bound", ["MOST_OPEN", "MOST_COMMENTS"])
def test_open_requests_and_comments_are_limited(requests: Requests, bound: str) -> None:
    first = requests.fake.issue(form_text())
    requests.run(first)
    number = requests.fake.issue(form_text(title="Algebra 2"))
    for _ in range(2):
        requests.fake.comment(number, "More?")
    answer = requests.run(number, **{bound: "1"})

    assert "Please" in answer
    assert len(requests.pulls) == 1


def test_a_failed_job_answers_the_request(requests: Requests) -> None:
    number = requests.fake.issue(form_text())
    requests.job.repository.program("berth", "exit 3")

    assert requests.job.run(number).failed == ["Reservation"]
    assert "Something went wrong" in requests.fake.forge.answers(number)[0]
    assert requests.pulls == []


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_a_hostile_request_changes_only_its_own_reservation(
    requests: Requests, tmp_path: Path, text: str
) -> None:
    marker = tmp_path / "pwned"
    number = requests.fake.issue(form_text(title=text.replace("/tmp/pwned", str(marker)), notes=text))
    answer = requests.run(number)

    assert not marker.exists()
    assert_harmless(answer)
    if requests.pulls:
        assert [name for name, _ in requests.pulls] == [f"berth-request-{number}"]
        repository = requests.job.repository
        repository.git("fetch", "--quiet", "origin", f"refs/heads/berth-request-{number}")
        changed = repository.git("diff", "--name-status", "origin/main", "FETCH_HEAD").splitlines()
        (added,) = [
            line for line in changed if line.startswith("A\treservations/") and line.endswith(".yaml")
        ]
        assert added.count("/") == 1
        assert {line.split("\t")[1].split("/")[0] for line in changed} == {"reservations", "rendered"}
        assert (
            repository.git("log", "-1", "--format=%B", "FETCH_HEAD") == f"Reserve seats for request #{number}"
        )


# Who may start it

MEMBER: dict[str, Any] = {
    "action": "opened",
    "sender": {"type": "User"},
    "issue": {
        "state": "open",
        "body": form_text(),
        "author_association": "MEMBER",
        "labels": [{"name": "bug"}],
        "user": {"id": 7},
    },
}


def event(changes: dict[str, Any] | None = None, **issue: Any) -> dict[str, Any]:
    return {**MEMBER, **(changes or {}), "issue": {**MEMBER["issue"], **issue}}


ALLOWED = [{"name": "seats-allowed"}]
STARTS = {
    "member": ("issues", event(), True),
    "edited": ("issues", event({"action": "edited"}), True),
    "own-comment": ("issue_comment", event({"comment": {"user": {"id": 7}}}), True),
    "comment-of-another": ("issue_comment", event({"comment": {"user": {"id": 8}}}), False),
    "stranger": ("issues", event(author_association="NONE"), False),
    "contributor": ("issues", event(author_association="CONTRIBUTOR"), False),
    "allowed": (
        "issues",
        event({"action": "labeled", "label": ALLOWED[0]}, author_association="NONE", labels=ALLOWED),
        True,
    ),
    "other-label": ("issues", event({"action": "labeled", "label": {"name": "bug"}}), False),
    "closed": ("issues", event(state="closed"), False),
    "pull-request": (
        "issue_comment",
        event({"comment": {"user": {"id": 7}}}, pull_request={"url": "x"}),
        False,
    ),
    "bot": ("issues", event({"sender": {"type": "Bot"}}), False),
    "other-issue": ("issues", event(body="It does not work."), False),
    "no-text": ("issues", event(body=None), False),
}


@pytest.mark.parametrize(("name", "payload", "expected"), STARTS.values(), ids=STARTS)
def test_the_job_starts_only_for_an_author_with_a_role_or_an_allowed_label(
    name: str, payload: dict[str, Any], expected: bool
) -> None:
    assert may_start(payload, name) is expected


def test_the_job_has_only_needed_permissions_and_no_expression_in_a_script() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert JOB["permissions"] == dict.fromkeys(("contents", "issues", "pull-requests"), "write")
    assert [step["name"] for step in JOB["steps"] if "${{" in step.get("run", "")] == []
    assert {step["uses"].partition("/")[0] for step in JOB["steps"] if "uses" in step} == {"actions"}
    texts = [str(value) for step in JOB["steps"] for value in step.get("env", {}).values()]
    assert [
        text for text in (*texts, *map(str, JOB["env"].values())) if ".body" in text or ".title" in text
    ] == []


def test_concurrency_is_set_on_the_job_and_not_on_the_workflow() -> None:
    assert "concurrency" not in WORKFLOW
    assert JOB["concurrency"] == "berth-request-${{ github.event.issue.number }}"


def test_berth_reads_requests_without_a_token() -> None:
    (step,) = [step for step in JOB["steps"] if "berth new" in step.get("run", "")]

    assert "env" not in step
    assert JOB["steps"][0]["with"]["persist-credentials"] is False

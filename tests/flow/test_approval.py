"""The example that sets a status from the policies: bash runs it, with a stub of GitHub's API."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli import project
from tests.flow.conftest import ROOT, Repository, store
from tests.flow.runner import TOKEN, Event, Runner

WORKFLOW: Any = yaml.safe_load((ROOT / "docs/examples/approval.yaml").read_text("utf-8"))
JOB: Any = WORKFLOW["jobs"]["approval"]
POLICY = "  policies:\n    - {name: large, when: {seatsAbove: 29}, require: {approvalBy: %s}}\n"
# Answers the reviews through the filter of jq that it gets, and whether somebody is in a team.
GH = f"""\
exec "{sys.executable}" - "$@" <<'END'
import json, os, pathlib, subprocess, sys
folder, words = pathlib.Path("{{folder}}"), sys.argv[1:]
if "--paginate" in words:
    told = subprocess.run(["jq", "-r", words[words.index("--jq") + 1], folder / "reviews.json"], check=True)
elif "memberships" in words[1]:
    if os.environ["GH_TOKEN"] != "of teams" or words[1] != "orgs/uni/teams/platform/memberships/grace":
        sys.exit(1)
    print("active")
else:
    fields = [word.partition("=") for flag, word in zip(words, words[1:]) if flag == "-f"]
    (folder / "status").write_text(json.dumps([words[4], {{{{k: v for k, _, v in fields}}}}]))
END
"""


class Approval:
    """A pull request with 30 seats, on a site whose policy asks for an approval of more than 29."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        self.runner = Runner(str(repository.remote), folder, repository.path)
        self.runner.secrets["TEAMS_TOKEN"] = "of teams"
        repository.program("gh", GH.format(folder=folder))
        repository.git("checkout", "--quiet", "-b", "change")

    def ask(self, by: str, seats: int = 30) -> str:
        """Return the head of the branch."""
        site = project.SITE + POLICY % json.dumps(by)
        (self.repository.folder / "reservations/site.yaml").write_text(site, "utf-8")
        course = project.COURSE.replace("placeholderCount: 25", f"placeholderCount: {seats}")
        course = course.replace("endDate: 2026-03-01", "endDate: 2096-03-01").replace("weekly", "daily")
        course = course.replace("startDate: 2026-02-02", "startDate: 2096-02-02")
        for line in ("calendars: [holidays]", "except: [2026-02-09]", "dayOfWeek: mon, "):
            course = course.replace(line, "")
        course = course.replace("moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]", "")
        (self.repository.folder / "reservations/course.yaml").write_text(course, "utf-8")
        return self.commit("more seats")

    def commit(self, message: str) -> str:
        self.repository.run("berth", "render")
        return self.repository.commit(message)

    def state(self, *reviews: tuple[str, str, str], event: str = "pull_request_review") -> tuple[str, str]:
        """Return the status and its description after reviews: who, what and of which commit."""
        answers = [{"user": {"login": who}, "state": what, "commit_id": of} for who, what, of in reviews]
        (self.folder / "reviews.json").write_text(json.dumps(answers))
        head = self.repository.git("rev-parse", "HEAD")
        git = self.repository.git
        git("push", "--quiet", "--force", "origin", f"{head}:refs/pull/7/head")
        pull = {"number": 7, "head": {"ref": "change", "sha": head}, "base": {"ref": "main"}}
        payload: dict[str, Any] = {"repository": {"default_branch": "main"}}
        payload |= {} if event == "merge_group" else {"pull_request": pull}
        ran = self.runner.run(JOB, Event(event, payload, head, "refs/pull/7/merge"))
        assert ran.failed == [], ran.log
        path, fields = json.loads((self.folder / "status").read_text())
        assert path == f"repos/uni/seats/statuses/{head}"
        assert fields["context"] == "berth-approval"
        return fields["state"], fields["description"]


@pytest.fixture
def approval(repository: Repository, tmp_path: Path) -> Approval:
    return Approval(repository, tmp_path)


def test_a_change_without_a_matching_policy_gets_the_status_success(approval: Approval) -> None:
    approval.ask("@ada", seats=29)

    assert approval.state()[0] == "success"


def test_a_person_approves_the_last_commit(approval: Approval) -> None:
    head = approval.ask("@Ada")

    assert approval.state() == ("pending", "waits for @Ada")
    assert approval.state(("grace", "APPROVED", head))[0] == "pending"
    assert approval.state(("ada", "APPROVED", "0" * 40))[0] == "pending"
    assert approval.state(("ada", "COMMENTED", head))[0] == "pending"
    assert approval.state(("ada", "APPROVED", head), ("ada", "COMMENTED", head))[0] == "success"
    assert approval.state(("ada", "APPROVED", head), ("ada", "CHANGES_REQUESTED", head))[0] == "pending"


def test_a_member_approves_for_a_team(approval: Approval) -> None:
    head = approval.ask("@uni/platform")

    assert approval.state(("ada", "APPROVED", head)) == ("pending", "waits for @uni/platform")
    assert approval.state(("ada", "APPROVED", head), ("grace", "APPROVED", head))[0] == "success"


def test_a_refused_change_fails(approval: Approval) -> None:
    approval.ask("@ada")
    site = approval.repository.folder / "reservations/site.yaml"
    site.write_text(site.read_text("utf-8").replace('{approvalBy: "@ada"}', "refuse"), "utf-8")
    head = approval.commit("refuse")

    assert approval.state(("ada", "APPROVED", head))[0] == "failure"


def test_the_merge_queue_has_the_status_too(approval: Approval) -> None:
    approval.ask("@ada")

    assert approval.state(event="merge_group")[0] == "success"


def test_a_branch_from_before_a_policy_waits_for_its_approval(approval: Approval) -> None:
    """Nobody takes a policy away by leaving the main branch before it."""
    approval.ask("@ada")
    repository = approval.repository
    site = (repository.folder / "reservations/site.yaml").read_text("utf-8")
    repository.git("checkout", "--quiet", "HEAD~1", "--", "reservations/site.yaml")
    head = approval.commit("without the policy")
    with repository.on_main("a policy"):
        (repository.folder / "reservations/site.yaml").write_text(site, "utf-8")

    assert approval.state(("eve", "APPROVED", head)) == ("pending", "waits for @ada")


@pytest.mark.parametrize("seats", ["30", "\uff12\uff19"])
def test_the_status_follows_the_blobs_of_git_and_not_the_work_tree(approval: Approval, seats: str) -> None:
    """The work tree has 29 seats, and a merge has what git stores."""
    approval.ask("@ada", seats=29)
    repository, path = approval.repository, "reservations/course.yaml"
    encoding = "ASCII//TRANSLIT" if seats != "30" else "UTF-16"
    attributes = f"{path} working-tree-encoding={encoding}\n"
    (repository.folder / ".gitattributes").write_text(attributes)
    text = (repository.folder / path).read_text("utf-8")
    store(repository, path, text.replace("placeholderCount: 29", f"placeholderCount: {seats}"))
    assert f"placeholderCount: {seats}" in repository.git("show", f"HEAD:{path}")

    assert approval.state()[0] == "failure"
    assert not (approval.runner.workspace / ".git/info/attributes").exists()


def test_the_job_runs_the_scripts_of_the_base_branch(approval: Approval, tmp_path: Path) -> None:
    """The commit of a review is a merge of the pull request."""
    script = approval.repository.folder / ".github/berth/preview.sh"
    script.write_text(f"env >{tmp_path}/stolen\n")
    approval.ask("@ada", seats=29)

    assert approval.state()[0] == "success"
    assert not (tmp_path / "stolen").exists()


def test_berth_runs_without_a_token(approval: Approval, tmp_path: Path) -> None:
    approval.ask("@ada")
    approval.repository.program("berth", f'env >"{tmp_path}/environment"')
    approval.state()

    assert TOKEN not in (tmp_path / "environment").read_text("utf-8")


def test_no_step_has_an_expression_in_its_script() -> None:
    assert [step for step in JOB["steps"] if "${{" in step.get("run", "")] == []

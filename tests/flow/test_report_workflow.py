"""The weekly workflow of `berth init --report`: bash runs its steps, with git and stubs of kubectl and gh."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.core.record import OccurrenceRecord, record_text
from berth.edit.workflow import REPORT, workflow

from tests.answer import Answer
from tests.flow.conftest import Repository

WORKFLOW: Any = yaml.safe_load(workflow(REPORT, "kube-berth"))
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["report"]["steps"]
BRANCH = "refs/remotes/origin/berth-report"


class Week:
    """Runs the steps of the job as GitHub does, in a clone of the main branch."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        repository.program("kubectl", f'echo "$*" >"{folder}/asked"; cat "{folder}/answer"')
        repository.program(
            "gh",
            f'echo "$*" >>"{folder}/calls"\nif [ "$2" = list ]; then cat "{folder}/open"; fi',
        )
        (folder / "open").write_text("")

    def run(self, minutes_late: int) -> list[Answer]:
        records = []
        for week in range(4):
            opens = 1_767_254_400 + week * 604_800
            window = (opens, opens, opens + 9000)
            ready = opens + 60 * (1 + minutes_late)
            record = OccurrenceRecord(f"course/{week}", {"small": 25}, ready, window=window)
            records.append(record._replace(promised={"small": 25}))
        data = {"records.json": record_text(records)}
        labels = {"berth.dev/site": "uni", "berth.dev/reservation": "course", "berth.dev/role": "record"}
        record_object = {"metadata": {"name": "course-record", "labels": labels}, "data": data}
        (self.folder / "answer").write_text(json.dumps({"items": [record_object]}))
        (self.folder / "calls").write_text("")
        env = {"RUNNER_TEMP": str(self.folder), "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md")}
        env |= {
            "CONTENT": "a kubeconfig",
            "GH_TOKEN": "token",
            "GITHUB_SERVER_URL": "https://git.example.org",
        }
        env["GITHUB_SHA"] = self.repository.git("rev-parse", "HEAD")
        shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
        steps = [step["run"] for step in STEPS if "run" in step and step["name"] != "Install Berth"]
        return [self.repository.run(*shell, step, **env) for step in steps]

    @property
    def calls(self) -> list[str]:
        return [line.split(" --")[0] for line in (self.folder / "calls").read_text().splitlines()]


@pytest.fixture
def week(repository: Repository, tmp_path: Path) -> Week:
    """A course whose seats open at its start."""
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 25, leadTimeMinutes: 0")
    assert repository.run("berth", "render").code == 0
    repository.commit("no lead")
    return Week(repository, tmp_path)


def test_it_uses_nothing_but_githubs_own_actions_and_runs_on_a_schedule() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]

    assert [one for one in used if not one.startswith("actions/")] == []
    assert WORKFLOW[True].keys() == {"schedule", "workflow_dispatch"}
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []


def test_proposals_become_a_pull_request_that_is_rendered(week: Week) -> None:
    assert [done.code for done in week.run(minutes_late=10)] == [0, 0, 0, 0]

    repository = week.repository
    assert week.calls == ["pr list", "pr create"]
    repository.git("fetch", "--quiet", "origin")
    assert "leadTimeMinutes: 20" in repository.git("show", f"{BRANCH}:reservations/course.yaml")
    assert repository.run("berth", "render", "--check").code == 0
    assert "lead 0 → 20 minutes: ready 10 minutes late on 4 of 4 dates" in (
        (week.folder / "body.md").read_text("utf-8")
    )
    assert (week.folder / "summary.md").read_text("utf-8") == (week.folder / "report.md").read_text("utf-8")


def test_the_pull_request_of_last_week_is_brought_up_to_date(week: Week) -> None:
    (week.folder / "open").write_text("7\n")

    assert [done.code for done in week.run(minutes_late=10)] == [0, 0, 0, 0]
    assert week.calls == ["pr list", "pr edit berth-report"]


def test_without_proposals_nothing_is_opened(week: Week) -> None:
    assert [done.code for done in week.run(minutes_late=0)] == [0, 0, 0, 0]
    assert week.calls == []


def test_a_cluster_that_cannot_be_read_fails_the_job(week: Week) -> None:
    week.repository.program("kubectl", "echo forbidden >&2; exit 1")

    assert week.run(minutes_late=10)[0].code == 1

"""The weekly workflow of `berth init --report`: bash runs its steps, with git and stubs of kubectl and gh."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.core.record import OccurrenceRecord, record_text

from tests.flow.conftest import REPOSITORY, Repository
from tests.flow.runner import Event, Ran, Runner

WORKFLOW: Any = yaml.safe_load((REPOSITORY / ".github/workflows/berth-report.yaml").read_text("utf-8"))
BRANCH = "refs/remotes/origin/berth-report"
# Answers which pull requests are open, and notes every other call and the text that it sends.
GH = f"""\
exec "{sys.executable}" - "$@" <<'END'
import pathlib, sys
folder, words = pathlib.Path("{{folder}}"), sys.argv[1:]
if "--method" not in words:
    print((folder / "open").read_text())
else:
    at = words.index("--method")
    body, = [word.partition("@")[2] for word in words if word.startswith("body=@")]
    with (folder / "calls").open("a") as calls:
        calls.write(" ".join(words[at + 1 : at + 3]) + chr(10))
    (folder / "body").write_text(pathlib.Path(body).read_text("utf-8"), "utf-8")
END
"""


class Week:
    """Runs the job as GitHub does, in a clone of the main branch."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        repository.program("kubectl", f'echo "$*" >"{folder}/asked"; cat "{folder}/answer"')
        repository.program("gh", GH.format(folder=folder))
        self.runner = Runner(str(repository.remote), folder, repository.path)
        self.runner.secrets["KUBECONFIG"] = "a kubeconfig"
        self.open()

    def open(self, *pulls: tuple[int, str]) -> None:
        """Let there be open pull requests of this branch: the number and the repository of each."""
        answer = [{"number": number, "head": {"repo": {"full_name": name}}} for number, name in pulls]
        (self.folder / "open").write_text(json.dumps(answer))

    def run(self, minutes_late: int) -> Ran:
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
        head = self.repository.git("rev-parse", "HEAD")
        self.repository.git("push", "--quiet", "origin", f"{head}:refs/heads/main")
        payload = {"repository": {"default_branch": "main"}}
        return self.runner.run(
            WORKFLOW["jobs"]["report"], Event("schedule", payload, head, "refs/heads/main")
        )

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()


@pytest.fixture
def week(repository: Repository, tmp_path: Path) -> Week:
    """A course whose seats open at its start."""
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 25, leadTimeMinutes: 0")
    assert repository.run("berth", "render").code == 0
    repository.commit("no lead")
    return Week(repository, tmp_path)


def test_the_workflow_runs_on_a_schedule() -> None:
    assert WORKFLOW[True].keys() == {"schedule", "workflow_dispatch"}


def test_proposals_become_a_pull_request_that_is_rendered(week: Week) -> None:
    assert week.run(minutes_late=10).failed == []

    repository = week.repository
    assert week.calls == ["POST repos/uni/seats/pulls"]
    repository.git("fetch", "--quiet", "origin")
    assert "leadTimeMinutes: 20" in repository.git("show", f"{BRANCH}:reservations/course.yaml")
    repository.git("checkout", "--quiet", "--detach", BRANCH)
    assert repository.run("berth", "render", "--check").code == 0
    body = (week.folder / "body").read_text("utf-8")
    assert "ready 10 minutes late on 4 of 4 dates. Open 20 minutes before the start" in body
    assert (week.folder / "summary.md").read_text("utf-8") == body


@pytest.mark.parametrize("tag", ["berth-report", "heads/berth-report", "HEAD"])
def test_the_pull_request_of_last_week_is_brought_up_to_date(week: Week, tag: str) -> None:
    """Those of forks stay, and no tag is taken for the branch."""
    week.repository.git("push", "--quiet", "origin", f"HEAD:refs/tags/{tag}")
    week.open((6, "eve/seats"), (7, "uni/seats"))

    assert week.run(minutes_late=10).failed == []
    assert week.calls == ["PATCH repos/uni/seats/pulls/7"]


def test_no_pull_request_is_opened_without_proposals(week: Week) -> None:
    assert week.run(minutes_late=0).failed == []
    assert week.calls == []


def test_a_cluster_that_cannot_be_read_fails_the_job(week: Week) -> None:
    week.repository.program("kubectl", "echo forbidden >&2; exit 1")

    assert week.run(minutes_late=10).failed == ["Records"]

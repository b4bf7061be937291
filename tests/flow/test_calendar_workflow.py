"""The workflow of `berth init --calendar`: bash runs its steps, with git and a stub of kubectl."""

import json
from typing import Any

import pytest
import yaml

from tests.cases import tabled
from tests.flow.conftest import REPOSITORY, Repository
from tests.flow.runner import Event, Runner, is_met

WORKFLOW: Any = yaml.safe_load((REPOSITORY / ".github/workflows/berth-calendar.yaml").read_text("utf-8"))
JOB = WORKFLOW["jobs"]["build"]


def published(runner: Runner, repository: Repository) -> tuple[bool, list[str]]:
    """Return whether the page says when records were read, and the steps that failed."""
    head = repository.git("rev-parse", "HEAD")
    repository.git("push", "--quiet", "origin", f"{head}:refs/heads/main")
    ran = runner.run(JOB, Event("push", {}, head, "refs/heads/main"))
    page = (runner.workspace / "site/index.html").read_text("utf-8")
    data = json.loads(page.partition('id="Data">')[2].partition("</script>")[0])
    return data["recorded"] is not None, ran.failed


@tabled("flow")
def test_the_workflow_reads_records_only_if_berth_records_is_true(
    is_on: bool, kubectl: str, has_records: bool, repository: Repository
) -> None:
    repository.program("kubectl", kubectl)
    runner = Runner(str(repository.remote), repository.folder.parent, repository.path)
    if is_on:
        runner.variables["BERTH_RECORDS"], runner.secrets["KUBECONFIG"] = "true", "a kubeconfig"

    assert published(runner, repository) == (has_records, [])


@pytest.mark.parametrize(
    ("event", "variables", "runs"),
    [("push", {}, True), ("schedule", {}, False), ("schedule", {"BERTH_RECORDS": "true"}, True)],
)
def test_the_schedule_runs_only_if_berth_records_is_true(
    event: str, variables: dict[str, str], runs: bool
) -> None:
    github = {"event_name": event, "event": {"repository": {"has_pages": True}}}

    assert is_met(JOB["if"], {"github": github, "vars": variables}, []) is runs

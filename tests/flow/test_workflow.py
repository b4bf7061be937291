"""The workflow that `berth init` writes: bash runs its steps, with git and a stub of GitHub's API."""

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from berth.edit.workflow import CALENDAR, PREVIEW, workflow

from tests.answer import Answer
from tests.flow.conftest import Repository

WORKFLOW: Any = yaml.safe_load(workflow(PREVIEW, "kube-berth"))
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["preview"]["steps"]
# Answers a list of comments through the filter of jq that it gets, and notes every other call.
GH = f"""\
exec "{sys.executable}" - "$@" <<'END'
import json, pathlib, subprocess, sys
folder, words = pathlib.Path("{{folder}}"), sys.argv[1:]
if "--paginate" in words:
    told = subprocess.run(["jq", "-r", words[words.index("--jq") + 1], folder / "comments.json"], check=True)
else:
    fields = [word.partition("=") for flag, word in zip(words, words[1:]) if flag.lower() == "-f"]
    values = {{{{k: pathlib.Path(v[1:]).read_text() if v[0] == "@" else v for k, _, v in fields}}}}
    at = words.index("--method")
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps([words[at + 1], words[at + 2], values]) + "\\n")
END
"""


class Ran(NamedTuple):
    """What the steps of a job did. `calls` are method, path and fields of the API."""

    failed: list[str]
    out: str
    calls: list[tuple[str, str, dict[str, str]]]

    @property
    def state(self) -> str:
        (state,) = [fields["state"] for _, path, fields in self.calls if "/statuses/" in path]
        return state

    @property
    def comments(self) -> list[tuple[str, str, str]]:
        return [(how, path, fields["body"]) for how, path, fields in self.calls if "/issues/" in path]


def _holds(condition: str | None, failed: list[str], env: dict[str, str]) -> bool:
    """What GitHub's `if` says, for the few that the workflow has."""
    if condition is None:
        return not failed
    said = condition.removeprefix("${{ ").removesuffix(" }}")
    known = {"!cancelled()": True, "always()": True, "env.NUMBER": bool(env["NUMBER"])}
    known["env.FORK == 'false'"] = env["FORK"] == "false"
    return all(known[part] for part in said.split(" && "))


class Github:
    """Runs the steps of the job as GitHub does, in a clone at a commit."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        repository.program("gh", GH.format(folder=folder))
        self.comments([])

    def comments(self, there: list[dict[str, Any]]) -> None:
        (self.folder / "comments.json").write_text(json.dumps(there))

    def run(self, *, branch: str = "change", number: str = "7", fork: bool = False) -> Ran:
        (self.folder / "calls").write_text("")
        repository = self.repository
        repository.git("checkout", "--quiet", "--detach", "HEAD")  # as actions/checkout does with a commit
        env = {
            "BASE": repository.git("rev-parse", "origin/main"),
            "BRANCH": branch,
            "NUMBER": number,
            "FORK": str(fork).lower(),
            "REPOSITORY": "uni/seats",
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
        }
        failed: list[str] = []
        out = ""
        for step in STEPS:
            if "run" not in step or step["name"] == "Install Berth":
                continue
            if _holds(step.get("if"), failed, env):
                state = {"STATE": "failure" if failed else "success"} if "env" in step else {}
                done = self._bash(step["run"], {**env, **state})
                out += done.out
                if done.code:
                    failed.append(step["name"])
        calls = [tuple(json.loads(line)) for line in (self.folder / "calls").read_text().splitlines()]
        return Ran(failed, out, calls)

    def _bash(self, script: str, env: dict[str, str]) -> Answer:
        """With the flags that GitHub gives to `shell: bash`."""
        return self.repository.run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, **env)


@pytest.fixture
def github(repository: Repository, tmp_path: Path) -> Github:
    """A branch of a lecturer who changed a number in the browser, and rendered nothing."""
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.commit("more seats")
    repository.git("push", "--quiet", "origin", "change")
    return Github(repository, tmp_path)


def test_it_uses_nothing_but_githubs_own_actions() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]

    assert used
    assert [one for one in used if not one.startswith("actions/")] == []


def test_the_calendar_is_built_by_the_command_and_published_by_githubs_own_actions() -> None:
    jobs = yaml.safe_load(workflow(CALENDAR, "kube-berth==1.0 "))["jobs"]
    steps = [*jobs["build"]["steps"], *jobs["publish"]["steps"]]

    assert [step["uses"] for step in steps if not step.get("uses", "actions/").startswith("actions/")] == []
    assert [step["run"] for step in steps if "run" in step] == [
        "python -m pip install --quiet --disable-pip-version-check 'kube-berth==1.0 '",
        "berth calendar --output-dir site",
    ]
    (artifact,) = [step["with"]["path"] for step in steps if "upload" in step.get("uses", "")]
    assert artifact == "site"
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


def test_no_text_of_a_pull_request_is_code() -> None:
    """What strangers may choose, as the name of a branch, reaches the shell in the environment alone."""
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize(
    "requirement", ["kube-berth==1.0", "git+https://h/a.git@1#subdirectory=a b&c", "$(x)"]
)
def test_the_requirement_is_one_word_of_the_shell(requirement: str, repository: Repository) -> None:
    steps = yaml.safe_load(workflow(PREVIEW, requirement))["jobs"]["preview"]["steps"]
    (install,) = [step["run"] for step in steps if step.get("name") == "Install Berth"]
    repository.program("python", 'for word in "$@"; do echo "$word"; done')

    assert repository.run("bash", "-c", install).out.splitlines()[-1] == requirement


def test_an_edit_in_the_browser_is_rendered_and_green(github: Github) -> None:
    ran = github.run()

    repository = github.repository
    head = repository.git("ls-remote", "origin", "refs/heads/change").split()[0]
    assert (ran.failed, ran.state) == ([], "success")
    assert [path for _, path, _ in ran.calls if "/statuses/" in path] == [f"repos/uni/seats/statuses/{head}"]
    assert repository.git("log", "-2", "--format=%s", head).splitlines() == ["Render", "more seats"]
    ((how, path, body),) = ran.comments
    assert (how, path) == ("POST", "repos/uni/seats/issues/7/comments")
    assert body.startswith("<!-- berth -->\n### Berth: 1 reservation changed")
    assert "not up to date" not in body
    assert (github.folder / "summary.md").read_text("utf-8") == body


def test_a_second_run_pushes_nothing_and_updates_the_comment(github: Github) -> None:
    github.run()
    first = github.repository.git("rev-parse", "HEAD")
    bot, person = {"login": "github-actions[bot]"}, {"login": "ada"}
    github.comments(
        [
            {"id": 1, "user": person, "body": "<!-- berth --> quoted"},
            {"id": 2, "user": bot, "body": "another tool"},
            {"id": 3, "user": bot, "body": "<!-- berth -->\nbefore"},
        ]
    )
    ran = github.run()

    assert ran.failed == []
    assert github.repository.git("rev-parse", "origin/change") == first
    assert [(how, path) for how, path, _ in ran.comments] == [("PATCH", "repos/uni/seats/issues/comments/3")]


def test_a_fork_gets_the_commands_and_no_call_that_it_may_not_make(github: Github) -> None:
    ran = github.run(fork=True)

    assert (ran.failed, ran.calls) == (["Render"], [])
    assert "1 reservation changed" in (github.folder / "summary.md").read_text("utf-8")
    fix = re.search(r"Run: (.+)", ran.out)
    assert fix
    github.repository.git("checkout", "--quiet", "change")
    github.repository.git("config", "user.name", "a")
    github.repository.git("config", "user.email", "a@example.org")
    github.repository.git("branch", "--quiet", "--set-upstream-to", "origin/change")
    assert github.repository.run("bash", "-ec", fix[1]).code == 0
    assert github.run(fork=True).failed == []


def test_a_stale_main_fails_and_is_not_written(github: Github) -> None:
    ran = github.run(branch="", number="")

    assert (ran.failed, ran.state, ran.comments) == (["Render"], "failure", [])
    assert github.repository.git("log", "-1", "--format=%s") == "more seats"


def test_a_push_in_between_is_not_overwritten(github: Github) -> None:
    repository = github.repository
    there = repository.git("rev-parse", "HEAD")
    repository.edit("course.yaml", "placeholderCount: 30", "placeholderCount: 31")
    newer = repository.commit("even more")
    repository.git("push", "--quiet", "origin", "change")
    repository.git("checkout", "--quiet", there)
    ran = github.run()

    assert (ran.failed, ran.state) == (["Render"], "failure")
    assert "::error title=rendered/ is not up to date::The push was refused." in ran.out
    assert repository.git("ls-remote", "origin", "refs/heads/change").split()[0] == newer


def test_an_error_is_an_annotation_and_a_comment(github: Github) -> None:
    github.repository.edit("course.yaml", "placeholderCount: 30", "placeholderCount: 0")
    github.repository.commit("none")
    ran = github.run()

    assert (ran.failed, ran.state) == (["Validate", "Preview"], "failure")
    assert ran.out.startswith("::error file=reservations/course.yaml,line=16,")
    assert "is not valid" in ran.comments[0][2]


def test_a_preview_that_cannot_be_made_says_so(github: Github) -> None:
    github.repository.program("berth", "exit 2")
    ran = github.run()

    assert ran.comments[0][2] == "<!-- berth -->\nBerth could not create the preview; see the log.\n"

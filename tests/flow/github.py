"""Runs the workflow that `berth init` writes: bash runs its steps, with git and a stub of GitHub's API."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from berth.edit.workflow import PREVIEW, workflow

from tests.answer import Answer
from tests.flow.conftest import Repository

WORKFLOW: Any = yaml.safe_load(workflow(PREVIEW, "kube-berth"))
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["preview"]["steps"]
TOKEN = "a-token-that-may-write"
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
        return self.status["state"]

    @property
    def status(self) -> dict[str, str]:
        (fields,) = [fields for _, path, fields in self.calls if "/statuses/" in path]
        return fields

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
    known["env.BRANCH"] = bool(env["BRANCH"])
    return all(known[part] for part in said.split(" && "))


class Github:
    """Runs the steps of the job as GitHub does, in a clone at a commit."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        repository.program("gh", GH.format(folder=folder))
        self.comments([])

    def comments(self, there: list[dict[str, Any]]) -> None:
        (self.folder / "comments.json").write_text(json.dumps(there))

    def run(
        self, *, branch: str = "change", number: str = "7", fork: bool = False, base: str = "origin/main"
    ) -> Ran:
        (self.folder / "calls").write_text("")
        (self.folder / "summary.md").unlink(missing_ok=True)
        repository = self.repository
        repository.git("checkout", "--quiet", "--detach", "HEAD")  # as actions/checkout does with a commit
        env = {
            "BASE": base,
            "BASE_REF": base.removeprefix("origin/") if number else "refs/heads/main",
            "BRANCH": branch,
            "DEFAULT": "main",
            "HEAD": repository.git("rev-parse", "HEAD"),
            "NUMBER": number,
            "FORK": str(fork).lower(),
            "REPOSITORY": "uni/seats",
            "RUNNER_TEMP": tempfile.mkdtemp(dir=self.folder),
            "GITHUB_SERVER_URL": "https://git.example.org",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
        }
        failed: list[str] = []
        out = ""
        for step in STEPS:
            if "run" not in step or step["name"] == "Install Berth":
                continue
            if _holds(step.get("if"), failed, env):
                state = {"STATE": "failure" if failed else "success", "GH_TOKEN": TOKEN}
                done = self._bash(step["run"], {**env, **(state if "env" in step else {})})
                out += done.out
                if done.code:
                    failed.append(step["name"])
        calls = [tuple(json.loads(line)) for line in (self.folder / "calls").read_text().splitlines()]
        return Ran(failed, out, calls)

    def _bash(self, script: str, env: dict[str, str]) -> Answer:
        """With the flags that GitHub gives to `shell: bash`."""
        return self.repository.run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, **env)


def set_time(repository: Repository, now: str) -> None:
    """Let the clock of the run show this."""
    repository.program("date", f"echo {now}")

"""A pull request on GitHub: runs the workflow that `berth init` writes, with a stub of GitHub's API."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.flow.conftest import Repository
from tests.flow.runner import Event, Runner

REPOSITORY = "uni/seats"
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


class Reviewed(NamedTuple):
    """What became of a run. `calls` are method, path and fields of the API."""

    failed: bool
    log: str
    calls: list[tuple[str, str, dict[str, str]]]
    folder: Path
    """What the action leaves for a second run."""

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

    @property
    def text(self) -> str:
        """The comment, as a person sees it."""
        return (self.folder / "preview.md").read_text("utf-8").replace("\\", "")


class Github:
    """Runs the job of the commit that a clone is at, as a pull request or a push."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        self.runner = Runner(str(repository.remote), folder, repository.path, REPOSITORY)
        repository.program("gh", GH.format(folder=folder))
        self.comments([])

    def comments(self, there: list[dict[str, Any]]) -> None:
        (self.folder / "comments.json").write_text(json.dumps(there))

    def pull_request(
        self,
        *,
        branch: str = "change",
        base: str = "main",
        owner: str = "uni",
        directory: str = ".",
        has_moved: bool = False,
    ) -> Reviewed:
        """Run it for a pull request. The branch of another owner is one of a fork; of none, of a deleted one.

        The run takes the workflow from a merge of both branches, as GitHub does. `has_moved`: the base branch
        has got commits since then that make a conflict.
        """
        git = self.repository.git
        head = git("rev-parse", "HEAD")
        git("push", "--quiet", "--force", "origin", f"{head}:refs/pull/7/head")
        git("fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*")
        base_commit = f"refs/remotes/origin/{base}"
        if has_moved:
            base_commit = git("merge-base", head, base_commit)
        tree = git("merge-tree", "--write-tree", base_commit, head)
        merged = git("commit-tree", tree, "-p", base_commit, "-p", head, "-m", "Merge")
        git("push", "--quiet", "--force", "origin", f"{merged}:refs/pull/7/merge")
        payload = {
            "pull_request": {
                "number": 7,
                "head": {
                    "ref": branch,
                    "sha": head,
                    "repo": {"full_name": f"{owner}/seats"} if owner else None,
                },
                "base": {"ref": base},
            },
        }
        return self._run(Event("pull_request", payload, merged, "refs/pull/7/merge"), directory)

    def push(self, before: str) -> Reviewed:
        """Run it for a push of the commit to the main branch, which was at another commit before."""
        head = self.repository.git("rev-parse", "HEAD")
        self.repository.git("push", "--quiet", "origin", f"{head}:refs/heads/main")
        return self._run(Event("push", {"before": before}, head, "refs/heads/main"))

    def merge_group(self, base: str) -> Reviewed:
        """Run it for the commit in a merge queue, on top of another commit."""
        head = self.repository.git("rev-parse", "HEAD")
        queue = "refs/heads/gh-readonly-queue/main/pr-7"
        self.repository.git("push", "--quiet", "--force", "origin", f"{head}:{queue}")
        payload = {"merge_group": {"base_sha": base, "base_ref": "refs/heads/main"}}
        return self._run(Event("merge_group", payload, head, queue))

    def _run(self, event: Event, directory: str = ".") -> Reviewed:
        (self.folder / "calls").write_text("")
        event.payload["repository"] = {"default_branch": "main"}
        workflow = self.repository.git("show", f"{event.sha}:.github/workflows/berth.yaml")
        job: Any = yaml.safe_load(workflow)["jobs"]["preview"]
        job["steps"][-1]["id"] = "berth"
        job["steps"][-1]["with"]["directory"] = directory
        ran = self.runner.run(job, event)
        calls = [tuple(json.loads(line)) for line in (self.folder / "calls").read_text().splitlines()]
        return Reviewed(bool(ran.failed), ran.log, calls, Path(ran.outputs["berth"]["folder"]))


def set_time(repository: Repository, now: str) -> None:
    """Let the clock of the run show this."""
    repository.program("date", f"echo {now}")

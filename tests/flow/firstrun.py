"""The first runs of the workflows that `berth init` writes, where nothing is installed.

`python -m tests.flow.firstrun BERTH FOLDER` lets this program write a repository into an empty folder.
"""

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import yaml

from tests.flow.conftest import Repository
from tests.flow.github import Github, Reviewed
from tests.flow.runner import Event, Ran


class FirstRun:
    """A new repository, and a runner with an empty environment of Python.

    `packages` are folders of packages that it has nevertheless.
    """

    def __init__(self, berth: str, folder: Path, packages: Sequence[str] = ()) -> None:
        repository = Repository(folder)
        repository.folder.mkdir()
        for words in (("init", "--calendar"), ("render",)):
            subprocess.run([berth, *words], cwd=repository.folder, check=True)
        repository.publish()
        self.repository = repository
        self.github = Github(repository, folder)
        environment = folder / "environment"
        venv.create(environment, with_pip=not packages)
        if packages:
            (site,) = environment.glob("lib/python*/site-packages")
            (site / "others.pth").write_text("\n".join(packages))
        for program in ("berth", "python"):
            (repository.programs / program).unlink()
        runner = self.github.runner
        runner.path = f"{repository.programs}:{environment}/bin:/usr/bin:/bin"
        runner.environment = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}

    def pull_request(self) -> Reviewed:
        """Run it for somebody who changes a number in the browser."""
        repository = self.repository
        repository.git("checkout", "--quiet", "-b", "change")
        repository.edit("first-course.yaml", "placeholderCount: 25", "placeholderCount: 30")
        repository.push("more seats")
        return self.github.pull_request()

    def push(self) -> Reviewed:
        """Run it for the first push of the repository."""
        return self.github.push("0" * 40)

    def calendar(self) -> Ran:
        """Run the job that makes the calendar page."""
        workflow = self.repository.folder / ".github/workflows/berth-calendar.yaml"
        head = self.repository.git("rev-parse", "main")
        job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["build"]
        return self.github.runner.run(job, Event("push", {}, head, "refs/heads/main"))


def main(berth: str, folder: str) -> int:
    """Tell the first runs; return 1 if one fails."""
    first = FirstRun(berth, Path(folder))
    pushed, calendar, reviewed = first.push(), first.calendar(), first.pull_request()
    sys.stdout.write(pushed.log + calendar.log + reviewed.log)
    states = (pushed.state, reviewed.state)
    return int(states != ("success", "success") or bool(calendar.failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

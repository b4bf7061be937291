"""A repository with a project in it, a remote of its own, and the programs that the scripts call."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.answer import Answer
from tests.cli import project
from tests.forking import command

ROOT = Path(__file__).parents[2]
REPOSITORY = ROOT / "templates/repository"
SCRIPTS = REPOSITORY / ".github/berth"
_IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


class Repository:
    """A clone; `remote` is bare. `berth` is on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.remote = folder / "clone", folder / "remote.git"
        self.programs = folder / "bin"
        self.programs.mkdir(exist_ok=True)
        self.program("berth", f'exec {shlex.join(command())} "$@"')
        self.program("python", ":")  # installs nothing

    def begin(self) -> None:
        """Make the project its first commit, with the workflow of `berth init`, and push it."""
        self.folder.mkdir()
        project.write(self.folder)
        shutil.copytree(SCRIPTS, self.folder / ".github/berth")
        workflow = self.folder / ".github/workflows/berth.yaml"
        workflow.parent.mkdir()
        shutil.copy(REPOSITORY / ".github/workflows/berth.yaml", workflow)
        assert self.run("berth", "render").code == 0
        self.publish()

    def publish(self) -> None:
        """Make all files the first commit, and push it to a new remote."""
        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", self.remote], check=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("remote", "add", "origin", str(self.remote))
        self.commit("first")
        self.git("push", "--quiet", "origin", "main")

    def start_anew(self) -> None:
        """Let each call of Berth be a process that starts from nothing."""
        self.program("berth", f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m berth "$@"')

    @property
    def path(self) -> str:
        """Where the steps of workflows find programs."""
        return f"{self.programs}:{os.environ['PATH']}"

    def program(self, name: str, text: str) -> None:
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def run(self, *command: str, **environment: str) -> Answer:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PATH": self.path, "GIT_CONFIG_GLOBAL": os.devnull, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def git(self, *words: str) -> str:
        done = self.run("git", *_IDENTITY, *words)
        assert done.code == 0, done.err
        return done.out.strip()

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def push(self, message: str, branch: str = "change") -> str:
        """Commit all files, and push them as this branch. Return the commit."""
        head = self.commit(message)
        self.git("push", "--quiet", "--force", "origin", f"HEAD:refs/heads/{branch}")
        return head

    @contextmanager
    def on_main(self, message: str, then: str = "change") -> Iterator[None]:
        """Push what happens within the block to the main branch, and check out another one."""
        self.git("checkout", "--quiet", "main")
        yield
        self.push(message, "main")
        self.git("checkout", "--quiet", then)

    def edit(self, file: str, before: str, after: str) -> None:
        project.change(self.folder, file.removesuffix(".yaml"), before, after)

    def merge_into(self, branch: str) -> None:
        """Let main go on, and somebody merge it into a branch of the remote, as a button of forges does."""
        self.git("fetch", "--quiet", "origin")
        self.git("checkout", "--quiet", "--force", "--detach", "origin/main")
        self.git("push", "--quiet", "origin", f"{self.commit('another change')}:refs/heads/main")
        self.git("checkout", "--quiet", "--detach", f"origin/{branch}")
        self.git("fetch", "--quiet", "origin")
        self.git("merge", "--quiet", "--no-ff", "--message", "Merge main", "origin/main")
        self.git("push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")

    def add(self, name: str) -> None:
        """One more reservation, like the course."""
        text = (self.folder / "reservations/course.yaml").read_text("utf-8")
        new = text.replace("metadata: {name: course}", f"metadata: {{name: {name}}}")
        (self.folder / f"reservations/{name}.yaml").write_text(new, "utf-8")


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    Repository(folder).begin()
    return folder


@pytest.fixture
def repository(first_commit: Path, tmp_path: Path) -> Repository:
    shutil.copytree(first_commit, tmp_path, dirs_exist_ok=True, symlinks=True)
    copy = Repository(tmp_path)
    copy.git("remote", "set-url", "origin", str(copy.remote))
    return copy


def store(repository: Repository, path: str, text: str) -> None:
    """Let git store other text than it checks out, as no `git add` does."""
    file = repository.folder / "other"
    file.write_text(text, "utf-8")
    blob = repository.git("hash-object", "-w", "--no-filters", str(file))
    file.unlink()
    repository.git("update-index", "--cacheinfo", f"100644,{blob},{path}")
    repository.git("commit", "--quiet", "--message", "stored")
    repository.git("checkout", "--quiet", "-b", "fresh")
    (repository.folder / path).unlink()
    repository.git("checkout", "--", path)

"""Pull requests with the real programs around them: pre-commit, and what GitHub understands of workflows."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from berth import cli

from tests.e2e import linters
from tests.e2e.project import ROOT

PRE_COMMIT = "pre-commit==4.7.0"
CONFIG = """\
repos:
  - repo: {repository}
    rev: {commit}
    hooks:
      - id: berth-validate
      - id: berth-render
"""
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    command = ["git", *IDENTITY, *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def saved(folder: Path, message: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--message", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def pre_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, in an environment of its own."""
    folder = tmp_path_factory.mktemp("pre-commit")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", PRE_COMMIT], check=True, capture_output=True)
    return folder / "bin/pre-commit"


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """This very checkout as a repository, with what is not committed yet."""
    folder = tmp_path / "berth"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet", "--initial-branch=main")
    saved(folder, "berth")
    return folder


def test_pre_commit_validates_and_renders(pre_commit: Path, ours: Path, tmp_path: Path) -> None:
    project = tmp_path / "seats"
    assert cli.run(["init", str(project), "--now", "2026-01-10"]) == 0
    with contextlib.chdir("."):
        assert cli.run(["-C", str(project), "render"]) == 0
    commit = git(ours, "rev-parse", "HEAD")
    (project / ".pre-commit-config.yaml").write_text(CONFIG.format(repository=ours, commit=commit))
    git(project, "init", "--quiet", "--initial-branch=main")
    saved(project, "first")
    course = project / "reservations/first-course.yaml"

    def run() -> tuple[int, str]:
        git(project, "add", "--all")
        done = subprocess.run(
            [pre_commit, "run"],
            cwd=project,
            env={**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    text = course.read_text("utf-8")
    course.write_text(text.replace("placeholderCount: 25", "placeholderCount: 0"), "utf-8")
    code, told = run()
    assert code == 1
    assert "reservations/first-course.yaml:17:23: error[B012]" in told

    course.write_text(text.replace("placeholderCount: 25", "placeholderCount: 30"), "utf-8")
    code, told = run()
    assert (code, "files were modified by this hook" in told) == (1, True), told
    assert run()[0] == 0

    second = text.replace("name: first-course", "name: second-course")
    (project / "reservations/second-course.yaml").write_text(second, "utf-8")
    code, told = run()
    assert (code, "rendered/clusters/prod/reservations/second-course.yaml is not staged" in told) == (
        1,
        True,
    ), told
    assert run()[0] == 0
    with contextlib.chdir("."):
        assert cli.run(["-C", str(project), "render", "--check"]) == 0


def test_actionlint_accepts_the_workflows(tmp_path: Path) -> None:
    for name in ("preview.yaml", "preview-of-forks.yaml"):
        linters.actionlint(ROOT / ".github/workflows" / name)
    assert cli.run(["init", str(tmp_path / "seats"), "--calendar", "--report", "--requests"]) == 0
    linters.actionlint(*sorted((tmp_path / "seats/.github/workflows").glob("*.yaml")))

"""Two folders of the small project: what was, and what is."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from berth import cli

from tests.answer import Answer
from tests.cli import clouds, project

NOW = "2026-02-02T09:00:00Z"


class Pair:
    """`was` is rendered and stays; `now` is edited and compared with it."""

    def __init__(self, rendered: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.was, self.now = folder / "was", folder / "now"
        self._capsys = capsys
        for side in (self.was, self.now):
            shutil.copytree(rendered, side)

    def edit(self, file: str, before: str, after: str) -> None:
        path = self.now / "reservations" / file
        text = path.read_text("utf-8")
        assert before in text
        path.write_text(text.replace(before, after), "utf-8")

    def put(self, file: str, text: str) -> None:
        """Write a file on both sides."""
        for side in (self.was, self.now):
            (side / "reservations" / file).write_text(text, "utf-8")

    def merge(self) -> None:
        """Let the base have the files of the head."""
        shutil.copytree(self.now / "reservations", self.was / "reservations", dirs_exist_ok=True)

    def change(self, at: str = NOW) -> dict[str, Any]:
        """The JSON of the change."""
        found: dict[str, Any] = json.loads(self.diff("-o", "json", at=at).out)
        return found

    def diff(self, *words: str, base: str = "../was", at: str = NOW, stale: bool = False) -> Answer:
        """`stale`: without rendering first."""
        if not stale:
            cli.run(["-C", str(self.now), "render"])
            self._capsys.readouterr()
        code = cli.run(["-C", str(self.now), "diff", *([base] if base else []), "--now", at, *words])
        return Answer(code, *self._capsys.readouterr())


class History:
    """The pair's `now`, as a repository whose main branch is what was."""

    def __init__(self, pair: Pair, root: Path) -> None:
        self.pair, self.root = pair, root
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("first")

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *identity, *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def diff(self, *words: str) -> Answer:
        return self.pair.diff(*words, base="")


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rendered")
    project.write(folder)
    assert cli.run(["-C", str(folder), "render"]) == 0
    return folder


@pytest.fixture(scope="session")
def rendered_cloudy(rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cloudy") / "project"
    shutil.copytree(rendered, folder)
    clouds.write(folder)
    cli.run(["-C", str(folder), "render"])
    return folder


@pytest.fixture
def pair(rendered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Pair:
    return Pair(rendered, tmp_path, capsys)


@pytest.fixture
def history(pair: Pair) -> History:
    return History(pair, pair.now)


@pytest.fixture
def cloudy(rendered_cloudy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Pair:
    """Both with cloud capacity."""
    return Pair(rendered_cloudy, tmp_path, capsys)


def warns(line: str, subject: str, *values: object) -> bool:
    """Whether a warning is about the subject and names the values, whatever its other words."""
    return line.startswith(subject) and all(str(value) in line for value in values)


def ruled(pair: Pair, *policies: str, text: str = project.SITE, was: Sequence[str] | None = None) -> None:
    """Give both sides these policies; `was`: those of the base."""
    for folder, lines in ((pair.was, policies if was is None else was), (pair.now, policies)):
        items = "".join(f"    - {{name: p{number}, {line}}}\n" for number, line in enumerate(lines))
        head = "  policies:\n" if items else ""
        (folder / "reservations/site.yaml").write_text(f"{text}{head}{items}", "utf-8")


def results(answer: Answer) -> list[list[str]]:
    """Policy, reservation and what is required, of each."""
    return [
        [load["policy"], load["reservation"], load["approvalBy"] or load["require"]]
        for load in json.loads(answer.out)["policies"]
    ]

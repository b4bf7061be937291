"""Files that we write are completed and checked in an editor, by the modeline that they carry."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from berth import cli

from tests.e2e.languageserver import LanguageServer

FILES = tuple(f"reservations/{name}.yaml" for name in ("site", "classes", "first-course", "calendars"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("editor") / "seats"
    assert cli.run(["init", str(folder), "--now", "2026-01-10"]) == 0
    return folder


@pytest.fixture(scope="module")
def editor(project: Path) -> Iterator[LanguageServer]:
    if shutil.which("npm") is None:
        pytest.skip("npm is not on this machine")
    with LanguageServer(project, project.parent / "packages") as server:
        yield server


@pytest.mark.parametrize("file", FILES)
def test_what_init_writes_has_no_problem(editor: LanguageServer, project: Path, file: str) -> None:
    assert editor.problems(file, (project / file).read_text("utf-8")) == []


def test_a_slip_is_shown_at_its_place(editor: LanguageServer, project: Path) -> None:
    text = (project / FILES[2]).read_text("utf-8")
    assert "  resourceClass: small\n" in text
    told = editor.problems("reservations/slip.yaml", text.replace("type: weekly", "type: monthly"))
    assert [problem.partition(": ")[0] for problem in told] == ["11:11"]
    assert "weekly" in told[0]


def test_keys_are_completed(editor: LanguageServer, project: Path) -> None:
    text = (project / FILES[2]).read_text("utf-8") + "  sus\n"
    assert "suspend" in editor.completions("reservations/another.yaml", text, text.count("\n"), 6)

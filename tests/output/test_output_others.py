"""Nobody loses a file of their own: what is not Berth's is named, and then nothing is written at all."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from berth.output.folder import ignored_by_git
from berth.output.stage import WriteResult

from tests.outputfolder import (
    HEADER,
    NEW,
    NO_HEADER,
    OLD,
    A,
    B,
    check,
    content,
    foreign,
    in_the_way,
    refused,
    render,
    write,
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output folder as a render left it."""
    folder = tmp_path / "rendered"
    render(folder, OLD)
    return folder


def test_all_are_named_and_nothing_is_written_or_lost(out: Path) -> None:
    write(out / "clusters/prod/notes.md", "mine")
    write(out / "clusters/prod/empty.yaml", "")
    write(out / A, "a: mine\n")
    (out / "clusters/link").symlink_to(out)
    os.mkfifo(out / "clusters/pipe")
    before = content(out / "clusters/prod")
    expected = (
        in_the_way(A, NO_HEADER, A),
        foreign("clusters/link", "A symbolic link"),
        foreign("clusters/pipe", "Something that is neither a file nor a folder"),
        foreign("clusters/prod/empty.yaml"),
        foreign("clusters/prod/notes.md"),
    )

    assert refused(lambda: render(out, {**NEW, "clusters/new/base.yaml": HEADER})) == expected
    assert refused(lambda: check(out, NEW)) == expected
    assert content(out / "clusters/prod") == before
    assert not (out / "clusters/new").exists()


@pytest.mark.parametrize(
    ("stands", "what", "where"),
    [
        ("folder", "A folder", B),
        ("link", "A symbolic link", B),
        ("pipe", "Something that is neither a file nor a folder", B),
        ("link", "A symbolic link", "clusters/prod"),
        ("file", "A file", "clusters/prod"),
        ("ours", "A file", "clusters/prod/reservations"),
        ("link", "A symbolic link", "clusters"),
        ("file", "A file", "clusters"),
    ],
)
def test_what_stands_in_the_way_is_told_once(tmp_path: Path, stands: str, what: str, where: str) -> None:
    path = tmp_path / "rendered" / where
    path.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    make: dict[str, Callable[[], object]] = {
        "folder": path.mkdir,
        "link": lambda: path.symlink_to(tmp_path / "elsewhere"),
        "pipe": lambda: os.mkfifo(path),
        "file": lambda: path.write_text("mine"),
        "ours": lambda: path.write_text(HEADER),
    }
    make[stands]()
    before = content(tmp_path)
    wanted = {A: OLD[A], B: OLD[B]} if where != B else {B: OLD[B]}

    expected = (in_the_way(where, what, B if where == B else A),)
    assert refused(lambda: render(tmp_path / "rendered", wanted)) == expected
    assert refused(lambda: check(tmp_path / "rendered", wanted)) == expected
    assert content(tmp_path) == before


def test_a_name_that_is_not_utf_8_is_told_in_ascii(out: Path) -> None:
    path = os.fsencode(out) + b"/clusters/caf\xe9.txt"
    try:
        Path(os.fsdecode(path)).write_text("mine")
    except OSError:
        pytest.skip("this file system takes only UTF-8")

    assert refused(lambda: render(out, OLD)) == (foreign("clusters/caf\\xe9.txt"),)


def test_what_git_ignores_is_left_alone_unless_it_is_tracked(out: Path) -> None:
    git = ["git", "-C", str(out.parent)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    write(out.parent / ".gitignore", "*.bak\ncache/\n")
    write(out / "clusters/prod/a.bak", "mine")
    write(out / "clusters/cache/ü x.txt", "mine")
    write(out / "clusters/prod/tracked.bak", "mine")
    subprocess.run([*git, "add", "--force", "rendered/clusters/prod/tracked.bak"], check=True)
    before = content(out)

    assert refused(lambda: render(out, OLD)) == (foreign("clusters/prod/tracked.bak"),)
    assert content(out) == before

    (out / "clusters/prod/tracked.bak").unlink()

    assert render(out, OLD) == WriteResult([], [], 3)
    assert (out / "clusters/prod/a.bak").read_text("utf-8") == "mine"


def test_outside_of_a_repository_git_ignores_nothing(tmp_path: Path) -> None:
    assert ignored_by_git(str(tmp_path), ["a"]) == frozenset()
    assert ignored_by_git(str(tmp_path / "none"), ["a"]) == frozenset()

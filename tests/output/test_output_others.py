"""Nobody loses a file of their own: what is not Berth's is named, and then nothing is written at all."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from berth.output.stage import Difference, WriteResult

from tests.cases import tabled
from tests.outputfolder import (
    HEADER,
    NEW,
    NO_HEADER,
    OLD,
    A,
    B,
    check,
    content,
    files_in,
    foreign,
    in_the_way,
    refused,
    render,
    write,
)


def test_all_foreign_files_are_reported_and_nothing_is_written(out: Path) -> None:
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
    "text", ["# mine\n", "# Rendered by helm\n", HEADER[1:], f"\n{HEADER}", f" {HEADER}"]
)
def test_a_file_is_owned_only_if_it_begins_with_the_whole_header(out: Path, text: str) -> None:
    write(out / A, text)
    write(out / "clusters/prod/mine.yaml", text)
    expected = in_the_way(A, NO_HEADER, A), foreign("clusters/prod/mine.yaml")

    assert refused(lambda: render(out, NEW)) == expected
    assert refused(lambda: check(out, NEW)) == expected
    assert (out / A).read_text() == (out / "clusters/prod/mine.yaml").read_text() == text


@tabled("output")
def test_an_obstacle_at_an_output_path_is_reported_once(
    stands: str, what: str, where: str, tmp_path: Path
) -> None:
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


def test_a_file_name_that_is_not_utf_8_is_reported_in_ascii(out: Path) -> None:
    path = os.fsencode(out) + b"/clusters/caf\xe9.txt"
    try:
        Path(os.fsdecode(path)).write_text("mine")
    except OSError:
        pytest.skip("this file system takes only UTF-8")

    assert refused(lambda: render(out, OLD)) == (foreign("clusters/caf\\xe9.txt"),)


@tabled("output")
def test_hidden_files_without_our_header_are_foreign(path: str, out: Path) -> None:
    write(out / path, "kind: ClusterRoleBinding\n")

    assert refused(lambda: check(out, OLD)) == (foreign(path),)
    assert refused(lambda: render(out, OLD)) == (foreign(path),)


def test_hidden_files_with_our_header_are_stale(out: Path) -> None:
    write(out / "clusters/prod/.x.yaml", HEADER)

    assert check(out, OLD) == [Difference("clusters/prod/.x.yaml", "stale")]
    assert render(out, OLD).removed == ["clusters/prod/.x.yaml"]


def test_a_file_that_git_ignores_is_foreign(out: Path) -> None:
    git = ["git", "-C", str(out.parent)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    write(out.parent / ".gitignore", "*.yaml\n")
    write(out / "clusters/prod/x.yaml", "kind: ClusterRoleBinding\n")

    assert refused(lambda: check(out, OLD)) == (foreign("clusters/prod/x.yaml"),)


@pytest.mark.parametrize("owned", ["clusters/prod/", "gitops/", "clusters/"])
def test_a_gitattributes_file_is_foreign(out: Path, owned: str) -> None:
    write(out / f"{owned}.gitattributes", "** working-tree-encoding=ASCII//TRANSLIT\n")

    assert refused(lambda: check(out, OLD)) == (foreign(f"{owned}.gitattributes"),)


@pytest.mark.parametrize(
    ("path", "what"),
    [
        *((name, "A file") for name in (".sourceignore", ".gitattributes", "evil.yaml", "e.json", "README")),
        *((f"{name}/e.yaml", "A folder") for name in ("other", ".hidden", "Clusters", "README.md")),
    ],
)
def test_files_and_folders_beside_the_owned_folders_are_foreign(out: Path, path: str, what: str) -> None:
    write(out / path, HEADER)
    expected = (foreign(path.partition("/")[0], what, owner="rendered"),)

    assert refused(lambda: check(out, OLD)) == expected
    assert refused(lambda: render(out, NEW)) == expected
    assert files_in(out) == {**OLD, path: HEADER}


def test_a_link_in_the_output_folder_is_foreign(out: Path) -> None:
    (out / "more").symlink_to("clusters")
    expected = (foreign("more", "A symbolic link", owner="rendered"),)

    assert refused(lambda: check(out, OLD)) == expected
    assert refused(lambda: render(out, NEW)) == expected


def test_an_output_folder_that_is_a_link_gets_the_finding_b090(out: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(out.name)
    before = content(out)

    for act in (lambda: check(link, OLD), lambda: render(link, NEW)):
        (found,) = refused(act)
        assert (found.code, found.file) == ("B090", "rendered")
    assert content(out) == before


def test_an_empty_folder_is_stale_because_it_may_be_a_submodule(out: Path) -> None:
    (out / "clusters/prod/module/inner").mkdir(parents=True)

    folders = ("clusters/prod/module/", "clusters/prod/module/inner/")
    assert check(out, OLD) == [Difference(path, "stale") for path in folders]
    assert render(out, OLD) == WriteResult([], [], 3)
    assert check(out, OLD) == []
    assert not (out / "clusters/prod/module").exists()


def test_a_folder_with_a_name_that_differs_only_in_case_is_refused(out: Path) -> None:
    """A checkout on another file system puts its files beside what Berth renders."""
    write(out.parent / "Rendered/clusters/prod/extra.yaml", "mine")

    assert [finding.code for finding in refused(lambda: render(out, NEW))] == ["B090"]

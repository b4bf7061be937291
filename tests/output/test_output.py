"""The output folder becomes what was rendered: what differs is written, what is stale removed, no more."""

import os
from pathlib import Path

import pytest
from berth.output.folder import header
from berth.output.stage import Difference, FolderComparison, Stage, WriteResult

from tests.cases import tabled
from tests.outputfolder import BASE, HEADER, NEW, OLD, A, B, content, files_in, render, write


@pytest.mark.parametrize("site", ["", "-a", "a-", "A", "a b", "a\nb: c", "ü"])
def test_the_header_accepts_only_a_dns_label(site: str) -> None:
    with pytest.raises(ValueError, match="is not a DNS label"):
        header(site)


@pytest.mark.parametrize("name", ["new/", "new//rendered", "new/./rendered/"])
def test_an_output_path_may_have_extra_slashes_and_dots(tmp_path: Path, name: str) -> None:
    with Stage(f"{tmp_path}/{name}", name) as stage:
        stage.put(A, OLD[A])
        stage.finish()

    assert files_in(tmp_path / name) == {A: OLD[A]}


def test_files_get_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        render(tmp_path, {A: OLD[A]})
    finally:
        os.umask(before)

    assert (tmp_path / A).stat().st_mode & 0o777 == 0o640


def test_only_different_files_are_written_and_stale_files_are_removed(out: Path) -> None:
    before = (out / BASE).stat()
    new = "clusters/test/base.yaml"

    outcome = render(out, {BASE: OLD[BASE], A: NEW[A], new: OLD[BASE]})

    assert outcome == WriteResult([A, new], [B], 1)
    assert files_in(out) == {BASE: OLD[BASE], A: NEW[A], new: OLD[BASE]}
    assert (out / BASE).stat() == before


def test_folders_that_become_empty_are_removed(out: Path) -> None:
    write(out / "gitops/argocd/prod.yaml", HEADER)

    assert render(out, {BASE: OLD[BASE]}).removed == [A, B, "gitops/argocd/prod.yaml"]
    assert content(out) == {
        "clusters/": "",
        "clusters/prod/": "",
        BASE: OLD[BASE],
    }


def test_large_files_are_compared_to_their_end(tmp_path: Path) -> None:
    text = HEADER + "a: 1\n" * 60_000

    assert render(tmp_path, {A: text}).written == [A]
    assert render(tmp_path, {A: text}).unchanged == 1
    assert render(tmp_path, {A: text + "b"}).written == [A]
    assert render(tmp_path, {A: text}).written == [A]
    assert files_in(tmp_path) == {A: text}


@tabled("output")
def test_a_path_outside_of_the_owned_folders_is_refused(path: str, tmp_path: Path) -> None:
    for make in (Stage, FolderComparison):
        with pytest.raises(ValueError, match="is outside of the owned folders"):
            make(str(tmp_path), "rendered").put(path, HEADER)


def test_a_text_without_a_header_and_a_repeated_path_are_refused(tmp_path: Path) -> None:
    with Stage(str(tmp_path), "rendered") as stage:
        with pytest.raises(ValueError, match="has no header"):
            stage.put(A, "a: 1\n")
        stage.put(A, OLD[A])
        with pytest.raises(ValueError, match="is rendered twice"):
            stage.put(A, OLD[A])


def interrupted(folder: Path, files: dict[str, str]) -> None:
    with Stage(str(folder), "rendered") as stage:
        for path, text in files.items():
            stage.put(path, text)
        raise KeyboardInterrupt


def test_an_interrupted_render_changes_nothing(out: Path) -> None:
    before = content(out)

    with pytest.raises(KeyboardInterrupt):
        interrupted(out, {A: NEW[A], "gitops/argocd/prod.yaml": HEADER})

    assert content(out) == before


def test_an_interrupted_render_removes_new_folders(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "deep/rendered", NEW)

    assert content(tmp_path) == {}


def test_a_file_that_is_removed_during_the_check_is_missing(out: Path) -> None:
    compared = FolderComparison(str(out), "rendered")
    (out / A).unlink()
    (out / B).unlink()
    compared.put(A, OLD[A])

    assert compared.finish() == [Difference(BASE, "stale"), Difference(A, "missing")]

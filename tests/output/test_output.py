"""The output folder becomes what was rendered: what differs is written, what is stale removed, no more."""

import os
from pathlib import Path

import pytest
from berth.output.folder import header
from berth.output.stage import Difference, FolderComparison, Stage, WriteResult

from tests.cases import tabled
from tests.outputfolder import BASE, HEADER, NEW, OLD, A, B, content, files_in, render, write


@pytest.mark.parametrize("site", ["", "-a", "a-", "A", "a b", "a\nb: c", "ü"])
def test_it_takes_only_a_dns_label(site: str) -> None:
    with pytest.raises(ValueError, match="is not a DNS label"):
        header(site)


@pytest.mark.parametrize("name", ["new/", "new//rendered", "new/./rendered/"])
def test_a_folder_may_be_named_carelessly(tmp_path: Path, name: str) -> None:
    with Stage(f"{tmp_path}/{name}", name) as stage:
        stage.put(A, OLD[A])
        stage.finish()

    assert files_in(tmp_path / name) == {A: OLD[A]}


def test_files_have_ordinary_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        render(tmp_path, {A: OLD[A]})
    finally:
        os.umask(before)

    assert (tmp_path / A).stat().st_mode & 0o777 == 0o640


def test_only_what_differs_is_written_and_what_is_stale_removed(out: Path) -> None:
    before = (out / BASE).stat()
    new = "clusters/test/base.yaml"

    outcome = render(out, {BASE: OLD[BASE], A: NEW[A], new: OLD[BASE]})

    assert outcome == WriteResult([A, new], [B], 1)
    assert files_in(out) == {BASE: OLD[BASE], A: NEW[A], new: OLD[BASE]}
    assert (out / BASE).stat() == before


def test_folders_that_become_empty_go_too(out: Path) -> None:
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
def test_no_path_leads_out_of_our_folders(path: str, tmp_path: Path) -> None:
    for make in (Stage, FolderComparison):
        with pytest.raises(ValueError, match="is outside of the owned folders"):
            make(str(tmp_path), "rendered").put(path, HEADER)


def test_no_text_without_a_header_and_no_path_twice(tmp_path: Path) -> None:
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


def test_leaving_early_leaves_everything_as_it_was(out: Path) -> None:
    before = content(out)

    with pytest.raises(KeyboardInterrupt):
        interrupted(out, {A: NEW[A], "gitops/argocd/prod.yaml": HEADER})

    assert content(out) == before


def test_leaving_early_takes_new_folders_along(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "deep/rendered", NEW)

    assert content(tmp_path) == {}


def test_a_file_that_vanishes_in_the_middle_is_missing(out: Path) -> None:
    compared = FolderComparison(str(out), "rendered")
    (out / A).unlink()
    (out / B).unlink()
    compared.put(A, OLD[A])

    assert compared.finish() == [Difference(BASE, "stale"), Difference(A, "missing")]

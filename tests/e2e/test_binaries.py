"""The cache of built programs: each module has its own folder, so that what is new builds nothing old."""

from pathlib import Path

import pytest

from tests.e2e import binaries
from tests.e2e.binaries import ENGINES, OTHERS, PROGRAMS, Program

MODULES = sorted({one.module for one in (*PROGRAMS, *ENGINES, *OTHERS)})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BERTH_E2E_CACHE", str(tmp_path))
    return tmp_path


def folders() -> dict[str, Path]:
    return {module: binaries.module_dir(module) for module in MODULES}


def test_each_module_has_a_folder_of_its_own(cache: Path) -> None:
    found = folders()

    assert len(set(found.values())) == len(MODULES) == 12
    assert {folder.parent for folder in found.values()} == {cache}


def test_a_new_program_changes_only_the_folder_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    before = folders()
    more = {**binaries._BY_NAME, "new": Program("new", "linters", "example.org/new")}
    monkeypatch.setattr(binaries, "_BY_NAME", more)
    after = folders()

    assert [module for module in MODULES if before[module] != after[module]] == ["linters"]


def test_a_cluster_needs_no_engine_and_finds_its_programs_in_one_folder(cache: Path) -> None:
    for program in PROGRAMS:
        place = binaries.module_dir(program.module) / program.name
        place.parent.mkdir(exist_ok=True)
        place.write_text(program.name)

    assert binaries.missing() == []
    assert binaries.missing([one.name for one in ENGINES]) == [one.name for one in ENGINES]
    folder = binaries.build()
    assert folder == binaries.bin_dir()
    assert {one.name: one.read_text() for one in folder.iterdir()} == {p.name: p.name for p in PROGRAMS}
    assert cache in folder.parents


def test_a_program_that_is_not_built_has_no_link() -> None:
    binaries.build([])

    assert list(binaries.bin_dir().iterdir()) == []
    assert binaries.missing() == [program.name for program in PROGRAMS]

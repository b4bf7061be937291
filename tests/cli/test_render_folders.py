"""`berth render` in other folders: where output goes."""

from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import project
from tests.outputfolder import files_in, write


@pytest.mark.parametrize(
    "given", ["out", "out/", "./out/deep", "{folder}/out"], ids=["plain", "slash", "deep", "absolute"]
)
def test_output_goes_where_it_is_asked_for(berth: Berth, folder: Path, given: str) -> None:
    given = given.format(folder=folder)
    shown = given.rstrip("/")

    assert berth("render", "--output-dir", given) == (
        0,
        f"{shown}/: 9 written, 0 removed, 0 unchanged.\n",
        "",
    )
    assert sorted(files_in(folder / given)) == project.RENDERED
    assert not (folder / "rendered").exists()
    assert berth("render", "--check", "--output-dir", given) == (0, f"{shown}/ is up to date.\n", "")


@pytest.mark.parametrize(
    "given",
    ["reservations", "reservations/out", "x/../reservations/"],
    ids=["same", "below", "dots"],
)
def test_output_among_the_input_is_a_slip(berth: Berth, folder: Path, given: str) -> None:
    """The next run would take manifests for declarations."""
    told = f'berth: --output-dir "{given}": name a folder outside of reservations/.\n'

    assert berth("render", f"--output-dir={given}") == (2, "", told)
    assert sorted(files_in(folder)) == sorted(f"reservations/{name}" for name in project.FILES)


def test_an_output_folder_that_is_a_file_is_told(berth: Berth, folder: Path) -> None:
    write(folder / "out", "mine\n")

    code, out, err = berth("render", "--output-dir", "out")

    assert (code, out) == (1, "")
    assert err.startswith("out:1:1: error[B092] It cannot be read or written: ")

"""`berth render` in other folders: where output goes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import project
from tests.outputfolder import files_in, write


@pytest.mark.parametrize(
    "given", ["out", "out/", "./out/deep", "{folder}/out"], ids=["plain", "slash", "deep", "absolute"]
)
def test_the_option_output_dir_sets_the_output_folder(berth: Berth, folder: Path, given: str) -> None:
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
def test_an_output_folder_below_reservations_is_a_usage_error(berth: Berth, folder: Path, given: str) -> None:
    """The next run would take manifests for declarations."""
    told = f'berth: --output-dir "{given}": name a folder outside of reservations/.\n'

    assert berth("render", f"--output-dir={given}") == (2, "", told)
    assert sorted(files_in(folder)) == sorted(f"reservations/{name}" for name in project.FILES)


@pytest.mark.parametrize("given", ["rendered", "rendered/page", "reservations/page"])
def test_a_calendar_page_below_rendered_or_reservations_is_a_usage_error(
    berth: Berth, folder: Path, given: str
) -> None:
    """The next render would refuse what it did not write."""
    before = sorted(files_in(folder))

    assert berth("calendar", "--output-dir", given).code == 2
    assert sorted(files_in(folder)) == before


@pytest.mark.parametrize("path", ["rendered/clusters/prod/base.yaml", "rendered/clusters/prod"])
def test_an_unreadable_manifest_is_reported_by_its_path(berth: Berth, folder: Path, path: str) -> None:
    assert berth("render").code == 0
    base = shutil.copytree(folder, folder / "old")
    (base / "reservations/course.yaml").unlink()
    (folder / path).chmod(0)
    lacking = "-dac_override,-dac_read_search"  # root may read all
    bounded = ["setpriv", f"--bounding-set={lacking}", f"--inh-caps={lacking}"] if os.getuid() == 0 else []
    words = [*bounded, sys.executable, "-m", "berth", "-C", str(folder), "diff", "./old"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    (folder / path).chmod(0o700)

    assert done.returncode == 2
    assert done.stderr == f"berth: {path}: Permission denied\n"


def test_diff_does_not_wait_for_a_pipe_in_place_of_a_manifest(berth: Berth, folder: Path) -> None:
    assert berth("render").code == 0
    shutil.copytree(folder, folder / "old")
    file = folder / "rendered/clusters/prod/base.yaml"
    file.unlink()
    os.mkfifo(file)

    assert "rendered/clusters/prod/base.yaml" in berth("diff", "./old").out


def test_an_output_folder_that_is_a_file_gets_the_finding_b092(berth: Berth, folder: Path) -> None:
    write(folder / "out", "mine\n")

    code, out, err = berth("render", "--output-dir", "out")

    assert (code, out) == (1, "")
    assert err.startswith("out:1:1: error[B092] It cannot be read or written: ")

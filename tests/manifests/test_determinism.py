"""Same input, same bytes: whoever renders, wherever, whenever, and in whichever order files are read."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from berth import cli

from tests.outputfolder import files_in

ROOT = Path(__file__).parents[2]
RESERVATIONS = ROOT / "reservations"


class Place(NamedTuple):
    """Where and how a render runs. The folder is below the test's own, and is worked in if `inside`."""

    folder: str
    inside: bool
    umask: int
    variables: dict[str, str]


PLACES = {
    "hash-seed-0-locale-c": Place("a", True, 0o022, {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"}),
    "hash-seed-1-turkish-and-kathmandu": Place(
        "deep/er", False, 0o077, {"PYTHONHASHSEED": "1", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"}
    ),
    "hash-seed-2-no-utf-8": Place(
        "with space",
        True,
        0o000,
        {
            "PYTHONHASHSEED": "2",
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "TZ": "EST5EDT",
        },
    ),
    "hash-seed-3-no-home": Place(
        "ünï",
        False,
        0o027,
        {
            "PYTHONHASHSEED": "3",
            "LC_ALL": "C.UTF-8",
            "TZ": "nonsense/zone",
            "HOME": "/",
            "PYTHONOPTIMIZE": "2",
        },
    ),
}


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What this process makes of the examples."""
    folder = tmp_path_factory.mktemp("expected")
    shutil.copytree(RESERVATIONS, folder / "reservations")
    return render(folder)


def render(folder: Path) -> dict[str, str]:
    assert cli.run(["-C", str(folder), "render"]) == 0
    return files_in(folder / "rendered")


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_the_environment_of_the_machine_changes_no_byte(
    tmp_path: Path, expected: dict[str, str], place: Place
) -> None:
    folder = tmp_path / place.folder
    shutil.copytree(RESERVATIONS, folder / "reservations")
    command = [sys.executable, "-m", "berth", *([] if place.inside else ["-C", str(folder)]), "render"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **place.variables}

    subprocess.run(
        command,
        cwd=folder if place.inside else tmp_path,
        env=environment,
        umask=place.umask,
        stdout=subprocess.DEVNULL,
        check=True,
    )

    assert files_in(folder / "rendered") == expected
    for file in (folder / "rendered").rglob("*.yaml"):
        assert file.stat().st_mode & 0o777 == 0o644 & ~place.umask


def test_names_folders_and_the_order_of_files_change_no_byte(
    tmp_path: Path, expected: dict[str, str]
) -> None:
    """One document to a file, under names that sort backwards, made in another order, in nested folders."""
    documents = [
        (text, file.suffix)
        for file in sorted(RESERVATIONS.rglob("*.*"), reverse=True)
        for text in reversed(file.read_text("utf-8").split("\n---\n"))
    ]
    for number, (text, suffix) in enumerate(documents):
        folder = tmp_path / "reservations" / f"folder-{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{100 - number}{suffix}").write_text(text, "utf-8")

    assert render(tmp_path) == expected


def test_a_single_file_with_all_documents_changes_no_byte(tmp_path: Path, expected: dict[str, str]) -> None:
    folder = tmp_path / "reservations"
    folder.mkdir()
    texts = [file.read_text("utf-8") for file in sorted(RESERVATIONS.rglob("*.yaml"), reverse=True)]
    (folder / "all.yaml").write_text("\n---\n".join(texts), "utf-8")
    for file in RESERVATIONS.rglob("*.json"):
        shutil.copy(file, folder)

    assert render(tmp_path) == expected


def test_line_endings_and_a_byte_order_mark_change_no_byte(tmp_path: Path, expected: dict[str, str]) -> None:
    shutil.copytree(RESERVATIONS, tmp_path / "reservations")
    for file in (tmp_path / "reservations").rglob("*.yaml"):
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))

    assert render(tmp_path) == expected


def test_existing_files_change_no_byte(tmp_path: Path, expected: dict[str, str]) -> None:
    shutil.copytree(RESERVATIONS, tmp_path / "reservations")
    before = render(tmp_path)
    for number, path in enumerate(before):
        file = tmp_path / "rendered" / path
        if number % 3 == 0:
            file.unlink()
        else:
            file.write_text(before[path] + "# edited\n" * (number % 3), "utf-8")

    assert render(tmp_path) == expected
    times = {path: (tmp_path / "rendered" / path).stat().st_mtime_ns for path in before}
    assert render(tmp_path) == expected
    assert {path: (tmp_path / "rendered" / path).stat().st_mtime_ns for path in before} == times

"""The wheel carries all that a render needs: built here, installed elsewhere, it gives the same bytes."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from berth import cli
from berth.version import VERSION

from tests.outputfolder import files_in

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="hatchling is not in this environment; `make test` installs it")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-compile"]
    command = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(folder), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def berth(installed: Path, where: Path, *arguments: str) -> str:
    """What the installed program says on stdout. Its dependencies come from the environment of the tests."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, str(installed / "bin" / "berth"), *arguments]
    return subprocess.run(
        command, cwd=where, env=environment, check=True, capture_output=True, text=True
    ).stdout


def test_the_wheel_holds_only_the_program_and_the_templates(wheel: Path) -> None:
    info = f"kube_berth-{VERSION}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith(f"{info}/")}
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
    files = (
        path for path in (ROOT / "gen" / "berth").rglob("*.*") if path.suffix in {".py", ".toml", ".txt"}
    )
    modules = {f"{path.relative_to(ROOT / 'gen')}" for path in files}
    templates = {
        f"berth/{path.relative_to(ROOT)}" for path in (ROOT / "templates").rglob("*.*") if path.is_file()
    }

    assert wheel.name == f"kube_berth-{VERSION}-py3-none-any.whl"
    assert names == modules | templates
    assert entry_points == "[console_scripts]\nberth = berth.cli:main\n"


def test_an_installed_wheel_renders_the_same_bytes(installed: Path, tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        shutil.copytree(ROOT / "reservations", tmp_path / name / "reservations")
    assert cli.run(["-C", str(tmp_path / "ours"), "render"]) == 0

    told = berth(installed, tmp_path / "theirs", "render")

    ours = files_in(tmp_path / "ours" / "rendered")
    assert told == f"rendered/: {len(ours)} written, 0 removed, 0 unchanged.\n"
    assert files_in(tmp_path / "theirs" / "rendered") == ours


def test_these_tests_run_the_installed_program(installed: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(installed, changed)
    (changed / "berth" / "version.py").write_text('VERSION = "9.9.9"\n')

    assert berth(changed, tmp_path, "--version") == "berth 9.9.9\n"


def test_the_source_distribution_holds_what_the_wheel_is_built_of_and_no_tests(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not in this environment; `make test` installs it")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = tmp_path.iterdir()
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    files = {"README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO", "pyproject.toml", ".gitignore"}

    assert {name for name in names if name.split("/")[0] not in ("gen", "templates")} == files
    assert {"templates/repository/.github/berth/install.sh", "templates/rbac/role.yaml.j2"} <= names

"""The rest of the program knows a backend by one registry: without its package, all else works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from berth.backends.backendregistry import DEFAULT_HOLDER, HOLDERS

ROOT = Path(__file__).parents[1]
REGISTRY = Path("gen/berth/backends/backendregistry.py")
EVERYTHING = """
import berth, importlib, pkgutil, sys
assert berth.__file__.startswith(sys.argv[1])
for module in pkgutil.walk_packages(berth.__path__, "berth."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
WINGS = [holder for holder in HOLDERS.values() if holder is not type(DEFAULT_HOLDER)]


def without(folder: Path, module: str, name: str) -> None:
    """Put the program into a folder, without the package of a backend."""
    shutil.copytree(ROOT / "gen/berth", folder / "gen/berth", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "templates").symlink_to(ROOT / "templates")
    shutil.rmtree(folder / "gen" / Path(*module.split(".")[:-1]))
    text = (folder / REGISTRY).read_text("utf-8")
    text = re.sub(rf"from {re.escape(module)} import {name}\n", "", text)
    (folder / REGISTRY).write_text(re.sub(rf", {name}\b", "", text), "utf-8")


@pytest.mark.parametrize("wing", WINGS, ids=lambda wing: wing.backend)
def test_without_a_backend_all_other_modules_load_and_render_the_same(wing: type, tmp_path: Path) -> None:
    without(tmp_path / "program", wing.__module__, wing.__name__)
    shutil.copytree(ROOT / "tests/examples/report", tmp_path / "project")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "program/gen")}
    program = [sys.executable, "-c", EVERYTHING, str(tmp_path / "program")]
    subprocess.run(program, env=environment, check=True, capture_output=True)
    rendered = []
    for changed in (os.environ, environment):
        folder = tmp_path / "project/rendered"
        shutil.rmtree(folder, ignore_errors=True)
        for command in ("validate", "render"):
            words = [sys.executable, "-m", "berth", "-C", str(tmp_path / "project"), command]
            subprocess.run(words, env=changed, check=True, capture_output=True)
        rendered.append({path.name: path.read_bytes() for path in folder.rglob("*.yaml")})

    assert rendered[0] == rendered[1] != {}

"""What is rendered of a course of each backend, and by each engine, to be read as YAML.

After a change that is meant, run pytest with --snapshot-update, and review the diff of `__snapshots__`.
"""

import shutil
from pathlib import Path

import pytest
from berth import cli
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.outputfolder import files_in

PROJECT = Path(__file__).with_name("golden")


class Manifests(SingleFileSnapshotExtension):
    """Each file of rendered/ is a file."""

    _write_mode = WriteMode.TEXT
    file_extension = "yaml"


@pytest.mark.parametrize("engine", ["argocd", "flux", "none"])
def test_rendered(engine: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """By Argo CD, every file; by others, their own and the smallest in which they differ."""
    # Whoever applies the files by hand would reset what these two scale.
    left_out = ["nodepool.yaml", "capacitybuffer.yaml"] if engine == "none" else []
    shutil.copytree(PROJECT, tmp_path / "reservations", ignore=shutil.ignore_patterns(*left_out))
    site = tmp_path / "reservations/site.yaml"
    site.write_text(site.read_text("utf-8").replace("engine: argocd", f"engine: {engine}"), "utf-8")

    assert cli.run(["-C", str(tmp_path), "render", "--quiet"]) == 0
    for path, text in files_in(tmp_path / "rendered").items():
        if engine == "argocd" or path.endswith(
            (f"{engine}/prod.yaml", "base.yaml", "inventory.yaml", "value.yaml")
        ):
            name = path.removeprefix("clusters/prod/").removesuffix(".yaml").replace("/", ".")
            assert text == snapshot(name=name, extension_class=Manifests)

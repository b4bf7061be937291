"""An image of the in-cluster code, as the Containerfile makes it, on the Python image of these tests."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.e2e import images
from tests.e2e.project import ROOT

REPOSITORY = "registry.invalid/berth"
_HOME = "/berth"


def build(folder: Path) -> tuple[str, Path]:
    """Return the reference by digest, and the archive."""
    archive, library = folder / "code.tar", folder / "library-layer.tar"
    images.extract_layer(images.archives()[images.PYTHON], library)
    config = {**images.PYTHON_CONFIG, "WorkingDir": _HOME, "User": "65532:65532"}
    layers = [library, _code_layer(folder)]
    return images.write_archive(archive, lambda digest: f"{REPOSITORY}@{digest}", layers, config), archive


def _code_layer(folder: Path) -> Path:
    """The library in the layer below has bytecode already."""
    root = folder / "root"
    for package in ("core", "runtime", "plugins"):
        source, target = ROOT / "gen/berth" / package, root / _HOME[1:] / "berth" / package
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    options = ["-q", "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", "/"]
    subprocess.run([sys.executable, "-m", "compileall", *options, str(root)], check=True)
    layer = folder / "code-layer.tar"
    images.pack(root, layer)
    return layer

"""An image of the in-cluster code, as the Containerfile makes it, on top of the Python image of these tests.

The archive is an OCI layout, because its digest is known before any containerd has seen it.
"""

import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from tests.e2e import images
from tests.e2e.project import ROOT

REPOSITORY = "registry.invalid/berth"
_OCI = "application/vnd.oci.image."
_HOME = "/berth"


def build(folder: Path) -> tuple[str, Path]:
    """Return the reference by digest, and the archive."""
    layers = [_python_layer(folder), _code_layer(folder)]
    digests = [_digest(path) for path in layers]
    config = _text(
        {
            "architecture": images.architecture(),
            "os": "linux",
            "config": {**images.PYTHON_CONFIG, "WorkingDir": _HOME, "User": "65532:65532"},
            "rootfs": {"type": "layers", "diff_ids": digests},
        }
    )
    manifest = _text(
        {
            "schemaVersion": 2,
            "mediaType": f"{_OCI}manifest.v1+json",
            "config": _described("config.v1+json", _digest_of(config), len(config)),
            "layers": [
                _described("layer.v1.tar", digest, path.stat().st_size)
                for digest, path in zip(digests, layers, strict=True)
            ],
        }
    )
    reference = f"{REPOSITORY}@{_digest_of(manifest)}"
    named = {
        **_described("manifest.v1+json", _digest_of(manifest), len(manifest)),
        "annotations": {"io.containerd.image.name": reference},
    }
    archive = folder / "code.tar"
    with tarfile.open(archive, "w") as tar:
        _add(tar, "oci-layout", _text({"imageLayoutVersion": "1.0.0"}))
        _add(tar, "index.json", _text({"schemaVersion": 2, "manifests": [named]}))
        for content in (config, manifest):
            _add(tar, _blob(_digest_of(content)), content)
        for digest, path in zip(digests, layers, strict=True):
            tar.add(path, _blob(digest))
    return reference, archive


def _python_layer(folder: Path) -> Path:
    with tarfile.open(images.archives()[images.PYTHON]) as tar:
        tar.extract("layer.tar", folder, filter="data")
    return folder / "layer.tar"


def _code_layer(folder: Path) -> Path:
    """The library in the layer below has bytecode already."""
    root = folder / "root"
    for package in ("core", "runtime"):
        target = root / _HOME[1:] / "berth" / package
        target.mkdir(parents=True)
        for file in sorted((ROOT / "gen" / "berth" / package).glob("*.py")):
            shutil.copyfile(file, target / file.name)
    options = ["-q", "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", "/"]
    subprocess.run([sys.executable, "-m", "compileall", *options, str(root)], check=True)
    layer = folder / "code-layer.tar"
    images.pack(root, layer)
    return layer


def _described(kind: str, digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": _OCI + kind, "digest": digest, "size": size}


def _text(value: object) -> bytes:
    return json.dumps(value).encode()


def _digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _digest(path: Path) -> str:
    with path.open("rb") as handle:
        return f"sha256:{hashlib.file_digest(handle, 'sha256').hexdigest()}"


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))

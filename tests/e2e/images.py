"""Image archives of our own, because no registry is asked: `pause`, and a Python made of the machine's."""

import hashlib
import io
import json
import platform
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from berth.schema import site

from tests.e2e import python_image
from tests.e2e.binaries import cache_dir, file_lock, say
from tests.e2e.errors import E2EError

HERE = Path(__file__).resolve().parent
PAUSE = "registry.k8s.io/pause:3.10.1"
PYTHON = "python:3.13-slim"
PINNED = (
    "docker.io/library/python@" + site.PYTHON.rpartition("@")[2]
)  # the name under which a digest is looked up
PINNED_ARCHIVE = "python.tar"
WRONG_CLOCK = "/usr/local/lib/wrong-clock.so"  # of the Python image: see clock.c

_OCI = "application/vnd.oci.image."
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_PATH = "PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
PYTHON_CONFIG: Mapping[str, object] = {"Cmd": ["python3"], "Env": [_PATH, "LANG=C.UTF-8"]}


def architecture() -> str:
    """As images name it."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def archives() -> dict[str, Path]:
    """Image name -> archive, made now if the cache has none for this machine's Python."""
    sources = (Path(__file__), HERE / "python_image.py", HERE / "pause.c", HERE / "clock.c")
    facts = python_image.identity() + platform.machine()
    digest = hashlib.sha256(facts.encode() + b"".join(path.read_bytes() for path in sources))
    folder = cache_dir() / "images" / digest.hexdigest()[:16]
    wanted = {PAUSE: folder / "pause.tar", PYTHON: folder / PINNED_ARCHIVE}
    if all(path.is_file() for path in wanted.values()):
        return wanted
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(cache_dir() / "images.lock", "another run makes the images"):
        if not wanted[PAUSE].is_file():
            say(f"making image {PAUSE}")
            _make(wanted[PAUSE], PAUSE, _pause_root, {"Entrypoint": ["/pause"], "User": "65535:65535"})
        if not wanted[PYTHON].is_file():
            say(f"making image {PYTHON} of Python {platform.python_version()}")
            _make(wanted[PYTHON], f"docker.io/library/{PYTHON}", _python_root, PYTHON_CONFIG)
    return wanted


def _pause_root(root: Path) -> None:
    _compile("pause.c", root / "pause", "-static")


def _python_root(root: Path) -> None:
    python_image.fill(root)
    _compile("clock.c", root / WRONG_CLOCK.removeprefix("/"), "-shared", "-fPIC")


def _compile(source: str, target: Path, *how: str) -> None:
    command = ["gcc", "-Os", *how, "-s", "-o", str(target), str(HERE / source)]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False)
    if compiled.returncode:
        reason = " ".join(compiled.stderr.split())[-200:]
        raise E2EError(f"gcc cannot build {source}, install the package libc6-dev: {reason}")


def _make(archive: Path, name: str, fill: Callable[[Path], None], config: Mapping[str, object]) -> None:
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        root, layer, partial = Path(folder) / "root", Path(folder) / "layer.tar", Path(folder) / "archive.tar"
        root.mkdir()
        fill(root)
        pack(root, layer)
        write_archive(partial, lambda _: name, [layer], config)
        partial.replace(archive)  # whole, or not there


def write_archive(
    archive: Path, name: Callable[[str], str], layers: Sequence[Path], config: Mapping[str, object]
) -> str:
    """Write an OCI layout, whose digest is known before any containerd has seen it; return the image's name.

    The name may depend on the digest.
    """
    digests = [_digest(path.read_bytes()) for path in layers]
    rootfs = {"type": "layers", "diff_ids": digests}
    described = _text({"architecture": architecture(), "os": "linux", "config": config, "rootfs": rootfs})
    manifest = _text(
        {
            "schemaVersion": 2,
            "mediaType": f"{_OCI}manifest.v1+json",
            "config": _described("config.v1+json", described),
            "layers": [_described("layer.v1.tar", path.read_bytes()) for path in layers],
        }
    )
    called = name(_digest(manifest))
    annotations = {"io.containerd.image.name": called}
    named = {**_described("manifest.v1+json", manifest), "annotations": annotations}
    blobs = {_blob(_digest(content)): content for content in (described, manifest)}
    texts = {"oci-layout": _text({"imageLayoutVersion": "1.0.0"}), **blobs}
    texts["index.json"] = _text({"schemaVersion": 2, "manifests": [named]})
    with tarfile.open(archive, "w") as tar:
        for path, content in texts.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        for digest, layer in zip(digests, layers, strict=True):
            tar.add(layer, _blob(digest))
    return called


def extract_layer(archive: Path, target: Path) -> None:
    """Write the layer of an archive that has one."""

    def read(tar: tarfile.TarFile, path: str) -> bytes:
        member = tar.extractfile(path)
        assert member is not None
        return member.read()

    with tarfile.open(archive) as tar:
        (named,) = json.loads(read(tar, "index.json"))["manifests"]
        (layer,) = json.loads(read(tar, _blob(named["digest"])))["layers"]
        target.write_bytes(read(tar, _blob(layer["digest"])))


def _described(kind: str, content: bytes) -> dict[str, object]:
    return {"mediaType": _OCI + kind, "digest": _digest(content), "size": len(content)}


def _text(value: object) -> bytes:
    return json.dumps(value).encode()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def pack(root: Path, layer: Path) -> None:
    """Everything belongs to root and is readable by all, whatever the umask and the owner here."""

    def owned(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        if not entry.issym():
            entry.mode |= 0o755 if entry.isdir() or entry.mode & 0o100 else 0o444
        return entry

    with tarfile.open(layer, "w") as tar:
        for path in sorted(root.iterdir()):
            tar.add(path, path.name, filter=owned)

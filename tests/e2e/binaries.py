"""Builds the programs of the cluster from pinned Go modules, once, into a cache outside the repository."""

import fcntl
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.errors import E2EError

HERE = Path(__file__).resolve().parent
KUBERNETES_VERSION = "v1.36.3"
CONTAINERD_VERSION = "v2.4.2"

_KUBERNETES_LDFLAGS = (
    f"-X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}"
    " -X k8s.io/component-base/version.gitMajor=1"
    " -X k8s.io/component-base/version.gitMinor=36"
    " -X k8s.io/component-base/version.gitTreeState=clean"
)
_CONTAINERD_LDFLAGS = f"-X github.com/containerd/containerd/v2/version.Version={CONTAINERD_VERSION}"
_CONTAINERD_TAGS = "no_btrfs,no_zfs,no_devmapper"


@dataclass(frozen=True)
class Program:
    name: str
    module: str  # folder beside this file
    package: str
    ldflags: str = ""
    tags: str = ""
    cgo: bool = False


def _kubernetes(name: str) -> Program:
    return Program(name, "cluster", f"k8s.io/kubernetes/cmd/{name}", ldflags=_KUBERNETES_LDFLAGS)


def _containerd(name: str) -> Program:
    package = f"github.com/containerd/containerd/v2/cmd/{name}"
    return Program(name, "containerd", package, ldflags=_CONTAINERD_LDFLAGS, tags=_CONTAINERD_TAGS)


# The small ones come first: what is wrong with the machine shows within seconds, not after the API server.
PROGRAMS = (
    Program("actionlint", "linters", "github.com/rhysd/actionlint/cmd/actionlint"),
    Program("kubeconform", "linters", "github.com/yannh/kubeconform/cmd/kubeconform"),
    Program("cronfires", "cluster", "./cronfires"),
    Program("runc", "containerd", "github.com/opencontainers/runc", tags="seccomp", cgo=True),
    Program("etcd", "cluster", "go.etcd.io/etcd/server/v3"),
    _containerd("containerd-shim-runc-v2"),
    _containerd("ctr"),
    _containerd("containerd"),
    Program("kwok", "cluster", "sigs.k8s.io/kwok/cmd/kwok"),
    _kubernetes("kubectl"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kube-proxy"),
    _kubernetes("kubelet"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-apiserver"),
)
_BY_NAME = {program.name: program for program in PROGRAMS}


def cache_dir() -> Path:
    chosen = os.environ.get("BERTH_E2E_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "berth-e2e"


def bin_dir() -> Path:
    """Named by everything that decides about the bytes of a binary."""
    digest = hashlib.sha256()
    for module in ("cluster", "containerd", "linters"):
        for path in sorted((HERE / module).rglob("*")):
            if path.name in ("go.mod", "go.sum") or path.suffix == ".go":
                digest.update(str(path.relative_to(HERE)).encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(repr(PROGRAMS).encode())
    return cache_dir() / digest.hexdigest()[:16] / "bin"


def binary(name: str) -> Path:
    """The path of one program, built now if it is not in the cache."""
    build([name])
    return bin_dir() / name


def missing(names: Iterable[str] | None = None) -> list[str]:
    folder = bin_dir()
    wanted = [program.name for program in PROGRAMS] if names is None else list(names)
    return [name for name in wanted if not (folder / name).is_file()]


def build(names: Iterable[str] | None = None) -> Path:
    """Build what is missing of `names` (of all, when None); the folder that holds the binaries."""
    folder = bin_dir()
    wanted = [program.name for program in PROGRAMS] if names is None else list(names)
    if not missing(wanted):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(cache_dir() / "build.lock", "another build is running"):
        for left in folder.glob(".*.partial-*"):  # by a build that was killed
            left.unlink(missing_ok=True)
        todo = missing(wanted)
        for position, name in enumerate(todo, start=1):
            say(f"building {name} ({position} of {len(todo)})")
            start = time.monotonic()
            _build_one(_BY_NAME[name], folder)
            say(f"built {name} in {time.monotonic() - start:.0f} s")
    return folder


def _build_one(program: Program, folder: Path) -> None:
    partial = folder / f".{program.name}.partial-{os.getpid()}"
    command = ["go", "build", "-C", str(HERE / program.module), "-o", str(partial)]
    command += ["-ldflags", f"-s -w {program.ldflags}".strip()]
    if program.tags:
        command += ["-tags", program.tags]
    environment = {
        **os.environ,
        "CGO_ENABLED": "1" if program.cgo else "0",
        "GOFLAGS": "-mod=readonly -trimpath",
        "GOWORK": "off",
    }
    try:
        done = subprocess.run(
            [*command, program.package], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            where = f"tests/e2e/{program.module}"
            raise E2EError(f"go build {program.package} failed in {where}: {_tail(done.stderr)}")
        # Renamed at the end: an interrupted build never leaves half a binary under the real name.
        partial.replace(folder / program.name)
    except FileNotFoundError as error:
        raise E2EError("Go is missing: install Go 1.26 or newer and put `go` on PATH") from error
    finally:
        partial.unlink(missing_ok=True)


def _tail(text: str) -> str:
    """The last lines of a compiler's output, as one line."""
    said = (line.strip() for line in text.splitlines() if not line.startswith("go: downloading"))
    return "; ".join([line for line in said if line][-4:]) or "it printed nothing"


@contextmanager
def file_lock(path: Path, busy: str) -> Iterator[None]:
    """Held by one process at a time; the kernel lets go of it when the holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{busy}; waiting for it to end")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(text: str) -> None:
    print(f"e2e: {text}", file=sys.stderr, flush=True)

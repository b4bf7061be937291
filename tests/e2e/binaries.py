"""Builds the programs of the cluster from pinned Go modules, once, into a cache outside the repository.

Each module has a folder of its own there, named by all that decides about the bytes of its programs: a change
of one module builds no other again. `bin_dir` has links to all of them, for those who want one folder.
"""

import fcntl
import hashlib
import json
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
_TOOLCHAIN = {"GOTOOLCHAIN": "auto"}  # a module that asks for a newer Go is built with it


@dataclass(frozen=True)
class Program:
    name: str
    module: str  # folder beside this file, perhaps in another one
    package: str
    ldflags: str = ""
    tags: str = ""
    cgo: bool = False

    @property
    def engine(self) -> str:
        """What it belongs to, of those that apply; empty for what a cluster is made of."""
        folder = self.module.partition("/")[2]
        return "argocd" if folder == "kustomize" else folder


def _kubernetes(name: str) -> Program:
    return Program(name, "cluster", f"k8s.io/kubernetes/cmd/{name}", ldflags=_KUBERNETES_LDFLAGS)


def _containerd(name: str) -> Program:
    package = f"github.com/containerd/containerd/v2/cmd/{name}"
    return Program(name, "containerd", package, ldflags=_CONTAINERD_LDFLAGS, tags=_CONTAINERD_TAGS)


# The small ones come first: what is wrong with the machine shows within seconds, not after the API server.
PROGRAMS = (
    Program("actionlint", "linters", "github.com/rhysd/actionlint/cmd/actionlint"),
    Program("cronfires", "cluster", "./cronfires"),
    Program("koordinator", "koordinator", "."),
    Program("runc", "containerd", "github.com/opencontainers/runc", tags="seccomp", cgo=True),
    Program("etcd", "cluster", "go.etcd.io/etcd/server/v3"),
    _containerd("containerd-shim-runc-v2"),
    _containerd("ctr"),
    _containerd("containerd"),
    Program("kwok", "cluster", "sigs.k8s.io/kwok/cmd/kwok"),
    Program("provisioner", "karpenter", "./provisioner"),
    Program("karpenter", "karpenter", "sigs.k8s.io/karpenter/kwok"),
    # Without its discovery of clouds.
    Program("promtool", "prometheus", "github.com/prometheus/prometheus/cmd/promtool", tags="remove_all_sd"),
    Program("koord-scheduler", "koordscheduler", "github.com/koordinator-sh/koordinator/cmd/koord-scheduler"),
    _kubernetes("kubectl"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kube-proxy"),
    _kubernetes("kubelet"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-apiserver"),
)
# What applies: dear to build, and needed by few tests. Only those who ask for them by name get them.
ENGINES = (
    Program("kustomize", "engines/kustomize", "sigs.k8s.io/kustomize/kustomize/v5"),
    Program("kustomize-controller", "engines/flux", "github.com/fluxcd/kustomize-controller"),
    Program("notification-controller", "engines/flux", "github.com/fluxcd/notification-controller"),
    Program("argocd", "engines/argocd", "github.com/argoproj/argo-cd/v3/cmd"),
)
# Each takes minutes to build and is needed once: by the tests of a git forge, and by `make bench`.
OTHERS = (
    Program("gitea", "forge", "code.gitea.io/gitea", tags="sqlite,sqlite_unlock_notify", cgo=True),
    Program("helm", "helm", "helm.sh/helm/v4/cmd/helm"),
)
_BY_NAME = {program.name: program for program in (*PROGRAMS, *ENGINES, *OTHERS)}


def cache_dir() -> Path:
    chosen = os.environ.get("BERTH_E2E_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "berth-e2e"


def module_dir(module: str) -> Path:
    """Where the programs of a module are, or will be."""
    digest = hashlib.sha256()
    for path in sorted((HERE / module).rglob("*")):
        if path.name in ("go.mod", "go.sum") or path.suffix == ".go":
            digest.update(str(path.relative_to(HERE)).encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(repr([one for one in _BY_NAME.values() if one.module == module]).encode())
    return cache_dir() / f"{module.replace('/', '-')}-{digest.hexdigest()[:16]}"


def _place(program: Program) -> Path:
    return module_dir(program.module) / program.name


def source(program: str, module: str) -> Path:
    """The folder of a module that a program is built from, in Go's own cache."""
    command = ["go", "mod", "download", "-C", str(HERE / _BY_NAME[program].module), "-json", module]
    environment = {**os.environ, **_TOOLCHAIN}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise E2EError(f"go mod download {module} failed: {_tail(done.stderr or done.stdout)}")
    return Path(json.loads(done.stdout)["Dir"])


def bin_dir() -> Path:
    """A folder with a link to every program of the cluster; `build` makes it."""
    places = "\n".join(str(_place(program)) for program in PROGRAMS)
    return cache_dir() / "links" / hashlib.sha256(places.encode()).hexdigest()[:16]


def binary(name: str) -> Path:
    """The path of one program, built now if it is not in the cache."""
    build([name])
    return _place(_BY_NAME[name])


def missing(names: Iterable[str] | None = None) -> list[str]:
    """Those of `names` that are not in the cache; of all that a cluster needs, when None."""
    wanted = [program.name for program in PROGRAMS] if names is None else list(names)
    return [name for name in wanted if not _place(_BY_NAME[name]).is_file()]


def build(names: Iterable[str] | None = None) -> Path:
    """Build what is missing of `names`, or of all that a cluster needs; answers `bin_dir`."""
    wanted = [program.name for program in PROGRAMS] if names is None else list(names)
    if missing(wanted):
        with file_lock(cache_dir() / "build.lock", "another build is running"):
            todo = missing(wanted)
            for position, name in enumerate(todo, start=1):
                say(f"building {name} ({position} of {len(todo)})")
                start = time.monotonic()
                _build_one(_BY_NAME[name])
                say(f"built {name} in {time.monotonic() - start:.0f} s")
    return _link()


def _link() -> Path:
    """Links to what there is already; a link that leads nowhere is never made."""
    folder = bin_dir()
    folder.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        link, place = folder / program.name, _place(program)
        if place.is_file() and not link.exists():
            partial = folder / f".{program.name}.partial-{os.getpid()}"
            partial.symlink_to(place)
            partial.replace(link)
    return folder


def _build_one(program: Program) -> None:
    place = _place(program)
    place.parent.mkdir(parents=True, exist_ok=True)
    for left in place.parent.glob(".*.partial-*"):  # by a build that was killed
        left.unlink(missing_ok=True)
    partial = place.parent / f".{program.name}.partial-{os.getpid()}"
    command = ["go", "build", "-C", str(HERE / program.module), "-o", str(partial)]
    command += ["-ldflags", f"-s -w {program.ldflags}".strip()]
    if program.tags:
        command += ["-tags", program.tags]
    environment = {
        **os.environ,
        **_TOOLCHAIN,
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
        partial.replace(place)
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

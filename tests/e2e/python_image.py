"""The file system of the Python image: interpreter, standard library and shared libraries of this machine.

The version is the one that runs the tests, not always the one in the image's name: run them with Python 3.13
to have both alike.
"""

import shutil
import ssl
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.e2e.errors import E2EError

_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
_INTERPRETER = Path(f"usr/local/bin/python{_VERSION}")
_STDLIB = Path(f"usr/local/lib/python{_VERSION}")
_LIBRARIES = Path("usr/local/lib")
_CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")

# What only a build, a screen or a test of Python itself needs.
_LEFT_OUT = (
    *("__pycache__", "_tkinter*", "config-*", "dist-packages", "ensurepip", "idlelib"),
    *("site-packages", "test", "tests", "tkinter", "turtledemo"),
)
_FOLDERS = ("dev", "etc", "proc", "root", "run", "sys", "tmp", "usr/local/bin", "var/tmp")
_FILES = {
    "etc/passwd": "root:x:0:0::/root:/usr/sbin/nologin\nnobody:x:65534:65534::/:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/ld.so.conf": f"/{_LIBRARIES}\n",
}


def identity() -> str:
    """Changes when the machine's Python does."""
    interpreter = _interpreter()
    return f"{sys.version} {interpreter} {interpreter.stat().st_mtime_ns}"


def fill(root: Path) -> None:
    for name in _FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    for name, content in _FILES.items():
        (root / name).write_text(content)
    _copy(_interpreter(), root / _INTERPRETER)
    for name in ("python", "python3"):
        (root / _INTERPRETER.parent / name).symlink_to(_INTERPRETER.name)
    ignore = shutil.ignore_patterns(*_LEFT_OUT)
    library = sysconfig.get_path("stdlib")
    shutil.copytree(library, root / _STDLIB, ignore=ignore, ignore_dangling_symlinks=True)
    _add_libraries(root)
    _add_certificates(root)
    _add_time_zones(root)
    _compile(root)


def _interpreter() -> Path:
    """The real program behind virtual environments, shims and links."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _add_libraries(root: Path) -> None:
    programs = [_interpreter(), *Path(sysconfig.get_path("stdlib")).glob("lib-dynload/*.so")]
    found: set[Path] = set()
    for program in programs:
        found |= _needed(program)
    loader = [path for path in found if path.name.startswith("ld-")]
    # Loaded by name when a thread ends, so nothing lists it.
    found |= set(Path("/lib").glob("*/libgcc_s.so.1")) | set(Path("/lib64").glob("libgcc_s.so.1"))
    for library in found:
        _copy(library, root / _LIBRARIES / library.name)
    for path in loader:
        _copy(path, root / path.relative_to("/"))  # its place is written into every program
    indexed = subprocess.run(
        ["ldconfig", "-r", str(root)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"},
    )
    if indexed.returncode:
        reason = " ".join(indexed.stderr.split())[-200:]
        raise E2EError(f"ldconfig cannot index the libraries of the Python image: {reason}")


def _needed(program: Path) -> set[Path]:
    """The absolute paths in ldd's answer; what it does not find (Tk's libraries, mostly) stays out."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    words = [word for line in listed.splitlines() for word in line.split()]
    return {Path(word) for word in words if word.startswith("/") and Path(word).is_file()}


def _add_certificates(root: Path) -> None:
    usual = ssl.get_default_verify_paths().openssl_cafile
    for source in (Path(usual), Path("/") / _CERTIFICATES):
        if source.is_file():
            _copy(source, root / _CERTIFICATES)
            break
    else:
        raise E2EError("no CA certificates on this machine: install the package ca-certificates")
    searched = root / Path(usual).relative_to("/")
    if searched != root / _CERTIFICATES:
        searched.parent.mkdir(parents=True, exist_ok=True)
        searched.symlink_to(Path("/") / _CERTIFICATES)


def _add_time_zones(root: Path) -> None:
    source = Path("/usr/share/zoneinfo")
    if source.is_dir():
        ignore = shutil.ignore_patterns("posix", "right", "localtime")
        shutil.copytree(source, root / "usr/share/zoneinfo", symlinks=True, ignore=ignore)


def _compile(root: Path) -> None:
    """A read-only root cannot keep compiled modules: every start would compile the library anew."""
    options = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", "/"]
    command = [sys.executable, "-m", "compileall", *options, str(root / _STDLIB)]
    # Its result does not count: the library has a few files that are not meant to compile.
    subprocess.run(command, capture_output=True, check=False)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)

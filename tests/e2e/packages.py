"""What the machine must have. On Debian the missing packages are installed, elsewhere they are named."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.e2e.binaries import missing as missing_binaries
from tests.e2e.binaries import say
from tests.e2e.errors import E2EError

GO = (1, 26)
CNI_PLUGINS = Path("/usr/lib/cni")

# Debian package -> a command that it brings, or a file.
_TO_RUN = {
    "conntrack": "conntrack",
    "containernetworking-plugins": str(CNI_PLUGINS / "bridge"),
    "iproute2": "ip",
    "iptables": "iptables",
    "openssl": "openssl",
    "util-linux": "nsenter",
}
_TO_COMPILE = {"gcc": "gcc", "libc6-dev": "/usr/include/stdio.h"}


def require_root() -> None:
    if os.geteuid() != 0:
        raise E2EError("the end-to-end tests need root: run them with sudo or in a virtual machine")


def require() -> None:
    """Make the machine fit for a cluster, or say what is missing: one line for each thing."""
    require_root()
    lacking = missing_packages()
    if lacking and shutil.which("apt-get"):
        _install(lacking)
        lacking = missing_packages()
    problems = [f"{package} is missing: install the package {package}" for package in lacking]
    if missing_binaries() and not _has_go():
        problems.append(f"Go is missing: install Go {GO[0]}.{GO[1]} or newer and put `go` on PATH")
    if problems:
        raise E2EError("\n".join(problems))


def require_command(command: str, package: str) -> str:
    """The path of a command that only some tests need, installed now if it is missing."""
    require_root()
    if not _exists(command) and shutil.which("apt-get"):
        _install([package])
    found = shutil.which(command, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if found is None:
        raise E2EError(f"{package} is missing: install the package {package}")
    return found


def missing_packages() -> list[str]:
    wanted = {**_TO_RUN, **_TO_COMPILE}
    if "runc" in missing_binaries():
        wanted["pkg-config"] = "pkg-config"
    lacking = [package for package, evidence in wanted.items() if not _exists(evidence)]
    if "runc" in missing_binaries() and not _has_libseccomp():
        lacking.append("libseccomp-dev")
    return lacking


def _install(packages: list[str]) -> None:
    say(f"installing {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    # The package lists of a fresh machine are empty or old: refresh them when the first try fails.
    for command in (install, ["apt-get", "update"], install):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if command is install and done.returncode == 0:
            return


def _exists(evidence: str) -> bool:
    if evidence.startswith("/"):
        return Path(evidence).is_file()
    search = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return shutil.which(evidence, path=search) is not None


def _has_libseccomp() -> bool:
    if not _exists("pkg-config"):
        return False
    return subprocess.run(["pkg-config", "--exists", "libseccomp"], check=False).returncode == 0


def _has_go() -> bool:
    if not shutil.which("go"):
        return False
    text = subprocess.run(["go", "version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\bgo(\d+)\.(\d+)", text)
    return found is not None and (int(found[1]), int(found[2])) >= GO

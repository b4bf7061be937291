"""Namespaces of our own for the whole cluster, so that its end is the kernel's work and not ours.

Every program of the cluster, every container and every mount, bridge, iptables rule and sysctl lives in
process, mount, network and IPC namespaces whose first process reads from a pipe that this process holds.
When the pipe closes - on purpose, by Ctrl-C or because of a kill -9 - the kernel ends all processes in there
and frees the rest. What remains (a folder, cgroups) is removed by `close`, or by `sweep` at the next start.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tests.e2e import cgroups
from tests.e2e.errors import E2EError

STATE = Path("/var/lib/berth-e2e")
DATA = STATE / "data"  # a tmpfs inside the namespace: fast, and gone with it
HOST_LINK = "berth-e2e"
# From the range for benchmarks (RFC 2544): nobody routes it.
HOST_ADDRESS = "198.18.244.1"
CLUSTER_ADDRESS = "198.18.244.2"
BRIDGE = "cni0"
BRIDGE_ADDRESS = "10.244.0.1"
POD_NETWORK = "10.244.0.0/24"
SERVICE_NETWORKS = ("10.96.0.0/16", "10.97.0.0/16")  # of the first and the second cluster

# The kubelet sets these for the whole machine; it is given files of ours instead, with what it wants to see.
KERNEL_SETTINGS = {
    "/proc/sys/vm/overcommit_memory": "1",
    "/proc/sys/vm/panic_on_oom": "0",
    "/proc/sys/kernel/panic": "10",
    "/proc/sys/kernel/panic_on_oops": "1",
    "/proc/sys/kernel/keys/root_maxkeys": "1000000",
    "/proc/sys/kernel/keys/root_maxbytes": "25000000",
}


class Sandbox:
    def __init__(self, bin_dir: Path) -> None:
        self._init: subprocess.Popen[str] | None = None
        self._init_pid = 0
        system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        # Nothing of the caller's environment: a proxy variable would send the cluster's own traffic away.
        self.environment = {"PATH": f"{bin_dir}:{system}", "HOME": "/root", "LANG": "C.UTF-8"}

    def start(self) -> None:
        DATA.mkdir(parents=True, exist_ok=True)
        cgroups.create()
        namespaces = ["--pid", "--mount", "--net", "--ipc", "--fork", "--kill-child"]
        self._init = subprocess.Popen(
            ["unshare", *namespaces, "--mount-proc", "--propagation", "private", "sh", "-ec", _init_script()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
            start_new_session=True,  # Ctrl-C is for us alone
        )
        assert self._init.stdout is not None
        said = self._init.stdout.readline().strip()
        if said != "ready":
            raise E2EError(f"cannot make namespaces, run as root outside of a container: {said}")
        self._init_pid = children(self._init.pid)[0]
        (STATE / "init").write_text(f"{self._init_pid} {_start_time(self._init_pid)}")
        self._connect()

    def _connect(self) -> None:
        """A bridge for the pods, and one virtual cable to the machine."""
        _ip("link", "add", HOST_LINK, "type", "veth", "peer", "name", "host0", "netns", str(self._init_pid))
        _ip("address", "add", f"{HOST_ADDRESS}/30", "dev", HOST_LINK)
        _ip("link", "set", HOST_LINK, "up")
        lines = (
            "ip link set lo up",
            f"ip address add {CLUSTER_ADDRESS}/30 dev host0",
            "ip link set host0 up",
            f"ip link add {BRIDGE} type bridge",
            f"ip address add {BRIDGE_ADDRESS}/24 dev {BRIDGE}",
            f"ip link set {BRIDGE} up",
            # Without any route the kernel refuses a service address before iptables can translate it.
            f"ip route add {SERVICE_NETWORKS[0]} dev {BRIDGE}",
            "echo 1 > /proc/sys/net/ipv4/ip_forward",
            # Pods that meet through a service sit on one bridge: the way back must pass iptables too.
            "f=/proc/sys/net/bridge/bridge-nf-call-iptables; if [ -e $f ]; then echo 1 > $f; fi",
        )
        self.run("sh", "-ec", "\n".join(lines))

    def entered(self, *argv: str) -> list[str]:
        return ["nsenter", "-t", str(self._init_pid), "--pid", "--mount", "--net", "--ipc", "--", *argv]

    def run(self, *argv: str, timeout: float = 120) -> str:
        done = subprocess.run(
            self.entered(*argv),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            env=self.environment,
        )
        if done.returncode:
            raise E2EError(f"{shlex.join(argv)[:80]} failed: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def spawn(
        self, *argv: str, log: IO[bytes], environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """`environment` is added to that of all programs."""
        return subprocess.Popen(
            self.entered(*argv),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**self.environment, **(environment or {})},
            start_new_session=True,
        )

    def close(self) -> None:
        """End everything inside and remove what a namespace cannot take with it."""
        if self._init is not None:
            assert self._init.stdin is not None
            assert self._init.stdout is not None
            with contextlib.suppress(BrokenPipeError):
                self._init.stdin.close()
            try:
                self._init.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self._init.kill()
                self._init.wait()
            self._init.stdout.close()
            self._init = None
        sweep()


def sweep() -> None:
    """Remove whatever a run left behind; for the holder of the machine's lock only."""
    _kill_recorded_init()
    if (Path("/sys/class/net") / HOST_LINK).exists():
        with contextlib.suppress(E2EError):  # the kernel may remove it at the same moment
            _ip("link", "delete", HOST_LINK)
    cgroups.remove()
    shutil.rmtree(STATE, ignore_errors=True)
    if STATE.exists():
        raise E2EError(f"cannot remove {STATE}: remove it by hand")


def _kill_recorded_init() -> None:
    try:
        pid, started = (STATE / "init").read_text().split()
    except (FileNotFoundError, ValueError):
        return
    deadline = time.monotonic() + 20
    while _start_time(int(pid)) == started:  # the same process, not a later one with its number
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
        if time.monotonic() >= deadline:
            raise E2EError(f"process {pid} of an earlier run does not end: restart the machine")
        time.sleep(0.05)


def _init_script() -> str:
    """What the first process does before it only waits: file systems that hide the machine's."""
    lines = [
        "mount -t tmpfs -o mode=0755 berth-e2e /run",
        "mount -t tmpfs -o mode=0755 berth-e2e /var/log",
        f"mount -t tmpfs -o mode=0755 berth-e2e {DATA}",
        f"mkdir {DATA}/kernel",
    ]
    for setting, value in KERNEL_SETTINGS.items():
        private = f"{DATA}/kernel/{Path(setting).name}"
        lines.append(f"echo {value} > {private}")
        lines.append(f"if [ -e {setting} ]; then mount --bind {private} {setting}; fi")
    # The ignored signal is inherited by cat: the kernel reaps the orphans, so no zombies gather.
    return "\n".join([*lines, "trap '' CHLD", "echo ready", "exec cat"])


def children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(_fields(stat)[1]) == parent:
                found.append(int(stat.parent.name))
    return found


def _start_time(pid: int) -> str | None:
    try:
        state, *rest = _fields(Path(f"/proc/{pid}/stat"))
    except OSError:
        return None
    return None if state in "ZX" else rest[18]


def _fields(stat: Path) -> list[str]:
    """From the state on; the name before it may contain blanks and parentheses."""
    return stat.read_text().rpartition(")")[2].split()


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise E2EError(f"ip {' '.join(arguments)} failed: {done.stderr.strip()}")

"""`python -m tests.e2e up | down | kubectl ... | build`: the cluster of the tests, for playing."""

import os
import signal
import sys
import time
from collections.abc import Callable

from tests.e2e import binaries, images, packages, sandbox
from tests.e2e.cluster import KUBECONFIG, Cluster
from tests.e2e.errors import E2EError
from tests.e2e.lock import MachineLock
from tests.e2e.waiting import wait_for

USAGE = """\
python -m tests.e2e build ENGINE... build what `make e2e` and these engines need and the cache lacks
python -m tests.e2e missing ENGINE.. print which programs of these engines the cache lacks; fails if it does
python -m tests.e2e up              start a cluster and keep it until Ctrl-C
python -m tests.e2e kubectl ARG...  talk to the cluster that is up
python -m tests.e2e down            end the cluster that is up, or remove what a killed one left"""


def up(_: list[str]) -> None:
    start = time.monotonic()
    with Cluster() as cluster:
        print(f"ready after {time.monotonic() - start:.1f} s; logs are in {cluster.logs}")
        print(f"export KUBECONFIG={cluster.kubeconfig}", flush=True)
        signal.pause()


def down(_: list[str]) -> None:
    packages.require_root()
    lock = MachineLock()
    holder = lock.holder()
    if holder is not None:
        os.kill(holder, signal.SIGTERM)
        wait_for(lambda: lock.holder() is None, 60, f"process {holder} to end its cluster")
    lock.acquire()
    try:
        sandbox.sweep()
    finally:
        lock.release()


def kubectl(arguments: list[str]) -> None:
    packages.require_root()
    if not KUBECONFIG.is_file():
        raise E2EError("no cluster is up: start one with `python -m tests.e2e up`")
    program = str(binaries.binary("kubectl"))
    os.execv(program, [program, f"--kubeconfig={KUBECONFIG}", *arguments])


def build(engines: list[str]) -> None:
    packages.require()
    print(binaries.build())
    binaries.build(_programs_of(engines))
    images.archives()


def missing(engines: list[str]) -> None:
    names = binaries.missing(_programs_of(engines))
    if names:
        raise E2EError(f"not built: {', '.join(names)}")


def _programs_of(engines: list[str]) -> list[str]:
    return [program.name for program in binaries.ENGINES if program.engine in engines]


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "build": build,
    "down": down,
    "kubectl": kubectl,
    "missing": missing,
    "up": up,
}


def main() -> int:
    command = COMMANDS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if command is None:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        command(sys.argv[2:])
    except E2EError as error:
        print(f"e2e: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

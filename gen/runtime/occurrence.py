"""The program of an occurrence's Job: opens the seats of a reservation on time, stays while any is open,
closes them.

Exit 0 means that nothing is open (any more) and nothing stands, and only that. On SIGTERM before the end it
exits 143 at once and scales nothing: the seats stay, and the Job's next pod goes on.
"""

import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from types import FrameType

from gen.runtime.api import Api
from gen.runtime.connection import ACCOUNT, in_cluster
from gen.runtime.keeper import Hands
from gen.runtime.log import Log
from gen.runtime.loop import Run
from gen.runtime.source import Source

TERMINATED = 128 + signal.SIGTERM


def main(environment: Mapping[str, str] = os.environ, account: str = ACCOUNT) -> int:
    log = Log(_write, time.time, environment.get("BERTH_RESERVATION", ""))

    def leave(_signal: int, _frame: FrameType | None) -> None:
        # Not by an exception: that could be caught or lost on its way, and a request may hold us.
        log.info("terminated", reason="SIGTERM before the end; nothing is scaled")
        os._exit(TERMINATED)

    signal.signal(signal.SIGTERM, leave)
    try:
        connection = in_cluster(environment, account)
        run = _run(environment, Api(connection), log)
    except (KeyError, ValueError) as error:
        log.error("ended", reason=f"the environment does not say {error}")
        return 1
    with closing(connection):
        return run.run(time.sleep)


def _run(environment: Mapping[str, str], api: Api, log: Log) -> Run:
    namespace, name = environment["BERTH_NAMESPACE"], environment["BERTH_TIMETABLE"]
    reservation, file = environment["BERTH_RESERVATION"], environment["BERTH_TIMETABLE_FILE"]

    def read_copy() -> str:
        with open(file, encoding="utf-8") as copy:  # noqa: PTH123 (pathlib is memory)
            return copy.read()

    source = Source(reservation, lambda: api.get_timetable(namespace, name), read_copy, log)
    return Run(source, Hands(api, namespace, log, time.time, _jitter))


def _write(line: str) -> None:
    """One system call, so that a signal finds no line half written. Nobody who reads is no reason to stop."""
    with suppress(OSError):
        os.write(1, line.encode())


def _jitter() -> float:
    return os.urandom(1)[0] / 256


if __name__ == "__main__":
    sys.exit(main())

"""The main container of an occurrence's Job: keeps the Job alive until its end.

The scaler beside it writes one word into `until`: the instant until which it needs the pod, in seconds since
the epoch, or `closed`. This program exits with 0 once everything is closed, or a minute after that instant if
the scaler has not come back to close it; then the sweep closes. On SIGTERM before that it exits with 143, and
the Job starts another pod. It imports nothing of Berth, has no token and uses no network.
"""

import os
import signal
import sys
import time

CLOSED = "closed"
LATE = 60.0  # seconds after the end for which the scaler may take to close
TERMINATED = 128 + signal.SIGTERM


def is_over(word: str, now: float) -> bool:
    """Return whether the pod is not needed any more. Without a valid word it is."""
    if word == CLOSED:
        return True
    return word.isascii() and word.isdigit() and now >= int(word) + LATE


def read_word(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123 (pathlib is memory)
            return file.read(20)
    except (OSError, ValueError):
        return ""


def main() -> int:
    path = f"{os.environ.get('BERTH_SHARE', '/share')}/until"
    signal.signal(signal.SIGTERM, lambda *_: os._exit(TERMINATED))
    while not is_over(read_word(path), time.time()):
        time.sleep(1.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())

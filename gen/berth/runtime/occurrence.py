"""The main container of an occurrence's Job: keeps the Job alive until its end, and watches over the scaler.

At each look the scaler beside it writes one word into the file `until`: the instant until which it needs the
pod, in seconds since the epoch, `waiting` or `closed`. This program exits with 0 once everything is closed,
or if that instant has passed and the scaler has written nothing for a minute; then the sweep closes. A scaler
that writes nothing for two minutes hangs: exit code 1, and the Job starts another pod, as on SIGTERM (143).
Seats stay. Silence is measured by the monotonic clock, because a wall clock that jumps would end the pod.
It imports nothing of Berth, has no token and uses no network.
"""

import os
import sys
import time

# Not the public module: that imports enum, which is a tenth of the memory of all this.
from _signal import SIGTERM, signal  # type: ignore[import-not-found]

CLOSED, WAITING = "closed", "waiting"  # the latter: for its timetable, which it cannot read
LATE_SECONDS = 60.0  # without a word after the end; a restarted scaler comes back within them
STUCK_SECONDS = 120.0  # without a word; a pod that starts among a hundred others needs most of them
TERMINATED = 128 + SIGTERM


def exit_code(word: str, now: float, silence: float) -> int | None:
    """Return the exit code; None: go on. `silence` is how long ago the scaler wrote, in seconds."""
    if word == CLOSED or (word.isdigit() and now >= int(word) and silence >= LATE_SECONDS):
        return 0
    return 1 if silence >= STUCK_SECONDS else None


def main() -> int:
    signal(SIGTERM, lambda *_: os._exit(TERMINATED))
    path = f"{os.environ.get('BERTH_SHARE', '/share')}/until"
    word, written, heard = "", 0, time.monotonic()
    while (code := exit_code(word, time.time(), time.monotonic() - heard)) is None:
        time.sleep(1.0)
        try:
            if (changed := os.stat(path).st_mtime_ns) != written:  # noqa: PTH116 (pathlib is memory)
                with open(path, encoding="ascii") as file:  # noqa: PTH123
                    word, written, heard = file.read(20), changed, time.monotonic()
        except (OSError, ValueError):
            pass  # there is no word yet
    return code


if __name__ == "__main__":
    sys.exit(main())

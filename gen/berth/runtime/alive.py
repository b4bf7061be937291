"""The liveness probe of both programs: `python -m berth.runtime.alive FILE SECONDS` fails if FILE was last
written longer ago than that. The programs write theirs at every look, for as long as their loop works.
"""

import os
import sys
import time


def is_alive(written: float | None, now: float, seconds: float) -> bool:
    """Return whether the program wrote its file in time.

    `written` is None without a file: a program that has not started is not stuck. A time in the future by as
    much counts as too old.
    """
    return written is None or abs(now - written) <= seconds


def main(arguments: list[str]) -> int:
    path, seconds = arguments
    try:
        written = os.stat(path).st_mtime  # noqa: PTH116 (pathlib is memory)
    except OSError:
        written = None
    return 0 if is_alive(written, time.time(), float(seconds)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How long a whole process takes and how much memory it takes at most, by the operating system's own
accounting.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

Command = Sequence[str]


class Cost(NamedTuple):
    """Medians over the runs. Seconds of wall-clock time; peak resident memory in MiB."""

    seconds: float
    mebibytes: float


def once(command: Command, folder: str) -> Cost:
    """One run, from start to exit; its output is thrown away. A failure is an error."""
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    told = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stderr is not None:
        process.stderr.close()
    if process.returncode:
        raise RuntimeError(
            f"{' '.join(command)} exited {process.returncode}: {told.decode(errors='replace')}"
        )
    scale = 1 if sys.platform != "darwin" else 1024
    return Cost(seconds, usage.ru_maxrss / 1024 / scale)


def in_turn(
    commands: Sequence[tuple[Command, str]], runs: int, before: Callable[[int], None] = lambda _: None
) -> list[Cost]:
    """Each (command, folder) in turn, A B C A B C, after a warm-up, so that a slow minute hits all of them
    alike.

    `before` is told the number of the command that is about to run, and its time does not count.
    """
    costs: list[list[Cost]] = [[] for _ in commands]
    for turn in range(runs + 1):
        for i, (command, folder) in enumerate(commands):
            before(i)
            cost = once(command, folder)
            if turn:
                costs[i].append(cost)
    return [Cost(median(c.seconds for c in own), median(c.mebibytes for c in own)) for own in costs]

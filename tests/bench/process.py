"""How long a whole process works and how much memory it takes at most, by the operating system's own
accounting. Time that others have the processors, or that a disk takes, does not count.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

Command = Sequence[str]

# A process is charged with the memory of the one that started it, so a small one stands between.
_LAUNCHER = """
import json, os, sys
folder, *command = sys.argv[1:]
child = os.fork()
if not child:
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(command[0], command)
_, status, usage = os.wait4(child, 0)
print(json.dumps([usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status)]))
"""
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
_ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)  # only a first run compiles, and that is the warm-up
_UNIT = 1024 if sys.platform != "darwin" else 1024 * 1024  # of ru_maxrss, in a MiB


class Cost(NamedTuple):
    """Medians over the runs. Seconds of a processor; peak resident memory in MiB."""

    seconds: float
    mebibytes: float


def once(command: Command, folder: str) -> Cost:
    """One run, from start to exit; its output is thrown away. A failure is an error."""
    launcher = [sys.executable, "-S", "-c", _LAUNCHER, folder, *command]
    done = subprocess.run(launcher, env=_ENVIRONMENT, capture_output=True, text=True, check=True)
    seconds, memory, code = json.loads(done.stdout)
    if code:
        raise RuntimeError(f"{' '.join(command)} exited {code}: {done.stderr}")
    return Cost(seconds, memory / _UNIT)


def in_turn(
    commands: Sequence[tuple[Command, str]], runs: int, before: Callable[[int], None] = lambda _: None
) -> list[Cost]:
    """Each (command, folder) in turn, A B C A B C, after a warm-up, so that a slow minute hits all alike.

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

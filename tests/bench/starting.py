"""What the small commands cost, which people and shells run all the time."""

import subprocess
import sys
from collections.abc import Iterator

from tests.bench.process import in_turn
from tests.bench.rendering import BARE, Row

BERTH = (sys.executable, "-m", "berth")
# Bounds of the ratio to bare Python, and of the modules that are imported besides its own.
COMMANDS = {"--version": (2, 60), "--help": (3, 110)}


def rows() -> Iterator[Row]:
    bare, *costs = in_turn([(command, ".") for command in (BARE, *((*BERTH, word) for word in COMMANDS))], 15)
    without = imported("-c", "pass")
    for (word, (most, modules)), cost in zip(COMMANDS.items(), costs, strict=True):
        yield Row(f"{word} / bare Python", cost.seconds / bare.seconds, most, f"{cost.seconds * 1000:.0f} ms")
        yield Row(f"{word}, modules", imported("-m", "berth", word) - without, modules, "", fails=True)


def imported(*words: str) -> int:
    command = [sys.executable, "-X", "importtime", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr.count("\n")

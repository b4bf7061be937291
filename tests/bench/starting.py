"""What the small commands cost, which people and shells run all the time."""

import subprocess
import sys
from collections.abc import Iterator

from tests.bench.process import in_turn
from tests.bench.rendering import BARE, Row

BERTH = (sys.executable, "-m", "berth")
# Bounds of the ratio to bare Python, and of the modules that are imported.
COMMANDS = {"--version": (2, 90), "--help": (3, 170)}


def rows() -> Iterator[Row]:
    bare, *costs = in_turn([(command, ".") for command in (BARE, *((*BERTH, word) for word in COMMANDS))], 15)
    for (word, (most, modules)), cost in zip(COMMANDS.items(), costs, strict=True):
        yield Row(f"{word} / bare Python", cost.seconds / bare.seconds, most, f"{cost.seconds * 1000:.0f} ms")
        command = [sys.executable, "-X", "importtime", *BERTH[1:], word]
        imports = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        yield Row(f"{word}, modules", imports.count("\n"), modules, "", fails=True)

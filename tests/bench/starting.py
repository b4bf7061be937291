"""What the small commands cost, which people and shells run all the time."""

import sys
from collections.abc import Iterator

from tests.bench.process import in_turn
from tests.bench.rendering import BARE, Row


def rows() -> Iterator[Row]:
    berth = (sys.executable, "-m", "berth")
    commands = [BARE, (*berth, "--version"), (*berth, "--help"), (*berth, "completion", "bash")]
    bare, *others = in_turn([(command, ".") for command in commands], 15)
    for command, cost in zip(commands[1:], others, strict=True):
        what = " ".join(["berth", *command[3:]])
        yield Row(f"{what} / bare Python", cost.seconds / bare.seconds, 4, f"{cost.seconds * 1000:.0f} ms")

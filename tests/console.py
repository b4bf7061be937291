"""Documents that show commands: what stands in their blocks, and what the commands really print."""

import re
import shlex
import subprocess
from pathlib import Path

from tests import forking

ROOT = Path(__file__).parents[1]
BEFORE_ALL = "2026-01-01"
"""The time of every command that says no other one: before the dates of the examples."""
PASTED_ON = "2026-11-25"
"""The time of the commands that readers paste: before the dates in them, so that these are still to come."""


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and content of every fenced block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)


def commands(text: str) -> list[tuple[str, str]]:
    """Every line that begins with `$ ` in a block `console`, and the output below it."""
    return [
        match
        for language, block in blocks(text)
        if language == "console"
        for match in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.M)
    ]


def printed(command: str, folder: Path, now: str = BEFORE_ALL) -> str:
    """What it prints in a folder, stdout before stderr. Only berth and git are run."""
    program, *words = shlex.split(command)
    assert program in ("berth", "git"), command
    done = subprocess.run(
        [*forking.command(), "--now", now, *words] if program == "berth" else ["git", *words],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr

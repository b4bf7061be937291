"""What `berth diff` takes where one reservation of many has changed, against a full render."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.process import Command, Cost, in_turn, once
from tests.bench.rendering import RENDER, Row, project

DIFF: Command = (sys.executable, "-m", "berth", "diff", "HEAD", "--now", "2026-01-01")
_IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false")


def rows() -> Iterator[Row]:
    render, diff = measure(1000, 3)
    note = f"{diff.seconds * 1000:.0f} ms"
    yield Row("1,000, one changed: diff / full render", diff.seconds / render.seconds, 1.2, note)
    yield Row("1,000, one changed: diff, peak MiB", diff.mebibytes, 96, "", fails=True)


def measure(number: int, runs: int) -> tuple[Cost, Cost]:
    """Of a full render from nothing, and of a diff against the commit before the change."""
    with project(number) as folder:
        where = str(folder)
        once(RENDER, where)
        for words in (
            ("init", "--quiet"),
            ("add", "--all"),
            (*_IDENTITY, "commit", "--quiet", "-m", "first"),
        ):
            subprocess.run(["git", *words], cwd=folder, check=True)
        change(folder)

        def before(i: int) -> None:
            if i == 0:
                shutil.rmtree(folder / "rendered")

        render, diff = in_turn([(RENDER, where), (DIFF, where)], runs, before)
        return render, diff


def change(folder: Path) -> None:
    """Ten times the seats, in the first file that has some."""
    for file in sorted((folder / "reservations").rglob("*.yaml")):
        text = file.read_text("utf-8")
        if "placeholderCount: " in text:
            file.write_text(text.replace("placeholderCount: ", "placeholderCount: 1", 1), "utf-8")
            return
    raise AssertionError("the workload has no reservation")

"""What `berth size` takes with 50 types of machines, against `berth validate` of the same files in the same
run; and each of many answers to different questions in one process.

`python -m tests.bench.sizing NUMBER` gives so many answers about the project in this folder.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from berth.cli.size import answer
from berth.core.jsonvalues import parse_instant
from berth.machines.sizing import SizeQuestion
from berth.pipeline import Pipeline

from tests.bench import planning
from tests.bench.process import Command, in_turn, once
from tests.bench.rendering import MEMORY, Row

ANSWERS = 1000
WINDOWS, WEEKS = 1000, 40  # of 25 courses
NOW = "2026-01-01T00:00:00Z"
SIZE: Command = (
    *(sys.executable, "-m", "berth", "size", "course-0"),
    *("--students", "300", "--show-up", "80%", "--now", NOW),
)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="berth-bench-", dir=MEMORY) as folder:
        planning.write(Path(folder), WINDOWS, WEEKS)
        validate, size = in_turn([(planning.VALIDATE, folder), (SIZE, folder)], 3)
        note = f"{size.seconds * 1000:.0f} ms, {size.mebibytes:.0f} MiB"
        yield Row("size of one of 25 courses / validate", size.seconds / validate.seconds, 2, note)
        every = once((sys.executable, "-m", "tests.bench.sizing", str(ANSWERS)), folder).seconds
        yield Row(
            f"each of {ANSWERS:,} answers of size, seconds", every / ANSWERS, 1, f"{every:.0f} s in all"
        )


def main(number: int) -> None:
    """Ask about one course after the other, about other numbers of people."""
    pipeline, now = Pipeline(), parse_instant(NOW)
    items = list(pipeline.items())
    for place in range(number):
        question = SizeQuestion(50 + place, 0.8, 60 + place % 300, 600 + place)
        answer(pipeline, items[place % len(items)], None, now, question)


if __name__ == "__main__":
    main(int(sys.argv[1]))

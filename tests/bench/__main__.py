"""`make bench`: prints every speed and memory figure that we promise: as ratios within one run, but where a
line names its unit.

It judges nothing: machines are noisy. A line that is over its promise is marked, and worth a second run.
"""

import sys

from berth.output import table

from tests.bench import (
    arrivals,
    calendars,
    diffing,
    memory,
    planning,
    realcluster,
    rendering,
    reporting,
    sizing,
    starting,
)


def main() -> None:
    cells = []
    every = (
        starting.rows,
        rendering.rows,
        diffing.rows,
        planning.rows,
        sizing.rows,
        reporting.rows,
        memory.rows,
        arrivals.rows,
        calendars.rows,
        realcluster.rows,
    )
    for rows in every:
        for row in rows():
            promise = "" if row.most is None else f"{row.most:.3g}"
            over = "over" if row.most is not None and row.ratio > row.most else ""
            cells.append((row.what, f"{row.ratio:.3g}", promise, over, row.note))
            sys.stderr.write(f"{row.what}: {row.ratio:.3g}\n")
    sys.stdout.write(table.text(("measured", "ratio", "at most", "", "note"), cells))


main()

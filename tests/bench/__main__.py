"""`make bench`: the figures that Berth promises; `make bench ARGS=short` those that need no Helm.

What Berth imports and what it has in memory is alike on every machine: more than the bound fails. Ratios to
other programs are those of one run, and noisy: one over its bound is marked, and worth a second run.
"""

import sys

from berth.output import table

from tests.bench import diffing, memory, rendering, starting


def main(*, is_short: bool) -> int:
    cells, code = [], 0
    for rows in (starting.rows(), rendering.rows(is_short=is_short), diffing.rows(), memory.rows()):
        for row in rows:
            is_over = row.most is not None and row.value > row.most
            code |= is_over and row.fails
            most = "" if row.most is None else f"{row.most:.3g}"
            cells.append((row.what, f"{row.value:.3g}", most, "over" if is_over else "", row.note))
            sys.stderr.write(f"{row.what}: {row.value:.3g}\n")
    sys.stdout.write(table.text(("measured", "", "at most", "", "note"), cells))
    return code


sys.exit(main(is_short=sys.argv[1:] == ["short"]))

"""The least and the most machines that Karpenter may buy where its own order is open.

Every way to decide all open orders is tried where there are few. Of more, as many as `runs` allows: half of
them in order, the other half by dice with fixed seeds. The plainest order is always among them.
"""

from functools import lru_cache
from random import Random
from typing import NamedTuple

from gen.plan.purchase import Purchase, bought
from gen.plan.ties import Ties
from gen.plan.values import Question


class Band(NamedTuple):
    """`plain` is what `purchase` answers. `complete`: every way was tried, so nothing lies outside."""

    plain: Purchase
    least: Purchase
    most: Purchase
    complete: bool
    runs: int


@lru_cache(maxsize=4096)
def band(question: Question, runs: int = 16) -> Band:
    """By number of machines, and of equally many the one that leaves fewer pods, then the plainer."""
    ties = Ties()
    plain = bought(question, ties)
    found = [plain]
    tape = ties.next_tape()
    while tape is not None and len(found) < max(runs // 2, 1):
        ties = Ties(tape)
        found.append(bought(question, ties))
        tape = ties.next_tape()
    complete = tape is None
    while not complete and len(found) < runs:
        found.append(bought(question, Ties(dice=Random(len(found)))))
    least = min(found, key=lambda one: (len(one.machines), _left(one)))
    most = max(found, key=lambda one: (len(one.machines), -_left(one)))
    return Band(plain, least, most, complete, len(found))


def _left(one: Purchase) -> int:
    return sum(left.count for left in one.left)

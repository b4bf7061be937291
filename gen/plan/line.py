"""The order in which pods are tried: large ones first, who found no place again at the end."""

from collections import deque
from collections.abc import Iterator, Sequence

from gen.plan.shape import Shape
from gen.plan.ties import Ties

Run = tuple[int, Shape, int]
"""(number of the batch's pod, its shape, how many of it): equal pods in a row."""


def in_order(runs: Sequence[Run], ties: Ties) -> list[Run]:
    """By CPU, then memory, both descending, then by age. Of pods that are equal in these the order is open:
    as given, backwards, or mixed.
    """
    found: list[Run] = []
    rest = sorted(runs, key=_key)
    while rest:
        equal = [run for run in rest if _key(run) == _key(rest[0])]
        rest = rest[len(equal) :]
        way = ties.pick(3) if len({run[1] for run in equal}) > 1 else 0
        found += equal if way == 0 else equal[::-1] if way == 1 else list(_mixed(equal))
    return found


class Line:
    """Ends after a whole round in which nobody found a place."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = deque((run, 0) for run in runs)
        self._length = sum(count for _, _, count in runs)

    def next(self) -> Run | None:
        if not self._runs or self._runs[0][1] == self._length:
            return None
        return self._runs.popleft()[0]

    def done(self, run: Run, placed: int) -> None:
        """`placed` of the run have a place; the others go to the end."""
        number, shape, count = run
        self._length -= placed
        if placed < count:
            self._runs.append(((number, shape, count - placed), self._length))

    def left(self) -> list[Run]:
        return [run for run, _ in self._runs]


def _key(run: Run) -> tuple[int, int, int]:
    _, shape, _ = run
    return -shape.requests.get("cpu", 0), -shape.requests.get("memory", 0), shape.pod.created


def _mixed(runs: Sequence[Run]) -> Iterator[Run]:
    left = list(runs)
    while left:
        for number, shape, _ in left:
            yield number, shape, 1
        left = [(number, shape, count - 1) for number, shape, count in left if count > 1]

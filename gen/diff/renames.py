"""Which reservations only changed their names, and which merely look as if they had? Pure.

A rename is found, not guessed: but for name, title, labels and annotations both are equal. What is no more
than alike is told, and people judge.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from gen.diff.compare import Version, said_by
from gen.model import Reservation


class Alike(NamedTuple):
    """`same` of the dates of the new one are dates of the old one, too."""

    old: str
    new: str
    same: int
    dates: int


def renamed(removed: Sequence[Version], added: Sequence[Version]) -> list[tuple[Version, Version]]:
    """Pairs that differ in their names and words only, each version once; in the order of `added`."""
    left: dict[Hashable, list[Version]] = {}
    for old in removed:
        left.setdefault(_dates(old), []).append(old)
    pairs = []
    for new in added:
        alike = left.get(_dates(new), [])
        for old in alike:
            if _without_name(old) == _without_name(new):
                pairs.append((old, new))
                alike.remove(old)
                break
    return pairs


def likenesses(removed: Sequence[Version], added: Sequence[Version]) -> Iterator[Alike]:
    """For each added one the removed one of the same classes with which it shares most of its dates, if any.

    Most: more than half of the dates of the one that has more.
    """
    by_date: dict[Hashable, list[Version]] = {}
    sizes = {one.reservation.name: len(one.occurrences) for one in removed}
    for old in removed:
        for date in _spans(old):
            by_date.setdefault((_classes(old), date), []).append(old)
    for new in added:
        spans = _spans(new)
        shared = Counter(
            one.reservation.name for date in spans for one in by_date.get((_classes(new), date), ())
        )
        best = min(shared, key=lambda name: (-shared[name], name), default=None)
        if best is not None and 2 * shared[best] > max(sizes[best], len(spans)):
            yield Alike(best, new.reservation.name, shared[best], len(spans))


def _classes(version: Version) -> tuple[str, ...]:
    return tuple(sorted(one.name for one in version.classes))


def _spans(version: Version) -> list[tuple[int, int]]:
    return [(item.start, item.end) for item in version.occurrences]


def _dates(version: Version) -> Hashable:
    """What can be looked up; equal for all that are equal."""
    return tuple((item.open, item.start, item.end, item.seats) for item in version.occurrences)


def _without_name(version: Version) -> tuple[object, ...]:
    one, *rest = said_by(version)
    assert isinstance(one, Reservation)
    return one._replace(name="", title="", annotations=(), labels=()), *rest

"""Who lays claim to sessions at a moment: our own reservation, and its rivals.

Pure in time: `now` comes in.
"""

from collections.abc import Iterable, Iterator, Mapping

from gen.runtime.rivals import Reading, Rival, claims, next_claim, rival
from gen.runtime.session import Claim, Match, ranked
from gen.runtime.target import next_change, open_now
from gen.runtime.timetable import Occurrence, Timetable, in_force


class Contest:
    """`claims` (ranked, by class) and `open` (ids of our own open occurrences) hold until `until`."""

    def __init__(self) -> None:
        self.claims: dict[str, tuple[Claim, ...]] = {}
        self.open: tuple[str, ...] = ()
        self.until = 0.0
        self._since = 0.0
        self._classes: frozenset[str] = frozenset()
        self._occurrences: tuple[Occurrence, ...] = ()
        self._own = Rival("", (), ())
        self._rivals: dict[str, Rival] = {}  # by the uid of the timetable's ConfigMap

    def set_own(self, timetable: Timetable, classes: frozenset[str], now: int) -> None:
        """`classes` are those that we count."""
        self._classes, self._occurrences = classes, in_force(timetable)
        self._own = rival(timetable, classes, now)
        self.until = 0.0

    @property
    def known(self) -> set[str]:
        """The uids of all timetables that are known."""
        return set(self._rivals)

    def take(self, readings: Mapping[str, Reading], gone: Iterable[str]) -> None:
        """Timetables by uid, ours perhaps among them. One that is malformed leaves what was known of it."""
        for uid in gone:
            self._rivals.pop(uid, None)
        for uid, reading in readings.items():
            if isinstance(reading.found, Rival):
                self._rivals[uid] = reading.found
        self.until = 0.0

    def matches(self) -> Iterator[tuple[str, Match]]:
        for one in self._all():
            yield from one.matches

    def refresh(self, now: float) -> bool:
        """Are `claims` others than before, or of other moments?"""
        if self._since <= now < self.until:
            return False
        instant = int(now)
        everybody = self._all()
        self.claims = {name: ranked(claims(everybody, name, instant).values()) for name in self._classes}
        self.open = tuple(item.id for item in open_now(self._occurrences, instant))
        moments = (next_claim(everybody, instant), next_change(self._occurrences, instant))
        self._since, self.until = now, min((at for at in moments if at is not None), default=float("inf"))
        return True

    def _all(self) -> list[Rival]:
        """Ours first: whoever copied it says the same, or is wrong."""
        others = [self._rivals[uid] for uid in sorted(self._rivals)]
        return [self._own, *(one for one in others if one.reservation != self._own.reservation)]

"""Claims to sessions: those of our own reservation and those of competing reservations of the site.

Pure functions of time; `now` is passed in. Of a timetable, only
what may open before the next reading is kept.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from berth.core.sessions import Claim, Match, Recognition, may_overlap, ranked
from berth.core.target import next_change, open_now
from berth.core.timetable import Timetable, TimetableOccurrence, active_occurrences

HORIZON = 26 * 3600  # seconds for which a reading of the timetables is good
HORIZON_REFRESH = 12 * 3600  # seconds after which they are read again


class CompetingReservation(NamedTuple):
    """What a reservation claims: `matches` and `recognitions` by resource class."""

    reservation: str
    matches: tuple[tuple[str, Match], ...]
    occurrences: tuple[TimetableOccurrence, ...]
    recognitions: tuple[tuple[str, Recognition], ...] = ()


class TimetableReading(NamedTuple):
    """The result of reading the ConfigMap `name`. A string in `found` is the error."""

    name: str
    found: CompetingReservation | str


def competing_reservation(
    timetable: Timetable, counted: Mapping[str, Recognition], now: int
) -> CompetingReservation:
    """Return what the reservation of a timetable claims until the next reading.

    It has the counted classes, and those that may recognize the same sessions.
    """
    pools = [
        pool
        for pool in timetable.pools
        if pool.resource_class in counted
        or (pool.sessions and any(may_overlap(pool.sessions, one) for one in counted.values()))
    ]
    wanted = frozenset(pool.resource_class for pool in pools)
    return CompetingReservation(
        timetable.reservation,
        tuple((pool.resource_class, pool.match) for pool in pools),
        tuple(
            item
            for item in active_occurrences(timetable)
            if item.open <= now + HORIZON and item.end > now and wanted & {name for name, _ in item.seats}
        ),
        tuple((pool.resource_class, pool.sessions) for pool in pools if pool.sessions),
    )


def open_claims(
    competitors: Iterable[CompetingReservation], resource_class: str, now: int
) -> dict[str, Claim]:
    """Return the open claims to sessions of the class, by id.

    If two claims have the same id, because somebody copied a timetable, the first one counts.
    """
    found: dict[str, Claim] = {}
    for one in competitors:
        match = dict(one.matches).get(resource_class)
        if match is None:
            continue
        for item in one.occurrences:
            count = dict(item.seats).get(resource_class)
            if count is not None and item.open <= now < item.end:
                found.setdefault(item.id, Claim(item.id, item.open, item.start, item.end, count, match))
    return found


def next_claim_change(competitors: Iterable[CompetingReservation], now: int) -> int | None:
    """Return when the next occurrence opens or ends after `now`."""
    instants = (at for one in competitors for item in one.occurrences for at in (item.open, item.end))
    return min((at for at in instants if at > now), default=None)


def known_recognitions(competitors: Iterable[CompetingReservation]) -> dict[str, Recognition]:
    """Return how the sessions of each class are recognized; the first reservation that has it decides."""
    found: dict[str, Recognition] = {}
    for one in competitors:
        for name, recognition in one.recognitions:
            found.setdefault(name, recognition)
    return found


class ClaimTracker:
    """Tracks the open claims of the own reservation and of its competitors.

    `claims` (ranked, by class) and `open` (ids of the own open occurrences) are valid until `until`.
    """

    def __init__(self) -> None:
        self.claims: dict[str, tuple[Claim, ...]] = {}
        self.open: tuple[str, ...] = ()
        self.until = 0.0
        self._since = 0.0
        self._occurrences: tuple[TimetableOccurrence, ...] = ()
        self._own = CompetingReservation("", (), ())
        self._competitors: dict[str, CompetingReservation] = {}  # by the uid of the timetable's ConfigMap

    def set_own(self, timetable: Timetable, counted: Mapping[str, Recognition], now: int) -> None:
        """Set the timetable of the own reservation, and its counted classes."""
        self._occurrences = active_occurrences(timetable)
        self._own = competing_reservation(timetable, counted, now)
        self.until = 0.0

    @property
    def known(self) -> set[str]:
        """The uids of all known timetables."""
        return set(self._competitors)

    def take(self, readings: Mapping[str, TimetableReading], gone: Iterable[str]) -> None:
        """Apply timetables by uid. A malformed timetable keeps what was known of it."""
        for uid in gone:
            self._competitors.pop(uid, None)
        for uid, reading in readings.items():
            if isinstance(reading.found, CompetingReservation):
                self._competitors[uid] = reading.found
        self.until = 0.0

    def matches(self) -> Iterator[tuple[str, Match]]:
        """Yield the class and match of every known claim."""
        for one in self._all():
            yield from one.matches

    def recognitions(self) -> dict[str, Recognition]:
        """Return how the sessions of each known class are recognized."""
        return known_recognitions(self._all())

    def refresh(self, now: float) -> bool:
        """Update the claims; return whether they may have changed."""
        if self._since <= now < self.until:
            return False
        instant = int(now)
        everybody = self._all()
        self.claims = {
            name: ranked(open_claims(everybody, name, instant).values())
            for name in {name for one in everybody for name, _ in one.matches}
        }
        self.open = tuple(item.id for item in open_now(self._occurrences, instant))
        moments = (next_claim_change(everybody, instant), next_change(self._occurrences, instant))
        self._since, self.until = now, min((at for at in moments if at is not None), default=float("inf"))
        return True

    def _all(self) -> list[CompetingReservation]:
        """Return all reservations, the own one first; copies of it are ignored."""
        others = [self._competitors[uid] for uid in sorted(self._competitors)]
        return [self._own, *(one for one in others if one.reservation != self._own.reservation)]

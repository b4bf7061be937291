"""Which occurrence a session counts for: claims of reservations, and attribution.

Pure and independent of order: the same sessions and claims always give the same counts."""

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.core.sessions import (
    NO_CONTEST,
    Claim,
    Contest,
    Match,
    Recognition,
    Session,
    fits,
    may_overlap,
    ranked,
)
from berth.core.target import next_change
from berth.core.timetable import Timetable, TimetableOccurrence, active_occurrences

# Claims


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
        or (
            pool.sessions and any(may_overlap(pool.sessions, recognition) for recognition in counted.values())
        )
    ]
    wanted = frozenset(pool.resource_class for pool in pools)
    longest = max((pool.match.handover for pool in pools), default=0)
    return CompetingReservation(
        timetable.reservation,
        tuple((pool.resource_class, pool.match) for pool in pools),
        tuple(
            item
            for item in active_occurrences(timetable)
            if not item.rehearses
            and item.open <= now + HORIZON
            and now < item.end + longest
            and wanted & {name for name, _ in item.seats}
        ),
        tuple((pool.resource_class, pool.sessions) for pool in pools if pool.sessions),
    )


def open_claims(
    competitors: Iterable[CompetingReservation], resource_class: str, now: int
) -> dict[str, Claim]:
    """Return the claims to sessions of the class that are open or hand over, by id.

    If two claims have the same id, because somebody copied a timetable, the first one counts.
    """
    claims: dict[str, Claim] = {}
    for competitor in competitors:
        match = dict(competitor.matches).get(resource_class)
        if match is None:
            continue
        for item in competitor.occurrences:
            count = dict(item.seats).get(resource_class)
            if count is not None and item.open <= now < item.end + match.handover:
                claim = Claim(item.id, item.open, item.start, item.end, count, match, now >= item.end)
                claims.setdefault(item.id, claim)
    return claims


def next_claim_change(competitors: Iterable[CompetingReservation], now: int) -> int | None:
    """Return when the next occurrence opens, ends or has handed over after `now`."""
    instants = (
        at
        for competitor in competitors
        for seconds in {0, *(match.handover for _, match in competitor.matches)}
        for item in competitor.occurrences
        for at in (item.open, item.end + seconds)
    )
    return min((at for at in instants if at > now), default=None)


def known_recognitions(competitors: Iterable[CompetingReservation]) -> dict[str, Recognition]:
    """Return how the sessions of each class are recognized; the first reservation that has it decides."""
    recognitions: dict[str, Recognition] = {}
    for competitor in competitors:
        for name, recognition in competitor.recognitions:
            recognitions.setdefault(name, recognition)
    return recognitions


class ClaimTracker:
    """Tracks the claims of the own reservation and of its competitors.

    `claims` (ranked, by class) and `own` (ids of the own occurrences among them) are valid until `until`.
    """

    def __init__(self) -> None:
        self.claims: dict[str, tuple[Claim, ...]] = {}
        self.own: tuple[str, ...] = ()
        self.until = 0.0
        self._since = 0.0
        self._occurrences: tuple[TimetableOccurrence, ...] = ()
        self._own = CompetingReservation("", (), ())
        self._competitors: dict[str, CompetingReservation] = {}  # by the uid of the timetable's ConfigMap

    def set_own(self, timetable: Timetable, counted: Mapping[str, Recognition], now: int) -> None:
        """Set the timetable of the own reservation, and its counted classes."""
        self._occurrences = tuple(item for item in active_occurrences(timetable) if not item.rehearses)
        self._own = competing_reservation(timetable, counted, now)
        self.until = 0.0

    def take(self, readings: Mapping[str, TimetableReading]) -> None:
        """Apply all timetables, by uid. A malformed one keeps what was known of it."""
        found = {uid: reading.found for uid, reading in readings.items()}
        known = {uid: self._competitors[uid] for uid in found if uid in self._competitors}
        news = {uid: one for uid, one in found.items() if isinstance(one, CompetingReservation)}
        self._competitors = known | news
        self.until = 0.0

    def matches(self) -> Iterator[tuple[str, Match]]:
        """Yield the class and match of every known claim."""
        for competitor in self._all():
            yield from competitor.matches

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
            for name in {name for competitor in everybody for name, _ in competitor.matches}
        }
        longest = max((match.handover for _, match in self._own.matches), default=0)
        self.own = tuple(
            occurrence.id
            for occurrence in self._occurrences
            if occurrence.open <= instant < occurrence.end + longest
        )
        moments = (next_claim_change(everybody, instant), next_change(self._occurrences, instant))
        self._since, self.until = now, min((at for at in moments if at is not None), default=float("inf"))
        return True

    def _all(self) -> list[CompetingReservation]:
        """Return all reservations, the own one first; copies of it are ignored."""
        others = [self._competitors[uid] for uid in sorted(self._competitors)]
        return [self._own, *(other for other in others if other.reservation != self._own.reservation)]


# Attribution: each session counts for at most one occurrence.


ClaimGroup = tuple[int, ...]
"""The claims that a session fits, by their places in the ranking, ascending. Its sessions are alike."""


class _Reassignment(NamedTuple):
    """Sessions of a group that may move from one claim to another."""

    group: ClaimGroup
    origin: int
    goal: int


def claim_group(session: Session, claims: Sequence[Claim]) -> ClaimGroup:
    """Return the group of a session. `claims` must be ranked.

    A session that was there before an occurrence opened counts for an earlier one until that has handed over.
    An occurrence that is over hands over to open ones that start after its end, and to no others.
    """
    fitting = [(place, claim) for place, claim in enumerate(claims) if fits(session, claim)]
    last_start = max((claim.start for _, claim in fitting if not claim.is_over), default=0)
    ends = (claim.end for _, claim in fitting if claim.match.handover)
    first_end = min(ends, default=last_start + 1)
    return tuple(
        place
        for place, claim in fitting
        if not (claim.is_over and claim.end > last_start)
        and not (first_end <= claim.start and session.created < claim.open)
    )


def count_sessions(
    sessions: Iterable[Session], claims: Sequence[Claim], contest: Contest = NO_CONTEST
) -> dict[str, int]:
    """Return how many sessions count for each claim, by claim id. `claims` must be ranked.

    All of them are counted anew at each change: those that no claim can tell apart are judged once.
    """
    rivals = (claim for some in contest.claims.values() for claim in some)
    moments = sorted({at for claim in (*claims, *rivals) for at in (claim.open, claim.end)})
    known: dict[tuple[object, ...], ClaimGroup] = {}
    groups: Counter[ClaimGroup] = Counter()
    for session in sessions:
        key = (
            session.namespace,
            id(session.labels),
            id(session.annotations),
            session.template,
            session.classes,
            bisect_right(moments, session.created),
        )
        if key not in known:
            known[key] = claim_group(session, claims) if contest.is_won(session) else ()
        groups[known[key]] += 1
    return attribute_sessions(groups, claims)


def attribute_sessions(groups: Mapping[ClaimGroup, int], claims: Sequence[Claim]) -> dict[str, int]:
    """Return how many sessions count for each claim, by claim id.

    `groups` is the number of sessions of each group; `claims` must be ranked.
    """
    taken = [0] * len(claims)
    for seats in assign_seats(groups, claims).values():
        for place, number in seats.items():
            taken[place] += number
    return {claim.id: number for claim, number in zip(claims, taken, strict=True)}


def assign_seats(groups: Mapping[ClaimGroup, int], claims: Sequence[Claim]) -> dict[ClaimGroup, Counter[int]]:
    """Return how many sessions of each group count for which claim, by its place in the ranking.

    Groups that fit the fewest claims come first. Each claim is filled up to its count in the order of the
    ranking. For the remaining sessions, others move to claims with free seats, along the shortest path;
    without such a path, the rest goes to the first claim. So no claim exceeds its count while another fitting
    claim has free seats.
    """
    room = [max(claim.count, 0) for claim in claims]
    seats: dict[ClaimGroup, Counter[int]] = {}
    left: dict[ClaimGroup, int] = {}
    for places in sorted(groups, key=lambda places: (len(places), places)):
        number = groups[places]
        mine = seats[places] = Counter[int]()
        for place in places:
            some = min(number, room[place])
            mine[place] += some
            room[place] -= some
            number -= some
        if number and places:
            left[places] = number
    for places, number in left.items():
        rest = _reassign(places, number, seats, room) if any(room) else number
        seats[places][places[0]] += rest
    return seats


def _reassign(places: ClaimGroup, number: int, seats: dict[ClaimGroup, Counter[int]], room: list[int]) -> int:
    """Seat sessions of the group where others can move; return how many are left."""
    while number and (path := _path(places, seats, room)):
        goal = path[-1].goal
        some = min(number, room[goal], *(seats[move.group][move.origin] for move in path))
        for move in path:
            seats[move.group][move.origin] -= some
            seats[move.group][move.goal] += some
        seats[places][path[0].origin] += some
        room[goal] -= some
        number -= some
    return number


def _path(
    places: ClaimGroup, seats: Mapping[ClaimGroup, Counter[int]], room: Sequence[int]
) -> list[_Reassignment]:
    """Return the shortest path from one of these full claims to one with free seats; empty: none."""
    seen = set(places)
    paths: deque[tuple[int, list[_Reassignment]]] = deque((place, []) for place in places)
    while paths:
        origin, moves = paths.popleft()
        for group, mine in seats.items():
            for goal in group if mine[origin] else ():
                if goal not in seen:
                    seen.add(goal)
                    path = [*moves, _Reassignment(group, origin, goal)]
                    if room[goal]:
                        return path
                    paths.append((goal, path))
    return []

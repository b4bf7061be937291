"""Attribution of sessions to occurrences: each session counts for at most one occurrence.

Pure and independent of order: the same sessions and claims always give the same counts.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from berth.core.sessions import Claim, Session, fits

ClaimGroup = tuple[int, ...]
"""The claims that a session fits, by their places in the ranking, ascending. Its sessions are alike."""


class _Reassignment(NamedTuple):
    """Sessions of a group that may move from one claim to another."""

    group: ClaimGroup
    origin: int
    goal: int


def claim_group(session: Session, claims: Sequence[Claim]) -> ClaimGroup:
    """Return the group of a session. `claims` must be ranked."""
    return tuple(place for place, claim in enumerate(claims) if fits(session, claim))


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

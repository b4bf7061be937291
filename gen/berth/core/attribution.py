"""Attribution of sessions to occurrences: each session counts for at most one occurrence.

Pure and independent of order: the same sessions and claims always give the same counts.
"""

from collections import deque
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


def assign_seats(
    groups: Mapping[ClaimGroup, int], claims: Sequence[Claim]
) -> dict[ClaimGroup, dict[int, int]]:
    """Return how many sessions of each group count for which claim, by its place in the ranking.

    Groups that fit the fewest claims come first. Each claim is filled up to its count in the order of the
    ranking. For the remaining sessions, others move to claims with free seats, along the shortest path;
    without such a path, the rest goes to the first claim. So no claim exceeds its count while another fitting
    claim has free seats.
    """
    room = [max(claim.count, 0) for claim in claims]
    seats: dict[ClaimGroup, dict[int, int]] = {}
    left: dict[ClaimGroup, int] = {}
    for places in sorted(groups, key=lambda places: (len(places), places)):
        number = groups[places]
        mine = seats[places] = {}
        for place in places:
            if number and room[place]:
                mine[place] = min(number, room[place])
                room[place] -= mine[place]
                number -= mine[place]
        if number and places:
            left[places] = number
    for places, number in left.items():
        rest = _moved_on(places, number, seats, room) if any(room) else number
        _add(seats[places], places[0], rest)
    return seats


def _moved_on(
    places: ClaimGroup, number: int, seats: dict[ClaimGroup, dict[int, int]], room: list[int]
) -> int:
    """Seat sessions of the group where others can move; return how many are left."""
    while number and (way := _way(places, seats, room)) is not None:
        first, moves = way
        goal = moves[-1].goal
        some = min(number, room[goal], *(seats[move.group][move.origin] for move in moves))
        for move in moves:
            _add(seats[move.group], move.origin, -some)
            _add(seats[move.group], move.goal, some)
        _add(seats[places], first, some)
        room[goal] -= some
        number -= some
    return number


def _way(
    places: ClaimGroup, seats: Mapping[ClaimGroup, Mapping[int, int]], room: Sequence[int]
) -> tuple[int, list[_Reassignment]] | None:
    """Find the shortest path from one of these full claims to a claim with free seats."""
    before: dict[int, _Reassignment | None] = dict.fromkeys(places)
    found = deque(places)
    while found:
        origin = found.popleft()
        for one, mine in seats.items():
            if not mine.get(origin):
                continue
            for goal in one:
                if goal in before:
                    continue
                before[goal] = _Reassignment(one, origin, goal)
                if room[goal]:
                    return _walked(goal, before)
                found.append(goal)
    return None


def _walked(goal: int, before: Mapping[int, _Reassignment | None]) -> tuple[int, list[_Reassignment]]:
    """Return the start of the path to the goal, and its moves."""
    moves: list[_Reassignment] = []
    while (move := before[goal]) is not None:
        moves.insert(0, move)
        goal = move.origin
    return goal, moves


def _add(seats: dict[int, int], place: int, number: int) -> None:
    seats[place] = seats.get(place, 0) + number

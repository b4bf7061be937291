"""Which occurrence does a session count for? Each for one at most, and the same one at every look.

Pure, and blind to order: whoever knows the same sessions and claims comes to the same counts.
"""

from collections.abc import Iterable, Mapping, Sequence

from gen.runtime.session import Claim, Session, fits

Group = tuple[int, ...]
"""The claims that a session fits, by their places in the ranking, ascending. Its sessions are alike."""


def group(session: Session, claims: Sequence[Claim]) -> Group:
    """`claims` are ranked."""
    return tuple(place for place, claim in enumerate(claims) if fits(session, claim))


def attributed(groups: Mapping[Group, int], claims: Sequence[Claim]) -> dict[str, int]:
    """How many sessions count for each claim, by its id. `groups` says how many sessions there are of each;
    `claims` are ranked.

    Those that fit the fewest claims come first. Each claim is filled up to its count in the order of the
    ranking; when all are full, the rest goes to the first.
    """
    taken = [0] * len(claims)
    for places in sorted(groups, key=lambda places: (len(places), places)):
        left = groups[places]
        for place in places:
            room = min(left, max(claims[place].count - taken[place], 0))
            taken[place] += room
            left -= room
        if places:
            taken[places[0]] += left
    return {claim.id: number for claim, number in zip(claims, taken, strict=True)}


def groups_of(sessions: Iterable[Session], claims: Sequence[Claim]) -> dict[Group, int]:
    found: dict[Group, int] = {}
    for session in sessions:
        places = group(session, claims)
        found[places] = found.get(places, 0) + 1
    return found

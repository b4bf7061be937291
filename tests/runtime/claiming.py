"""Claims and sessions made by chance, and their attribution one by one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random

from berth.core.claims import attribute_sessions, claim_group
from berth.core.sessions import RENKU_PROJECT, Claim, Match, Session


def one_by_one(sessions: Iterable[Session], claims: Sequence[Claim]) -> dict[str, int]:
    """The same, without a thought of which are alike. `claims` are ranked."""
    return attribute_sessions(Counter(claim_group(session, claims) for session in sessions), claims)


def some_match(chance: Random) -> Match:
    return Match(
        tuple(chance.sample(("a", "b"), chance.choice((0, 0, 1, 2)))),
        tuple((key, "x") for key in chance.sample(("k", "l"), chance.choice((0, 0, 1, 2)))),
        tuple((key, "x") for key in chance.sample(("m",), chance.choice((0, 0, 1)))),
        chance.choice(("", "", "T1", "T2")),
        chance.random() < 0.2,
    )


def some_claims(chance: Random) -> list[Claim]:
    return [
        Claim(
            f"course-{n}/1",
            opens := chance.randrange(5),
            opens + 1,
            opens + 2 + chance.randrange(3),
            chance.randrange(6),
            some_match(chance),
        )
        for n in range(chance.randrange(6))
    ]


def some_sessions(chance: Random) -> list[Session]:
    """A template is that of a project."""
    sessions = []
    for n in range(chance.randrange(25)):
        template = chance.choice(("", "T1", "T2", "?"))
        sessions.append(
            Session(
                str(n),
                chance.choice(("a", "b", "c")),
                chance.randrange(6),
                {key: chance.choice("xy") for key in ("k", "l") if chance.random() < 0.7},
                ({"m": "x"} if chance.random() < 0.5 else {})
                | ({RENKU_PROJECT: f"of {template}"} if template else {}),
                template,
            )
        )
    return sessions

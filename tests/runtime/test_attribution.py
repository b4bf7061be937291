"""Each session counts for one occurrence at most, the same at every look, and none is filled above its count
while another that fits has room.
"""

from collections import Counter
from itertools import chain
from random import Random

import pytest
from berth.core.claims import ClaimGroup, assign_seats, claim_group, count_sessions
from berth.core.sessions import Claim, Match, Session, fits, ranked
from berth.core.target import placeholders, target
from berth.core.timetable import TimetableOccurrence

from tests.cases import Case, read
from tests.runtime.claiming import one_by_one, some_claims, some_sessions
from tests.runtime.world import at
from tests.seeds import seeds

CASES = read("pools")


def counted(sessions: list[Session], claims: list[Claim]) -> dict[str, int]:
    """As the scaler, the status and the simulation count."""
    return count_sessions(sessions, ranked(claims))


@pytest.mark.parametrize(
    "case", [case for case in CASES if "open" in case], ids=lambda case: case["id"].lower()
)
def test_every_case_of_attribution_comes_out_as_it_says(case: Case) -> None:
    claims = [
        Claim(
            one["name"],
            at("07:30"),
            at("08:00"),
            at(one["end"]),
            int(one["count"]),
            Match(labels=tuple(one.get("matchLabels", {}).items())),
        )
        for one in case["open"]
    ]
    kinds = [[Session("", "renku", 0, one["labels"])] * int(one["number"]) for one in case["sessions"]]

    expected = {name: int(number) for name, number in case["attributed"].items()}
    assert expected == counted(list(chain(*kinds)), claims)


@pytest.mark.parametrize(
    "case", [case for case in CASES if "targets" in case], ids=lambda case: case["id"].lower()
)
def test_every_case_of_a_pool_comes_out_as_it_says(case: Case) -> None:
    """Target, formula and attribution together, as the scaler has them."""
    occurrences = [
        TimetableOccurrence(
            str(n),
            at(one["start"]) - 60 * int(one["lead"]),
            at(one["start"]),
            at(one["end"]),
            (("small", int(one["count"])),),
        )
        for n, one in enumerate(case["occurrences"])
    ]
    sessions = [Session(str(n), "renku", 0) for n in range(int(case.get("active", 0)))]

    def pool_at(now: int) -> int:
        claims = [
            Claim(item.id, item.open, item.start, item.end, item.seats[0][1], Match())
            for item in occurrences
            if item.open <= now < item.end
        ]
        counts = counted(sessions, claims)
        return target(
            occurrences,
            now,
            lambda item: placeholders(
                case["behavior"], item.seats[0][1], counts[item.id], (item.open, item.start, item.end), now
            ),
        )

    assert {moment: int(count) for moment, count in case["targets"].items()} == {
        moment: pool_at(at(moment)) for moment in case["targets"]
    }


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_no_claim_is_above_its_count_while_another_that_fits_has_room_and_none_is_lost(seed: int) -> None:
    chance = Random(seed)
    claims, sessions = some_claims(chance), some_sessions(chance)
    found = counted(sessions, claims)

    fitting = [session for session in sessions if any(fits(session, claim) for claim in claims)]
    assert sum(found.values()) == len(fitting)
    assert found.keys() == {claim.id for claim in claims}
    order = ranked(claims)
    assert found == one_by_one(sessions, order)
    seats = assign_seats(Counter(claim_group(session, order) for session in sessions), order)
    for places, mine in seats.items():
        assert {place for place, number in mine.items() if number} <= set(places)
        for place, number in mine.items():
            if number and found[order[place].id] > order[place].count:
                assert all(found[order[other].id] >= order[other].count for other in places)


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_as_many_have_a_seat_as_can(seed: int) -> None:
    """Found in another way: each session alone, and others make room for it."""
    chance = Random(seed)
    order, sessions = ranked(some_claims(chance)), some_sessions(chance)
    holders: list[list[ClaimGroup]] = [[] for _ in order]

    def seat(places: ClaimGroup, asked: set[int]) -> bool:
        for place in places:
            if place in asked:
                continue
            asked.add(place)
            if len(holders[place]) < order[place].count:
                holders[place].append(places)
                return True
            for n, other in enumerate(holders[place]):
                if seat(other, asked):
                    holders[place][n] = places
                    return True
        return False

    most = sum(seat(claim_group(session, order), set()) for session in sessions)
    found = one_by_one(sessions, order)
    assert sum(min(found[claim.id], claim.count) for claim in order) == most


def test_others_move_on_for_those_that_are_left() -> None:
    """Also along a way of two, and several at once; whoever is left in the end goes to the first."""
    claims = [
        Claim(name, 0, 1, 9, count, Match(labels=((name, "x"),)))
        for name, count in (("a", 2), ("b", 2), ("c", 2), ("d", 1))
    ]
    kinds = {"ab": 2, "ad": 4, "bc": 2}
    sessions = [
        Session("", "n", 0, dict.fromkeys(labels, "x"))
        for labels, number in kinds.items()
        for _ in range(number)
    ]

    assert counted(sessions[:6], claims) == {"a": 3, "b": 2, "c": 0, "d": 1}
    assert counted(sessions, claims) == {"a": 3, "b": 2, "c": 2, "d": 1}


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_order_changes_nothing(seed: int) -> None:
    chance = Random(seed)
    claims, sessions = some_claims(chance), some_sessions(chance)
    before = counted(sessions, claims)
    chance.shuffle(claims)
    chance.shuffle(sessions)

    assert before == counted(sessions, claims)


def test_those_that_fit_the_fewest_come_first() -> None:
    """Or the narrow ones would find their only occurrence full."""
    any_, course = Claim("any", 0, 0, 9, 5, Match()), Claim("course", 0, 0, 9, 5, Match(labels=(("c", "x"),)))
    wide = [Session(f"w{n}", "a", 0, {"c": "x"}) for n in range(5)]
    narrow = [Session(f"n{n}", "a", 0) for n in range(5)]

    assert counted([*wide, *narrow], [any_, course]) == {"any": 5, "course": 5}


def test_without_claims_there_is_nothing_to_count() -> None:
    assert counted([Session("s", "a", 0)], []) == {}
    assert claim_group(Session("s", "a", 0), ()) == ()

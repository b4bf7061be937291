"""Occurrences that touch or overlap: who counts for which, and what the scaler makes of it.

The cases are computed by hand; random ones are compared with plainer definitions.
"""

from random import Random

import pytest
from berth.core.claims import (
    CompetingReservation,
    claim_group,
    competing_reservation,
    count_sessions,
    open_claims,
)
from berth.core.sessions import Claim, Match, Session, fits, ranked
from berth.core.target import counted_occurrences, pool_target, shared_sessions
from berth.core.timetable import Timetable, TimetableOccurrence, TimetablePool
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cases import Case
from tests.runtime.timetables import at
from tests.touching import CASES, scene

each_case = pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])


def attributed(timetable: Timetable, sessions: list[Session], now: int) -> dict[str, int]:
    (pool,) = timetable.pools
    counted = {pool.resource_class: pool.sessions} if pool.sessions else {}
    own = competing_reservation(timetable, counted, now)
    claims = ranked(open_claims([own], pool.resource_class, now).values())
    return count_sessions(sessions, claims)


@each_case
def test_the_target_is_as_computed_by_hand(case: Case) -> None:
    day = scene(case)
    timetable = day.timetable
    (pool,) = timetable.pools

    def held(now: int) -> int:
        counts = None if day.changes is None else attributed(timetable, day.sessions(now), now)
        return pool_target(timetable, pool, now, counts).replicas

    assert day.targets == {moment: held(at(moment)) for moment in day.targets}


@pytest.mark.parametrize("handover", [None, 0], ids=["absent", "zero"])
def test_without_a_handover_a_session_may_count_for_both_occurrences(handover: int | None) -> None:
    match = Match() if handover is None else Match(handover=handover)
    first, second = Claim("a", 0, 30, 150, 5, match), Claim("b", 120, 150, 270, 5, match)

    assert claim_group(Session("s", "a", 10), (first, second)) == (0, 1)


# Random windows: small whole numbers stand for seconds.

ROWS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 30), st.integers(1, 15), st.integers(1, 8)),
    min_size=1,
    max_size=4,
)
SESSIONS = st.lists(st.integers(0, 45), max_size=20).map(sorted)
POOLS = st.builds(
    lambda handover, overlap, carries_over: TimetablePool(
        "small",
        "course-small",
        "maintain",
        match=Match(handover=handover, carries_over=carries_over),
        overlap=overlap,
    ),
    st.integers(0, 12),
    st.sampled_from(["sum", "max"]),
    st.booleans(),
)

HANDING_OVER = TimetablePool("small", "course-small", "maintain", match=Match(handover=2))


def occurrences(rows: list[tuple[int, int, int, int]]) -> tuple[TimetableOccurrence, ...]:
    return tuple(
        TimetableOccurrence(f"course/{n}", start, start + lead, start + lead + length, (("small", count),))
        for n, (lead, start, length, count) in enumerate(rows)
    )


def claims_at(pool: TimetablePool, dated: tuple[TimetableOccurrence, ...], now: int) -> tuple[Claim, ...]:
    own = CompetingReservation("course", ((pool.resource_class, pool.match),), dated)
    return ranked(open_claims([own], pool.resource_class, now).values())


def present(came: list[int], now: int) -> list[Session]:
    return [Session(str(n), "a", created) for n, created in enumerate(came) if created <= now]


@given(POOLS, ROWS.map(occurrences), SESSIONS, st.integers(0, 60))
@example(HANDING_OVER, occurrences([(0, 14, 15, 1), (0, 29, 1, 1)]), [0], 30)  # both are over
@example(HANDING_OVER, occurrences([(0, 14, 15, 1), (0, 16, 15, 1), (0, 29, 1, 1)]), [0], 30)
@settings(max_examples=300)
def test_each_session_that_fits_an_open_claim_counts_once_unless_it_is_shared(
    pool: TimetablePool, dated: tuple[TimetableOccurrence, ...], came: list[int], now: int
) -> None:
    claims, sessions = claims_at(pool, dated, now), present(came, now)
    counts = count_sessions(sessions, claims)
    counted = counted_occurrences(dated, pool, now)
    is_open = any(not claim.is_over for claim in claims)

    assert sum(counts.values()) == (len(sessions) if is_open else 0)
    assert {name for name, number in counts.items() if number} <= {
        counted_occurrence.id for counted_occurrence in counted
    }
    shared = shared_sessions(pool, counted, counts)
    if not pool.match.carries_over and pool.overlap == "sum":
        assert shared == {
            counted_occurrence.id: counts[counted_occurrence.id] for counted_occurrence in counted
        }
    assert all(counts[name] <= number <= len(sessions) for name, number in shared.items())


@given(POOLS, ROWS.map(occurrences), SESSIONS, st.integers(0, 60), st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_the_order_of_sessions_and_occurrences_does_not_change_the_target(
    pool: TimetablePool, dated: tuple[TimetableOccurrence, ...], came: list[int], now: int, chance: Random
) -> None:
    claims, sessions = claims_at(pool, dated, now), present(came, now)

    mixed = tuple(chance.sample(dated, len(dated)))
    assert claims == claims_at(pool, mixed, now)
    assert count_sessions(sessions, claims) == count_sessions(chance.sample(sessions, len(sessions)), claims)
    timetables = [Timetable("course", False, (pool,), rows) for rows in (dated, mixed)]
    found = [
        pool_target(timetable, pool, now, count_sessions(sessions, claims)).replicas
        for timetable in timetables
    ]
    assert found[0] == found[1]


@given(POOLS, ROWS.map(occurrences), SESSIONS, st.integers(0, 60))
@settings(max_examples=300)
def test_a_handover_never_lowers_the_target(
    pool: TimetablePool, dated: tuple[TimetableOccurrence, ...], came: list[int], now: int
) -> None:
    """The formula of the pool, with today's sessions, is a floor."""
    pool = pool._replace(overlap="sum", match=Match(handover=pool.match.handover))
    plain = pool._replace(match=Match())
    sessions = present(came, now)
    seats, floor = (
        pool_target(
            Timetable("course", False, (each,), dated),
            each,
            now,
            count_sessions(sessions, claims_at(each, dated, now)),
        ).replicas
        for each in (pool, plain)
    )

    assert seats >= floor


@given(ROWS.map(occurrences), SESSIONS, st.integers(0, 60), st.integers(1, 12))
@settings(max_examples=300)
def test_a_claim_group_follows_the_two_rules_of_the_handover(
    dated: tuple[TimetableOccurrence, ...], came: list[int], now: int, handover: int
) -> None:
    """Word by word: an earlier one excludes a later one, and what is over counts only before an open one."""
    pool = TimetablePool("small", "course-small", "maintain", match=Match(handover=handover))
    claims = claims_at(pool, dated, now)
    for session in present(came, now):
        fitting = [claim for claim in claims if fits(session, claim)]
        expected = {
            claim.id
            for claim in fitting
            if not (session.created < claim.open and any(earlier.end <= claim.start for earlier in fitting))
            and not (
                claim.is_over and not any(claim.end <= later.start for later in fitting if not later.is_over)
            )
        }

        assert {claims[place].id for place in claim_group(session, claims)} == expected

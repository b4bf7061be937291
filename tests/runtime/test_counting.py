"""What counts for whom follows from who is there; a target waits where a session has left."""

from random import Random

import pytest
from berth.core.claims import count_sessions
from berth.core.sessions import Claim, Contest, Match, Recognition, Session, ranked
from berth.core.target import Stabilizer, desired_state
from berth.core.timetable import Timetable, parse_timetable
from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.claiming import one_by_one, some_claims, some_sessions
from tests.runtime.world import COURSE, at, timetable_text
from tests.seeds import seeds


@pytest.mark.parametrize("seed", seeds(60, 600))
def test_those_that_are_judged_together_count_as_one_by_one(seed: int) -> None:
    chance = Random(seed)
    claims, sessions = ranked(some_claims(chance)), some_sessions(chance)

    assert count_sessions(sessions, claims) == one_by_one(sessions, claims)


@pytest.mark.parametrize("seed", seeds(60, 600))
def test_a_contest_is_decided_for_each_session_as_if_it_were_alone(seed: int) -> None:
    """The claims of the other class have instants of their own."""
    chance = Random(seed)
    claims, others = ranked(some_claims(chance)), ranked(some_claims(chance))
    recognitions = {
        "small": Recognition("pods", ("a", "b")),
        "huge": Recognition("pods", ("a", "b", "c"), annotations=(("m", "x"),)),
    }
    contest = Contest("small", recognitions, {"small": claims, "huge": others})
    sessions = [
        session._replace(classes=chance.choice((("small",), ("small", "huge"))))
        for session in some_sessions(chance)
    ]
    ours = [session for session in sessions if contest.is_won(session)]

    assert count_sessions(sessions, claims, contest) == one_by_one(ours, claims)


def test_who_was_there_before_the_opening_is_told_apart() -> None:
    claim = Claim("any", 50, 60, 999, 2, Match(ignores_earlier=True))
    sessions = [Session("", "renku", created) for created in (49, 50, 51)]

    assert count_sessions(sessions, (claim,)) == {"any": 2}


SEATS = 25
MAINTAIN = parse_timetable(timetable_text(COURSE, behaviour="maintain"))


def settle(stabilizer: Stabilizer, now: float, sessions: int | None, timetable: Timetable = MAINTAIN) -> int:
    counts = None if sessions is None else {"course/1": sessions}
    desired = desired_state(timetable, timetable.pools[0], int(now), counts)
    return int(stabilizer.settle(desired, now, 30).target.replicas)


def test_a_session_that_left_raises_the_target_after_the_wait_and_one_that_comes_lowers_it_at_once() -> None:
    stabilizer, nine = Stabilizer(), at("09:00")
    looks = [(0, 5), (10, 3), (39, 3), (40, 3), (41, 9), (42, 8), (71, 8), (72, 8)]

    assert [settle(stabilizer, nine + second, sessions) for second, sessions in looks] == [
        20, 20, 20, 22, 16, 16, 16, 17,
    ]  # fmt: skip


def test_it_says_when_a_low_target_stops_to_hold() -> None:
    stabilizer, nine = Stabilizer(), at("09:00")
    settle(stabilizer, nine, 5)
    assert stabilizer.next_change(30) is None
    settle(stabilizer, nine + 10, 3)

    assert stabilizer.next_change(30) == nine + 40


MORE = MAINTAIN._replace(occurrences=(MAINTAIN.occurrences[0]._replace(seats=(("small", 60),)),))
NONE = MAINTAIN._replace(pools=(MAINTAIN.pools[0]._replace(behavior="none"),))


@pytest.mark.parametrize("edited", [pytest.param(MORE, id="edit"), pytest.param(NONE, id="behavior")])
def test_an_edit_raises_it_at_once(edited: Timetable) -> None:
    stabilizer, nine = Stabilizer(), at("09:00")
    before = settle(stabilizer, nine, 20)

    assert settle(stabilizer, nine + 1, None if edited.pools[0].behavior == "none" else 20, edited) > before


def test_sessions_that_cannot_be_read_raise_it_at_once() -> None:
    stabilizer, nine = Stabilizer(), at("09:00")
    settle(stabilizer, nine, 20)

    assert settle(stabilizer, nine + 1, None) == SEATS


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 30)), min_size=1, max_size=30))
def test_it_is_the_least_of_the_last_half_minute(
    steps: list[tuple[int, int]],
) -> None:
    stabilizer, now, seen = Stabilizer(), at("09:00"), list[tuple[int, int]]()
    for passed, sessions in steps:
        now = min(now + passed, at("09:50"))
        seen[-1:] = [(now, target) for _, target in seen[-1:]]
        seen = [(moment, target) for moment, target in seen if now - 30 < moment <= now]
        seen.append((now, max(SEATS - sessions, 0)))

        assert settle(stabilizer, now, sessions) == min(target for _, target in seen)

"""What a pool should have follows from its timetable, the instant and the sessions."""

import pytest
from berth.core.target import PoolTarget, open_now, pool_target
from berth.core.timetable import TimetablePool, parse_timetable

from tests.runtime.world import COURSE, NEXT, at, timetable_text

POOL = TimetablePool("small", "course-small", "none")
TIMETABLE = parse_timetable(timetable_text(COURSE))


def test_a_wish_names_the_occurrences_that_ask_for_it() -> None:
    timetable = parse_timetable(
        timetable_text(COURSE, NEXT, ("other", "09:00", "09:00", "11:00", {"huge": 1}), pools=TWO)
    )

    assert PoolTarget(POOL, 25, ("course/1", "course/2")) == pool_target(timetable, POOL, at("09:45"))


TWO = {"small": "course-small", "huge": "course-huge"}


def test_a_suspended_reservation_wishes_nothing() -> None:
    assert PoolTarget(POOL, 0, ()) == pool_target(
        parse_timetable(timetable_text(COURSE, suspend=True)), POOL, at("09:00")
    )


def test_a_pool_that_the_timetable_does_not_name_is_wished_empty() -> None:
    other = TimetablePool("small", "elsewhere", "none")

    assert PoolTarget(other, 0, ()) == pool_target(TIMETABLE, other, at("09:00"))


def test_a_pool_is_known_by_its_deployment() -> None:
    edited = POOL._replace(behavior="none")

    assert pool_target(TIMETABLE, edited, at("09:00")) == PoolTarget(edited, 25, ("course/1",))


BACK_TO_BACK = timetable_text(COURSE, NEXT, behaviour="maintain")


@pytest.mark.parametrize(
    ("active", "moment", "expected"),
    [
        pytest.param(25, "09:15", 0, id="all-seats-taken"),
        pytest.param(25, "09:45", 25, id="sessions-of-the-running-class-use-up-no-seat-of-the-next"),
        pytest.param(25, "10:00", 0, id="all-seats-of-the-next-taken"),
        pytest.param(5, "09:15", 20, id="some-seats-taken"),
        pytest.param(5, "09:45", 25, id="the-next-with-some-seats-taken-before"),
        pytest.param(5, "10:00", 20, id="some-seats-of-the-next-taken"),
    ],
)
def test_sessions_count_for_one_occurrence_only(active: int, moment: str, expected: int) -> None:
    """All of them for the one that ends first."""
    timetable, now = parse_timetable(BACK_TO_BACK), at(moment)
    sessions = dict.fromkeys((item.id for item in open_now(timetable.occurrences, now)), 0)
    sessions[next(iter(sessions))] = active

    assert pool_target(timetable, timetable.pools[0], now, sessions).replicas == expected


@pytest.mark.parametrize(
    ("behaviour", "sessions", "expected"),
    [
        ("maintain", {"course/1": 5}, 20),
        ("reduce", {"course/1": 5}, 10),
        ("none", {"course/1": 5}, 25),
        ("maintain", {"course/1": 60}, 0),
        ("maintain", {}, 25),
        ("reduce", {}, 25),
        ("reduce", None, 25),
        ("reduce", {"other/1": 5}, 25),
    ],
)
def test_what_is_not_known_is_full_count(
    behaviour: str, sessions: dict[str, int] | None, expected: int
) -> None:
    timetable = parse_timetable(timetable_text(COURSE, behaviour=behaviour))

    assert pool_target(timetable, timetable.pools[0], at("09:00"), sessions).replicas == expected


def test_an_override_counts_whatever_else() -> None:
    suspended = parse_timetable(timetable_text(COURSE, suspend=True))
    found = [pool_target(timetable, POOL, at("09:00"), None, 60) for timetable in (TIMETABLE, suspended)]

    assert found == [PoolTarget(POOL, 60, ("course/1",), None, 60), PoolTarget(POOL, 60, (), None, 60)]


def test_a_pool_that_the_timetable_does_not_name_has_no_override() -> None:
    other = TimetablePool("small", "elsewhere", "none")

    assert pool_target(TIMETABLE, other, at("09:00"), None, 60) == PoolTarget(other, 0, ())

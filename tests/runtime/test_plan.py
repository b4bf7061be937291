"""Each change has a reason that a person can check against the timetable."""

import pytest
from berth.core.target import (
    DesiredState,
    PoolTarget,
    ReplicaChange,
    desired_state,
    open_now,
    pool_target,
    replica_change,
)
from berth.core.timetable import Timetable, TimetablePool, parse_timetable

from tests.runtime.world import COURSE, NEXT, at, timetable_text

POOL = TimetablePool("small", "course-small", "none")
TIMETABLE = parse_timetable(timetable_text(COURSE))
SMALLER = parse_timetable(timetable_text((*COURSE[:4], {"small": 20})))


def settled(moment: str, timetable: Timetable = TIMETABLE) -> DesiredState:
    return desired_state(timetable, POOL, at(moment))


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


@pytest.mark.parametrize(
    ("found", "moment", "before", "expected"),
    [
        pytest.param(25, "08:00", None, None, id="in-order-at-first-sight"),
        pytest.param(0, "07:30", None, ReplicaChange("opened", ("course/1",)), id="first-look-at-an-opening"),
        pytest.param(
            7, "08:00", None, ReplicaChange("found at 7", ("course/1",)), id="first-look-in-the-middle"
        ),
        pytest.param(7, "10:00", None, ReplicaChange("closed", ()), id="first-look-after-the-end"),
        pytest.param(0, "07:30", settled("07:29"), ReplicaChange("opened", ("course/1",)), id="opens"),
        pytest.param(25, "10:00", settled("09:59"), ReplicaChange("closed", ("course/1",)), id="closes"),
        pytest.param(
            0,
            "08:00",
            settled("07:59"),
            ReplicaChange("reset by somebody to 0", ("course/1",)),
            id="reset",
        ),
        pytest.param(
            7,
            "11:00",
            settled("10:30"),
            ReplicaChange("reset by somebody to 7", ()),
            id="raised-at-rest",
        ),
        pytest.param(
            20,
            "08:00",
            settled("07:59", SMALLER),
            ReplicaChange("timetable edited", ("course/1",)),
            id="edited",
        ),
        pytest.param(
            20,
            "10:00",
            settled("09:59", SMALLER),
            ReplicaChange("closed", ("course/1",)),
            id="edited-and-over",
        ),
    ],
)
def test_what_is_done_and_why(
    found: int, moment: str, before: DesiredState | None, expected: ReplicaChange | None
) -> None:
    now = at(moment)

    assert expected == replica_change(found, desired_state(TIMETABLE, POOL, now), before)


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


REDUCE = parse_timetable(timetable_text(COURSE, behaviour="reduce"))


def of(
    moment: str, sessions: int | None = 5, override: int | None = None, timetable: Timetable = REDUCE
) -> DesiredState:
    counts = None if sessions is None else {"course/1": sessions}
    return desired_state(timetable, timetable.pools[0], at(moment), counts, override)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        pytest.param(of("08:30"), of("08:30", 6), "6 sessions, 5 before", id="one-more-session"),
        pytest.param(of("08:30"), of("08:30", None), "sessions are unknown", id="nobody-knows"),
        pytest.param(of("08:30", None), of("08:30"), "5 sessions", id="somebody-knows-again"),
        pytest.param(of("08:30"), of("09:00"), "less time is left", id="time-passes"),
        pytest.param(of("08:30"), of("08:30", 5, 60), "override to 60", id="override"),
        pytest.param(of("08:30", 5, 60), of("08:30"), "override is over", id="override-over"),
        pytest.param(of("08:30", 5, 60), of("08:30", 5, 50), "override to 50", id="another-override"),
        pytest.param(of("07:00", 5), of("07:30", 5, 60), "override to 60", id="override-at-the-opening"),
        pytest.param(of("09:30"), of("10:00"), "closed", id="over"),
        pytest.param(None, of("08:30", 5, 60), "override to 60", id="override-at-first-sight"),
    ],
)
def test_why_a_pool_moves(before: DesiredState | None, after: DesiredState, reason: str) -> None:
    found = before.target.replicas if before else 0
    todo = replica_change(found, after, before)

    assert todo is not None
    assert todo.reason == reason


def test_one_of_two_that_ends_is_named() -> None:
    overlapping = parse_timetable(
        timetable_text(COURSE, ("course/x", "08:30", "09:00", "11:00", {"small": 5}))
    )
    now = at("10:00")

    todo = replica_change(30, desired_state(overlapping, POOL, now), settled("09:59", overlapping))

    assert ReplicaChange("closed", ("course/1",)) == todo

"""Each change has a reason that a person can check against the timetable."""

import pytest

from gen.runtime.plan import Aim, Change, Wish, aim_at, change, wish
from gen.runtime.target import open_now
from gen.runtime.timetable import Pool, Timetable, parse
from tests.runtime.world import COURSE, NEXT, at, timetable_text

POOL = Pool("small", "course-small", "none")
TIMETABLE = parse(timetable_text(COURSE))
SMALLER = parse(timetable_text((*COURSE[:4], {"small": 20})))


def settled(moment: str, timetable: Timetable = TIMETABLE) -> Aim:
    return aim_at(timetable, POOL, at(moment))


def test_a_wish_names_the_occurrences_that_ask_for_it() -> None:
    timetable = parse(
        timetable_text(COURSE, NEXT, ("other", "09:00", "09:00", "11:00", {"huge": 1}), pools=TWO)
    )

    assert Wish(POOL, 25, ("course/1", "course/2")) == wish(timetable, POOL, at("09:45"))


TWO = {"small": "course-small", "huge": "course-huge"}


def test_a_suspended_reservation_wishes_nothing() -> None:
    assert Wish(POOL, 0, ()) == wish(parse(timetable_text(COURSE, suspend=True)), POOL, at("09:00"))


def test_a_pool_that_the_timetable_does_not_name_is_wished_empty() -> None:
    other = Pool("small", "elsewhere", "none")

    assert Wish(other, 0, ()) == wish(TIMETABLE, other, at("09:00"))


def test_a_pool_is_known_by_its_deployment() -> None:
    edited = POOL._replace(behaviour="none")

    assert wish(TIMETABLE, edited, at("09:00")) == Wish(edited, 25, ("course/1",))


@pytest.mark.parametrize(
    ("found", "moment", "before", "expected"),
    [
        pytest.param(25, "08:00", None, None, id="in-order-at-first-sight"),
        pytest.param(0, "07:30", None, Change(0, 25, "opened", ("course/1",)), id="first-look-at-an-opening"),
        pytest.param(
            7, "08:00", None, Change(7, 25, "found at 7", ("course/1",)), id="first-look-in-the-middle"
        ),
        pytest.param(7, "10:00", None, Change(7, 0, "closed", ()), id="first-look-after-the-end"),
        pytest.param(0, "07:30", settled("07:29"), Change(0, 25, "opened", ("course/1",)), id="opens"),
        pytest.param(25, "10:00", settled("09:59"), Change(25, 0, "closed", ("course/1",)), id="closes"),
        pytest.param(
            0, "08:00", settled("07:59"), Change(0, 25, "reset by somebody to 0", ("course/1",)), id="reset"
        ),
        pytest.param(
            7, "11:00", settled("10:30"), Change(7, 0, "reset by somebody to 7", ()), id="raised-at-rest"
        ),
        pytest.param(
            20,
            "08:00",
            settled("07:59", SMALLER),
            Change(20, 25, "timetable edited", ("course/1",)),
            id="edited",
        ),
        pytest.param(
            20,
            "10:00",
            settled("09:59", SMALLER),
            Change(20, 0, "closed", ("course/1",)),
            id="edited-and-over",
        ),
    ],
)
def test_what_is_done_and_why(found: int, moment: str, before: Aim | None, expected: Change | None) -> None:
    now = at(moment)

    assert expected == change(found, aim_at(TIMETABLE, POOL, now), before)


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
    timetable, now = parse(BACK_TO_BACK), at(moment)
    sessions = dict.fromkeys((item.id for item in open_now(timetable.occurrences, now)), 0)
    sessions[next(iter(sessions))] = active

    assert wish(timetable, timetable.pools[0], now, sessions).replicas == expected


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
    timetable = parse(timetable_text(COURSE, behaviour=behaviour))

    assert wish(timetable, timetable.pools[0], at("09:00"), sessions).replicas == expected


def test_an_override_counts_whatever_else() -> None:
    suspended = parse(timetable_text(COURSE, suspend=True))
    found = [wish(timetable, POOL, at("09:00"), None, 60) for timetable in (TIMETABLE, suspended)]

    assert found == [Wish(POOL, 60, ("course/1",), None, 60), Wish(POOL, 60, (), None, 60)]


def test_a_pool_that_the_timetable_does_not_name_has_no_override() -> None:
    other = Pool("small", "elsewhere", "none")

    assert wish(TIMETABLE, other, at("09:00"), None, 60) == Wish(other, 0, ())


REDUCE = parse(timetable_text(COURSE, behaviour="reduce"))


def of(
    moment: str, sessions: int | None = 5, override: int | None = None, timetable: Timetable = REDUCE
) -> Aim:
    counts = None if sessions is None else {"course/1": sessions}
    return aim_at(timetable, timetable.pools[0], at(moment), counts, override)


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
def test_why_a_pool_moves(before: Aim | None, after: Aim, reason: str) -> None:
    found = before.wish.replicas if before else 0
    todo = change(found, after, before)

    assert todo is not None
    assert (todo.before, todo.after, todo.reason) == (found, after.wish.replicas, reason)


def test_one_of_two_that_ends_is_named() -> None:
    overlapping = parse(timetable_text(COURSE, ("course/x", "08:30", "09:00", "11:00", {"small": 5})))
    now = at("10:00")

    todo = change(30, aim_at(overlapping, POOL, now), settled("09:59", overlapping))

    assert Change(30, 5, "closed", ("course/1",)) == todo

"""Each change has a reason that a person can check against the timetable."""

import pytest

from gen.runtime.plan import Aim, Change, Wish, aim_at, change, wish
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


def test_one_of_two_that_ends_is_named() -> None:
    overlapping = parse(timetable_text(COURSE, ("course/x", "08:30", "09:00", "11:00", {"small": 5})))
    now = at("10:00")

    todo = change(30, aim_at(overlapping, POOL, now), settled("09:59", overlapping))

    assert Change(30, 5, "closed", ("course/1",)) == todo

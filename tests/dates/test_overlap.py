"""Entries of one reservation that meet: overlapping windows and equal ids."""

import pytest
from berth.dates.recurrence import expand
from berth.schema.reservationspec import ReservationSpec
from berth.schema.values import Entry, Move

from tests.cases import entry, extra, move, recurrence, reservation, told
from tests.saying import finding

MARCH = "2026-03-02/2026-03-29"


def overlap(at: str, hours: str, other: str, day: str = "2026-01-01") -> str:
    return finding(f"B031 {at}", hours, *other.split(" / "), day, "small")


def moved_overlap(index: int, when: str, other: str) -> str:
    return finding(f"B031 moved.{index}", when, *other.split(" / "), "small")


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (
            [entry("09:00-13:00"), entry("12:00-15:00")],
            [overlap("schedule.1", "12:00-15:00", "schedule[0] / 09:00-13:00")],
        ),
        (
            [entry("12:00-24:00"), entry("09:00-13:00")],
            [overlap("schedule.1", "09:00-13:00", "schedule[0] / 12:00-24:00")],
        ),
        ([entry("09:00-10:00", end_day=1)], [overlap("schedule.0", "09:00-10:00", "", "2026-01-02")]),
        ([entry("09:00-12:00"), entry("12:00-15:00")], []),
        ([entry("09:00-09:00", end_day=1)], []),
        ([entry("09:00-13:00"), entry("12:00-15:00", seats=(("huge", 1),))], []),
        (
            [entry("09:00-20:00"), entry("10:00-11:00"), entry("19:00-21:00")],
            [
                overlap("schedule.1", "10:00-11:00", "schedule[0] / 09:00-20:00"),
                overlap("schedule.2", "19:00-21:00", "schedule[0] / 09:00-20:00"),
            ],
        ),
    ],
    ids=[
        "two",
        "other-order",
        "itself",
        "back-to-back",
        "back-to-back-with-itself",
        "other-class",
        "long-one",
    ],
)
def test_overlapping_entries_are_reported_once_with_their_first_date(
    schedule: list[Entry], expected: list[str]
) -> None:
    when = recurrence("daily", "UTC", days="2026-01-01/2026-01-31")._replace(schedule=tuple(schedule))

    assert expected == told(expand(reservation(when, lead=60), {}))


def test_entries_may_overlap_if_their_seats_do_not_add_up() -> None:
    when = recurrence("daily", "UTC", days="2026-01-01/2026-01-31")
    meeting = when._replace(schedule=(entry("09:00-13:00"), entry("12:00-15:00")))

    spec = ReservationSpec.model_validate({"provisioning": {"overlap": "max"}})

    assert told(expand(reservation(meeting)._replace(spec=spec), {})) == []


def test_an_overlap_of_a_moved_or_extra_occurrence_is_reported_with_its_date() -> None:
    when = recurrence(
        "weekly",
        "UTC",
        entry("09:00-10:00", 1),
        entry("09:00-10:00", 3),
        days=MARCH,
        moves=(move("2026-03-04", "2026-03-23", at="09:30"),),
        extras=(extra("2026-03-16", "09:30-11:00"),),
    )

    assert [
        overlap("extra.0", "09:30-11:00", "schedule[0] / 09:00-10:00", "2026-03-16"),
        moved_overlap(0, "Mon 2026-03-23 09:30-10:30", "schedule[0] / 09:00-10:00"),
    ] == told(expand(reservation(when), {}))


def test_two_entries_with_the_same_start_are_reported_once() -> None:
    when = recurrence(
        "daily", "UTC", entry("09:00-10:00"), entry("09:00-12:00"), days="2026-01-01/2026-12-31"
    )

    assert [one for one in told(expand(reservation(when), {})) if not one.startswith("B031")] == [
        finding("B049 schedule.1.startTime", "2026-01-01 09:00", "schedule[0]", "09:00-10:00")
    ]


def test_a_short_moved_window_does_not_hide_the_overlap_of_a_long_window() -> None:
    """A short one that moved into a long one does not hide it from what comes later."""
    when = recurrence(
        "weekly",
        "UTC",
        entry("09:00-20:00", 1),
        entry("19:00-21:00", 1),
        days="2026-03-02/2026-03-09",
        moves=(move("2026-03-09", "2026-03-02", "09:00", at="10:00", end="11:00"),),
    )

    assert told(expand(reservation(when), {})) == [
        moved_overlap(0, "Mon 2026-03-02 10:00-11:00", "schedule[0] / 09:00-20:00"),
        overlap("schedule.1", "19:00-21:00", "schedule[0] / 09:00-20:00", "2026-03-02"),
    ]


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        (
            (
                move("2026-03-02", "2026-03-10", "09:00", at="09:00"),
                move("2026-03-09", "2026-03-10", "09:00", at="09:30"),
            ),
            [moved_overlap(1, "Tue 2026-03-10 09:30-10:30", "moved[0] / Tue 2026-03-10 09:00-10:00")],
        ),
        (
            (
                move("2026-03-09", "2026-03-10", "09:00", at="09:30"),
                move("2026-03-02", "2026-03-10", "09:00", at="09:00"),
            ),
            [moved_overlap(1, "Tue 2026-03-10 09:00-10:00", "moved[0] / Tue 2026-03-10 09:30-10:30")],
        ),
        (
            (move("2026-03-02", "2026-03-02", "09:00", end="11:00"),),
            [moved_overlap(0, "Mon 2026-03-02 09:00-11:00", "schedule[1] / 10:00-11:00")],
        ),
        ((move("2026-03-02", "2026-03-02", "09:00")._replace(seats=(("small", 9),)),), []),
    ],
    ids=["two-moved", "other-order", "extended", "other-seats"],
)
def test_a_moved_occurrence_that_overlaps_is_reported_at_its_own_place(
    moves: tuple[Move, ...], expected: list[str]
) -> None:
    when = recurrence(
        "weekly", "UTC", entry("09:00-10:00", 1), entry("10:00-11:00", 1), days=MARCH, moves=moves
    )
    assert told(expand(reservation(when), {})) == expected


def test_a_moved_date_that_overlaps_like_its_schedule_is_reported_once() -> None:
    when = recurrence(
        "weekly",
        "UTC",
        entry("09:00-11:00", 1),
        entry("10:00-12:00", 1),
        days=MARCH,
        moves=(move("2026-03-02", "2026-03-02", "10:00", at="10:30"),),
    )
    assert told(expand(reservation(when), {})) == [
        overlap("schedule.1", "10:00-12:00", "schedule[0] / 09:00-11:00", "2026-03-09")
    ]

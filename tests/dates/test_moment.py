"""Instants as people write and read them."""

from datetime import UTC, datetime, timedelta
from itertools import product

from berth.dates.moments import (
    day_span,
    hours_text,
    local_day,
    local_text,
    named,
    near_span_text,
    near_text,
    read,
    span_text,
)

from tests.cases import tabled

ZURICH, UTC_ZONE = named("Europe/Zurich"), named("UTC")


def at(text: str) -> int:
    """Seconds of an instant in UTC, by the standard library."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@tabled("dates")
def test_an_instant_is_read_with_an_offset_or_on_the_clock_of_the_zone(text: str, expected: str) -> None:
    assert read(text, ZURICH) == at(expected)


def test_local_times_of_the_first_and_last_year_are_read() -> None:
    for text in ("0001-01-01", "0001-01-01 00:00", "9999-12-31", "9999-12-31 23:59"):
        for name in ("Europe/Zurich", "UTC", "Pacific/Kiritimati", "Pacific/Midway"):
            assert isinstance(read(text, named(name)), int)


@tabled("dates")
def test_any_other_text_gives_none(text: str) -> None:
    assert read(text, ZURICH) is None


def test_every_offset_is_subtracted_from_the_time() -> None:
    for hours, minutes, sign in product(range(24), (0, 1, 30, 59), "+-"):
        ahead = timedelta(hours=hours, minutes=minutes) * (1 if sign == "+" else -1)
        expected = at("2026-02-02T12:00") - int(ahead.total_seconds())

        assert read(f"2026-02-02T12:00{sign}{hours:02}:{minutes:02}", ZURICH) == expected


def test_a_day_spans_23_to_25_hours() -> None:
    assert day_span("2026-02-02", ZURICH) == (at("2026-02-01T23:00"), at("2026-02-02T23:00"))
    assert day_span("2026-03-29", ZURICH) == (at("2026-03-28T23:00"), at("2026-03-29T22:00"))
    assert day_span("2026-10-25", ZURICH) == (at("2026-10-24T22:00"), at("2026-10-25T23:00"))


def test_an_instant_is_shown_on_the_clock_of_the_zone() -> None:
    assert local_text(at("2026-02-02T08:00"), ZURICH) == "Mon 2026-02-02 09:00"
    assert local_text(at("2026-02-01T23:30"), ZURICH) == "Mon 2026-02-02 00:30"
    assert local_text(at("2026-02-01T23:30"), UTC_ZONE) == "Sun 2026-02-01 23:30"


@tabled("dates")
def test_the_end_of_a_span_is_shown_in_its_shortest_form(start: str, end: str, expected: str) -> None:
    assert span_text(at(start), at(end), ZURICH) == expected


def test_an_instant_near_a_day_is_shown_without_its_date() -> None:
    day = local_day(at("2026-02-02T12:00"), UTC_ZONE)

    assert near_text(at("2026-02-02T07:30"), UTC_ZONE, day) == "07:30"
    assert near_text(at("2026-02-01T07:30"), UTC_ZONE, day) == "Sun 07:30"
    assert near_text(at("2026-01-26T07:30"), UTC_ZONE, day) == "Mon 2026-01-26 07:30"
    assert near_span_text(at("2026-02-02T07:30"), at("2026-02-02T08:00"), UTC_ZONE, day) == "07:30-08:00"
    assert near_span_text(at("2026-02-03T07:30"), at("2026-02-03T08:00"), UTC_ZONE, day) == "Tue 07:30-08:00"
    assert (
        near_span_text(at("2026-02-01T23:30"), at("2026-02-02T08:00"), UTC_ZONE, day)
        == "Sun 23:30 to Mon 08:00"
    )


@tabled("dates")
def test_hours_have_at_most_two_decimal_places(seconds: int, expected: str) -> None:
    assert hours_text(seconds) == expected

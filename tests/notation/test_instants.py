"""Instants and dates on the command line, as they are written by name or relative to now."""

import pytest
from berth.dates.moments import local_text, named, read
from berth.dates.zone import number
from berth.notation.days import day
from berth.notation.instants import instant, next_time, week_of
from berth.notation.refusal import Refusal
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import tabled
from tests.notation.refused import refused

ZURICH = named("Europe/Zurich")
THURSDAY = read("2026-03-26 10:15", ZURICH)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("now", "Thu 2026-03-26 10:15"),
        ("+90m", "Thu 2026-03-26 11:45"),
        ("-2h", "Thu 2026-03-26 08:15"),
        ("+7d", "Thu 2026-04-02 11:15"),  # whole days of 24 hours, over a change of the clocks
        ("-1w", "Thu 2026-03-19 10:15"),
        ("today", "Thu 2026-03-26 00:00"),
        ("yesterday", "Wed 2026-03-25 00:00"),
        ("tomorrow 09:00", "Fri 2026-03-27 09:00"),
        ("thursday", "Thu 2026-03-26 00:00"),
        ("Wed", "Wed 2026-04-01 00:00"),
        ("monday 09:00", "Mon 2026-03-30 09:00"),
        ("2026-02-02 09:00", "Mon 2026-02-02 09:00"),
        ("2026-02-02T08:00:00Z", "Mon 2026-02-02 09:00"),
        ("2000-01-01", "Sat 2000-01-01 00:00"),
        ("2099-12-31 23:59", "Thu 2099-12-31 23:59"),
    ],
    ids=lambda value: value.replace(" ", "-"),
)
def test_instants_are_absolute_or_relative(text: str, found: str) -> None:
    assert THURSDAY is not None

    assert local_text(instant(text, ZURICH, THURSDAY), ZURICH) == found


@tabled("notation")
def test_a_time_of_day_is_the_next_such_time(text: str, found: str) -> None:
    assert THURSDAY is not None
    at = next_time(text, ZURICH, THURSDAY)

    assert at is not None
    assert local_text(at, ZURICH) == found


@pytest.mark.parametrize("text", ["", "24:01", "today 04:51", "+2h"])
def test_other_texts_are_not_a_time_of_day(text: str) -> None:
    assert THURSDAY is not None
    assert next_time(text, ZURICH, THURSDAY) is None


def test_an_ambiguous_hour_is_refused_with_both_times() -> None:
    assert THURSDAY is not None
    assert refused(next_time, "4:51", ZURICH, THURSDAY).endswith("Write 04:51 or 16:51.")


@tabled("notation")
def test_a_malformed_instant_is_refused_as_a_date_or_as_a_time(text: str, code: str) -> None:
    assert THURSDAY is not None
    with pytest.raises(Refusal) as refused:
        instant(text, ZURICH, THURSDAY)

    assert refused.value.code == code


@given(st.integers(0, 40_000), st.sampled_from(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]))
def test_a_weekday_is_today_or_the_next_such_day(today: int, word: str) -> None:
    found = day(word, today)

    assert 0 <= number(found) - today < 7
    assert f"{found:%a}".lower() == word


@pytest.mark.parametrize(
    ("at", "first", "end"),
    [
        ("2026-03-26 10:15", "Mon 2026-03-23 00:00", "Mon 2026-03-30 00:00"),  # clocks change on Sunday
        ("2026-03-23 00:00", "Mon 2026-03-23 00:00", "Mon 2026-03-30 00:00"),
        ("2026-03-29 23:59", "Mon 2026-03-23 00:00", "Mon 2026-03-30 00:00"),
        ("2026-03-29T22:00:00Z", "Mon 2026-03-30 00:00", "Mon 2026-04-06 00:00"),
    ],
    ids=["thursday", "its-first-minute", "its-last-minute", "monday-in-the-zone"],
)
def test_a_week_begins_on_monday(at: str, first: str, end: str) -> None:
    moment = read(at, ZURICH)

    assert moment is not None
    assert tuple(local_text(one, ZURICH) for one in week_of(moment, ZURICH)) == (first, end)

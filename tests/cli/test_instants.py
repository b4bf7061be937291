"""Instants and dates on the command line, as they are written by name or relative to now."""

import pytest
from berth.cli.instants import next_time, parse_day, parse_instant, week_of
from berth.dates.moments import local_day, local_text, named, read
from berth.dates.zone import DAY, day_of
from hypothesis import given
from hypothesis import strategies as st

from tests.answer import Berth

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
    ],
    ids=lambda value: value.replace(" ", "-"),
)
def test_instants_are_absolute_or_relative(text: str, found: str) -> None:
    assert THURSDAY is not None
    instant = parse_instant(text, ZURICH, THURSDAY)

    assert instant is not None
    assert local_text(instant, ZURICH) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10:16", "Thu 2026-03-26 10:16"),
        ("10:15", "Fri 2026-03-27 10:15"),
        ("04:51", "Fri 2026-03-27 04:51"),
    ],
)
def test_a_time_of_day_is_the_next_one(text: str, found: str) -> None:
    assert THURSDAY is not None
    instant = next_time(text, ZURICH, THURSDAY)

    assert instant is not None
    assert local_text(instant, ZURICH) == found


@pytest.mark.parametrize("text", ["", "4:51", "24:01", "04:51:00", "today 04:51", "0451", "+2h"])
def test_other_texts_are_no_time_of_day(text: str) -> None:
    assert THURSDAY is not None
    assert next_time(text, ZURICH, THURSDAY) is None


@pytest.mark.parametrize(
    "text", ["", "2h", "+0h", "+2", "+2y", "now 09:00", "mo", "monday 25:00", "+2h 09:00"]
)
def test_other_texts_are_no_instants(text: str) -> None:
    assert THURSDAY is not None
    assert parse_instant(text, ZURICH, THURSDAY) is None


@given(st.integers(0, 40_000), st.sampled_from(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]))
def test_a_weekday_is_the_next_one_or_today(today: int, word: str) -> None:
    found = parse_day(word, today)

    assert found is not None
    midnight = read(found, named("UTC"))
    assert midnight is not None
    assert 0 <= local_day(midnight, named("UTC")) - today < 7
    assert f"{day_of(local_day(midnight, named('UTC')) * DAY):%a}".lower() == word


@pytest.mark.parametrize(
    "words",
    [
        ("skip", "course", "tomorrow"),
        ("skip", "course", "monday 09:00"),
        ("move", "course", "mon", "--to", "Thu"),
        ("extend", "course", "tomorrow", "--until", "Tomorrow 14:00"),
        ("extend", "night", "Saturday", "--until", "07:00"),
        ("set", "course", "--on", "tomorrow", "--seats", "30"),
    ],
    ids=["skip", "skip-at", "move", "extend", "extend-night", "set"],
)
def test_edits_take_days_by_name(berth: Berth, words: tuple[str, ...]) -> None:
    """Today is the day in the site's time zone: in UTC it is the day before."""
    code, out, err = berth(*words, "--now", "2026-01-31T23:30:00Z")

    assert (code, err) == (0, "")
    assert "2026-02-02" in out or "2026-02-07" in out


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
    instant = read(at, ZURICH)

    assert instant is not None
    assert tuple(local_text(one, ZURICH) for one in week_of(instant, ZURICH)) == (first, end)

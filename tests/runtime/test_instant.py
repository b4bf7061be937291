"""Instants are the whole seconds that the standard library computes, and have one text form."""

from datetime import UTC, datetime, timedelta

import pytest
from berth.core.jsonvalues import DAY, instant_text, parse_instant


@pytest.mark.parametrize("step", [29, pytest.param(1, marks=pytest.mark.long)])
def test_instants_match_the_standard_library_for_every_day_of_two_centuries(step: int) -> None:
    first = datetime(1899, 1, 1, 7, 30, 5, tzinfo=UTC)
    base = int(first.timestamp())

    for day in range(0, 366 * 202, step):
        seconds = base + day * DAY
        text = (first + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")

        assert (text, seconds) == (instant_text(seconds), parse_instant(text))


def test_every_second_of_a_day_survives_a_round_trip_through_text() -> None:
    midnight = parse_instant("2026-02-02T00:00:00Z")

    for second in range(midnight, midnight + DAY):
        assert second == parse_instant(instant_text(second))


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"])
def test_years_from_1_to_9999_survive_a_round_trip_through_text(text: str) -> None:
    assert text == instant_text(parse_instant(text))


OTHERS = (
    ",2026-02-02,2026-02-02T07:30:00,2026-02-02T07:30:00z,2026-02-02 07:30:00Z,2026-02-02T07:30Z,"
    "2026-02-02T07:30:00+00:00,2026-02-02T07:30:00.0Z,2026-02-02T07:30:00Z ,2026-02-30T07:30:00Z,"
    "2025-02-29T07:30:00Z,2026-13-01T07:30:00Z,2026-00-01T07:30:00Z,2026-02-02T24:00:00Z,"
    "2026-02-02T07:60:00Z,2026-02-02T-7:30:00Z,2026-02-02T0_7:30:00Z,2026-02-\u0660\u0662T07:30:00Z,"
    "26-02-02T07:30:00Z,noon"
)


@pytest.mark.parametrize("text", OTHERS.split(","))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an instant such as 2026-02-02T07:30:00Z"):
        parse_instant(text)

"""Durations in Go's notation."""

from fractions import Fraction

import pytest
from berth.durations import exact_seconds, format_minutes, nanoseconds, whole_seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1h30m", 5_400 * 10**9),
        ("1.5h", 5_400 * 10**9),
        ("1.h", 3_600 * 10**9),
        (".5s", 5 * 10**8),
        ("-2m", -120 * 10**9),
        ("+1us", 1_000),
        ("2µs", 2_000),
        ("0.4ns0.7ns", 0),
    ],
)
def test_nanoseconds_match_go(text: str, expected: int) -> None:
    assert nanoseconds(text) == expected


@pytest.mark.parametrize("text", ["", "1", "1d", "h", "1h 2m", "--1s", "2562048h"])
def test_durations_that_go_refuses_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Go's time.Duration|not a duration"):
        nanoseconds(text)


def test_seconds_are_exact_and_have_no_limit() -> None:
    assert exact_seconds("0.4ns") == Fraction(4, 10**10)
    assert exact_seconds("2562048h") == 2562048 * 3600
    assert exact_seconds("-1.5m") == -90
    assert whole_seconds("720h0m1.9s") == 720 * 3600 + 1


@pytest.mark.parametrize(("minutes", "expected"), [(0, "0m"), (30, "30m"), (120, "2h"), (510, "8h30m")])
def test_minutes_are_formatted_for_a_budget(minutes: int, expected: str) -> None:
    assert format_minutes(minutes) == expected

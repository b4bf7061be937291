"""Where the axes of a chart have marks, and where its labels find room."""

from itertools import pairwise

import pytest
from berth.charts.drawing import LinePanel, TimeAxis, scale, spread
from berth.core.jsonvalues import instant_text
from hypothesis import given
from hypothesis import strategies as st

from tests.charts.charts import MORNING, SESSIONS, TARGET, line, span


def ticks(where: TimeAxis, most: int) -> list[str]:
    return [text for _, text in where.ticks(most)]


@pytest.mark.parametrize(
    ("where", "most", "expected"),
    [
        (MORNING, 8, ["09:00", "10:00", "11:00", "12:00", "13:00"]),
        (MORNING, 3, ["10:00", "12:00"]),
        (MORNING, 1, ["12:00"]),
        (span("10:00", "10:00", "10:20"), 5, ["10:00", "10:05", "10:10", "10:15", "10:20"]),
        (span("10:00", "10:00", "10:01"), 9, ["10:00", "10:01"]),
        (
            span("2026-03-06 16:00", "2026-03-06 17:00", "2026-03-08 12:00"),
            9,
            ["18:00", "Sat", "06:00", "12:00", "18:00", "Sun", "06:00", "12:00"],
        ),
        (
            span("2026-03-02 00:00", "2026-03-02 00:00", "2026-03-30 00:00"),
            5,
            ["03-05", "03-12", "03-19", "03-26"],
        ),
        (span("2026-01-01 00:00", "2026-01-01 00:00", "2026-12-31 00:00"), 3, ["05-07", "09-24"]),
    ],
    ids=["hours", "few", "one", "minutes", "a-minute", "weekend", "weeks", "a-year"],
)
def test_ticks_are_round_times_and_no_more_than_asked_for(
    where: TimeAxis, most: int, expected: list[str]
) -> None:
    assert ticks(where, most) == expected
    assert len(expected) <= most


def test_ticks_are_times_of_the_zone_also_where_clocks_change() -> None:
    """02:00 is skipped; 02:00 comes twice and is shown once."""
    spring = span("2026-03-29 00:00", "2026-03-29 00:00", "2026-03-29 05:00", "Europe/Zurich")
    autumn = span("2026-10-25 00:00", "2026-10-25 00:00", "2026-10-25 05:00", "Europe/Zurich")

    assert ticks(spring, 9) == ["00:00", "01:00", "03:00", "04:00", "05:00"]
    assert ticks(autumn, 9) == ["00:00", "01:00", "02:00", "03:00", "04:00", "05:00"]
    assert [instant_text(at)[11:16] for at, _ in autumn.ticks(9)] == [
        "22:00",
        "23:00",
        "00:00",
        "02:00",
        "03:00",
        "04:00",
    ]


def test_an_opening_without_lead_is_the_start() -> None:
    assert [text for _, text in MORNING.marks()] == ["opens", "starts", "ends"]
    assert [text for _, text in span("09:00", "09:00", "10:00").marks()] == ["starts", "ends"]


@pytest.mark.parametrize(
    ("top", "most", "expected"), [(1, 4, 1), (4, 4, 1), (5, 4, 2), (25, 16, 2), (200, 16, 20), (201, 4, 100)]
)
def test_a_scale_is_the_least_round_number_that_fits(top: int, most: int, expected: int) -> None:
    assert scale(top, most) == expected


def test_the_top_of_a_panel_is_the_highest_of_all_lines_and_of_the_seats() -> None:
    assert LinePanel("", 3, (SESSIONS, TARGET)).top == 25
    assert LinePanel("", 30, (SESSIONS, TARGET)).top == 30
    assert LinePanel("", 0, (line("target", "08:30=0"),)).top == 1


def test_a_label_tells_the_last_value_before() -> None:
    assert TARGET.label(MORNING.end) == "target 10"
    assert TARGET.label(MORNING.open) == "target 0"


@given(st.lists(st.floats(0, 100), max_size=5).map(sorted), st.integers(1, 20))
def test_labels_keep_their_order_and_distance_and_room(wanted: list[float], apart: int) -> None:
    places = spread(wanted, apart, 100)

    assert len(places) == len(wanted)
    assert all(after - before > apart - 1e-9 for before, after in pairwise(places))
    assert all(place <= 100 for place in places)
    assert places[:1] >= [0.0] * len(places[:1])


def test_labels_that_have_room_stay_where_they_are() -> None:
    assert spread([0, 5, 9], 4, 10) == [0, 5, 9]
    assert spread([0, 5, 6], 4, 20) == [0, 5, 9]
    assert spread([10, 10, 10, 10], 1, 10) == [7, 8, 9, 10]

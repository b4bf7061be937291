"""Times of day and spans of them, as people write them."""

import pytest
from berth.notation.refusal import taken
from berth.notation.times import TimeSpan, end_time, split_spans, start_time, time_span

from tests.cases import tabled
from tests.notation.refused import refused


def test_every_minute_of_the_day_is_read_and_only_an_end_can_be_24_00() -> None:
    for minute in range(1440):
        text = f"{minute // 60:02}:{minute % 60:02}"
        assert minute == start_time(text) == end_time(text)
    assert end_time("24:00") == 1440
    assert refused(start_time, "24:00") == (
        "B018 24:00 can end a window, not start one. Write 00:00 of the next day."
    )


@tabled("notation")
def test_a_malformed_time_is_refused_with_what_to_write(text: str, fix: str) -> None:
    assert refused(start_time, text) == f'B018 "{text}" is not a time of day. {fix}'
    assert refused(end_time, text) == f'B018 "{text}" is not a time of day. {fix}'


@pytest.mark.parametrize("text", ["25:00", "12:60", "24:01"])
def test_a_time_out_of_range_is_refused_with_the_last_valid_time(text: str) -> None:
    refusal = f'B018 "{text}" is not a time of day. Write a time from 00:00 to'
    assert refused(start_time, text) == f"{refusal} 23:59."
    assert refused(end_time, text) == f"{refusal} 24:00."


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("09:00-13:00", TimeSpan(540, 780)),
        ("22:00-02:00", TimeSpan(1320, 120)),
        ("09:00 - 24:00", TimeSpan(540, 1440)),
    ],
)
def test_a_span_has_a_start_and_an_end(text: str, span: TimeSpan) -> None:
    assert time_span(text) == span


@pytest.mark.parametrize("text", ["", "09:00", "09:00-", "-13:00", "09:00-13:00-14:00", "24:00-25:00"])
def test_a_malformed_span_is_refused(text: str) -> None:
    assert refused(time_span, text).startswith("B018")


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("09:00 - 24:00", ("09:00-24:00",)),
        ("09:00-11:00, 13:00-14:00", ("09:00-11:00", "13:00-14:00")),
        ("regular=09:00-11:00 late=14:00-16:00", ("regular=09:00-11:00", "late=14:00-16:00")),
        ("regular = 9-11, late: 14-16", ("regular=09:00-11:00", "late=14:00-16:00")),
        ("9am to 11am and 2pm to 4pm", ("09:00-11:00", "14:00-16:00")),
    ],
    ids=["span-with-spaces", "commas", "names", "names-in-words", "words"],
)
def test_a_list_of_spans_is_split(text: str, spans: tuple[str, ...]) -> None:
    assert taken(lambda: split_spans(text)) == spans


@pytest.mark.parametrize(
    "text", ["", "09:00-11:00 25:00-26:00", "half-past-nine to eleven", "9-11 and so on"]
)
def test_a_malformed_list_of_spans_is_refused(text: str) -> None:
    assert refused(split_spans, text).startswith("B018")

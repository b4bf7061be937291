"""Weekdays and week numbers, as people write them."""

import pytest
from berth.notation.weekdays import DAY_NAMES, WEEKDAYS, weekday, weekdays, weeks
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import tabled
from tests.notation.refused import refused

MON, TUE, WED, THU, FRI, SAT, SUN = range(1, 8)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mon", (MON,)),
        ("Tuesday", (TUE,)),
        ("3", (WED,)),
        ("mon - fri", (MON, TUE, WED, THU, FRI)),
        ("Monday to Friday", (MON, TUE, WED, THU, FRI)),
        ("sun-sun", (SUN,)),
        ("tue and thu", (TUE, THU)),
        ("fri,mon-tue, mon", (MON, TUE, FRI)),
        ("1-5", (MON, TUE, WED, THU, FRI)),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_a_list_may_have_ranges(text: str, days: tuple[int, ...]) -> None:
    assert weekdays(text) == days


@tabled("notation")
def test_a_malformed_list_of_weekdays_is_refused_with_what_to_write(text: str, message: str) -> None:
    assert refused(weekdays, text) == message


@given(
    st.lists(st.integers(1, 7), min_size=1), st.sampled_from([WEEKDAYS, DAY_NAMES]), st.sampled_from(",;/ &+")
)
def test_a_list_of_weekdays_is_sorted_without_duplicates(
    days: list[int], names: tuple[str, ...], separator: str
) -> None:
    assert weekdays(separator.join(names[day - 1] for day in days)) == tuple(sorted({*days}))


@given(st.text(st.sampled_from("monday tuewed-,.;0123456789"), max_size=12))
def test_every_part_of_an_accepted_text_is_read(text: str) -> None:
    """Whatever is accepted is made of weekdays: no prefix counts for the whole."""
    try:
        days = weekdays(text)
    except ValueError:
        return
    parts = text.lower().replace("..", "-").replace(";", ",").replace("-", ",").replace(" ", ",").split(",")
    named = {weekday(part) for part in parts if part not in ("", "to", "and")}
    assert named <= {*days}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("odd", tuple(range(1, 54, 2))),
        ("Even", tuple(range(2, 53, 2))),
        ("6-8,10", (6, 7, 8, 10)),
        ("53", (53,)),
    ],
)
def test_weeks_are_odd_even_or_numbers(text: str, numbers: tuple[int, ...]) -> None:
    assert weeks(text) == numbers


@tabled("notation")
def test_malformed_weeks_are_refused(text: str, code: str) -> None:
    assert refused(weeks, text).startswith(code)

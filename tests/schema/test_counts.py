"""The one grammar of a number of seats."""

import pytest
from berth.edit.seatcounts import parse_counts
from berth.schema.counts import MOST_SEATS, meant_counts, parse_count
from berth.schema.documentproblems import Refusal
from hypothesis import given
from hypothesis import strategies as st

SEPARATORS = ",.' \u2019\u00a0\u202f"
NUMBERS = st.integers(1, MOST_SEATS)


def refused(text: str) -> str:
    with pytest.raises(Refusal) as caught:
        parse_count(text)
    return caught.value.code


@given(NUMBERS, st.sampled_from(SEPARATORS))
def test_a_number_is_read_with_and_without_separators(number: int, separator: str) -> None:
    assert parse_count(f"\u00a0{number} ") == number
    assert parse_count(f"{number:,}".replace(",", separator)) == number


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0", "B012"),
        ("-5", "B012"),
        ("\u22125", "B012"),
        ("12000000", "B012"),
        ("", "B013"),
        ("~60", "B013"),
        ("25-30", "B013"),
        ("60 (max 80)", "B013"),
        ("1,20", "B013"),
        ("1,200.000", "B013"),
        ("0,200", "B013"),
        ("6.5", "B013"),
        ("\u0666\u0660", "B013"),
        ("9" * 500, "B013"),
    ],
    ids=ascii,
)
def test_texts_that_are_no_valid_count_are_refused(text: str, code: str) -> None:
    assert refused(text) == code


@pytest.mark.parametrize(("text", "meant"), [("95.0", ["95"]), ("95.5", []), ("95,0", []), ("1.00", [])])
def test_a_whole_number_of_a_spreadsheet_is_suggested(text: str, meant: list[str]) -> None:
    assert [*meant_counts(text)] == meant


@given(NUMBERS, st.text(min_size=1, max_size=3), st.booleans())
def test_a_number_inside_of_other_text_is_not_read(number: int, more: str, is_before: bool) -> None:
    """A text that has more than a number is another number, with separators, or refused."""
    text = f"{more}{number}" if is_before else f"{number}{more}"
    digits = "".join(c for c in text if c in "0123456789")
    try:
        count = parse_count(text)
    except Refusal:
        return
    assert (count, {*text.strip()} <= {*"0123456789", *SEPARATORS}) == (int(digits), True)


def test_the_option_seats_reads_counts_as_a_file_does() -> None:
    assert parse_counts("small=1200,gpu=10") == {"small": 1200, "gpu": 10}
    assert parse_counts("small=1,200,gpu=10-12") == {"small": 1200, "gpu": 12}
    for text in ("0", "60 (max 80)", "small=1,gpu=", "1,2", "small=1,2", "5,small=1", "a=1,a=2"):
        with pytest.raises(Refusal):
            parse_counts(text)

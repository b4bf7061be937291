"""Tables on terminals and in Markdown."""

import pytest
from berth.output import table
from berth.output.table import ELLIPSIS, Fit, cut_at_word, width
from hypothesis import given
from hypothesis import strategies as st

HEADINGS = ("name", "seats", "cluster", "note")
ROWS = [
    ("data-science-101", "40 student, 2 spare-node", "prod", "not synced, other code"),
    ("lab", "5 small", "hub", ""),
]
FIT = Fit(None, cut=("seats", "note"), spare=("cluster",), names=("name",))


def test_columns_line_up_by_what_a_terminal_shows() -> None:
    answer = table.text(("name", "seats"), [("kurs", "5"), ("授業", "12"), ("e\u0301cole", "7")])

    assert answer == "NAME   SEATS\nkurs   5\n授業   12\ne\u0301cole  7\n"


def test_markdown_escapes_what_would_break_its_cells() -> None:
    assert table.markdown(("name",), [("a|b<i>",)]) == "| name |\n| --- |\n| a\\|b\\<i\\> |\n"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (80, ["data-science-101  40 student, 2 spare-node  prod     not synced, other code"]),
        (57, ["data-science-101  40 student\u2026  prod     not synced\u2026"]),
        (43, ["data-science-101  40 student\u2026  not synced\u2026"]),
        (34, ["data\u2026  40 student\u2026  not synced\u2026"]),
        (27, ["data\u2026  40 student\u2026  not\u2026"]),
        (1, ["data\u2026  40 student\u2026  not\u2026"]),
    ],
    ids=["fits", "cut", "without-a-column", "names-too", "shortest", "too-narrow"],
)
def test_a_table_for_a_narrow_terminal_ends_cells_at_words(columns: int, expected: list[str]) -> None:
    answer = table.text(HEADINGS, ROWS, FIT._replace(columns=columns))

    assert answer.splitlines()[1:2] == expected


def test_a_number_stays_with_what_it_counts() -> None:
    assert cut_at_word("3 nodes of workbench", 11) == f"3 nodes of{ELLIPSIS}"
    assert cut_at_word("3 nodes of workbench", 1) == f"3 nodes{ELLIPSIS}"
    assert cut_at_word("25 small", 1) == "25 small"
    assert cut_at_word("2026-02-02", 5) == "2026-02-02"


words = st.text("ab1-", min_size=1, max_size=6)
cells = st.lists(words, max_size=5).map(" ".join)
tables = st.lists(st.tuples(words, cells, words, cells), max_size=4)


@given(tables, st.integers(1, 60))
def test_what_is_shown_is_whole_or_says_that_there_is_more(rows: list[tuple[str, ...]], columns: int) -> None:
    """A cell is as it is, or its beginning up to the end of a word; and no line is cut without need."""
    wide = table.text(HEADINGS, rows)
    narrow = table.text(HEADINGS, rows, FIT._replace(columns=columns))

    if max(map(width, wide.splitlines())) <= columns:
        assert narrow == wide
    assert max(map(width, narrow.splitlines())) <= max(map(width, wide.splitlines()))
    for row in rows:
        for cell in row:
            for most in range(1, 20):
                shown = cut_at_word(cell, most)
                beginning = shown.removesuffix(ELLIPSIS)
                assert cell.startswith(beginning)
                assert shown == cell or cell[len(beginning)] in " -"


@given(tables, st.integers(20, 60))
def test_a_table_fits_where_its_shortest_form_does(rows: list[tuple[str, ...]], columns: int) -> None:
    shortest = table.text(HEADINGS, rows, FIT._replace(columns=1))
    narrow = table.text(HEADINGS, rows, FIT._replace(columns=columns))

    if max(map(width, shortest.splitlines())) <= columns:
        assert max(map(width, narrow.splitlines())) <= columns

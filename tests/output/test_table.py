"""Tables on terminals and in Markdown."""

from berth.output import table
from berth.output.table import Fit, cell_lines, width, wrapped
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import tabled

HEADINGS = ("name", "seats", "cluster", "note")
ROWS = [
    ("data-science-101", "40 student, 2 spare-node", "prod", "not synced, other code"),
    ("lab", "5 small", "hub", ""),
]
FIT = Fit(None, breaks=("seats", "note"))


def test_columns_are_aligned_by_display_width() -> None:
    answer = table.text(("name", "seats"), [("kurs", "5"), ("授業", "12"), ("e\u0301cole", "7")])

    assert answer == "NAME   SEATS\nkurs   5\n授業   12\ne\u0301cole  7\n"


def test_markdown_escapes_characters_that_would_break_cells() -> None:
    assert table.markdown(("name",), [("a|b<i>",)]) == "| name |\n| --- |\n| a\\|b&lt;i&gt; |\n"


@tabled("output")
def test_a_table_for_a_narrow_terminal_breaks_cells_and_then_rows(columns: int, expected: list[str]) -> None:
    answer = table.text(HEADINGS, ROWS, FIT._replace(columns=columns)).splitlines()

    first = next(i for i, line in enumerate(answer) if line.startswith("data-science-101"))
    assert answer[first : first + len(expected)] == expected
    assert answer[first + len(expected)].startswith("lab")


def test_a_number_is_not_separated_from_its_noun() -> None:
    assert cell_lines("3 nodes of workbench", 11) == ["3 nodes of", "workbench"]
    assert cell_lines("3 nodes of workbench", 1) == ["3 nodes", "of", "workbench"]
    assert cell_lines("25 small", 1) == ["25 small"]
    assert cell_lines("2026-02-02", 5) == ["2026-02-02"]


words = st.text("ab1-", min_size=1, max_size=6)
cells = st.lists(words, max_size=5).map(" ".join)
tables = st.lists(st.tuples(words, cells, words, cells), max_size=4)


@given(tables, st.integers(1, 60))
def test_a_narrow_table_keeps_all_text_and_breaks_only_long_lines(
    rows: list[tuple[str, ...]], columns: int
) -> None:
    wide = table.text(HEADINGS, rows)
    narrow = table.text(HEADINGS, rows, FIT._replace(columns=columns))

    if max(map(width, wide.splitlines())) <= columns:
        assert narrow == wide
    assert sorted("".join(narrow.split())) == sorted("".join(wide.split()))


@given(tables, st.integers(20, 60))
def test_a_table_fits_if_its_narrowest_form_fits(rows: list[tuple[str, ...]], columns: int) -> None:
    shortest = table.text(HEADINGS, rows, FIT._replace(columns=1))
    narrow = table.text(HEADINGS, rows, FIT._replace(columns=columns))

    if max(map(width, shortest.splitlines())) <= columns:
        assert max(map(width, narrow.splitlines())) <= columns


def test_text_breaks_at_words_and_colors_have_no_width() -> None:
    assert wrapped("one two three", 7, 2) == "one two\n  three"
    assert wrapped("\x1b[31mone\x1b[0m two three", 7) == "\x1b[31mone\x1b[0m two\nthree"
    assert wrapped("a/very/long/path x", 5) == "a/very/long/path\nx"
    assert wrapped("one two\n", None) == "one two\n"


@given(cells, st.integers(1, 40), st.integers(0, 6))
def test_text_is_broken_only_between_words(text: str, columns: int, indent: int) -> None:
    lines = wrapped(text, columns, indent).split("\n")
    assert " ".join([lines[0], *(line.strip() for line in lines[1:])]) == text
    assert all(width(line) <= columns or len(line.split()) <= 1 for line in lines)

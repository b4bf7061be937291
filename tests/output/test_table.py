"""Tables on terminals and in Markdown."""

from berth.output import table


def test_columns_line_up_by_what_a_terminal_shows() -> None:
    answer = table.text(("name", "seats"), [("kurs", "5"), ("授業", "12"), ("e\u0301cole", "7")])

    assert answer == "NAME   SEATS\nkurs   5\n授業   12\ne\u0301cole  7\n"


def test_markdown_escapes_what_would_break_its_cells() -> None:
    assert table.markdown(("name",), [("a|b<i>",)]) == "| name |\n| --- |\n| a\\|b\\<i\\> |\n"

"""docs/time.md shows the table of the time rule as computed. To update it: python -m tests.refresh"""

from tests import timetable_rows
from tests.pages import text_of


def test_the_table_on_the_page_is_what_the_code_computes() -> None:
    page = text_of(timetable_rows.PAGE)

    assert timetable_rows.text() in page
    assert timetable_rows.refreshed(page) == page

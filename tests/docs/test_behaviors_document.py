"""docs/renku.md says correctly where the formula differs from Renku's."""

import pytest
from berth.core.target import placeholders

from tests.pages import text_of

TEXT = " ".join(text_of("docs/renku.md").split())


@pytest.mark.parametrize(
    ("spare", "before_end", "theirs", "ours", "words"),
    [
        (20, 210, 23, 20, "20 placeholders become 23 with 30 minutes of lead"),
        (20, 360, 40, 20, "and 40 with 180. Here they are 20."),
        (5, 90, 2, 3, "2.5 placeholders are 3, not 2."),
    ],
    ids=["lead-of-30", "lead-of-180", "half"],
)
def test_the_page_states_where_the_formula_differs_from_renku(
    spare: int, before_end: int, theirs: int, ours: int, words: str
) -> None:
    """For a course of three hours, in minutes. Renku's formula is one line of Python."""
    assert theirs == round(spare * before_end / 180)
    assert ours == placeholders("reduce", spare, 0, (-180, 0, 180), 180 - before_end)
    assert words in TEXT

"""An occurrence in several rows is compared with git row by row."""

from berth.core.timetable import parse_timetable
from berth.live.expected import timetable_difference

from tests.leading import CASES, part_of


def test_a_row_that_differs_is_one_occurrence_that_differs() -> None:
    _, text = part_of(CASES[0])
    git = parse_timetable(text)
    later = parse_timetable(text.replace('"open": "2026-02-02T08:30:00Z"', '"open": "2026-02-02T08:45:00Z"'))
    shuffled = git._replace(occurrences=git.occurrences[::-1])

    assert timetable_difference(git, later) == "1 occurrence differs"
    assert timetable_difference(git, shuffled) == ""

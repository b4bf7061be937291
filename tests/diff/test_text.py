"""A change on a terminal: colors, width, manifests, and texts that would do something to it."""

from berth.diff.change import Change, FieldChange, OccurrenceChanges, ReservationChange, SideSummary
from berth.diff.difftext import TextStyle, as_text

from tests.diff.conftest import Pair

NO_DATES = OccurrenceChanges((), (), (), 0)
NARROW, PLAIN = 40, TextStyle(color=False, columns=None)


def change(title: str) -> Change:
    fields = (FieldChange("owner", "before", title),)
    reservation_change = ReservationChange(
        "a", "a", "changed", title, "UTC", ("prod",), fields, NO_DATES, (3600, 3600)
    )
    return Change(
        SideSummary("main", (), True), SideSummary("here", (), True), (reservation_change,), (), (), ()
    )


WHOLE = """\
1 reservation changed
main -> here

~ a: {0} [prod]
~   owner: before -> {0}
    seat-hours: 1
"""


def test_texts_of_authors_do_not_control_a_terminal() -> None:
    shown = as_text(change("x\x1b[31m\u202e\nDate: now"), "UTC", PLAIN, wide=False)
    assert shown == WHOLE.format("x\\x1b[31m\\u202e\\nDate: now")


def test_long_lines_are_broken_between_words_and_indented() -> None:
    shown = as_text(change("one two three four five six seven"), "UTC", TextStyle(False, NARROW), wide=False)
    assert shown == (
        "1 reservation changed\nmain -> here\n\n"
        "~ a: one two three four five six seven\n      [prod]\n"
        "~   owner: before -> one two three four\n        five six seven\n"
        "    seat-hours: 1\n"
    )


def test_colors_enclose_whole_lines() -> None:
    shown = as_text(change("x"), "UTC", TextStyle(True, None), wide=False)
    assert shown == (
        "\x1b[1m1 reservation changed\x1b[0m\nmain -> here\n\n"
        "\x1b[33m~ a: x [prod]\x1b[0m\n\x1b[33m~   owner: before -> x\x1b[0m\n    seat-hours: 1\n"
    )


def test_wide_output_shows_the_lines_of_the_manifests(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    lines = pair.diff("-o", "wide").out.splitlines()
    at = lines.index("    ConfigMap course (+2 -2)")
    assert lines[at - 1] == "~ clusters/prod/reservations/course.yaml: ~ConfigMap"
    assert lines[at + 1].startswith("@     -")
    old = [line for line in lines if line.startswith("-     ")]
    new = [line for line in lines if line.startswith("+     ")]
    assert (len(old), len(new)) == (2, 2)
    assert [line[1:].replace('"small": 25', '"small": 30') for line in old] == [line[1:] for line in new]

"""How far a long run is."""

from io import StringIO
from itertools import count

from gen.command.progress import watched

ITEMS = ["course", "night", "rest"]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_each_second_and_wiped_at_the_end() -> None:
    clock, terminal = count(0, 0.75), Terminal()

    assert list(watched(ITEMS, 3, terminal, lambda: next(clock))) == ITEMS
    assert terminal.getvalue() == "\r1 of 3 reservations\r\x1b[K"


def test_short_work_is_done_in_silence() -> None:
    clock, terminal = count(0, 0.25), Terminal()

    assert list(watched(ITEMS, 3, terminal, lambda: next(clock))) == ITEMS
    assert terminal.getvalue() == ""


def test_what_is_no_terminal_is_never_told() -> None:
    clock, file = count(0, 100), StringIO()

    assert list(watched(ITEMS, 3, file, lambda: next(clock))) == ITEMS
    assert list(watched(ITEMS, 3)) == ITEMS
    assert file.getvalue() == ""


def test_work_that_is_given_up_leaves_a_clean_line() -> None:
    clock, terminal = count(0, 100), Terminal()
    items = watched(ITEMS, 3, terminal, lambda: next(clock))

    next(items)
    items.close()

    assert terminal.getvalue() == "\r0 of 3 reservations\r\x1b[K"

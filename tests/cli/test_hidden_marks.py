"""No command lets a title turn a terminal around: marks of direction are shown as what they are."""

from pathlib import Path

import pytest

from tests.answer import Berth

MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
ESCAPED = "".join(f"\\u{ord(mark):04x}" for mark in MARKS)


@pytest.mark.parametrize(
    "command",
    [
        ("set", "course", "--seats", "30"),
        ("skip", "course", "2026-02-24"),
        ("skip", "course", "2026-02-24", "--title", "{title}"),
        ("copy", "course", "again", "--from", "2027-02-01", "--until", "2027-03-01"),
        (
            *("new", "more", "09:00-10:00", "--dates", "2026-06-01", "--class", "small", "--seats", "2"),
            *("--behavior", "none", "--title", "{title}"),
        ),
        ("delete", "course"),
        ("list", "-o", "wide"),
        ("occurrences", "course", "-o", "wide"),
        ("validate",),
    ],
    ids=lambda command: command[0],
)
def test_a_command_escapes_marks_of_direction(berth: Berth, folder: Path, command: tuple[str, ...]) -> None:
    course = folder / "reservations/course.yaml"
    text = course.read_text("utf-8")
    title = f"  title: Course {MARKS} txt\n"
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("  title:")]
    course.write_text("".join(lines).replace("spec:\n", f"spec:\n{title}", 1), "utf-8")
    told = berth(*(word.format(title=f"x{MARKS}") for word in command), "--now", "2026-02-01")

    assert told.code == 0, told.err
    assert not {*MARKS} & {*told.out, *told.err}
    if command[0] in ("set", "new", "list", "delete"):
        assert ESCAPED in told.out

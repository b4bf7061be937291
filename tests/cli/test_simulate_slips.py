"""What `berth simulate` cannot follow is told in one line, with what to do."""

from pathlib import Path

import pytest

from tests.answer import Berth


@pytest.mark.usefixtures("evening")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nope", 'No reservation is named "nope". There are course, evening, night, rest.'),
        ("course --class smal", 'No class is named "smal". Did you mean small?'),
        ("course --class bench", "course has no occurrence with seats of class bench."),
        (
            "evening --on 2026-02-07T22:00 --class seat",
            "evening/2026-02-07T22:00 has no seats of class seat; it has desk.",
        ),
        (
            "evening --on 2026-02-07",
            "evening has 3 occurrences on 2026-02-07: evening/2026-02-07T18:00, evening/2026-02-07T20:00, "
            "evening/2026-02-07T22:00. Name one by its id.",
        ),
        (
            "course --on 2026-02-09",
            'course has no occurrence "2026-02-09" (skipped: except). The next is course/2026-02-23T09:00.',
        ),
        (
            "course --on course/2026-02-16T09:00",
            'course has no occurrence "course/2026-02-16T09:00" (skipped: calendar holidays: Carnival). '
            "The next is course/2026-02-23T09:00.",
        ),
        (
            "course --on monday",
            'course has no occurrence "monday". The first is course/2026-02-02T09:00.',
        ),
        (
            "course --on 2027-02-02",
            'course has no occurrence "2027-02-02". The first is course/2026-02-02T09:00.',
        ),
        (
            "course --on 2026-02-02 --sessions 09:00+3,10:00-4",
            '--sessions: "10:00-4": 4 leave, but only 3 are there. Let no more leave than came.',
        ),
        (
            "evening --on 2026-02-07T18:00 --sessions 18:00+3",
            '--sessions: "18:00+3" names no class of seat, desk. '
            "Write 08:55+10 seat, or choose one by --class.",
        ),
        (
            "course --sessions none.csv",
            "--sessions none.csv: No such file or directory. Name a file, or write 08:55+10,11:00-3.",
        ),
        ("course --sessions binary", "--sessions binary: the file is not UTF-8 text."),
        ("course --sessions large", "--sessions large: the file is larger than 1 MiB."),
        (
            "course --on 2026-02-02 --sessions late.csv",
            'late.csv:3: "14:00,-1" is not before the end, Mon 2026-02-02 13:00. Leave it out.',
        ),
    ],
    ids=[
        "reservation",
        "class",
        "no-seats-ever",
        "no-seats-then",
        "several-on-a-date",
        "skipped-date",
        "skipped-id",
        "no-date",
        "after-all",
        "sessions",
        "class-of-sessions",
        "no-file",
        "binary",
        "large",
        "line-of-a-file",
    ],
)
def test_a_slip_is_told_with_what_to_do(berth: Berth, folder: Path, arguments: str, message: str) -> None:
    (folder / "binary").write_bytes(b"\xff\xfe")
    (folder / "large").write_bytes(b"#" * (1 << 20) + b"\n")
    (folder / "late.csv").write_text("time,change\n09:00,2\n14:00,-1\n")

    assert berth("simulate", *arguments.split()) == (2, "", f"berth: {message}\n")


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("placeholderCount: 25", "placeholderCount: -1", id="value"),
        pytest.param("resourceClass: small", "resourceClass: smal", id="reference"),
        pytest.param("type: weekly", "type: [", id="yaml"),
    ],
)
def test_an_error_of_the_reservation_is_a_finding(
    berth: Berth, folder: Path, form: str, before: str, after: str
) -> None:
    path = folder / "reservations/course.yaml"
    path.write_text(path.read_text("utf-8").replace(before, after), "utf-8")

    assert berth("simulate", "course", "-o", form) == berth("occurrences", "course", "-o", form)
    assert berth("simulate", "course", "-o", form).code == 1

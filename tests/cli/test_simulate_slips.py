"""What `berth simulate` cannot follow is told in one line, with what to do."""

from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project


@pytest.mark.usefixtures("evening")
@tabled("cli")
def test_a_usage_error_says_what_to_do(arguments: str, message: str, berth: Berth, folder: Path) -> None:
    (folder / "binary").write_bytes(b"\xff\xfe")
    (folder / "large").write_bytes(b"#" * (1 << 20) + b"\n")
    (folder / "late.csv").write_text("time,change\n09:00,2\n14:00,-1\n")

    assert berth("simulate", *arguments.split()) == (2, "", f"berth: {message}\n")


@pytest.mark.parametrize("form", ["text", "json"])
@tabled("cli")
def test_simulate_reports_errors_of_the_reservation_like_occurrences(
    before: str, after: str, berth: Berth, folder: Path, form: str
) -> None:
    project.change(folder, "course", before, after)

    assert berth("simulate", "course", "-o", form) == berth("occurrences", "course", "-o", form)
    assert berth("simulate", "course", "-o", form).code == 1

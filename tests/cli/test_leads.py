"""What commands tell of a course whose classes open one after the other and whose entries differ."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth import cli

from tests.leading import CASES, declarations


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Mondays and Fridays 09:00 to 11:00 UTC: 8 gpu 90 minutes and 20 small 30 minutes before."""
    (tmp_path / "reservations").mkdir()
    (tmp_path / "reservations" / "all.yaml").write_text(declarations(CASES[0]), encoding="utf-8")
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> list[dict[str, Any]]:
    assert cli.run(["-C", str(folder), *words, "-o", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["items"]
    return found


def test_an_occurrence_opens_with_its_first_class(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("occurrences", "--from", "2026-02-01")
    monday, friday = answer(capsys, folder, *asked)
    (small,) = answer(capsys, folder, *asked, "--class", "small", "--until", "2026-02-03")

    opens = {"gpu": "2026-02-02T07:30:00Z", "small": "2026-02-02T08:30:00Z"}
    assert (monday["open"], monday["opens"]) == (opens["gpu"], opens)
    assert friday["seats"] == {"gpu": 8, "small": 20}
    assert (small["open"], small["seats"]) == (opens["small"], {"small": 20})
    assert "opens" not in small


def test_seat_hours_count_each_class_from_its_opening(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two dates: 8 seats for 3.5 hours and 20 for 2.5."""
    (one,) = answer(capsys, folder, "list")
    (small,) = answer(capsys, folder, "list", "--class", "small", "--now", "2026-02-01T00:00:00Z")

    assert (one["occurrences"], one["seatHours"]) == (2, 2 * (8 * 3.5 + 20 * 2.5))
    assert (small["seatHours"], small["next"]) == (100, "2026-02-02T08:30:00Z")


@pytest.mark.parametrize(
    ("day", "behavior", "halfway"), [("02", "maintain", 16), ("06", "reduce", 8)], ids=["monday", "friday"]
)
def test_a_simulation_follows_the_behavior_of_its_date(
    folder: Path, capsys: pytest.CaptureFixture[str], day: str, behavior: str, halfway: int
) -> None:
    date = f"2026-02-{day}"
    words = ("--on", date, "--class", "small", "--sessions", "10:00+4")
    steps = answer(capsys, folder, "simulate", "course", *words)

    assert {step["behavior"] for step in steps} == {behavior}
    assert (steps[0]["at"], steps[0]["target"]) == (f"{date}T08:30:00Z", 20)
    targets = {step["at"]: step["target"] for step in steps}
    last = max(at for at in targets if at <= f"{date}T10:00:00Z")
    assert targets[last] == halfway

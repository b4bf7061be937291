"""Editing a reservation with the dates of machines: single dates are refused, and all else can be set."""

from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import clouds

REFUSED = [
    ("skip", "sprint", "2026-02-02"),
    ("move", "sprint", "2026-02-02", "--to", "2026-02-03"),
    ("move", "sprint", "2026-02-02", "--end", "2026-02-05 14:00"),
    ("end", "sprint", "2026-02-03"),
    ("add", "sprint", "2026-02-09", "09:00-12:00"),
    ("add", "sprint", "2026-02-09"),
    ("rehearse", "sprint", "2026-02-02"),
    ("set", "sprint", "--on", "2026-02-02", "--seats", "5"),
]


@pytest.fixture
def block(folder: Path) -> Path:
    return clouds.write_block(folder) / "reservations/sprint.yaml"


@pytest.mark.parametrize("words", REFUSED, ids=[" ".join(words[:1] + words[3:4]) for words in REFUSED])
def test_edits_of_single_dates_are_refused_and_name_the_cloudcapacity(
    berth: Berth, block: Path, words: tuple[str, ...]
) -> None:
    code, out, err = berth(*words)

    assert (code, out) == (2, "")
    assert "CloudCapacity general" in err
    assert "berth set sprint suspend=true" in err
    assert block.read_text("utf-8") == clouds.OF_BLOCK


def test_set_changes_suspend_lead_time_and_seats(berth: Berth, block: Path) -> None:
    assert berth("set", "sprint", "suspend=true", "leadTimeMinutes=45", "--seats", "5").code == 0
    assert "suspend: true" in block.read_text("utf-8")


@pytest.mark.usefixtures("block")
def test_a_start_date_gets_the_finding_b016_at_its_field(berth: Berth) -> None:
    code, _, err = berth("set", "sprint", "startDate=2026-02-02")

    assert (code, "error[B016] spec.recurrence.startDate" in err) == (1, True)


def test_a_copy_is_refused_because_it_needs_its_own_cloudcapacity(berth: Berth, block: Path) -> None:
    code, _, err = berth("copy", "sprint", "again", "--from", "2027-02-01", "--until", "2027-03-01")

    assert (code, "CloudCapacity general" in err) == (2, True)
    assert not block.with_name("again.yaml").exists()

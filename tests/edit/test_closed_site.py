"""`berth skip` and `move` where a calendar closes the whole site."""

from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cases import tabled
from tests.edit.trip import changed

CLOSED = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: closure}
spec:
  closes: true
  dates: [2026-03-09, {date: 2026-03-20, from: "12:00", title: Power cut}, 2026-03-26]
"""


@pytest.fixture
def closed(trip: Path, folder: Path) -> Path:
    (folder / "reservations/closure.yaml").write_text(CLOSED, "utf-8")
    return trip


@tabled("edit")
def test_skip_changes_nothing_on_a_date_when_the_site_is_closed(
    which: list[str], reason: str, berth: Berth, closed: Path
) -> None:
    told = berth("skip", "trip", *which)

    assert told.code == 0
    assert f"nothing is left to skip on {' '.join(which)} ({reason})" in told.out
    assert changed(closed) == ([], [])


def test_a_moved_occurrence_on_a_closed_date_is_found_by_either_date(berth: Berth, closed: Path) -> None:
    closed.write_text(closed.read_text("utf-8").replace("to: {date: 2026-03-16", "to: {date: 2026-03-26"))

    for day in ("2026-03-30", "2026-03-26"):
        assert "nothing is left to skip" in berth("skip", "trip", day).out


@tabled("edit")
def test_changing_the_end_of_a_left_out_occurrence_gets_the_finding_b045(
    words: list[str], berth: Berth, closed: Path
) -> None:
    told = berth(*words)

    assert told.code == 1
    assert "error[B045]" in told.err
    assert "is left out (calendar closure" in told.err
    assert changed(closed) == ([], [])


@tabled("edit")
def test_a_move_onto_a_closed_date_is_refused(words: list[str], berth: Berth, closed: Path) -> None:
    told = berth(*words)

    assert (told.code, told.out) == (2, "")
    assert "the site is closed on " in told.err
    assert "(calendar closure). Choose another date. [B059]" in told.err
    assert changed(closed) == ([], [])


def test_an_occurrence_on_a_closed_date_can_be_moved_to_another_date(berth: Berth, closed: Path) -> None:
    assert berth("move", "trip", "2026-03-20", "--to", "2026-03-27").code == 0
    assert changed(closed) == ([], ["- {date: 2026-03-20, to: {date: 2026-03-27}}"])

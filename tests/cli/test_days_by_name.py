"""Days by name, wherever a command takes a date."""

import pytest

from tests.answer import Berth


@pytest.mark.parametrize(
    "words",
    [
        ("skip", "course", "tomorrow"),
        ("skip", "course", "monday 09:00"),
        ("move", "course", "mon", "--to", "Thu"),
        ("move", "course", "tomorrow", "--end", "Tomorrow 14:00"),
        ("move", "night", "Saturday", "--end", "07:00"),
        ("set", "course", "--on", "tomorrow", "--seats", "30"),
    ],
    ids=["skip", "skip-at", "move", "end", "end-of-a-night", "set"],
)
def test_edits_take_days_by_name(berth: Berth, words: tuple[str, ...]) -> None:
    """Today is the day in the site's time zone: in UTC it is the day before."""
    code, out, err = berth(*words, "--now", "2026-01-31T23:30:00Z")

    assert (code, err) == (0, "")
    assert "2026-02-02" in out or "2026-02-07" in out

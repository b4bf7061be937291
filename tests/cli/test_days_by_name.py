"""Days by name, wherever a command takes a date."""

from tests.answer import Berth
from tests.cases import tabled


@tabled("cli")
def test_edits_accept_days_by_name(words: list[str], berth: Berth) -> None:
    """Today is the day in the site's time zone: in UTC it is the day before."""
    code, out, err = berth(*words, "--now", "2026-01-31T23:30:00Z")

    assert (code, err) == (0, "")
    assert "2026-02-02" in out or "2026-02-07" in out

"""Near misses of valid events are read as the standard has them, or are told."""

import re
from functools import cache

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.edit.events import Imported, event, feed, imported, windows
from tests.notation.nearmisses import near_misses

DATE = r"20[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
TIME = rf"{DATE}T(?:[01][0-9]|2[0-3])[0-5][0-9]00"
VALID = {  # as the standard has them, and in years that Berth knows
    "DTSTART": rf"DTSTART(?:;TZID=Europe/Zurich:{TIME}|:{TIME}Z?|;VALUE=DATE:{DATE})",
    "DTEND": rf"DTEND(?:;TZID=Europe/Zurich:{TIME}|:{TIME}Z?|;VALUE=DATE:{DATE})",
    "EXDATE": rf"EXDATE(?:;TZID=Europe/Zurich)?:{TIME}Z?(?:,{TIME}Z?)*",
    "RDATE": rf"RDATE(?:;TZID=Europe/Zurich)?:{TIME}Z?(?:,{TIME}Z?)*",
    "RRULE": (
        rf"RRULE:FREQ=(?:WEEKLY|DAILY)(?:;(?:COUNT=[1-9][0-9]?|INTERVAL=[1-9]|UNTIL={TIME}Z?|"
        r"BYDAY=(?:MO|WE)(?:,(?:MO|WE))*))*"
    ),
    "DESCRIPTION": r"DESCRIPTION:.*",
}
LINES = {
    "DTSTART": "DTSTART;TZID=Europe/Zurich:20260302T140000",
    "DTEND": "DTEND;TZID=Europe/Zurich:20260302T160000",
    "RRULE": "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20260401T120000Z",
    "EXDATE": "EXDATE;TZID=Europe/Zurich:20260311T140000",
    "RDATE": "RDATE;TZID=Europe/Zurich:20260310T140000,20260317T140000",
    "DESCRIPTION": "DESCRIPTION:seats: 30",
}


def taken(lines: dict[str, str]) -> Imported:
    return imported(feed(event(*lines.values())), seats=None)


@cache
def usual_windows() -> list[tuple[str, int, int]]:
    return windows(taken(LINES).sources)


@settings(max_examples=80)
@given(
    st.sampled_from(sorted(LINES)).flatmap(
        lambda name: st.tuples(st.just(name), near_misses(st.just(LINES[name])))
    )
)
@example(("DTSTART", "DTSTART;TZID=Europe/Zurich:20260302T 40000"))
@example(("DTSTART", "DTSTART;TZID=Europe/Zurich:20260302T+40000"))
@example(("DTSTART", "DTSTART;TZZID=Europe/Zurich:20260302T140000"))
@example(("EXDATE", "EXADTE;TZID=Europe/Zurich:20260311T140000"))
@example(("DTEND", "DTED;TZID=Europe/Zurich:20260302T160000"))
def test_an_invalid_event_line_never_changes_dates_without_a_report(miss: tuple[str, str]) -> None:
    """Its dates stay as they were, or a finding or the table says what became of it."""
    name, line = miss
    assume("\n" not in line)
    found = taken({**LINES, name: line})
    is_told = bool(found.findings) or not found.files
    is_valid = re.fullmatch(VALID[name], line, re.ASCII)

    assert is_told or is_valid or windows(found.sources) == usual_windows()
    if found.files:
        lines = {**LINES, name: line}.values()
        assert imported(feed(event(*lines)), *found.sources, seats=None).files == []

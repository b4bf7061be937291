"""The options `--only` and `--skip`."""

import pytest
from berth.edit.eventfilter import event_filter
from berth.notation.refusal import CommandError

from tests.edit.events import NOW, codes, event, feed, imported, results, written

WEEKLY = ("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT4H", "RRULE:FREQ=WEEKLY;COUNT=5")
EVENTS = (
    event(*WEEKLY, "CATEGORIES:Exam,Hall", uid="1", title="Lab: algebra"),
    event(*WEEKLY, "TRANSP:TRANSPARENT", uid="2", title="Office hours"),
    event(*WEEKLY, "TRANSP:OPAQUE", "CATEGORIES:hall", uid="3", title="LAB 2"),
)


@pytest.mark.parametrize(
    ("only", "skip", "expected"),
    [
        ((), (), "123"),
        (("title:lab*",), (), "13"),
        (("title:Lab: algebra",), (), "1"),
        (("category:hall",), (), "13"),
        (("category:hall",), ("category:Exam",), "3"),
        ((), ("free",), "13"),
        (("free",), (), "2"),
        (("busy", "title:office*"), (), "123"),
        ((), ("title:*",), ""),
        (("Title: lab?*",), (), "13"),
    ],
    ids=str,
)
def test_events_are_selected(only: tuple[str, ...], skip: tuple[str, ...], expected: str) -> None:
    result = imported(feed(*EVENTS), events=event_filter(only, skip))
    uids = "".join(sorted(file.text.partition('imported-uid: "')[2][0] for file in result.files))

    assert (uids, results(result).count("skipped")) == (expected, 3 - len(expected))
    assert result.findings == ()


def test_a_pattern_that_selects_nothing_is_told() -> None:
    result = imported(feed(*EVENTS), events=event_filter(["title:lab*"], ["category:Holiday"]))

    assert codes(result) == [("B206", 1)]


def test_what_is_not_selected_is_not_gone() -> None:
    files = written(imported(feed(*EVENTS)))
    result = imported(feed(*EVENTS), *files, events=event_filter(["title:lab*"], []), now=NOW)

    assert (result.files, result.findings) == ((), ())
    assert results(result) == ["unchanged", "skipped", "unchanged"]


@pytest.mark.parametrize("text", ["lab*", "title:", "titel:x", "free:x", "free time", "", "category"])
def test_a_pattern_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(CommandError):
        event_filter([text], [])

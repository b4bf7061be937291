"""A Calendar of events: its dates, and how it is updated."""

from datetime import date
from typing import Any

import pytest
from berth.edit.feedimport import EventFilter, EventPattern
from berth.notation.refusal import CommandError
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.cases import tabled
from tests.edit.events import NOW, SITE, Imported, event, feed, imported

EASTER = ("DTSTART;VALUE=DATE:20260403", "DTEND;VALUE=DATE:20260413")
BREAK = ("DTSTART;VALUE=DATE:20261221", "DTEND;VALUE=DATE:20270104")


def closed(
    *parts: str, files: tuple[Source, ...] = (), only: str = "", skip: str = "", **options: Any
) -> Imported:
    chosen = EventFilter(
        *(
            (EventPattern.read(option, text),) if text else ()
            for option, text in (("--only", only), ("--skip", skip))
        )
    )
    return imported(feed(*parts), *files, calendar="closed", events=chosen, **options)


def dates(found: Imported) -> list[str]:
    project = Pipeline(sources=sorted([SITE, *found.sources]))
    assert project.findings() == []
    calendar = project.declared.calendars.get("closed")
    return [] if calendar is None else [f"{one.first:%m-%d} {one.last:%m-%d}" for one in calendar.dates]


@tabled("edit")
def test_events_of_whole_days_become_closed_days(lines: list[str], expected: list[str]) -> None:
    assert dates(closed(event(*lines))) == expected


def test_a_range_is_cut_at_the_limits() -> None:
    assert dates(closed(event(*BREAK), first=date(2027, 1, 1))) == ["01-01 01-03"]
    assert dates(closed(event(*BREAK), last=date(2026, 12, 31))) == ["12-21 12-31"]


def test_a_free_event_closes_no_days_unless_all_events_are_free() -> None:
    free = event(*BREAK, "TRANSP:TRANSPARENT", uid="2", title="Deadline")
    beside, alone = closed(event(*EASTER), free), closed(free)

    assert (dates(beside), beside.codes) == (["04-03 04-12"], [("B206", 15)])
    assert (dates(alone), alone.codes) == (["12-21 01-03"], [])
    assert dates(closed(event(*EASTER), free, only="free")) == ["12-21 01-03"]


def test_a_long_event_closes_its_days_only_if_an_option_selects_it() -> None:
    term = event("DTSTART;VALUE=DATE:20260216", "DTEND;VALUE=DATE:20260530", title="Summer break")

    assert closed(term).codes == [("B206", 4)]
    assert dates(closed(term, only="title:summer*")) == ["02-16 05-29"]


def test_observances_get_the_finding_b207_and_can_be_skipped() -> None:
    lines = ("DTSTART;VALUE=DATE:20260415", "DESCRIPTION:Observance\\nTo hide observances")
    told, skipped = closed(event(*lines)), closed(event(*lines), skip="description:Observance*")

    assert (dates(told), told.codes) == (["04-15 04-15"], [("B207", 8)])
    assert (skipped.files, skipped.codes, skipped.results) == ([], [], ["skipped"])


def test_the_next_import_replaces_coming_dates_and_keeps_past_dates() -> None:
    (before,) = closed(event(*EASTER)).sources
    edited = before._replace(text=before.text + b"  closes: true # by hand\n")
    second = event(*BREAK, uid="2", title="Break")
    after = closed(event(*EASTER), second, files=(edited,), now=NOW + 200 * 86_400)

    assert dates(after) == ["04-03 04-12", "12-21 01-03"]
    assert after.text.endswith("  closes: true # by hand\n")
    assert closed(event(*EASTER), files=(before,)).files == []


BY_HAND = b"""\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata:
  name: closed
  annotations: {berth.dev/imported-feed: team.ics}
spec:
  # Approved by the dean.
  dates:
    - {date: "2026-03-02", title: Ski}  # the buses are booked
    - 2026-03-04  # asked by mail
    # Spring
    - {from: 2026-04-03, to: 2026-04-12, title: Course}  # until Sunday
    - {date: 2026-05-06, from: "12:00", title: Party}  # by hand
    - 2026-06-01 to 2026-06-02
  closes: true  # all
"""


def dated(first: int, end: int, title: str) -> str:
    return event(f"DTSTART;VALUE=DATE:{first}", f"DTEND;VALUE=DATE:{end}", uid=title, title=title)


def kept_lines(removed: str, *added: tuple[str, str]) -> str:
    """Return the file without a line, and with lines below others."""
    text = "".join(line for line in BY_HAND.decode().splitlines(True) if not removed or removed not in line)
    for above, line in added:
        text = text.replace(f"{above}\n", f"{above}\n    - {line}\n")
    return text


SKI, MAIL, SPRING = dated(20260302, 20260303, "Ski"), dated(20260304, 20260305, ""), event(*EASTER, uid="E")
PARTY, JUNE = dated(20260506, 20260507, "Party"), dated(20260601, 20260603, "")


@pytest.mark.parametrize(
    ("parts", "gone", "text"),
    [
        (
            (MAIL, SPRING, PARTY, JUNE),
            [("Ski", "2026-03-02")],
            kept_lines("Ski").replace(
                '{date: 2026-05-06, from: "12:00", title: Party}', "{date: 2026-05-06, title: Party}"
            ),
        ),
        (
            (SKI, MAIL, SPRING, dated(20260501, 20260502, "Labor"), JUNE),
            [("Party", "2026-05-06")],
            kept_lines("Party", ("# until Sunday", "{date: 2026-05-01, title: Labor}")),
        ),
        (
            (SKI, dated(20260304, 20260305, "Election"), SPRING, dated(20260505, 20260508, "Congress"), JUNE),
            [],
            kept_lines(
                "Party", ("# until Sunday", "{from: 2026-05-05, to: 2026-05-07, title: Congress}")
            ).replace("2026-03-04 ", "{date: 2026-03-04, title: Election} "),
        ),
        (
            (SKI, MAIL, dated(20260404, 20260406, "Course"), dated(20260407, 20260412, "Course"), JUNE),
            [("Course", "2026-04-03, and 2 more"), ("Party", "2026-05-06")],
            None,
        ),
    ],
    ids=["hours-become-a-day", "one-for-another", "renamed-and-covered", "a-range-is-cut"],
)
def test_kept_dates_keep_their_lines_and_removed_dates_are_reported(
    parts: tuple[str, ...], gone: list[tuple[str, str]], text: str | None
) -> None:
    after = closed(*parts, files=(Source("reservations/b.yaml", BY_HAND),))

    assert [(one.event, one.reason) for one in after.outcomes if one.result == "no longer closed"] == gone
    assert text in (None, after.text)


@pytest.mark.parametrize(
    ("limits", "gone", "left_out"),
    [
        (
            {"last": date(2026, 3, 31)},
            ["(no title)", "Course", "Party"],
            ["outside of --from and --until"] * 2,
        ),
        ({"first": date(2026, 3, 3)}, ["Party", "Ski"], ["outside of --from and --until"]),
        ({"first": date(2026, 3, 3), "now": NOW + 61 * 86_400}, ["Party", "Ski"], ["it has no date to come"]),
    ],
    ids=["last", "first", "first-and-past"],
)
def test_dates_outside_of_the_limits_are_reported_with_the_reason(
    limits: dict[str, Any], gone: list[str], left_out: list[str]
) -> None:
    after = closed(SKI, MAIL, SPRING, JUNE, files=(Source("reservations/b.yaml", BY_HAND),), **limits)

    assert [one.event for one in after.outcomes if one.result == "no longer closed"] == gone
    assert [one.reason for one in after.outcomes if one.result in ("over", "left out")] == left_out


def test_a_calendar_of_another_feed_or_written_by_hand_is_refused() -> None:
    (before,) = closed(event(*EASTER)).sources
    by_hand = before._replace(text=before.text.replace(b"berth.dev/imported-feed", b"example.org/feed"))
    with pytest.raises(CommandError, match="was not imported"):
        closed(event(*EASTER), files=(by_hand,))
    with pytest.raises(CommandError, match=r'--feed "team.ics"'):
        closed(event(*EASTER), files=(before,), feed="other.ics")

"""The identity of a feed: an import touches and reports only what the same feed made."""

from collections.abc import Callable

import pytest
from berth.edit.calendarfeed import read_feed
from berth.edit.eventimport import FeedIdentity, ImportOptions
from berth.output.yamltext import quote
from berth.reading.source import Source

from tests.edit.events import NOW, codes, event, feed, imported, results, text_of, windows, world, written

WEEKLY = ("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT4H", "RRULE:FREQ=WEEKLY;COUNT=5")
OTHER = ("DTSTART;TZID=Europe/Zurich:20260204T140000", "DURATION:PT2H", "RRULE:FREQ=WEEKLY;COUNT=5")


def replaced(source: Source, old: str, new: str) -> Source:
    return source._replace(text=source.text.replace(old.encode(), new.encode()))


def with_head(source: Source, line: str) -> Source:
    return replaced(source, "VERSION:2.0\r\n", f"VERSION:2.0\r\n{line}\r\n")


def test_a_uid_of_another_feed_changes_nothing() -> None:
    """K08: both programs number their events from 0."""
    files = written(imported(world("feed-with-uid.ics")))
    result = imported(world("other-feed-same-uid.ics"), *files, now=NOW)

    assert (result.files, codes(result), results(result)) == ((), [("B206", 5)], ["not imported"])


def test_a_feed_with_a_name_has_its_own_uids() -> None:
    files = written(imported(world("feed-with-uid.ics")))
    other = written(imported(world("other-feed-same-uid.ics"), *files, feed="art"))
    again = imported(world("other-feed-same-uid.ics"), *files, *other, feed="art", now=NOW)
    first = imported(world("feed-with-uid.ics"), *files, *other, now=NOW)

    assert [one.file for one in other] == ["reservations/art-history.yaml"]
    for result in (again, first):
        assert (result.files, results(result), result.findings) == ((), ["unchanged"], ())


def test_a_renamed_file_is_recognized_by_the_name_that_is_given() -> None:
    files = written(imported(world("feed-with-uid.ics")))
    renamed = world("feed-with-uid.ics", file="export (1).ics")
    refused = imported(renamed, *files, now=NOW)
    result = imported(renamed, *files, feed="feed-with-uid.ics", now=NOW)

    assert codes(refused) == [("B206", 5)]
    assert (results(result), codes(result)) == (["updated"], [])
    assert "imported-from: export (1).ics\n" in text_of(result)


def test_two_feeds_with_one_title_say_nothing_of_each_other() -> None:
    """K15: many programs name every calendar `Calendar`."""
    ada = feed(event(*WEEKLY, uid="ada", title="Ada"), name="Calendar", file="ada.ics")
    bob = feed(event(*OTHER, uid="bob", title="Bob"), name="Calendar", file="bob.ics")
    files = written(imported(ada))
    result = imported(bob, *files, now=NOW)

    assert (results(result), result.findings) == (["new"], ())
    assert codes(imported(feed(name="Calendar", file="ada.ics"), *files, now=NOW)) == [("B208", 10)]


@pytest.mark.parametrize(
    "change",
    [
        lambda source: source._replace(file="other.ics"),
        lambda source: replaced(source, "//example//", "//other//"),
        lambda source: replaced(source, "CALNAME:Team", "CALNAME:Others"),
        lambda source: with_head(source, "X-WR-RELCALID:2"),
    ],
    ids=["file", "program", "title", "id"],
)
def test_a_feed_that_differs_in_one_thing_is_another(change: Callable[[Source], Source]) -> None:
    files = written(imported(feed(event(*WEEKLY))))
    result = imported(change(feed(event(*OTHER))), *files, now=NOW)

    assert (result.files, codes(result)[0][0], results(result)) == ((), "B206", ["not imported"])


def test_another_version_of_the_program_is_the_same_feed() -> None:
    source = feed(event(*WEEKLY))
    one, two = (
        source._replace(text=source.text.replace(b"-//example//EN", b"-//Berry Calendar %s//EN" % version))
        for version in (b"70.9054", b"v71.1")
    )
    result = imported(two, *written(imported(one)), now=NOW)

    assert (result.files, results(result)) == ((), ["unchanged"])


def test_an_id_of_the_calendar_decides_alone() -> None:
    source = with_head(feed(event(*WEEKLY)), "X-WR-RELCALID:3E26604A-50F4-4449-8B3E-E4F4932D05B5")
    renamed = source._replace(file="copy.ics", text=source.text.replace(b"CALNAME:Team", b"CALNAME:Us"))
    result = imported(renamed, *written(imported(source)), now=NOW)

    assert (result.files, results(result)) == ((), ["unchanged"])


def test_the_file_records_the_feed() -> None:
    source = feed(event(*WEEKLY))
    identity = FeedIdentity.of(read_feed(source), ImportOptions("small", 25, None, None, None, 0))

    assert identity.annotations == {
        "berth.dev/imported-from": "Team",
        "berth.dev/imported-feed": "team.ics",
        "berth.dev/imported-calendar": "-//example//EN",
    }
    for key, value in identity.annotations.items():
        assert f"{key}: {quote(value)}\n" in text_of(imported(source))


@pytest.mark.parametrize(
    "change",
    [
        lambda _: world("canceled-after.ics", file="room.ics"),
        lambda source: replaced(source, "STATUS:CONFIRMED", "STATUS:CANCELED"),
        lambda source: replaced(source, "STATUS:CONFIRMED", "STATUS:CANCELLED"),
        lambda source: replaced(source, "VERSION:2.0", "VERSION:2.0\nMETHOD:CANCEL"),
    ],
    ids=["outlook", "american", "british", "method"],
)
def test_an_event_that_is_canceled_is_told(change: Callable[[Source], Source]) -> None:
    """K11: its seats do not stay in silence."""
    before = world("canceled-before.ics", file="room.ics")
    files = written(imported(before))
    result = imported(change(before), *files, now=NOW)

    assert (result.files, "B208" in [finding.code for finding in result.findings]) == ((), True)
    assert [outcome[1:4] for outcome in result.outcomes] == [
        (result.outcomes[0].event, "canceled", "algebra"),
    ]


def test_a_title_that_says_canceled_keeps_the_reservation_of_its_uid() -> None:
    files = written(imported(feed(event(*WEEKLY, title="Algebra"))))
    result = imported(feed(event(*WEEKLY, title="Canceled: Algebra")), *files, now=NOW)

    assert (codes(result), len(windows(written(result)))) == ([("B207", 7)], 5)


@pytest.mark.parametrize("mark", [(), ("TRANSP:TRANSPARENT",)], ids=["busy", "free"])
@pytest.mark.parametrize("title", ["Canceled: Algebra", "Abgesagt: Algebra"])
def test_a_title_that_says_canceled_with_a_new_uid_is_never_a_course(
    title: str, mark: tuple[str, ...]
) -> None:
    files = written(imported(feed(event(*WEEKLY, title="Algebra"))))
    result = imported(feed(event(*WEEKLY, *mark, title=title, uid="new")), *files, now=NOW)

    assert (result.files, [finding.code for finding in result.findings]) == ((), ["B208", "B206"])
    assert [outcome[2:4] for outcome in result.outcomes] == [("canceled", "algebra")]

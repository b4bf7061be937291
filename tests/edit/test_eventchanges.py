"""Changed and canceled dates of an event, by RECURRENCE-ID, RDATE and EXDATE."""

from datetime import date

import pytest

from tests.edit.events import codes, event, feed, imported, starts, written

CHICAGO = (
    "DTSTART;TZID=America/Chicago:20260602T190000",
    "DTEND;TZID=America/Chicago:20260602T210000",
    "RRULE:FREQ=WEEKLY;BYDAY=TU,WE,TH;COUNT=12",
)


@pytest.mark.parametrize(
    "first", [None, date(2026, 6, 10), date(2026, 6, 11)], ids=["all", "before", "after"]
)
def test_a_midnight_in_utc_is_a_time_for_an_event_of_another_zone(first: date | None) -> None:
    found = imported(feed(event(*CHICAGO, "EXDATE:20260611T000000Z")), first=first)

    assert codes(found) == []
    assert [start for start in starts(written(found)) if "06-10" <= start < "06-18"] == [
        *(["06-10 00:00"] if first is None else []),  # Tuesday the 9th
        "06-12 00:00",
        "06-17 00:00",
    ]


@pytest.mark.parametrize(
    "value",
    [
        ";VALUE=DATE:20260611",
        ":20260611T000000",
        ";TZID=America/Chicago:20260611T000000",
        ":20260611T050000Z",
    ],
)
def test_a_date_and_a_midnight_of_the_event_mean_the_whole_date(value: str) -> None:
    found = imported(feed(event(*CHICAGO, f"EXDATE{value}")))

    assert codes(found) == []
    assert "06-12 00:00" not in starts(written(found))
    assert len(starts(written(found))) == 11


@pytest.mark.parametrize(
    ("id_", "moved", "left"),
    [
        (":20260611T000000Z", "06-13 00:00", "06-12 00:00"),
        (";VALUE=DATE:20260610", "06-13 00:00", "06-12 00:00"),
        (";TZID=America/Chicago:20260610T000000", "06-13 00:00", "06-12 00:00"),
    ],
)
@pytest.mark.parametrize("first", [None, date(2026, 6, 11)], ids=["all", "from"])
def test_a_changed_date_is_found_by_its_original_date(
    id_: str, moved: str, left: str, first: date | None
) -> None:
    change = event(f"RECURRENCE-ID{id_}", "DTSTART:20260613T000000Z", "DURATION:PT2H")
    found = imported(feed(event(*CHICAGO), change), first=first)
    dates = starts(written(found))

    assert codes(found) == []
    assert (moved in dates, left in dates, "06-11 00:00" in dates) == (True, True, False)
    assert len(dates) == (12 if first is None else 8)


def test_a_date_that_is_moved_out_of_the_limits_is_left_out() -> None:
    change = event("RECURRENCE-ID:20260612T000000Z", "DTSTART:20260610T150000Z", "DURATION:PT2H")
    found = imported(feed(event(*CHICAGO), change), first=date(2026, 6, 11))

    assert (codes(found), starts(written(found))[0]) == ([], "06-17 00:00")


@pytest.mark.parametrize("value", [";VALUE=DATE:20260204", ":20260204T000000", ":20260203T230000Z"])
def test_a_date_without_a_time_is_added_at_the_time_of_the_event(value: str) -> None:
    found = imported(
        feed(event("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT1H", f"RDATE{value}"))
    )

    assert starts(written(found)) == ["02-02 08:00", "02-04 08:00"]
    assert codes(found) == ([] if "VALUE" in value else [("B207", 10)])


def test_a_midnight_in_utc_is_added_as_it_is() -> None:
    found = imported(
        feed(event("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT1H", "RDATE:20260205T000000Z"))
    )

    assert (codes(found), starts(written(found))) == ([], ["02-02 08:00", "02-05 00:00"])


@pytest.mark.parametrize(
    "line", ["EXDATE:20260304T090000Z", "EXDATE:20260302T100000Z", "EXDATE;VALUE=DATE:20260304"]
)
def test_a_left_out_date_that_the_event_does_not_have_is_told(line: str) -> None:
    found = imported(
        feed(event("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3", line))
    )

    assert (codes(found), len(starts(written(found)))) == ([("B207", 11)], 3)


def test_a_left_out_time_that_a_date_does_not_have_names_its_time() -> None:
    """A midnight of another zone, and the end of a date, are such times."""
    weekly = ("DTSTART;TZID=Europe/Zurich:20260302T091500", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3")
    found = imported(feed(event(*weekly, "EXDATE;TZID=Europe/Zurich:20260309T101500")))

    assert (codes(found), "09:15" in found.findings[0].message) == ([("B207", 11)], True)


def test_a_date_that_is_left_out_and_changed_is_told() -> None:
    weekly = ("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=2")
    change = event("RECURRENCE-ID:20260309T090000Z", "DTSTART:20260310T090000Z", "DURATION:PT1H")
    found = imported(feed(event(*weekly, "EXDATE:20260309T090000Z"), change))

    assert (codes(found), starts(written(found))) == ([("B207", 16)], ["03-02 09:00", "03-10 09:00"])


def test_a_change_of_a_date_that_the_event_does_not_have_is_told() -> None:
    weekly = ("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=2")
    change = event("RECURRENCE-ID:20260304T090000Z", "DTSTART:20260305T090000Z", "DURATION:PT1H")
    found = imported(feed(event(*weekly), change))

    assert (codes(found), starts(written(found))) == (
        [("B207", 15)],
        ["03-02 09:00", "03-05 09:00", "03-09 09:00"],
    )


TWICE_A_DAY = ("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;BYDAY=MO;BYHOUR=9,14;COUNT=8")


@pytest.mark.parametrize("id_", [";VALUE=DATE:20260309", ":20260309T000000"])
def test_a_changed_date_with_two_times_asks_which(id_: str) -> None:
    change = event(f"RECURRENCE-ID{id_}", "DTSTART:20260309T160000", "DURATION:PT1H")
    found = imported(feed(event(*TWICE_A_DAY), change))

    assert (codes(found), found.files) == ([("B206", 15)], ())
    assert [("09:00" in finding.message, "14:00" in finding.message) for finding in found.findings] == [
        (True, True)
    ]


def test_a_changed_time_of_a_date_with_two_is_moved_alone() -> None:
    change = event("RECURRENCE-ID:20260309T140000", "DTSTART:20260309T160000", "DURATION:PT1H")
    found = imported(feed(event(*TWICE_A_DAY), change))

    assert codes(found) == []
    assert [start for start in starts(written(found)) if start < "03-16"] == [
        "03-02 08:00",
        "03-02 13:00",
        "03-09 08:00",
        "03-09 15:00",
    ]


def test_a_canceled_date_with_two_times_is_left_out_whole() -> None:
    change = event("RECURRENCE-ID;VALUE=DATE:20260309", "DTSTART:20260309T090000", "STATUS:CANCELED")
    found = imported(feed(event(*TWICE_A_DAY), change))

    assert (codes(found), len(starts(written(found)))) == ([], 6)


def test_two_changes_of_one_date_are_told() -> None:
    changes = [
        event(f"RECURRENCE-ID{id_}", f"DTSTART:202603{day}T160000", "DURATION:PT1H")
        for id_, day in ((":20260309T090000", 10), (";TZID=Europe/Zurich:20260309T090000", 11))
    ]
    found = imported(
        feed(event("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3"), *changes)
    )

    assert (codes(found), found.files) == ([("B206", 22)], ())


WEEKLY = event("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3")
TO_TUESDAY = ("DTSTART:20260310T160000", "DURATION:PT1H")


@pytest.mark.parametrize("head", [WEEKLY, ""], ids=["with-its-event", "alone"])
@pytest.mark.parametrize("instance", [":20260309T090000", ":20260304T090000"], ids=["date", "stray"])
@pytest.mark.parametrize(
    "other",
    [
        event("RECURRENCE-ID%s", "DTSTART:20260311T160000", "DURATION:PT1H"),
        event("RECURRENCE-ID%s", *TO_TUESDAY, "DESCRIPTION:seats: 9"),
        event("RECURRENCE-ID%s", *TO_TUESDAY, "STATUS:CANCELLED"),
        event("RECURRENCE-ID%s", *TO_TUESDAY, title="Another course"),
    ],
    ids=["time", "seats", "canceled", "title"],
)
def test_two_changes_of_one_instance_that_differ_are_refused_with_both_places(
    head: str, instance: str, other: str
) -> None:
    change = event(f"RECURRENCE-ID{instance}", *TO_TUESDAY)
    for changes in ([change, other % instance], [other % instance, change]):
        found = imported(feed(head, *changes))
        first = 5 + head.count("\n")
        place = first + changes[0].count("\n") + changes[1].splitlines().index(f"RECURRENCE-ID{instance}")

        refused = [finding for finding in found.findings if finding.code == "B206"]
        assert [(finding.line, f"line {first} " in finding.message) for finding in refused] == [(place, True)]
        assert found.files == ()


def test_of_two_changes_the_one_with_the_higher_sequence_counts_and_a_copy_says_nothing() -> None:
    old = event("RECURRENCE-ID:20260309T090000", "DTSTART:20260312T160000", "DURATION:PT1H")
    new = event("RECURRENCE-ID:20260309T090000", *TO_TUESDAY, "SEQUENCE:1")
    for changes in ([old, new, new], [new, old, new]):
        found = imported(feed(WEEKLY, *changes))

        assert codes(found) == []
        assert starts(written(found)) == ["03-02 08:00", "03-10 15:00", "03-16 08:00"]


@pytest.mark.parametrize("title", ["Canceled: Course", "Abgesagt: Course"])
def test_a_date_whose_title_says_that_it_is_canceled_is_left_out_and_reported(title: str) -> None:
    change = event("RECURRENCE-ID:20260309T090000", "DTSTART:20260309T090000", "DURATION:PT1H", title=title)
    found = imported(feed(WEEKLY, change))

    assert (codes(found), starts(written(found))) == ([("B207", 14)], ["03-02 08:00", "03-16 08:00"])


def test_a_canceled_instance_without_its_event_hides_no_other_one() -> None:
    canceled = event(
        "RECURRENCE-ID:20260309T090000", "DTSTART:20260309T090000", "DURATION:PT1H", title="Canceled: Course"
    )
    held = event("RECURRENCE-ID:20260316T090000", "DTSTART:20260316T090000", "DURATION:PT1H")
    found = imported(feed(canceled, held))

    assert (codes(found), starts(written(found))) == ([("B207", 7)], ["03-16 08:00"])
    assert [file.file for file in found.files] == ["reservations/course.yaml"]


@pytest.mark.parametrize(
    ("rule", "findings"),
    [
        ("RRULE:FREQ=WEEKLY;COUNT=3", []),
        ("RRULE:FREQ=WEEKLY;COUNT=9", [("B207", 18)]),
        ("RDATE:20260401T090000", [("B207", 18)]),
    ],
)
def test_what_a_changed_date_says_of_other_dates_is_told(rule: str, findings: list[tuple[str, int]]) -> None:
    change = event("RECURRENCE-ID:20260309T090000", "DTSTART:20260309T160000", "DURATION:PT1H", rule)
    found = imported(
        feed(event("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3"), change)
    )

    assert (codes(found), len(starts(written(found)))) == (findings, 3)


def test_the_change_of_all_following_dates_of_an_event_that_is_not_there_is_told() -> None:
    change = event(
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20260309T090000", "DTSTART:20260309T160000", "DURATION:PT1H"
    )

    assert codes(imported(feed(change))) == [("B206", 8)]

"""Reservations of events: what a first import writes, and what later ones change."""

import re
from datetime import date
from textwrap import dedent

import pytest
from berth.edit.calendarfeed import read_feed
from berth.edit.eventcalendar import import_closed_dates
from berth.edit.eventimport import ImportOptions
from berth.pipeline import Pipeline
from berth.reading.source import Source
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import cases
from tests.console import ROOT
from tests.edit.events import NOW, SITE, codes, event, feed, imported, results, text_of, windows, written

WEEKLY = ("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT4H", "RRULE:FREQ=WEEKLY;COUNT=5")
FEEDS = ROOT / "tests" / "cases" / "feeds"


def edited(files: list[Source], old: str, new: str) -> list[Source]:
    sources = [file._replace(text=file.text.replace(old.encode(), new.encode())) for file in files]
    assert sources != files
    return sources


@pytest.mark.parametrize("case", cases.read("feeds"), ids=lambda case: case["file"])
def test_a_feed_of_a_client_becomes_reservations(case: cases.Case) -> None:
    source = Source(case["file"], (FEEDS / case["file"]).read_bytes())
    found = imported(source)
    recurrences = {
        file.file[len("reservations/") : -len(".yaml")]: dedent(
            re.findall(r"  recurrence:\n(.*?)  provisioning:\n", file.text, re.S)[0]
        )
        for file in found.files
    }
    project = Pipeline(sources=sorted([SITE, *written(found)]))
    seats = {reservation.name: str(reservation.seats[0][1]) for reservation in project.declared.reservations}

    assert found.findings == ()
    assert (recurrences, seats) == (case["reservations"], case["seats"])


def test_a_second_import_changes_nothing() -> None:
    sources = [Source(one.name, one.read_bytes()) for one in sorted(FEEDS.glob("*.ics"))]
    for source in sources:
        first = imported(source)
        again = imported(source, *written(first))
        assert (again.files, again.findings) == ((), ())
        assert results(again).count("unchanged") == len(first.files)


def test_an_update_changes_what_the_event_says_and_keeps_the_rest() -> None:
    before = written(imported(feed(event(*WEEKLY))))
    before = edited(before, "leadTimeMinutes: 30", "leadTimeMinutes: 45 # the room is far")
    before = edited(before, "    schedule:", "    calendars: []\n    schedule:")
    after = imported(
        feed(event(*WEEKLY, "EXDATE;TZID=Europe/Zurich:20260216T090000", title="Course: two")), *before
    )
    (one,) = after.files
    lines, new = before[0].text.decode().splitlines(), one.text.splitlines()

    assert (one.changes, one.before) == (("title", "dates"), before[0].text)
    assert [line for line in lines if line not in new] == ["  title: Course"]
    assert [line for line in new if line not in lines] == [
        '  title: "Course: two"',
        "    except:",
        "      - 2026-02-16",
    ]


def test_an_update_keeps_the_ids_of_dates() -> None:
    before = written(imported(feed(event(*WEEKLY))))
    moved = event(
        "RECURRENCE-ID;TZID=Europe/Zurich:20260209T090000",
        "DTSTART;TZID=Europe/Zurich:20260210T140000",
        "DURATION:PT2H",
    )
    after = written(imported(feed(event(*WEEKLY, title="Renamed"), moved), *before))
    old, new = windows(before), windows(after)

    assert [window[0] for window in new] == [window[0] for window in old]
    assert [window for window in old if window not in new] == [old[1]]


def test_a_count_that_is_not_in_the_event_belongs_to_the_file() -> None:
    before = edited(written(imported(feed(event(*WEEKLY)))), "Count: 25", "Count: 31")

    assert imported(feed(event(*WEEKLY)), *before, seats=99).files == ()
    with_count = imported(feed(event(*WEEKLY, "DESCRIPTION:seats: 40")), *before)
    assert (with_count.files[0].changes, "placeholderCount: 40" in text_of(with_count)) == (("seats",), True)


def test_a_reservation_that_was_renamed_or_moved_is_found_by_its_uid() -> None:
    before = edited(written(imported(feed(event(*WEEKLY)))), "name: course", "name: algebra")
    before = [Source("reservations/math/algebra.yaml", before[0].text)]
    after = imported(feed(event(*WEEKLY, title="Linear algebra")), *before)

    assert [file.file for file in after.files] == ["reservations/math/algebra.yaml"]
    assert "name: algebra" in text_of(after)


def test_hours_that_a_person_completed_stay_while_the_times_do() -> None:
    before = edited(written(imported(feed(event(*WEEKLY)))), '"13:00"}', '"13:00", leadTimeMinutes: 60}')
    left_out = event(*WEEKLY, "EXDATE;TZID=Europe/Zurich:20260216T090000")

    assert "leadTimeMinutes: 60}" in text_of(imported(feed(left_out), *before))


COUNT = "    placeholderCount: 25\n"
BY_CLASS = (
    "    seats: [{resourceClass: small, placeholderCount: 5}, {resourceClass: big, placeholderCount: 1}]\n"
)
STANDING = """\
  provisioning: {placeholderCount: 2}
  backend: {type: koordinator, standing: true, owners: [{object: {namespace: lab}}]}
"""


@pytest.mark.parametrize(
    "edits",
    [
        [("  resourceClass: small\n", ""), (COUNT, BY_CLASS)],
        [
            (COUNT, "    nodeCount: 3\n"),
            ("  provisioning:\n", "  backend: {type: nodePool}\n  provisioning:\n"),
        ],
    ],
    ids=["several-classes", "nodes"],
)
def test_seats_of_another_form_are_not_those_of_the_event(edits: list[tuple[str, str]]) -> None:
    before = written(imported(feed(event(*WEEKLY))))
    for old, new in edits:
        before = edited(before, old, new)
    change = event(
        "RECURRENCE-ID;TZID=Europe/Zurich:20260209T090000",
        "DTSTART;TZID=Europe/Zurich:20260210T090000",
        "DURATION:PT4H",
        "DESCRIPTION:seats: 50",
    )
    found = imported(feed(event(*WEEKLY, "DESCRIPTION:seats: 40"), change), *before)

    assert [file.changes for file in found.files] == [("dates",)]
    assert text_of(found).endswith(
        "    moved:\n      - {date: 2026-02-09, to: {date: 2026-02-10}}\n"
        + before[0].text.decode().partition('13:00"}\n')[2]
    )
    assert [
        reservation.name for reservation in Pipeline(sources=[SITE, *written(found)]).declared.reservations
    ] == ["course"]


NUMBER = """\
  backend:
    type: value
    target: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: a, path: spec.replicas}
"""


@pytest.mark.parametrize("description", ["seats: 40", "small: 40"], ids=["count", "class"])
def test_the_count_of_a_number_is_that_of_the_event(description: str) -> None:
    (before,) = written(imported(feed(event(*WEEKLY, "DESCRIPTION:seats: 30"))))
    before = before._replace(text=before.text + NUMBER.encode())
    change = event(
        "RECURRENCE-ID;TZID=Europe/Zurich:20260209T090000",
        "DTSTART;TZID=Europe/Zurich:20260209T090000",
        "DURATION:PT4H",
        f"DESCRIPTION:{description.replace('40', '50')}",
    )
    found = imported(feed(event(*WEEKLY, f"DESCRIPTION:{description}"), change), before)
    (after,) = Pipeline(sources=sorted([SITE, *written(found)])).declared.reservations

    assert codes(found) == []
    assert (after.holder.backend, after.seats) == ("value", (("small", 40),))
    assert [move.seats for move in after.recurrence.moves] == [(("small", 50),)]


def test_a_reservation_that_stands_has_no_dates_to_update() -> None:
    (before,) = written(imported(feed(event(*WEEKLY))))
    head = before.text.decode().partition("  recurrence:")[0]
    standing = before._replace(text=(head + STANDING).encode())

    assert imported(feed(event(*WEEKLY, "DESCRIPTION:seats: 2")), standing).files == ()


def test_several_reservations_of_one_file_are_updated() -> None:
    two = [event(*WEEKLY, uid=uid, title=f"Course {uid}") for uid in "ab"]
    files = written(imported(feed(*two)))
    both = Source("reservations/all.yaml", b"---\n".join(file.text for file in files))
    (found,) = imported(feed(*(one.replace("SUMMARY:", "SUMMARY:New ") for one in two)), both).files

    assert (found.file, found.changes) == ("reservations/all.yaml", ("title",))
    assert found.text == both.text.decode().replace("title: Course", "title: New Course")


def test_an_event_that_is_gone_or_canceled_is_told_and_its_file_stays() -> None:
    two = (event(*WEEKLY, uid="a", title="A"), event(*WEEKLY, uid="b", title="B"))
    before = written(imported(feed(*two)))
    for rest in ([], [event(*WEEKLY, "STATUS:CANCELLED", uid="b")]):
        found = imported(feed(two[0], *rest), *before, now=NOW)
        assert found.files == ()
        assert [(finding.code, finding.file, finding.line) for finding in found.findings] == [
            ("B208", "reservations/b.yaml", 10)
        ]
    over = imported(feed(two[0]), *before, now=NOW + 366 * 86_400)
    assert over.findings == ()  # feeds drop old events


def test_a_feed_says_nothing_about_the_reservations_of_another() -> None:
    before = written(imported(feed(event(*WEEKLY), name="Other")))

    assert imported(feed(event(*WEEKLY, uid="2")), *before, now=NOW).findings == ()


def test_two_reservations_of_one_event_are_an_error() -> None:
    (one,) = written(imported(feed(event(*WEEKLY))))
    copy = Source("reservations/copy.yaml", one.text.replace(b"name: course", b"name: copy"))
    found = imported(feed(event(*WEEKLY)), one, copy)

    assert [(finding.code, finding.file, finding.severity) for finding in found.findings] == [
        ("B209", "reservations/course.yaml", "error")
    ]


def test_equal_titles_get_names_that_do_not_depend_on_the_order() -> None:
    events = [event(*WEEKLY, uid=uid, title="Exam") for uid in ("a", "b")]
    one, other = ({file.file for file in imported(feed(*some)).files} for some in (events, events[::-1]))

    assert one == other
    assert all(re.fullmatch(r"reservations/exam-[0-9a-f]{6}\.yaml", file) for file in one)


def test_a_name_that_is_taken_is_completed() -> None:
    other = feed(event(*WEEKLY, uid="x"), file="other.ics")
    mine = Source("reservations/course.yaml", written(imported(other))[0].text)
    (found,) = imported(feed(event(*WEEKLY)), mine).files

    assert re.fullmatch(r"reservations/course-[0-9a-f]{6}\.yaml", found.file)


@pytest.mark.parametrize("title", ["", "数学", "-- 9 --", "a" * 300, 'x: "y" #z', "tab\\nline"])
def test_every_title_becomes_a_valid_name(title: str) -> None:
    found = imported(feed(event(*WEEKLY, title=title)))

    assert len(windows(written(found))) == 5


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (("DTSTART:20260202T090000", "DURATION:PT1H", "RRULE:FREQ=DAILY"), ("B206", 10)),
        (("DTSTART:20260202T090000",), ("B206", 5)),
        (("DTSTART:20260202T090000", "DTEND:20260202T090000"), ("B206", 9)),
        (("DTSTART:20260202T090000", "DTEND:20260201T090000"), ("B206", 9)),
        (("DTSTART;TZID=Mars/Base:20260202T090000", "DURATION:PT1H"), ("B206", 8)),
        (("DTSTART:20260202T090000", "DTEND;TZID=Mars/Base:20260202T100000"), ("B206", 9)),
        (("DTSTART:today", "DURATION:PT1H"), ("B206", 8)),
        (("DURATION:PT1H",), ("B206", 5)),
        (("DTSTART:20260202T090000", "DURATION:soon"), ("B206", 9)),
        (("DTSTART:20260202T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;BYDAY=XX;COUNT=3"), ("B206", 10)),
        (("DTSTART:20260202T090000", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=9000"), ("B206", 10)),
        (("DTSTART:20260202T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=TU"), ("B207", 10)),
    ],
    ids=[
        "endless",
        "no-end",
        "empty",
        "backwards",
        "zone",
        "zone-of-end",
        "no-date",
        "no-start",
        "no-length",
        "bad-rule",
        "too-many",
        "start-off-rule",
    ],
)
def test_what_is_not_imported_is_told_with_its_line(lines: tuple[str, ...], place: tuple[str, int]) -> None:
    found = imported(feed(event(*lines)), seats=25)

    assert codes(found) == [place]
    assert (found.files == ()) == (place[0] == "B206")


def test_an_event_without_a_count_needs_the_option() -> None:
    assert codes(imported(feed(event(*WEEKLY)), seats=None)) == [("B206", 5)]


def test_a_change_of_all_following_dates_is_not_imported() -> None:
    change = event("RECURRENCE-ID;RANGE=THISANDFUTURE:20260209T080000Z", *WEEKLY[:2])

    assert codes(imported(feed(event(*WEEKLY), change))) == [("B206", 15)]


@pytest.mark.parametrize("name", ["Europe", "x" * 300], ids=["folder", "long"])
def test_a_time_zone_that_is_no_file_is_told(name: str) -> None:
    broken = event(f"DTSTART;TZID={name}:20260202T090000", "DURATION:PT1H", uid="2")
    found = imported(feed(broken, event(*WEEKLY)))

    assert (codes(found), len(found.files)) == ([("B206", 8)], 1)


def test_one_faulty_event_does_not_hide_the_others() -> None:
    broken = event("DTSTART:20260230T090000", "DURATION:PT1H", uid="2")
    found = imported(feed(broken, event(*WEEKLY)))

    assert (codes(found), len(found.files)) == ([("B206", 8)], 1)


@pytest.mark.parametrize(
    "text",
    [b"", b"kind: Site\n", b"\xff\xfe", b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\n", b"BEGIN:VCALENDAR\n"],
    ids=["empty", "yaml", "not-utf8", "cut-event", "cut"],
)
def test_a_file_that_is_not_a_calendar_is_an_error(text: bytes) -> None:
    found = imported(Source("team.ics", text))

    assert [(finding.code, finding.severity) for finding in found.findings] == [("B205", "error")]
    assert found.files == ()


@settings(max_examples=150)
@given(st.data())
def test_no_damage_to_a_feed_is_an_internal_error(data: st.DataObject) -> None:
    """Lines are lost, repeated, cut, or have the value of another line."""
    file = data.draw(st.sampled_from(sorted(FEEDS.glob("*.ics"))))
    lines = file.read_bytes().splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        at, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        name, value = lines[at].partition(b":")[0], lines[other].partition(b":")[2]
        cut = lines[at][: data.draw(st.integers(0, len(lines[at])))]
        lines[at : at + 1] = data.draw(st.sampled_from(([], [lines[at]] * 2, [cut], [name + b":" + value])))
    source = Source("team.ics", b"\r\n".join([*lines, b""]))
    found = imported(source, first=date(2020, 1, 1), last=date(2030, 12, 31))

    windows(written(found))
    closed = ImportOptions("", None, None, date(2020, 1, 1), date(2030, 12, 31), 0)
    import_closed_dates(read_feed(source), Pipeline(sources=[SITE]), "closed", closed)


def test_changed_dates_without_their_event_and_without_a_length_are_left_out() -> None:
    without, other = (
        event(f"RECURRENCE-ID:2026020{day}T080000Z", f"DTSTART:2026020{day}T090000Z", *length)
        for day, length in ((2, ()), (3, ("DURATION:PT1H",)))
    )
    alone, beside = imported(feed(without)), imported(feed(without, other))

    assert (codes(alone), alone.files) == ([("B206", 5)], ())
    assert codes(beside) == [("B207", 5)]
    assert [file.dates for file in beside.files] == [1]


def test_a_changed_date_without_its_event_is_imported() -> None:
    alone = [
        event(f"RECURRENCE-ID:2026020{day}T080000Z", f"DTSTART:2026020{day}T090000Z", "DURATION:PT1H")
        for day in (2, 5)
    ]

    assert [one for one, *_ in windows(written(imported(feed(*alone))))] == [
        "course/2026-02-02T10:00",
        "course/2026-02-05T10:00",
    ]


def test_the_latest_version_of_an_event_counts() -> None:
    versions = [event(*WEEKLY, f"SEQUENCE:{n}", title=f"Version {n}") for n in (2, 3, 1)]

    assert [file.file for file in imported(feed(*versions)).files] == ["reservations/version-3.yaml"]


def test_events_that_are_over_are_left_out_unless_from_is_given() -> None:
    later = NOW + 365 * 86_400
    over = imported(feed(event(*WEEKLY)), now=later)
    assert (results(over), over.files) == (["over"], ())
    assert len(imported(feed(event(*WEEKLY)), now=later, first=date(2026, 2, 1)).files) == 1


def test_from_and_until_keep_the_rhythm_of_a_rule() -> None:
    every_other = event(*WEEKLY[:2], "RRULE:FREQ=WEEKLY;INTERVAL=2")
    found = imported(feed(every_other), first=date(2026, 2, 10), last=date(2026, 4, 1))

    assert [one[-16:] for one, *_ in windows(written(found))] == [
        "2026-02-16T09:00",
        "2026-03-02T09:00",
        "2026-03-16T09:00",
        "2026-03-30T09:00",
    ]

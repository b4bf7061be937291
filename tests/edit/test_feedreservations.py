"""Which events are one reservation, how a later import finds it, and what it changes."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from difflib import ndiff
from pathlib import Path

import pytest
from berth.edit.feedimport import EventFilter, EventPattern
from berth.notation.refusal import CommandError
from berth.pipeline import Pipeline
from berth.reading.source import Source
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import tabled
from tests.console import ROOT
from tests.edit.events import NOW, SITE, Imported, event, feed, imported, seats, starts, windows, world

WEEKLY = ("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT4H", "RRULE:FREQ=WEEKLY;COUNT=5")
SECOND = "RECURRENCE-ID;TZID=Europe/Zurich:20260209T090000"


def single(day: str, hours: str = "0900-1100", *lines: str, uid: str = "", title: str = "Lab") -> str:
    """Return an event of one date; its UID is its own unless it is given."""
    start, end = hours.split("-")
    dates = (f"DTSTART;TZID=Europe/Zurich:{day}T{start}00", f"DTEND;TZID=Europe/Zurich:{day}T{end}00")
    return event(*dates, *lines, uid=uid or f"{day}{hours}", title=title)


def edited(found: Imported, old: str, new: str) -> Source:
    """Return the only file, edited by a person."""
    assert old in found.text
    return Source(found.files[0].file, found.text.replace(old, new).encode())


def test_an_update_changes_dates_and_counts_and_keeps_the_rest() -> None:
    before = edited(imported(feed(event(*WEEKLY))), "leadTimeMinutes: 30", "leadTimeMinutes: 45 # far")
    before = before._replace(text=before.text.replace(b'"13:00"}', b'"13:00", leadTimeMinutes: 60}'))
    before = before._replace(text=before.text.replace(b"  title: Course\n", b"  title: My course\n"))
    before = Source("reservations/math/algebra.yaml", before.text.replace(b"name: course", b"name: algebra"))
    left_out = "EXDATE;TZID=Europe/Zurich:20260216T090000"
    change = event(SECOND, "DTSTART;TZID=Europe/Zurich:20260210T140000", "DURATION:PT2H", title="Renamed")
    after = imported(feed(event(*WEEKLY, left_out, "DESCRIPTION:seats: 40", title="Renamed"), change), before)
    old, new = before.text.decode().splitlines(), after.text.splitlines()

    assert [(file.file, file.before) for file in after.files] == [(before.file, before.text)]
    assert [line for line in old if line not in new] == [
        "    berth.dev/imported-title: Course",
        "    placeholderCount: 25",
    ]
    assert [line for line in new if line not in old] == [
        "    berth.dev/imported-title: Renamed",
        "    except:",
        "      - 2026-02-16",
        "    moved:",
        '      - {date: 2026-02-09, to: {date: 2026-02-10, startTime: "14:00", endTime: "16:00"}}',
        "    placeholderCount: 40",
    ]
    assert [one for one, *_ in windows(after.sources)] == [
        f"algebra/2026-{day}T09:00" for day in ("02-02", "02-09", "02-23", "03-02")
    ]


def test_the_seat_count_of_the_file_stays_if_the_event_has_none() -> None:
    before = edited(imported(feed(event(*WEEKLY))), "Count: 25", "Count: 31")

    assert imported(feed(event(*WEEKLY)), before, seats=99).results == ["unchanged"]


LIST = ("20260302", "20260305", "20260306", "20260410")


def changed_lines(before: str, after: str) -> list[str]:
    return [line for line in ndiff(before.splitlines(), after.splitlines()) if line[:1] in "+-"]


@tabled("edit")
def test_an_update_leaves_comments_on_all_lines_that_stay(
    dates: list[list[str]], later: list[list[str]], written: dict[str, str], changes: list[str], gone: str
) -> None:
    """A changed line keeps its comment, and what people wrote in it; one that is removed is named."""
    (before,) = imported(feed(*(event(*lines) for lines in dates))).sources
    after, text = feed(*(event(*lines) for lines in later)), before.text.decode()
    for old, new in written.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    found = imported(after, before._replace(text=text.encode()))

    assert changed_lines(text, found.text) == changes
    assert found.outcomes[0].reason == f"dates{gone}"
    assert imported(after, *found.sources).results == ["unchanged"]


@pytest.mark.parametrize("hours", ["0900-1100", "1000-1200"])
def test_a_list_of_dates_keeps_its_comments_and_its_order(hours: str) -> None:
    """Also where all dates get another time, and some of their own."""
    (before,) = imported(feed(*(single(day) for day in LIST))).sources
    text = re.sub(r"- 2026-(\d\d-\d\d)", r"- 2026-\1  # on \1", before.text.decode())
    text = text.replace('"11:00"}', '"11:00", leadTimeMinutes: 60} # lab')
    text = text.replace("- 2026-03-05  # on 03-05\n      - 2026-03-06", "- 2026-03-06")
    text = text.replace("# on 03-06\n", "# on 03-06\n      - 2026-03-05  # on 03-05\n")
    events = feed(*(single(day, hours, uid=day) for day in (*LIST[:-1], "20260411")))
    found = imported(events, before._replace(text=text.encode()))
    start, end = (f"{time[:2]}:{time[2:]}" for time in hours.split("-"))

    assert found.text.partition("    dates:\n")[2].partition("  provisioning:")[0].split("\n") == [
        *(f"      - 2026-{day}  # on {day}" for day in ("03-02", "03-06", "03-05")),
        "      - 2026-04-11",
        "    schedule:",
        f'      - {{startTime: "{start}", endTime: "{end}", leadTimeMinutes: 60}} # lab',
        "",
    ]
    assert found.outcomes[0].reason == 'dates; the line with "# on 04-10" is removed'
    assert imported(events, *found.sources).results == ["unchanged"]


@settings(max_examples=60)
@given(st.data())
def test_comments_do_not_change_what_an_update_writes(data: st.DataObject) -> None:
    """Each comment stays, or the table names it; on a line that stays, it stays."""
    days = st.sets(st.sampled_from([7 * week + day for week in range(8) for day in (0, 0, 2)]), min_size=2)
    hours = st.sampled_from(["0900-1100"] * 4 + ["1000-1200", "0900-1215"])

    def drawn() -> Source:
        texts = [
            (datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=day)).strftime("%Y%m%d")
            for day in sorted(data.draw(days))
        ]
        usual = data.draw(hours)
        return feed(*(single(text, data.draw(st.just(usual) | hours)) for text in texts))

    (before,), later = imported(drawn()).sources, drawn()
    lines = before.text.decode().splitlines()
    commented = [f"{line}  # {n}." if "- " in line else line for n, line in enumerate(lines)]
    plain = imported(later, before)
    found = imported(later, before._replace(text="\n".join([*commented, ""]).encode()))
    new = found.text.splitlines() if found.files else commented
    kind = next(line for line in lines if "type: " in line)
    fresh = imported(later).sources

    assert [one[1:] for one in windows(found.sources or [before])] == [one[1:] for one in windows(fresh)]
    assert [re.sub(r" +# .*", "", line) for line in new] == (
        plain.text.splitlines() if plain.files else lines
    )
    for line, with_comment in zip(lines, commented, strict=True):
        comment = with_comment.removeprefix(line).strip()
        if kind in new and plain.files and line in plain.text.splitlines():
            assert " ".join(with_comment.split()) in [" ".join(one.split()) for one in new]
        assert any(one.endswith(comment) for one in new) or f'"{comment}"' in found.outcomes[0].reason


def test_past_dates_stay_and_new_ones_are_added() -> None:
    files = imported(feed(event(*WEEKLY))).sources
    later = imported(
        feed(event(*(line.replace("COUNT=5", "COUNT=6") for line in WEEKLY))), *files, now=NOW + 50 * 86_400
    )

    assert (later.results, len(windows(later.sources))) == (["updated"], 6)


BY_CLASS = (
    "    seats: [{resourceClass: small, placeholderCount: 5}, {resourceClass: gpu, placeholderCount: 1}]\n"
)


@pytest.mark.parametrize(
    "edits",
    [
        [("  resourceClass: small\n", ""), ("    placeholderCount: 25\n", BY_CLASS)],
        [
            ("    placeholderCount: 25\n", "    nodeCount: 3\n"),
            ("  provisioning:\n", "  backend: {type: nodePool}\n  provisioning:\n"),
        ],
    ],
    ids=["several-classes", "nodes"],
)
def test_seats_of_several_classes_or_nodes_stay_with_the_finding_b207(edits: list[tuple[str, str]]) -> None:
    (before,) = imported(feed(event(*WEEKLY))).sources
    for old, new in edits:
        before = before._replace(text=before.text.replace(old.encode(), new.encode()))
    found = imported(feed(event(*WEEKLY, "DESCRIPTION:seats: 40")), before)

    assert (found.files, [code for code, _ in found.codes]) == ([], ["B207"])


def test_counts_by_class_keep_their_classes() -> None:
    """One import makes reservations of several classes, whatever `--class` is."""
    counts = "DESCRIPTION:gpu: 2\\nsmall: 30"
    before = imported(feed(event(*WEEKLY, counts)), resource_class="gpu")
    after = imported(feed(event(*WEEKLY, counts.replace("30", "40"))), *before.sources)

    assert seats(before.sources) == {"course": {"gpu": 2, "small": 30}}
    assert seats(after.sources) == {"course": {"gpu": 2, "small": 40}}


STANDING = """\
  provisioning: {placeholderCount: 2}
  backend: {type: koordinator, standing: true, owners: [{object: {namespace: lab}}]}
"""


def test_an_update_leaves_a_standing_reservation_unchanged() -> None:
    (before,) = imported(feed(event(*WEEKLY))).sources
    head = before.text.decode().partition("  recurrence:")[0]
    standing = before._replace(text=(head + STANDING).encode())

    assert imported(feed(event(*WEEKLY, "DESCRIPTION:seats: 2")), standing).results == ["unchanged"]


def test_several_reservations_of_one_file_are_updated() -> None:
    two = [event(*WEEKLY, uid=uid, title=f"Course {uid}") for uid in "ab"]
    files = imported(feed(*two)).sources
    both = Source("reservations/all.yaml", b"---\n".join(file.text for file in files))
    found = imported(feed(*(one.replace("T090000", "T100000") for one in two)), both)

    assert (found.results, found.text) == (
        ["updated"] * 2,
        both.text.decode().replace("09:00", "10:00").replace("13:00", "14:00"),
    )


def test_a_removed_or_canceled_event_gets_the_finding_b208_and_its_file_stays() -> None:
    two = (event(*WEEKLY, uid="a", title="A"), event(*WEEKLY, uid="b", title="B"))
    before = imported(feed(*two)).sources
    for rest in ([], [event(*WEEKLY, "STATUS:CANCELLED", uid="b")]):
        found = imported(feed(two[0], *rest), *before)
        assert (found.files, [(one.code, one.file) for one in found.findings]) == (
            [],
            [("B208", "reservations/b.yaml")],
        )
    assert imported(feed(two[0]), *before, now=NOW + 366 * 86_400).findings == []  # feeds drop old events
    assert imported(feed(two[0]), *before, feed="other.ics", is_feed_given=True).codes == []


@pytest.mark.parametrize(
    "change",
    [
        lambda _: world("canceled-after.ics", file="room.ics"),
        lambda source: source._replace(text=source.text.replace(b"STATUS:CONFIRMED", b"STATUS:CANCELED")),
        lambda source: source._replace(text=source.text.replace(b"STATUS:CONFIRMED", b"STATUS:CANCELLED")),
        lambda source: source._replace(
            text=source.text.replace(b"VERSION:2.0", b"VERSION:2.0\nMETHOD:CANCEL")
        ),
    ],
    ids=["outlook", "american", "british", "method"],
)
def test_a_canceled_event_gets_the_finding_b208(change: Callable[[Source], Source]) -> None:
    before = world("canceled-before.ics", file="room.ics")
    found = imported(change(before), *imported(before).sources)

    assert (found.files, found.results, [code for code, _ in found.codes]) == ([], ["canceled"], ["B208"])


def test_a_canceled_title_of_a_busy_event_gets_the_finding_b206() -> None:
    files = imported(feed(event(*WEEKLY))).sources
    found = imported(feed(event(*WEEKLY, title="Canceled: Course")), *files)

    assert (found.files, found.codes) == ([], [("B206", 6)])


def test_a_reservation_of_another_feed_is_never_changed() -> None:
    files = imported(world("feed-with-uid.ics")).sources
    other = imported(world("other-feed-same-uid.ics"), *files)
    named = imported(world("other-feed-same-uid.ics"), *files, is_feed_given=True)
    same = imported(world("other-feed-same-uid.ics"), *files, feed="feed-with-uid.ics", is_feed_given=True)

    assert (other.files, other.codes, 'feed "feed-with-uid.ics"' in other.findings[0].fix) == (
        [],
        [("B206", 5)],
        True,
    )
    assert (named.results, named.codes) == (["new"], [])
    assert same.results == ["updated"]


@tabled("edit")
def test_a_course_with_the_title_of_another_feed_gets_the_finding_b206(
    before: list[str], after: list[str]
) -> None:
    files = imported(feed(*(single(day, title="Colloquium") for day in before))).sources
    renamed = feed(*(single(day, title="Colloquium") for day in after), file="team-2.ics")
    found = imported(renamed, *files)
    same = imported(renamed, *files, feed="team.ics", is_feed_given=True)
    other = imported(renamed, *files, is_feed_given=True)

    assert (found.files, [code for code, _ in found.codes]) == ([], ["B206"])
    assert "its title" in found.findings[0].message
    assert 'feed "team.ics"' in found.findings[0].fix
    assert (same.results, other.results) == (["updated"], ["new"])


def test_two_reservations_of_one_event_are_an_error() -> None:
    (one,) = imported(feed(event(*WEEKLY))).sources
    copy = Source("reservations/copy.yaml", one.text.replace(b"name: course", b"name: copy"))
    found = imported(feed(event(*WEEKLY)), one, copy)

    assert [(finding.code, finding.severity) for finding in found.findings] == [("B209", "error")]


def test_two_events_of_one_uid_get_the_finding_b206_unless_they_are_grouped() -> None:
    apart, joined = imported(world("one-uid.ics")), imported(world("one-uid.ics"), group="uid")

    assert (apart.files, apart.codes) == ([], [("B206", 12)])
    assert (len(joined.files), len(windows(joined.sources))) == (1, 36)


def test_the_latest_version_of_an_event_is_imported() -> None:
    versions = [event(*WEEKLY, f"SEQUENCE:{n}", title=f"Version {n}") for n in (2, 3, 3, 1)]
    found = imported(feed(*versions))

    assert [file.file for file in found.files] == ["reservations/version-3.yaml"]
    assert found.results == ["replaced", "new", "replaced", "replaced"]


def test_events_of_one_title_become_one_reservation_with_a_weekly_rule() -> None:
    """One event for each date, in UTC across the change of clocks; a new export has new UIDs."""
    source = world("one-event-a-date.ics")
    found = imported(source)
    again = source._replace(text=source.text.replace(b"UID:te-", b"UID:other-"))

    assert found.text.partition("  recurrence:\n")[2].partition("  provisioning:")[0] == (
        "    type: weekly\n    startDate: 2026-02-16\n    endDate: 2026-05-27\n"
        "    except:\n      - 2026-04-06\n"
        '    schedule:\n      - {daysOfWeek: [mon, wed], startTime: "10:15", endTime: "12:00"}\n'
    )
    assert (imported(again, *found.sources).results, imported(again, *found.sources).findings) == (
        ["unchanged"],
        [],
    )


@pytest.mark.parametrize("lines", [WEEKLY, WEEKLY[:2]], ids=["rule", "single"])
def test_an_event_with_a_new_uid_is_recognized_by_its_title(lines: tuple[str, ...]) -> None:
    files = imported(feed(event(*lines))).sources
    same = imported(feed(event(*lines, uid="new")), *files)
    other = imported(feed(event(*lines, uid="new", title="Other")), *files)
    beside = imported(feed(event(*lines), event(*lines, uid="new")), *files, group="uid")

    assert (same.results, same.findings) == (["updated"], [])
    assert (other.results, [code for code, _ in other.codes]) == (["new"], ["B208"])
    assert beside.results == ["unchanged", "new"]


@pytest.mark.parametrize("uid", ["", "UID:\n", "UID: \n"], ids=["none", "empty", "blank"])
@pytest.mark.parametrize("lines", [WEEKLY, WEEKLY[:2]], ids=["rule", "single"])
def test_an_event_without_a_uid_is_recognized_by_its_title(lines: tuple[str, ...], uid: str) -> None:
    """Beside events with and without a UID; with another date, it is updated."""
    alone = event(*lines).replace("UID:1@example.org\n", uid)
    others = [event(*lines, title="Other"), alone.replace("Course", "Third")]
    first = imported(feed(alone, *others))
    again = imported(feed(alone, *others), *first.sources)
    later = imported(feed(alone.replace("T09", "T10"), *others), *first.sources)

    assert first.results == ["new"] * 3
    assert (again.results, again.findings) == (["unchanged"] * 3, [])
    assert (later.results, later.findings) == (["updated", "unchanged", "unchanged"], [])


def test_a_new_date_joins_the_reservation_of_its_title() -> None:
    days = ["20260302", "20260309", "20260316", "20260323"]
    files = imported(feed(*(single(day) for day in days))).sources
    more = imported(feed(*(single(day) for day in [*days, "20260327"])), *files)
    one_left = imported(feed(single(days[1])), *files)
    first = imported(feed(single(days[0])))
    second = imported(feed(*(single(day) for day in days[:2])), *first.sources)

    assert (more.results, starts(more)[-1]) == (["updated"], "03-27 08:00")
    assert (one_left.results, starts(one_left)) == (["updated"], ["03-09 08:00"])
    assert (second.results, len(starts(second)), "imported-uid" in second.text) == (["updated"], 2, False)


def test_the_group_option_sets_which_events_share_a_reservation() -> None:
    events = [single("20260304", title="A"), single("20260305", title="A"), event(*WEEKLY, title="A")]

    assert len(imported(feed(*events)).files) == 2
    assert len(imported(feed(*events), group="title").files) == 1
    assert len(imported(feed(*events), group="none").files) == 3
    assert imported(feed(event(*WEEKLY).replace("UID:1@example.org\n", "")), group="uid").codes == [
        ("B206", 4)
    ]


def test_seats_that_add_up_get_the_finding_b207_with_the_group_option() -> None:
    apart, joined = imported(world("rooms.ics")), imported(world("rooms.ics"), group="title")
    later = imported(world("rooms.ics"), *apart.sources, group="title")

    assert [(one.code, "240 seats" in one.message, "--group title" in one.fix) for one in apart.findings] == [
        ("B207", True, True)
    ]
    assert imported(world("rooms.ics"), group="uid").findings == []
    assert (list(seats(joined.sources).values()), joined.findings) == ([{"small": 120}], [])
    assert [code for code, _ in later.codes] == ["B208"]


def test_single_dates_in_several_rooms_become_one_course_with_b207() -> None:
    events = [
        single(day, "0900-1100", f"LOCATION:{room}", f"DESCRIPTION:seats: {count}", uid=f"{day}{room}")
        for day in ("20260302", "20260309", "20260316")
        for room, count in (("A", 20), ("B", 30))
    ]
    found = imported(feed(*events))

    assert (found.codes, len(starts(found)), seats(found.sources)) == (
        [("B207", 4)],
        3,
        {"lab": {"small": 30}},
    )


_UNKNOWN = "RECURRENCE-ID;TZID=Europe/Zurich:20260212T090000"
_TOGETHER = {
    "titles": (
        "",
        "Give --group none",
        [single("20260302", f"1800-{end}") for end in ("1900", "1920", "2000")],
    ),
    "on-one-of-many-dates": (
        *("", "Give --group none"),
        [single("20260309"), single("20260316"), single("20260316", "0900-1215"), single("20260323")],
    ),
    "uid": (
        "uid",
        "Write a UID for each",
        [single("20260302", f"14{end}", uid="x") for end in ("00-1500", "00-1505")],
    ),
    "by-title": (
        "title",
        "Give --group none",
        [event(*WEEKLY, title="Lab"), single("20260216", "0900-1400")],
    ),
    "one-event": (
        *("", "Correct it in the calendar"),
        [
            event(*WEEKLY, title="Lab"),
            *(
                event(change, f"DTSTART;TZID=Europe/Zurich:202602{day}T090000", "DURATION:PT3H", title="Lab")
                for change, day in ((SECOND, "10"), (_UNKNOWN, "09"))
            ),
        ],
    ),
}


@pytest.mark.parametrize(("group", "advice", "events"), _TOGETHER.values(), ids=_TOGETHER)
def test_dates_that_start_together_and_end_apart_are_not_imported_and_the_rest_is(
    group: str, advice: str, events: list[str]
) -> None:
    """They would have one id: of an exam, they may be extra time with seats of its own, or a mistake."""
    rest = single("20260302", title="Other")
    before = imported(feed(single("20260309"), single("20260323"), rest))
    for known in ((), before.sources):
        found = imported(feed(*events, rest), *known, group=group)
        refused = [one for one in found.findings if one.code == "B206"]

        assert {file.file for file in found.files} <= {"reservations/other.yaml"}
        assert [outcome.event for outcome in found.outcomes if outcome.result != "not imported"] == ["Other"]
        assert [one.fix[: len(advice)] for one in refused] == [advice]
    if advice == "Give --group none":
        apart = imported(feed(*events, rest), group="none")
        assert (len(apart.files), [one.code for one in apart.findings]) == (len(events) + 1, [])
        assert windows(apart.sources)


def test_dates_with_different_seats_become_a_list() -> None:
    counts = {"20260302": 30, "20260309": 30, "20260316": 60}
    source = feed(*(single(day, "0900-1100", f"DESCRIPTION:seats: {count}") for day, count in counts.items()))
    found = imported(source)

    assert '- {date: 2026-03-16, startTime: "09:00", endTime: "11:00", placeholderCount: 60}\n' in found.text
    assert imported(source, *found.sources).results == ["unchanged"]


def test_a_group_of_events_in_several_zones_keeps_their_instants() -> None:
    there = event("DTSTART;TZID=America/New_York:20260309T090000", "DURATION:PT2H", uid="ny", title="Lab")
    found = imported(feed(single("20260302"), single("20260304"), there))

    assert starts(found) == ["03-02 08:00", "03-04 08:00", "03-09 13:00"]


def test_a_reservation_is_not_changed_while_one_of_its_events_cannot_be_read() -> None:
    days = [single(day) for day in ("20260302", "20260309", "20260316")]
    group = imported(feed(*days)).sources
    unclear = single("20260316", "0900-1100", "DESCRIPTION:seats: many")
    unread = single("20260316").replace("DTEND;TZID=Europe/Zurich", "DTEND;TZID=Mars/Base")
    for faulty in (unclear, unread):
        found = imported(feed(*days[:2], faulty), *group)
        assert (found.files, [code for code, _ in found.codes]) == ([], ["B206"])
        assert len(starts(imported(feed(*days[:2], faulty)))) == 2
    course = imported(feed(event(*WEEKLY))).sources
    change = event(SECOND, "DTSTART;TZID=Europe/Zurich:20260210T140000", "DURATION:PT2H")
    found = imported(feed(event("DTSTART:soon", *WEEKLY[1:]), change), *course)
    assert (found.files, found.results, found.codes) == ([], ["not imported"] * 2, [("B206", 7)])


def test_equal_titles_get_names_that_do_not_depend_on_the_order() -> None:
    events = [event(*WEEKLY, uid=uid, title="Exam") for uid in ("a", "b")]
    one, other = ({file.file for file in imported(feed(*some)).files} for some in (events, events[::-1]))
    taken = imported(feed(event(*WEEKLY)), *imported(feed(event(*WEEKLY, uid="x"), file="other.ics")).sources)

    assert one == other
    assert all(re.fullmatch(r"reservations/exam-[0-9a-f]{6}\.yaml", file) for file in one)
    assert re.fullmatch(r"reservations/course-[0-9a-f]{6}\.yaml", taken.files[0].file)


@pytest.mark.parametrize("title", ["", "数学", "-- 9 --", "a" * 300, 'x: "y" #z', "tab\\nline"])
def test_every_title_becomes_a_valid_name(title: str) -> None:
    assert len(windows(imported(feed(event(*WEEKLY, title=title))).sources)) == 5


def test_an_event_without_a_seat_count_needs_the_seats_option() -> None:
    assert imported(feed(event(*WEEKLY)), seats=None).codes == [("B206", 4)]


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        ((["title:lab*"], []), "a"),
        (([], ["category:EXAM"]), "a"),
        (([], ["free"]), "b"),
        ((["busy"], []), "b"),
        (([], ["description:Observance*"]), "b"),
    ],
)
def test_the_options_only_and_skip_select_events(patterns: tuple[list[str], list[str]], kept: str) -> None:
    events = [
        event(*WEEKLY, "TRANSP:TRANSPARENT", "DESCRIPTION:Observance\\nof it", uid="a", title="Lab 1"),
        event(*WEEKLY, "CATEGORIES:x,Exam", uid="b", title="Other"),
    ]
    only, skip = (
        tuple(EventPattern.read(option, text) for text in texts)
        for option, texts in zip(("--only", "--skip"), patterns, strict=True)
    )
    found = imported(feed(*events), events=EventFilter(only, skip))

    assert sorted(found.results) == ["new", "skipped"]
    assert f"imported-uid: {kept}\n" in found.text


@pytest.mark.parametrize("text", ["lab*", "title:", "free:x", "kind:x", "", ":x"])
def test_a_malformed_event_pattern_is_refused(text: str) -> None:
    with pytest.raises(CommandError):
        EventPattern.read("--only", text)


@settings(max_examples=100)
@given(st.data())
def test_a_group_has_the_dates_of_its_events(data: st.DataObject) -> None:
    """Whether they become a rule with exceptions or a list."""
    days = data.draw(
        st.sets(st.integers(0, 60), min_size=2, max_size=25)
        | st.sets(st.sampled_from([7 * week + day for week in range(15) for day in (0, 2)]), min_size=2)
    )
    first = datetime(2026, 3, 2, tzinfo=UTC)
    texts = [(first + timedelta(days=day)).strftime("%Y%m%d") for day in sorted(days)]
    hours = [data.draw(st.sampled_from(["0900-1100"] * 5 + ["0900-1200", "1400-1600"])) for _ in texts]
    source = feed(*(single(day, time) for day, time in zip(texts, hours, strict=True)))
    found = imported(source)

    assert [window[0][-16:] for window in windows(found.sources)] == [
        f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:00" for day, time in zip(texts, hours, strict=True)
    ]
    assert imported(source, *found.sources).results == ["unchanged"]


FEEDS: list[Path] = sorted((ROOT / "tests" / "cases" / "feeds").glob("*.ics"))


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_feed_never_causes_an_internal_error(data: st.DataObject) -> None:
    """Lines are lost, repeated, cut, or have the value of another line."""
    lines = data.draw(st.sampled_from(FEEDS)).read_bytes().splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        at, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        name, value = lines[at].partition(b":")[0], lines[other].partition(b":")[2]
        cut = lines[at][: data.draw(st.integers(0, len(lines[at])))]
        lines[at : at + 1] = data.draw(st.sampled_from(([], [lines[at]] * 2, [cut], [name + b":" + value])))
    source = Source("team.ics", b"\r\n".join([*lines, b""]))
    found = imported(source, first=date(2020, 1, 1), last=date(2030, 12, 31))
    closed = imported(source, first=date(2020, 1, 1), last=date(2030, 12, 31), calendar="closed")

    windows(found.sources)
    Pipeline(sources=sorted([SITE, *closed.sources])).findings()

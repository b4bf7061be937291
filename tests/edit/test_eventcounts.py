"""The seats in descriptions of events."""

import pytest
from berth.edit.eventcounts import described_seats
from berth.reading.source import Source
from berth.schema.documentproblems import Refusal

from tests.edit.events import codes, event, feed, imported, results, seats, text_of, world, written

WEEKLY = ("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT4H", "RRULE:FREQ=WEEKLY;COUNT=5")
CLASSES = Source(
    "reservations/classes.yaml",
    b"---\n".join(
        b"apiVersion: berth.dev/v1alpha1\nkind: ResourceClass\n"
        b'metadata: {name: %s}\nspec: {requests: {cpu: "1"}}\n' % name
        for name in (b"data100", b"r")
    ),
)


@pytest.mark.parametrize(
    ("description", "counts"),
    [
        ("seats: 60", {"": 60}),
        ("Seats = 60.", {"": 60}),
        ("seats - 60", {"": 60}),
        ("Number of seats: 60", {"": 60}),
        ("Seats needed: 60 people", {"": 60}),
        ("Pl\u00e4tze: 60", {"": 60}),
        ("60 seats", {"": 60}),
        ("1,200 seats", {"": 1200}),
        ("seats\n60", {"": 60}),
        ('seats: "60"', {"": 60}),
        ("seats\uff1a60", {"": 60}),
        ("<ul><li>seats:&nbsp;<b>60</b></li></ul>", {"": 60}),
        ("Two groups, seats: 60", {"": 60}),
        ("R seats: 4", {"r": 4}),
        ("seats: 4 R", {"r": 4}),
        ("Attendees: 45", {"": 45}),
        ("30 students", {"": 30}),
        ("capacity: 40", {"": 40}),
        ("Personen: 12", {"": 12}),
        ("Anzahl Pl\u00e4tze: 12", {"": 12}),
        ("30 x data100", {"data100": 30}),
        ("30x data100", {"data100": 30}),
        ("30 data100 seats", {"data100": 30}),
        *(
            (line, {"data100": 30, "r": 4})
            for line in (
                "30 data100 + 4 r",
                "30 data100, 4 R",
                "data100 30, r 4",
                "data100: 30; r: 4",
                "30 data100 and 4 r",
                "data100: 30 r: 4",
                "30 data100 4 r",
                "30 seats data100 and r: 4 seats",
            )
        ),
        ("# big exam<br>data100: 30<br>r: 2", {"data100": 30, "r": 2}),
        ('{"data100": 1,200, "r": 2}', {"data100": 1200, "r": 2}),
        ("seats: 32\ndata100: 30\nr: 2", {"data100": 30, "r": 2}),
        ("Room: 101\nhttps://example.org/?seats=3", {}),
        ("Please take your seats", {}),
        ("Students meet at 10:30, for 1st year students", {}),
        ("Attendees: Anna, Bob", {}),
    ],
    ids=ascii,
)
def test_a_count_is_read_whole(description: str, counts: dict[str, int]) -> None:
    assert described_seats(description, ["data100", "r"]).counts == counts


@pytest.mark.parametrize(
    ("description", "code"),
    [
        ("seats: 0", "B012"),
        ("seats: -5", "B012"),
        ("seats: ~60", "B013"),
        ("seats: sixty", "B013"),
        ("seats: 60 (max 80)", "B013"),
        ("r: about 4", "B013"),
        ("seats: 6 r: 3", "B016"),
        ("Remaining seats: 3", "B013"),
        ("Room seats: 200", "B013"),
        ("Exam 10:30 seats: 60", "B013"),
        ("Seats: 30 (r: 4)", "B013"),
        ("30 data100 + 4 large", "B013"),
        ("30 data100, 4 large", "B013"),
        ("data100 and r: 4", "B013"),
        ("30 data100 4", "B013"),
        ("4 r-xl", "B013"),
        ("r nodes: 4\nseats: 6", "B013"),
        ("30 students in 2 rooms", "B013"),
        ("large: 30", "B013"),
        ("seats:", "B013"),
        ("seats -5", "B013"),
        ("We need 60 seats", "B013"),
        ("25-30 seats", "B013"),
        ("seats: 60\nseats: 80", "B016"),
        ("seats: 60\nr: 2", "B016"),
    ],
    ids=ascii,
)
def test_a_count_that_is_not_clear_is_refused(description: str, code: str) -> None:
    with pytest.raises(Refusal) as caught:
        described_seats(description, ["data100", "r"])
    assert caught.value.code == code


@pytest.mark.parametrize("line", ["large: 3", "Hall with 300 seats"])
def test_a_line_like_a_count_beside_one_is_told(line: str) -> None:
    text = f"DESCRIPTION:r: 4\\n{line}"
    result = imported(feed(event(*WEEKLY, text)), CLASSES)

    assert (codes(result), seats([CLASSES, *written(result)])) == ([("B207", 11)], {"course": {"r": 4}})


def test_the_counts_of_the_world() -> None:
    """K04: no default in place of a count that is there, and no part of it."""
    result = imported(world("counts.ics"), seats=7)
    counts = {name: seat["small"] for name, seat in seats(written(result)).items()}

    assert counts == {
        **dict.fromkeys(("c3", "c4", "c8", "c10", "c11", "c12", "c14", "c17", "c18", "c19"), 60),
        **dict.fromkeys(("c1", "c6", "c7"), 1200),
        **dict.fromkeys(("c15", "c16", "c20"), 6),
    }
    refused = [finding.path for finding in result.findings if finding.code == "B206"]
    assert refused == [f'DESCRIPTION of "c{number}"' for number in (2, 5, 9, 13, 21, 22)]
    assert [(finding.code, finding.path) for finding in result.findings if finding.code != "B206"] == [
        ("B207", 'DESCRIPTION of "c16"')
    ]


def test_the_option_class_is_for_events_that_name_none() -> None:
    """K05: one import makes a reservation of two classes; a second one with another class changes nothing."""
    first = imported(world("two-classes.ics"), CLASSES, resource_class="data100", seats=None)
    files = [CLASSES, *written(first)]
    again = imported(world("two-classes.ics"), *files, resource_class="r", seats=99)

    assert seats(files) == {"stats-midterm": {"data100": 30, "r": 2}, "r-workshop": {"r": 4}}
    assert (again.files, results(again), again.findings) == ((), ["unchanged", "unchanged"], ())


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("seats: 40", "r: 2", {"r": 2}),
        ("small: 40", "small: 40\\nr: 2", {"small": 40, "r": 2}),
        ("small: 40\\nr: 2", "r: 3\\nsmall: 50", {"small": 50, "r": 3}),
        ("small: 40\\nr: 2", "r: 3", {"r": 3}),
    ],
    ids=["other-class", "one-more", "other-counts", "one-less"],
)
def test_an_update_follows_the_classes_of_the_event(
    before: str, after: str, expected: dict[str, int]
) -> None:
    first = imported(feed(event(*WEEKLY, f"DESCRIPTION:{before}")), CLASSES)
    source = feed(event(*WEEKLY, f"DESCRIPTION:{after}"))
    second = imported(source, CLASSES, *written(first))

    assert (seats([CLASSES, *written(second)]), [file.changes for file in second.files]) == (
        {"course": expected},
        [("seats",)],
    )
    assert imported(source, CLASSES, *written(second)).files == ()


def test_a_changed_date_may_have_seats_of_several_classes() -> None:
    change = event(
        "RECURRENCE-ID;TZID=Europe/Zurich:20260209T090000",
        "DTSTART;TZID=Europe/Zurich:20260209T090000",
        "DURATION:PT4H",
        "DESCRIPTION:data100: 50\\nr: 9",
    )
    source = feed(event(*WEEKLY, "DESCRIPTION:data100: 30\\nr: 2"), change)
    result = imported(source, CLASSES)
    own = "seats: [{resourceClass: data100, placeholderCount: 50}, {resourceClass: r, placeholderCount: 9}]"

    assert f"moved:\n      - {{date: 2026-02-09, to: {{{own}}}}}\n" in text_of(result)
    assert imported(source, CLASSES, *written(result)).files == ()


def test_seats_that_have_another_form_in_the_file_are_told() -> None:
    (first,) = written(imported(feed(event(*WEEKLY)), CLASSES))
    listed = first.text.replace(b"  resourceClass: small\n", b"").replace(
        b"    placeholderCount: 25\n",
        b"    seats: [{resourceClass: r, placeholderCount: 5},"
        b" {resourceClass: small, placeholderCount: 1}]\n",
    )
    result = imported(feed(event(*WEEKLY, "DESCRIPTION:seats: 40")), CLASSES, first._replace(text=listed))

    assert (codes(result), result.files) == ([("B207", 11)], ())

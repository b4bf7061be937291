"""The record of an occurrence has what was promised and what came, and stays small."""

import json
from random import Random

from berth.core.record import (
    MAX_FAULT_TEXT,
    MAX_POINTS,
    MAX_RECORD_BYTES,
    OccurrenceRecord,
    Points,
    PoolObservation,
    merge_records,
    parse_records,
    record_text,
    with_faults,
    with_observation,
    with_point,
)
from berth.core.timetable import TimetableOccurrence

from tests.runtime.world import at

ITEM = TimetableOccurrence(
    "course/1", at("07:30"), at("08:00"), at("10:00"), (("small", 25), ("huge", 2), ("none", 0))
)


def look(name: str, wanted: int, ready: int, sessions: int | None = None) -> PoolObservation:
    counts = None if sessions is None else {"course/1": sessions}
    return PoolObservation(name, wanted, ready, counts, at("08:15"))


def told() -> OccurrenceRecord:
    record = OccurrenceRecord("course/1")
    for moment, small, huge in (
        ("07:30", look("small", 25, 0, 0), look("huge", 2, 2)),
        ("07:34", look("small", 25, 25, 0), look("huge", 2, 2)),
        ("08:10", look("small", 12, 12, 13), look("huge", 2, 0)),
        ("08:20", look("small", 20, 12, 5), look("other", 9, 0, 9)),
    ):
        record = with_observation(record, ITEM, (small, huge), at("07:55"), at(moment))
    return record


def test_a_record_has_what_was_promised_when_it_was_ready_and_what_came() -> None:
    assert told() == OccurrenceRecord(
        "course/1",
        {"small": 25, "huge": 2},
        at("07:34"),
        {"small": 13},
        {"small": ((at("07:30"), 25), (at("08:10"), 12), (at("08:20"), 20)), "huge": ((at("07:30"), 2),)},
        (at("07:30"), at("08:00"), at("10:00")),
        at("07:30"),
        {"small": {"lost": 8}},
    )


def test_it_is_ready_only_with_all_its_classes() -> None:
    small = look("small", 25, 25)
    record = with_observation(OccurrenceRecord("course/1"), ITEM, (small,), at("07:55"), at("07:34"))

    assert record.ready_at is None


def test_the_text_is_this() -> None:
    assert json.loads(record_text([OccurrenceRecord("course/0", {"small": 3}), told()])) == [
        {"occurrence": "course/0", "promised": {"small": 3}, "targets": {}},
        {
            "occurrence": "course/1",
            "open": "2026-02-02T07:30:00Z",
            "start": "2026-02-02T08:00:00Z",
            "end": "2026-02-02T10:00:00Z",
            "firstReadyAt": "2026-02-02T07:30:00Z",
            "readyAt": "2026-02-02T07:34:00Z",
            "promised": {"small": 25, "huge": 2},
            "sessionsPeak": {"small": 13},
            "shortfalls": {"small": {"lost": 8}},
            "targets": {
                "small": [
                    ["2026-02-02T07:30:00Z", 25],
                    ["2026-02-02T08:10:00Z", 12],
                    ["2026-02-02T08:20:00Z", 20],
                ],
                "huge": [["2026-02-02T07:30:00Z", 2]],
            },
        },
    ]


def test_a_successor_reads_what_was_told() -> None:
    records = [OccurrenceRecord("course/0", {"small": 3}), told()]

    assert parse_records(record_text(records)) == {record.occurrence: record for record in records}


def test_the_record_of_an_older_release_is_read() -> None:
    old = """[{"occurrence": "course/1", "promised": {"small": 3}, "readyAt": "2026-02-02T07:34:00Z",
        "targets": {"small": [["2026-02-02T07:30:00Z", 3]]}}]"""

    assert parse_records(old) == {
        "course/1": OccurrenceRecord(
            "course/1", {"small": 3}, at("07:34"), targets={"small": ((at("07:30"), 3),)}
        )
    }


def test_what_somebody_has_broken_is_forgotten() -> None:
    broken = (
        "",
        "{",
        "7",
        "[7]",
        '[{"occurrence": "a"}]',
        '[{"occurrence": [], "promised": {}, "targets": {}}]',
        '[{"occurrence": 7, "promised": {}, "targets": {}}]',
        '[{"occurrence": "a", "promised": {"small": 1e999}, "targets": {}}]',
        '[{"occurrence": "a", "promised": [], "targets": {}}]',
        '[{"occurrence": "a", "promised": {"small": "x"}, "targets": {}}]',
        '[{"occurrence": "a", "promised": {}, "targets": {"small": [["noon", 1]]}}]',
        '[{"occurrence": "a", "promised": {}, "targets": {"small": 5}}]',
        '[{"occurrence": "a", "promised": {}, "targets": {}, "open": "2026-02-02T07:30:00Z"}]',
        '[{"occurrence": "a", "promised": {}, "targets": {}, "shortfalls": {"small": 3}}]',
        '[{"occurrence": "a", "promised": {}, "targets": {}, "faults": 3}]',
    )

    assert [parse_records(text) for text in broken] == [{}] * len(broken)


def test_two_pods_make_one_record() -> None:
    after = OccurrenceRecord(
        "course/1",
        {"small": 25},
        at("09:00"),
        {"small": 20},
        {"small": ((at("09:00"), 20), (at("09:10"), 5))},
        shortfalls={"small": {"lost": 5}, "huge": {"notReady": 1}},
        faults=("run: ApiError: gone",),
    )

    assert merge_records(told(), after) == OccurrenceRecord(
        "course/1",
        {"small": 25},
        at("07:34"),
        {"small": 20},
        {
            "small": ((at("07:30"), 25), (at("08:10"), 12), (at("08:20"), 20), (at("09:10"), 5)),
            "huge": ((at("07:30"), 2),),
        },
        (at("07:30"), at("08:00"), at("10:00")),
        at("07:30"),
        {"small": {"lost": 8}, "huge": {"notReady": 1}},
        ("run: ApiError: gone",),
    )


def test_faults_are_few_and_short() -> None:
    record = OccurrenceRecord("course/1")
    for number in range(9):
        record = with_faults(record, ["always", f"{number} " + "x" * 1000])

    assert record.faults[0] == "always"
    assert [fault[:2] for fault in record.faults[1:]] == ["0 ", "1 ", "2 ", "3 "]
    assert max(map(len, record.faults)) == MAX_FAULT_TEXT


def test_of_a_target_that_moves_often_the_ends_and_the_largest_changes_are_kept() -> None:
    for seed in range(20):
        random = Random(seed)
        points: Points = ()
        values = [random.randrange(10) for _ in range(300)]
        for n, value in enumerate(values):
            points = with_point(points, n, 1000 if n == 150 else value)

        assert len(points) <= MAX_POINTS
        assert (points[0][1], points[-1][1]) == (values[0], values[-1])
        assert [value for _, value in points if value >= 10] == [1000]
        assert [at for at, _ in points] == sorted({at for at, _ in points})


def test_after_a_thousand_windows_the_record_has_the_last_ones() -> None:
    name = "x" * 60
    targets = {cls: tuple((n, n) for n in range(MAX_POINTS)) for cls in "abcdefgh"}
    found = record_text([OccurrenceRecord(f"{name}/{n}", targets=targets) for n in range(1000)])

    assert len(found) < MAX_RECORD_BYTES + 4000
    assert json.loads(found)[-1]["occurrence"] == f"{name}/999"

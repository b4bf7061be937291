"""The record of an occurrence, who is told in time, and that what cannot be told disturbs nothing."""

import json
from functools import partial
from random import Random

import pytest
from berth.core.record import (
    MAX_FAULT_TEXT,
    MAX_POINTS,
    MAX_RECORD_BYTES,
    OccurrenceRecord,
    Points,
    PoolObservation,
    merge_records,
    parse_records,
    readiness_due,
    record_text,
    with_faults,
    with_observation,
    with_point,
)
from berth.core.timetable import TimetableOccurrence, TimetableSettings
from berth.runtime.recorder import Recorder

from tests.objectstore import no_answer, refusal
from tests.runtime.fake_cluster import CONFIGMAPS
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.timetables import COURSE, NEXT, Row, at, timetable_text

# The record


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


def test_an_occurrence_is_ready_only_if_all_its_classes_are_ready() -> None:
    small = look("small", 25, 25)
    record = with_observation(OccurrenceRecord("course/1"), ITEM, (small,), at("07:55"), at("07:34"))

    assert record.ready_at is None


def test_records_survive_a_round_trip_through_text() -> None:
    records = [OccurrenceRecord("course/0", {"small": 3}), told()]

    assert parse_records(record_text(records)) == {record.occurrence: record for record in records}


def test_malformed_records_are_ignored() -> None:
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


def test_records_of_two_pods_are_merged() -> None:
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


def test_a_record_limits_the_number_and_length_of_faults() -> None:
    record = OccurrenceRecord("course/1")
    for number in range(9):
        record = with_faults(record, ["always", f"{number} " + "x" * 1000])

    assert record.faults[0] == "always"
    assert [fault[:2] for fault in record.faults[1:]] == ["0 ", "1 ", "2 ", "3 "]
    assert max(map(len, record.faults)) == MAX_FAULT_TEXT


def test_a_record_keeps_the_ends_and_the_largest_changes_of_a_target() -> None:
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


def test_the_record_of_a_thousand_windows_is_cut_to_the_last_windows() -> None:
    name = "x" * 60
    targets = {cls: tuple((n, n) for n in range(MAX_POINTS)) for cls in "abcdefgh"}
    found = record_text([OccurrenceRecord(f"{name}/{n}", targets=targets) for n in range(1000)])

    assert len(found) < MAX_RECORD_BYTES + 4000
    assert json.loads(found)[-1]["occurrence"] == f"{name}/999"


# The recorder


@pytest.mark.parametrize(
    ("opens", "start", "expected"),
    [("07:30", "08:00", "07:55:00"), ("07:57", "08:00", "07:58"), ("08:00", "08:00", "08:01")],
)
def test_readiness_is_due_five_minutes_before_start_or_a_minute_after_opening(
    opens: str, start: str, expected: str
) -> None:
    item = TimetableOccurrence("course/1", at(opens), at(start), at("10:00"), ())

    assert readiness_due(item, TimetableSettings()) == at(expected)


def late_world() -> ScalerPod:
    world = ScalerPod("07:30", timetable_text(COURSE), small=0)
    world.cluster.ready["course-small"] = 12
    world.plan("08:10:02", world.cluster.ready.clear)
    return world


def test_an_event_that_could_not_be_sent_is_sent_later() -> None:
    world = late_world()
    world.cluster.interfere("/events", no_answer())
    world.interfere_at("08:02", "", None)
    world.run(until="08:05")

    assert [event["reason"] for event in world.cluster.events] == ["SeatsNotReady"]


def test_the_record_is_in_a_config_map_and_in_the_log() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE, NEXT), small=0)
    world.run()

    assert [line["occurrence"] for line in world.told("over")] == ["course/1", "course/2"]
    records = world.cluster.records()
    assert records == [{k: v for k, v in line.items() if k != "time"} for line in world.told("over")]
    assert records[0] == {
        "occurrence": "course/1",
        "open": "2026-02-02T07:30:00Z",
        "start": "2026-02-02T08:00:00Z",
        "end": "2026-02-02T10:00:00Z",
        "firstReadyAt": "2026-02-02T07:30:08Z",
        "readyAt": "2026-02-02T07:30:08Z",
        "promised": {"small": 25},
        "targets": {"small": [["2026-02-02T07:30:00Z", 25]]},
    }


def test_the_record_is_written_at_most_twice_a_minute() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE, behaviour="maintain"), small=0)
    world.sessions(small={"course/1": 0})
    for second in range(0, 60, 5):
        world.plan(f"08:00:{second:02d}", partial(world.sessions, small={"course/1": second // 5}))
    world.run(until="08:02")

    assert world.cluster.record_writes == 5  # the opening, and what changes in that minute
    assert world.cluster.records()[0]["sessionsPeak"] == {"small": 11}


def test_the_next_pod_goes_on_with_the_record() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE, behaviour="maintain"), small=0)
    world.sessions(small={"course/1": 7})
    world.run(until="08:00")
    world.sessions(small={"course/1": 3})
    world.run()

    (record,) = world.cluster.records()
    assert record["sessionsPeak"] == {"small": 7}
    assert record["targets"]["small"][0] == ["2026-02-02T07:30:00Z", 18]


def test_the_next_job_keeps_the_records_of_earlier_windows() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE), small=0)
    world.run()
    later: Row = ("course/9", "15:30", "16:00", "17:00", {"small": 25})
    world.cluster.timetable = timetable_text(later)
    world.pass_time(at("15:29") - world.now)
    world.run()

    assert [record["occurrence"] for record in world.cluster.records()] == ["course/1", "course/9"]


ALL: dict[str, int] = {}
TWELVE, TWENTY = {"course-small": 12}, {"course-small": 20}
SHORTFALLS = {  # when it begins; which are ready from when on; how many were missing; when all were ready
    "late-and-lost": (
        "07:30",
        {"07:30": TWELVE, "08:10:02": ALL, "09:00:02": TWENTY},
        {"notReady": 13, "lost": 5},
        ("07:30:08", "08:10:08"),
    ),
    "back-within-a-minute": ("07:30", {"09:00:02": TWENTY, "09:00:50": ALL}, None, ("07:30:08",) * 2),
    "began-late": ("07:57", {"07:57": TWELVE}, {"openedLate": 13}, ("07:57:08", None)),
}


@pytest.mark.parametrize(("now", "ready", "missing", "times"), SHORTFALLS.values(), ids=SHORTFALLS)
def test_the_record_says_how_many_seats_were_missing_and_why(
    now: str, ready: dict[str, dict[str, int]], missing: object, times: tuple[str | None, ...]
) -> None:
    world = ScalerPod(now, timetable_text(COURSE), small=0)
    for when, those in ready.items():
        world.plan(when, partial(setattr, world.cluster, "ready", those))
    world.run()

    (record,) = world.cluster.records()
    assert record.get("shortfalls", {}).get("small") == missing
    found = (record.get(key) for key in ("firstReadyAt", "readyAt"))
    assert tuple(moment and moment[11:19] for moment in found) == times


def test_a_failure_that_lasts_a_minute_is_recorded_as_a_fault() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE), small=0)
    world.interfere_at("08:00", "/deployments/course-small", refusal(500, "InternalError"))
    world.interfere_at("08:00:30", "", None)
    world.interfere_at("09:00", "/deployments/course-small", refusal(500, "InternalError"))
    world.interfere_at("09:02", "", None)
    world.run()

    assert world.cluster.records()[0]["faults"] == ["deployment course-small: 500 InternalError: no"]


def test_the_record_has_the_labels_of_its_reservation_and_no_owner() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE), small=0)
    world.run(until="08:00")

    assert world.cluster.record is not None
    metadata = world.cluster.record["metadata"]
    assert metadata["name"] == "course-record"
    assert metadata["labels"] == {
        "berth.dev/site": "example",
        "berth.dev/reservation": "course",
        "berth.dev/role": "record",
    }
    assert "ownerReferences" not in metadata


def test_a_malformed_record_is_replaced() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE), small=0)
    broken = {"kind": "ConfigMap", "metadata": {"name": "course-record"}, "data": {"records.json": "{"}}
    world.cluster.put(CONFIGMAPS, broken)
    world.run(until="08:00")

    assert [record["occurrence"] for record in world.cluster.records()] == ["course/1"]


@pytest.mark.parametrize("part", ["tell_open", "note", "send", "send_last"])
def test_a_bug_in_the_recorder_does_not_affect_seats(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(Recorder, part, fail)
    world = late_world()

    assert world.run() == 0
    assert world.writes == [("07:30:00", "small", 25), ("10:00:00", "small", 0)]
    assert [(line["subject"], line["reason"]) for line in world.told("failed")] == [
        ("record", "RuntimeError")
    ]

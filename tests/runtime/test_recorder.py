"""People are told in time whether the seats are ready, and what cannot be told disturbs nothing."""

from functools import partial

import pytest
from berth.core.objects import EventSubject
from berth.core.record import LATE, READY, UNKNOWN, PoolObservation, judge_readiness, readiness_due
from berth.core.timetable import TimetableOccurrence, TimetableSettings, parse_timetable
from berth.runtime.apiclient import Api
from berth.runtime.program import Log
from berth.runtime.recorder import Recorder

from tests.objectstore import no_answer, refusal
from tests.runtime.fake_cluster import CONFIGMAPS, FakeCluster
from tests.runtime.world import COURSE, NEXT, Row, World, at, timetable_text


@pytest.mark.parametrize(
    ("opens", "start", "expected"),
    [("07:30", "08:00", "07:55:00"), ("07:57", "08:00", "07:58"), ("08:00", "08:00", "08:01")],
)
def test_it_is_asked_five_minutes_before_the_start_but_not_at_once(
    opens: str, start: str, expected: str
) -> None:
    item = TimetableOccurrence("course/1", at(opens), at(start), at("10:00"), ())

    assert readiness_due(item, TimetableSettings()) == at(expected)


@pytest.mark.parametrize(
    ("before", "now", "ready", "short_since", "expected"),
    [
        pytest.param(UNKNOWN, 999, 0, 0, UNKNOWN, id="too-early"),
        pytest.param(UNKNOWN, 1000, 9, 0, LATE, id="late"),
        pytest.param(UNKNOWN, 1000, 9, 941, UNKNOWN, id="short-for-a-moment"),
        pytest.param(UNKNOWN, 1001, 9, 941, LATE, id="short-for-a-minute"),
        pytest.param(UNKNOWN, 1000, 10, 0, READY, id="in-time"),
        pytest.param(LATE, 1100, 9, 0, LATE, id="still-late"),
        pytest.param(LATE, 1100, 10, 0, READY, id="ready-at-last"),
        pytest.param(READY, 1100, 0, 0, READY, id="placeholders-that-gave-way"),
    ],
)
def test_how_readiness_is_judged(before: str, now: int, ready: int, short_since: int, expected: str) -> None:
    look = PoolObservation("small", 10, ready, None, short_since)

    assert judge_readiness(before, 1000, look, now) == expected


def late_world() -> World:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.cluster.ready["course-small"] = 12
    world.plan("08:10:02", world.cluster.ready.clear)
    return world


def test_seats_that_are_not_ready_are_told_once_and_again_when_they_are() -> None:
    world = late_world()
    world.run(until="09:00")

    assert [
        (event["type"], event["reason"], event["message"], event["firstTimestamp"][11:19])
        for event in world.cluster.events
    ] == [
        (
            "Warning",
            "SeatsNotReady",
            "12 of 25 placeholders of small are ready for course/1, which starts at 2026-02-02T08:00:00Z. "
            "Look at the pods of this Deployment that are Pending, and at the events of the cluster's "
            "autoscaler.",
            "07:55:04",
        ),
        ("Normal", "SeatsReady", "All 25 placeholders of small are ready for course/1.", "08:10:08"),
    ]
    assert world.cluster.events[0]["involvedObject"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "namespace": "berth",
        "name": "course-small",
        "uid": "uid-of-course-small",
    }
    assert world.told("late") == [
        {
            "time": "07:55:04",
            "occurrence": "course/1",
            "pool": "small",
            "wanted": 25,
            "ready": 12,
            "start": "2026-02-02T08:00:00Z",
        }
    ]
    assert world.told("ready") == [{"time": "08:10:08", "occurrence": "course/1", "pool": "small"}]


def test_seats_that_are_ready_in_time_are_no_news() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.run(until="09:00")

    assert (world.cluster.events, world.told("late")) == ([], [])


@pytest.mark.parametrize("part", ["/events", "/configmaps/course-record"])
@pytest.mark.parametrize(
    "outcome", [no_answer(), refusal(403, "Forbidden"), refusal(500, "InternalError"), RuntimeError("a bug")]
)
def test_what_cannot_be_told_disturbs_no_seat(part: str, outcome: Exception) -> None:
    world = late_world()
    world.cluster.interfere(part, outcome)

    assert world.run() == 0
    assert world.writes == [("07:30:00", "small", 25), ("10:00:00", "small", 0)]
    assert len([line for line in world.log if line["event"] == "failed"]) == 1


def test_an_event_that_could_not_be_sent_is_sent_later() -> None:
    world = late_world()
    world.cluster.interfere("/events", no_answer())
    world.interfere_at("08:02", "", None)
    world.run(until="08:05")

    assert [event["reason"] for event in world.cluster.events] == ["SeatsNotReady"]


def test_a_config_map_keeps_the_record_and_the_log_has_it_too() -> None:
    world = World("07:30", timetable_text(COURSE, NEXT), small=0)
    world.run()

    assert [line["occurrence"] for line in world.told("over")] == ["course/1", "course/2"]
    records = world.cluster.records()
    assert records == [{k: v for k, v in line.items() if k != "time"} for line in world.told("over")]
    assert records == [
        {
            "occurrence": "course/1",
            "open": "2026-02-02T07:30:00Z",
            "start": "2026-02-02T08:00:00Z",
            "end": "2026-02-02T10:00:00Z",
            "firstReadyAt": "2026-02-02T07:30:08Z",
            "readyAt": "2026-02-02T07:30:08Z",
            "promised": {"small": 25},
            "targets": {"small": [["2026-02-02T07:30:00Z", 25]]},
        },
        {
            "occurrence": "course/2",
            "open": "2026-02-02T09:30:00Z",
            "start": "2026-02-02T10:00:00Z",
            "end": "2026-02-02T12:00:00Z",
            "firstReadyAt": "2026-02-02T09:30:00Z",
            "readyAt": "2026-02-02T09:30:00Z",
            "promised": {"small": 25},
            "targets": {"small": [["2026-02-02T09:30:00Z", 25]]},
        },
    ]


def test_the_record_is_written_twice_a_minute_however_often_it_changes() -> None:
    world = World("07:30", timetable_text(COURSE, behaviour="maintain"), small=0)
    world.sessions(small={"course/1": 0})
    for second in range(0, 60, 5):
        world.plan(f"08:00:{second:02d}", partial(world.sessions, small={"course/1": second // 5}))
    world.run(until="08:02")

    assert world.cluster.record_writes == 5  # the opening, and what changes in that minute
    assert world.cluster.records()[0]["sessionsPeak"] == {"small": 11}


def test_the_next_pod_goes_on_with_the_record() -> None:
    world = World("07:30", timetable_text(COURSE, behaviour="maintain"), small=0)
    world.sessions(small={"course/1": 7})
    world.run(until="08:00")
    world.sessions(small={"course/1": 3})
    world.run()

    (record,) = world.cluster.records()
    assert record["sessionsPeak"] == {"small": 7}
    assert record["targets"]["small"][0] == ["2026-02-02T07:30:00Z", 18]


def test_the_next_job_keeps_the_records_of_the_windows_before() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.run()
    later: Row = ("course/9", "15:30", "16:00", "17:00", {"small": 25})
    world.cluster.timetable = timetable_text(later)
    world.pass_time(at("15:29") - world.now)
    world.run()

    assert [record["occurrence"] for record in world.cluster.records()] == ["course/1", "course/9"]


def test_the_record_has_how_many_seats_were_missing_and_why() -> None:
    world = late_world()
    world.plan("09:00:02", partial(world.cluster.ready.update, {"course-small": 20}))
    world.run()

    (record,) = world.cluster.records()
    assert record["firstReadyAt"] == "2026-02-02T07:30:00Z"
    assert record["readyAt"] == "2026-02-02T08:10:08Z"
    assert record["shortfalls"] == {"small": {"notReady": 13, "lost": 5}}


def test_seats_that_are_back_within_a_minute_were_not_missing() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.plan("09:00:02", partial(world.cluster.ready.update, {"course-small": 20}))
    world.plan("09:00:50", world.cluster.ready.clear)
    world.run()

    assert "shortfalls" not in world.cluster.records()[0]


def test_a_pod_that_comes_too_late_says_so() -> None:
    world = World("07:57", timetable_text(COURSE), small=0)
    world.cluster.ready["course-small"] = 12
    world.run()

    assert world.cluster.records()[0]["shortfalls"] == {"small": {"openedLate": 13}}


def test_what_does_not_work_for_a_minute_is_a_fault() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.interfere_at("08:00", "/deployments/course-small", refusal(500, "InternalError"))
    world.interfere_at("08:00:30", "", None)
    world.interfere_at("09:00", "/deployments/course-small", refusal(500, "InternalError"))
    world.interfere_at("09:02", "", None)
    world.run()

    assert world.cluster.records()[0]["faults"] == ["deployment course-small: 500 InternalError: no"]


def test_the_record_says_whose_it_is_and_has_no_owner() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
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


def test_what_somebody_broke_in_the_record_is_written_anew() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    broken = {"kind": "ConfigMap", "metadata": {"name": "course-record"}, "data": {"records.json": "{"}}
    world.cluster.put(CONFIGMAPS, broken)
    world.run(until="08:00")

    assert [record["occurrence"] for record in world.cluster.records()] == ["course/1"]


def test_without_a_name_nothing_is_written() -> None:
    cluster = FakeCluster(None, {})
    log = Log(lambda _: None, lambda: 0.0, "course")
    recorder = Recorder(Api(cluster), "berth", "", log)
    timetable, look = parse_timetable(timetable_text(COURSE)), PoolObservation("small", 25, 25, None, 0.0)
    recorder.tell_open(timetable, at("07:30"))
    subjects = {"small": EventSubject("berth", "course-small", "")}
    recorder.note(timetable, [look], subjects, at("07:30"))
    recorder.send_last(at("07:30"))

    assert cluster.requests == []


@pytest.mark.parametrize("part", ["tell_open", "note", "send", "send_last"])
def test_a_bug_in_what_is_told_disturbs_no_seat(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(Recorder, part, fail)
    world = late_world()

    assert world.run() == 0
    assert world.writes == [("07:30:00", "small", 25), ("10:00:00", "small", 0)]
    assert [(line["subject"], line["reason"]) for line in world.told("failed")] == [
        ("record", "RuntimeError")
    ]

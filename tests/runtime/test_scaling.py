"""A scaler's loop: how long it stays, what it says and logs, and how pools follow sessions and edits."""

import json

import pytest
from berth.core.timetable import parse_timetable
from berth.runtime.scaler import TICK

from tests.leading import CASES, part_of
from tests.objectstore import no_answer, refusal
from tests.runtime.fake_cluster import LEASES
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.slotworld import slots
from tests.runtime.timetables import COURSE, NEXT, Row, at, timetable_text

ONCE, MAINTAIN = timetable_text(COURSE), timetable_text(COURSE, behaviour="maintain")
TWO = {"small": "course-small", "huge": "course-huge"}
BOTH: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})


# How long it stays


def test_the_log_tells_a_whole_run_in_a_few_lines() -> None:
    pod = ScalerPod("07:29:07", timetable_text(COURSE), small=0)
    pod.run()

    assert [(str(line["time"])[11:19], line["event"]) for line in pod.log] == [
        ("07:29:07", "timetable"),
        ("07:29:07", "lease"),
        ("07:29:07", "waiting"),
        ("07:30:00", "open"),
        ("07:30:00", "scaled"),
        ("10:00:00", "over"),
        ("10:00:00", "scaled"),
        ("10:00:00", "ended"),
    ]
    line = {"pool": "small", "deployment": "course-small", "sessions": None, "override": None, "reset": False}
    assert pod.told("scaled") == [
        {**line, "time": "07:30:00", "occurrences": ["course/1"], "from": 0, "to": 25},
        {**line, "time": "10:00:00", "occurrences": [], "from": 25, "to": 0},
    ]


def test_the_log_shows_sessions_overrides_and_resets() -> None:
    pod = ScalerPod("07:29:07", MAINTAIN, small=0)
    pod.arrive(5)
    override = '{"small": {"target": 60, "until": "2026-02-02T09:00:00Z"}}'
    pod.plan("08:00:01", lambda: pod.cluster.annotate(override))
    for when in ("09:30:01", "10:30:01"):
        pod.plan(when, lambda: pod.cluster.set("course-small", 3))
    pod.run()

    keys = ("sessions", "override", "from", "to", "reset")
    assert [tuple(line[key] for key in keys) for line in pod.told("scaled")] == [
        (5, None, 0, 20, False),
        (5, 60, 20, 60, False),
        (5, None, 60, 20, False),
        (5, None, 3, 20, True),
        (None, None, 20, 0, False),
    ]


SOON: Row = ("course/2", "10:02", "10:30", "11:00", {"small": 5})
STAYS = {
    "no-occurrence": (timetable_text(), "08:30", 0, [], "08:30:00"),
    "opens-later": (timetable_text(NEXT), "08:30", 0, [], "08:30:00"),
    "suspended": (timetable_text(COURSE, suspend=True), "08:30", 0, [], "08:30:00"),
    "no-pool": (timetable_text(pools={}), "08:30", 0, [], "08:30:00"),
    "closes-what-stands": (ONCE, "12:00", 7, [("12:00:00", 0)], "12:00:00"),
    "opens-in-two-minutes": (ONCE, "07:28", 0, [("07:30:00", 25), ("10:00:00", 0)], "10:00:00"),
    "opens-a-second-later": (ONCE, "07:27:59", 0, [], "07:27:59"),
    "another-opens-soon-after-the-end": (
        timetable_text(COURSE, SOON),
        "09:00",
        25,
        [("10:00:00", 0), ("10:02:00", 5), ("11:00:00", 0)],
        "11:00:00",
    ),
    "asks-for-nothing": (timetable_text((*COURSE[:4], {"small": 0})), "08:00", 0, [], "10:00:00"),
}


@pytest.mark.parametrize(("text", "now", "replicas", "seats", "ended"), STAYS.values(), ids=STAYS)
def test_the_scaler_stays_while_a_window_is_open_or_opens_within_two_minutes(
    text: str, now: str, replicas: int, seats: list[tuple[str, int]], ended: str
) -> None:
    pod = ScalerPod(now, text, small=replicas)

    assert pod.run() == 0
    assert pod.seats == seats
    assert pod.told("ended") == [{"time": ended, "reason": "nothing is open"}]
    assert bool(pod.sleeps) == (ended > f"{now}:00"[:8])


WORDS = {
    "open": (MAINTAIN, "08:00", "", "10:00"),
    "opens-soon": (MAINTAIN, "07:28:30", "", "10:00"),
    "the-last-end-counts": (timetable_text(COURSE, NEXT), "09:45", "", "12:00"),
    "an-override-is-longer": (MAINTAIN, "08:00", "11:00", "11:00"),
    "an-override-is-over": (MAINTAIN, "08:00", "07:59", "10:00"),
}


@pytest.mark.parametrize(("text", "now", "override", "expected"), WORDS.values(), ids=WORDS)
def test_the_scaler_reports_until_when_the_pod_is_needed(
    text: str, now: str, override: str, expected: str
) -> None:
    pod = ScalerPod(now, text, small=0)
    if override:
        pod.cluster.annotate(f'{{"small": {{"target": 1, "until": "2026-02-02T{override}:00Z"}}}}')
    pod.scaler.step()

    assert pod.word == str(at(expected))


def test_the_scaler_reports_the_current_time_while_a_pool_cannot_be_closed() -> None:
    pod = ScalerPod("10:20", MAINTAIN, small=25)
    pod.cluster.interfere("PATCH", no_answer())
    pod.scaler.step()
    assert (pod.word, pod.scaler.exit_code) == (str(at("10:20")), None)

    pod.cluster.interfere("PATCH", None)
    pod.now += TICK
    pod.scaler.step()
    assert (pod.word, pod.scaler.exit_code) == ("closed", 0)


def test_the_scaler_reports_in_each_loop_and_before_each_pool() -> None:
    """So a look that takes long at each of many pools is not taken for one that hangs."""
    pools = {f"class-{n}": f"course-{n}" for n in range(5)}
    pod = ScalerPod("08:00", timetable_text((*COURSE[:4], dict.fromkeys(pools, 2)), pools=pools))
    pod.cluster.interferences.append(lambda _: setattr(pod, "now", pod.now + 30))
    pod.scaler.step()
    pod.scaler.step()

    assert len(pod.silence) >= 7
    assert max(pod.silence[2:]) <= 60


def test_the_scaler_loops_every_8_seconds_and_reads_its_timetable_twice_a_minute() -> None:
    pod = ScalerPod("08:00", timetable_text(COURSE), small=25)
    pod.run(until="08:10")

    reads = [request for request in pod.cluster.requests if request.path.endswith("/configmaps/course")]
    assert set(pod.sleeps) == {TICK}
    assert 23 <= len(reads) <= 26
    assert len([request for request in pod.cluster.requests if "/deployments/" in request.path]) == 75


def test_the_scaler_sleeps_no_longer_than_until_the_next_change() -> None:
    pod = ScalerPod("07:29:57", MAINTAIN, small=0)
    assert pod.scaler.step() == 3.0

    pod.now = at("07:30") + 0.25
    assert pod.scaler.step() == pytest.approx(TICK)  # until the next look at all pools

    pod.observed.change = pod.now + 0.5
    assert pod.scaler.step() == 0.5


# Classes


def test_classes_of_one_occurrence_open_by_their_own_leads_and_scale_separately() -> None:
    """The first case of leads: on Fridays the behavior is `reduce`. Clocks of these tests show one day."""
    _, text = part_of(CASES[0])
    monday = "course/2026-02-02T10:00"
    pod = ScalerPod("07:29:07", text, gpu=0, small=0)
    pod.sessions(gpu={}, small={})
    pod.plan("10:00", lambda: pod.sessions(gpu={monday: 3}, small={monday: 4}))
    pod.run()

    gpu, small = ([write[::2] for write in pod.writes if write[1] == name] for name in ("gpu", "small"))
    assert gpu == [("07:30:00", 8), ("10:00:00", 5), ("11:00:00", 0)]
    assert small == [("08:30:00", 20), ("10:00:00", 16), ("11:00:00", 0)]
    assert [line["occurrence"] for line in pod.told("open")] == [monday]
    (record,) = pod.cluster.records()
    assert (record["promised"], record["sessionsPeak"]) == ({"gpu": 8, "small": 20}, {"gpu": 3, "small": 4})

    text = text.replace("2026-02-02", "2026-01-29").replace("2026-02-06", "2026-02-02")
    (friday,) = {row.id for row in parse_timetable(text).occurrences if row.behavior}
    pod = ScalerPod("07:29:07", text, gpu=0, small=0)
    pod.sessions(gpu={friday: 3}, small={friday: 4})
    pod.run()
    assert [count for _, name, count in pod.writes if name == "gpu"] == [5, 4, 3, 2, 1, 0]
    assert [count for _, name, count in pod.writes if name == "small"] == [*range(16, -1, -1)]


CLASS_EDITS = {"one-more": (COURSE, BOTH, [("huge", 2)]), "one-fewer": (BOTH, COURSE, [("huge", 0)])}


@pytest.mark.parametrize(("before", "after", "expected"), CLASS_EDITS.values(), ids=CLASS_EDITS)
def test_an_edit_can_add_and_remove_classes(before: Row, after: Row, expected: list[tuple[str, int]]) -> None:
    pools = [TWO if len(row[4]) > 1 else None for row in (before, after)]
    pod = ScalerPod(
        "08:00", timetable_text(before, pools=pools[0]), small=25, huge=2 if before is BOTH else 0
    )
    pod.edit_at("08:30:01", timetable_text(after, pools=pools[1]))
    pod.run(until="09:00")

    assert [write[1:] for write in pod.writes] == expected


@pytest.mark.parametrize(("status", "waits"), [(403, False), (500, True)], ids=["out-of-reach", "unlucky"])
def test_a_removed_class_is_closed_later_unless_access_to_it_is_forbidden(status: int, waits: bool) -> None:
    pod = ScalerPod("09:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    pod.edit_at("09:30:01", timetable_text(COURSE))
    pod.interfere_at("09:30:01", "course-huge", refusal(status, "No", "not yours"))
    pod.interfere_at("10:05", "", None)

    assert pod.run() == 0
    assert [write[1:] for write in pod.writes] == [("small", 0), *([("huge", 0)] if waits else [])]
    assert {(line["subject"], line["reason"]) for line in pod.told("failed")} >= {
        ("deployment course-huge", f"{status} No"),
        ("lease course-huge", f"{status} No"),
    }


def test_a_class_whose_plugin_is_missing_is_skipped_and_other_classes_are_served() -> None:
    """Its Lease runs out, so the sweep has it."""
    pod = ScalerPod("08:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    pod.plugins = frozenset()
    pod.restart_scaler()
    tree = json.loads(timetable_text(BOTH, pools=TWO))
    tree["pools"]["huge"]["slots"] = slots()
    pod.edit_at("08:30:01", json.dumps(tree))
    pod.plan("09:00:02", lambda: pod.cluster.set("course-small", 7))

    assert pod.run() == 0
    assert pod.writes == [("09:00:08", "small", 25), ("10:00:00", "small", 0)]
    assert pod.told("failed") == []
    leases = pod.cluster.all_in(LEASES)
    renewed = {name: tree["spec"]["renewTime"][11:16] for name, tree in leases.items()}
    assert renewed == {"course-small": "10:00", "course-huge": "08:30"}
    assert pod.cluster.records()[0]["promised"] == {"small": 25, "huge": 2}


# Sessions


def test_an_arrival_lowers_a_pool_at_once_and_a_departure_raises_it_30_seconds_later() -> None:
    pod = ScalerPod("07:29", MAINTAIN, small=0)
    pod.arrive(4)  # before the opening
    pod.wake_at("08:10:01", lambda: pod.arrive(1))
    pod.wake_at("08:10:02", lambda: pod.arrive(10))
    pod.wake_at("09:00:03", lambda: pod.arrive(-2))

    assert pod.run() == 0
    assert pod.seats == [
        ("07:30:00", 21),
        ("08:10:01", 20),
        ("08:10:02", 10),
        ("09:00:33", 12),
        ("10:00:00", 0),
    ]
    assert [line["sessions"] for line in pod.told("scaled")] == [4, 5, 15, 13, None]


@pytest.mark.parametrize("by_hand", [False, True], ids=["known", "scaled-meanwhile"])
def test_a_session_costs_one_request(by_hand: bool) -> None:
    pod = ScalerPod("07:50", MAINTAIN, small=25)
    pod.run("07:50:01")
    if by_hand:
        pod.cluster.set("course-small", 500)
    pod.wake_at("07:50:02", lambda: pod.arrive(1))
    pod.cluster.requests.clear()
    pod.go_on("07:50:03")

    assert pod.seats[-1] == ("07:50:02", 24)
    methods = [request.method for request in pod.cluster.requests if "deployments" in request.path]
    assert methods == ["PATCH"]


# Edits


# Bugs of ours


def test_the_scaler_survives_an_unexpected_error_and_does_not_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says no word, so that the main container ends the pod if that lasts."""
    pod = ScalerPod("08:00", MAINTAIN, small=0)
    with monkeypatch.context() as broken:
        broken.setattr(pod.observed, "next_change", 7)
        pod.run("08:00:30")
    assert (pod.word, pod.sleeps, pod.seats) == ("", [], [])
    assert [(line["subject"], line["reason"]) for line in pod.told("failed")] == [("run", "TypeError")]
    pod.go_on("08:00:50")

    assert [line["subject"] for line in pod.told("recovered")] == ["run"]
    assert pod.word == str(at("10:00"))

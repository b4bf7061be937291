"""How long a run stays, what it tells, and how often it looks."""

import json

import pytest
from berth.runtime.scaler import TICK

from tests.objectstore import refusal
from tests.runtime.fake_cluster import LEASES
from tests.runtime.slotworld import slots
from tests.runtime.world import COURSE, NEXT, Row, World, timetable_text

TWO = {"small": "course-small", "huge": "course-huge"}


def test_the_log_tells_what_was_scaled_and_what_it_depends_on() -> None:
    world = World("07:29:07", timetable_text(COURSE), small=0)

    assert world.run() == 0
    assert world.told("scaled") == [
        {
            "time": "07:30:00",
            "pool": "small",
            "deployment": "course-small",
            "occurrences": ["course/1"],
            "sessions": None,
            "override": None,
            "from": 0,
            "to": 25,
            "reset": False,
        },
        {
            "time": "10:00:00",
            "pool": "small",
            "deployment": "course-small",
            "occurrences": [],
            "sessions": None,
            "override": None,
            "from": 25,
            "to": 0,
            "reset": False,
        },
    ]


def test_the_log_tells_the_sessions_an_override_and_that_somebody_has_reset_a_pool() -> None:
    world = World("07:29:07", timetable_text(COURSE, behaviour="maintain"), small=0)
    world.sessions(small={"course/1": 5})
    override = '{"small": {"target": 60, "until": "2026-02-02T09:00:00Z"}}'
    world.plan("08:00:01", lambda: world.cluster.annotate(override))
    world.plan("09:30:01", lambda: world.cluster.set("course-small", 3))
    world.plan("10:30:01", lambda: world.cluster.set("course-small", 3))
    world.run()

    keys = ("sessions", "override", "from", "to", "reset")
    assert [tuple(line[key] for key in keys) for line in world.told("scaled")] == [
        (5, None, 0, 20, False),
        (5, 60, 20, 60, False),
        (5, None, 60, 20, False),
        (5, None, 3, 20, True),
        (None, None, 20, 0, False),
    ]


def test_the_log_tells_a_whole_run_in_a_few_lines() -> None:
    world = World("07:29:07", timetable_text(COURSE), small=0)
    world.run()

    assert [(line["time"], line["event"]) for line in world.log] == [
        ("2026-02-02T07:29:07Z", "timetable"),
        ("2026-02-02T07:29:07Z", "lease"),
        ("2026-02-02T07:29:07Z", "waiting"),
        ("2026-02-02T07:30:00Z", "open"),
        ("2026-02-02T07:30:00Z", "scaled"),
        ("2026-02-02T10:00:00Z", "over"),
        ("2026-02-02T10:00:00Z", "scaled"),
        ("2026-02-02T10:00:00Z", "ended"),
    ]


@pytest.mark.parametrize(
    "timetable",
    [
        pytest.param(timetable_text(), id="no-occurrence"),
        pytest.param(timetable_text(NEXT), id="opens-later"),
        pytest.param(timetable_text(COURSE, suspend=True), id="suspended"),
        pytest.param(timetable_text(pools={}), id="no-pool"),
    ],
)
def test_with_nothing_open_it_says_so_and_ends_at_once(timetable: str) -> None:
    world = World("08:30", timetable, small=0)

    assert world.run() == 0
    assert (world.writes, world.sleeps) == ([], [])
    assert world.told("ended") == [{"time": "08:30:00", "reason": "nothing is open"}]


def test_with_nothing_open_it_closes_what_still_stands() -> None:
    world = World("12:00", timetable_text(COURSE), small=7)

    assert world.run() == 0
    assert world.writes == [("12:00:00", "small", 0)]


def test_it_waits_for_an_occurrence_that_opens_within_two_minutes() -> None:
    world = World("07:28", timetable_text(COURSE), small=0)

    assert world.run(until="07:31") is None
    assert world.writes == [("07:30:00", "small", 25)]
    assert world.told("waiting") == [
        {"time": "07:28:00", "occurrence": "course/1", "until": "2026-02-02T07:30:00Z"}
    ]


def test_it_does_not_wait_for_one_that_opens_later() -> None:
    world = World("07:27:59", timetable_text(COURSE), small=0)

    assert world.run() == 0
    assert world.writes == []


def test_at_the_end_it_stays_for_one_that_opens_within_two_minutes() -> None:
    soon = ("course/2", "10:02", "10:30", "11:00", {"small": 5})
    world = World("09:00", timetable_text(COURSE, soon), small=25)

    assert world.run() == 0
    assert world.writes == [("10:00:00", "small", 0), ("10:02:00", "small", 5), ("11:00:00", "small", 0)]


def test_it_stays_for_an_occurrence_that_asks_for_nothing() -> None:
    world = World("08:00", timetable_text((*COURSE[:4], {"small": 0})), small=0)

    assert world.run() == 0
    assert [line["time"] for line in world.told("ended")] == ["10:00:00"]


def test_each_class_has_its_own_pool() -> None:
    both = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})
    one = ("course/2", "09:00", "09:30", "11:00", {"huge": 3})
    world = World("07:30", timetable_text(both, one, pools=TWO), small=0, huge=0)

    assert world.run() == 0
    assert world.writes == [
        ("07:30:00", "small", 25),
        ("07:30:00", "huge", 2),
        ("09:00:00", "huge", 5),
        ("10:00:00", "small", 0),
        ("10:00:00", "huge", 3),
        ("11:00:00", "huge", 0),
    ]


def test_it_looks_every_eight_seconds_and_reads_the_timetable_twice_a_minute() -> None:
    world = World("08:00", timetable_text(COURSE), small=25)
    world.run(until="08:10")

    reads = [request for request in world.cluster.requests if request.path.endswith("/configmaps/course")]
    assert {TICK} == set(world.sleeps)
    assert 23 <= len(reads) <= 26
    assert len([request for request in world.cluster.requests if "/deployments/" in request.path]) == 75


def test_a_window_may_last_all_day() -> None:
    world = World("00:00", timetable_text(("course/1", "00:00", "00:00", "23:58", {"small": 25})), small=0)

    assert world.run() == 0
    assert world.writes == [("00:00:00", "small", 25), ("23:58:00", "small", 0)]


# Edits of which classes there are


BOTH: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})


def edited(world: World, when: str, text: str | None) -> None:
    def edit() -> None:
        world.cluster.timetable = text

    world.plan(when, edit)


def test_one_more_class() -> None:
    world = World("08:00", timetable_text(COURSE), small=25, huge=0)
    edited(world, "08:30:01", timetable_text(BOTH, pools=TWO))
    world.run(until="09:00")

    assert [write[1:] for write in world.writes] == [("huge", 2)]


def test_a_class_that_is_gone_is_closed() -> None:
    world = World("08:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    edited(world, "08:30:01", timetable_text(COURSE))
    world.run(until="09:00")

    assert [write[1:] for write in world.writes] == [("huge", 0)]


def test_a_class_that_gets_a_backend_of_which_the_pod_has_no_code_is_left_and_the_others_are_served() -> None:
    """Its Lease runs out, so the sweep has it."""
    world = World("08:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    world.plugins = frozenset()
    tree = json.loads(timetable_text(BOTH, pools=TWO))
    tree["pools"]["huge"]["slots"] = slots()
    edited(world, "08:30:01", json.dumps(tree))
    world.plan("09:00:02", lambda: world.cluster.set("course-small", 7))

    assert world.run() == 0
    assert world.writes == [("09:00:08", "small", 25), ("10:00:00", "small", 0)]
    assert world.told("failed") == []
    renewed = {name: one["spec"]["renewTime"][11:16] for name, one in world.cluster.all_in(LEASES).items()}
    assert renewed == {"course-small": "10:00", "course-huge": "08:30"}
    assert world.cluster.records()[0]["promised"] == {"small": 25, "huge": 2}


def test_a_class_that_is_gone_and_out_of_reach_holds_nobody_up() -> None:
    world = World("08:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    edited(world, "08:30:01", timetable_text(COURSE))
    world.interfere_at("08:30:01", "course-huge", refusal(403, "Forbidden", "not yours"))

    assert world.run() == 0
    assert world.writes == [("10:00:00", "small", 0)]
    assert [(line["subject"], line["reason"], line["message"]) for line in world.told("failed")] == [
        ("deployment course-huge", "403 Forbidden", "not yours"),
        ("lease course-huge", "403 Forbidden", "not yours"),
    ]


def test_a_class_that_is_gone_but_only_unlucky_is_waited_for() -> None:
    world = World("09:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    edited(world, "09:30:01", timetable_text(COURSE))
    world.interfere_at("09:30:01", "course-huge", refusal(500, "InternalError"))
    world.interfere_at("10:05", "", None)

    assert world.run() == 0
    assert [write[1:] for write in world.writes] == [("small", 0), ("huge", 0)]


def test_a_deployment_of_another_name_takes_over() -> None:
    world = World("08:00", timetable_text(COURSE), small=25, other=0)
    edited(world, "08:30:01", timetable_text(COURSE, pools={"small": "course-other"}))

    assert world.run() == 0
    assert {("other", 25), ("small", 0), ("other", 0)} == {(name, count) for _, name, count in world.writes}

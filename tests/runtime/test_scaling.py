"""The scaler's loop survives everything, says when it works, and sleeps no longer than it may."""

import json

import pytest
from berth.core.timetable import parse_timetable

from tests.runtime.fake_cluster import no_answer
from tests.runtime.pod import Pod
from tests.runtime.world import COURSE, Row, at, pool, timetable_text, whole_timetable_text

MAINTAIN = timetable_text(COURSE, behaviour="maintain")


class _EnoughError(BaseException):
    """Ends a loop that nothing else ends."""


def run(pod: Pod, steps: int) -> list[float]:
    """What it waited for after trouble."""
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) + len(pod.observed.waits) >= steps:
            raise _EnoughError

    def observe(seconds: float) -> None:
        pod.observed.waits.append(seconds)
        if len(waits) + len(pod.observed.waits) >= steps:
            raise _EnoughError

    pod.observed.wait = observe  # type: ignore[method-assign]
    with pytest.raises(_EnoughError):
        pod.scaler.run(wait)
    return waits


def test_it_survives_what_nobody_had_expected_and_does_not_spin() -> None:
    pod = Pod("08:00", MAINTAIN)
    pod.observed.broken = True

    assert run(pod, 3) == [1.0, 1.0, 1.0]
    assert [line["reason"] for line in pod.log if line["event"] == "failed"] == ["RuntimeError"]
    assert "scaler" not in pod.files


def test_it_tells_when_it_works_again() -> None:
    pod = Pod("08:00", MAINTAIN)
    pod.observed.broken = True
    run(pod, 2)
    pod.observed.broken = False
    run(pod, 2)

    assert [line["event"] for line in pod.log if line["event"] == "recovered"] == ["recovered"]
    assert "scaler" in pod.files


def test_without_any_timetable_it_waits_for_one() -> None:
    pod = Pod("08:00", MAINTAIN)
    pod.cluster.interfere("", no_answer())
    pod.copy = "{"

    assert run(pod, 3) == []
    assert (pod.writes, "counts" in pod.files, "scaler" in pod.files) == ([], False, True)


def test_it_sleeps_until_the_next_instant_at_the_most() -> None:
    pod = Pod("07:29:57", MAINTAIN)

    assert pod.scaler.step() == 3.0

    pod.now = at("07:30") + 0.25

    assert pod.scaler.step() == pytest.approx(1.75)  # until the next look at all pools

    pod.observed.change = pod.now + 0.5

    assert pod.scaler.step() == 0.5


def test_what_it_tells_is_about_the_open_occurrences_of_each_class() -> None:
    both: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})
    later: Row = ("course/2", "11:00", "11:30", "12:00", {"small": 25})
    pools = {"small": "course-small", "huge": "course-huge"}
    text = timetable_text(both, later, pools=pools, behaviour="reduce")
    pod = Pod("08:00", text)
    pod.cluster.set("course-huge", 0)
    pod.arrive(7)
    pod.observed.sessions["huge"] = None
    pod.scaler.step()

    assert json.loads(pod.files["counts"]) == {
        "at": pod.now,
        "timetable": pod.scaler_source.version,
        "classes": {"small": {"course/1": 7}, "huge": None},
    }
    assert pod.cluster.scales["course-huge"][0] == 2
    assert pod.cluster.scales["course-small"][0] == 18


def test_a_class_whose_behaviour_becomes_none_is_left_to_the_main_program() -> None:
    pod = Pod("08:00", MAINTAIN, 25)
    pod.scaler.step()
    pod.cluster.timetable = timetable_text((*COURSE[:4], {"small": 30}), behaviour="none")
    pod.now += 30
    pod.scaler.step()

    assert parse_timetable(pod.cluster.timetable).pools[0].behavior == "none"
    assert (pod.writes, json.loads(pod.files["counts"])["classes"]) == ([], {})


def test_it_leaves_whole_nodes_alone_whatever_their_behaviour_says() -> None:
    """Validation refuses such a behaviour; a Deployment of that name is none of theirs in any case."""
    found = {"small": {**pool("course-small", "maintain"), "nodePool": "example.course-small"}}
    pod = Pod("08:00", whole_timetable_text("course", found, (COURSE,), version=3), replicas=25)
    pod.arrive(4)
    for _ in range(3):
        pod.scaler.step()
        pod.now += 5

    assert pod.writes == []
    assert not [one for one in pod.cluster.requests if "deployments" in one.path or "nodepools" in one.path]


def test_one_pool_out_of_reach_holds_no_other_up() -> None:
    pools = {"small": "course-small", "huge": "course-huge"}
    row: Row = (*COURSE[:4], {"small": 25, "huge": 2})
    pod = Pod("08:00", timetable_text(row, pools=pools, behaviour="maintain"))
    pod.cluster.set("course-huge", 0)
    pod.observed.sessions["huge"] = {}
    pod.cluster.interfere("course-small", no_answer())
    pod.scaler.step()

    assert pod.cluster.scales["course-huge"][0] == 2

"""Whatever the API server, the clock or a bug of ours does, a window opens and closes as soon as it can."""

from random import Random

import pytest
from berth.core.target import pool_target
from berth.core.timetable import parse_timetable
from berth.runtime.apiclient import ApiError, Request
from berth.runtime.scaler import TICK

from tests.objectstore import no_answer, refusal
from tests.runtime.holders import TROUBLES
from tests.runtime.world import COURSE, Row, World, at, clock, timetable_text
from tests.seeds import seeds

TWO = {"small": "course-small", "huge": "course-huge"}
BOTH: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})


def test_the_trouble_of_one_pool_does_not_reach_another() -> None:
    world = World("07:30", timetable_text(BOTH, pools=TWO), small=0, huge=0)
    world.cluster.interfere("course-small", refusal(403, "Forbidden"))
    world.interfere_at("10:30", "", None)

    assert world.run() == 0
    assert world.writes == [("07:30:00", "huge", 2), ("10:00:00", "huge", 0)]


def test_a_run_that_cannot_end_serves_the_next_occurrence() -> None:
    later = ("course/2", "12:00", "12:30", "13:00", {"huge": 3})
    world = World("09:00", timetable_text(BOTH, later, pools=TWO), small=25, huge=2)
    world.interfere_at("09:30", "course-small", refusal(403, "Forbidden"))

    assert world.run(until="14:00") is None
    assert world.writes == [("10:00:00", "huge", 0), ("12:00:00", "huge", 3), ("13:00:00", "huge", 0)]


def test_a_server_that_takes_another_number_is_asked_again_at_each_tick() -> None:
    """As with an admission webhook that caps replicas: every change is told, and the end is still the end."""
    world = World("07:30", timetable_text(COURSE), small=0)
    world.cluster.most = 20
    world.run(until="07:30:17")

    assert [write[0] for write in world.writes] == ["07:30:00", "07:30:08", "07:30:16"]
    assert [(line["from"], line["to"]) for line in world.told("scaled")] == [(0, 25), (20, 25), (20, 25)]


def test_a_server_that_is_gone_for_long_is_back_within_ten_seconds() -> None:
    """Each request hangs until its timeout, so a whole tick takes long."""
    world = World("07:00", timetable_text(BOTH, pools=TWO), small=0, huge=0)
    gone = [True]

    def hang(_request: Request) -> None:
        if gone[0]:
            world.pass_time(4.0)
            raise ApiError(0, "TimeoutError", "timed out")

    world.cluster.interferences.append(hang)
    world.plan("07:45", lambda: gone.__setitem__(0, False))
    world.run(until="07:46")

    assert sorted(write[1:] for write in world.writes) == [("huge", 2), ("small", 25)]
    assert [at(when) - at("07:45") <= 10 for when, _, _ in world.writes] == [True, True]


def test_an_end_that_passes_during_a_slow_request_is_not_slept_over() -> None:
    world = World("09:59:50", timetable_text(BOTH, pools=TWO), small=25, huge=2)

    def slow(_request: Request) -> None:
        world.pass_time(1.5)

    world.cluster.interferences.append(slow)

    assert world.run() == 0
    assert [at(when) - at("10:00") <= 9 for when, _, _ in world.writes] == [True, True]


def test_a_slow_pool_does_not_make_the_next_one_act_on_the_past() -> None:
    world = World("09:59:50", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    world.plan("09:59:56", lambda: world.cluster.set("course-huge", 0))

    def hang(request: Request) -> None:
        if "course-small" in request.path and world.now < at("10:00"):
            world.pass_time(12.0)

    world.cluster.interferences.append(hang)

    assert world.run() == 0
    assert [write[1:] for write in world.writes] == [("small", 0)]


def test_what_was_known_before_a_failure_is_not_believed_after_it() -> None:
    """The opening is written, its answer is lost, and nothing works until after the end."""
    world = World("07:29", timetable_text(COURSE), small=0)

    def lose(request: Request) -> None:
        if request.method == "PATCH" and "/deployments/" in request.path:
            world.cluster.interferences.clear()
            world.cluster(request)
            world.cluster.interfere("", no_answer())
            raise no_answer()

    world.cluster.interferences.append(lose)
    world.interfere_at("10:20", "", None)

    assert world.run() == 0
    assert [(clock(at(when) // 60 * 60), count) for when, _, count in world.writes] == [
        ("07:30:00", 25),
        ("10:20:00", 0),
    ]


def test_without_any_timetable_for_two_minutes_another_pod_may_try() -> None:
    world = World("08:00", None, small=25)

    assert world.run() == 1
    assert (clock(world.now), world.writes) == ("08:02:00", [])


def test_a_timetable_that_comes_late_is_in_time() -> None:
    world = World("08:00", None, small=0)

    def sync() -> None:
        world.cluster.timetable = timetable_text(COURSE)

    world.plan("08:00:31", sync)
    world.run(until="08:05")

    assert world.writes == [("08:00:32", "small", 25)]


def test_a_bug_while_reading_the_timetable_is_told_and_survived() -> None:
    world = World("08:00", timetable_text(COURSE), small=25)
    world.interfere_at("08:30", "/configmaps/", RuntimeError("a bug of ours"))
    world.interfere_at("09:30", "", None)

    assert world.run() == 0
    assert [(line["subject"], line["reason"], line["message"]) for line in world.told("failed")] == [
        ("timetable", "RuntimeError", "a bug of ours"),
        ("record", "RuntimeError", "a bug of ours"),
    ]


def test_the_wall_clock_decides_wherever_it_jumps() -> None:
    """Ahead past the end and back again: another occurrence and this one again, as the clock says, each
    within a tick.
    """
    later = ("course/2", "12:30", "12:30", "13:00", {"small": 5})
    world = World("08:00", timetable_text(COURSE, later), small=25)

    def jump(seconds: float) -> None:
        world.ahead += seconds

    world.plan("08:30:01", lambda: jump(4.5 * 3600 - 90))
    world.plan("08:31:01", lambda: jump(-4.5 * 3600 + 90))

    assert world.run() == 0
    assert [count for _, _, count in world.writes] == [5, 25, 0]
    assert [
        at(when) - at(jumped) <= TICK
        for (when, _, _), jumped in zip(world.writes, ("08:30:01", "08:31:01"), strict=False)
    ] == [True, True]
    assert max(world.sleeps) <= TICK


def test_a_clock_set_back_during_a_pause_does_not_prolong_it() -> None:
    world = World("08:00", timetable_text(COURSE), small=0)
    world.cluster.interfere("GET /apis", no_answer())

    def back() -> None:
        world.ahead -= 600
        world.cluster.interfere("", None)

    world.plan("08:10:01", back)
    world.run(until="08:11")

    assert [at(when) - at("08:10:01") <= 5 for when, _, _ in world.writes] == [True]


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_eleven_good_seconds_are_enough_from_any_state(seed: int) -> None:
    """Random trouble, resets and latency in each minute; whenever it was over for a while, all is as it
    should be.
    """
    random = Random(seed)
    text = timetable_text(BOTH, ("course/2", "08:40", "09:00", "09:20", {"small": 7}), pools=TWO)
    world = World("07:28:10", text, small=random.choice((0, 25, 60)), huge=0)
    pools = parse_timetable(text).pools
    wrong: list[tuple[str, str, int]] = []

    def check() -> None:
        for pool in pools:
            found = world.cluster.scales[pool.deployment]
            if found != pool_target(parse_timetable(text), pool, int(world.now)).replicas:
                wrong.append((clock(world.now), pool.deployment, found))

    def delay(_request: Request) -> None:
        world.pass_time(random.choice((0.0, 0.01, 0.3)))

    def over() -> None:
        world.cluster.interferences[:] = [delay]
        if world.now < at("09:58"):
            world.cluster.set(random.choice(pools).deployment, random.randrange(30))

    for minute in range(at("07:29"), at("10:05"), 60):
        part = random.choice(("", "GET", "PATCH", "small", "huge", "configmaps"))
        outcome = random.choice((*TROUBLES.values(), refusal(404, "NotFound")))
        begins = minute + random.randrange(10, 30)
        world.interfere_at(clock(begins), part, outcome)
        world.plan(clock(begins + random.randrange(1, 15)), over)
        world.plan(clock(minute + 56), check)

    assert world.run() == 0
    assert wrong == []

"""The scaler's loop survives everything, says when it works, and sleeps no longer than it may."""

from itertools import pairwise

import pytest
from berth.core.timetable import parse_timetable
from berth.runtime.scaler import TICK

from tests.objectstore import no_answer
from tests.runtime.pod import Pod
from tests.runtime.world import COURSE, NEXT, Row, at, pool, timetable_text, whole_timetable_text

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


def test_it_survives_what_nobody_had_expected_and_does_not_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says no word, so that the main container ends the pod if that lasts."""
    pod = Pod("08:00", MAINTAIN)
    monkeypatch.setattr(pod.observed, "next_change", 7)

    assert run(pod, 3) == [TICK] * 3
    assert [(line["subject"], line["reason"]) for line in pod.log if line["event"] == "failed"] == [
        ("run", "TypeError")
    ]
    assert pod.word == ""


def test_it_tells_when_it_works_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pod = Pod("08:00", MAINTAIN)
    with monkeypatch.context() as broken:
        broken.setattr(pod.observed, "next_change", 7)
        run(pod, 2)
    run(pod, 2)

    assert [line["subject"] for line in pod.log if line["event"] == "recovered"] == ["run"]
    assert pod.word == str(at("10:00"))


def test_without_any_timetable_it_waits_for_one() -> None:
    pod = Pod("08:00", MAINTAIN)
    pod.cluster.interfere("", no_answer())

    assert run(pod, 3) == []
    assert (pod.writes, pod.word, pod.observed.waits) == ([], "waiting", [TICK] * 3)


WORDS = {
    "open": (MAINTAIN, "08:00", "", "10:00"),
    "opens-soon": (MAINTAIN, "07:28:30", "", "10:00"),
    "the-last-end-counts": (timetable_text(COURSE, NEXT), "09:45", "", "12:00"),
    "an-override-is-longer": (MAINTAIN, "08:00", "11:00", "11:00"),
    "an-override-is-over": (MAINTAIN, "08:00", "07:59", "10:00"),
}


@pytest.mark.parametrize("case", WORDS)
def test_its_word_is_the_instant_until_which_the_pod_is_needed(case: str) -> None:
    text, now, override, expected = WORDS[case]
    pod = Pod(now, text)
    if override:
        pod.cluster.annotate(f'{{"small": {{"target": 1, "until": "2026-02-02T{override}:00Z"}}}}')
    pod.scaler.step()

    assert pod.word == str(at(expected))


def test_while_a_pool_cannot_be_closed_its_word_is_now() -> None:
    pod = Pod("10:20", MAINTAIN, 25)
    pod.cluster.interfere("PATCH", no_answer())
    pod.scaler.step()

    assert (pod.word, pod.scaler.exit_code) == (str(at("10:20")), None)

    pod.cluster.interfere("PATCH", None)
    pod.now += TICK
    pod.scaler.step()

    assert (pod.word, pod.scaler.exit_code) == ("closed", 0)


def test_it_says_its_word_at_each_look_and_before_each_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a look that takes long at each of many pools is not taken for one that hangs."""
    pools = {f"class-{n}": f"course-{n}" for n in range(5)}
    row: Row = (*COURSE[:4], dict.fromkeys(pools, 2))
    pod = Pod("08:00", timetable_text(row, pools=pools))
    words: list[float] = []
    monkeypatch.setattr(pod.scaler, "_write_word", lambda _: words.append(pod.now))
    pod.cluster.interferences.append(lambda _: setattr(pod, "now", pod.now + 30))
    pod.scaler.step()
    pod.scaler.step()

    assert len(words) >= 7
    assert max(after - before for before, after in pairwise(words[1:])) <= 60


def test_it_sleeps_until_the_next_instant_at_the_most() -> None:
    pod = Pod("07:29:57", MAINTAIN)

    assert pod.scaler.step() == 3.0

    pod.now = at("07:30") + 0.25

    assert pod.scaler.step() == pytest.approx(TICK)  # until the next look at all pools

    pod.observed.change = pod.now + 0.5

    assert pod.scaler.step() == 0.5


def test_each_class_follows_its_own_sessions() -> None:
    both: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})
    later: Row = ("course/2", "11:00", "11:30", "12:00", {"small": 25})
    pools = {"small": "course-small", "huge": "course-huge"}
    text = timetable_text(both, later, pools=pools, behaviour="reduce")
    pod = Pod("08:00", text)
    pod.cluster.set("course-huge", 0)
    pod.arrive(7)
    pod.observed.sessions["huge"] = None
    pod.scaler.step()

    assert pod.cluster.scales["course-huge"] == 2
    assert pod.cluster.scales["course-small"] == 18


def test_a_class_whose_behaviour_becomes_none_has_all_its_seats_whoever_comes() -> None:
    pod = Pod("08:00", MAINTAIN, 25)
    pod.arrive(5)
    pod.scaler.step()
    pod.cluster.timetable = timetable_text((*COURSE[:4], {"small": 30}), behaviour="none")
    for _ in range(6):
        pod.now += 5
        pod.arrive(1)
        pod.scaler.step()

    assert parse_timetable(pod.cluster.timetable).pools[0].behavior == "none"
    assert [write.replicas for write in pod.writes] == [20, 19, 18, 17, 16, 30]


def test_whole_nodes_are_left_alone_whoever_comes() -> None:
    found = {"small": {**pool("course-small", "none"), "nodePool": "example.course-small"}}
    pod = Pod("08:00", whole_timetable_text("course", found, (COURSE,)))
    pod.cluster.set("example.course-small", 25)
    for _ in range(3):
        pod.arrive(2)
        pod.scaler.step()
        pod.now += 5

    assert pod.writes == []
    assert not [request for request in pod.cluster.requests if "deployments" in request.path]

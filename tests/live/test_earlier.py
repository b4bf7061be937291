"""What one look cannot tell: sessions that left a moment ago, and pools that somebody just scaled."""

import pytest
from berth.cli import status as command
from berth.core.jsonvalues import instant_text, parse_instant
from berth.core.sessions import Recognition, Session
from berth.live.earlier import NO_LOOKS, MissedSession, SessionsByRecognition, departed_sessions, remember
from berth.live.poolstate import ClusterStatus

from tests.live import project
from tests.live.conftest import Live
from tests.live.happenings import NOW, in_order
from tests.live.judged import looked, status
from tests.live.sites import TEXT

WAITS = 40  # the 30 s for which a session that left counts, and 10 s for the pod to act


def after(seconds: int) -> str:
    return instant_text(parse_instant(NOW) + seconds)


def codes(found: ClusterStatus) -> set[str]:
    return {finding.code for pool in found.pools for finding in pool.findings}


def test_no_seat_is_reported_missing_while_sessions_leave_all_day() -> None:
    """At each look somebody has left within the last half a minute, and the scaler follows in its time."""
    git = project.project()
    world, earlier, told = in_order(git), NO_LOOKS, set[str]()
    for n in range(5, 25):
        world.session(f"jupyter-{n}")
    world.scale("course-small", 0, "berth-scaler", NOW)
    for turn in range(20):
        world.vanish("Pod", f"jupyter-{turn}")
        world.scale("course-small", max(turn - 1, 0), "berth-scaler", NOW)  # one look behind
        told |= codes(status(world, git, after(20 * turn), earlier))
        earlier = looked(world, git, after(20 * turn), earlier)

    assert told == {"S034"}


def test_a_missing_seat_is_reported_while_sessions_leave() -> None:
    git = project.project()
    world = in_order(git)
    world.scale("course-small", 17, "berth-scaler", NOW)
    earlier = looked(world, git, NOW)
    world.vanish("Pod", "jupyter-4")
    (pool,) = status(world, git, after(WAITS), earlier).pools

    assert [finding.code for finding in pool.findings] == ["S030"]
    assert "17 of 20" in pool.findings[0].message


def test_a_departed_session_causes_no_finding_and_exit_code_0(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server knows no time at which the scale was written."""
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        live.world.scale("course-small", 21, "berth-scaler", NOW)

    monkeypatch.setattr(command, "pause", wait)
    live.world.vanish("Pod", "jupyter-4")
    code, out, err = live("status")

    assert (code, waited, "course/small" in err, "note" in out) == (0, [WAITS], True, False)
    assert out.splitlines()[1].split() == ["course", "small", "active", "08:30-13:00", "21", "21", "0", "4"]


def test_a_departed_session_counts_for_exactly_the_settling_time() -> None:
    recognition, session = Recognition("pods", ("jhub",)), Session("a", "jhub", 0)
    present: SessionsByRecognition = {recognition: (session,)}
    absent: SessionsByRecognition = {recognition: ()}
    earlier = remember(remember(NO_LOOKS, present, (), 100, WAITS), absent, (), 120, WAITS)

    assert earlier.departed == {recognition: (MissedSession(session, 120),)}
    assert departed_sessions(earlier, absent, 120 + WAITS - 1, WAITS) == earlier.departed
    assert departed_sessions(earlier, absent, 120 + WAITS, WAITS) == {recognition: ()}
    assert departed_sessions(earlier, present, 121, WAITS) == {recognition: ()}
    assert departed_sessions(earlier, {recognition: "forbidden"}, 121, WAITS) == {}


def test_a_pool_differs_from_its_target_since_the_first_consecutive_look() -> None:
    first = remember(NO_LOOKS, {}, ["a", "b"], 100, WAITS)
    second = remember(first, {}, ["b", "c"], 110, WAITS)

    assert (first.since, second.since) == ({"a": 100, "b": 100}, {"b": 100, "c": 110})
    assert remember(second, {}, ["a"], 120, WAITS).since == {"a": 120}


def test_a_finding_of_both_looks_is_reported(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "pause", lambda _: None)
    live.world.vanish("Pod", "jupyter-4")
    code, out, _ = live("status")

    assert (code, "error[S030]" in out) == (1, True)


def test_one_look_is_enough_if_no_pool_differs_from_its_target(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "pause", lambda _: pytest.fail("there is nothing to wait for"))

    assert live("status") == (0, TEXT, "")

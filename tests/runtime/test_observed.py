"""What the scaler sees follows the API server through every trouble, or is said to be unknown."""

import pytest
from berth.core.sessions import Recognition
from berth.runtime.sessionobserver import ObservedSessions

from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.timetabletexts import config_map, text
from tests.runtime.watched_cluster import WatchedCluster, refused
from tests.runtime.watching import (
    DS,
    ML,
    SESSIONS,
    STEP,
    TIMETABLES,
    Scene,
    put_rival,
    session,
    timetable,
    watching,
    with_created,
)
from tests.runtime.world import at

BUFFERS = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/berth/capacitybuffers"


@pytest.fixture
def cluster() -> WatchedCluster:
    watched_cluster = WatchedCluster()
    watched_cluster.put(TIMETABLES, with_created(config_map("ds", text("ds", DS))))
    return watched_cluster


def test_before_the_first_complete_list_nothing_is_known(cluster: WatchedCluster) -> None:
    with StubServer(cluster.answer) as server:
        scene = Scene(cluster, server)
        assert scene.seen() == ObservedSessions(None, True)
        cluster.interferences.append(
            lambda one: refused(403, "Forbidden") if "amalthea" in one.path else None
        )
        scene.observed.update(timetable(DS))
        scene.until(lambda _: bool(scene.log))
        assert scene.seen() == ObservedSessions(None, True)
        cluster.interferences.clear()
        assert scene.until(lambda seen: not seen.pending) == ObservedSessions({"ds/1": 0}, False)
        scene.close()
        cluster.end_watches()

    assert scene.told("failed") == [(f"watch of {SESSIONS}", "403 Forbidden")]


def test_sessions_come_and_go(cluster: WatchedCluster) -> None:
    cluster.put(SESSIONS, session("a"))
    with watching(cluster) as scene:
        scene.until_counts(ds=1)
        cluster.put(SESSIONS, session("b"))
        scene.until_counts(ds=2)
        cluster.put(SESSIONS, session("b") | {"spec": {"hibernated": True}})
        scene.until_counts(ds=1)
        assert scene.observed.next_change(scene.now) == at("10:00")
        scene.now = at("10:00")
        assert scene.seen() == ObservedSessions({}, False)
        assert scene.observed.next_change(scene.now) is None


def test_a_change_that_was_not_asked_for_wakes_at_once(cluster: WatchedCluster) -> None:
    own = timetable(DS)
    both = own._replace(pools=tuple(pool._replace(behavior="maintain") for pool in own.pools))
    with watching(cluster, both) as scene:
        scene.until_counts(ds=0)
        scene.observed.seen("huge", scene.now)
        cluster.put(SESSIONS, session("a"))
        cluster.put(SESSIONS, session("b", renku_id=6))
        while scene.observed.seen("huge", scene.now).counts != {"ds/1": 1}:
            scene.observed.wait(STEP)
        scene.observed.wait(1_000_000)  # for `small`
        assert scene.seen().counts == {"ds/1": 1}
    assert sum("amalthea" in one.path and "limit" in one.path for one in cluster.asked) == 1


def test_rivals_take_their_share_and_their_edits_count_at_once(cluster: WatchedCluster) -> None:
    for name in "abcde":
        cluster.put(SESSIONS, session(name))
    put_rival(cluster, text("ml", ML))
    with watching(cluster) as scene:
        scene.until_counts(ds=2)
        put_rival(cluster, text("ml", ML, suspend=True))
        scene.until_counts(ds=5)
        put_rival(cluster, "{")
        put_rival(cluster, text("new", ("new/1", "07:30", "08:00", "09:00", {"small": 1})), "new")
        scene.until_counts(ds=2)
        assert scene.told("failed") == [("timetable ml", "malformed")]
        scene.now = at("09:00")
        scene.until_counts(ds=5)
        put_rival(cluster, text("ml", ML))
        scene.until_counts(ds=2)
        assert scene.told("recovered") == [("timetable ml", "")]
        cluster.withdraw(TIMETABLES, "uid-ml")
        scene.until_counts(ds=5)


def test_what_a_rival_narrows_by_is_read_anew_from_all_sessions(cluster: WatchedCluster) -> None:
    for name, labels in (("a", {"course": "ml"}), ("b", {"course": "ml"}), ("c", {})):
        cluster.put(SESSIONS, session(name, labels))
    with watching(cluster) as scene:
        scene.until_counts(ds=3)
        put_rival(cluster, text("ml", ML, course={"matchLabels": {"course": "ml"}}))
        scene.until_counts(ds=1)
        cluster.put(SESSIONS, session("d", {"course": "ml"}))
        cluster.put(SESSIONS, session("e", {"course": "ml"}))
        scene.until_counts(ds=2)


def test_an_edit_of_our_own_counts_at_once(cluster: WatchedCluster) -> None:
    cluster.put(SESSIONS, session("a", {"course": "ds"}))
    cluster.put(SESSIONS, session("b"))
    with watching(cluster) as scene:
        scene.until_counts(ds=2)
        scene.observed.update(timetable(DS, course={"matchLabels": {"course": "ds"}}))
        scene.until_counts(ds=1)
        scene.observed.update(timetable())
        assert scene.until(lambda seen: seen.counts == {}).pending is False


def test_another_recognition_begins_anew(cluster: WatchedCluster) -> None:
    cluster.put(SESSIONS, session("a"))
    other = session("b")
    other["metadata"]["annotations"]["renku.io/resource_class_id"] = "7"
    cluster.put(SESSIONS, other)
    own = timetable(DS)
    small, huge = own.pools
    assert small.sessions
    changed = own._replace(pools=(small._replace(sessions=small.sessions._replace(renku_id=7)), huge))
    with watching(cluster) as scene:
        scene.until_counts(ds=1)
        cluster.put(SESSIONS, session("c"))
        scene.until_counts(ds=2)
        scene.observed.update(changed)
        # Nobody waits for the list: it may be here already.
        assert scene.seen() in (ObservedSessions(None, True), ObservedSessions({"ds/1": 1}, False))
        scene.until_counts(ds=1)


def test_a_class_that_is_not_counted_cannot_be_read(cluster: WatchedCluster) -> None:
    with watching(cluster) as scene:
        scene.until_counts(ds=0)

        assert scene.observed.seen("huge", scene.now) == ObservedSessions(None, False)
        assert scene.observed.seen("never-heard-of", scene.now) == ObservedSessions(None, False)


def test_without_a_class_to_count_nothing_is_watched(cluster: WatchedCluster) -> None:
    own = timetable(DS)
    with watching(cluster, own._replace(pools=own.pools[1:])) as scene:
        scene.observed.wait(STEP)
        assert scene.seen() == ObservedSessions(None, False)

    assert cluster.asked == []


@pytest.mark.parametrize(
    "trouble", [refused(403, "Forbidden"), refused(500, "InternalError"), reply(200, b"<html>")]
)
def test_the_last_counts_hold_for_ten_minutes_of_trouble(cluster: WatchedCluster, trouble: Reply) -> None:
    cluster.put(SESSIONS, session("a"))

    def fail(received: Received) -> Reply | None:
        return trouble if "amalthea" in received.path else None

    with watching(cluster) as scene:
        scene.until_counts(ds=1)
        cluster.interferences.append(fail)
        cluster.end_watches()
        scene.until(lambda _: bool(scene.told("failed")))
        cluster.put(SESSIONS, session("b"))
        scene.now += 600
        assert scene.seen() == ObservedSessions({"ds/1": 1}, False)
        scene.now += 1
        assert scene.seen() == ObservedSessions(None, False)
        cluster.interferences.clear()
        scene.until_counts(ds=2)


def test_a_clock_that_is_set_back_does_not_make_trouble_last(cluster: WatchedCluster) -> None:
    with watching(cluster) as scene:
        scene.until_counts(ds=0)
        cluster.interferences.append(
            lambda one: refused(500, "InternalError") if "amalthea" in one.path else None
        )
        cluster.end_watches()
        scene.until(lambda _: bool(scene.told("failed")))
        scene.now -= 3600
        scene.seen()
        scene.now += 601
        assert scene.seen().counts is None


def test_timetables_are_read_again_before_their_horizon_is_reached(cluster: WatchedCluster) -> None:
    put_rival(cluster, text("ml", ML))
    for name in "abcde":
        cluster.put(SESSIONS, session(name))
    with watching(cluster, hours_before=30) as scene:
        scene.until(lambda seen: seen.counts == {})
        scene.now += 30 * 3600
        scene.until_counts(ds=2)


ANY_SESSION = Recognition("custom", ("renku",), (), None, "amalthea.dev", "v1alpha1", "amaltheasessions")


def test_a_session_that_two_classes_of_ours_recognize_counts_for_one(cluster: WatchedCluster) -> None:
    """`small` requires an annotation, so it wins, whichever of the two watches tells of the session first."""
    small, huge = timetable(DS).pools
    both = timetable(DS)._replace(pools=(small, huge._replace(behavior="maintain", sessions=ANY_SESSION)))
    cluster.put(SESSIONS, session("a"))
    cluster.put(SESSIONS, session("b", renku_id=7))
    with watching(cluster, both) as scene:
        scene.until_counts(ds=1)
        while scene.observed.seen("huge", scene.now).counts != {"ds/1": 1}:
            scene.observed.wait(STEP)
        cluster.put(SESSIONS, session("c"))
        scene.until_counts(ds=2)
        scene.observed.wait(STEP)
        assert scene.observed.seen("huge", scene.now).counts == {"ds/1": 1}


def test_a_session_counts_for_the_class_of_another_reservation_while_that_is_open(
    cluster: WatchedCluster,
) -> None:
    own = timetable(("ds/1", "07:30", "08:00", "10:00", {"small": 2}))
    own = own._replace(pools=(own.pools[0]._replace(sessions=ANY_SESSION),))
    cluster.put(SESSIONS, session("a"))
    cluster.put(SESSIONS, session("b", renku_id=6))
    with watching(cluster, own) as scene:
        scene.until_counts(ds=2)
        put_rival(cluster, text("ml", ("ml/1", "07:30", "08:00", "09:00", {"huge": 3})))
        scene.until_counts(ds=1)
        scene.now = at("09:00")
        scene.until_counts(ds=2)

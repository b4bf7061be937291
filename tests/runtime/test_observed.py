"""What the scaler sees follows the API server through every trouble, or is said to be unknown."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from berth.core.sessions import Recognition
from berth.core.timetable import Timetable
from berth.runtime.sessionobserver import ObservedSessions

from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.timetables import at, config_map
from tests.runtime.timetables import renku_text as text
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


@pytest.fixture
def cluster() -> WatchedCluster:
    watched_cluster = WatchedCluster()
    watched_cluster.put(TIMETABLES, with_created(config_map("ds", text("ds", DS))))
    return watched_cluster


def test_counts_follow_sessions_until_the_end_of_the_occurrence(cluster: WatchedCluster) -> None:
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


def test_a_change_that_was_not_read_yet_wakes_the_scaler_at_once(cluster: WatchedCluster) -> None:
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
        put_rival(cluster, "{")
        scene.until(lambda _: bool(scene.told("failed")))
        assert scene.seen().counts == {"ds/1": 2}, "what was known of it holds"
        assert scene.told("failed") == [("timetable ml", "malformed")]
        put_rival(cluster, text("ml", ML, suspend=True))
        scene.until_counts(ds=5)
        assert scene.told("recovered") == [("timetable ml", "")]
        put_rival(cluster, text("new", ("new/1", "07:30", "08:00", "09:00", {"small": 3})), "new")
        scene.until_counts(ds=2)
        scene.now = at("09:00")
        scene.until_counts(ds=5)
        put_rival(cluster, text("ml", ML))
        scene.until_counts(ds=2)
        cluster.withdraw(TIMETABLES, "uid-ml")
        scene.until_counts(ds=5)


def test_an_edit_of_the_own_timetable_counts_at_once(cluster: WatchedCluster) -> None:
    cluster.put(SESSIONS, session("a", {"course": "ds"}))
    cluster.put(SESSIONS, session("b"))
    with watching(cluster) as scene:
        scene.until_counts(ds=2)
        scene.observed.update(timetable(DS, course={"matchLabels": {"course": "ds"}}))
        scene.until_counts(ds=1)
        scene.observed.update(timetable())
        assert scene.until(lambda seen: seen.counts == {}).pending is False


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


def test_a_clock_that_is_set_back_does_not_prolong_the_use_of_stale_counts(cluster: WatchedCluster) -> None:
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


# Project templates


TEMPLATE, OTHER = "01JC3CB5426KC7P5STS5X3KSS8", "01JC3CB5426KC7P5STS5X3KSS7"
COURSE = {"projectTemplate": TEMPLATE}
COPIES = {"p1": TEMPLATE, "p2": OTHER, "p3": None}


def told(received: Received) -> Reply:
    project = received.path.rpartition("/")[2]
    return reply(200, json.dumps({"id": project, "template_id": COPIES[project]}).encode())


@contextmanager
def asking_renku(cluster: WatchedCluster, renku: StubServer, own: Timetable) -> Iterator[Scene]:
    settings = own.settings._replace(renku_url=f"http://127.0.0.1:{renku.port}")
    with watching(cluster, own._replace(settings=settings)) as scene:
        yield scene


@pytest.fixture
def copies() -> WatchedCluster:
    watched_cluster = WatchedCluster()
    for n, project in enumerate(("p1", "p1", "p2", "p3")):
        watched_cluster.put(SESSIONS, session(f"s{n}", project_id=project))
    watched_cluster.put(SESSIONS, session("s4"))
    return watched_cluster


def test_only_copies_of_the_template_count_and_each_project_is_requested_once(copies: WatchedCluster) -> None:
    with StubServer(told) as renku, asking_renku(copies, renku, timetable(DS, course=COURSE)) as scene:
        seen = scene.until(lambda seen: not seen.pending)
        assert seen.counts == {"ds/1": 2}
        copies.put(SESSIONS, session("s5", project_id="p1"))
        scene.until_counts(ds=3)

    assert sorted(received.path for received in renku.received) == [
        f"/api/data/projects/p{n}" for n in (1, 2, 3)
    ]
    assert scene.told("failed") == []


def test_a_template_of_a_rival_causes_requests_to_renku(copies: WatchedCluster) -> None:
    put_rival(copies, text("ml", ML))
    with StubServer(told) as renku, asking_renku(copies, renku, timetable(DS)) as scene:
        scene.until_counts(ds=2)
        assert renku.received == []
        put_rival(copies, text("ml", ML, course=COURSE))
        scene.until_counts(ds=3)
        copies.withdraw(TIMETABLES, "uid-ml")
        scene.until_counts(ds=5)


def test_if_renku_does_not_answer_the_class_decides_and_one_failure_is_logged(copies: WatchedCluster) -> None:
    is_down = threading.Event()
    is_down.set()

    def answer(received: Received) -> Reply:
        return refused(401, "Unauthorized") if is_down.is_set() else told(received)

    with StubServer(answer) as renku, asking_renku(copies, renku, timetable(DS, course=COURSE)) as scene:
        scene.until_counts(ds=4)  # all but the one without a project
        assert scene.told("failed") == [("project templates", "401 Unauthorized")]
        is_down.clear()
        scene.now += 2
        scene.until_counts(ds=2)
        scene.until(lambda _: bool(scene.told("recovered")))  # with the last project: it may change no count
        assert scene.told("recovered") == [("project templates", "")]


def test_a_private_project_is_no_failure_for_a_reservation_without_a_template(copies: WatchedCluster) -> None:
    """Such a scaler has no token. Its rival, which names one, comes first."""
    put_rival(copies, text("ml", ("ml/1", "07:30", "08:00", "11:00", {"small": 1}), course=COURSE))
    answers = {"p1": 401, "p2": 404, "p3": 403}

    def answer(received: Received) -> Reply:
        return reply(answers[received.path.rpartition("/")[2]], b"{}")

    with StubServer(answer) as renku, asking_renku(copies, renku, timetable(DS)) as scene:
        scene.until_counts(ds=2)
        scene.until(lambda _: len(renku.received) > 2)
        answers.update(p3=500)
        scene.now += 300
        scene.until(lambda _: bool(scene.told("failed")))

    assert scene.told("failed") == [("project templates", "500 Unknown")]


def test_in_a_site_without_renku_the_class_decides(copies: WatchedCluster) -> None:
    with watching(copies, timetable(DS, course=COURSE)) as scene:
        scene.until_counts(ds=4)


def test_counts_wait_for_renku_for_three_seconds_at_most(copies: WatchedCluster) -> None:
    go_on = threading.Event()

    def slow(received: Received) -> Reply:
        go_on.wait(20)
        return told(received)

    with StubServer(slow) as renku, asking_renku(copies, renku, timetable(DS, course=COURSE)) as scene:
        scene.until(lambda _: bool(renku.received))
        assert scene.seen().pending
        assert scene.observed.next_change(scene.now) == scene.now + 3
        scene.now += 3
        assert scene.seen().counts == {"ds/1": 4}
        go_on.set()
        scene.until_counts(ds=2)

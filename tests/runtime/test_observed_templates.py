"""With project templates, Renku decides whose a session is; where it cannot, the class alone does."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from berth.core.timetable import Timetable

from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.timetabletexts import text
from tests.runtime.watched_cluster import WatchedCluster, refused
from tests.runtime.watching import (
    DS,
    ML,
    SESSIONS,
    TIMETABLES,
    Scene,
    put_rival,
    session,
    timetable,
    watching,
)

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
def cluster() -> WatchedCluster:
    watched_cluster = WatchedCluster()
    for n, project in enumerate(("p1", "p1", "p2", "p3")):
        watched_cluster.put(SESSIONS, session(f"s{n}", project_id=project))
    watched_cluster.put(SESSIONS, session("s4"))
    return watched_cluster


def test_only_copies_of_the_template_count_each_project_asked_for_once(cluster: WatchedCluster) -> None:
    with StubServer(told) as renku, asking_renku(cluster, renku, timetable(DS, course=COURSE)) as scene:
        seen = scene.until(lambda seen: not seen.pending)
        assert seen.counts == {"ds/1": 2}
        cluster.put(SESSIONS, session("s5", project_id="p1"))
        scene.until_counts(ds=3)

    assert sorted(received.path for received in renku.received) == [
        f"/api/data/projects/p{n}" for n in (1, 2, 3)
    ]
    assert scene.told("failed") == []


def test_a_template_of_a_rival_asks_too(cluster: WatchedCluster) -> None:
    put_rival(cluster, text("ml", ML))
    with StubServer(told) as renku, asking_renku(cluster, renku, timetable(DS)) as scene:
        scene.until_counts(ds=2)
        assert renku.received == []
        put_rival(cluster, text("ml", ML, course=COURSE))
        scene.until_counts(ds=3)
        cluster.withdraw(TIMETABLES, "uid-ml")
        scene.until_counts(ds=5)


def test_where_renku_cannot_tell_the_class_decides_and_it_is_said_once(cluster: WatchedCluster) -> None:
    is_down = threading.Event()
    is_down.set()

    def answer(received: Received) -> Reply:
        return refused(401, "Unauthorized") if is_down.is_set() else told(received)

    with StubServer(answer) as renku, asking_renku(cluster, renku, timetable(DS, course=COURSE)) as scene:
        scene.until_counts(ds=4)  # all but the one without a project
        assert scene.told("failed") == [("project templates", "401 Unauthorized")]
        is_down.clear()
        scene.now += 2
        scene.until_counts(ds=2)
        scene.until(lambda _: bool(scene.told("recovered")))  # with the last project: it may change no count
        assert scene.told("recovered") == [("project templates", "")]


def test_that_a_project_is_not_public_is_no_trouble_of_who_names_no_template(cluster: WatchedCluster) -> None:
    """Such a scaler has no token. Its rival, which names one, comes first."""
    put_rival(cluster, text("ml", ("ml/1", "07:30", "08:00", "11:00", {"small": 1}), course=COURSE))
    answers = {"p1": 401, "p2": 404, "p3": 403}

    def answer(received: Received) -> Reply:
        return reply(answers[received.path.rpartition("/")[2]], b"{}")

    with StubServer(answer) as renku, asking_renku(cluster, renku, timetable(DS)) as scene:
        scene.until_counts(ds=2)
        scene.until(lambda _: len(renku.received) > 2)
        answers.update(p3=500)
        scene.now += 300
        scene.until(lambda _: bool(scene.told("failed")))

    assert scene.told("failed") == [("project templates", "500 Unknown")]


def test_in_a_site_without_renku_the_class_decides(cluster: WatchedCluster) -> None:
    with watching(cluster, timetable(DS, course=COURSE)) as scene:
        scene.until_counts(ds=4)


def test_sessions_are_held_back_for_three_seconds_at_most(cluster: WatchedCluster) -> None:
    go_on = threading.Event()

    def slow(received: Received) -> Reply:
        go_on.wait(20)
        return told(received)

    with StubServer(slow) as renku, asking_renku(cluster, renku, timetable(DS, course=COURSE)) as scene:
        scene.until(lambda _: bool(renku.received))
        assert scene.seen().pending
        assert scene.observed.next_change(scene.now) == scene.now + 3
        scene.now += 3
        assert scene.seen().counts == {"ds/1": 4}
        go_on.set()
        scene.until_counts(ds=2)

"""Sessions count in the namespaces that have the labels of their class, and only while they have them."""

from typing import Any

import pytest
from berth.core.jsonvalues import instant_text
from berth.core.timetable import Timetable, parse_timetable
from berth.runtime.sessionobserver import STALE_SECONDS, ObservedSessions

from tests.objectstore import target
from tests.runtime.stub_server import Received, Reply
from tests.runtime.timetables import Row, at, config_map, pool, whole_timetable_text
from tests.runtime.watched_cluster import WatchedCluster, refused
from tests.runtime.watching import TIMETABLES, Scene, put_rival, watching, with_created

PODS, NAMESPACES = "/api/v1/pods", "/api/v1/namespaces"
HOME = {"home": "yes"}
BY_LABEL: dict[str, Any] = {"matchLabels": HOME}


def text(name: str, namespaces: object, **classes: dict[str, Any]) -> str:
    """The timetable of a reservation with class `small`, whose sessions are pods."""
    sessions = {"source": "pods", "selector": {}, "earlier": "count", "namespaces": namespaces}
    pools = {
        each: pool(f"{name}-{each}", "maintain", {**sessions, **changes})
        for each, changes in (classes or {"small": {}}).items()
    }
    row: Row = (f"{name}/1", "07:30", "08:00", "10:00", dict.fromkeys(pools, 9))
    return whole_timetable_text(name, pools, [row])


def own(namespaces: object = BY_LABEL) -> Timetable:
    return parse_timetable(text("ds", namespaces))


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "labels": labels}}


def pod(name: str, where: str, **labels: str) -> dict[str, Any]:
    created = instant_text(at("07:00"))
    metadata = {"name": name, "uid": name, "namespace": where, "creationTimestamp": created}
    return {"metadata": {**metadata, "labels": labels}}


@pytest.fixture
def cluster() -> WatchedCluster:
    """Two sessions of Ada, one of Bob and one of Eve, whose namespace has no label."""
    watched = WatchedCluster()
    watched.put(TIMETABLES, with_created(config_map("ds", text("ds", BY_LABEL))))
    for name in ("ada", "bob"):
        watched.put(NAMESPACES, namespace(name, **HOME))
    watched.put(NAMESPACES, namespace("eve", home="no"))
    for number, name in enumerate(("ada", "ada", "bob", "eve")):
        watched.put(PODS, pod(f"pod-{number}", name))
    return watched


def paths(cluster: WatchedCluster) -> set[str]:
    return {target(one.path).collection for one in cluster.asked}


def test_namespace_labels_need_one_watch_of_sessions_and_one_of_namespaces(cluster: WatchedCluster) -> None:
    with watching(cluster, own()) as scene:
        scene.until_counts(ds=3)

    assert paths(cluster) == {TIMETABLES, PODS, NAMESPACES}
    accepted = {target(one.path).collection: one.headers["Accept"] for one in cluster.asked}
    assert all("PartialObjectMetadata" in accepted[path] for path in (PODS, NAMESPACES))
    queries = {target(one.path).collection: target(one.path).asked for one in cluster.asked}
    assert queries[NAMESPACES]["labelSelector"] == "home=yes"


def test_an_added_or_removed_namespace_label_changes_the_count_at_once(cluster: WatchedCluster) -> None:
    """The API server tells of an object that no longer fits a selector as of one that is gone."""
    with watching(cluster, own()) as scene:
        scene.until_counts(ds=3)
        cluster.put(NAMESPACES, namespace("eve", **HOME))
        scene.until_counts(ds=4)
        cluster.withdraw(NAMESPACES, "uid-ada")
        scene.until_counts(ds=2)
        cluster.put(NAMESPACES, namespace("bob"))
        scene.until_counts(ds=1)
        cluster.put(NAMESPACES, namespace("ada", **HOME))
        scene.until_counts(ds=3)


@pytest.mark.parametrize("path", [PODS, NAMESPACES])
def test_counts_need_a_list_of_sessions_and_a_list_of_namespaces(cluster: WatchedCluster, path: str) -> None:
    def interfere(one: Received) -> Reply | None:
        return refused(403, "Forbidden") if target(one.path).collection == path else None

    cluster.interferences.append(interfere)
    with watching(cluster, own()) as scene:
        scene.until(lambda _: bool(scene.told("failed")))
        assert scene.seen() == ObservedSessions(None, True)
        cluster.interferences.clear()
        scene.until_counts(ds=3)

    assert scene.told("failed") == [(f"watch of {path}", "403 Forbidden")]


def test_counts_become_unknown_after_namespaces_are_unreadable_for_too_long(cluster: WatchedCluster) -> None:
    def interfere(one: Received) -> Reply | None:
        return refused(403, "Forbidden") if target(one.path).collection == NAMESPACES else None

    with watching(cluster, own()) as scene:
        scene.until_counts(ds=3)
        cluster.interferences.append(interfere)
        cluster.end_watches()
        scene.until(lambda _: bool(scene.told("failed")))
        assert scene.seen().counts == {"ds/1": 3}
        scene.now += STALE_SECONDS + 1
        assert scene.seen() == ObservedSessions(None, False)


def test_a_changed_class_keeps_the_known_namespaces(cluster: WatchedCluster) -> None:
    """Only its sessions are listed again."""
    with watching(cluster, own()) as scene:
        scene.until_counts(ds=3)
        small = {"selector": {"matchLabels": {"size": "s"}}}
        cluster.put(PODS, pod("pod-8", "bob", size="s"))
        scene.observed.update(parse_timetable(text("ds", BY_LABEL, small=small)))
        scene.until_counts(ds=1)

    lists = [one for one in cluster.asked if "limit" in target(one.path).asked]
    assert sum(target(one.path).collection == NAMESPACES for one in lists) == 1


def test_a_class_can_switch_between_names_and_labels_of_namespaces(cluster: WatchedCluster) -> None:
    cluster.put("/api/v1/namespaces/eve/pods", pod("pod-3", "eve"))
    with watching(cluster, own(["eve"])) as scene:
        scene.until_counts(ds=1)
        scene.observed.update(own())
        scene.until_counts(ds=3)
        scene.observed.update(own(["eve"]))
        scene.until_counts(ds=1)


def until(scene: Scene, **counts: int) -> None:
    """Until these are the counts of the classes of ours."""
    wanted = {name: {"ds/1": number} for name, number in counts.items()}
    scene.until(lambda _: {name: scene.observed.seen(name, scene.now).counts for name in counts} == wanted)


def test_a_session_counts_for_the_class_whose_labels_its_namespace_has(cluster: WatchedCluster) -> None:
    """Where it has those of both, for the one that requires more of it."""
    cluster.put(NAMESPACES, namespace("bob", team="x", **HOME))
    cluster.put(NAMESPACES, namespace("eve", team="x"))
    team = {"namespaces": {"matchLabels": {"team": "x"}}, "selector": {}}
    both = parse_timetable(text("ds", BY_LABEL, small={}, team=team))
    narrower = {**team, "namespaces": {"matchLabels": {"team": "x", **HOME}}}
    with watching(cluster, both) as scene:
        until(scene, small=3, team=1)
        cluster.put(NAMESPACES, namespace("eve"))
        until(scene, small=3, team=0)
        scene.observed.update(parse_timetable(text("ds", BY_LABEL, small={}, team=narrower)))
        until(scene, small=2, team=1)


def test_a_class_that_names_a_namespace_wins_over_a_class_with_labels(cluster: WatchedCluster) -> None:
    put_rival(cluster, text("ml", ["bob"], huge={}))
    with watching(cluster, own()) as scene:
        scene.until_counts(ds=2)
        cluster.withdraw(TIMETABLES, "uid-ml")
        scene.until_counts(ds=3)


def test_a_class_that_names_its_namespaces_watches_no_others(cluster: WatchedCluster) -> None:
    cluster.put("/api/v1/namespaces/bob/pods", pod("pod-2", "bob"))
    put_rival(cluster, text("ml", BY_LABEL, huge={}))
    with watching(cluster, own(["bob"])) as scene:
        scene.until_counts(ds=1)

    assert paths(cluster) == {TIMETABLES, "/api/v1/namespaces/bob/pods"}

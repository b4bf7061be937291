"""A watch keeps up with a collection whatever the server does: what it has told is what is there."""

import json
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any

import pytest
from berth.core.jsonvalues import Tree
from berth.runtime.apiclient import Api, ApiError, Connection
from berth.runtime.watch import Collection, list_objects

from tests.objectstore import status_tree
from tests.runtime.listener import PODS, Colour, Heard, next_time, pod, queries, watched
from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.watched_cluster import HEAD, WatchedCluster, chunk, refused


@pytest.fixture
def cluster() -> WatchedCluster:
    watched_cluster = WatchedCluster()
    for name in "abcde":
        watched_cluster.put(PODS, pod(name))
    return watched_cluster


def test_it_lists_in_pages_and_watches_from_there_over_one_connection(cluster: WatchedCluster) -> None:
    cluster.put(PODS, pod("f", "grey"))
    with watched(cluster) as reports:
        reports.until_watching()
        assert reports.there == dict.fromkeys("abcde", "red")
        reports.told.clear()
        cluster.put(PODS, pod("g"))
        cluster.put(PODS, pod("a", "blue"))
        cluster.withdraw(PODS, "b")
        cluster.put(PODS, pod("c", "grey"))
        reports.until(lambda: "c" not in reports.there)

    assert reports.there == {"a": "blue", "d": "red", "e": "red", "g": "red"}
    assert sorted(reports.told) == ["a", "b", "c", "g"]
    asked = queries(cluster)
    assert [query.get("limit") for query in asked] == ["2", "2", "2", None]
    assert asked[3] == {
        "watch": "1",
        "allowWatchBookmarks": "true",
        "resourceVersion": "1006",
        "timeoutSeconds": "300",
    }
    assert {received.connection for received in cluster.asked} == {1}


def test_what_is_the_same_to_us_is_not_told_again(cluster: WatchedCluster) -> None:
    with watched(cluster) as reports:
        reports.until_watching()
        reports.told.clear()
        cluster.put(PODS, pod("a", "red", status="other"))
        cluster.put(PODS, pod("x", "grey"))
        cluster.put(PODS, pod("x", "grey", status="other"))
        cluster.withdraw(PODS, "x")
        cluster.put(PODS, pod("y"))
        reports.until_told("y")

    assert reports.told == ["y"]


def test_a_watch_that_ends_goes_on_at_once_from_the_last_version_a_bookmark_included(
    cluster: WatchedCluster,
) -> None:
    with watched(cluster) as reports:
        reports.until_watching()
        cluster.put(PODS, pod("x"))
        cluster.bookmark()
        cluster.end_watches()
        reports.until_watching(2)
        cluster.put(PODS, pod("y"))
        reports.until_told("y")

    assert (reports.told, reports.troubles) == ([*"abcdexy"], [])
    assert [query["resourceVersion"] for query in queries(cluster) if "watch" in query] == ["1005", "1007"]
    assert {received.connection for received in cluster.asked} == {1}


def expired_by_status(cluster: WatchedCluster) -> None:
    cluster.expire()
    cluster.end_watches()


def expired_by_event(cluster: WatchedCluster) -> None:
    cluster.tell(PODS, "ERROR", json.dumps(status_tree(410, "Expired")))


@pytest.mark.parametrize("expire", [expired_by_status, expired_by_event], ids=["status", "event"])
def test_a_version_that_expired_is_no_trouble_and_what_vanished_meanwhile_is_gone(
    cluster: WatchedCluster, expire: Callable[[WatchedCluster], None]
) -> None:
    with watched(cluster) as reports:
        reports.until_watching()
        cluster.put(PODS, pod("f"))
        reports.until_told("f")
        cluster.all_in(PODS).pop("a")  # nobody tells
        expire(cluster)
        reports.until_watching(2)
        cluster.put(PODS, pod("x"))
        reports.until_told("x")

    assert (reports.told, reports.troubles, reports.lists) == ([*"abcdefax"], [], 2)
    assert reports.there == dict.fromkeys("bcdefx", "red")


def test_a_list_whose_pages_expire_begins_anew(cluster: WatchedCluster) -> None:
    next_time(cluster, "continue=", refused(410, "Expired"))
    with watched(cluster) as reports:
        reports.until_watching()

    assert (reports.told, reports.troubles) == ([*"abcde"], [])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        pytest.param(refused(403, "Forbidden"), "no", id="forbidden"),
        pytest.param(refused(401, "Unauthorized"), "no", id="unauthorized"),
        pytest.param(
            reply(200, b"<html>"),
            'the response is not a list: {"text": "<html>"}',
            id="a-page-in-between",
        ),
        pytest.param(
            reply(200, b'{"kind": "Status"}'),
            'the response is not a list: {"text": "{\\"kind\\": \\"Status\\"}"}',
            id="kind",
        ),
        pytest.param(
            reply(200, b'{"kind":"PodList","items":[{"metadata":{}}],"metadata":{"resourceVersion":"1"}}'),
            "an object has no uid: {}",
            id="no-uid",
        ),
    ],
)
def test_a_list_that_fails_is_asked_for_again(cluster: WatchedCluster, answer: Reply, told: str) -> None:
    next_time(cluster, "limit=", answer)
    with watched(cluster) as reports:
        reports.until_watching()
        cluster.put(PODS, pod("x"))
        reports.until(lambda: len(reports.troubles) == 2)

    assert (reports.troubles, reports.there) == ([told, "recovered"], dict.fromkeys("abcdex", "red"))


@pytest.mark.parametrize(
    "answer",
    [refused(500, "InternalError"), reply(503, b"<html>"), Reply(b"", close=True)],
    ids=["internal", "a-proxy-page", "nothing"],
)
def test_a_page_that_fails_is_asked_for_again_and_the_list_goes_on(
    cluster: WatchedCluster, answer: Reply
) -> None:
    next_time(cluster, "continue=", answer)
    with watched(cluster, page=2) as reports:
        reports.until_watching()

    assert (reports.troubles, reports.there) == ([], dict.fromkeys("abcde", "red"))
    pages = [query.get("continue", "") for query in queries(cluster) if "limit" in query]
    assert len(pages) == 4, "three pages, and one of them twice"


@pytest.mark.parametrize(
    ("answer", "told", "lists"),
    [
        pytest.param(refused(500, "InternalError"), "no", 2, id="internal"),
        pytest.param(refused(504, "Timeout"), "no", 2, id="a-version-from-before-a-restore"),
        pytest.param(reply(400, b"{}"), "{}", 2, id="bad-request"),
        pytest.param(
            Reply(HEAD, True, (chunk(b"{"),)), "the answer ends in the middle of a line", 2, id="cut"
        ),
        pytest.param(reply(200, b"<html>\n"), "the event is not a JSON object: <html>\n", 2, id="html"),
        pytest.param(Reply(HEAD, True, (b"2\r\n{",)), "IncompleteRead(0 bytes read)", 2, id="reset"),
        pytest.param(
            Reply(HEAD, stream=(chunk(b"x" * 100_001 + b"\n"), chunk(b""))),
            "the server sends more than 100000 bytes at once",
            2,  # it would come again
            id="absurd",
        ),
    ],
)
def test_after_a_watch_that_fails_it_lists_again(
    cluster: WatchedCluster, answer: Reply, told: str, lists: int
) -> None:
    next_time(cluster, "watch=", answer)
    with watched(cluster) as reports:
        reports.until(lambda: told in reports.troubles)
        reports.until_watching(2)
        cluster.put(PODS, pod("x"))
        reports.until_told("x")

    assert reports.lists == lists
    assert reports.there == dict.fromkeys("abcdex", "red")


def test_an_error_that_the_server_tells_as_an_event_is_trouble(cluster: WatchedCluster) -> None:
    with watched(cluster) as reports:
        reports.until_watching()
        cluster.tell(PODS, "ERROR", json.dumps(status_tree(500, "InternalError")))
        reports.until_watching(2)
        assert (reports.troubles, reports.lists) == (["no"], 2)


def test_a_page_that_is_too_large_is_asked_for_in_pieces(cluster: WatchedCluster) -> None:
    for name in "uvwxyz":
        cluster.put(PODS, pod(name, pad="p" * 40_000))
    with watched(cluster, page=20) as reports:
        reports.until_watching()

    assert reports.troubles == []
    assert reports.there == dict.fromkeys("abcdeuvwxyz", "red")
    assert [query.get("limit") for query in queries(cluster)][:3] == ["20", "5", "5"]
    assert queries(cluster)[3]["limit"] == "1"


UNREADABLE: dict[str, Any] = {"deep": {"status": "DEEP"}, "large": {"pad": "p" * 120_000}}


@pytest.mark.parametrize("more", UNREADABLE.values(), ids=UNREADABLE)
def test_what_nobody_can_read_hides_nothing_else(cluster: WatchedCluster, more: Any) -> None:
    name = "mine"
    cluster.put(PODS, pod(name, **more))
    for other in "xyz":
        cluster.put(PODS, pod(other))
    with watched(cluster, page=20) as reports:
        reports.until_watching()
        assert reports.there == dict.fromkeys("abcdexyz", "red")
        cluster.put(PODS, pod(name, "blue", **more))
        cluster.put(PODS, pod("w"))
        reports.until_told("w")

    assert reports.there == dict.fromkeys("abcdewxyz", "red")


@pytest.mark.parametrize("more", UNREADABLE.values(), ids=UNREADABLE)
def test_a_list_fails_by_what_nobody_can_read_and_may_not_be_left_out(
    cluster: WatchedCluster, more: Any
) -> None:
    cluster.put(PODS, pod("mine", **more))
    asked: list[str] = []

    def may_skip(name: str, _: ApiError) -> bool:
        asked.append(name)
        return False

    with StubServer(cluster.answer) as server:
        connection = Connection(
            lambda: HTTPConnection("127.0.0.1", server.port, timeout=10), "", most=100_000
        )
        with pytest.raises(ApiError) as caught:
            list_objects(Api(connection), Collection(PODS, page=20), lambda _: None, may_skip)
        connection.close()

    assert (caught.value.reason, asked) == ("TooLarge", ["mine"])


class Buggy:
    """Fails the first time."""

    def __init__(self) -> None:
        self._failures = [ZeroDivisionError("oh")]

    def read(self, tree: Tree) -> str | None:
        if self._failures:
            raise self._failures.pop()
        return Colour().read(tree)


def test_a_bug_of_ours_is_trouble_and_no_end(cluster: WatchedCluster) -> None:
    with watched(cluster, Buggy()) as reports:
        reports.until_watching()

    assert (reports.troubles[0], reports.there) == ("oh", dict.fromkeys("abcde", "red"))


@pytest.mark.parametrize("has_told", [True, False], ids=["told", "not-yet-told"])
def test_one_with_another_reader_tells_everything_anew_and_what_is_gone_since(
    cluster: WatchedCluster, has_told: bool
) -> None:
    reports = Heard(cluster)
    with StubServer(cluster.answer) as server:
        first = reports.watch(server, Colour())
        reports.until_told("e")
        reports.until_watching()
        cluster.put(PODS, pod("b", "blue"))
        cluster.withdraw(PODS, "a")
        reports.until(lambda: has_told is False or "a" not in reports.there)
        reports.told.clear()
        second = reports.watch(server, Colour("blue"))
        reports.until_told("e")
        for one in (first, second):
            one.stop()
        cluster.end_watches()

    assert set("bcde") <= set(reports.told)
    assert reports.there == dict.fromkeys("cde", "red")


def test_silence_is_no_trouble_but_the_server_is_asked_again(
    cluster: WatchedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berth.runtime.watch.SILENCE_SECONDS", 0.2)
    with watched(cluster) as reports:
        reports.until_watching(2)
        cluster.put(PODS, pod("x"))
        reports.until_told("x")

    assert (reports.troubles, reports.lists) == ([], 1)
    assert {received.connection for received in cluster.asked if "watch" in received.path} > {1}


def test_who_is_stopped_tells_nothing_any_more(cluster: WatchedCluster) -> None:
    with watched(cluster) as reports:
        reports.until_watching()
    cluster.put(PODS, pod("x"))

    assert reports.told == [*"abcde"]
    assert reports.watched[0].take_news() is None


def test_a_large_event_is_read_and_one_that_nests_deeply_kills_nobody(cluster: WatchedCluster) -> None:
    with watched(cluster) as reports:
        reports.until_watching()
        cluster.tell(PODS, "ADDED", "[" * 90_000)
        cluster.put(PODS, pod("x", pad="p" * 90_000))
        reports.until(lambda: "x" in reports.there)

    assert reports.there == dict.fromkeys("abcdex", "red")


EXPIRED = json.dumps({"type": "ERROR", "object": status_tree(410, "Expired")})


@pytest.mark.parametrize(
    ("last", "told"),
    [
        pytest.param((), "the server ends it after 0.0 s and 1 events", id="ended"),
        pytest.param((EXPIRED,), "no", id="expired"),
    ],
)
@pytest.mark.parametrize("kind", ["MODIFIED", "BOOKMARK"])
def test_a_watch_that_always_ends_after_its_first_event_is_asked_for_with_pauses(
    cluster: WatchedCluster, kind: str, last: tuple[str, ...], told: str
) -> None:
    """It told something each time, and asked again without a pause."""

    def ends(received: Received) -> Reply | None:
        if "watch=" not in received.path:
            return None
        tree = {"metadata": {"uid": "a", "resourceVersion": str(len(cluster.asked))}}
        lines = (json.dumps({"type": kind, "object": tree}), *last)
        return Reply(HEAD, stream=(*(chunk(f"{line}\n".encode()) for line in lines), chunk(b"")))

    cluster.interferences.append(ends)
    with watched(cluster, steady_seconds=10.0) as reports:
        reports.until(lambda: told in reports.troubles)
        assert reports.watches <= 3
        reports.until_watching(4)
        assert (reports.watches, reports.troubles) == (4, [told])


def test_a_watch_that_worked_for_a_while_is_asked_for_again_at_once(cluster: WatchedCluster) -> None:
    with watched(cluster) as reports:
        for number in range(1, 4):
            reports.until_watching(number)
            cluster.end_watches()
        reports.until_watching(4)

    assert reports.troubles == []

"""A watch keeps up with a collection whatever the server does: what it has told is what is there."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest
from berth.core.jsonvalues import Tree, part
from berth.runtime.apiclient import MAX_RESPONSE_BYTES, Api, ApiError, Connection
from berth.runtime.program import Log, RuntimeContext
from berth.runtime.watch import (
    MAX_PAGE_BYTES,
    Collection,
    Reader,
    Watched,
    list_objects,
    parse_page,
    parse_watch_event,
    uid_of,
    watch_pause,
)

from tests.objectstore import status_tree
from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.watched_cluster import HEAD, WatchedCluster, chunk, refused

# A listener of one watch, over real sockets


PODS = "/api/v1/namespaces/hub/pods"
LONG_ENOUGH = 10.0


def pod(name: str, colour: str = "red", **more: Any) -> dict[str, Any]:
    return {"metadata": {"uid": name, "colour": colour}, **more}


def connected(server: StubServer, most: int = MAX_RESPONSE_BYTES) -> Connection:
    return Connection(lambda: HTTPConnection("127.0.0.1", server.port, timeout=LONG_ENOUGH), "", most=most)


class Colour(NamedTuple):
    """Reads what an object is to the test; nothing where it is of the color to ignore."""

    ignored: str = "grey"

    def read(self, tree: Tree) -> str | None:
        said = part(tree, "metadata").get("colour")
        return None if said == self.ignored else str(said)


class Heard:
    """What a watch has told, and what there is by it. Every watch is steady, unless it is told otherwise."""

    def __init__(self, cluster: WatchedCluster, steady_seconds: float = 0.0) -> None:
        self._steady_seconds = steady_seconds
        self.there: dict[str, object] = {}
        self._reader: Reader | None = None  # of what is there
        self.told: list[str] = []  # uids
        self.troubles: list[str] = []
        self.watched: list[Watched] = []  # one after the other
        self._cluster = cluster
        self._more = threading.Event()
        self._log = Log(self._write, lambda: 0.0, "course")

    def watch(self, server: StubServer, reader: Reader, page: int = 2) -> Watched:
        """Begin to watch, instead of the one before."""
        connection = connected(server, 100_000)
        context = RuntimeContext(Api(connection), "berth", self._log, lambda: 0.0, lambda: 1.0)
        collection, steady = Collection(PODS, page=page), self._steady_seconds
        made = Watched(collection, reader, context, connection, self._more.set, steady)
        if self.watched:
            made.inherit(self.watched[-1])
        self.watched.append(made)
        made.start()
        return made

    @property
    def watches(self) -> int:
        """How many were begun."""
        return sum("watch=" in received.path for received in self._cluster.asked)

    @property
    def lists(self) -> int:
        """How many were asked for."""
        paths = [received.path for received in self._cluster.asked]
        return sum("limit=" in path and "continue=" not in path for path in paths)

    def until(self, reached: Callable[[], bool]) -> None:
        for _ in range(int(LONG_ENOUGH / 0.05)):
            self._take()
            if reached():
                return
            self._more.wait(0.05)
            self._more.clear()
        raise AssertionError((self.told, self.there, self.troubles))

    def until_told(self, uid: str) -> None:
        self.until(lambda: uid in self.told)

    def until_watching(self, times: int = 1) -> None:
        self.until(lambda: self.watches >= times)

    def _take(self) -> None:
        if news := self.watched[-1].take_news():
            before = self.there if news.reader == self._reader else {}
            self.told += [uid for uid in self.there if uid not in news.items]
            self.told += [uid for uid, item in news.items.items() if before.get(uid) != item]
            self.there, self._reader = news.items, news.reader

    def _write(self, line: str) -> None:
        data = json.loads(line)
        self.troubles.append(data.get("message", data["event"]))
        self._more.set()


@contextmanager
def watched(
    cluster: WatchedCluster, reader: Reader | None = None, page: int = 2, steady_seconds: float = 0.0
) -> Iterator[Heard]:
    reports = Heard(cluster, steady_seconds)
    with StubServer(cluster.answer) as server:
        made = reports.watch(server, reader or Colour(), page)
        yield reports
        made.stop()
        cluster.end_watches()


def queries(cluster: WatchedCluster) -> list[dict[str, str]]:
    asked = [parse_qs(urlsplit(received.path).query) for received in cluster.asked]
    return [{key: values[0] for key, values in one.items()} for one in asked]


def next_time(cluster: WatchedCluster, part: str, answer: Reply) -> None:
    """The next request with `part` in its path ends so."""

    def interfere(received: Received) -> Reply | None:
        if part not in received.path:
            return None
        cluster.interferences.remove(interfere)
        return answer

    cluster.interferences.append(interfere)


# What lists and watches answer


POD: Tree = {"metadata": {"uid": "u", "resourceVersion": "7"}}


def line(type_: object, found: object) -> bytes:
    return json.dumps({"type": type_, "object": found}).encode() + b"\n"


@pytest.mark.parametrize(
    "text",
    [
        *(b"<html>", b'{"type": "AD', b"[]", b"\xff\n", line("NEW", POD), line(["ADDED"], POD)),
        *(line("ADDED", {"metadata": {"uid": "u"}}), line("BOOKMARK", None)),
    ],
)
def test_an_invalid_watch_event_is_an_error(text: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        parse_watch_event(text)

    assert caught.value.reason == "InvalidResponse"


LIST = '{ "kind":"PodList","items":[ {"a":1} ,\n{"b":[]}],"metadata":{"resourceVersion":"5","continue":"t"} }'
NO_LISTS = [
    *(LIST[:cut] for cut in range(len(LIST))),
    *(LIST.replace(",\n", other) for other in (" ", ",,")),
    *(LIST.replace('{"a":1}', "7"), LIST.replace('"kind":', '"kind" '), LIST.replace('"5"', '""')),
    *(LIST.replace('"t"', "1"), LIST.replace("PodList", "Status"), LIST.replace('"PodList"', '["PodList"]')),
    *("<html>", "[]", '{"kind":"PodList","items":{}}', '{"kind":"PodList","items":[],"metadata":[]}'),
]


def test_an_invalid_list_is_an_error() -> None:
    for text in NO_LISTS:
        with pytest.raises(ApiError) as caught:
            parse_page(text)
        assert caught.value.reason == "InvalidResponse"


def error(status: int, retry_after: float = 0.0) -> ApiError:
    return ApiError(status, "Whatever", "no", retry_after)


@pytest.mark.parametrize(
    ("failures", "status", "seconds"),
    [
        *((1, 500, 0.5), (2, 500, 1.0), (9, 500, 4.0)),
        *((1, 410, 0.0), (2, 410, 1.0), (3, 410, 2.0)),
        *((0, None, 0.0), (1, None, 0.0), (2, None, 1.0), (4, None, 4.0)),
    ],
)
def test_repeated_failures_pause_longer_but_a_first_end_or_expiry_does_not_pause(
    failures: int, status: int | None, seconds: float
) -> None:
    found = status and error(status)

    assert watch_pause(failures, found or None, 0.0) == seconds
    assert watch_pause(failures, found or None, 1.0) == seconds / 2
    assert watch_pause(1, error(429, 3.0), 0.5) == 3.0, "the server may ask for patience"


# A watch over real sockets


@pytest.fixture
def cluster() -> WatchedCluster:
    watched_cluster = WatchedCluster()
    for name in "abcde":
        watched_cluster.put(PODS, pod(name))
    return watched_cluster


def test_a_watch_starts_after_a_list_in_pages_over_one_connection(cluster: WatchedCluster) -> None:
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


def test_an_event_that_changes_nothing_relevant_is_not_delivered(cluster: WatchedCluster) -> None:
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


def test_an_ended_watch_resumes_at_once_from_the_last_event_or_bookmark(cluster: WatchedCluster) -> None:
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
def test_an_expired_version_is_no_trouble_and_missed_deletions_are_delivered(
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


def test_a_list_whose_pages_expire_starts_again(cluster: WatchedCluster) -> None:
    next_time(cluster, "continue=", refused(410, "Expired"))
    with watched(cluster) as reports:
        reports.until_watching()

    assert (reports.told, reports.troubles) == ([*"abcde"], [])


LISTS = {
    "forbidden": (refused(403, "Forbidden"), "no"),
    "unauthorized": (refused(401, "Unauthorized"), "no"),
    "a-page-in-between": (reply(200, b"<html>"), 'the response is not a list: {"text": "<html>"}'),
    "kind": (
        reply(200, b'{"kind": "Status"}'),
        'the response is not a list: {"text": "{\\"kind\\": \\"Status\\"}"}',
    ),
    "no-uid": (
        reply(200, b'{"kind":"PodList","items":[{"metadata":{}}],"metadata":{"resourceVersion":"1"}}'),
        "an object has no uid: {}",
    ),
}


@pytest.mark.parametrize(("answer", "told"), LISTS.values(), ids=LISTS)
def test_a_failed_list_is_repeated_and_reported(cluster: WatchedCluster, answer: Reply, told: str) -> None:
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
def test_a_page_that_fails_is_requested_again_and_the_list_goes_on(
    cluster: WatchedCluster, answer: Reply
) -> None:
    next_time(cluster, "continue=", answer)
    with watched(cluster, page=2) as reports:
        reports.until_watching()

    assert (reports.troubles, reports.there) == ([], dict.fromkeys("abcde", "red"))
    pages = [query.get("continue", "") for query in queries(cluster) if "limit" in query]
    assert len(pages) == 4, "three pages, and one of them twice"


TOO_LONG = chunk(b"x" * 100_001 + b"\n")
BROKEN = line("ERROR", status_tree(500, "InternalError"))
WATCHES = {
    "internal": (refused(500, "InternalError"), "no"),
    "a-version-from-before-a-restore": (refused(504, "Timeout"), "no"),
    "bad-request": (reply(400, b"{}"), "{}"),
    "cut": (Reply(HEAD, True, (chunk(b"{"),)), "the answer ends in the middle of a line"),
    "html": (reply(200, b"<html>\n"), "the event is not a JSON object: <html>\n"),
    "reset": (Reply(HEAD, True, (b"2\r\n{",)), "IncompleteRead(0 bytes read)"),
    "absurd": (Reply(HEAD, stream=(TOO_LONG, chunk(b""))), "the server sends more than 100000 bytes at once"),
    "an-event-tells-it": (Reply(HEAD, stream=(chunk(BROKEN), chunk(b""))), "no"),
    "an-odd-event": (Reply(HEAD, stream=(chunk(line("ERROR", {"code": "x"})), chunk(b""))), '{"code": "x"}'),
}


@pytest.mark.parametrize(("answer", "told"), WATCHES.values(), ids=WATCHES)
def test_a_new_list_follows_a_watch_that_fails(cluster: WatchedCluster, answer: Reply, told: str) -> None:
    next_time(cluster, "watch=", answer)
    with watched(cluster) as reports:
        reports.until(lambda: told in reports.troubles)
        reports.until_watching(2)
        cluster.put(PODS, pod("x"))
        reports.until_told("x")

    assert reports.lists == 2
    assert reports.there == dict.fromkeys("abcdex", "red")


def test_large_objects_are_listed_in_smaller_pages(cluster: WatchedCluster) -> None:
    """Each could be read. In eight megabytes of JSON there are more small objects than memory for them."""
    for name in "xyz":
        cluster.put(PODS, pod(name, pad="p" * (MAX_PAGE_BYTES // 2)))
    taken: list[Tree] = []
    with StubServer(cluster.answer) as server:
        connection = connected(server)
        list_objects(Api(connection), Collection(PODS, page=20), taken.append)
        connection.close()

    assert [uid_of(tree) for tree in taken] == [*"abcdexyz"]
    assert [query["limit"] for query in queries(cluster)] == ["20", "5", "20", "5", "1", "1", "1"]


def test_a_page_that_is_too_large_is_requested_in_smaller_pages(cluster: WatchedCluster) -> None:
    for name in "uvwxyz":
        cluster.put(PODS, pod(name, pad="p" * 40_000))
    with watched(cluster, page=20) as reports:
        reports.until_watching()

    assert reports.troubles == []
    assert reports.there == dict.fromkeys("abcdeuvwxyz", "red")
    assert [query.get("limit") for query in queries(cluster)][:5] == ["20", "5", "20", "5", "1"]


UNREADABLE: dict[str, Any] = {"deep": {"status": "DEEP"}, "large": {"pad": "p" * 120_000}}


@pytest.mark.parametrize("more", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_object_does_not_hide_other_objects(cluster: WatchedCluster, more: Any) -> None:
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
def test_a_list_fails_if_an_unreadable_object_may_not_be_skipped(cluster: WatchedCluster, more: Any) -> None:
    cluster.put(PODS, pod("mine", **more))
    asked: list[str] = []

    def may_skip(name: str, _: ApiError) -> bool:
        asked.append(name)
        return False

    with StubServer(cluster.answer) as server:
        connection = connected(server, 100_000)
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


def test_an_unexpected_exception_is_reported_and_the_watch_goes_on(cluster: WatchedCluster) -> None:
    with watched(cluster, Buggy()) as reports:
        reports.until_watching()

    assert (reports.troubles[0], reports.there) == ("oh", dict.fromkeys("abcde", "red"))


@pytest.mark.parametrize("has_told", [True, False], ids=["told", "not-yet-told"])
def test_a_watch_with_a_new_reader_delivers_all_objects_and_missed_deletions(
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


def test_a_silent_watch_is_no_trouble_and_is_opened_again(
    cluster: WatchedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berth.runtime.watch.SILENCE_SECONDS", 0.2)
    with watched(cluster) as reports:
        reports.until_watching(2)
        cluster.put(PODS, pod("x"))
        reports.until_told("x")

    assert (reports.troubles, reports.lists) == ([], 1)
    assert {received.connection for received in cluster.asked if "watch" in received.path} > {1}


def test_a_stopped_watch_delivers_nothing(cluster: WatchedCluster) -> None:
    with watched(cluster) as reports:
        reports.until_watching()
    cluster.put(PODS, pod("x"))

    assert reports.told == [*"abcde"]
    assert reports.watched[0].take_news() is None


def test_a_large_event_is_read_after_a_deeply_nested_event(cluster: WatchedCluster) -> None:
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
def test_a_watch_that_always_ends_after_its_first_event_is_opened_with_pauses(
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

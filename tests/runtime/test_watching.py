"""What lists and watches answer becomes values or one kind of error, and what comes next follows from it."""

import json

import pytest
from berth.core.jsonvalues import Tree
from berth.runtime.apiclient import ApiError
from berth.runtime.watch import Page, WatchEvent, parse_page, parse_watch_event, watch_pause

POD: Tree = {"metadata": {"uid": "u", "resourceVersion": "7"}}


def line(type_: object, found: object) -> bytes:
    return json.dumps({"type": type_, "object": found}).encode() + b"\n"


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("ADDED", WatchEvent(POD, False, "7")),
        ("MODIFIED", WatchEvent(POD, False, "7")),
        ("DELETED", WatchEvent(POD, True, "7")),
        ("BOOKMARK", WatchEvent(None, False, "7")),
    ],
)
def test_each_event_is_read(type_: str, expected: WatchEvent) -> None:
    assert expected == parse_watch_event(line(type_, POD))


@pytest.mark.parametrize(
    ("text", "status", "reason", "message"),
    [
        pytest.param(b"<html>", 200, "InvalidResponse", "the event is not a JSON object: <html>", id="html"),
        pytest.param(
            b'{"type": "AD', 200, "InvalidResponse", 'the event is not a JSON object: {"type": "AD', id="cut"
        ),
        pytest.param(b"[]", 200, "InvalidResponse", "the event is not a JSON object: []", id="list"),
        pytest.param(
            b"\xff\n", 200, "InvalidResponse", "the event is not a JSON object: \ufffd\n", id="not-utf-8"
        ),
        pytest.param(
            line("NEW", POD),
            200,
            "InvalidResponse",
            'the event has an unknown type: {"type": "NEW"}',
            id="type",
        ),
        pytest.param(
            line(["ADDED"], POD),
            200,
            "InvalidResponse",
            'the event has an unknown type: {"type": ["ADDED"]}',
            id="odd-type",
        ),
        pytest.param(
            line("ADDED", {"metadata": {"uid": "u"}}),
            200,
            "InvalidResponse",
            'the event has no version: {"type": "ADDED"}',
            id="no-version",
        ),
        pytest.param(
            line("BOOKMARK", None),
            200,
            "InvalidResponse",
            'the event has no version: {"type": "BOOKMARK"}',
            id="null",
        ),
        pytest.param(
            line("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}),
            410,
            "Expired",
            "too old",
            id="expired",
        ),
        pytest.param(line("ERROR", {"code": "x"}), 500, "Unknown", '{"code": "x"}', id="odd-error"),
    ],
)
def test_what_is_no_event_is_an_error(text: bytes, status: int, reason: str, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_watch_event(text)

    assert (status, reason, message) == (caught.value.status, caught.value.reason, str(caught.value))


def test_an_event_that_nests_as_deep_as_it_likes_is_an_error() -> None:
    with pytest.raises(ApiError, match="the event is not a JSON object"):
        parse_watch_event(b"[" * 200_000)


LIST = '{ "kind":"PodList","items":[ {"a":1} ,\n{"b":[]}],"metadata":{"resourceVersion":"5","continue":"t"} }'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LIST, Page([{"a": 1}, {"b": []}], "5", "t")),
        ('{"metadata":{"resourceVersion":"5"},"kind":"XList","items":null}', Page([], "5", "")),
        ('{"items":[],"kind":"List","metadata":{"resourceVersion":"5"}}', Page([], "5", "")),
    ],
)
def test_a_page_has_items_a_version_and_the_token_of_the_next_one(text: str, expected: Page) -> None:
    assert expected == parse_page(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", None),
        ("<html>", None),
        ("[]", None),
        ('{"kind":"PodList","items":[', None),
        (LIST[:60], None),
        (LIST.replace(",\n", " "), None),
        (LIST.replace(",\n", ",,"), None),
        (LIST.replace('{"a":1}', "7"), None),
        (LIST.replace('"kind":', '"kind" '), None),
        ('{"kind":"PodList",}', None),
        ('{[1]:"kind"}', None),
        ('{"kind":"Status"}', None),
        ('{"kind":["PodList"],"items":[]}', None),
        ('{"kind":"PodList","metadata":{}}', None),
        ('{"kind":"PodList","items":{}}', None),
        ('{"kind":"PodList","items":[],"metadata":[]}', "the list has no version: {}"),
        (
            '{"kind":"PodList","items":[],"metadata":{"resourceVersion":""}}',
            'the list has no version: {"resourceVersion": ""}',
        ),
        (
            '{"kind":"PodList","items":[],"metadata":{"resourceVersion":"1","continue":1}}',
            'the list has no version: {"resourceVersion": "1", "continue": 1}',
        ),
    ],
)
def test_what_is_no_list_is_an_error(text: str, message: str | None) -> None:
    with pytest.raises(ApiError) as caught:
        parse_page(text)

    expected = message or f"the response is not a list: {json.dumps({'text': text[:100]})}"
    assert (caught.value.reason, str(caught.value)) == ("InvalidResponse", expected)


def test_a_list_that_nests_too_deep_is_too_large() -> None:
    with pytest.raises(ApiError) as caught:
        parse_page('{"items":' + "[" * 200_000)

    assert caught.value.reason == "TooLarge"


@pytest.mark.parametrize("cut", range(len(LIST)))
def test_a_list_that_is_cut_anywhere_is_an_error(cut: int) -> None:
    with pytest.raises(ApiError):
        parse_page(LIST[:cut])


def error(status: int, retry_after: float = 0.0) -> ApiError:
    return ApiError(status, "Whatever", "no", retry_after)


@pytest.mark.parametrize(
    ("failures", "status", "seconds"),
    [(1, 500, 0.5), (2, 500, 1.0), (9, 500, 4.0), (1, 410, 0.0), (2, 410, 1.0), (3, 410, 2.0)],
)
def test_failures_in_a_row_pause_for_longer_but_a_version_that_expired_is_no_failure(
    failures: int, status: int, seconds: float
) -> None:
    assert seconds == watch_pause(failures, error(status), 0.0)
    assert seconds / 2 == watch_pause(failures, error(status), 1.0)


def test_the_server_may_ask_for_patience() -> None:
    assert watch_pause(1, error(429, 3.0), 0.5) == 3.0


def test_a_watch_that_ends_goes_on_at_once_unless_it_never_says_anything() -> None:
    assert [watch_pause(failures, None, 0.0) for failures in range(5)] == [0.0, 0.0, 1.0, 2.0, 4.0]

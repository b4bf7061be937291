"""What is asked of the API server, to the byte, and how each way of answering is understood."""

import json

import pytest
from berth.core.objects import CONFIG_MAP, JOB
from berth.core.poolobjects import ObjectRef, PoolObject
from berth.runtime.apiclient import (
    BERTH_FIELD_MANAGERS,
    FIELD_MANAGER,
    SWEEP_FIELD_MANAGER,
    Api,
    ApiError,
    Request,
    Response,
    TimetableText,
)

from tests.objectstore import no_answer, refusal
from tests.runtime.fake_cluster import FakeCluster

SCALE = "/apis/apps/v1/namespaces/berth/deployments/course-small/scale"


def pool(ready: int = 0, uid: str = "", replicas: int = 3, version: str = "7") -> PoolObject:
    """The Deployment that the tests read."""
    return PoolObject(ObjectRef("Deployment", "course-small", uid, "", 0), replicas, ready, version)


def answering(*answers: Response) -> tuple[Api, list[Request]]:
    asked: list[Request] = []
    left = list(answers)

    def transport(request: Request) -> Response:
        asked.append(request)
        return left.pop(0)

    return Api(transport), asked


def failure(answer: Response) -> tuple[int, str, str, float]:
    api, _ = answering(answer)
    with pytest.raises(ApiError) as caught:
        api.set_replicas("berth", pool(), 3)
    return caught.value.status, caught.value.reason, str(caught.value), caught.value.retry_after


def test_the_requests_are_these() -> None:
    scale = Response(200, b'{"kind": "Scale", "metadata": {"resourceVersion": "7"}, "spec": {"replicas": 3}}')
    timetable = Response(200, b'{"kind": "ConfigMap", "data": {"timetable.json": "{}"}}')
    api, asked = answering(timetable, scale, scale)

    answers = (
        api.get_timetable("berth", "course"),
        api.set_replicas("berth", pool(replicas=0, version="6"), 3),
        api.set_replicas("berth", pool(replicas=0, version="6"), 3, version="6"),
    )

    assert (TimetableText("{}"), pool(), pool()) == answers
    assert [
        Request("GET", "/api/v1/namespaces/berth/configmaps/course"),
        Request("PATCH", SCALE + "?fieldManager=berth-scaler", b'{"spec": {"replicas": 3}}'),
        Request(
            "PATCH",
            SCALE + "?fieldManager=berth-scaler",
            b'{"metadata": {"resourceVersion": "6"}, "spec": {"replicas": 3}}',
        ),
    ] == asked


def test_a_name_cannot_lead_elsewhere() -> None:
    api, asked = answering(refusal(404, "NotFound"), refusal(404, "NotFound"))
    with pytest.raises(ApiError):
        api.set_replicas("a/b", pool()._replace(ref=ObjectRef("Deployment", "../pods?x", "", "", 0)), 3)
    with pytest.raises(ApiError):
        api.get_timetable("a b", "c#d")

    assert [request.path.partition("?")[0] for request in asked] == [
        "/apis/apps/v1/namespaces/a%2Fb/deployments/..%2Fpods%3Fx/scale",
        "/api/v1/namespaces/a%20b/configmaps/c%23d",
    ]


@pytest.mark.parametrize("spec", [', "spec": {}', ""])
def test_at_zero_the_server_leaves_the_number_out(spec: str) -> None:
    body = f'{{"kind": "Scale", "metadata": {{"resourceVersion": "7"}}{spec}}}'
    api, _ = answering(Response(200, body.encode()))

    assert pool(replicas=0) == api.set_replicas("berth", pool(version="5"), 0)


def test_a_stale_write_is_a_conflict_where_it_says_its_version() -> None:
    api = Api(FakeCluster(None, {"course-small": 0}))
    stands = api.get_pool("berth", "course-small")
    taken = api.set_replicas("berth", stands, 25, version=stands.resource_version)
    with pytest.raises(ApiError) as caught:
        api.set_replicas("berth", stands, 0, version=stands.resource_version)

    assert taken.replicas == 25
    assert caught.value.is_conflict()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(
            refusal(403, "Forbidden", "deployments.apps is forbidden"),
            (403, "Forbidden", "deployments.apps is forbidden", 0.0),
            id="a-status-object",
        ),
        pytest.param(
            refusal(429, "TooManyRequests", "later", 7.0),
            (429, "TooManyRequests", "later", 7.0),
            id="retry-after",
        ),
        pytest.param(
            Response(502, b"<html>bad gateway"), (502, "Unknown", "<html>bad gateway", 0.0), id="a-proxy"
        ),
        pytest.param(
            Response(500, b'{"reason": 5, "message": "x"}'),
            (500, "Unknown", '{"reason": 5, "message": "x"}', 0.0),
            id="no-status-object",
        ),
        pytest.param(Response(301, b""), (301, "Unknown", "", 0.0), id="a-redirect-is-not-followed"),
        pytest.param(Response(500, b"x" * 300), (500, "Unknown", "x" * 200 + "...", 0.0), id="a-long-page"),
        pytest.param(
            Response(200, b"\xff\xfe{"),
            (200, "InvalidResponse", "the response is not a Scale: \ufffd\ufffd{", 0.0),
            id="no-text",
        ),
        pytest.param(
            Response(200, b""), (200, "InvalidResponse", "the response is not a Scale: ", 0.0), id="empty"
        ),
        pytest.param(
            Response(200, b'{"kind": "Sca'),
            (200, "InvalidResponse", 'the response is not a Scale: {"kind": "Sca', 0.0),
            id="cut-off",
        ),
        pytest.param(
            Response(200, b'{"metadata": {"resourceVersion": "7"}, "spec": {"replicas": 3}}'),
            (
                200,
                "InvalidResponse",
                'the response is not a Scale: {"metadata": {"resourceVersion": "7"}, "spec": {"replicas": 3}}',  # noqa: E501
                0.0,
            ),
            id="another-kind",
        ),
        pytest.param(
            Response(200, b"[]"),
            (200, "InvalidResponse", "the response is not a Scale: []", 0.0),
            id="a-list",
        ),
        pytest.param(
            Response(200, b"[" * 100_000),
            (200, "InvalidResponse", f"the response is not a Scale: {'[' * 200}...", 0.0),
            id="thousands-of-levels",
        ),
        pytest.param(
            Response(200, b'{"kind": "Scale"}'),
            (200, "InvalidResponse", 'the response is not a Scale: {"kind": "Scale"}', 0.0),
            id="no-resource-version",
        ),
        pytest.param(
            Response(
                200, b'{"kind": "Scale", "metadata": {"resourceVersion": "7"}, "spec": {"replicas": "3"}}'
            ),
            (
                200,
                "InvalidResponse",
                'the response is not a Scale: {"kind": "Scale", "metadata": {"resourceVersion": "7"},'
                ' "spec": {"replicas": "3"}}',
                0.0,
            ),
            id="replicas-as-text",
        ),
        pytest.param(
            Response(200, b'{"kind": "Scale", "metadata": {"resourceVersion": "7"}, "spec": 3}'),
            (
                200,
                "InvalidResponse",
                'the response is not a Scale: {"kind": "Scale", "metadata": {"resourceVersion": "7"}, "spec": 3}',  # noqa: E501
                0.0,
            ),
            id="no-spec",
        ),
    ],
)
def test_a_refusal_or_nonsense_is_an_error(answer: Response, expected: tuple[int, str, str, float]) -> None:
    assert expected == failure(answer)


def test_only_the_api_server_can_say_that_something_is_gone() -> None:
    errors = []
    for answer in (refusal(404, "NotFound"), Response(404, b"404 page not found"), refusal(410, "NotFound")):
        api, _ = answering(answer)
        with pytest.raises(ApiError) as caught:
            api.set_replicas("berth", pool(), 3)
        errors.append(caught.value)

    assert [error.is_gone() for error in errors] == [True, False, False]


@pytest.mark.parametrize("data", ["", ', "data": null', ', "data": {}', ', "data": {"timetable.json": 1}'])
def test_a_configmap_without_a_timetable_is_an_error(data: str) -> None:
    api, _ = answering(Response(200, f'{{"kind": "ConfigMap"{data}}}'.encode()))
    with pytest.raises(ApiError) as caught:
        api.get_timetable("berth", "course")

    assert str(caught.value) == "the ConfigMap course has no text timetable.json"


def test_errors_of_the_transport_pass_through() -> None:
    cluster = FakeCluster(None, {})
    cluster.interfere("GET", no_answer())
    with pytest.raises(ApiError) as caught:
        Api(cluster).get_timetable("berth", "course")

    assert (caught.value.status, caught.value.reason) == (0, "ConnectionRefusedError")


def test_what_a_run_looks_at_and_tells_is_asked_so() -> None:
    deployment = {
        "kind": "Deployment",
        "metadata": {"name": "course-small", "resourceVersion": "7", "uid": "u"},
        "spec": {"replicas": 3},
        "status": {"readyReplicas": 2},
    }
    job = {"kind": "Job", "metadata": {"annotations": {"berth.dev/record": "[]"}}}
    answers = [Response(200, json.dumps(tree).encode()) for tree in (deployment, job)]
    api, asked = answering(*answers)

    assert api.get_pool("berth", "course-small") == pool(ready=2, uid="u")
    assert api.patch(JOB, "berth", "course-1", {"metadata": {"annotations": {"berth.dev/record": "[1]"}}})
    assert asked == [
        Request("GET", SCALE.removesuffix("/scale")),
        Request(
            "PATCH",
            "/apis/batch/v1/namespaces/berth/jobs/course-1?fieldManager=berth-scaler",
            b'{"metadata": {"annotations": {"berth.dev/record": "[1]"}}}',
        ),
    ]


def test_annotations_are_set_and_taken_away_by_a_merge_patch_in_our_name() -> None:
    api, asked = answering(Response(200, b'{"kind": "ConfigMap"}'))

    assert api.patch(CONFIG_MAP, "berth", "a", {"metadata": {"annotations": {"x": "1", "y": None}}})

    path = "/api/v1/namespaces/berth/configmaps/a?fieldManager=berth-scaler"
    body = b'{"metadata": {"annotations": {"x": "1", "y": null}}}'
    assert asked == [Request("PATCH", path, body, "application/merge-patch+json")]


def test_a_deployment_of_which_nothing_is_ready_leaves_the_number_out() -> None:
    metadata = '{"name": "course-small", "resourceVersion": "7"}'
    text = f'{{"kind": "Deployment", "metadata": {metadata}, "spec": {{"replicas": 3}}}}'
    api, _ = answering(Response(200, text.encode()))

    assert api.get_pool("berth", "course-small") == pool(ready=0, uid="")


@pytest.mark.parametrize(
    "rest",
    [
        "",
        ', "metadata": {"name": "a", "resourceVersion": "7"}',
        ', "spec": {"replicas": 3}',
        ', "metadata": {"name": "a", "resourceVersion": "7"}, "spec": {"replicas": "3"}',
        ', "metadata": [], "spec": 3',
    ],
)
def test_what_is_no_deployment_is_nonsense(rest: str) -> None:
    api, _ = answering(Response(200, f'{{"kind": "Deployment"{rest}}}'.encode()))

    with pytest.raises(ApiError, match="the response is not a Deployment"):
        api.get_pool("berth", "course-small")


def test_an_override_comes_with_the_timetable() -> None:
    metadata = '"metadata": {"annotations": {"berth.dev/override": "{}"}}'
    api, _ = answering(
        Response(200, f'{{"kind": "ConfigMap", {metadata}, "data": {{"timetable.json": "x"}}}}'.encode())
    )

    assert api.get_timetable("berth", "course") == TimetableText("x", "{}")


def test_each_program_writes_in_a_name_of_its_own_and_all_are_known_as_ours() -> None:
    """Those names are in clusters already: `status` tells by them who has scaled."""
    assert (FIELD_MANAGER, SWEEP_FIELD_MANAGER) == ("berth-scaler", "berth-sweep")
    assert set(BERTH_FIELD_MANAGERS) == {"berth-scaler", "berth-sweep"}

"""What is asked of the API server about objects of any kind, to the letter, and what its answers become."""

import json

import pytest
from berth.core.objects import CONFIG_MAP, DEPLOYMENT, JOB, SLOT
from berth.runtime.apiclient import (
    Api,
    ApiError,
    Request,
    Response,
    apply_object,
    create_object,
    delete_object,
    get_object,
    list_pages,
    patch_object,
)

from tests.runtime.fake_cluster import refusal

JOBS = "/apis/batch/v1/namespaces/berth/jobs"
MAPS = "/api/v1/namespaces/berth/configmaps"


class Server:
    """Gives its answers one after the other."""

    def __init__(self, *answers: Response) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []
        self.api = Api(self, "berth-sweep")

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        return self._answers.pop(0)


def good(code: int = 200, **tree: object) -> Response:
    return Response(code, json.dumps(tree).encode())


def test_a_list_is_read_page_by_page_until_no_more_is_promised() -> None:
    server = Server(
        good(kind="JobList", metadata={"continue": "a b"}, items=[{"n": 1}, {"n": 2}]),
        good(kind="JobList", metadata={}, items=[{"n": 3}]),
    )

    assert list(list_pages(server.api, JOB, "berth", "a=b,c", "x=y")) == [[{"n": 1}, {"n": 2}], [{"n": 3}]]
    query = "labelSelector=a%3Db%2Cc&limit=500&fieldSelector=x%3Dy"
    assert [request.path for request in server.requests] == [
        f"{JOBS}?{query}",
        f"{JOBS}?{query}&continue=a+b",
    ]


@pytest.mark.parametrize("items", [None, []], ids=["null", "empty"])
def test_a_list_of_nothing(items: object) -> None:
    server = Server(good(kind="ConfigMapList", metadata={}, items=items))

    assert list(list_pages(server.api, CONFIG_MAP, "berth", "a")) == [[]]


@pytest.mark.parametrize(
    "answer",
    [
        good(kind="ConfigMap"),
        good(kind="JobList", metadata={}, items=7),
        good(kind="JobList", metadata=7, items=[]),
    ],
    ids=["another-kind", "items", "metadata"],
)
def test_a_list_that_is_none(answer: Response) -> None:
    with pytest.raises(ApiError, match="the response is not a JobList"):
        list(list_pages(Server(answer).api, JOB, "berth", "a"))


def test_what_is_not_there_is_none() -> None:
    server = Server(refusal(404, "NotFound"), good(kind="Job", a=1), Response(404, b"404 page not found"))

    assert get_object(server.api, JOB, "berth", "x") is None
    assert get_object(server.api, JOB, "berth", "x") == {"kind": "Job", "a": 1}
    with pytest.raises(ApiError):
        get_object(server.api, JOB, "berth", "x")


def test_an_object_is_applied_by_force_in_our_name() -> None:
    server = Server(good(201, kind="Job"))

    apply_object(server.api, JOB, "berth", "a", {"spec": {}})

    body = b'{"apiVersion": "batch/v1", "kind": "Job", "spec": {}}'
    path = f"{JOBS}/a?fieldManager=berth-sweep&force=true"
    assert server.requests == [Request("PATCH", path, body, "application/apply-patch+yaml")]


@pytest.mark.parametrize(
    ("answer", "existed"),
    [
        pytest.param(good(kind="Status", status="Success"), True, id="deleted"),
        pytest.param(good(202, kind="Deployment"), True, id="held-by-a-finalizer"),
        pytest.param(refusal(404, "NotFound"), False, id="gone"),
        pytest.param(refusal(409, "Conflict"), False, id="another-of-that-name"),
    ],
)
def test_only_the_object_that_was_seen_is_deleted_and_what_it_owns(answer: Response, existed: bool) -> None:
    server = Server(answer)

    assert delete_object(server.api, DEPLOYMENT, "berth", "a", uid="u") == existed
    (request,) = server.requests
    where = ("DELETE", "/apis/apps/v1/namespaces/berth/deployments/a", "application/json")
    assert (request.method, request.path, request.content_type) == where
    assert json.loads(request.body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": {"uid": "u"},
    }


def test_a_deletion_that_is_refused_is_an_error() -> None:
    with pytest.raises(ApiError, match="no"):
        delete_object(Server(refusal(403, "Forbidden")).api, JOB, "berth", "a", uid="u")


def test_one_that_has_changed_since_is_not_deleted_where_that_matters() -> None:
    server = Server(refusal(409, "Conflict"))

    assert not delete_object(server.api, SLOT, "", "a", uid="u", resourceVersion="7")
    (request,) = server.requests
    assert json.loads(request.body)["preconditions"] == {"uid": "u", "resourceVersion": "7"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(good(201, kind="Reservation"), True), (refusal(409, "AlreadyExists"), False)],
    ids=["created", "there-is-one"],
)
def test_an_object_is_created_in_our_name_unless_there_is_one(answer: Response, expected: bool) -> None:
    server = Server(answer)

    assert create_object(server.api, SLOT, "", {"metadata": {"name": "a"}}) == expected
    version = "scheduling.koordinator.sh/v1alpha1"
    body = f'{{"apiVersion": "{version}", "kind": "Reservation", "metadata": {{"name": "a"}}}}'.encode()
    path = f"/apis/{version}/reservations?fieldManager=berth-sweep"
    assert server.requests == [Request("POST", path, body, "application/json")]


def test_another_conflict_than_with_its_name_is_an_error() -> None:
    with pytest.raises(ApiError, match="no"):
        create_object(Server(refusal(409, "Conflict")).api, SLOT, "", {})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(good(kind="Reservation"), True, id="merged"),
        pytest.param(refusal(404, "NotFound"), False, id="gone"),
        pytest.param(refusal(409, "Conflict"), False, id="changed-since"),
    ],
)
def test_a_tree_is_merged_into_an_object(answer: Response, expected: bool) -> None:
    server = Server(answer)

    assert patch_object(server.api, SLOT, "", "a", {"spec": {"ttl": "1s"}}) == expected
    path = "/apis/scheduling.koordinator.sh/v1alpha1/reservations/a?fieldManager=berth-sweep"
    assert server.requests == [Request("PATCH", path, b'{"spec": {"ttl": "1s"}}')]


def test_of_slots_a_page_is_smaller() -> None:
    server = Server(good(kind="ReservationList", metadata={}, items=[]))

    assert list(list_pages(server.api, SLOT, "", "a")) == [[]]
    path = "/apis/scheduling.koordinator.sh/v1alpha1/reservations?labelSelector=a&limit=100"
    assert [request.path for request in server.requests] == [path]

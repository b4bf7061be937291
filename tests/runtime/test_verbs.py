"""What is asked of the API server about objects of any kind, to the letter, and what its answers become."""

import json

import pytest
from berth.core.jsonvalues import Tree
from berth.core.objects import DEPLOYMENT, JOB, SLOT
from berth.runtime.apiclient import Api, ApiError, Request, Response
from berth.runtime.watch import Collection, list_objects

from tests.objectstore import refusal

JOBS = "/apis/batch/v1/namespaces/berth/jobs"


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
        good(
            kind="JobList", metadata={"continue": "a b", "resourceVersion": "7"}, items=[{"n": 1}, {"n": 2}]
        ),
        good(kind="JobList", metadata={"resourceVersion": "7"}, items=[{"n": 3}]),
    )
    found: list[Tree] = []

    assert list_objects(server.api, Collection(JOBS, "a=b,c", "x=y", page=500), found.append) == "7"
    assert found == [{"n": 1}, {"n": 2}, {"n": 3}]
    query = "labelSelector=a%3Db%2Cc&fieldSelector=x%3Dy&limit="
    assert [request.path for request in server.requests] == [
        f"{JOBS}?{query}32",
        f"{JOBS}?{query}500&continue=a+b",
    ]


def test_what_is_not_there_is_none() -> None:
    server = Server(refusal(404, "NotFound"), good(kind="Job", a=1), Response(404, b"404 page not found"))

    assert server.api.find(JOB, "berth", "x") is None
    assert server.api.find(JOB, "berth", "x") == {"kind": "Job", "a": 1}
    with pytest.raises(ApiError):
        server.api.find(JOB, "berth", "x")


def test_an_object_is_applied_by_force_in_our_name() -> None:
    server = Server(good(201, kind="Job"))

    server.api.apply(JOB, "berth", "a", {"spec": {}})

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

    assert server.api.delete(DEPLOYMENT, "berth", "a", uid="u") == existed
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
        Server(refusal(403, "Forbidden")).api.delete(JOB, "berth", "a", uid="u")


def test_one_that_has_changed_since_is_not_deleted_where_that_matters() -> None:
    server = Server(refusal(409, "Conflict"))

    assert not server.api.delete(SLOT, "", "a", uid="u", resourceVersion="7")
    (request,) = server.requests
    assert json.loads(request.body)["preconditions"] == {"uid": "u", "resourceVersion": "7"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(good(201, kind="Reservation"), True), (refusal(409, "AlreadyExists"), False)],
    ids=["created", "there-is-one"],
)
def test_an_object_is_created_in_our_name_unless_there_is_one(answer: Response, expected: bool) -> None:
    server = Server(answer)

    assert server.api.create(SLOT, "", {"metadata": {"name": "a"}}) == expected
    version = "scheduling.koordinator.sh/v1alpha1"
    body = f'{{"apiVersion": "{version}", "kind": "Reservation", "metadata": {{"name": "a"}}}}'.encode()
    path = f"/apis/{version}/reservations?fieldManager=berth-sweep"
    assert server.requests == [Request("POST", path, body, "application/json")]


def test_another_conflict_than_with_its_name_is_an_error() -> None:
    with pytest.raises(ApiError, match="no"):
        Server(refusal(409, "Conflict")).api.create(SLOT, "", {})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(good(kind="Reservation", metadata={"resourceVersion": "7"}), "7", id="merged"),
        pytest.param(refusal(404, "NotFound"), "", id="gone"),
        pytest.param(refusal(409, "Conflict"), "", id="changed-since"),
    ],
)
def test_a_tree_is_merged_into_an_object(answer: Response, expected: str) -> None:
    server = Server(answer)

    assert server.api.patch(SLOT, "", "a", {"spec": {"ttl": "1s"}}) == expected
    path = "/apis/scheduling.koordinator.sh/v1alpha1/reservations/a?fieldManager=berth-sweep"
    assert server.requests == [Request("PATCH", path, b'{"spec": {"ttl": "1s"}}')]

"""What is asked of the API server, to the letter, and how each way of answering is understood."""

import json

import pytest
from berth.core.labels import FIELD_MANAGER
from berth.core.objects import CONFIG_MAP, DEPLOYMENT, JOB, SLOT, ObjectRef
from berth.core.poolobjects import PoolObject
from berth.runtime.apiclient import Api, ApiError, Request, Response

from tests.objectstore import Tree, good, refusal

METADATA: Tree = {"name": "course-small", "resourceVersion": "7"}


class Server:
    """Gives its answers one after the other."""

    def __init__(self, *answers: Response, manager: str = FIELD_MANAGER) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []
        self.api = Api(self, manager)

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        return self._answers.pop(0)


def pool(ready: int = 0, uid: str = "", replicas: int = 3, version: str = "7") -> PoolObject:
    """The Deployment that the tests read."""
    return PoolObject(ObjectRef("Deployment", "course-small", uid, "", 0), replicas, ready, version)


def failure(answer: Response) -> ApiError:
    with pytest.raises(ApiError) as caught:
        Server(answer).api.set_replicas("berth", pool(), 3)
    return caught.value


# Paths


def test_names_are_quoted_in_request_paths() -> None:
    server = Server(refusal(404, "NotFound"), refusal(404, "NotFound"))
    stranger = ObjectRef("Deployment", "../pods?x", "", "", 0)
    with pytest.raises(ApiError):
        server.api.set_replicas("a/b", pool()._replace(ref=stranger), 3)
    with pytest.raises(ApiError):
        server.api.get_timetable("a b", "c#d")

    assert [request.path.partition("?")[0] for request in server.requests] == [
        "/apis/apps/v1/namespaces/a%2Fb/deployments/..%2Fpods%3Fx/scale",
        "/api/v1/namespaces/a%20b/configmaps/c%23d",
    ]


# Reading


NO_DEPLOYMENTS: list[Tree] = [
    {},
    {"metadata": METADATA},
    {"spec": {"replicas": 3}},
    {"metadata": METADATA, "spec": {"replicas": "3"}},
    {"metadata": [], "spec": 3},
]


@pytest.mark.parametrize("tree", NO_DEPLOYMENTS)
def test_a_response_that_is_not_a_deployment_is_an_error(tree: Tree) -> None:
    with pytest.raises(ApiError, match="the response is not a Deployment"):
        Server(good({"kind": "Deployment", **tree})).api.get_pool("berth", "course-small")


# Writing


DELETIONS = {
    "deleted": (good({"kind": "Status", "status": "Success"}), True),
    "held-by-a-finalizer": (good({"kind": "Deployment"}, 202), True),
    "gone": (refusal(404, "NotFound"), False),
    "another-of-that-name": (refusal(409, "Conflict"), False),
}


@pytest.mark.parametrize(("answer", "existed"), DELETIONS.values(), ids=DELETIONS)
@pytest.mark.parametrize("version", [{}, {"resourceVersion": "7"}])
def test_a_delete_has_the_seen_uid_as_precondition_and_includes_dependents(
    answer: Response, existed: bool, version: dict[str, str]
) -> None:
    server = Server(answer)

    assert server.api.delete(DEPLOYMENT, "berth", "a", uid="u", **version) == existed
    body = json.loads(server.requests[0].body)
    assert (body["propagationPolicy"], body["preconditions"]) == ("Background", {"uid": "u", **version})


def test_a_refused_create_or_delete_is_an_error() -> None:
    with pytest.raises(ApiError, match="no"):
        Server(refusal(409, "Conflict")).api.create(SLOT, "", {})
    with pytest.raises(ApiError, match="no"):
        Server(refusal(403, "Forbidden")).api.delete(JOB, "berth", "a", uid="u")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (good({"kind": "ConfigMap", "metadata": {"resourceVersion": "7"}}), "7"),
        (refusal(404, "NotFound"), ""),
        (refusal(409, "Conflict"), ""),
    ],
    ids=["merged", "gone", "changed-since"],
)
def test_a_tree_is_merged_into_an_object(answer: Response, expected: str) -> None:
    server = Server(answer)
    tree: Tree = {"metadata": {"annotations": {"x": "1", "y": None}}}

    assert server.api.patch(CONFIG_MAP, "berth", "a", tree) == expected
    path = "/api/v1/namespaces/berth/configmaps/a?fieldManager=berth-scaler"
    assert server.requests == [
        Request("PATCH", path, json.dumps(tree).encode(), "application/merge-patch+json")
    ]


# Refusals and nonsense

LATER = refusal(429, "TooManyRequests", "later", 7.0)
REFUSALS = {
    "a-status-object": (refusal(403, "Forbidden", "not yours"), (403, "Forbidden", "not yours", 0.0)),
    "retry-after": (LATER, (429, "TooManyRequests", "later", 7.0)),
    "a-proxy": (Response(502, b"<html>bad gateway"), (502, "Unknown", "<html>bad gateway", 0.0)),
    "no-status-object": (Response(500, b'{"reason": 5}'), (500, "Unknown", '{"reason": 5}', 0.0)),
    "a-redirect-is-not-followed": (Response(301, b""), (301, "Unknown", "", 0.0)),
    "a-long-page": (Response(500, b"x" * 300), (500, "Unknown", "x" * 200 + "...", 0.0)),
}


@pytest.mark.parametrize(("answer", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_is_an_error(answer: Response, expected: tuple[int, str, str, float]) -> None:
    error = failure(answer)

    assert (error.status, error.reason, str(error), error.retry_after) == expected


NONSENSE = {
    "no-text": "\ufffd\ufffd{",
    "empty": "",
    "cut-off": '{"kind": "Sca',
    "another-kind": '{"metadata": {"resourceVersion": "7"}, "spec": {"replicas": 3}}',
    "a-list": "[]",
    "thousands-of-levels": "[" * 100_000,
    "no-version": '{"kind": "Scale"}',
    "text": '{"kind": "Scale", "metadata": {"resourceVersion": "7"}, "spec": {"replicas": "3"}}',
    "no-spec": '{"kind": "Scale", "metadata": {"resourceVersion": "7"}, "spec": 3}',
}


@pytest.mark.parametrize("text", NONSENSE.values(), ids=NONSENSE)
def test_an_unreadable_answer_raises_an_error_that_quotes_it(text: str) -> None:
    error = failure(Response(200, text.replace("\ufffd\ufffd", "\xff\xfe").encode("latin-1")))

    quoted = text if len(text) <= 200 else text[:200] + "..."
    assert (error.status, error.reason) == (200, "InvalidResponse")
    assert str(error) == f"the response is not a Scale: {quoted}"


def test_only_a_404_with_reason_not_found_means_that_an_object_is_gone() -> None:
    answers = refusal(404, "NotFound"), Response(404, b"404 page not found"), refusal(410, "NotFound")

    assert [failure(answer).is_gone() for answer in answers] == [True, False, False]

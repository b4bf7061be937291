"""What is asked of the API server, to the letter, and how each way of answering is understood."""

import json
from typing import Any

import pytest
from berth.core.labels import BERTH_FIELD_MANAGERS, FIELD_MANAGER, SWEEP_FIELD_MANAGER
from berth.core.objects import CONFIG_MAP, DEPLOYMENT, JOB, ROLE, SLOT, ObjectKind, ObjectRef
from berth.core.poolobjects import PoolObject
from berth.runtime.apiclient import Api, ApiError, Request, Response, TimetableText
from berth.runtime.watch import Collection, list_objects

from tests.objectstore import Tree, no_answer, refusal
from tests.runtime.fake_cluster import FakeCluster

DEPLOYMENTS, JOBS = "/apis/apps/v1/namespaces/berth/deployments", "/apis/batch/v1/namespaces/berth/jobs"
SCALE = f"{DEPLOYMENTS}/course-small/scale"
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


def good(code: int = 200, **tree: Any) -> Response:
    return Response(code, json.dumps(tree).encode())


def pool(ready: int = 0, uid: str = "", replicas: int = 3, version: str = "7") -> PoolObject:
    """The Deployment that the tests read."""
    return PoolObject(ObjectRef("Deployment", "course-small", uid, "", 0), replicas, ready, version)


def failure(answer: Response) -> ApiError:
    with pytest.raises(ApiError) as caught:
        Server(answer).api.set_replicas("berth", pool(), 3)
    return caught.value


# Paths


def test_where_the_objects_of_a_kind_are() -> None:
    slots = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
    thing = ObjectKind("Thing", "example.org/v2", "things")

    assert CONFIG_MAP.path("berth") == "/api/v1/namespaces/berth/configmaps"
    assert ROLE.path("berth") == "/apis/rbac.authorization.k8s.io/v1/namespaces/berth/roles"
    assert (SLOT.path(""), SLOT.path("", "a")) == (slots, f"{slots}/a")
    assert thing.path("a/b", "c?d") == "/apis/example.org/v2/namespaces/a%2Fb/things/c%3Fd"


def test_a_name_cannot_lead_elsewhere() -> None:
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


def test_each_program_writes_in_a_name_of_its_own_and_all_are_known_as_ours() -> None:
    """Those names are in clusters already: `status` tells by them who has scaled."""
    assert (FIELD_MANAGER, SWEEP_FIELD_MANAGER) == ("berth-scaler", "berth-sweep")
    assert set(BERTH_FIELD_MANAGERS) == {"berth-scaler", "berth-sweep"}


# Reading


def test_a_list_is_read_page_by_page_until_no_more_is_promised() -> None:
    first: Tree = {"metadata": {"continue": "a b", "resourceVersion": "7"}, "items": [{"n": 1}, {"n": 2}]}
    last: Tree = {"metadata": {"resourceVersion": "7"}, "items": [{"n": 3}]}
    server = Server(good(kind="JobList", **first), good(kind="JobList", **last))
    items: list[Tree] = []

    assert list_objects(server.api, Collection(JOBS, "a=b,c", "x=y", page=500), items.append) == "7"
    assert items == [{"n": 1}, {"n": 2}, {"n": 3}]
    query = "labelSelector=a%3Db%2Cc&fieldSelector=x%3Dy&limit="
    paths = [f"{JOBS}?{query}32", f"{JOBS}?{query}128&continue=a+b"]
    assert [request.path for request in server.requests] == paths


def test_what_is_not_there_is_none() -> None:
    server = Server(refusal(404, "NotFound"), good(kind="Job", a=1), Response(404, b"404 page not found"))

    assert server.api.find(JOB, "berth", "x") is None
    assert server.api.find(JOB, "berth", "x") == {"kind": "Job", "a": 1}
    with pytest.raises(ApiError):
        server.api.find(JOB, "berth", "x")


def test_a_timetable_comes_with_its_overrides_and_the_uid_of_its_config_map() -> None:
    metadata = {"annotations": {"berth.dev/override": "{}"}, "uid": "u"}
    server = Server(good(kind="ConfigMap", metadata=metadata, data={"timetable.json": "x"}))

    assert server.api.get_timetable("berth", "course") == TimetableText("x", "{}", "u")
    assert server.requests == [Request("GET", "/api/v1/namespaces/berth/configmaps/course")]


@pytest.mark.parametrize("data", [{}, {"data": None}, {"data": {}}, {"data": {"timetable.json": 1}}])
def test_a_config_map_without_a_timetable_is_an_error(data: Tree) -> None:
    with pytest.raises(ApiError, match=r"the ConfigMap course has no text timetable\.json"):
        Server(good(kind="ConfigMap", **data)).api.get_timetable("berth", "course")


@pytest.mark.parametrize(("status", "ready"), [({"readyReplicas": 2}, 2), ({}, 0)])
def test_a_deployment_of_which_nothing_is_ready_leaves_the_number_out(status: Tree, ready: int) -> None:
    metadata = {**METADATA, "uid": "u"}
    server = Server(good(kind="Deployment", metadata=metadata, spec={"replicas": 3}, status=status))

    assert server.api.get_pool("berth", "course-small")._replace(tree=None) == pool(ready, "u")
    assert server.requests == [Request("GET", SCALE.removesuffix("/scale"))]


NO_DEPLOYMENTS: list[Tree] = [
    {},
    {"metadata": METADATA},
    {"spec": {"replicas": 3}},
    {"metadata": METADATA, "spec": {"replicas": "3"}},
    {"metadata": [], "spec": 3},
]


@pytest.mark.parametrize("tree", NO_DEPLOYMENTS)
def test_what_is_no_deployment_is_nonsense(tree: Tree) -> None:
    with pytest.raises(ApiError, match="the response is not a Deployment"):
        Server(good(kind="Deployment", **tree)).api.get_pool("berth", "course-small")


# Writing


def test_replicas_are_written_at_the_scale_with_a_version_where_it_matters() -> None:
    scale = good(kind="Scale", metadata={"resourceVersion": "7"}, spec={"replicas": 3})
    server, before = Server(scale, scale), pool(replicas=0, version="6")

    assert server.api.set_replicas("berth", before, 3) == pool()
    assert server.api.set_replicas("berth", before, 3, version="6") == pool()
    path = f"{SCALE}?fieldManager=berth-scaler"
    bodies = [
        b'{"spec": {"replicas": 3}}',
        b'{"metadata": {"resourceVersion": "6"}, "spec": {"replicas": 3}}',
    ]
    assert server.requests == [Request("PATCH", path, body) for body in bodies]


@pytest.mark.parametrize("more", [{"spec": {}}, {}])
def test_at_zero_the_server_leaves_the_number_out(more: Tree) -> None:
    server = Server(good(kind="Scale", metadata={"resourceVersion": "7"}, **more))

    assert server.api.set_replicas("berth", pool(version="5"), 0) == pool(replicas=0)


def test_a_stale_write_is_a_conflict_where_it_says_its_version() -> None:
    api = Api(FakeCluster(None, {"course-small": 0}))
    before = api.get_pool("berth", "course-small")
    assert api.set_replicas("berth", before, 25, version=before.resource_version).replicas == 25
    with pytest.raises(ApiError) as caught:
        api.set_replicas("berth", before, 0, version=before.resource_version)

    assert caught.value.is_conflict()


def test_an_object_is_applied_by_force_in_our_name() -> None:
    server = Server(good(201, kind="Job"), manager="berth-sweep")
    server.api.apply(JOB, "berth", "a", {"spec": {}})

    body = b'{"apiVersion": "batch/v1", "kind": "Job", "spec": {}}'
    path = f"{JOBS}/a?fieldManager=berth-sweep&force=true"
    assert server.requests == [Request("PATCH", path, body, "application/apply-patch+yaml")]


@pytest.mark.parametrize(
    ("answer", "existed"),
    [
        (good(kind="Status", status="Success"), True),
        (good(202, kind="Deployment"), True),
        (refusal(404, "NotFound"), False),
        (refusal(409, "Conflict"), False),
    ],
    ids=["deleted", "held-by-a-finalizer", "gone", "another-of-that-name"],
)
@pytest.mark.parametrize("version", [{}, {"resourceVersion": "7"}])
def test_only_the_object_that_was_seen_is_deleted_and_what_it_owns(
    answer: Response, existed: bool, version: dict[str, str]
) -> None:
    server = Server(answer)

    assert server.api.delete(DEPLOYMENT, "berth", "a", uid="u", **version) == existed
    (request,) = server.requests
    sent = (request.method, request.path, request.content_type)
    assert sent == ("DELETE", f"{DEPLOYMENTS}/a", "application/json")
    assert json.loads(request.body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": {"uid": "u", **version},
    }


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
    path = f"/apis/{version}/reservations?fieldManager=berth-scaler"
    assert server.requests == [Request("POST", path, body, "application/json")]


def test_another_refusal_of_a_write_is_an_error() -> None:
    with pytest.raises(ApiError, match="no"):
        Server(refusal(409, "Conflict")).api.create(SLOT, "", {})
    with pytest.raises(ApiError, match="no"):
        Server(refusal(403, "Forbidden")).api.delete(JOB, "berth", "a", uid="u")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (good(kind="ConfigMap", metadata={"resourceVersion": "7"}), "7"),
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
def test_nonsense_is_an_error_that_quotes_it(text: str) -> None:
    error = failure(Response(200, text.replace("\ufffd\ufffd", "\xff\xfe").encode("latin-1")))

    quoted = text if len(text) <= 200 else text[:200] + "..."
    assert (error.status, error.reason) == (200, "InvalidResponse")
    assert str(error) == f"the response is not a Scale: {quoted}"


def test_only_the_api_server_can_say_that_something_is_gone() -> None:
    answers = refusal(404, "NotFound"), Response(404, b"404 page not found"), refusal(410, "NotFound")

    assert [failure(answer).is_gone() for answer in answers] == [True, False, False]


def test_errors_of_the_transport_pass_through() -> None:
    cluster = FakeCluster(None, {})
    cluster.interfere("GET", no_answer())
    with pytest.raises(ApiError) as caught:
        Api(cluster).get_timetable("berth", "course")

    assert (caught.value.status, caught.value.reason) == (0, "ConnectionRefusedError")

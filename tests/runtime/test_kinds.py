"""What is listed and watched for a class, and which objects there are its sessions."""

from typing import Any

import pytest
from berth.core.sessions import RENKU_PROJECT, Inactive, LabelRequirement, Match, Recognition, Session
from berth.runtime.apiclient import ApiError
from berth.runtime.sessionobserver import (
    MetadataKeys,
    is_active,
    metadata_keys,
    parse_session,
    session_collections,
)
from berth.runtime.watch import Collection

Tree = dict[str, Any]
RENKU = Recognition("renku", ("renku",), (), 5)
HUB = Recognition("jupyterhub", ("hub",), (LabelRequirement("size", "In", ("small",)),))
PODS = Recognition("pods", ("a", "b"))
NOTEBOOKS = Recognition(
    "custom",
    ("n",),
    (),
    None,
    "kubeflow.org",
    "v1",
    "notebooks",
    (("size", "small"),),
    (Inactive("spec.suspend", ("true",)), Inactive("status.code", ("5", "null", "Done"))),
)
SERVER: Tree = {"component": "singleuser-server", "size": "small"}
RUNNING = "status.phase!=Succeeded,status.phase!=Failed"
UID = "8a3f4e6c-0000-4000-8000-000000000001"


def tree(annotations: Tree | None = None, labels: Tree | None = None, **more: Any) -> Tree:
    metadata = {
        "name": "s",
        "uid": UID,
        "creationTimestamp": "2026-02-02T07:30:00Z",
        "annotations": annotations,
        "labels": labels,
    }
    return {"metadata": metadata | more.pop("metadata", {}), **more}


def amalthea(state: str | None = "Running", hibernated: object = False, **more: Any) -> Tree:
    status = {} if state is None else {"state": state}
    return tree({"renku.io/resource_class_id": "5"}, spec={"hibernated": hibernated}, status=status, **more)


AMALTHEA, OURS = "/apis/amalthea.dev/v1alpha1", "!berth.dev/site"
KUBEFLOW, SERVERS = "/apis/kubeflow.org/v1", f"component=singleuser-server,size=small,{OURS}"
BY_METADATA = NOTEBOOKS._replace(inactive=(), selector=(LabelRequirement("a", "In", ("b",)),))
OF_THE_CORE = NOTEBOOKS._replace(group="", resource="pods/../x")
SOURCES = {
    "renku": (RENKU, {"renku": Collection(f"{AMALTHEA}/namespaces/renku/amaltheasessions")}),
    "hub": (HUB, {"hub": Collection("/api/v1/namespaces/hub/pods", SERVERS, RUNNING, True)}),
    "pods": (
        PODS,
        {name: Collection(f"/api/v1/namespaces/{name}/pods", OURS, RUNNING, True) for name in "ab"},
    ),
    "custom": (NOTEBOOKS, {"n": Collection(f"{KUBEFLOW}/namespaces/n/notebooks")}),
    "by-metadata": (BY_METADATA, {"n": Collection(f"{KUBEFLOW}/namespaces/n/notebooks", "a=b", "", True)}),
    "of-the-core": (OF_THE_CORE, {"n": Collection("/api/v1/namespaces/n/pods%2F..%2Fx")}),
}


@pytest.mark.parametrize(("recognition", "expected"), SOURCES.values(), ids=SOURCES)
def test_each_source_is_read_from_the_expected_collections(
    recognition: Recognition, expected: dict[str, Collection]
) -> None:
    """By namespace, or in the whole cluster where labels tell the namespaces."""
    (first, *_), ((name, _), *_) = expected.values(), expected.items()
    everywhere = first._replace(path=first.path.replace(f"/namespaces/{name}", ""))

    assert session_collections(recognition) == expected
    by_label = recognition._replace(namespaces=(), namespace_labels=(("home", "yes"),))
    assert session_collections(by_label) == {"": everywhere}


RENKU_SESSIONS = {
    "running": (amalthea(), True),
    "starting": (amalthea("NotReady"), True),
    "degraded": (amalthea("RunningDegraded"), True),
    "just-created": (amalthea(None), True),
    "waking-up": (amalthea("Hibernated", False), True),
    "hibernated": (amalthea("Running", True), False),
    "failed": (amalthea("Failed"), False),
    "succeeded": (amalthea("Succeeded"), False),
    "deleted": (amalthea(metadata={"deletionTimestamp": "2026-02-02T08:00:00Z"}), False),
    "no-annotations": (amalthea(metadata={"annotations": None}), False),
    "other-class": (amalthea(metadata={"annotations": {"renku.io/resource_class_id": "55"}}), False),
    "ours": (amalthea(metadata={"labels": {"berth.dev/site": "x"}}), False),
    "odd-but-of-the-class": (amalthea() | {"spec": "odd", "status": 7}, True),
    "odd": (amalthea(metadata={"annotations": ["odd"], "labels": "odd"}), False),
    "nothing": ({"metadata": None}, False),
}


@pytest.mark.parametrize(("session", "expected"), RENKU_SESSIONS.values(), ids=RENKU_SESSIONS)
def test_a_session_of_renku_is_active_by_renkus_own_rule(session: Tree, expected: bool) -> None:
    assert expected is is_active(session, RENKU)


def test_a_class_without_an_id_has_no_sessions_of_renku() -> None:
    found = tree({"renku.io/resource_class_id": "None"})

    assert not is_active(found, RENKU._replace(renku_id=None))


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (tree(labels=SERVER), True),
        (tree(labels=SERVER, metadata={"deletionTimestamp": "2026-02-02T08:00:00Z"}), False),
        (tree(labels={**SERVER, "berth.dev/site": "example", "berth.dev/reservation": "course"}), False),
    ],
    ids=["a-pod", "deleted", "ours"],
)
def test_a_pod_is_active_unless_it_is_deleted_or_belongs_to_berth(session: Tree, expected: bool) -> None:
    assert [expected] * 2 == [is_active(session, HUB), is_active(session, PODS)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, True),
        ({"spec": {"suspend": False}}, True),
        ({"spec": {"suspend": True}}, False),
        ({"spec": {"suspend": "true"}}, False),
        ({"spec": {"suspend": {"true": True}}}, True),
        ({"spec": ["suspend"]}, True),
        ({"status": {"code": 5}}, False),
        ({"status": {"code": 5.5}}, True),
        ({"status": {"code": None}}, False),
        ({"status": {"code": "Done"}}, False),
        ({"status": {"code": ["Done"]}}, True),
    ],
)
def test_a_custom_session_is_inactive_where_a_field_has_one_of_the_values(more: Tree, expected: bool) -> None:
    assert expected is is_active(tree({"size": "small"}, **more), NOTEBOOKS)
    assert not is_active(tree({"size": "large"}, **more), NOTEBOOKS)


def test_only_the_metadata_that_matches_ask_for_is_kept() -> None:
    kept = metadata_keys(
        [
            Match(labels=(("course", "x"),)),
            Match(annotations=(("tutor", "ada"),), template="T"),
            Match(namespaces=("a",)),
        ]
    )
    found = tree({"tutor": "bob", "other": "1", RENKU_PROJECT: "P"}, {"course": "y", "app": "z"})

    assert MetadataKeys(frozenset({"course"}), frozenset({"tutor", RENKU_PROJECT})) == kept
    assert parse_session(found, "renku", kept) == Session(
        UID, "renku", 1770017400, {"course": "y"}, {"tutor": "bob", RENKU_PROJECT: "P"}
    )
    assert parse_session(found, "renku", MetadataKeys()) == Session(UID, "renku", 1770017400)


def test_malformed_labels_are_ignored() -> None:
    kept = MetadataKeys(frozenset({"course"}), frozenset({"course"}))

    assert parse_session(tree("odd", {"course": 7}), "a", kept) == Session(UID, "a", 1770017400)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "value"), [("uid", None), ("uid", ""), ("creationTimestamp", None), ("creationTimestamp", "noon")]
)
def test_an_object_without_a_uid_or_a_creation_timestamp_is_an_error(key: str, value: object) -> None:
    with pytest.raises(ApiError, match=f"an object has no {key}: ") as caught:
        parse_session(tree(metadata={key: value}), "a", MetadataKeys())

    assert caught.value.reason == "InvalidResponse"

"""`backend.owners`: who may take a slot. An entry that leaves all open, or that no pod fits, is refused."""

from typing import Any

import pytest
from berth.backends.koordinator.slotoptions import Owner

from tests.built import owner
from tests.saying import ask, said

LABELS = {"matchLabels": {"course": "ml"}}
WIDE = "nearly every pod of the cluster may take a seat. Add labels, or a namespace."
ALL = "B102"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param({"labelSelector": LABELS}, owner((), {}, LABELS), id="labels"),
        pytest.param(
            {"object": {"namespace": "lab"}}, owner((("namespace", "lab"),), {}, {}), id="namespace"
        ),
        pytest.param(
            {"object": {"namespace": "renku", "name": "x-0", "uid": "y", "kind": "Pod"}},
            owner((("kind", "Pod"), ("namespace", "renku"), ("name", "x-0"), ("uid", "y")), {}, {}),
            id="pod",
        ),
        pytest.param(
            {"controller": {"kind": "StatefulSet", "namespace": "renku"}},
            owner(
                (), {"apiVersion": "", "kind": "StatefulSet", "name": "", "uid": "", "namespace": "renku"}, {}
            ),
            id="controller-with-all-four-keys",
        ),
        pytest.param(
            {
                "controller": {
                    **{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "x", "uid": ""},
                    **{"controller": True, "blockOwnerDeletion": False},
                },
                "object": {"namespace": "renku"},
                "labelSelector": LABELS,
            },
            owner(
                (("namespace", "renku"),),
                {
                    **{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "x", "uid": ""},
                    **{"controller": True, "blockOwnerDeletion": False},
                },
                LABELS,
            ),
            id="all-three",
        ),
        pytest.param(
            {"labelSelector": {"matchExpressions": [{"key": "course", "operator": "Exists"}]}},
            owner((), {}, {"matchExpressions": ({"key": "course", "operator": "Exists"},)}),
            id="expression",
        ),
        pytest.param(
            {"object": {}, "labelSelector": LABELS}, owner((), {}, LABELS), id="empty-beside-labels"
        ),
        pytest.param(
            {"controller": {"apiVersion": "example.org/v1", "kind": "Deployment", "name": "x"}},
            owner((), {"apiVersion": "example.org/v1", "kind": "Deployment", "name": "x", "uid": ""}, {}),
            id="somebody-elses-deployment",
        ),
    ],
)
def test_what_an_owner_means(written: dict[str, Any], meant: Owner) -> None:
    made, problems = ask(Owner, written)

    assert problems == []
    assert made.parts() == meant.parts()


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"object": {}},
        {"labelSelector": {}},
        {"labelSelector": {"matchLabels": {}, "matchExpressions": []}},
        {"controller": {}},
        {"controller": {"controller": True}},
        {"object": {"name": "", "namespace": ""}, "controller": {"uid": ""}},
        {"object": {"kind": "Pod"}},
    ],
    ids=ascii,
)
def test_everybody_is_refused(written: dict[str, Any]) -> None:
    assert said(Owner, written) == [ALL]


def test_nearly_everybody_is_a_warning() -> None:
    not_exam = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}}
    unlabelled = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}}
    of_a_kind = {"controller": {"apiVersion": "apps/v1", "kind": "StatefulSet"}}

    assert said(Owner, not_exam) == said(Owner, unlabelled) == ["B103"]
    assert said(Owner, of_a_kind) == ["B103"]
    assert said(Owner, {**not_exam, "object": {"namespace": "lab"}}) == []


TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "api-version": ({"object": {"apiVersion": "v1", "name": "x"}}, ["B101 object.apiVersion @key"]),
    "fields-that-nobody-reads": (
        {"object": {"resourceVersion": "1", "fieldPath": "spec", "name": "x"}},
        ["B010 object.fieldPath @key", "B010 object.resourceVersion @key"],
    ),
    "object-that-is-no-pod": ({"object": {"kind": "StatefulSet", "name": "x"}}, ["B101 object.kind"]),
    "deployment": ({"controller": {"kind": "Deployment", "name": "x"}}, ["B101 controller.kind"]),
    **{
        f"deployment-of-{api}": (
            {"controller": {"apiVersion": api, "kind": "Deployment", "name": "x"}},
            ["B101 controller.kind"],
        )
        for api in ("v1", "apps/v1", "extensions/v1beta1")
    },
    "cronjob": (
        {"controller": {"apiVersion": "batch/v1", "kind": "CronJob", "name": "x"}},
        ["B101 controller.kind"],
    ),
    "renku-session": (
        {"controller": {"apiVersion": "amalthea.dev/v1alpha1", "kind": "AmaltheaSession", "name": "x"}},
        ["B101 controller.kind"],
    ),
    "two-namespaces": (
        {"object": {"namespace": "a"}, "controller": {"namespace": "b"}},
        ["B101 controller.namespace"],
    ),
    "operator": (
        {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}},
        ["B014 labelSelector.matchExpressions.0.operator"],
    ),
    "values-that-an-operator-cannot-have": (
        {
            "labelSelector": {
                "matchExpressions": [
                    {"key": "a", "operator": "In"},
                    {"key": "a", "operator": "Exists", "values": ["b"]},
                ]
            }
        },
        ["B011 labelSelector.matchExpressions.0", "B016 labelSelector.matchExpressions.1.values @key"],
    ),
    "label": ({"labelSelector": {"matchLabels": {"a": "b c"}}}, ["B019 labelSelector.matchLabels.a"]),
    "texts": (
        {"object": {"namespace": "A", "uid": "a b"}, "controller": {"apiVersion": "apps", "kind": "pod set"}},
        ["B019 controller.apiVersion", "B019 controller.kind", "B019 object.namespace", "B019 object.uid"],
    ),
    "misspelt": (
        {"labelselector": LABELS, "controller": {"nmae": "x", "controller": "yes"}},
        ["B010 controller.nmae @key", "B010 labelselector @key", "B013 controller.controller"],
    ),
}


@pytest.mark.parametrize(("written", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_an_owner(written: dict[str, Any], problems: list[str]) -> None:
    assert said(Owner, written) == problems

"""`backend.owners`: who may take a slot. An entry that leaves all open, or that no pod fits, is refused."""

from typing import Any

import pytest

from gen.kind.owner import OWNER
from gen.model import Owner
from tests.kind.test_grammar import NAME_RULE
from tests.saying import ask, said

LABELS = {"matchLabels": {"course": "ml"}}
WIDE = "nearly every pod of the cluster may take a seat. Add labels, or a namespace."
ALL = (
    "B102 : it leaves everything open: every pod of the cluster may take a seat. "
    "Write labelSelector with labels, a namespace or a name."
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param({"labelSelector": LABELS}, Owner((), {}, LABELS), id="labels"),
        pytest.param(
            {"object": {"namespace": "lab"}}, Owner((("namespace", "lab"),), {}, {}), id="namespace"
        ),
        pytest.param(
            {"object": {"namespace": "renku", "name": "x-0", "uid": "y", "kind": "Pod"}},
            Owner((("kind", "Pod"), ("namespace", "renku"), ("name", "x-0"), ("uid", "y")), {}, {}),
            id="pod",
        ),
        pytest.param(
            {"controller": {"kind": "StatefulSet", "namespace": "renku"}},
            Owner(
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
            Owner(
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
            Owner((), {}, {"matchExpressions": ({"key": "course", "operator": "Exists"},)}),
            id="expression",
        ),
        pytest.param(
            {"object": {}, "labelSelector": LABELS}, Owner((), {}, LABELS), id="empty-beside-labels"
        ),
        pytest.param(
            {"controller": {"apiVersion": "example.org/v1", "kind": "Deployment", "name": "x"}},
            Owner((), {"apiVersion": "example.org/v1", "kind": "Deployment", "name": "x", "uid": ""}, {}),
            id="somebody-elses-deployment",
        ),
    ],
)
def test_what_an_owner_means(written: dict[str, Any], meant: Owner) -> None:
    assert ask(OWNER, written) == (meant, [])


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
    assert said(OWNER, written) == [ALL]


def test_nearly_everybody_is_a_warning() -> None:
    not_exam = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}}
    unlabelled = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}}
    of_a_kind = {"controller": {"apiVersion": "apps/v1", "kind": "StatefulSet"}}

    assert said(OWNER, not_exam) == said(OWNER, unlabelled) == [f"B103 : it says what pods are not: {WIDE}"]
    assert said(OWNER, of_a_kind) == [f"B103 : it says only the kind of what owns them: {WIDE}"]
    assert said(OWNER, {**not_exam, "object": {"namespace": "lab"}}) == []


TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "api-version": (
        {"object": {"apiVersion": "v1", "name": "x"}},
        ["B104 object.apiVersion @key: with an apiVersion, Koordinator finds no pod at all. Remove it."],
    ),
    "fields-that-nobody-reads": (
        {"object": {"resourceVersion": "1", "fieldPath": "spec", "name": "x"}},
        [
            "B010 object.resourceVersion @key: this key is unknown. Known here: namespace, name, uid, kind.",
            "B010 object.fieldPath @key: this key is unknown. Known here: namespace, name, uid, kind.",
        ],
    ),
    "object-that-is-no-pod": (
        {"object": {"kind": "StatefulSet", "name": "x"}},
        [
            "B104 object.kind: an object is a pod: Koordinator would look for a pod of this name, not for a "
            "StatefulSet. Write controller for what owns pods."
        ],
    ),
    "deployment": (
        {"controller": {"kind": "Deployment", "name": "x"}},
        [
            "B104 controller.kind: kind Deployment owns no pods itself: its ReplicaSet does. "
            "Write kind: ReplicaSet, or labelSelector with labels of the pods."
        ],
    ),
    **{
        f"deployment-of-{api}": (
            {"controller": {"apiVersion": api, "kind": "Deployment", "name": "x"}},
            [
                "B104 controller.kind: kind Deployment owns no pods itself: its ReplicaSet does. "
                "Write kind: ReplicaSet, or labelSelector with labels of the pods."
            ],
        )
        for api in ("v1", "apps/v1", "extensions/v1beta1")
    },
    "cronjob": (
        {"controller": {"apiVersion": "batch/v1", "kind": "CronJob", "name": "x"}},
        [
            "B104 controller.kind: kind CronJob owns no pods itself: its Job does. "
            "Write kind: Job, or labelSelector with labels of the pods."
        ],
    ),
    "renku-session": (
        {"controller": {"apiVersion": "amalthea.dev/v1alpha1", "kind": "AmaltheaSession", "name": "x"}},
        [
            "B104 controller.kind: kind AmaltheaSession owns no pods itself: its StatefulSet does. "
            "Write kind: StatefulSet, or labelSelector with labels of the pods."
        ],
    ),
    "two-namespaces": (
        {"object": {"namespace": "a"}, "controller": {"namespace": "b"}},
        [
            "B104 controller.namespace: object and controller name two namespaces: no pod is in both. "
            "Write the same, or one of the two."
        ],
    ),
    "operator": (
        {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}},
        [
            'B014 labelSelector.matchExpressions.0.operator: "Gt" is not one of In, NotIn, Exists, '
            "DoesNotExist. Write one of In, NotIn, Exists, DoesNotExist."
        ],
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
        [
            "B011 labelSelector.matchExpressions.0: operator In needs values. Add values: a list.",
            "B016 labelSelector.matchExpressions.1.values @key: operator Exists takes no values. "
            "Remove values.",
        ],
    ),
    "label": (
        {"labelSelector": {"matchLabels": {"a": "b c"}}},
        [
            'B020 labelSelector.matchLabels.a: "b c" is not a label value that Kubernetes allows. '
            "Write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends."
        ],
    ),
    "texts": (
        {"object": {"namespace": "A", "uid": "a b"}, "controller": {"apiVersion": "apps", "kind": "pod set"}},
        [
            f'B019 object.namespace: "A" is not a name that Kubernetes allows. {NAME_RULE}',
            'B019 object.uid: "a b" is not a UID. Write one such as 9a3c1f6e-2c1d-4e2b-8f4a-0d5f4c6b7a81.',
            'B019 controller.apiVersion: "apps" is not an API version. Write one such as apps/v1.',
            'B019 controller.kind: "pod set" is not a kind. Write one such as StatefulSet.',
        ],
    ),
    "misspelt": (
        {"labelselector": LABELS, "controller": {"nmae": "x", "controller": "yes"}},
        [
            "B010 labelselector @key: this key is unknown. Did you mean labelSelector?",
            "B010 controller.nmae @key: this key is unknown. Did you mean name?",
            'B013 controller.controller: "yes" is text, not true or false. Write true.',
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("written", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_an_owner(written: dict[str, Any], problems: list[str]) -> None:
    assert said(OWNER, written) == problems

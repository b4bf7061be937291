"""`backend.owners`: who may take a slot. An entry that leaves all open, or that no pod fits, is refused."""

from typing import Any

import pytest
from berth.backends.koordinator.slotoptions import Owner

from tests.built import owner
from tests.cases import table, tabled
from tests.saying import ask, said

LABELS = {"matchLabels": {"course": "ml"}}
ALL = "B102"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param(
            {"controller": {"kind": "StatefulSet", "namespace": "renku"}},
            owner(
                (), {"apiVersion": "", "kind": "StatefulSet", "name": "", "uid": "", "namespace": "renku"}, {}
            ),
            id="controller-with-all-four-keys",
        ),
        pytest.param(
            {"object": {}, "labelSelector": LABELS}, owner((), {}, LABELS), id="empty-beside-labels"
        ),
    ],
)
def test_an_owner_is_read_as_object_controller_and_selector(written: dict[str, Any], meant: Owner) -> None:
    made, problems = ask(Owner, written)

    assert problems == []
    assert made.parts() == meant.parts()


@tabled("schema")
def test_an_owner_that_matches_every_pod_is_refused(written: dict[str, Any]) -> None:
    assert said(Owner, written) == [ALL]


def test_an_owner_that_matches_almost_every_pod_is_a_warning() -> None:
    not_exam = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}}
    unlabelled = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}}
    of_a_kind = {"controller": {"apiVersion": "apps/v1", "kind": "StatefulSet"}}

    assert said(Owner, not_exam) == said(Owner, unlabelled) == ["B103"]
    assert said(Owner, of_a_kind) == ["B103"]
    assert said(Owner, {**not_exam, "object": {"namespace": "lab"}}) == []


@pytest.mark.parametrize(("written", "problems"), table("owner"))
def test_faults_of_an_owner_are_reported(written: dict[str, Any], problems: list[str]) -> None:
    assert said(Owner, written) == problems

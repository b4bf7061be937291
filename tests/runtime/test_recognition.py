"""How sessions are recognised is read as the timetable says it, and what is malformed is refused."""

from typing import Any

import pytest
from berth.core.jsonvalues import TimetableError
from berth.core.sessions import Inactive, LabelRequirement, Match, Recognition, parse_recognition

PODS: dict[str, Any] = {"source": "pods", "namespaces": ["hub"], "selector": {}, "earlier": "count"}


def test_renku() -> None:
    tree = {
        "source": "renku",
        "namespaces": ["renku", "renku-2"],
        "selector": {"matchLabels": {"b": "2", "a": ""}},
        "renkuId": 5,
        "earlier": "ignore",
        "course": {
            "namespaces": ["renku"],
            "matchLabels": {"course": "ds"},
            "matchAnnotations": {"z": "1", "y": "2"},
            "projectTemplate": "01JC3CB5426KC7P5STS5X3KSS8",
        },
    }

    assert parse_recognition(tree, "at") == (
        Recognition(
            "renku",
            ("renku", "renku-2"),
            (LabelRequirement("a", "In", ("",)), LabelRequirement("b", "In", ("2",))),
            5,
        ),
        Match(("renku",), (("course", "ds"),), (("y", "2"), ("z", "1")), "01JC3CB5426KC7P5STS5X3KSS8", True),
    )


def test_custom() -> None:
    tree = PODS | {
        "source": "custom",
        "group": "kubeflow.org",
        "version": "v1",
        "resource": "notebooks",
        "matchAnnotations": {"size": "small"},
        "inactive": [{"path": "spec.suspend", "values": ["true"]}],
    }

    assert parse_recognition(tree, "at") == (
        Recognition(
            "custom",
            ("hub",),
            (),
            None,
            "kubeflow.org",
            "v1",
            "notebooks",
            (("size", "small"),),
            (Inactive("spec.suspend", ("true",)),),
        ),
        Match(),
    )


def test_namespaces_by_their_labels() -> None:
    recognition, _ = parse_recognition(PODS | {"namespaces": {"matchLabels": {"b": "2", "a": "1"}}}, "at")

    assert recognition == Recognition("pods", (), namespace_labels=(("a", "1"), ("b", "2")))


def test_expressions_become_a_query() -> None:
    expressions = [
        {"key": "size", "operator": "In", "values": ["s", "m"]},
        {"key": "team", "operator": "NotIn", "values": ["x"]},
        {"key": "app", "operator": "Exists"},
        {"key": "old", "operator": "DoesNotExist"},
    ]
    tree = PODS | {"selector": {"matchLabels": {"a": "b"}, "matchExpressions": expressions}}

    asked = [one.query for one in parse_recognition(tree, "at")[0].selector]
    assert asked == ["a=b", "size in (s,m)", "team notin (x)", "app", "!old"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": "slurm"}, "at.source: 'slurm'"),
        ({"namespaces": "hub"}, 'at.namespaces: "hub"'),
        ({"namespaces": [""]}, 'at.namespaces[0]: ""'),
        ({"namespaces": {}}, "at.namespaces.matchLabels: is missing"),
        ({"namespaces": {"matchLabels": {}}}, "at.namespaces.matchLabels: is empty"),
        ({"namespaces": {"matchLabels": {"a": 1}}}, "at.namespaces.matchLabels.a: 1"),
        ({"renkuId": "5"}, 'at.renkuId: "5"'),
        ({"selector": {"matchLabels": {"a": 1}}}, "at.selector.matchLabels.a: 1"),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
            "at.selector.matchExpressions[0].operator: 'Near'",
        ),
        ({"inactive": [{"path": "a"}]}, "at.inactive[0].values: "),
        ({"course": []}, "at.course: []"),
        ({"course": {"matchAnnotations": {"a": None}}}, "at.course.matchAnnotations.a: None"),
    ],
)
def test_what_is_malformed_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_recognition(PODS | change, "at")

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("key", ["source", "namespaces", "selector", "earlier"])
def test_what_is_missing_is_named(key: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_recognition({name: value for name, value in PODS.items() if name != key}, "at")

    assert f"at.{key}: is missing" == str(caught.value)

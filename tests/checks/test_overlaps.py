"""Two classes that recognize the same sessions are reported; classes that exclude each other are not."""

import pytest
from berth.checks import overlaps

from tests.cases import tabled
from tests.checks.backendproblems import project_of
from tests.saying import Value, finding, lines, read, reservation, resource_class, site, valid, weekly

HUB: Value = {"source": "jupyterhub", "namespaces": ["hub"]}
PODS: Value = {"source": "pods", "namespaces": ["hub", "lab"]}
RENKU: Value = {"source": "renku", "namespaces": ["renku"]}
CUSTOM: Value = {"source": "custom", "group": "amalthea.dev", "version": "v1alpha1", "namespaces": ["renku"]}
HOMES: Value = {**PODS, "namespaces": {"matchLabels": {"home": "yes"}}}
SESSIONS: Value = {**CUSTOM, "resource": "amaltheasessions"}
OF_FIVE = {"renku.io/resource_class_id": "5"}


def told(one: Value, other: Value, *clusters: Value, **of_other: object) -> list[str]:
    """What is said of class a with these sessions, and b with the other's."""
    cluster = {"cluster": clusters[0]["name"]} if clusters else {}
    number = {"renkuId": 5} if one["source"] == "renku" else {}
    declared = valid(
        resource_class("a", sessions=one, **cluster, **number),
        resource_class("b", sessions=other, **{**cluster, **of_other}),
        site(*clusters),
    )
    return lines(overlaps.check_classes_overlap(project_of(declared)), files=True)


def labels(**pairs: str) -> Value:
    return {"matchLabels": pairs}


def expression(key: str, operator: str, *values: str) -> Value:
    value: Value = {"key": key, "operator": operator}
    return {"matchExpressions": [{**value, "values": list(values)} if values else value]}


@tabled("checks")
def test_overlapping_classes_are_reported_at_the_losing_class(one: Value, other: Value, loser: str) -> None:
    file, winner = {"a": ("a.yaml", "b"), "b": ("b.yaml", "a")}[loser]

    assert told(one, other) == [finding(f"{file} B075 spec.sessions", f"class {winner} ")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (HUB, {**HUB, "namespaces": ["lab"]}),
        ({**HUB, "selector": labels(size="s")}, {**HUB, "selector": labels(size="m")}),
        ({**HUB, "selector": labels(size="s")}, {**PODS, "selector": expression("size", "NotIn", "s")}),
        ({**HUB, "selector": labels(size="s")}, {**HUB, "selector": expression("size", "DoesNotExist")}),
        (
            {**HUB, "selector": expression("size", "Exists")},
            {**HUB, "selector": expression("size", "DoesNotExist")},
        ),
        (HUB, {**PODS, "selector": labels(component="hub")}),
        (PODS, {**SESSIONS, "namespaces": ["hub"]}),
        (HOMES, {**HOMES, "namespaces": labels(home="no")}),
        (HOMES, {**SESSIONS, "namespaces": labels(home="yes")}),
        ({**HOMES, "selector": labels(size="s")}, {**PODS, "selector": labels(size="m")}),
        (RENKU, {**SESSIONS, "matchAnnotations": {"renku.io/resource_class_id": "6"}}),
        (
            {**SESSIONS, "matchAnnotations": {"size": "s"}},
            {**SESSIONS, "matchAnnotations": {"size": "m"}},
        ),
    ],
)
def test_classes_that_exclude_each_other_are_not_reported(one: Value, other: Value) -> None:
    assert told(one, other) == told(other, one) == [] if one["source"] != "renku" else told(one, other) == []


def test_renku_classes_are_distinguished_by_their_ids() -> None:
    assert told(RENKU, RENKU, renkuId=6) == []
    assert told(RENKU, RENKU, renkuId=5) == []  # an error of its own
    assert told(RENKU, {**SESSIONS, "matchAnnotations": OF_FIVE}) == ["b.yaml B075 spec.sessions"]
    assert told(RENKU, SESSIONS) == ["b.yaml B075 spec.sessions"]


def test_classes_of_two_clusters_do_not_overlap() -> None:
    clusters = ({"name": "one"}, {"name": "two"})

    assert told(HUB, HUB, *clusters, cluster="two") == []
    assert told(HUB, HUB, *clusters) == ["b.yaml B075 spec.sessions"]


def test_a_class_without_sessions_is_not_compared() -> None:
    declared = read(resource_class("a"), resource_class("b", sessions=None), site())

    assert [*overlaps.check_classes_overlap(project_of(declared))] == []


def test_a_class_that_loses_to_several_classes_is_reported_once() -> None:
    declared = read(*(resource_class(name) for name in "abc"), site())

    assert lines(overlaps.check_classes_overlap(project_of(declared)), files=True) == [
        finding("b.yaml B075 spec.sessions", "class a "),
        finding("c.yaml B075 spec.sessions", "class a ", "1 more"),
    ]


BY_ENTRY = weekly({"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00", "scaleDownBehavior": "maintain"})


@tabled("checks")
def test_an_overlap_is_reported_only_if_the_losing_class_counts_sessions(
    loser: Value, winner: Value, is_reported: bool
) -> None:
    def found(*more: Value) -> list[str]:
        reserved = [
            reservation(name, resourceClass=name, provisioning={"placeholderCount": 5, **provisioning})
            for name, provisioning in (("a", winner), ("b", loser))
        ]
        classes = (resource_class(name, sessions=HUB) for name in "ab")
        declared = read(*reserved, *more, *classes, site())
        return lines(overlaps.check_classes_overlap(project_of(declared)))

    assert found() == (["B075 spec.sessions"] if is_reported else [])
    counting = reservation("c", resourceClass="b", recurrence=BY_ENTRY)
    assert found(counting) == ["B075 spec.sessions"]

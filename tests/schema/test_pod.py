"""Placement as in a pod spec: what the API server takes passes unchanged, what it refuses is told here."""

from typing import Any

import pytest
from berth.schema.pod import Placement
from berth.schema.scheduling import (
    PREFERRED,
    REQUIRED,
    Affinity,
    LabelSelector,
    PodToleration,
    TopologySpread,
)

from tests.saying import Value, ask, said

ZONE = "topology.kubernetes.io/zone"


def pod_terms(*terms: Value) -> Value:
    return {"podAffinity": {REQUIRED: list(terms)}}


def node_terms(*expressions: Value) -> Value:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}}}


def expression(operator: str, *values: str) -> Value:
    return {"key": "cpus", "operator": operator, **({"values": list(values)} if values else {})}


def spread(**fields: object) -> Value:
    return {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **fields}


SOUND: dict[str, tuple[Any, object]] = {
    "tolerate-all": (PodToleration, {"operator": "Exists"}),
    "tolerate-a-value": (PodToleration, {"key": "a", "value": "1e3", "effect": "NoSchedule"}),
    "tolerate-no-value": (PodToleration, {"key": "a", "operator": "Exists", "value": ""}),
    "tolerate-for-a-while": (
        PodToleration,
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1},
    ),
    "nothing-in-it": (Affinity, {"nodeAffinity": {}, "podAffinity": {REQUIRED: [], PREFERRED: []}}),
    "nodes": (
        Affinity,
        node_terms(
            expression("In", "a", "b"), expression("NotIn", "c"), expression("Exists"), expression("Gt", "8")
        ),
    ),
    "no-expression": (Affinity, node_terms()),
    "node-by-name": (
        Affinity,
        {
            "nodeAffinity": {
                PREFERRED: [
                    {
                        "weight": 100,
                        "preference": {
                            "matchFields": [
                                {"key": "metadata.name", "operator": "In", "values": ["node-1.example.org"]}
                            ]
                        },
                    }
                ]
            }
        },
    ),
    "pods": (
        Affinity,
        pod_terms(
            {
                "topologyKey": ZONE,
                "labelSelector": {
                    "matchLabels": {"a": "b"},
                    "matchExpressions": [expression("DoesNotExist")],
                },
                "namespaces": ["renku"],
                "namespaceSelector": {},
                "matchLabelKeys": ["pod-template-hash"],
                "mismatchLabelKeys": ["a", "a"],
            }
        ),
    ),
    "weighted-pods": (
        Affinity,
        {
            "podAntiAffinity": {
                PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "a", "labelSelector": {}}}]
            }
        },
    ),
    "spread": (TopologySpread, spread(minDomains=2, nodeAffinityPolicy="Honor", nodeTaintsPolicy="Ignore")),
    "spread-by-revision": (
        TopologySpread,
        spread(labelSelector={"matchLabels": {"a": "b"}}, matchLabelKeys=["pod-template-hash"]),
    ),
}


@pytest.mark.parametrize(("shape", "value"), SOUND.values(), ids=SOUND)
def test_what_is_sound_passes_unchanged(shape: Any, value: object) -> None:
    made, problems = ask(shape, value)

    assert problems == []
    assert plain(made.dump()) == value


def plain(made: object) -> object:
    """With lists for tuples, as in a file."""
    if isinstance(made, dict):
        return {key: plain(value) for key, value in made.items()}
    return [plain(item) for item in made] if isinstance(made, tuple) else made


REFUSED: dict[str, tuple[Any, object, list[str]]] = {
    "toleration": (
        PodToleration,
        {"operator": "Exists", "value": "a", "effect": "NoSchedule", "tolerationSeconds": 3},
        ["B016 tolerationSeconds @key", "B016 value @key"],
    ),
    "toleration-of-nothing": (
        PodToleration,
        {"operator": "Equal", "tolerationSeconds": 3},
        ["B016 tolerationSeconds @key", "B016"],
    ),
    "toleration-of-what-is-faulty": (
        PodToleration,
        {"key": "", "operator": "Exist", "value": "a", "effect": "NoExec", "tolerationSeconds": 3},
        ["B014 effect", "B014 operator", "B019 key"],
    ),
    "expressions": (
        LabelSelector,
        {
            "matchExpressions": [
                expression("In"),
                expression("Exists", "a"),
                expression("Gt", "8"),
                {"operator": "NotIn", "values": ["a"]},
                {"key": "a", "operator": "In", "values": "b"},
                expression("NotIn"),
            ]
        },
        [
            "B011 matchExpressions.0",
            "B011 matchExpressions.3",
            "B011 matchExpressions.5",
            "B013 matchExpressions.4.values",
            "B014 matchExpressions.2.operator",
            "B016 matchExpressions.1.values @key",
        ],
    ),
    "node-expressions": (
        Affinity,
        node_terms(
            expression("Gt"), expression("Lt", "1", "2"), expression("Gt", "x"), expression("Gt", "-5")
        ),
        [
            *(
                f"B016 nodeAffinity.{REQUIRED}.nodeSelectorTerms.0.matchExpressions.{i}"
                for i, operator in enumerate(["Gt", "Lt", "Gt"])
            ),
            f"B019 nodeAffinity.{REQUIRED}.nodeSelectorTerms.0.matchExpressions.3.values.0",
        ],
    ),
    "node-terms": (
        Affinity,
        {
            "nodeAffinity": {
                REQUIRED: {"nodeSelectorTerms": []},
                PREFERRED: [
                    {
                        "weight": 101,
                        "preference": {
                            "matchFields": [
                                {"key": "metadata.name", "operator": "In", "values": ["a", "b"]},
                                {"key": "metadata.name", "operator": "NotIn", "values": "a"},
                            ]
                        },
                    }
                ],
            }
        },
        [
            f"B012 nodeAffinity.{REQUIRED}.nodeSelectorTerms",
            f"B012 nodeAffinity.{PREFERRED}.0.weight",
            f"B016 nodeAffinity.{PREFERRED}.0.preference.matchFields.0.values",
            f"B013 nodeAffinity.{PREFERRED}.0.preference.matchFields.1.values",
        ],
    ),
    "pod-terms": (
        Affinity,
        pod_terms(
            {"topologyKey": "a", "matchLabelKeys": ["b"], "mismatchLabelKeys": ["c"]},
            {"topologyKey": "a", "mismatchLabelKeys": ["c"]},
            {
                "topologyKey": "a",
                "labelSelector": {"matchLabels": {"b": "1"}, "matchExpressions": [expression("Exists")]},
                "matchLabelKeys": ["b", "cpus", "d", "d", "e"],
                "mismatchLabelKeys": ["e"],
            },
            {"labelSelector": {"matchLabels": 5}, "matchLabelKeys": ["b"], "namespaces": ["A"]},
        ),
        [
            f"B011 podAffinity.{REQUIRED}.0",
            f"B011 podAffinity.{REQUIRED}.1",
            *(
                f"B016 podAffinity.{REQUIRED}.2.matchLabelKeys.{i}"
                for i, key in [(0, "b"), (1, "cpus"), (3, "d"), (4, "e")]
            ),
            f"B013 podAffinity.{REQUIRED}.3.labelSelector.matchLabels",
            f"B011 podAffinity.{REQUIRED}.3",
            f"B019 podAffinity.{REQUIRED}.3.namespaces.0",
        ],
    ),
    "spread": (
        TopologySpread,
        spread(whenUnsatisfiable="ScheduleAnyway", minDomains=2, matchLabelKeys=["a"]),
        ["B011", "B016 minDomains @key"],
    ),
    "no-skew": (TopologySpread, spread(maxSkew=0), ["B012 maxSkew"]),
    "two-spreads": (
        Placement,
        {"topologySpreadConstraints": [spread(), spread(maxSkew=2), spread()]},
        [f"B016 topologySpreadConstraints.{i}" for i in (1, 2)],
    ),
    "no-list": (Placement, {"topologySpreadConstraints": {}}, ["B013 topologySpreadConstraints"]),
}


@pytest.mark.parametrize(("shape", "value", "problems"), REFUSED.values(), ids=REFUSED)
def test_what_the_api_server_refuses_is_told(shape: Any, value: object, problems: list[str]) -> None:
    assert sorted(problems) == said(shape, value)


def test_a_pod_gets_what_says_something_and_nothing_else() -> None:
    value = {
        "nodeSelector": {"b": "1", "a": "2"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {},
        "topologySpreadConstraints": [],
        "schedulerName": "koord-scheduler",
    }

    assert ask(Placement, value)[0].placement == {
        "nodeSelector": {"b": "1", "a": "2"},
        "tolerations": ({"operator": "Exists"},),
        "schedulerName": "koord-scheduler",
    }
    assert ask(Placement, {})[0].placement == {}

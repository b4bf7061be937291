"""Placement as in a pod spec: what the API server takes passes unchanged, what it refuses is told here."""

import pytest

from gen.kind.pod import AFFINITY, PLACEMENT, PREFERRED, REQUIRED, SELECTOR, SPREAD, TOLERATION, placement
from gen.kind.shape import Fields, Shape
from tests.kind.test_grammar import KEY_RULE, NAME_RULE, VALUE_RULE
from tests.saying import Value, ask, said

POD = Fields(PLACEMENT)
ZONE = "topology.kubernetes.io/zone"


def pod_terms(*terms: Value) -> Value:
    return {"podAffinity": {REQUIRED: list(terms)}}


def node_terms(*expressions: Value) -> Value:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}}}


def expression(operator: str, *values: str) -> Value:
    return {"key": "cpus", "operator": operator, **({"values": list(values)} if values else {})}


def spread(**fields: object) -> Value:
    return {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **fields}


SOUND: dict[str, tuple[Shape, object]] = {
    "tolerate-all": (TOLERATION, {"operator": "Exists"}),
    "tolerate-a-value": (TOLERATION, {"key": "a", "value": "1e3", "effect": "NoSchedule"}),
    "tolerate-no-value": (TOLERATION, {"key": "a", "operator": "Exists", "value": ""}),
    "tolerate-for-a-while": (
        TOLERATION,
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1},
    ),
    "nothing-in-it": (AFFINITY, {"nodeAffinity": {}, "podAffinity": {REQUIRED: [], PREFERRED: []}}),
    "nodes": (
        AFFINITY,
        node_terms(
            expression("In", "a", "b"), expression("NotIn", "c"), expression("Exists"), expression("Gt", "8")
        ),
    ),
    "no-expression": (AFFINITY, node_terms()),
    "node-by-name": (
        AFFINITY,
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
        AFFINITY,
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
        AFFINITY,
        {
            "podAntiAffinity": {
                PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "a", "labelSelector": {}}}]
            }
        },
    ),
    "spread": (SPREAD, spread(minDomains=2, nodeAffinityPolicy="Honor", nodeTaintsPolicy="Ignore")),
    "spread-by-revision": (
        SPREAD,
        spread(labelSelector={"matchLabels": {"a": "b"}}, matchLabelKeys=["pod-template-hash"]),
    ),
}


@pytest.mark.parametrize(("shape", "value"), SOUND.values(), ids=SOUND)
def test_what_is_sound_passes_unchanged(shape: Shape, value: object) -> None:
    made, problems = ask(shape, value)

    assert problems == []
    assert plain(made) == value


def plain(made: object) -> object:
    """With lists for tuples, as in a file."""
    if isinstance(made, dict):
        return {key: plain(value) for key, value in made.items()}
    return [plain(item) for item in made] if isinstance(made, tuple) else made


REFUSED: dict[str, tuple[Shape, object, list[str]]] = {
    "toleration": (
        TOLERATION,
        {"operator": "Exists", "value": "a", "effect": "NoSchedule", "tolerationSeconds": 3},
        [
            "B016 value @key: operator Exists takes no value. Remove value.",
            "B016 tolerationSeconds @key: only effect NoExecute takes seconds. "
            "Add effect: NoExecute, or remove tolerationSeconds.",
        ],
    ),
    "toleration-of-nothing": (
        TOLERATION,
        {"operator": "Equal", "value": "-", "tolerationSeconds": 3},
        [
            f'B020 value: "-" is not a label value that Kubernetes allows. {VALUE_RULE}',
            "B016 : a toleration without key needs operator: Exists. Write operator: Exists, or add a key.",
            "B016 tolerationSeconds @key: only effect NoExecute takes seconds. "
            "Add effect: NoExecute, or remove tolerationSeconds.",
        ],
    ),
    "toleration-of-what-is-faulty": (
        TOLERATION,
        {"key": "", "operator": "Exist", "value": "a", "effect": "NoExec", "tolerationSeconds": 3},
        [
            f'B020 key: "" is not a key that Kubernetes allows. {KEY_RULE}',
            'B014 operator: "Exist" is not one of Exists, Equal. Did you mean Exists?',
            'B014 effect: "NoExec" is not one of NoSchedule, PreferNoSchedule, NoExecute. '
            "Did you mean NoExecute?",
        ],
    ),
    "expressions": (
        SELECTOR,
        {
            "matchExpressions": [
                expression("In"),
                expression("Exists", "a"),
                expression("Gt", "8"),
                {"operator": "NotIn", "values": []},
                {"key": "a", "operator": "In", "values": "b"},
            ]
        },
        [
            "B011 matchExpressions.0: operator In needs values. Add values: a list.",
            "B016 matchExpressions.1.values @key: operator Exists takes no values. Remove values.",
            'B014 matchExpressions.2.operator: "Gt" is not one of In, NotIn, Exists, DoesNotExist. '
            "Write one of In, NotIn, Exists, DoesNotExist.",
            "B011 matchExpressions.3: key is missing. Add key: a label key.",
            "B011 matchExpressions.3: operator NotIn needs values. Add values: a list.",
            'B013 matchExpressions.4.values: "b" is not a list. Write a list: ["b"].',
        ],
    ),
    "node-expressions": (
        AFFINITY,
        node_terms(
            expression("Gt"), expression("Lt", "1", "2"), expression("Gt", "x"), expression("Gt", "-5")
        ),
        [
            *(
                f"B016 nodeAffinity.{REQUIRED}.nodeSelectorTerms.0.matchExpressions.{i}: "
                f'operator {operator} needs one whole number. Write one, for instance values: ["8"].'
                for i, operator in enumerate(["Gt", "Lt", "Gt"])
            ),
            f"B020 nodeAffinity.{REQUIRED}.nodeSelectorTerms.0.matchExpressions.3.values.0: "
            f'"-5" is not a label value that Kubernetes allows. {VALUE_RULE}',
        ],
    ),
    "node-terms": (
        AFFINITY,
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
            f"B012 nodeAffinity.{REQUIRED}.nodeSelectorTerms: the list is empty. Write at least one item.",
            f"B012 nodeAffinity.{PREFERRED}.0.weight: 101 is above 100. Write a whole number from 1 to 100.",
            f"B016 nodeAffinity.{PREFERRED}.0.preference.matchFields.0.values: "
            "a field is matched by one value. Write one node name.",
            f'B013 nodeAffinity.{PREFERRED}.0.preference.matchFields.1.values: "a" is not a list. '
            'Write a list: ["a"].',
        ],
    ),
    "pod-terms": (
        AFFINITY,
        pod_terms(
            {"topologyKey": "a", "matchLabelKeys": ["b"], "mismatchLabelKeys": ["c"]},
            {"topologyKey": "a", "mismatchLabelKeys": ["c"], "namespaces": ["A"]},
            {
                "topologyKey": "a",
                "labelSelector": {"matchLabels": {"b": "1"}, "matchExpressions": [expression("Exists")]},
                "matchLabelKeys": ["b", "cpus", "d", "d", "e"],
                "mismatchLabelKeys": ["e"],
            },
            {"labelSelector": {"matchLabels": 5}, "matchLabelKeys": ["b"]},
        ),
        [
            f"B011 podAffinity.{REQUIRED}.0: matchLabelKeys needs a labelSelector. Add labelSelector.",
            f'B019 podAffinity.{REQUIRED}.1.namespaces.0: "A" is not a name that Kubernetes allows. '
            f"{NAME_RULE}",
            f"B011 podAffinity.{REQUIRED}.1: mismatchLabelKeys needs a labelSelector. Add labelSelector.",
            *(
                f"B016 podAffinity.{REQUIRED}.2.matchLabelKeys.{i}: "
                f"{key} stands in another place of this term too. Name each key once."
                for i, key in [(0, "b"), (1, "cpus"), (3, "d"), (4, "e")]
            ),
            f"B013 podAffinity.{REQUIRED}.3.labelSelector.matchLabels: 5 is not a mapping. Write a mapping.",
            f"B011 podAffinity.{REQUIRED}.3: topologyKey is missing. Add topologyKey: a label key.",
        ],
    ),
    "spread": (
        SPREAD,
        spread(whenUnsatisfiable="ScheduleAnyway", minDomains=2, matchLabelKeys=["a"], maxSkew=0),
        [
            "B012 maxSkew: 0 is below 1. Write a whole number from 1 to 2147483647.",
            "B016 minDomains @key: minDomains needs DoNotSchedule. "
            "Write whenUnsatisfiable: DoNotSchedule, or remove minDomains.",
            "B011 : matchLabelKeys needs a labelSelector. Add labelSelector.",
        ],
    ),
    "two-spreads": (
        POD,
        {"topologySpreadConstraints": [spread(), spread(maxSkew=0), spread(maxSkew=2), spread()]},
        [
            "B012 topologySpreadConstraints.1.maxSkew: 0 is below 1. "
            "Write a whole number from 1 to 2147483647.",
            *(
                f"B016 topologySpreadConstraints.{i}: {ZONE} with DoNotSchedule stands twice. "
                "Remove one of the two."
                for i in (2, 3)
            ),
        ],
    ),
    "no-list": (
        POD,
        {"topologySpreadConstraints": {}},
        ['B013 topologySpreadConstraints: a mapping is not a list. Write a list: begin each item with "- ".'],
    ),
}


@pytest.mark.parametrize(("shape", "value", "problems"), REFUSED.values(), ids=REFUSED)
def test_what_the_api_server_refuses_is_told(shape: Shape, value: object, problems: list[str]) -> None:
    assert problems == said(shape, value)


def test_a_pod_gets_what_says_something_and_nothing_else() -> None:
    value = {
        "nodeSelector": {"b": "1", "a": "2"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {},
        "topologySpreadConstraints": [],
        "schedulerName": "koord-scheduler",
    }

    assert placement(ask(POD, value)[0]) == {
        "nodeSelector": {"b": "1", "a": "2"},
        "tolerations": ({"operator": "Exists"},),
        "schedulerName": "koord-scheduler",
    }
    assert placement(ask(POD, {})[0]) == {}

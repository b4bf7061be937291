"""What a CloudCapacity says of its NodePools: as their CRD has it, and no more than Karpenter can use."""

import pytest

from gen.kind.cloudcapacity import SPEC
from tests.kind.test_nodeclass import GOOD
from tests.saying import Value, said

TOLD: dict[str, tuple[Value, list[str]]] = {
    "capacity-types": (
        {"capacityTypes": ["reserved", "reserved", "cheap"]},
        [
            'B014 capacityTypes.2: "cheap" is not one of reserved, on-demand, spot. Write one of '
            "reserved, on-demand, spot.",
            'B016 capacityTypes.1: "reserved" stands twice. Remove one of the two.',
        ],
    ),
    "no-capacity-type": (
        {"capacityTypes": []},
        ["B012 capacityTypes: the list is empty. Write at least one item."],
    ),
    "operators": (
        {
            "requirements": [
                {"key": "a", "operator": "In"},
                {"key": "a", "operator": "Exists", "values": ["b"]},
                {"key": "a", "operator": "Gt", "values": ["-1"]},
                {"key": "a", "operator": "Lte", "values": ["1", "2"]},
                {"key": "a", "operator": "Equals"},
            ]
        },
        [
            "B154 requirements.0: operator In needs values. Add values: a list.",
            "B154 requirements.1.values @key: operator Exists takes no values. Remove values.",
            'B020 requirements.2.values.0: "-1" is not a label value that Kubernetes allows. Write '
            "at most 63 letters, digits, -, _ and ., with a letter or digit at both ends.",
            "B154 requirements.3: operator Lte needs one whole number from 0 up. Write one, for "
            'instance values: ["8"].',
            'B014 requirements.4.operator: "Equals" is not one of In, NotIn, Exists, DoesNotExist, '
            "Gt, Lt, Gte, Lte. Write one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte.",
        ],
    ),
    "good-operators": (
        {
            "requirements": [
                {"key": "a", "operator": "NotIn", "values": ["b"]},
                {"key": "a", "operator": "DoesNotExist"},
                {"key": "a", "operator": "Gte", "values": ["0"]},
                {"key": "a", "operator": "In", "values": ["b", "c"], "minValues": 2},
            ]
        },
        [],
    ),
    "long-keys": (
        {
            "requirements": [
                {"key": f"{'a.' * 126}a/{'b' * 63}", "operator": "Exists"},
                {"key": f"{'a.' * 125}aa/{'b' * 63}", "operator": "Exists"},
            ]
        },
        ["B012 requirements.0.key: the key has 317 characters. Write at most 316."],
    ),
    "architectures-as-others-name-them": (
        {
            "requirements": [
                {"key": "kubernetes.io/arch", "operator": "In", "values": ["x86_64"]},
                {"key": "kubernetes.io/arch", "operator": "In", "values": ["x86_64", "amd64"]},
                {"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["x86_64"]},
                {
                    "key": "kubernetes.io/arch",
                    "operator": "In",
                    "values": ["x86_64", "amd64"],
                    "minValues": 2,
                },
                {"key": "beta.kubernetes.io/os", "operator": "In", "values": ["Linux", "macos"]},
            ]
        },
        [
            "B154 requirements.0.values: Karpenter does not know x86_64, and uses no pool without values "
            "that it knows. Write amd64 or arm64.",
            "B154 requirements.3.values: Karpenter does not know x86_64, and uses no pool without values "
            "that it knows. Write amd64 or arm64.",
            "B154 requirements.4.values: Karpenter does not know Linux, macos, and uses no pool without "
            "values that it knows. Write linux or windows.",
        ],
    ),
    "too-few-values": (
        {"requirements": [{"key": "a", "operator": "In", "values": ["b", "b"], "minValues": 2}]},
        ["B154 requirements.0.minValues: minValues 2 is more than the 1 values. Write fewer, or add values."],
    ),
    "capacity-type-as-requirement": (
        {"requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}]},
        [
            "B153 requirements.0.key @key: karpenter.sh/capacity-type is said by capacityTypes. "
            "Remove it, and write capacityTypes."
        ],
    ),
    "labels-of-karpenter": (
        {
            "requirements": [
                {"key": "karpenter.sh/nodepool", "operator": "Exists"},
                {"key": "kubernetes.io/hostname", "operator": "Exists"},
                {"key": "karpenter.k8s.aws/instance-famili", "operator": "Exists"},
            ],
            "labels": {"a.karpenter.sh/b": "c"},
        },
        [
            "B153 requirements.0.key @key: karpenter.sh/nodepool is a label that Karpenter keeps for "
            "itself. Remove it.",
            "B153 requirements.1.key @key: kubernetes.io/hostname is a label that Karpenter keeps "
            "for itself. Remove it.",
            "B153 requirements.2.key @key: karpenter.k8s.aws/instance-famili is no label that "
            "Karpenter knows of machines. Remove it, or correct it.",
            "B153 labels.a.karpenter.sh/b @key: a.karpenter.sh/b is a label that Karpenter keeps for "
            "itself. Remove it.",
        ],
    ),
    "domains-alone": (
        {
            "requirements": [{"key": "eu.karpenter.k8s.aws", "operator": "Exists"}],
            "labels": {"karpenter.sh": "a", "karpenter": "a", "example.org/karpenter.sh": "a"},
        },
        [
            "B153 requirements.0.key @key: eu.karpenter.k8s.aws is no label that Karpenter knows of "
            "machines. Remove it, or correct it.",
            "B153 labels.karpenter.sh @key: karpenter.sh is a label that Karpenter keeps for itself. "
            "Remove it.",
        ],
    ),
    "labels-of-machines": (
        {
            "requirements": [{"key": "karpenter.k8s.aws/instance-family", "operator": "Exists"}],
            "labels": {"course": "ml"},
        },
        [],
    ),
    "as-many-labels-as-there-may-be": ({"labels": {f"a{number}": "" for number in range(100)}}, []),
    "too-many-labels": (
        {"labels": {f"a{number}": "" for number in range(101)}},
        ["B012 labels: there are 101 labels. Write at most 100."],
    ),
    "too-many": (
        {"requirements": [{"key": "a", "operator": "Exists"}] * 91},
        ["B012 requirements: there are 91 requirements. Write at most 90."],
    ),
    "weight": (
        {"weight": 0},
        ["B012 weight: 0 is below 1. Write a whole number from 1 to 100."],
    ),
    "limits": (
        {"limits": {"cpu": 1000, "nodes": "20", "nvidia.com/gpu": "1x", "gpu": "1"}},
        [
            'B022 limits.nvidia.com/gpu: "1x" is not a quantity that Kubernetes reads. Write a '
            'number with a unit, for instance "500m", "2" or "4Gi".',
            'B022 limits.gpu @key: "gpu" is not a resource that a container can request. Write cpu, '
            "memory, ephemeral-storage, or a device such as nvidia.com/gpu.",
        ],
    ),
    "taints": (
        {
            "taints": [
                {"key": "a"},
                {"key": "a", "value": "b c", "effect": "NoSchedule"},
                {"key": "a", "effect": "Never"},
                {"key": "a", "value": "", "effect": "NoSchedule"},
            ]
        },
        [
            "B011 taints.0: effect is missing. Add effect: one of NoSchedule, PreferNoSchedule, NoExecute.",
            'B020 taints.1.value: "b c" is not a label value that Kubernetes allows. Write at most '
            "63 letters, digits, -, _ and ., with a letter or digit at both ends.",
            'B014 taints.2.effect: "Never" is not one of NoSchedule, PreferNoSchedule, NoExecute. '
            "Write one of NoSchedule, PreferNoSchedule, NoExecute.",
            "B020 taints.3.value: a taint's value may not be empty here. Remove it: no value is empty.",
        ],
    ),
    "taints-twice": (
        {
            "taints": [
                {"key": "gpu", "effect": "NoSchedule"},
                {"key": "gpu", "effect": "NoExecute"},
                {"key": "gpu", "value": "a", "effect": "NoSchedule"},
            ],
            "startupTaints": [
                {"key": "gpus", "effect": "NoSchedule"},
                {"key": "gpu", "effect": "NoExecute"},
            ],
        },
        [
            "B016 taints.2: taints[0] has key gpu and effect NoSchedule too: such a NodePool is never "
            "ready. Remove one of the two.",
            "B016 startupTaints.1: taints[1] has key gpu and effect NoExecute too: such a NodePool is never "
            "ready. Remove one of the two.",
        ],
    ),
    "durations": (
        {"expireAfter": "30d", "terminationGracePeriod": "Never"},
        [
            'B151 expireAfter: "30d" is not a duration that Karpenter reads. Write 720h.',
            'B151 terminationGracePeriod: "Never" is not a duration that Karpenter reads. Write '
            "hours, minutes or seconds, such as 30m.",
        ],
    ),
    "good-durations": (
        {
            "expireAfter": "1h30m5s",
            "terminationGracePeriod": "0s",
            "disruption": {"consolidateAfter": "Never"},
        },
        [],
    ),
    "budgets": (
        {
            "disruption": {
                "consolidationPolicy": "Always",
                "budgets": [
                    {"nodes": "101%"},
                    {"nodes": 1},
                    {"nodes": "0", "schedule": "0 8 * * *"},
                    {"nodes": "0", "duration": "8h"},
                    {"nodes": "0", "schedule": "0 25 * * *", "duration": "8h"},
                    {"nodes": "0", "schedule": "0 0 30 2 *", "duration": "1h"},
                    {"nodes": "0", "schedule": "@daily", "duration": "90s"},
                    {"nodes": "0", "schedule": "@daily", "duration": "0h"},
                    {"nodes": "0", "reasons": ["Old"]},
                    {"reasons": []},
                ],
            }
        },
        [
            'B014 disruption.consolidationPolicy: "Always" is not one of WhenEmpty, '
            "WhenEmptyOrUnderutilized, Balanced. Write one of WhenEmpty, WhenEmptyOrUnderutilized, "
            "Balanced.",
            'B155 disruption.budgets.0.nodes: "101%" is no number of nodes. Write a number or a '
            'share: "3" or "10%".',
            "B013 disruption.budgets.1.nodes: 1 is a number, not a number or share of nodes. Write "
            'it in quotes: "1".',
            "B155 disruption.budgets.2: schedule needs duration. Add duration, or remove schedule.",
            "B155 disruption.budgets.3: duration needs schedule. Add schedule, or remove duration.",
            'B155 disruption.budgets.4.schedule: "0 25 * * *" is no schedule that Karpenter reads: '
            'it would stop all disruption for ever. Write five fields in UTC, such as "0 8 * * 1-5", '
            "or @daily.",
            'B155 disruption.budgets.5.schedule: "0 0 30 2 *" never comes, and Karpenter holds such a '
            "budget always. Write a date that there is, or leave out schedule and duration.",
            'B151 disruption.budgets.6.duration: "90s" is not the duration of a budget. Write hours '
            "and minutes, such as 8h30m.",
            "B151 disruption.budgets.7.duration: 0h is no time: the budget would never hold. Write "
            "at least 1m.",
            'B014 disruption.budgets.8.reasons.0: "Old" is not one of Underutilized, Empty, Drifted. '
            "Write one of Underutilized, Empty, Drifted.",
            "B012 disruption.budgets.9.reasons: the list is empty. Write at least one item.",
            "B011 disruption.budgets.9: nodes is missing. Add nodes: a number or share of nodes.",
        ],
    ),
    "good-budgets": (
        {
            "disruption": {
                "consolidationPolicy": "Balanced",
                "budgets": [
                    {
                        "nodes": "0",
                        "schedule": "0 8 * * mon-fri",
                        "duration": "8h30m",
                        "reasons": ["Empty", "Underutilized"],
                    },
                    {"nodes": "100%"},
                    {"nodes": "0", "schedule": "0 0 29 2 *", "duration": "24h"},
                    {"nodes": "0", "schedule": "0 0 30 2 1", "duration": "24h"},
                ],
            }
        },
        [],
    ),
    "no-budgets": (
        {"disruption": {"budgets": []}},
        [
            'B012 disruption.budgets: the list is empty. Write {nodes: "100%"} to bound nothing, or leave '
            "budgets out: then 10% go at once."
        ],
    ),
    "too-many-budgets": (
        {"disruption": {"budgets": [{"nodes": "1"}] * 51}},
        ["B155 disruption.budgets: there are 51 budgets. Write at most 50."],
    ),
}


@pytest.mark.parametrize(("spec", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_node_pools(spec: Value, problems: list[str]) -> None:
    assert said(SPEC, {"nodeClass": GOOD, **spec}) == problems

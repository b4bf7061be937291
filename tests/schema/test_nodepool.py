"""What a CloudCapacity says of its NodePools: as their CRD has it, and no more than Karpenter can use."""

import pytest
from berth.schema.cloudcapacity import CloudSpec
from berth.schema.cloudgrammar import schedule
from berth.schema.documentproblems import Refusal

from tests.saying import Value, said
from tests.schema.nodeclasses import GOOD

TOLD: dict[str, tuple[Value, list[str]]] = {
    "capacity-types": ({"capacityTypes": ["reserved", "cheap"]}, ["B014 capacityTypes.1"]),
    "a-capacity-type-twice": ({"capacityTypes": ["reserved", "reserved"]}, ["B016 capacityTypes.1"]),
    "no-capacity-type": ({"capacityTypes": []}, ["B012 capacityTypes"]),
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
            "B014 requirements.4.operator",
            "B019 requirements.2.values.0",
            "B151 requirements.0",
            "B151 requirements.1.values @key",
            "B151 requirements.3",
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
        ["B012 requirements.0.key"],
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
        ["B151 requirements.0.values", "B151 requirements.3.values", "B151 requirements.4.values"],
    ),
    "too-few-values": (
        {"requirements": [{"key": "a", "operator": "In", "values": ["b", "b"], "minValues": 2}]},
        ["B151 requirements.0.minValues"],
    ),
    "capacity-type-as-requirement": (
        {"requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}]},
        ["B151 requirements.0.key @key"],
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
            "B151 labels.a.karpenter.sh/b @key",
            "B151 requirements.0.key @key",
            "B151 requirements.1.key @key",
            "B151 requirements.2.key @key",
        ],
    ),
    "domains-alone": (
        {
            "requirements": [{"key": "eu.karpenter.k8s.aws", "operator": "Exists"}],
            "labels": {"karpenter.sh": "a", "karpenter": "a", "example.org/karpenter.sh": "a"},
        },
        ["B151 labels.karpenter.sh @key", "B151 requirements.0.key @key"],
    ),
    "labels-of-machines": (
        {
            "requirements": [{"key": "karpenter.k8s.aws/instance-family", "operator": "Exists"}],
            "labels": {"course": "ml"},
        },
        [],
    ),
    "as-many-labels-as-there-may-be": ({"labels": {f"a{number}": "" for number in range(100)}}, []),
    "too-many-labels": ({"labels": {f"a{number}": "" for number in range(101)}}, ["B012 labels"]),
    "too-many": ({"requirements": [{"key": "a", "operator": "Exists"}] * 91}, ["B012 requirements"]),
    "weight": ({"weight": 0}, ["B012 weight"]),
    "limits": (
        {"limits": {"cpu": 1000, "nodes": "20", "nvidia.com/gpu": "1x", "gpu": "1"}},
        ["B022 limits.gpu @key", "B022 limits.nvidia.com/gpu"],
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
        ["B011 taints.0", "B014 taints.2.effect", "B019 taints.1.value", "B019 taints.3.value"],
    ),
    "taints-twice": (
        {
            "taints": [
                {"key": "gpu", "effect": "NoSchedule"},
                {"key": "gpu", "effect": "NoExecute"},
                {"key": "gpu", "value": "a", "effect": "NoSchedule"},
            ],
            "startupTaints": [{"key": "gpus", "effect": "NoSchedule"}, {"key": "gpu", "effect": "NoExecute"}],
        },
        ["B016 startupTaints.1", "B016 taints.2"],
    ),
    "durations": (
        {"expireAfter": "30d", "terminationGracePeriod": "Never"},
        ["B151 expireAfter", "B151 terminationGracePeriod"],
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
            "B011 disruption.budgets.9",
            "B012 disruption.budgets.9.reasons",
            "B013 disruption.budgets.1.nodes",
            "B014 disruption.budgets.8.reasons.0",
            "B014 disruption.consolidationPolicy",
            "B151 disruption.budgets.0.nodes",
            "B151 disruption.budgets.2",
            "B151 disruption.budgets.3",
            "B151 disruption.budgets.4.schedule",
            "B151 disruption.budgets.5.schedule",
            "B151 disruption.budgets.6.duration",
            "B151 disruption.budgets.7.duration",
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
    "no-budgets": ({"disruption": {"budgets": []}}, ["B012 disruption.budgets"]),
    "too-many-budgets": ({"disruption": {"budgets": [{"nodes": "1"}] * 51}}, ["B151 disruption.budgets"]),
}


@pytest.mark.parametrize(("spec", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_node_pools(spec: Value, problems: list[str]) -> None:
    assert said(CloudSpec, {"nodeClass": GOOD, **spec}) == problems


READ = "0 8 * * mon-fri|5/20 * * * *|0 0 29 FEB ?|@weekly|0 0 1,15 */2 *|0 0 * * 0-6/2|* * * * *|0 0 1 * 1"
SIX_FIELDS = "* * * * * *|0 0 8 * * 1"
OF_OTHERS = "0 0 L * *|0 0 15W * *|0 0 * * fri#1|H 8 * * *|@Daily|@reboot|TZ=UTC 0 8 * * *|0 0 * * monday"
SUNDAYS = "0 0 * * 7|0 0 * * 07|0 0 * * 5-7|0 0 * * 1,7/2"
BACKWARD = "0 0 * * fri-mon|0 22-2 * * *|0 0 28-3 * *|0 0 * 7-feb *|50-10/5 * * * *"
WRONG = "0 8 * *|*/0 * * * *|60 * * * *|0 0 32 * *|0 0 * 0 *|0 0 * * jan||0 0 +1 * *"


@pytest.mark.parametrize("text", READ.split("|"))
def test_schedules_that_karpenter_reads_are_taken(text: str) -> None:
    assert schedule(text) == text


@pytest.mark.parametrize("text", "|".join((SIX_FIELDS, OF_OTHERS, SUNDAYS, BACKWARD, WRONG)).split("|"))
def test_schedules_that_karpenter_does_not_read_are_refused(text: str) -> None:
    """As ParseStandard of robfig/cron v3.0.1, also what croniter takes."""
    with pytest.raises(Refusal):
        schedule(text)

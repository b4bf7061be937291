"""The priority of placeholders: low enough to give way, high enough that an autoscaler cares."""

import pytest

from tests.saying import site, told

PRIORITIES = "Write a whole number from -10 to -1."
IGNORED = "many autoscalers ignore such pods. " + PRIORITIES.replace(
    ".", ", unless you know that yours does not."
)
PRIORITY = {
    "as-low-as-may-be": ({"priority": -10}, []),
    "as-high-as-may-be": ({"priority": -1}, []),
    "zero": (
        {"priority": 0},
        [f"B025 spec.priority: 0 is not below 0: placeholders would not give way to sessions. {PRIORITIES}"],
    ),
    "high": (
        {"priority": 2147483647},
        [
            "B025 spec.priority: 2147483647 is not below 0: placeholders would not give way to sessions. "
            f"{PRIORITIES}"
        ],
    ),
    "too-high-for-kubernetes": (
        {"priority": 2147483648},
        [f"B012 spec.priority: 2147483648 is above 2147483647. {PRIORITIES}"],
    ),
    "too-low-for-kubernetes": (
        {"priority": -2147483649},
        [f"B012 spec.priority: -2147483649 is below -2147483648. {PRIORITIES}"],
    ),
    "no-number": (
        {"priority": "low"},
        [f'B013 spec.priority: "low" is not a whole number from -10 to -1. {PRIORITIES}'],
    ),
    "below-without-autoscaler": (
        {"priority": -11},
        [f"B026 spec.priority: -11 is below -10: {IGNORED}"],
    ),
    "below-with-karpenter": (
        {"clusters": [{"name": "a", "autoscaler": "karpenter", "priority": -11}]},
        [f"B026 spec.clusters.0.priority: -11 is below -10: {IGNORED}"],
    ),
    "below-with-cluster-autoscaler": (
        {"clusters": [{"name": "a", "autoscaler": "cluster-autoscaler"}, {"name": "b"}], "priority": -11},
        [
            "B025 spec.priority: -11 is below -10: cluster-autoscaler adds no node for such pods. "
            f"{PRIORITIES}"
        ],
    ),
    "below-but-not-where-it-matters": (
        {
            "clusters": [
                {"name": "a", "autoscaler": "cluster-autoscaler", "priority": -5},
                {"name": "b", "priority": -12},
            ],
            "priority": -11,
        },
        [
            f"B026 spec.clusters.1.priority: -12 is below -10: {IGNORED}",
            f"B026 spec.priority: -11 is below -10: {IGNORED}",
        ],
    ),
    "as-the-page-of-kubernetes-has-it": (
        {"clusters": [{"name": "a", "autoscaler": "cluster-autoscaler"}], "priority": -1000},
        [
            "B025 spec.priority: -1000 (kubernetes.io's page on overprovisioning has it) is below -10: "
            f"cluster-autoscaler adds no node for such pods. {PRIORITIES}"
        ],
    ),
    "just-above-what-karpenter-takes-for-empty": (
        {"clusters": [{"name": "a", "autoscaler": "karpenter"}], "priority": -33_554_431},
        [f"B026 spec.priority: -33554431 is below -10: {IGNORED}"],
    ),
    "what-karpenter-takes-for-empty": (
        {"clusters": [{"name": "a", "autoscaler": "karpenter"}], "priority": -33_554_432},
        [
            "B025 spec.priority: -33554432 is so low that Karpenter from 1.14 on takes nodes of "
            f"placeholders for empty: it deletes them, and buys them again. {PRIORITIES}"
        ],
    ),
    "what-an-older-karpenter-does-not-take-for-empty": (
        {
            "clusters": [
                {
                    "name": "a",
                    "autoscaler": "karpenter",
                    "karpenter": {"version": "1.13"},
                    "priority": -33_554_432,
                },
                {"name": "b", "autoscaler": "karpenter", "karpenter": {"version": "1.13"}},
            ],
            "priority": -33_554_433,
        },
        [
            f"B026 spec.clusters.0.priority: -33554432 is below -10: {IGNORED}",
            f"B026 spec.priority: -33554433 is below -10: {IGNORED}",
        ],
    ),
    "what-karpenter-1.14-takes-for-empty": (
        {
            "clusters": [{"name": "a", "autoscaler": "karpenter", "karpenter": {"version": "1.14"}}],
            "priority": -33_554_432,
        },
        [
            "B025 spec.priority: -33554432 is so low that Karpenter from 1.14 on takes nodes of "
            f"placeholders for empty: it deletes them, and buys them again. {PRIORITIES}"
        ],
    ),
    "below-with-an-autoscaler-that-is-faulty": (
        {"clusters": [{"name": "a", "autoscaler": "karpenterr"}], "priority": -11},
        [
            'B014 spec.clusters.0.autoscaler: "karpenterr" is not one of cluster-autoscaler, karpenter, '
            "none. Did you mean karpenter?",
            f"B026 spec.priority: -11 is below -10: {IGNORED}",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "problems"), PRIORITY.values(), ids=PRIORITY)
def test_a_priority_is_from_minus_10_to_minus_1(spec: dict[str, object], problems: list[str]) -> None:
    assert [f"a.yaml {problem}" for problem in problems] == told(site(**spec))

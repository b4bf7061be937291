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
    "zero": ({"priority": 0}, ["B025 spec.priority"]),
    "high": ({"priority": 2147483647}, ["B025 spec.priority"]),
    "too-high-for-kubernetes": ({"priority": 2147483648}, ["B012 spec.priority"]),
    "too-low-for-kubernetes": ({"priority": -2147483649}, ["B012 spec.priority"]),
    "no-number": ({"priority": "low"}, ["B013 spec.priority"]),
    "below-without-autoscaler": ({"priority": -11}, ["B026 spec.priority"]),
    "below-with-karpenter": (
        {"clusters": [{"name": "a", "autoscaler": "karpenter", "priority": -11}]},
        ["B026 spec.clusters.0.priority"],
    ),
    "below-with-cluster-autoscaler": (
        {"clusters": [{"name": "a", "autoscaler": "cluster-autoscaler"}, {"name": "b"}], "priority": -11},
        ["B025 spec.priority"],
    ),
    "below-but-not-where-it-matters": (
        {
            "clusters": [
                {"name": "a", "autoscaler": "cluster-autoscaler", "priority": -5},
                {"name": "b", "priority": -12},
            ],
            "priority": -11,
        },
        ["B026 spec.clusters.1.priority", "B026 spec.priority"],
    ),
    "as-the-page-of-kubernetes-has-it": (
        {"clusters": [{"name": "a", "autoscaler": "cluster-autoscaler"}], "priority": -1000},
        ["B025 spec.priority"],
    ),
    "just-above-what-karpenter-takes-for-empty": (
        {"clusters": [{"name": "a", "autoscaler": "karpenter"}], "priority": -33_554_431},
        ["B026 spec.priority"],
    ),
    "what-karpenter-takes-for-empty": (
        {"clusters": [{"name": "a", "autoscaler": "karpenter"}], "priority": -33_554_432},
        ["B025 spec.priority"],
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
        ["B026 spec.clusters.0.priority", "B026 spec.priority"],
    ),
    "what-karpenter-1.14-takes-for-empty": (
        {
            "clusters": [{"name": "a", "autoscaler": "karpenter", "karpenter": {"version": "1.14"}}],
            "priority": -33_554_432,
        },
        ["B025 spec.priority"],
    ),
    "below-with-an-autoscaler-that-is-faulty": (
        {"clusters": [{"name": "a", "autoscaler": "karpenterr"}], "priority": -11},
        ["B014 spec.clusters.0.autoscaler"],
    ),
}


@pytest.mark.parametrize(("spec", "problems"), PRIORITY.values(), ids=PRIORITY)
def test_a_priority_is_from_minus_10_to_minus_1(spec: dict[str, object], problems: list[str]) -> None:
    assert [f"a.yaml {problem}" for problem in problems] == told(site(**spec))

"""Pods that spread, and nodes for them."""

from typing import Any

from berth.karpenter.nodelabels import ZONE
from berth.karpenter.resourcelists import parse_resources
from berth.planner.inputs import PodSelector, SpreadConstraint, StateNode

from tests.planner.machines import pod

HOST = "kubernetes.io/hostname"
TEST = (("test", "test"),)
MINE = PodSelector(TEST)
LARGE = {"cpu": "1.1"}


def spread(key: str, skew: int = 1, **more: Any) -> tuple[SpreadConstraint, ...]:
    return (SpreadConstraint(key, skew, MINE)._replace(**more),)


def node(name: str, zone: str | None, *counted: int, **more: Any) -> StateNode:
    """A full node with so many pods of ours."""
    labels = () if zone is None else ((ZONE, zone),)
    pods = tuple(pod("old", count=count, labels=TEST) for count in counted)
    return StateNode(name, parse_resources({"pods": "50"}), labels=labels, pods=pods)._replace(**more)

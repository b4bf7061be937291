"""Pods that spread, and nodes for them."""

from typing import Any

from gen.plan.amounts import amounts
from gen.plan.labels import ZONE
from gen.plan.values import Node, Selector, Spread
from tests.plan.machines import pod

HOST = "kubernetes.io/hostname"
TEST = (("test", "test"),)
MINE = Selector(TEST)
LARGE = {"cpu": "1.1"}


def spread(key: str, skew: int = 1, **more: Any) -> tuple[Spread, ...]:
    return (Spread(key, skew, MINE)._replace(**more),)


def node(name: str, zone: str | None, *counted: int, **more: Any) -> Node:
    """A full node with so many pods of ours."""
    labels = () if zone is None else ((ZONE, zone),)
    pods = tuple(pod("old", count=count, labels=TEST) for count in counted)
    return Node(name, amounts({"pods": "50"}), labels=labels, pods=pods)._replace(**more)

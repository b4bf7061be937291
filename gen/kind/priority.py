"""The priority of placeholders, against the autoscalers of the clusters that have it."""

from typing import Any

from gen.finding import Path
from gen.kind.shape import Made, Report
from gen.kind.value import Whole
from gen.model import Karpenter

EMPTY_TO_KARPENTER = -(2**25)  # from here down a pod costs it nothing to evict
EMPTY_SINCE = (1, 14)
PRIORITY, LOW_PRIORITY = "B025", "B026"


class Priority(Whole):
    """The least and the most are those of Kubernetes; which of them do any good is another question."""

    def words(self) -> str:
        return "whole number from -10 to -1"


def autoscaler_of(cluster: Made) -> Any:
    """The one that a priority must suit: a Karpenter that asks only whether pods can be moved is none."""
    said = cluster["karpenter"]
    if cluster["autoscaler"] == "karpenter" and isinstance(said, Karpenter) and said.version < EMPTY_SINCE:
        return "none"
    return cluster["autoscaler"]


def agree_on_priority(value: Any, autoscalers: set[Any], path: Path, report: Report) -> None:
    """Report where an autoscaler would not serve such placeholders, or they would not give way."""
    if type(value) is not int:
        return
    fix = "Write a whole number from -10 to -1."
    if value >= 0:
        report(PRIORITY, path, f"{value} is not below 0: placeholders would not give way to sessions.", fix)
    elif value < -10 and "cluster-autoscaler" in autoscalers:
        whose = " (kubernetes.io's page on overprovisioning has it)" if value == -1000 else ""
        message = f"{value}{whose} is below -10: cluster-autoscaler adds no node for such pods."
        report(PRIORITY, path, message, fix)
    elif value <= EMPTY_TO_KARPENTER and "karpenter" in autoscalers:
        message = (
            f"{value} is so low that Karpenter from 1.14 on takes nodes of placeholders for empty: it "
            "deletes them, and buys them again."
        )
        report(PRIORITY, path, message, fix)
    elif value < -10:
        fix = "Write a whole number from -10 to -1, unless you know that yours does not."
        report(LOW_PRIORITY, path, f"{value} is below -10: many autoscalers ignore such pods.", fix)

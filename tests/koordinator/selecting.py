"""Selectors, node affinity, taints: what Kubernetes itself means by them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

Tree = Mapping[str, Any]
Labels = Mapping[str, str]
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
HOLD_OFF = ("NoSchedule", "NoExecute")
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def trouble_of(selector: Tree) -> str:
    """Why Koordinator cannot read a LabelSelector; empty where it can. One with matchLabels alone is never
    looked at.
    """
    if not selector.get("matchExpressions"):
        return ""
    for key, value in (selector.get("matchLabels") or {}).items():
        if not _is_key(key) or not _is_value(value):
            return f"{key}={value} is no label"
    for one in selector["matchExpressions"]:
        operator, values = one.get("operator"), one.get("values") or []
        if operator not in OPERATORS:
            return f'"{operator}" is not a valid label selector operator'
        if operator in ("In", "NotIn") and not values:
            return "values: for 'in', 'notin' operators, values set can't be empty"
        if operator not in ("In", "NotIn") and values:
            return "values: values set must be empty for exists and does not exist"
        if not _is_key(one.get("key", "")) or not all(map(_is_value, values)):
            return f"{one.get('key')} is no label"
    return ""


def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (_PREFIX.fullmatch(prefix) and len(prefix) <= 253):
        return False
    return bool(_NAME.fullmatch(name))


def _is_value(value: str) -> bool:
    return not value or bool(_NAME.fullmatch(value))


def selects(selector: Tree, labels: Labels) -> bool:
    """An empty one selects everything."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(one, labels) for one in selector.get("matchExpressions") or [])


def _holds(requirement: Tree, labels: Labels) -> bool:
    key, operator = requirement["key"], requirement["operator"]
    values = requirement.get("values") or []
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values  # as Kubernetes has it: also where the label is missing
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    return operator in ("Gt", "Lt") and _compares(operator, labels.get(key), values)


def _compares(operator: str, found: str | None, values: list[str]) -> bool:
    try:
        left, right = int(found or ""), int("".join(values))
    except ValueError:
        return False
    return left > right if operator == "Gt" else left < right


def matches_terms(terms: Iterable[Tree], name: str, labels: Labels) -> bool:
    """Node selector terms are ORed; no term, and a term that says nothing, match nothing."""
    for term in terms:
        expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
        if not expressions and not fields:
            continue
        if all(_holds(one, labels) for one in expressions) and all(
            _holds(one, {"metadata.name": name}) for one in fields
        ):
            return True
    return False


def suits_node(spec: Tree, name: str, labels: Labels) -> bool:
    """Node selector and required node affinity of a pod."""
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or matches_terms(required.get("nodeSelectorTerms") or [], name, labels)


def untolerated(taints: Iterable[Tree], tolerations: Iterable[Tree]) -> Tree | None:
    """The first taint that keeps a pod off."""
    tolerations = list(tolerations)
    for taint in taints:
        if taint.get("effect") in HOLD_OFF and not any(tolerates(one, taint) for one in tolerations):
            return taint
    return None


def tolerates(toleration: Tree, taint: Tree) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")

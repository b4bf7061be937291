"""The parts of a NodePool that a CloudCapacity says, as its CRD of Karpenter v1.14.1 has them."""

import re
from typing import Any

from gen.finding import Path
from gen.kind import cloudtext, grammar
from gen.kind.different import Different
from gen.kind.metadata import LABELS
from gen.kind.plainmap import given
from gen.kind.pod import KEY, VALUE
from gen.kind.resources import AMOUNT
from gen.kind.shape import (
    INVALID,
    RANGE,
    Field,
    Fields,
    ListOf,
    Made,
    MapOf,
    Refusal,
    Report,
    items,
    shown,
)
from gen.kind.value import OneOf, Text, Whole

BUDGET_RULE, REQUIREMENT_RULE = "B155", "B154"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
MOST_BUDGETS, MOST_LABELS = 50, 100
MOST_REQUIREMENTS, MOST_RENDERED = 90, 100  # with those that we add
LONGEST_KEY = 316
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")
POLICIES = ("WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced")
REASONS = ("Underutilized", "Empty", "Drifted")
_AWS_NAMES = """
    instance-tenancy capacity-reservation-type capacity-reservation-id capacity-reservation-interruptible
    ec2nodeclass instance-encryption-in-transit-supported instance-category instance-hypervisor
    instance-family instance-generation instance-local-nvme instance-size instance-cpu
    instance-cpu-manufacturer
    instance-cpu-sustained-clock-speed-mhz instance-memory instance-ebs-bandwidth instance-network-bandwidth
    instance-gpu-name instance-gpu-manufacturer instance-gpu-count instance-gpu-memory
    instance-accelerator-name instance-accelerator-manufacturer instance-accelerator-count
    instance-capability-flex placement-group-id placement-group-partition
"""
AWS_LABELS = tuple(f"karpenter.k8s.aws/{name}" for name in _AWS_NAMES.split())
_KNOWN = {
    "kubernetes.io/arch": ("amd64", "arm64"),
    "beta.kubernetes.io/arch": ("amd64", "arm64"),
    "kubernetes.io/os": ("linux", "windows"),
    "beta.kubernetes.io/os": ("linux", "windows"),
}
_NODES = r"(100|[0-9]{1,2})%|[0-9]{1,9}"
_DIGITS = r"[0-9]{1,18}"


def _refuse_kept(key: object, path: Path, report: Report) -> None:
    """Report a label that only Karpenter itself may set, or that we set."""
    if type(key) is not str:
        return
    domain = key.partition("/")[0]  # the whole key where it has none, as in the CRD's rules
    if key == CAPACITY_TYPE:
        message, fix = f"{key} is said by capacityTypes.", "Remove it, and write capacityTypes."
    elif key == "kubernetes.io/hostname" or domain.endswith("karpenter.sh"):
        message, fix = f"{key} is a label that Karpenter keeps for itself.", "Remove it."
    elif domain.endswith("karpenter.k8s.aws") and key not in AWS_LABELS:
        message, fix = f"{key} is no label that Karpenter knows of machines.", "Remove it, or correct it."
    else:
        return
    report(cloudtext.RESTRICTED, path, message, fix, at_key=True)


class _NodeLabels(MapOf):
    def check(self, value: Any, path: Path, report: Report) -> Any:
        checked = MapOf.check(self, value, path, report)
        for key, _ in items(checked):
            _refuse_kept(key, (*path, key), report)
        if isinstance(checked, tuple) and len(checked) > MOST_LABELS:
            return report(RANGE, path, f"there are {len(checked)} labels.", f"Write at most {MOST_LABELS}.")
        return checked


NODE_LABELS = _NodeLabels(grammar.label_key, LABELS.item)


def _requirement(made: Made, path: Path, report: Report) -> None:
    key, operator, said = made["key"], made["operator"], made["values"]
    if key is not INVALID:
        _refuse_kept(key, (*path, "key"), report)
        if len(key) > LONGEST_KEY:
            message = f"the key has {len(key)} characters."
            report(RANGE, (*path, "key"), message, f"Write at most {LONGEST_KEY}.")
    if operator is INVALID or said is INVALID:
        return
    values: tuple[Any, ...] = said or ()
    if operator in ("In", "NotIn") and not values:
        report(REQUIREMENT_RULE, path, f"operator {operator} needs values.", "Add values: a list.")
    elif operator in ("Exists", "DoesNotExist") and values:
        message = f"operator {operator} takes no values."
        report(REQUIREMENT_RULE, (*path, "values"), message, "Remove values.", at_key=True)
    elif operator == "In" and key in _KNOWN and INVALID not in values:
        _known(key, values, made["minValues"], (*path, "values"), report)
    elif operator in ("Gt", "Lt", "Gte", "Lte") and not _is_one_number(values):
        fix = 'Write one, for instance values: ["8"].'
        report(REQUIREMENT_RULE, path, f"operator {operator} needs one whole number from 0 up.", fix)
    least, many = made["minValues"], len(set(values))
    if type(least) is int and operator == "In" and many < least:
        message = f"minValues {least} is more than the {many} values."
        report(REQUIREMENT_RULE, (*path, "minValues"), message, "Write fewer, or add values.")


def _known(key: str, values: tuple[Any, ...], least: Any, path: Path, report: Report) -> None:
    """A pool with too few values that Karpenter knows is not Ready; others it only tells its log."""
    wrong = sorted({*values} - {*_KNOWN[key]})
    if wrong and len({*values}) - len(wrong) < (least if type(least) is int else 1):
        message = (
            f"Karpenter does not know {', '.join(wrong)}, and uses no pool without values that it knows."
        )
        report(REQUIREMENT_RULE, path, message, f"Write {' or '.join(_KNOWN[key])}.")


def _is_one_number(values: tuple[Any, ...]) -> bool:
    return len(values) == 1 and (
        values[0] is INVALID or re.fullmatch(_DIGITS, values[0], re.ASCII) is not None
    )


REQUIREMENT = Fields(
    {
        "key": Field(KEY),
        "operator": Field(OneOf(OPERATORS)),
        "values": Field(ListOf(VALUE), None),
        "minValues": Field(Whole(1, 50), None),
    },
    given,
    agree=_requirement,
)


class Few(ListOf):
    """A list of requirements, of which the CRD takes so many."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is list and len(value) > MOST_REQUIREMENTS:
            fix = f"Write at most {MOST_REQUIREMENTS}."
            return report(RANGE, path, f"there are {len(value)} requirements.", fix)
        return ListOf.check(self, value, path, report)


REQUIREMENTS = Few(REQUIREMENT)


def _taint_value(text: str) -> str:
    if text:
        return grammar.label_value(text)
    raise Refusal("a taint's value may not be empty here.", "Remove it: no value is empty.", grammar.LABEL)


TAINT = Fields(
    {
        "key": Field(KEY),
        "value": Field(Text("label value", _taint_value), None),
        "effect": Field(OneOf(("NoSchedule", "PreferNoSchedule", "NoExecute"))),
    },
    given,
)


def _limited(text: str) -> str:
    return text if text in ("nodes", "pods") else grammar.resource_name(text)


def _nodes(text: str) -> str:
    if re.fullmatch(_NODES, text, re.ASCII):
        return text
    raise Refusal(
        f"{shown(text)} is no number of nodes.", 'Write a number or a share: "3" or "10%".', BUDGET_RULE
    )


def _schedule(text: str) -> str:
    from gen.cron import next_hit, parse  # noqa: PLC0415 - only who writes budgets needs it

    cron = parse(text)
    if cron is not None and next_hit(cron, 0) is not None:
        return text
    if cron is not None:
        message = f"{shown(text)} never comes, and Karpenter holds such a budget always."
        raise Refusal(message, "Write a date that there is, or leave out schedule and duration.", BUDGET_RULE)
    if text.startswith(("TZ=", "CRON_TZ=")):
        message = "a budget's schedule is in UTC; it takes no time zone."
        raise Refusal(message, "Remove the zone, and write the hours of UTC.", BUDGET_RULE)
    message = f"{shown(text)} is no schedule that Karpenter reads: it would stop all disruption for ever."
    raise Refusal(message, 'Write five fields in UTC, such as "0 8 * * 1-5", or @daily.', BUDGET_RULE)


def _budget(made: Made, path: Path, report: Report) -> None:
    if (made["schedule"] is None) != (made["duration"] is None):
        has, lacks = ("schedule", "duration") if made["duration"] is None else ("duration", "schedule")
        report(BUDGET_RULE, path, f"{has} needs {lacks}.", f"Add {lacks}, or remove {has}.")


BUDGET = Fields(
    {
        "nodes": Field(Text("number or share of nodes", _nodes)),
        "schedule": Field(Text("schedule", _schedule), None),
        "duration": Field(Text("duration", cloudtext.budget_span), None),
        "reasons": Field(Different(OneOf(REASONS), 1), None),
    },
    given,
    agree=_budget,
)


def _disruption(made: Made, path: Path, report: Report) -> None:
    budgets = made["budgets"]
    if isinstance(budgets, tuple) and len(budgets) > MOST_BUDGETS:
        message = f"there are {len(budgets)} budgets."
        report(BUDGET_RULE, (*path, "budgets"), message, f"Write at most {MOST_BUDGETS}.")
    elif budgets == ():
        fix = 'Write {nodes: "100%"} to bound nothing, or leave budgets out: then 10% go at once.'
        report(RANGE, (*path, "budgets"), "the list is empty.", fix)


EXPIRY = Text("duration or Never", cloudtext.span_or_never)
GRACE = Text("duration", cloudtext.span)
LIMITS = MapOf(_limited, AMOUNT)
DISRUPTION = Fields(
    {
        "consolidationPolicy": Field(
            OneOf(POLICIES), None, "which nodes it takes away", "`WhenEmptyOrUnderutilized`"
        ),
        "consolidateAfter": Field(EXPIRY, None, "how long after a pod came or went, or Never", "`0s`"),
        "budgets": Field(
            ListOf(BUDGET), None, "how many nodes at once, as in a NodePool; of windows they are made", "10%"
        ),
    },
    given,
    agree=_disruption,
)

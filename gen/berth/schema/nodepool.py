"""The parts of a NodePool that a CloudCapacity has, as its CRD of Karpenter v1.15.0 has them."""

import re
from typing import Annotated, Any, Literal

from pydantic import Strict

from berth.findings import Path
from berth.schema import cloudgrammar
from berth.schema.base import Length, ListOf, Model, NonEmptyUnique, Text, Whole, field
from berth.schema.cloudgrammar import BUDGET_RULE
from berth.schema.report import INVALID, RANGE, Report
from berth.schema.scheduling import Effect
from berth.schema.types import Amount, LabelKey, Labels, LabelValue

REQUIREMENT_RULE = "B154"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
MOST_BUDGETS, MOST_LABELS = 50, 100
MOST_REQUIREMENTS, MOST_RENDERED = 90, 100  # with those that Berth adds
LONGEST_KEY = 316
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
_DIGITS = r"[0-9]{1,18}"

Span = Annotated[str, Text("duration", cloudgrammar.span)]
SpanOrNever = Annotated[str, Text("duration or Never", cloudgrammar.span_or_never)]
Limits = dict[Annotated[str, Text("resource", cloudgrammar.limited)], Amount]
NodeLabels = Annotated[Labels, Length(0, MOST_LABELS)]


def _refuse_kept(key: str, path: Path, report: Report) -> None:
    """Report a label that only Karpenter itself may set, or that Berth sets."""
    domain = key.partition("/")[0]  # the whole key where it has none, as in the CRD's rules
    if key == CAPACITY_TYPE:
        message, fix = f"{key} is set by capacityTypes.", "Remove it, and write capacityTypes."
    elif key == "kubernetes.io/hostname" or domain.endswith("karpenter.sh"):
        message, fix = f"{key} is a label that only Karpenter sets.", "Remove it."
    elif domain.endswith("karpenter.k8s.aws") and key not in AWS_LABELS:
        message, fix = f"{key} is not a label of instances that Karpenter knows.", "Remove it, or correct it."
    else:
        return
    report(cloudgrammar.RESTRICTED, path, message, fix, at_key=True)


def check_node_labels(labels: Any, path: Path, report: Report) -> None:
    for name in () if not labels or labels is INVALID else labels:
        _refuse_kept(name, (*path, name), report)


class Requirement(Model):
    """What a NodePool requires of its nodes."""

    key: LabelKey
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]
    values: ListOf[LabelValue] | None = field(None)
    min_values: Annotated[int, Whole(1, 50)] | None = field(None)

    def check(self, path: Path, report: Report) -> None:
        key, operator, said = self.key, self.operator, self.values
        if key is not INVALID:
            _refuse_kept(key, (*path, "key"), report)
            if len(key) > LONGEST_KEY:
                message = f"the key has {len(key)} characters."
                report(RANGE, (*path, "key"), message, f"Write at most {LONGEST_KEY}.")
        if operator is INVALID or said is INVALID:
            return
        values = said or ()
        if operator in ("In", "NotIn") and not values:
            report(REQUIREMENT_RULE, path, f"operator {operator} needs values.", "Add values: a list.")
        elif operator in ("Exists", "DoesNotExist") and values:
            message = f"operator {operator} takes no values."
            report(REQUIREMENT_RULE, (*path, "values"), message, "Remove values.", at_key=True)
        elif operator == "In" and key in _KNOWN and INVALID not in values:
            self._check_known(values, (*path, "values"), report)
        elif operator in ("Gt", "Lt", "Gte", "Lte") and not _is_one_number(values):
            fix = 'Write one, for instance values: ["8"].'
            message = f"operator {operator} needs one whole number from 0 up."
            report(REQUIREMENT_RULE, path, message, fix)
        least, many = self.min_values, len(set(values))
        if least is not None and least is not INVALID and operator == "In" and many < least:
            message = f"minValues {least} is more than the {many} values."
            report(REQUIREMENT_RULE, (*path, "minValues"), message, "Write fewer, or add values.")

    def _check_known(self, values: tuple[str, ...], path: Path, report: Report) -> None:
        """Report too few values that Karpenter knows: such a pool is not Ready; others it only logs."""
        known, least = _KNOWN[self.key], self.min_values
        wrong = sorted({*values} - {*known})
        if wrong and len({*values}) - len(wrong) < (1 if least in (None, INVALID) else least or 1):
            names = ", ".join(wrong)
            message = f"Karpenter does not know {names}, and uses no pool without values that it knows."
            report(REQUIREMENT_RULE, path, message, f"Write {' or '.join(known)}.")


def _is_one_number(values: tuple[str, ...]) -> bool:
    return len(values) == 1 and (
        values[0] is INVALID or re.fullmatch(_DIGITS, values[0], re.ASCII) is not None
    )


Requirements = Annotated[tuple[Requirement, ...], Strict(False), Length(0, MOST_REQUIREMENTS)]


class Taint(Model):
    key: LabelKey
    value: Annotated[str, Text("label value", cloudgrammar.taint_value)] | None = field(None)
    effect: Effect


class Budget(Model):
    """How many nodes Karpenter may take away at once."""

    nodes: Annotated[str, Text("number or share of nodes", cloudgrammar.nodes)]
    schedule: Annotated[str, Text("schedule", cloudgrammar.schedule)] | None = field(None)
    duration: Annotated[str, Text("duration", cloudgrammar.budget_span)] | None = field(None)
    reasons: NonEmptyUnique[Literal["Underutilized", "Empty", "Drifted", "Unhealthy"]] | None = field(None)

    def check(self, path: Path, report: Report) -> None:
        if (self.schedule is None) != (self.duration is None):
            has, lacks = ("schedule", "duration") if self.duration is None else ("duration", "schedule")
            report(BUDGET_RULE, path, f"{has} needs {lacks}.", f"Add {lacks}, or remove {has}.")


class Disruption(Model):
    consolidation_policy: Literal["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"] | None = field(
        None, "which nodes it takes away", "`WhenEmptyOrUnderutilized`"
    )
    consolidate_after: SpanOrNever | None = field(None, "how long after a pod came or went, or Never", "`0s`")
    budgets: ListOf[Budget] | None = field(
        None, "how many nodes at once, as in a NodePool; Berth adds those of windows", "10%"
    )

    def check(self, path: Path, report: Report) -> None:
        budgets = self.budgets
        if budgets is None or budgets is INVALID:
            return
        if len(budgets) > MOST_BUDGETS:
            message = f"there are {len(budgets)} budgets."
            report(BUDGET_RULE, (*path, "budgets"), message, f"Write at most {MOST_BUDGETS}.")
        elif not budgets:
            fix = 'Write {nodes: "100%"} for no bound, or leave budgets out for the default of 10%.'
            report(RANGE, (*path, "budgets"), "the list is empty.", fix)

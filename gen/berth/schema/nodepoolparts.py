"""The parts of a NodePool that a CloudCapacity has, as its CRD of Karpenter v1.15.0 has them."""

from typing import Annotated, Literal

from pydantic import Strict

from berth.machines.nodelabels import (
    ARCH,
    AWS,
    CAPACITY_TYPE,
    HOSTNAME,
    NODE_CLASS,
    OS,
    WELL_KNOWN,
    normalized,
)
from berth.schema import cloudgrammar, grammar
from berth.schema.basemodel import Length, ListOf, Model, NonEmptyUnique, Text, Whole, field
from berth.schema.documentproblems import DocumentProblems, Refusal
from berth.schema.scheduling import Effect, LabelRequirementSpec
from berth.schema.types import Amount, LabelKey, LabelValue

MOST_BUDGETS, MOST_LABELS = 50, 100
MOST_REQUIREMENTS = 90  # 100 with those that Berth adds
LONGEST_KEY = 316
_KNOWN = {ARCH: ("amd64", "arm64"), OS: ("linux", "windows")}

Span = Annotated[str, Text("duration", cloudgrammar.span)]
Lifetime = Annotated[str, Text("duration or Never", cloudgrammar.lifetime)]
SpanOrNever = Annotated[str, Text("duration or Never", cloudgrammar.span_or_never)]
Limits = dict[Annotated[str, Text("resource", cloudgrammar.limited)], Amount]


def _node_label(text: str) -> str:
    """Read the key of a label that neither only Karpenter itself may set nor Berth sets."""
    key = grammar.label_key(text)
    domain = key.partition("/")[0]  # the whole key where it has none, as in the CRD's rules
    if key == CAPACITY_TYPE:
        message, fix = f"{key} is set by capacityTypes.", "Remove it, and write capacityTypes."
    elif key == HOSTNAME or domain.endswith("karpenter.sh"):
        message, fix = f"{key} is a label that only Karpenter sets.", "Remove it."
    elif domain.endswith(AWS.rstrip("/")) and key not in WELL_KNOWN and key != NODE_CLASS:
        message, fix = f"{key} is not a label of instances that Karpenter knows.", "Remove it, or correct it."
    else:
        return key
    raise Refusal(message, fix, "B151", at_key=True)


def _required_label(text: str) -> str:
    key = _node_label(text)
    if len(key) > LONGEST_KEY:
        raise Refusal(f"the key has {len(key)} characters.", f"Write at most {LONGEST_KEY}.", "B012")
    return key


NodeLabels = Annotated[
    dict[Annotated[str, Text("label key", _node_label)], LabelValue], Length(0, MOST_LABELS)
]


class PoolRequirement(LabelRequirementSpec):
    """What a NodePool requires of its nodes."""

    too_few = wrong = "B151"
    key: Annotated[str, Text("label key", _required_label)]
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]
    min_values: Annotated[int, Whole(1, 50)] | None = field(None)

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        operator, values = self.operator, self.values or ()
        if operator == "In" and normalized(self.key) in _KNOWN:
            self._check_known(values, report.below("values"))
        least, many = self.min_values, len(set(values))
        if least is not None and operator == "In" and many < least:
            message = f"minValues {least} is more than the {many} values."
            report("B151", "minValues", message, "Write fewer, or add values.")

    def _check_known(self, values: tuple[str, ...], report: DocumentProblems) -> None:
        """Report too few values that Karpenter knows: such a pool is not Ready; others it only logs."""
        known = _KNOWN[normalized(self.key)]
        wrong = sorted({*values} - {*known})
        if wrong and len({*values}) - len(wrong) < (self.min_values or 1):
            names = ", ".join(wrong)
            message = f"Karpenter does not know {names}, and uses no pool without values that it knows."
            report("B151", (), message, f"Write {' or '.join(known)}.")


Requirements = Annotated[tuple[PoolRequirement, ...], Strict(False), Length(0, MOST_REQUIREMENTS)]


class NodeTaint(Model):
    key: LabelKey
    value: Annotated[str, Text("label value", grammar.taint_value)] | None = field(None)
    effect: Effect


class Budget(Model):
    """How many nodes Karpenter may take away at once."""

    nodes: Annotated[str, Text("number or share of nodes", cloudgrammar.nodes)]
    schedule: Annotated[str, Text("schedule", cloudgrammar.schedule)] | None = field(None)
    duration: Annotated[str, Text("duration", cloudgrammar.budget_span)] | None = field(None)
    reasons: NonEmptyUnique[Literal["Underutilized", "Empty", "Drifted", "Unhealthy"]] | None = field(None)

    def check(self, report: DocumentProblems) -> None:
        if (self.schedule is None) != (self.duration is None):
            has, lacks = ("schedule", "duration") if self.duration is None else ("duration", "schedule")
            report("B151", (), f"{has} needs {lacks}.", f"Add {lacks}, or remove {has}.")


class Disruption(Model):
    consolidation_policy: Literal["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"] | None = field(
        None, "which nodes it takes away", "`WhenEmptyOrUnderutilized`"
    )
    consolidate_after: SpanOrNever | None = field(None, "how long after a pod came or went, or Never", "`0s`")
    budgets: ListOf[Budget] | None = field(
        None, "how many nodes at once, as in a NodePool; Berth adds those of windows", "10%"
    )

    def check(self, report: DocumentProblems) -> None:
        budgets = self.budgets
        if budgets is None:
            return
        if len(budgets) > MOST_BUDGETS:
            message = f"there are {len(budgets)} budgets."
            report("B151", "budgets", message, f"Write at most {MOST_BUDGETS}.")
        elif not budgets:
            fix = 'Write {nodes: "100%"} for no bound, or leave budgets out for the default of 10%.'
            report("B012", "budgets", "the list is empty.", fix)

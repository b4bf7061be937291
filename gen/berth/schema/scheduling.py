"""Where a pod may be scheduled, as in the Kubernetes API: affinity, spread, selectors, tolerations, claims.

Most documents have none of them, so that the other models import this module only with the first value.
"""

from typing import Annotated, ClassVar, Literal

from berth.schema.basemodel import ListOf, Model, NonEmpty, Whole, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.types import INT32, DnsLabel, DnsName, LabelKey, Labels, LabelValue, NodeName

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
Weight = Annotated[int, Whole(1, 100)]


class PodToleration(Model):
    key: LabelKey | None = field(None)
    operator: Literal["Exists", "Equal"] | None = field(None)
    value: LabelValue | None = field(None)
    effect: Effect | None = field(None)
    toleration_seconds: Annotated[int, Whole(-(2**31), 2**31)] | None = field(None)

    def check(self, report: DocumentProblems) -> None:
        if self.operator == "Exists" and self.value:
            message = "operator Exists takes no value."
            report("B016", "value", message, "Remove value.", at_key=True)
        if self.operator in (None, "Equal") and self.key is None:
            message = "a toleration without key needs operator: Exists."
            report("B016", (), message, "Write operator: Exists, or add a key.")
        if self.toleration_seconds is not None and self.effect != "NoExecute":
            fix = "Add effect: NoExecute, or remove tolerationSeconds."
            report("B016", "tolerationSeconds", "only effect NoExecute takes seconds.", fix, at_key=True)


class LabelRequirementSpec(Model):
    """A requirement of labels: key, operator, values."""

    too_few: ClassVar[str] = "B011"
    """The code of a requirement that lacks values."""

    wrong: ClassVar[str] = "B016"
    """The code of one whose values do not suit its operator."""

    key: LabelKey
    operator: str
    values: ListOf[LabelValue] | None = field(None)

    def check(self, report: DocumentProblems) -> None:
        operator, values = self.operator, self.values or ()
        if operator in ("In", "NotIn") and not values:
            report(self.too_few, (), f"operator {operator} needs values.", "Add values: a list.")
        elif operator in ("Exists", "DoesNotExist") and values:
            message = f"operator {operator} takes no values."
            report(self.wrong, "values", message, "Remove values.", at_key=True)
        elif operator in ("Gt", "Lt", "Gte", "Lte") and not (len(values) == 1 and _is_number(values[0])):
            fix = 'Write one, for instance values: ["8"].'
            report(self.wrong, (), f"operator {operator} needs one whole number from 0 up.", fix)


def _is_number(value: str) -> bool:
    return value.isdecimal() and len(value) < 19


class LabelExpression(LabelRequirementSpec):
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]


class NodeRequirement(LabelRequirementSpec):
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


class LabelSelector(Model):
    match_labels: Labels | None = field(None)
    match_expressions: ListOf[LabelExpression] | None = field(None)


class FieldRequirement(Model):
    key: Literal["metadata.name"]
    operator: Literal["In", "NotIn"]
    values: ListOf[NodeName]

    def check(self, report: DocumentProblems) -> None:
        if len(self.values) != 1:
            report("B016", "values", "a field takes exactly one value.", "Write one node name.")


class NodeTerm(Model):
    match_expressions: ListOf[NodeRequirement] | None = field(None)
    match_fields: ListOf[FieldRequirement] | None = field(None)


class NodeTerms(Model):
    node_selector_terms: NonEmpty[NodeTerm]


class PreferredNodeTerm(Model):
    weight: Weight
    preference: NodeTerm


class NodeAffinity(Model):
    required: NodeTerms | None = field(None, alias=REQUIRED)
    preferred: ListOf[PreferredNodeTerm] | None = field(None, alias=PREFERRED)


def _check_label_keys(
    term: "PodTerm | TopologySpread", other: tuple[str, ...], report: DocumentProblems
) -> None:
    """Report duplicate keys: the API server adds `matchLabelKeys` to the selector."""
    matching, selector = term.match_label_keys or (), term.label_selector
    if (matching or other) and selector is None:
        name = "matchLabelKeys" if matching else "mismatchLabelKeys"
        report("B011", (), f"{name} needs a labelSelector.", "Add labelSelector.")
    taken = [] if selector is None else _keys(selector)
    for i, key in enumerate(matching):
        if key in taken or key in other or key in matching[:i]:
            message = f"duplicate key {key} in this term."
            report("B016", ("matchLabelKeys", i), message, "Name each key once.")


def _keys(selector: LabelSelector) -> list[str]:
    return [
        *(selector.match_labels or ()),
        *(expression.key for expression in selector.match_expressions or ()),
    ]


class PodTerm(Model):
    label_selector: LabelSelector | None = field(None)
    topology_key: LabelKey
    namespaces: ListOf[DnsLabel] | None = field(None)
    namespace_selector: LabelSelector | None = field(None)
    match_label_keys: ListOf[LabelKey] | None = field(None)
    mismatch_label_keys: ListOf[LabelKey] | None = field(None)

    def check(self, report: DocumentProblems) -> None:
        _check_label_keys(self, self.mismatch_label_keys or (), report)


class PreferredPodTerm(Model):
    weight: Weight
    pod_affinity_term: PodTerm


class PodAffinity(Model):
    required: ListOf[PodTerm] | None = field(None, alias=REQUIRED)
    preferred: ListOf[PreferredPodTerm] | None = field(None, alias=PREFERRED)


class Affinity(Model):
    node_affinity: NodeAffinity | None = field(None)
    pod_affinity: PodAffinity | None = field(None)
    pod_anti_affinity: PodAffinity | None = field(None)


class TopologySpread(Model):
    max_skew: Annotated[int, Whole(1, INT32)]
    topology_key: LabelKey
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"]
    label_selector: LabelSelector | None = field(None)
    min_domains: Annotated[int, Whole(1, INT32)] | None = field(None)
    node_affinity_policy: Literal["Honor", "Ignore"] | None = field(None)
    node_taints_policy: Literal["Honor", "Ignore"] | None = field(None)
    match_label_keys: ListOf[LabelKey] | None = field(None)

    def check(self, report: DocumentProblems) -> None:
        if self.min_domains is not None and self.when_unsatisfiable == "ScheduleAnyway":
            fix = "Write whenUnsatisfiable: DoNotSchedule, or remove minDomains."
            report("B016", "minDomains", "minDomains needs DoNotSchedule.", fix, at_key=True)
        _check_label_keys(self, (), report)


class DeviceClaim(Model):
    """Devices that each seat gets by dynamic resource allocation (DRA)."""

    name: DnsLabel = field(meaning="name of the claim in the pod")
    device_class_name: DnsName | None = field(
        None, "DeviceClass of the devices: Berth renders the ResourceClaimTemplate", "none"
    )
    count: Annotated[int, Whole(1, 32)] | None = field(
        None, "how many devices of `deviceClassName` a seat gets", "`1`"
    )
    resource_claim_template_name: DnsName | None = field(
        None,
        "ResourceClaimTemplate in the Berth namespace that you create, instead of `deviceClassName`",
        "none",
    )

    def check(self, report: DocumentProblems) -> None:
        named = self.resource_claim_template_name is not None
        if not named and self.device_class_name is None:
            message = "a claim needs deviceClassName or resourceClaimTemplateName."
            report("B011", (), message, "Write one of the two.")
        for name, value in (("deviceClassName", self.device_class_name), ("count", self.count)):
            if named and value is not None:
                message = f"resourceClaimTemplateName and {name} exclude each other."
                report("B016", name, message, "Remove one of the two.", at_key=True)

    @property
    def devices(self) -> tuple[int, str] | None:
        """How many devices it has of which DeviceClass; None if only its template says that."""
        return None if self.device_class_name is None else (self.count or 1, self.device_class_name)

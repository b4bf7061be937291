"""Parts of a pod as in the Kubernetes API: where it is scheduled, and what its container requests.

They are checked so that the API server accepts what is rendered, and are rendered as they were written.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from berth.findings import Path
from berth.quantity import NANO, parse
from berth.schema import grammar
from berth.schema.base import Json, Lazy, ListOf, Model, NonEmpty, Whole, field
from berth.schema.report import CONFLICT, INVALID, MISSING, Report, items
from berth.schema.types import INT32, DnsLabel, DnsName, LabelKey, Labels, LabelValue, NodeName

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
Weight = Annotated[int, Whole(1, 100)]


class Toleration(Model):
    key: LabelKey | None = field(None)
    operator: Literal["Exists", "Equal"] | None = field(None)
    value: LabelValue | None = field(None)
    effect: Effect | None = field(None)
    toleration_seconds: Annotated[int, Whole(-(2**31), 2**31)] | None = field(None)

    def check(self, path: Path, report: Report) -> None:
        if self.operator == "Exists" and self.value:
            message = "operator Exists takes no value."
            report(CONFLICT, (*path, "value"), message, "Remove value.", at_key=True)
        if self.operator in (None, "Equal") and self.key is None:
            message = "a toleration without key needs operator: Exists."
            report(CONFLICT, path, message, "Write operator: Exists, or add a key.")
        if self.toleration_seconds is not None and self.effect not in ("NoExecute", INVALID):
            fix = "Add effect: NoExecute, or remove tolerationSeconds."
            at = (*path, "tolerationSeconds")
            report(CONFLICT, at, "only effect NoExecute takes seconds.", fix, at_key=True)


class _Requirement(Model):
    """A requirement of labels: key, operator, values."""

    key: LabelKey
    operator: str
    values: ListOf[LabelValue] | None = field(None)

    def check(self, path: Path, report: Report) -> None:
        operator, values = self.operator, self.values
        if operator in ("In", "NotIn") and not values:
            report(MISSING, path, f"operator {operator} needs values.", "Add values: a list.")
        elif operator in ("Exists", "DoesNotExist") and values:
            message = f"operator {operator} takes no values."
            report(CONFLICT, (*path, "values"), message, "Remove values.", at_key=True)
        elif operator in ("Gt", "Lt") and values is not INVALID and not _is_one_number(values or ()):
            fix = 'Write one, for instance values: ["8"].'
            report(CONFLICT, path, f"operator {operator} needs one whole number.", fix)


def _is_one_number(values: tuple[str, ...]) -> bool:
    return len(values) == 1 and (values[0] is INVALID or values[0].isdecimal())


class LabelRequirement(_Requirement):
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]


class NodeRequirement(_Requirement):
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


class LabelSelector(Model):
    match_labels: Labels | None = field(None)
    match_expressions: ListOf[LabelRequirement] | None = field(None)


class FieldRequirement(Model):
    key: Literal["metadata.name"]
    operator: Literal["In", "NotIn"]
    values: ListOf[NodeName]

    def check(self, path: Path, report: Report) -> None:
        if self.values is not INVALID and len(self.values) != 1:
            report(CONFLICT, (*path, "values"), "a field takes exactly one value.", "Write one node name.")


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


def _check_label_keys(term: "PodTerm | TopologySpread", other: Any, path: Path, report: Report) -> None:
    """Report duplicate keys: the API server adds `matchLabelKeys` to the selector."""
    found, selector = term.match_label_keys, term.label_selector
    matching = [] if not found or found is INVALID else [one for one in found if one is not INVALID]
    if (matching or other) and selector is None:
        name = "matchLabelKeys" if matching else "mismatchLabelKeys"
        report(MISSING, path, f"{name} needs a labelSelector.", "Add labelSelector.")
    is_sound = report.is_sound((*path, "labelSelector"), selector)
    taken = _keys(selector) if selector is not None and is_sound else []
    for i, one in enumerate(matching):
        if one in taken or one in other or one in matching[:i]:
            message = f"duplicate key {one} in this term."
            report(CONFLICT, (*path, "matchLabelKeys", i), message, "Name each key once.")


def _keys(selector: LabelSelector) -> list[str]:
    return [*(selector.match_labels or ()), *(one.key for one in selector.match_expressions or ())]


class PodTerm(Model):
    label_selector: LabelSelector | None = field(None)
    topology_key: LabelKey
    namespaces: ListOf[DnsLabel] | None = field(None)
    namespace_selector: LabelSelector | None = field(None)
    match_label_keys: ListOf[LabelKey] | None = field(None)
    mismatch_label_keys: ListOf[LabelKey] | None = field(None)

    def check(self, path: Path, report: Report) -> None:
        found = self.mismatch_label_keys
        other = () if not found or found is INVALID else [one for one in found if one is not INVALID]
        _check_label_keys(self, other, path, report)


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

    def check(self, path: Path, report: Report) -> None:
        if self.min_domains is not None and self.when_unsatisfiable == "ScheduleAnyway":
            fix = "Write whenUnsatisfiable: DoNotSchedule, or remove minDomains."
            report(CONFLICT, (*path, "minDomains"), "minDomains needs DoNotSchedule.", fix, at_key=True)
        _check_label_keys(self, (), path, report)


class Tolerating(Model):
    """Which nodes a pod may be on, by their labels and taints."""

    node_selector: Labels | None = field(None, "as in a pod: nodes that carry all of these labels", "none")
    tolerations: ListOf[Toleration] | None = field(None, "as in a pod", "none")


class Placing(Tolerating):
    """All constraints of a pod on its node."""

    affinity: Annotated[Affinity, Lazy(Affinity)] | None = field(None, "as in a pod", "none")
    topology_spread_constraints: ListOf[Annotated[TopologySpread, Lazy(TopologySpread)]] | None = field(
        None, "as in a pod", "none"
    )

    def check(self, path: Path, report: Report) -> None:
        """Report constraints that the API server refuses: one topology key with the same answer twice."""
        found = self.topology_spread_constraints
        if not found or found is INVALID:
            return
        pairs: list[Any] = []
        for i, one in enumerate(found):
            is_sound = report.is_sound((*path, "topologySpreadConstraints", i), one)
            pair = (one.topology_key, one.when_unsatisfiable) if is_sound else None
            if pair is not None and pair in pairs:
                message = f"duplicate constraint: {pair[0]} with {pair[1]}."
                report(CONFLICT, (*path, "topologySpreadConstraints", i), message, "Remove one of the two.")
            pairs.append(pair)

    @property
    def placement(self) -> Json:
        """Return the constraints as fields of a pod's spec, without empty ones."""
        names = set(Placement.model_fields)
        said = self.model_dump(by_alias=True, exclude_none=True, include=names)
        return {name: value for name, value in said.items() if value}


class Placement(Placing):
    scheduler_name: DnsName | None = field(None, "as in a pod", "the cluster's default scheduler")

    @property
    def pod(self) -> "Placement":
        """Return the placement alone, without the other keys of a class."""
        said = {known.alias: getattr(self, name) for name, known in Placement.model_fields.items()}
        return Placement.model_construct(**{str(alias): value for alias, value in said.items()})


# Requests and limits of a container: amounts that the API server accepts, completed as it does.

Amounts = dict[str, str]

SHARED = ("cpu", "memory", "ephemeral-storage")
_MOST_DEVICES = 10**15 * NANO  # above, the API server counts thousandths that overflow


def check_resources(requests: Any, limits: Any, path: Path, report: Report) -> None:
    """Report requests and limits that the API server would refuse together."""
    asked, most = _sound(requests), _sound(limits)
    names = {name for name, _ in (*items(requests), *items(limits))}
    for name in {**asked, **most}:
        where = "requests" if name in asked else "limits"
        request, limit = asked.get(name, most.get(name, "")), most.get(name)
        if name not in SHARED:
            _check_device(name, request, (*path, where, name), report)
        if limit is not None:
            _check_limit(name, request, limit, (*path, "limits", name), report)
        if grammar.page_size(name) and not {"cpu", "memory"} & names:
            message, fix = "huge pages also need cpu or memory.", "Add cpu or memory."
            report(CONFLICT, (*path, where, name), message, fix)


def _check_limit(name: str, request: str, limit: str, at: Path, report: Report) -> None:
    asked, most = parse(request) or 0, parse(limit) or 0
    if name not in SHARED and most != asked:
        message = f"the limit {limit} differs from the request {request}."
        report(CONFLICT, at, message, "Write the same amount: Kubernetes does not overcommit such resources.")
    elif most < asked:
        report(CONFLICT, at, f"the limit {limit} is below the request {request}.", "Raise it, or remove it.")


def _check_device(name: str, amount: str, at: Path, report: Report) -> None:
    nanos, page = parse(amount) or 0, grammar.page_size(name)
    if page and nanos % page:
        message = f"{amount} is not a multiple of the page size."
        report(CONFLICT, at, message, f"Write a multiple of {name[10:]}.")
    elif not page and nanos % NANO:
        report(CONFLICT, at, f"{amount} is not a whole number of devices.", "Write a whole number.")
    elif not page and nanos > _MOST_DEVICES:
        report(
            CONFLICT, at, f"{amount} is more than Kubernetes can count.", "Write how many devices there are."
        )


def _sound(amounts: Any) -> Amounts:
    return {name: amount for name, amount in items(amounts) if amount is not INVALID}


def completed(requests: Mapping[str, str], limits: Mapping[str, str]) -> tuple[Amounts, Amounts]:
    """Complete as Kubernetes does: a limit without a request is one too; what is not shared has both."""
    asked: Amounts = {**requests, **{n: a for n, a in limits.items() if n not in requests}}
    most: Amounts = {**limits, **{n: a for n, a in asked.items() if n not in SHARED}}
    return asked, most

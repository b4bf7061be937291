"""The parts of a pod spec that a class or the site may set, as the Kubernetes API has them.

They are checked so that the API server accepts what we render, and passed on as they are.
"""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.metadata import LABELS
from gen.kind.shape import CONFLICT, INVALID, MISSING, Field, Fields, ListOf, Made, MapOf, Report, items
from gen.kind.value import OneOf, Text, Whole

KEY = Text("label key", grammar.label_key)
VALUE = Text("label value", grammar.label_value)
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


def _given(made: Made) -> dict[str, Any]:
    """What was written, as plain mappings and lists; what was left out stays out."""
    return {key: value for key, value in made.items() if value is not None}


def _toleration(made: Made, path: Path, report: Report) -> None:
    operator, effect = made["operator"], made["effect"]
    if operator == "Exists" and made["value"]:
        report(CONFLICT, (*path, "value"), "operator Exists takes no value.", "Remove value.", at_key=True)
    if operator in (None, "Equal") and made["key"] is None:
        message = "a toleration without key needs operator: Exists."
        report(CONFLICT, path, message, "Write operator: Exists, or add a key.")
    if made["tolerationSeconds"] is not None and effect not in ("NoExecute", INVALID):
        fix = "Add effect: NoExecute, or remove tolerationSeconds."
        at = (*path, "tolerationSeconds")
        report(CONFLICT, at, "only effect NoExecute takes seconds.", fix, at_key=True)


TOLERATION = Fields(
    {
        "key": Field(KEY, None),
        "operator": Field(OneOf(("Exists", "Equal")), None),
        "value": Field(VALUE, None),
        "effect": Field(OneOf(("NoSchedule", "PreferNoSchedule", "NoExecute")), None),
        "tolerationSeconds": Field(Whole(-(2**31), 2**31), None),
    },
    _given,
    agree=_toleration,
)


def _requirement(made: Made, path: Path, report: Report) -> None:
    operator, values = made["operator"], made["values"]
    if operator in ("In", "NotIn") and values in (None, ()):
        report(MISSING, path, f"operator {operator} needs values.", "Add values: a list.")
    elif operator in ("Exists", "DoesNotExist") and values:
        message = f"operator {operator} takes no values."
        report(CONFLICT, (*path, "values"), message, "Remove values.", at_key=True)
    elif operator in ("Gt", "Lt"):
        texts: Any = () if values is None else values
        if texts is not INVALID and (len(texts) != 1 or not _is_number(texts[0])):
            fix = 'Write one, for instance values: ["8"].'
            report(CONFLICT, path, f"operator {operator} needs one whole number.", fix)


def _is_number(text: Any) -> bool:
    return text is INVALID or text.isdecimal()


def _requirements(operators: tuple[str, ...]) -> Fields:
    return Fields(
        {
            "key": Field(KEY),
            "operator": Field(OneOf(operators)),
            "values": Field(ListOf(VALUE), None),
        },
        _given,
        agree=_requirement,
    )


NODE_REQUIREMENT = _requirements(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
LABEL_REQUIREMENT = _requirements(("In", "NotIn", "Exists", "DoesNotExist"))


def _selector(made: Made) -> dict[str, Any]:
    labels = made["matchLabels"]
    return _given({**made, "matchLabels": None if labels is None else dict(labels)})


SELECTOR = Fields(
    {
        "matchLabels": Field(LABELS, None),
        "matchExpressions": Field(ListOf(LABEL_REQUIREMENT), None),
    },
    _selector,
)


def _field_requirement(made: Made, path: Path, report: Report) -> None:
    if made["values"] is not INVALID and len(made["values"]) != 1:
        report(CONFLICT, (*path, "values"), "a field is matched by one value.", "Write one node name.")


FIELD_REQUIREMENT = Fields(
    {
        "key": Field(OneOf(("metadata.name",))),
        "operator": Field(OneOf(("In", "NotIn"))),
        "values": Field(ListOf(Text("node name", grammar.dns_name))),
    },
    agree=_field_requirement,
)
NODE_TERM = Fields(
    {
        "matchExpressions": Field(ListOf(NODE_REQUIREMENT), None),
        "matchFields": Field(ListOf(FIELD_REQUIREMENT), None),
    },
    _given,
)

WEIGHT = Whole(1, 100)
NODE_AFFINITY = Fields(
    {
        REQUIRED: Field(Fields({"nodeSelectorTerms": Field(ListOf(NODE_TERM, 1))}), None),
        PREFERRED: Field(ListOf(Fields({"weight": Field(WEIGHT), "preference": Field(NODE_TERM)})), None),
    },
    _given,
)

KEYS = ListOf(KEY)


def _label_keys(made: Made, path: Path, report: Report) -> None:
    """The API server adds `matchLabelKeys` to the selector, so it wants one, and each key in one place."""
    matching, other = items(made["matchLabelKeys"]), items(made.get("mismatchLabelKeys"))
    if (matching or other) and made["labelSelector"] is None:
        name = "matchLabelKeys" if matching else "mismatchLabelKeys"
        report(MISSING, path, f"{name} needs a labelSelector.", "Add labelSelector.")
    selector = made["labelSelector"] if isinstance(made["labelSelector"], dict) else {}
    taken = [*selector.get("matchLabels", ()), *(one["key"] for one in selector.get("matchExpressions", ()))]
    for i, key in enumerate(matching):
        if key in taken or key in other or key in matching[:i]:
            message = f"{key} stands in another place of this term too."
            report(CONFLICT, (*path, "matchLabelKeys", i), message, "Name each key once.")


POD_TERM = Fields(
    {
        "labelSelector": Field(SELECTOR, None),
        "topologyKey": Field(KEY),
        "namespaces": Field(ListOf(Text("DNS label", grammar.dns_label)), None),
        "namespaceSelector": Field(SELECTOR, None),
        "matchLabelKeys": Field(KEYS, None),
        "mismatchLabelKeys": Field(KEYS, None),
    },
    _given,
    agree=_label_keys,
)
POD_AFFINITY = Fields(
    {
        REQUIRED: Field(ListOf(POD_TERM), None),
        PREFERRED: Field(ListOf(Fields({"weight": Field(WEIGHT), "podAffinityTerm": Field(POD_TERM)})), None),
    },
    _given,
)
AFFINITY = Fields(
    {
        "nodeAffinity": Field(NODE_AFFINITY, None),
        "podAffinity": Field(POD_AFFINITY, None),
        "podAntiAffinity": Field(POD_AFFINITY, None),
    },
    _given,
)

POLICY = OneOf(("Honor", "Ignore"))


def _spread(made: Made, path: Path, report: Report) -> None:
    if made["minDomains"] is not None and made["whenUnsatisfiable"] == "ScheduleAnyway":
        fix = "Write whenUnsatisfiable: DoNotSchedule, or remove minDomains."
        report(CONFLICT, (*path, "minDomains"), "minDomains needs DoNotSchedule.", fix, at_key=True)
    _label_keys(made, path, report)


SPREAD = Fields(
    {
        "maxSkew": Field(Whole(1, 2**31 - 1)),
        "topologyKey": Field(KEY),
        "whenUnsatisfiable": Field(OneOf(("DoNotSchedule", "ScheduleAnyway"))),
        "labelSelector": Field(SELECTOR, None),
        "minDomains": Field(Whole(1, 2**31 - 1), None),
        "nodeAffinityPolicy": Field(POLICY, None),
        "nodeTaintsPolicy": Field(POLICY, None),
        "matchLabelKeys": Field(KEYS, None),
    },
    _given,
    agree=_spread,
)


class _Spreads(ListOf):
    """The API server refuses the same topology key with the same answer twice."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        checked = ListOf.check(self, value, path, report)
        pairs = []
        for i, one in enumerate(checked if isinstance(checked, tuple) else ()):
            pair = None if one is INVALID else (one["topologyKey"], one["whenUnsatisfiable"])
            if pair is not None and pair in pairs:
                message = f"{pair[0]} with {pair[1]} stands twice."
                report(CONFLICT, (*path, i), message, "Remove one of the two.")
            pairs.append(pair)
        return checked


PLACEMENT = {
    "nodeSelector": Field(
        MapOf(grammar.label_key, VALUE), None, "as in a pod: nodes that carry all of these labels", "none"
    ),
    "tolerations": Field(ListOf(TOLERATION), None, "as in a pod", "none"),
    "affinity": Field(AFFINITY, None, "as in a pod", "none"),
    "topologySpreadConstraints": Field(_Spreads(SPREAD), None, "as in a pod", "none"),
    "schedulerName": Field(
        Text("DNS name", grammar.dns_name), None, "as in a pod", "the cluster's default scheduler"
    ),
}


def placement(made: Made) -> dict[str, Any]:
    """The placement fields of `made` as a mapping for a pod spec; what says nothing is left out."""
    pod = {name: made[name] for name in PLACEMENT if made.get(name)}
    if "nodeSelector" in pod:
        pod["nodeSelector"] = dict(pod["nodeSelector"])
    return pod

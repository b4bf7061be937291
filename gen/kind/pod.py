"""The parts of a pod spec that a class or the site may set, as the Kubernetes API has them.

They are checked so that the API server accepts what we render, and passed on as they are.
"""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.metadata import LABELS
from gen.kind.shape import (
    CONFLICT,
    INVALID,
    Anything,
    Field,
    Fields,
    ListOf,
    MapOf,
    OneOf,
    Report,
    Text,
    Whole,
)

KEY = Text("label key", grammar.label_key)
VALUE = Text("label value", grammar.label_value)


def _only_given(made: dict[str, Any], path: Path, report: Report) -> Any:
    """Pass on what was written, as plain mappings and lists; what was left out stays out."""
    del path, report
    return {key: value for key, value in made.items() if value is not None}


def _toleration(made: dict[str, Any], path: Path, report: Report) -> Any:
    exists = made["operator"] == "Exists"
    if exists and made["value"]:
        return report(
            CONFLICT, (*path, "value"), "operator Exists takes no value.", "Remove value.", at_key=True
        )
    if not exists and not made["key"]:
        return report(CONFLICT, path, "a toleration without key needs operator: Exists.", "Add it, or a key.")
    if made["tolerationSeconds"] is not None and made["effect"] != "NoExecute":
        fix = "Add effect: NoExecute, or remove tolerationSeconds."
        return report(CONFLICT, (*path, "tolerationSeconds"), "only effect NoExecute takes seconds.", fix)
    return _only_given(made, path, report)


TOLERATION = Fields(
    {
        "key": Field(KEY, None),
        "operator": Field(OneOf(("Exists", "Equal")), None),
        "value": Field(VALUE, None),
        "effect": Field(OneOf(("NoSchedule", "PreferNoSchedule", "NoExecute")), None),
        "tolerationSeconds": Field(Whole(-(2**31), 2**31), None),
    },
    _toleration,
)


def _requirement(made: dict[str, Any], path: Path, report: Report) -> Any:
    wants = made["operator"] in ("In", "NotIn")
    one = made["operator"] in ("Gt", "Lt")
    values: tuple[str, ...] = made["values"] or ()
    if wants and not values:
        return report(CONFLICT, path, f"operator {made['operator']} needs values.", "Add values: a list.")
    if one and (len(values) != 1 or not values[0].lstrip("-").isdigit()):
        fix = 'Write one, for instance values: ["8"].'
        return report(CONFLICT, path, f"operator {made['operator']} needs one whole number.", fix)
    if not wants and not one and values:
        fix = "Remove values."
        return report(CONFLICT, (*path, "values"), f"operator {made['operator']} takes no values.", fix)
    return _only_given(made, path, report)


def _requirements(operators: tuple[str, ...]) -> Fields:
    return Fields(
        {
            "key": Field(KEY),
            "operator": Field(OneOf(operators)),
            "values": Field(ListOf(VALUE), None),
        },
        _requirement,
    )


NODE_REQUIREMENT = _requirements(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
LABEL_REQUIREMENT = _requirements(("In", "NotIn", "Exists", "DoesNotExist"))


def _as_mapping(made: dict[str, Any], path: Path, report: Report) -> Any:
    labels = made.get("matchLabels")
    if labels is not None:
        made["matchLabels"] = dict(labels)
    return _only_given(made, path, report)


SELECTOR = Fields(
    {
        "matchLabels": Field(LABELS, None),
        "matchExpressions": Field(ListOf(LABEL_REQUIREMENT), None),
    },
    _as_mapping,
)


def _field_requirement(made: dict[str, Any], path: Path, report: Report) -> Any:
    if len(made["values"]) != 1:
        return report(CONFLICT, (*path, "values"), "a field is matched by one value.", "Write one node name.")
    return made


NODE_TERM = Fields(
    {
        "matchExpressions": Field(ListOf(NODE_REQUIREMENT), None),
        "matchFields": Field(
            ListOf(
                Fields(
                    {
                        "key": Field(OneOf(("metadata.name",))),
                        "operator": Field(OneOf(("In", "NotIn"))),
                        "values": Field(ListOf(Text("node name", grammar.dns_name))),
                    },
                    _field_requirement,
                )
            ),
            None,
        ),
    },
    _only_given,
)

WEIGHT = Whole(1, 100)
NODE_AFFINITY = Fields(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": Field(
            Fields({"nodeSelectorTerms": Field(ListOf(NODE_TERM, 1))}), None
        ),
        "preferredDuringSchedulingIgnoredDuringExecution": Field(
            ListOf(Fields({"weight": Field(WEIGHT), "preference": Field(NODE_TERM)})), None
        ),
    },
    _only_given,
)

KEYS = ListOf(KEY)


def _label_keys(made: dict[str, Any], path: Path, report: Report) -> Any:
    """The API server joins these keys with the selector, so it wants one, and no key in both lists."""
    keys = [key for field in ("matchLabelKeys", "mismatchLabelKeys") for key in made.get(field) or ()]
    if keys and made["labelSelector"] is None:
        return report(CONFLICT, path, "matchLabelKeys needs a labelSelector.", "Add labelSelector.")
    selector = made["labelSelector"] or {}
    taken = {*selector.get("matchLabels", {}), *(e["key"] for e in selector.get("matchExpressions", ()))}
    if len(set(keys)) < len(keys) or taken & set(keys):
        return report(CONFLICT, path, "a label key stands twice.", "Name each key once.")
    return _only_given(made, path, report)


POD_TERM = Fields(
    {
        "labelSelector": Field(SELECTOR, None),
        "topologyKey": Field(KEY),
        "namespaces": Field(ListOf(Text("DNS label", grammar.dns_label)), None),
        "namespaceSelector": Field(SELECTOR, None),
        "matchLabelKeys": Field(KEYS, None),
        "mismatchLabelKeys": Field(KEYS, None),
    },
    _label_keys,
)
POD_AFFINITY = Fields(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": Field(ListOf(POD_TERM), None),
        "preferredDuringSchedulingIgnoredDuringExecution": Field(
            ListOf(Fields({"weight": Field(WEIGHT), "podAffinityTerm": Field(POD_TERM)})), None
        ),
    },
    _only_given,
)
AFFINITY = Fields(
    {
        "nodeAffinity": Field(NODE_AFFINITY, None),
        "podAffinity": Field(POD_AFFINITY, None),
        "podAntiAffinity": Field(POD_AFFINITY, None),
    },
    _only_given,
)

POLICY = OneOf(("Honor", "Ignore"))


def _spread(made: dict[str, Any], path: Path, report: Report) -> Any:
    if made["minDomains"] is not None and made["whenUnsatisfiable"] != "DoNotSchedule":
        fix = "Write whenUnsatisfiable: DoNotSchedule, or remove minDomains."
        return report(CONFLICT, (*path, "minDomains"), "minDomains needs DoNotSchedule.", fix)
    return _label_keys(made, path, report)


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
    _spread,
)


def _spreads(made: dict[str, Any], path: Path, report: Report) -> Any:
    """The API server refuses the same topology key with the same answer twice."""
    seen = set()
    for i, constraint in enumerate(made.get("topologySpreadConstraints") or ()):
        pair = (constraint["topologyKey"], constraint["whenUnsatisfiable"])
        if pair in seen:
            at = (*path, "topologySpreadConstraints", i)
            return report(CONFLICT, at, f"{pair[0]} with {pair[1]} stands twice.", "Remove one of the two.")
        seen.add(pair)
    return made


PLACEMENT = {
    "nodeSelector": Field(
        MapOf(KEY, VALUE), None, "as in a pod: nodes that carry all of these labels", "none"
    ),
    "tolerations": Field(ListOf(TOLERATION), None, "as in a pod", "none"),
    "affinity": Field(AFFINITY, None, "as in a pod", "none"),
    "topologySpreadConstraints": Field(ListOf(SPREAD), None, "as in a pod", "none"),
    "schedulerName": Field(
        Text("DNS name", grammar.dns_name), None, "as in a pod", "the cluster's default scheduler"
    ),
}


def placement(made: dict[str, Any], path: Path, report: Report) -> Any:
    """The placement fields of `made` as a mapping for a pod spec; INVALID where they contradict."""
    if _spreads(made, path, report) is INVALID:
        return INVALID
    pod = {name: made[name] for name in PLACEMENT if made.get(name)}
    if "nodeSelector" in pod:
        pod["nodeSelector"] = dict(pod["nodeSelector"])
    return pod


class Amount(Anything):
    """A quantity; a plain number is one too, as in Kubernetes."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is int:
            value = str(value)
        elif type(value) is float and abs(value) < 2**53:
            value = f"{value:.9f}".rstrip("0").rstrip(".")
        return Text("quantity", grammar.quantity).check(value, path, report)


AMOUNT = Amount("quantity")
RESOURCES = MapOf(Text("resource", grammar.resource_name), AMOUNT)

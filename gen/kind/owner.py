"""`backend.owners`: whose pods may take a slot. What is empty means any to Koordinator, so not all may be."""

import re
from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.pod import SELECTOR
from gen.kind.shape import INVALID, Field, Fields, Made, Refusal, Report, shown
from gen.kind.value import Flag, Text
from gen.model import Owner

EVERYBODY, NEARLY_EVERYBODY, NOBODY = "B102", "B103", "B104"
_UID = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_.]{0,127}", re.ASCII)
_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}", re.ASCII)
_API = re.compile(r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?v[0-9][a-z0-9]{0,30}", re.ASCII)
# What makes pods, by what people name instead: it owns the maker of the pods, not the pods.
_MAKERS = {"Deployment": "ReplicaSet", "CronJob": "Job", "AmaltheaSession": "StatefulSet"}


def _matched(pattern: re.Pattern[str], what: str, example: str) -> Any:
    """A grammar that takes the empty text too, which means any."""

    def check(text: str) -> str:
        if text == "" or pattern.fullmatch(text):
            return text
        raise Refusal(f"{shown(text)} is not {what}.", f"Write one such as {example}.", grammar.NAME)

    return check


def _or_empty(rule: Any) -> Any:
    return lambda text: text if text == "" else rule(text)


_UIDS = Text("UID", _matched(_UID, "a UID", "9a3c1f6e-2c1d-4e2b-8f4a-0d5f4c6b7a81"))
_NAMES = Text("DNS name", _or_empty(grammar.dns_name))
_NAMESPACES = Text("DNS label", _or_empty(grammar.dns_label))


class _Object(Fields):
    """With advice of its own for a key that Kubernetes has there and that would do harm."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is dict and "apiVersion" in value:
            if value["apiVersion"] is not None:
                message = "with an apiVersion, Koordinator finds no pod at all."
                report(NOBODY, (*path, "apiVersion"), message, "Remove it.", at_key=True)
            value = {name: inner for name, inner in value.items() if name != "apiVersion"}
        return super().check(value, path, report)


def _of_pods(made: Made, path: Path, report: Report) -> None:
    kind = made["kind"]
    if kind not in (None, INVALID, "", "Pod"):
        message = f"an object is a pod: Koordinator would look for a pod of this name, not for a {kind}."
        report(NOBODY, (*path, "kind"), message, "Write controller for what owns pods.")


OBJECT = _Object(
    {
        "namespace": Field(_NAMESPACES, None, "of the pod", "any"),
        "name": Field(_NAMES, None, "of the pod", "any"),
        "uid": Field(_UIDS, None, "of the pod", "any"),
        "kind": Field(
            Text("kind", _matched(_KIND, "a kind", "Pod")),
            None,
            "Pod, if anything: it is not looked at",
            "none",
        ),
    },
    agree=_of_pods,
)


def _owns_pods(made: Made, path: Path, report: Report) -> None:
    kind, api = made["kind"], made["apiVersion"]
    maker = _MAKERS.get(kind) if type(kind) is str else None
    group = api.rpartition("/")[0] if type(api) is str else ""
    if maker is not None and ("." not in group or group == "amalthea.dev"):  # Kubernetes' own, or Renku's
        message = f"kind {kind} owns no pods itself: its {maker} does."
        fix = f"Write kind: {maker}, or labelSelector with labels of the pods."
        report(NOBODY, (*path, "kind"), message, fix)


CONTROLLER = Fields(
    {
        "apiVersion": Field(
            Text("API version", _matched(_API, "an API version", "apps/v1")),
            None,
            "of what owns the pod",
            "any",
        ),
        "kind": Field(
            Text("kind", _matched(_KIND, "a kind", "StatefulSet")), None, "of what owns the pod", "any"
        ),
        "name": Field(_NAMES, None, "of what owns the pod", "any"),
        "uid": Field(_UIDS, None, "of what owns the pod", "any"),
        "namespace": Field(_NAMESPACES, None, "of the pod", "any"),
        "controller": Field(Flag(), None, "whether it is the pod's controller", "either"),
        "blockOwnerDeletion": Field(Flag(), None, "not looked at", "none"),
    },
    agree=_owns_pods,
)


def _owner(made: Made, path: Path, report: Report) -> None:
    if INVALID in (made["object"], made["controller"], made["labelSelector"]):
        return
    one, by, selector = made["object"] or {}, made["controller"] or {}, made["labelSelector"] or {}
    named = [by.get(key) for key in ("name", "uid", "namespace")]
    named += [one.get(key) for key in ("name", "uid", "namespace")]
    chosen = bool(selector.get("matchLabels"))
    excluded = False
    for each in selector.get("matchExpressions", ()):
        positive = each is not INVALID and each["operator"] in ("In", "Exists")
        chosen, excluded = chosen or positive, excluded or not positive
    kinds = [value for value in (by.get("apiVersion"), by.get("kind")) if value]
    places = {one.get("namespace"), by.get("namespace")} - {None, "", INVALID}
    if len(places) > 1:
        message = "object and controller name two namespaces: no pod is in both."
        report(NOBODY, (*path, "controller", "namespace"), message, "Write the same, or one of the two.")
    if any(named) or chosen:
        return
    if excluded or kinds:
        said = "what pods are not" if excluded else "only the kind of what owns them"
        message = f"it says {said}: nearly every pod of the cluster may take a seat."
        report(NEARLY_EVERYBODY, path, message, "Add labels, or a namespace.")
    else:
        message = "it leaves everything open: every pod of the cluster may take a seat."
        report(EVERYBODY, path, message, "Write labelSelector with labels, a namespace or a name.")


def _made(made: Made) -> Owner:
    by = made["controller"]
    controller: dict[str, Any] = {}
    if by is not None:
        controller = {key: by[key] or "" for key in ("apiVersion", "kind", "name", "uid")}
        controller |= {key: by[key] for key in ("controller", "blockOwnerDeletion") if by[key] is not None}
        controller |= {"namespace": by["namespace"]} if by["namespace"] else {}
    said = made["object"] or {}
    pairs = tuple((key, said[key]) for key in ("kind", "namespace", "name", "uid") if said.get(key))
    return Owner(pairs, controller, made["labelSelector"] or {})


OWNER = Fields(
    {
        "object": Field(OBJECT, None, "a pod, or all of a namespace", "any"),
        "controller": Field(CONTROLLER, None, "what owns the pod: a StatefulSet, a Job", "any"),
        "labelSelector": Field(SELECTOR, None, "labels of the pod, as in a pod's affinity", "any"),
    },
    _made,
    agree=_owner,
)

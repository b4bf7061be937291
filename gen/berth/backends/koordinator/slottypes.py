"""The types of Koordinator's Reservation in Go, as far as it matters to scheduling.

The API server stores more than Go's types take where a schema is loose. The scheduler decodes a list as a
whole or not at all, so one such object, of any team, stops it for everybody. Null is the zero value of any
type, and unknown fields are ignored.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from berth import durations, quantity
from berth.findings import Path

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)", re.ASCII)
_SHOWN = 40  # characters

_Type = str | list[Any] | dict[str, Any]
"""A scalar by the words of its message; `[type]` is a list; `{field: type}` a struct, `{"*": type}` a map."""


class Misfit(NamedTuple):
    """A value that Go's type does not take, or a field that it does not have."""

    path: Path  # below spec
    value: Any
    words: str  # what the type takes; empty: there is no such field
    fields: tuple[str, ...] = ()  # that there are instead


def why_unread(tree: Mapping[str, Any]) -> str:
    """Return what the scheduler cannot decode, with its path in the spec; empty if it can decode all."""
    unread = (misfit for misfit in misfits(tree.get("spec")) if misfit.words)
    return next((f"{_dotted(one.path)} {_short(one.value)} is not {one.words}" for one in unread), "")


def misfits(spec: Any) -> Iterator[Misfit]:
    """Yield what of the spec of a Reservation does not fit its type in Go."""
    return _misfits(spec, _SPEC, ())


def _misfits(value: Any, type_: _Type, path: Path) -> Iterator[Misfit]:
    if value is None:
        return
    words, is_of = _KINDS[type(type_)] if not isinstance(type_, str) else (type_, _IS_OF[type_])
    if not is_of(value):
        yield Misfit(path, value, words)
    elif isinstance(type_, list):
        for number, item in enumerate(value):
            yield from _misfits(item, type_[0], (*path, number))
    elif isinstance(type_, dict):
        for key, item in value.items():
            if key in type_ or "*" in type_:
                yield from _misfits(item, type_.get("*") or type_[key], (*path, key))
            else:
                yield Misfit((*path, key), item, "", tuple(type_))


def _dotted(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _is_duration(value: object) -> bool:
    try:
        return isinstance(value, str) and durations.nanoseconds(value) is not None
    except ValueError:
        return False


def _is_instant(value: object) -> bool:
    if not (isinstance(value, str) and _RFC_3339.fullmatch(value)):
        return False
    try:
        datetime.fromisoformat(f"{value[:19]}+00:00")
    except ValueError:
        return False
    return value[11:13] < "24"


def _is_quantity(value: object) -> bool:
    is_some = isinstance(value, str | int | float) and not isinstance(value, bool)
    return is_some and quantity.parse(str(value)) is not None


_TEXT, _BOOL, _INT32, _INT64 = "text", "true or false", "a whole number of 32 bits", "a whole number"
_DURATION, _INSTANT, _QUANTITY = "a duration", "an instant", "a quantity"
_IS_OF: dict[str, Callable[[Any], bool]] = {
    _TEXT: lambda value: isinstance(value, str),
    _BOOL: lambda value: isinstance(value, bool),
    _INT64: lambda value: type(value) is int and -(2**63) <= value < 2**63,
    _INT32: lambda value: type(value) is int and -(2**31) <= value < 2**31,
    _DURATION: _is_duration,
    _INSTANT: _is_instant,
    _QUANTITY: _is_quantity,
}

_KINDS: dict[type, tuple[str, Callable[[Any], bool]]] = {
    list: ("a list", lambda value: isinstance(value, list)),
    dict: ("a mapping", lambda value: isinstance(value, Mapping)),
}


def _texts(names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), _TEXT)


_LABELS = {"*": _TEXT}
_AMOUNTS = {"*": _QUANTITY}
_RESOURCES = {"requests": _AMOUNTS, "limits": _AMOUNTS, "claims": [_texts("name request")]}
_REQUIREMENTS = [{**_texts("key operator"), "values": [_TEXT]}]
_SELECTOR = {"matchLabels": _LABELS, "matchExpressions": _REQUIREMENTS}
_NODE_TERM = {"matchExpressions": _REQUIREMENTS, "matchFields": _REQUIREMENTS}
_POD_TERM = {
    "topologyKey": _TEXT,
    **dict.fromkeys(("labelSelector", "namespaceSelector"), _SELECTOR),
    **{key: [_TEXT] for key in ("namespaces", "matchLabelKeys", "mismatchLabelKeys")},
}
_REQUIRED, _PREFERRED = (
    f"{strength}DuringSchedulingIgnoredDuringExecution" for strength in ("required", "preferred")
)
_POD_TERMS = {_REQUIRED: [_POD_TERM], _PREFERRED: [{"weight": _INT32, "podAffinityTerm": _POD_TERM}]}
_NODE_TERMS = {
    _REQUIRED: {"nodeSelectorTerms": [_NODE_TERM]},
    _PREFERRED: [{"weight": _INT32, "preference": _NODE_TERM}],
}
_CONTAINER = {
    **_texts("name image restartPolicy"),
    "command": [_TEXT],
    "args": [_TEXT],
    "env": [_texts("name value")],
    "resources": _RESOURCES,
    "ports": [{**_texts("hostIP protocol name"), "hostPort": _INT32, "containerPort": _INT32}],
}
_SPREAD = {
    **_texts("topologyKey whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy"),
    **dict.fromkeys(("maxSkew", "minDomains"), _INT32),
    "labelSelector": _SELECTOR,
    "matchLabelKeys": [_TEXT],
}
_POD = {
    **_texts("nodeName schedulerName priorityClassName preemptionPolicy runtimeClassName"),
    **dict.fromkeys(("hostNetwork", "enableServiceLinks", "automountServiceAccountToken"), _BOOL),
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    "nodeSelector": _LABELS,
    "priority": _INT32,
    "overhead": _AMOUNTS,
    "tolerations": [{**_texts("key operator value effect"), "tolerationSeconds": _INT64}],
    "affinity": {"nodeAffinity": _NODE_TERMS, "podAffinity": _POD_TERMS, "podAntiAffinity": _POD_TERMS},
    "topologySpreadConstraints": [_SPREAD],
    "terminationGracePeriodSeconds": _INT64,
    "volumes": [{"name": _TEXT, "persistentVolumeClaim": {"claimName": _TEXT, "readOnly": _BOOL}}],
    "resources": _RESOURCES,
    "resourceClaims": [_texts("name resourceClaimName resourceClaimTemplateName")],
}
_SPEC = {
    "ttl": _DURATION,
    "expires": _INSTANT,
    "template": {
        "metadata": {
            **_texts("name namespace"),
            "labels": _LABELS,
            "annotations": _LABELS,
            "finalizers": [_TEXT],
        },
        "spec": _POD,
    },
    "owners": [
        {
            "object": _texts("kind namespace name uid apiVersion resourceVersion fieldPath"),
            "controller": {
                **_texts("apiVersion kind name uid namespace"),
                **dict.fromkeys(("controller", "blockOwnerDeletion"), _BOOL),
            },
            "labelSelector": _SELECTOR,
        }
    ],
    **dict.fromkeys(("allocateOnce", "preAllocation", "unschedulable"), _BOOL),
    "allocatePolicy": _TEXT,
    "preAllocationPolicy": {"mode": _TEXT, "enableMultiple": _BOOL},
    "taints": [{**_texts("key value effect"), "timeAdded": _INSTANT}],
}

"""What Go's types refuse: one such Reservation, and the scheduler sees no Reservation at all any more.

The API server stores all of these. An unknown field is no trouble; a wrong type, duration or quantity is.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from gen import quantity

Check = Callable[[Any], str]
"""Why a value does not decode; empty where it does."""

_DURATION = re.compile(r"[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)")
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_MICRO, _SECOND = 10**3, 10**9
_UNITS = {  # in nanoseconds
    "ns": 1,
    "us": _MICRO,
    "µs": _MICRO,
    "μs": _MICRO,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_LONGEST = 2**63 - 1
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def duration(text: str) -> float:
    """Seconds of a Go duration. Raises ValueError for what time.ParseDuration refuses: days, a bare number,
    nothing at all.
    """
    if not _DURATION.fullmatch(text):
        raise ValueError(f"time: invalid duration {text!r}")
    told = sum(int(Decimal(number) * _UNITS[unit]) for number, unit in _PART.findall(text))
    if told > _LONGEST:
        raise ValueError(f"time: invalid duration {text!r}")
    return (-told if text.startswith("-") else told) / _SECOND


def _is_duration(value: Any) -> str:
    if not isinstance(value, str):
        return "is no string"
    try:
        duration(value)
    except ValueError as error:
        return str(error)
    return ""


def _is_time(value: Any) -> str:
    try:
        if _TIME.fullmatch(value) and datetime.fromisoformat(value) and value[11:13] < "24":
            return ""
    except (TypeError, ValueError):
        pass
    return f"{value!r} is no time"


def _is_quantity(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return f"{value!r} is no quantity"
    return "" if quantity.parse(str(value)) is not None else f"{value!r} is no quantity"


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else f"{value!r} is no string"


def _bool(value: Any) -> str:
    return "" if isinstance(value, bool) else f"{value!r} is no bool"


def _whole(value: Any) -> str:
    is_whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    return "" if is_whole else f"{value!r} is no integer"


def _int32(value: Any) -> str:
    return _whole(value) or ("" if -(2**31) <= value < 2**31 else f"{value} does not fit into int32")


def _list_of(check: Check) -> Check:
    def every(value: Any) -> str:
        if not isinstance(value, list):
            return f"{value!r} is no list"
        return next((trouble for one in value if (trouble := _nullable(check)(one))), "")

    return every


def _map_of(check: Check) -> Check:
    def every(value: Any) -> str:
        if not isinstance(value, Mapping):
            return f"{value!r} is no object"
        told = ((key, _nullable(check)(one)) for key, one in value.items())
        return next((f"{key}: {trouble}" for key, trouble in told if trouble), "")

    return every


def _struct(**fields: Check) -> Check:
    """Fields that are not listed may be anything."""

    def every(value: Any) -> str:
        if not isinstance(value, Mapping):
            return f"{value!r} is no object"
        told = ((key, fields[key], value[key]) for key in value if key in fields)
        return next(
            (f"{key}: {trouble}" for key, check, one in told if (trouble := _nullable(check)(one))), ""
        )

    return every


def _nullable(check: Check) -> Check:
    return lambda value: "" if value is None else check(value)


def _resources(value: Any) -> str:
    return _struct(requests=_map_of(_is_quantity), limits=_map_of(_is_quantity))(value)


_LABELS = _map_of(_text)
_REQUIREMENTS = _list_of(_struct(key=_text, operator=_text, values=_list_of(_text)))
_SELECTOR = _struct(matchLabels=_LABELS, matchExpressions=_REQUIREMENTS)
_TERM = _struct(matchExpressions=_REQUIREMENTS, matchFields=_REQUIREMENTS)
_TAINTS = _list_of(_struct(key=_text, value=_text, effect=_text, timeAdded=_is_time))
_TOLERATIONS = _list_of(
    _struct(key=_text, operator=_text, value=_text, effect=_text, tolerationSeconds=_whole)
)
_META = _struct(name=_text, namespace=_text, labels=_LABELS, annotations=_LABELS, finalizers=_list_of(_text))
_PORT = _struct(hostPort=_int32, containerPort=_int32, hostIP=_text, protocol=_text, name=_text)
_CONTAINER = _struct(
    name=_text,
    image=_text,
    command=_list_of(_text),
    args=_list_of(_text),
    resources=_resources,
    ports=_list_of(_PORT),
    restartPolicy=_text,
)
_NODE_AFFINITY = _struct(
    requiredDuringSchedulingIgnoredDuringExecution=_struct(nodeSelectorTerms=_list_of(_TERM)),
    preferredDuringSchedulingIgnoredDuringExecution=_list_of(_struct(weight=_int32, preference=_TERM)),
)
_POD_TERM = _struct(topologyKey=_text, labelSelector=_SELECTOR, namespaces=_list_of(_text))
_POD_TERMS = _struct(
    requiredDuringSchedulingIgnoredDuringExecution=_list_of(_POD_TERM),
    preferredDuringSchedulingIgnoredDuringExecution=_list_of(
        _struct(weight=_int32, podAffinityTerm=_POD_TERM)
    ),
)
_POD = _struct(
    containers=_list_of(_CONTAINER),
    initContainers=_list_of(_CONTAINER),
    nodeName=_text,
    nodeSelector=_LABELS,
    schedulerName=_text,
    priority=_int32,
    priorityClassName=_text,
    overhead=_map_of(_is_quantity),
    tolerations=_TOLERATIONS,
    affinity=_struct(nodeAffinity=_NODE_AFFINITY, podAffinity=_POD_TERMS, podAntiAffinity=_POD_TERMS),
    topologySpreadConstraints=_list_of(
        _struct(maxSkew=_int32, topologyKey=_text, whenUnsatisfiable=_text, labelSelector=_SELECTOR)
    ),
    terminationGracePeriodSeconds=_whole,
    hostNetwork=_bool,
    enableServiceLinks=_bool,
    automountServiceAccountToken=_bool,
    volumes=_list_of(_struct(name=_text)),
    resources=_resources,
)
_OBJECT = _struct(kind=_text, namespace=_text, name=_text, uid=_text, apiVersion=_text)
_CONTROLLER = _struct(
    apiVersion=_text,
    kind=_text,
    name=_text,
    uid=_text,
    controller=_bool,
    blockOwnerDeletion=_bool,
    namespace=_text,
)
_RESERVATION = _struct(
    metadata=_META,
    spec=_struct(
        template=_struct(metadata=_META, spec=_POD),
        owners=_list_of(_struct(object=_OBJECT, controller=_CONTROLLER, labelSelector=_SELECTOR)),
        ttl=_is_duration,
        expires=_is_time,
        allocateOnce=_bool,
        allocatePolicy=_text,
        preAllocation=_bool,
        preAllocationPolicy=_struct(mode=_text, enableMultiple=_bool),
        unschedulable=_bool,
        taints=_TAINTS,
    ),
)


def poison(tree: Mapping[str, Any]) -> str:
    """Why this Reservation breaks every list that it is in; empty for a good one."""
    return _RESERVATION(tree)


def json_object(text: str) -> Mapping[str, Any]:
    """Of an annotation. Raises ValueError where it is none."""
    said = json.loads(text)
    if not isinstance(said, dict):
        raise ValueError(f"cannot unmarshal {text}")
    return said

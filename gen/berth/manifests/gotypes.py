"""Which Reservations Koordinator's scheduler cannot decode: the Go types of Kubernetes as checks.

The API server stores more than Go's types take where a schema is loose. The scheduler decodes a list as a
whole or not at all, so one such object, of any team, stops it for everybody. A check takes a value and its
path, and returns what is wrong with it, or nothing. Null is the zero value of any type; unknown fields are
ignored.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from berth import durations, quantity

Check = Callable[[Any, str], str]

_SECOND = 10**9
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)", re.ASCII)
_SHOWN = 40  # characters


def seconds(text: str) -> float:
    """Return the seconds of a Go duration.

    Raise ValueError for what time.ParseDuration refuses: days, a bare number, no text, more than 292 years.
    """
    return durations.nanoseconds(text) / _SECOND


def shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _plain(is_good: Callable[[Any], bool], what: str) -> Check:
    def check(value: Any, at: str) -> str:
        return "" if value is None or is_good(value) else f"{at} {shown(value)} is not {what}"

    return check


def _is_duration(value: object) -> bool:
    try:
        return isinstance(value, str) and seconds(value) is not None
    except ValueError:
        return False


def _is_instant(value: object) -> bool:
    if not (isinstance(value, str) and _INSTANT.fullmatch(value)):
        return False
    try:
        datetime.fromisoformat(f"{value[:19]}+00:00")
    except ValueError:
        return False
    return value[11:13] < "24"


def _is_quantity(value: object) -> bool:
    is_some = isinstance(value, str | int | float) and not isinstance(value, bool)
    return is_some and quantity.parse(str(value)) is not None


def _is_whole(bits: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


TEXT = _plain(lambda value: isinstance(value, str), "text")
TRUTH = _plain(lambda value: isinstance(value, bool), "true or false")
WHOLE = _plain(_is_whole(64), "a whole number")
INT32 = _plain(_is_whole(32), "a whole number of 32 bits")
DURATION = _plain(_is_duration, "a duration")
INSTANT = _plain(_is_instant, "an instant")
QUANTITY = _plain(_is_quantity, "a quantity")


def list_of(check: Check) -> Check:
    def every(value: Any, at: str) -> str:
        if value is not None and not isinstance(value, list):
            return f"{at} {shown(value)} is not a list"
        wrong = (check(one, f"{at}[{n}]") for n, one in enumerate(value or ()))
        return next(filter(None, wrong), "")

    return every


def map_of(check: Check) -> Check:
    def every(value: Any, at: str) -> str:
        if value is not None and not isinstance(value, Mapping):
            return f"{at} {shown(value)} is not a mapping"
        wrong = (check(one, f"{at}.{key}") for key, one in (value or {}).items())
        return next(filter(None, wrong), "")

    return every


def struct(**fields: Check) -> Check:
    def every(value: Any, at: str) -> str:
        if value is not None and not isinstance(value, Mapping):
            return f"{at} {shown(value)} is not a mapping"
        found = value or {}
        inside = f"{at}." if at else ""
        wrong = (check(found[key], f"{inside}{key}") for key, check in fields.items() if key in found)
        return next(filter(None, wrong), "")

    return every


# The spec of a Reservation

_TEXTS = map_of(TEXT)
_AMOUNTS = map_of(QUANTITY)
_RESOURCES = struct(requests=_AMOUNTS, limits=_AMOUNTS)
_REQUIREMENTS = list_of(struct(key=TEXT, operator=TEXT, values=list_of(TEXT)))
_SELECTOR = struct(matchLabels=_TEXTS, matchExpressions=_REQUIREMENTS)
_TERM = struct(matchExpressions=_REQUIREMENTS, matchFields=_REQUIREMENTS)
_TAINTS = list_of(struct(key=TEXT, value=TEXT, effect=TEXT, timeAdded=INSTANT))
_TOLERATIONS = list_of(struct(key=TEXT, operator=TEXT, value=TEXT, effect=TEXT, tolerationSeconds=WHOLE))
_METADATA = struct(name=TEXT, namespace=TEXT, labels=_TEXTS, annotations=_TEXTS, finalizers=list_of(TEXT))
_PORT = struct(hostPort=INT32, containerPort=INT32, hostIP=TEXT, protocol=TEXT, name=TEXT)
_CONTAINER = struct(
    name=TEXT,
    image=TEXT,
    command=list_of(TEXT),
    args=list_of(TEXT),
    env=list_of(struct(name=TEXT, value=TEXT)),
    resources=_RESOURCES,
    ports=list_of(_PORT),
    restartPolicy=TEXT,
)
_NODE_AFFINITY = struct(
    requiredDuringSchedulingIgnoredDuringExecution=struct(nodeSelectorTerms=list_of(_TERM)),
    preferredDuringSchedulingIgnoredDuringExecution=list_of(struct(weight=INT32, preference=_TERM)),
)
_POD_TERM = struct(
    topologyKey=TEXT,
    labelSelector=_SELECTOR,
    namespaces=list_of(TEXT),
    namespaceSelector=_SELECTOR,
    matchLabelKeys=list_of(TEXT),
    mismatchLabelKeys=list_of(TEXT),
)
_POD_TERMS = struct(
    requiredDuringSchedulingIgnoredDuringExecution=list_of(_POD_TERM),
    preferredDuringSchedulingIgnoredDuringExecution=list_of(struct(weight=INT32, podAffinityTerm=_POD_TERM)),
)
_SPREAD = struct(
    maxSkew=INT32,
    minDomains=INT32,
    topologyKey=TEXT,
    whenUnsatisfiable=TEXT,
    nodeAffinityPolicy=TEXT,
    nodeTaintsPolicy=TEXT,
    labelSelector=_SELECTOR,
    matchLabelKeys=list_of(TEXT),
)
_CLAIM = struct(claimName=TEXT, readOnly=TRUTH)
_POD = struct(
    containers=list_of(_CONTAINER),
    initContainers=list_of(_CONTAINER),
    nodeName=TEXT,
    nodeSelector=_TEXTS,
    schedulerName=TEXT,
    priority=INT32,
    priorityClassName=TEXT,
    preemptionPolicy=TEXT,
    runtimeClassName=TEXT,
    overhead=_AMOUNTS,
    tolerations=_TOLERATIONS,
    affinity=struct(nodeAffinity=_NODE_AFFINITY, podAffinity=_POD_TERMS, podAntiAffinity=_POD_TERMS),
    topologySpreadConstraints=list_of(_SPREAD),
    terminationGracePeriodSeconds=WHOLE,
    hostNetwork=TRUTH,
    enableServiceLinks=TRUTH,
    automountServiceAccountToken=TRUTH,
    volumes=list_of(struct(name=TEXT, persistentVolumeClaim=_CLAIM)),
    resources=_RESOURCES,
)
_OBJECT = struct(
    kind=TEXT, namespace=TEXT, name=TEXT, uid=TEXT, apiVersion=TEXT, resourceVersion=TEXT, fieldPath=TEXT
)
_CONTROLLER = struct(
    apiVersion=TEXT,
    kind=TEXT,
    name=TEXT,
    uid=TEXT,
    controller=TRUTH,
    blockOwnerDeletion=TRUTH,
    namespace=TEXT,
)
_SPEC = struct(
    ttl=DURATION,
    expires=INSTANT,
    template=struct(metadata=_METADATA, spec=_POD),
    owners=list_of(struct(object=_OBJECT, controller=_CONTROLLER, labelSelector=_SELECTOR)),
    allocateOnce=TRUTH,
    allocatePolicy=TEXT,
    preAllocation=TRUTH,
    preAllocationPolicy=struct(mode=TEXT, enableMultiple=TRUTH),
    unschedulable=TRUTH,
    taints=_TAINTS,
)


def why_unread(tree: Mapping[str, Any]) -> str:
    """Return what the scheduler cannot decode, with its path in the spec; empty if it can decode all."""
    return _SPEC(tree.get("spec"), "")

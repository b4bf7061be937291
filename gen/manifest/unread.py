"""Which Reservations could Koordinator's scheduler not read? Pure.

The API server stores more than Go's types take, and a list is read as a whole or not at all: one such object,
of whomever, stops the scheduler for everybody.
"""

from collections.abc import Mapping
from typing import Any

from gen.manifest.goshape import (
    DURATION,
    INSTANT,
    INT32,
    QUANTITY,
    TEXT,
    TRUTH,
    WHOLE,
    list_of,
    map_of,
    struct,
)

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
    """What of it no scheduler can read, with its path in the spec; empty where it can."""
    return _SPEC(tree.get("spec"), "")

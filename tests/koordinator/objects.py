"""How Koordinator reads Reservations and pods: keys, phases, and the pod that a Reservation is to it."""

import json
from functools import cache

from tests.koordinator.amounts import Tree

PREFIX = "scheduling.koordinator.sh/"
RESTRICTED_OPTIONS = f"{PREFIX}reservation-restricted-options"
ORDER = f"{PREFIX}reservation-order"
ALLOCATED = f"{PREFIX}reservation-allocated"
OPERATING_MODE = f"{PREFIX}operating-mode"
OPERATING_OWNERS = f"{PREFIX}reservation-owners"
HELD_BACK = "node.koordinator.sh/reservation"
PRIORITY = "koordinator.sh/priority"
REQUIRED = f"{PREFIX}pre-allocation-required"
MOST = 2**31 - 1

AVAILABLE, PENDING, SUCCEEDED, FAILED = "Available", "Pending", "Succeeded", "Failed"
ALIGNED, RESTRICTED, UNSET = "Aligned", "Restricted", ""
DEFAULT_SCHEDULER = "default-scheduler"


def metadata(tree: Tree) -> Tree:
    found: Tree = tree["metadata"]
    return found


def uid_of(tree: Tree) -> str:
    found: str = tree["metadata"]["uid"]
    return found


def labels_of(tree: Tree) -> dict[str, str]:
    return metadata(tree).get("labels") or {}


def annotations_of(tree: Tree) -> dict[str, str]:
    return metadata(tree).get("annotations") or {}


def spec_of(tree: Tree) -> Tree:
    return tree.get("spec") or {}


def status_of(tree: Tree) -> Tree:
    return tree.get("status") or {}


def phase_of(reservation: Tree) -> str:
    """An object without a status is Pending."""
    return status_of(reservation).get("phase") or PENDING


def node_of(reservation: Tree) -> str:
    return status_of(reservation).get("nodeName") or ""


def is_available(reservation: Tree) -> bool:
    return phase_of(reservation) == AVAILABLE and bool(node_of(reservation))


def owners_of(reservation: Tree) -> list[str]:
    """Names of the pods that its status names."""
    return [owner["name"] for owner in status_of(reservation).get("currentOwners") or []]


def scheduler_of(reservation: Tree) -> str:
    return template_of(reservation).get("schedulerName") or DEFAULT_SCHEDULER


def is_allocated_once(reservation: Tree) -> bool:
    return spec_of(reservation).get("allocateOnce") is not False


def invalid(reservation: Tree) -> str:
    """Why it is never queued; nobody is told."""
    spec = spec_of(reservation)
    if spec.get("template") is None:
        return "the reservation misses the template spec"
    if not spec.get("owners"):
        return "the reservation misses the owner spec"
    if spec.get("ttl") is None and spec.get("expires") is None:
        return "the reservation misses the expiration spec"
    return ""


def template_of(reservation: Tree) -> Tree:
    return (spec_of(reservation).get("template") or {}).get("spec") or {}


def allocated_to(pod: Tree) -> str:
    """The uid of the Reservation that the pod's annotation names."""
    return _uid_in(annotations_of(pod).get(ALLOCATED) or "{}")


@cache
def _uid_in(allocated: str) -> str:
    try:
        said = json.loads(allocated)
    except ValueError:
        return ""
    return str(said.get("uid", "")) if isinstance(said, dict) else ""


def reserve_pod(reservation: Tree) -> Tree:
    """The pod that exists in the scheduler only. The Reservation's own labels and annotations win over those
    of its template.
    """
    template = spec_of(reservation).get("template") or {}
    meta = template.get("metadata") or {}
    spec = dict(template.get("spec") or {})
    wanted = spec.pop("nodeName", None)
    if is_available(reservation):
        spec = {key: value for key, value in spec.items() if key not in ("overhead", "resources")}
        held = status_of(reservation).get("allocatable") or {}
        spec["containers"] = [
            {**one, "resources": {"requests": held} if not place else {}}
            for place, one in enumerate(spec.get("containers") or [{}])
        ]
        spec["initContainers"] = []
    if node_of(reservation):
        spec["nodeName"] = node_of(reservation)
    return {
        "metadata": {
            "name": uid_of(reservation),
            "uid": uid_of(reservation),
            "namespace": meta.get("namespace") or "default",
            "labels": {**(meta.get("labels") or {}), **labels_of(reservation)},
            "annotations": {**(meta.get("annotations") or {}), **annotations_of(reservation)},
        },
        "spec": {**spec, "priority": priority_of(reservation)},
        "wanted": wanted or "",
    }


def pod_priority(pod: Tree) -> int:
    return int(spec_of(pod).get("priority") or 0)


def priority_of(reservation: Tree) -> int:
    """Of its reserve pod. A class of priority alone changes nothing."""
    said = template_of(reservation).get("priority")
    if said is not None:
        return int(said)
    try:
        labelled = int(labels_of(reservation).get(PRIORITY, ""))
    except ValueError:
        return MOST
    return labelled if -(2**31) <= labelled <= MOST else MOST

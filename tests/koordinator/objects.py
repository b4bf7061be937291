"""Nodes, pods and Reservations as the fake koord-scheduler sees them: a seat is an amount of CPU."""

import json
from functools import cache
from typing import Any

from berth import quantity
from berth.core.jsonvalues import instant_text, parse_instant
from berth.plugins.slots.slots import ALLOCATED, AVAILABLE, PENDING

Tree = dict[str, Any]
SCHEDULER = "koord-scheduler"
REQUIRED = "scheduling.koordinator.sh/pre-allocation-required"
NOON = parse_instant("2026-02-02T12:00:00Z")
MAX_PRIORITY = 2**31 - 1
ENDED = ("Succeeded", "Failed")  # phases of pods and of Reservations


def metadata(tree: Tree) -> Tree:
    found: Tree = tree["metadata"]
    return found


def uid_of(tree: Tree) -> str:
    found: str = tree["metadata"]["uid"]
    return found


def labels_of(tree: Tree) -> dict[str, str]:
    return metadata(tree).get("labels") or {}


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


def template_of(reservation: Tree) -> Tree:
    found: Tree = spec_of(reservation)["template"]["spec"]
    return found


def cpu_of(spec: Tree) -> int:
    """What a pod of this spec requests, in billionths of a CPU. Limits do not count."""
    parts = [one.get("resources") or {} for one in spec["containers"]]
    return sum(_cpu((part.get("requests") or {}).get("cpu", "0")) for part in parts)


@cache
def _cpu(text: str) -> int:
    amount = quantity.parse(text)
    assert amount is not None
    return amount


def room_of(node: Tree) -> int:
    return _cpu(status_of(node)["allocatable"]["cpu"])


def priority_of(tree: Tree) -> int:
    """Of a pod, or of a Reservation, which nothing goes before if it says nothing."""
    if "template" in spec_of(tree):
        return int(template_of(tree).get("priority", MAX_PRIORITY))
    return int(spec_of(tree).get("priority") or 0)


def is_running(pod: Tree) -> bool:
    """Whether it takes room on a node."""
    return bool(spec_of(pod).get("nodeName")) and status_of(pod).get("phase") not in ENDED


def allocated_to(pod: Tree) -> str:
    """The uid of the Reservation that the pod's annotation names."""
    return _uid_in((metadata(pod).get("annotations") or {}).get(ALLOCATED, "{}"))


@cache
def _uid_in(allocated: str) -> str:
    return str(json.loads(allocated).get("uid", ""))


def allocation(reservation: Tree) -> str:
    """The annotation of its owners."""
    meta = metadata(reservation)
    return json.dumps({"name": meta["name"], "uid": meta["uid"]}, separators=(",", ":"))


def owns(owner: Tree, pod: Tree) -> bool:
    """Whether the pod is meant by one entry of `owners`."""
    meant = owner.get("object") or {}
    labels = (owner.get("labelSelector") or {}).get("matchLabels") or {}
    return labels.items() <= labels_of(pod).items() and meant.items() <= metadata(pod).items()


def node(name: str = "n1", cpu: str = "4") -> Tree:
    return {"metadata": {"name": name, "uid": f"uid-of-{name}"}, "status": {"allocatable": {"cpu": cpu}}}


def pod(name: str, cpu: str = "1", at: str = "", **more: Any) -> Tree:
    """A session; `at` is the node that it runs on. `labels` and `namespace` are its metadata's, the rest is
    its spec.
    """
    meta = {
        "name": name,
        "namespace": more.pop("namespace", "hub"),
        "uid": f"uid-of-{name}",
        "creationTimestamp": instant_text(NOON),
        "labels": more.pop("labels", {"app": "session"}),
        "annotations": {},
    }
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    spec = {"schedulerName": SCHEDULER, "containers": containers, **more, **({"nodeName": at} if at else {})}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Running" if at else "Pending"}}

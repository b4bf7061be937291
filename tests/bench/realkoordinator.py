"""koord-scheduler itself on the cluster of the end-to-end tests: slots, their owners and strangers, as the
measurements of `handover`, `strangers` and `slotends` need them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from tests.e2e import koordscheduler
from tests.e2e.cluster import Cluster
from tests.e2e.component import Component
from tests.e2e.direct import Direct, Object, at_once
from tests.e2e.images import PAUSE
from tests.e2e.koordscheduler import NAME, RESERVATIONS
from tests.e2e.waiting import wait_for

NAMESPACE = "bench-slots"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
PRIORITIES = {"bench-placeholder": -10, "bench-session": 100}
BACKOFF = 1.3  # seconds after which a pod that was refused is tried as soon as anything happens


class RealKoordinator:
    """A seat is one CPU. The kind of a pod is a label, by which slots know their owners."""

    def __init__(self, cluster: Cluster, direct: Direct, scheduler: Component) -> None:
        self.direct = direct
        self.scheduler = scheduler
        self._cluster = cluster

    def create_node(self, name: str, seats: int) -> str:
        """The name that the node gets."""
        room = {"cpu": str(seats), "pods": str(seats + 100)}
        return self._cluster.kwok.create_nodes(1, name, room)[0]

    def create_pods(self, node: str, kind: str, names: Sequence[str], cpu: int = 1, **more: Any) -> None:
        pods = [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "labels": {"kind": kind}},
                "spec": _spec(node, cpu, **more),
            }
            for name in names
        ]
        at_once([partial(self.direct.create, PODS, pod) for pod in pods])

    def create_slots(self, node: str, names: Sequence[str], **more: Any) -> None:
        """For sessions, unless `more` says otherwise; that is more of their spec and `labels`."""
        labels = more.pop("labels", {})
        kind = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation"}
        said = {"ttl": "1h0m0s", "allocateOnce": False, "allocatePolicy": "Restricted"}
        spec = {"template": {"spec": _spec(node, 1)}, "owners": [owner("session")], **said, **more}
        slots = [{**kind, "metadata": {"name": name, "labels": labels}, "spec": spec} for name in names]
        at_once([partial(self.direct.create, RESERVATIONS, slot) for slot in slots])

    def available(self) -> int:
        found = self.direct.items(RESERVATIONS)
        return sum(one.get("status", {}).get("phase") == "Available" for one in found)

    def owned(self, names: Sequence[str]) -> int:
        """How many of these slots have an owner."""
        slots = [self.direct.get(f"{RESERVATIONS}/{name}") for name in names]
        return sum(bool(slot.get("status", {}).get("currentOwners")) for slot in slots)

    def bound(self, names: Sequence[str]) -> int:
        return sum("nodeName" in self.direct.get(f"{PODS}/{name}")["spec"] for name in names)

    def delete_pods(self, names: Sequence[str]) -> None:
        at_once([partial(self.direct.delete, f"{PODS}/{name}", gracePeriodSeconds=0) for name in names])

    def delete_slots(self, names: Sequence[str]) -> None:
        at_once([partial(self.direct.delete, f"{RESERVATIONS}/{name}") for name in names])

    def wait(self, happens: Callable[[], bool]) -> None:
        wait_for(happens, 30, "the scheduler", interval=0.02)


def owner(kind: str) -> Object:
    return {"object": {"namespace": NAMESPACE}, "labelSelector": {"matchLabels": {"kind": kind}}}


def _spec(node: str, cpu: int, **more: Any) -> Object:
    seat = {"name": "seat", "image": PAUSE, "resources": {"requests": {"cpu": str(cpu)}}}
    place = {"nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": [{"operator": "Exists"}]}
    return {"schedulerName": NAME, "containers": [seat], **place, **more}


@contextmanager
def running() -> Iterator[RealKoordinator]:
    with Cluster() as cluster, closing(Direct()) as direct:
        scheduler = koordscheduler.start(cluster)
        cluster.create_namespace(NAMESPACE)
        for name, value in PRIORITIES.items():
            kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value}
            direct.create("/apis/scheduling.k8s.io/v1/priorityclasses", {**kind, "metadata": {"name": name}})
        yield RealKoordinator(cluster, direct, scheduler)

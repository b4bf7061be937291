"""A second team with the same engine: what it has must stay its own, and survive the same."""

import time
from pathlib import Path

from tests.e2e import project
from tests.e2e.appliers import Applier, eventually
from tests.e2e.capacity import Capacity
from tests.e2e.cluster import Cluster
from tests.e2e.replicas import Replicas
from tests.e2e.windows import entry, reservation

POOL, SEATS = "guests-small", 3


class Neighbour:
    def __init__(self, cluster: Cluster, applier: Applier, folder: Path) -> None:
        self._cluster = cluster
        self._applier = applier
        self.namespace = f"berth-{applier.name}"
        self._sessions = f"sessions-{applier.name}"
        self._capacity = Capacity(applier, folder, self.namespace)
        self.record = Replicas(self.namespace)

    def begin(self, opens: int, minutes: int) -> None:
        self._cluster.create_namespace(self._sessions)
        self.record.start()
        self._capacity.write_site()
        self._write_class("100m")
        entries = [entry(opens, 0, minutes)]
        self._capacity.write(reservation("guests", opens, entries, lead=0, seats={"small": SEATS}))
        self._capacity.commit("first")

    def _write_class(self, cpu: str) -> None:
        made = project.resource_class("small")
        made["spec"]["requests"]["cpu"] = cpu
        made["spec"]["sessions"]["namespaces"] = [self._sessions]
        self._capacity.write(made)

    def change(self) -> str:
        """While it is open; answers the CPU that its placeholders then ask for."""
        eventually("the neighbour's window to open", lambda: self.record.steps(POOL)[-1:] == [SEATS], 120)
        self._write_class("150m")
        self._capacity.commit("changed")
        self._applier.look_hard()
        pool = self._cluster.get("deployment", POOL, self.namespace)
        requests = pool["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
        asked: str = requests["cpu"]
        return asked

    def leave(self) -> bool:
        """Answers whether its pool is still there, some seconds later."""
        self._applier.leave()
        time.sleep(5)
        name = f"deployment/{POOL}"
        found = self._cluster.kubectl("get", name, f"--namespace={self.namespace}", "--ignore-not-found")
        return bool(found)

"""Windows on Kueue's quota: what Jobs of a course and of others do while a number of a queue is changed.

`lab` is a cohort on machines that stay as they are: the queue `course` gets half of the quota of `research`
for its window. In `pool` the queue `exam` always has its quota, and `guests` may borrow it in windows.
"""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.e2e import fieldholding, kueue
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct, Object
from tests.e2e.fieldholding import HeldField
from tests.e2e.images import PAUSE
from tests.e2e.kwok import TOLERATION

SPACE, FLAVOR = "kueue-jobs", "lab"
ALL, HALF = 8, 4
QUOTA = f"spec.resourceGroups[0].flavors[name={FLAVOR}].resources[name=cpu].nominalQuota"
LENDING = QUOTA.replace("nominalQuota", "lendingLimit")
QUIET = 6  # seconds in which nothing more happens
_QUEUES = f"{kueue.API}/clusterqueues"
_FIRST_QUOTA = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
_JOBS = f"/apis/batch/v1/namespaces/{SPACE}/jobs"
_PODS = f"/api/v1/namespaces/{SPACE}/pods"
_WORKLOADS = f"{kueue.API}/namespaces/{SPACE}/workloads"


class QueueState(NamedTuple):
    """Jobs of each queue: with a pod on a node, suspended, and evicted."""

    running: Counter[str]
    waiting: Counter[str]
    evicted: Counter[str]


class NumberLook(NamedTuple):
    """A number of a queue, literally as the API server has it, and whether a note says that it is held."""

    value: object
    is_noted: bool


class Told(NamedTuple):
    states: dict[str, QueueState]  # by what has just happened
    seconds: dict[str, float]  # until it showed
    quotas: dict[str, NumberLook]  # of research, by what has just happened
    lendings: dict[str, NumberLook]  # of exam
    writes: list[bool]  # whether holding a number wrote anything where its text was there


class KueueStory:
    def __init__(self, cluster: Cluster, direct: Direct) -> None:
        self._cluster = cluster
        self._direct = direct
        self._told = Told({}, {}, {}, {}, [])
        self._names: Counter[str] = Counter()

    def happen(self) -> Told:
        self._cluster.kwok.create_nodes(1, "kueue", labels={kueue.MANAGED: FLAVOR})
        self._cluster.create_namespace(SPACE, {kueue.MANAGED: "true"})
        flavor = {"nodeLabels": {kueue.MANAGED: FLAVOR}, "tolerations": [TOLERATION]}
        self._create("resourceflavors", "ResourceFlavor", FLAVOR, flavor)
        self._move()
        self._lend()
        return self._told

    def _move(self) -> None:
        """The quota itself follows the window, of both queues."""
        self._queue("research", "lab", {"nominalQuota": str(ALL)}, reclaim="Never")
        self._queue("course", "lab", {"nominalQuota": 0, "borrowingLimit": 0}, reclaim="Any")
        course, research = _number("course", QUOTA), _number("research", QUOTA)
        self._submit("research", ALL)
        self._until("research", ALL)
        self._submit("course", 1)
        self._quietly("before")
        self._told.quotas["before"] = _look(research)
        course.hold(HALF)
        research.hold(HALF)
        self._told.quotas["held"] = _look(research)
        self._write_text()
        self._told.writes.append(research.hold(HALF))
        self._told.quotas["text"] = _look(research)
        self._until("course", 1, "opened")
        self._quietly("opened")
        self._submit("course", HALF)  # with the first, one more than there is quota
        self._until("course", HALF, "filled")
        self._quietly("filled")
        course.release()
        research.release()
        self._told.quotas["released"] = _look(research)
        self._quietly("ended")
        self._end("course", 1)
        self._until("research", HALF + 1, "left")
        self._quietly("left")
        reclaiming = {"spec": {"preemption": {"reclaimWithinCohort": "Any"}}}
        self._direct.patch(f"{_QUEUES}/research", reclaiming)
        self._until("research", ALL, "reclaimed")
        self._quietly("reclaimed")

    def _lend(self) -> None:
        """The quota stays, and whether others may borrow it follows the window."""
        self._queue("exam", "pool", {"nominalQuota": HALF, "lendingLimit": 0}, reclaim="Any")
        self._queue("guests", "pool", {"nominalQuota": 0}, reclaim="Never")
        lending = _number("exam", LENDING)
        self._submit("guests", HALF)
        self._quietly("not lent")
        self._told.lendings["before"] = _look(lending)
        lending.hold(HALF)
        self._told.lendings["held"] = _look(lending)
        self._until("guests", HALF, "lent")
        lending.release()
        self._told.lendings["released"] = _look(lending)
        self._quietly("closed to guests")
        self._submit("guests", 1)
        self._end("guests", 1)
        self._until("guests", HALF - 1)
        self._quietly("no more guests")
        self._submit("exam", HALF)
        self._until("exam", HALF, "exam")
        self._quietly("exam")
        lending.hold(HALF)
        self._quietly("lent again")
        self._end("exam", 2)
        self._until("guests", 2, "guests again")
        self._quietly("guests again")

    def _create(self, plural: str, kind: str, name: str, spec: Object, namespace: str = "") -> None:
        where = f"{kueue.API}/namespaces/{namespace}/{plural}" if namespace else f"{kueue.API}/{plural}"
        body = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        self._direct.create(where, body)

    def _queue(self, name: str, cohort: str, quota: Object, *, reclaim: str) -> None:
        resources = [{"name": "cpu", **quota}]
        flavors = [{"name": FLAVOR, "resources": resources}]
        spec = {
            "cohortName": cohort,
            "namespaceSelector": {},
            "preemption": {"reclaimWithinCohort": reclaim},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
        }
        self._create("clusterqueues", "ClusterQueue", name, spec)
        self._create("localqueues", "LocalQueue", name, {"clusterQueue": name}, SPACE)

    def _submit(self, queue: str, count: int) -> None:
        for _ in range(count):
            name = f"{queue}-{self._names[queue]}"
            self._names[queue] += 1
            self._direct.create(_JOBS, _job(name, queue))

    def _end(self, queue: str, count: int) -> None:
        running = [job for job in self._jobs(queue) if not job["spec"]["suspend"]]
        for job in running[:count]:
            where = f"{_JOBS}/{job['metadata']['name']}"
            self._direct.delete(where, propagationPolicy="Background")

    def _write_text(self) -> None:
        """Write the quota of research that is held as a text, as its owner might."""
        patch: Any = [{"op": "replace", "path": _FIRST_QUOTA, "value": str(HALF)}]
        self._direct.ask("PATCH", f"{_QUEUES}/research", patch, "application/json-patch+json")

    def _jobs(self, queue: str) -> list[Object]:
        return self._direct.items(f"{_JOBS}?labelSelector={kueue.QUEUE}={queue}")

    def _until(self, queue: str, count: int, note: str = "") -> None:
        """Until so many Jobs of a queue have a pod on a node."""
        start = time.monotonic()
        self._cluster.wait_for(
            lambda: self._state().running[queue] == count, 60, f"{count} Jobs of {queue} to run"
        )
        if note:
            self._told.seconds[note] = time.monotonic() - start

    def _quietly(self, note: str) -> None:
        time.sleep(QUIET)
        self._told.states[note] = self._state()

    def _state(self) -> QueueState:
        pods = self._direct.items(_PODS)
        placed = [
            pod for pod in pods if "nodeName" in pod["spec"] and "deletionTimestamp" not in pod["metadata"]
        ]
        jobs = self._direct.items(_JOBS)
        return QueueState(
            _by_queue(placed),
            _by_queue(job for job in jobs if job["spec"]["suspend"]),
            Counter(
                workload["spec"]["queueName"]
                for workload in self._direct.items(_WORKLOADS)
                if _is_true(workload, "Evicted")
            ),
        )


def _number(queue: str, path: str) -> HeldField:
    return fieldholding.of_object(
        "kueue.x-k8s.io/v1beta2", "ClusterQueue", "clusterqueues", queue, path, home=SPACE
    )


def _look(held: HeldField) -> NumberLook:
    return NumberLook(held.value(), held.look().held is not None)


def _by_queue(objects: Iterable[Object]) -> Counter[str]:
    return Counter(found["metadata"]["labels"][kueue.QUEUE] for found in objects)


def _is_true(found: Object, kind: str) -> bool:
    conditions = found.get("status", {}).get("conditions", [])
    return any(condition["type"] == kind and condition["status"] == "True" for condition in conditions)


def _job(name: str, queue: str) -> Object:
    container = {"name": "work", "image": PAUSE, "resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": {"labels": {kueue.QUEUE: queue}},
        "spec": {"containers": [container], "restartPolicy": "Never", "terminationGracePeriodSeconds": 0},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {kueue.QUEUE: queue}},
        "spec": {"template": template, "backoffLimit": 0},
    }

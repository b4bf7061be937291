"""The cluster in which faults happen: its nodes, sites, sessions, and the record of every pool."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from tests.e2e import faultcases, podchanges, project
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct, Mirror, Object, at_once
from tests.e2e.faultcases import (
    AGAIN,
    CASES,
    DENIED,
    DROPPED,
    FILLER,
    NAMESPACE,
    OTHER_NAMESPACE,
    OTHER_SITE,
    REVOKED,
    SESSIONS,
    SITE,
    START,
    UNPULLABLE,
    Case,
    case,
)
from tests.e2e.faults import Faults
from tests.e2e.faulty_api import ERRORS, GOOD, NONSENSE, SILENCE, FaultyApi
from tests.e2e.gitops import Engine
from tests.e2e.images import PAUSE
from tests.e2e.kwok import TOLERATION
from tests.e2e.seats import SeatRecord, is_placed
from tests.e2e.slowadmission import SlowAdmission
from tests.e2e.windows import MINUTE

NAMESPACES = (SESSIONS, DENIED, REVOKED)
JOB_NAME = "batch.kubernetes.io/job-name"
ROOM = {"pods": "400", "cpu": "200", "memory": "400Gi"}


class World:
    """`opens` is minute 0 of the tests, in seconds since the epoch."""

    def __init__(self, cluster: Cluster, folder: Path, opens: int) -> None:
        self.opens = opens
        self.cluster = cluster
        self.direct = Direct()
        self.api = FaultyApi(self.direct)
        self.admission = SlowAdmission(self.direct, faultcases.SLOW_ADMISSION)
        self.folder = folder / "faults"
        self.other = folder / "none"
        self.engine = Engine(self.direct, self.folder)
        self.faults = Faults(cluster, self.direct, self.engine, self.api, opens)
        self.engine.adapt = self.faults.changes
        self._pods = Mirror(self.direct, f"/api/v1/namespaces/{SESSIONS}/pods?labelSelector=session")
        self.record = SeatRecord(self.direct, [NAMESPACE, OTHER_NAMESPACE], self._sessions)
        self.pods: list[Object] = []  # of Jobs

    @contextmanager
    def prepared(self) -> Iterator[None]:
        with ExitStack() as undo:
            undo.callback(self.direct.close)
            undo.callback(self.cluster.kwok.delete_nodes, self.cluster.kwok.create_nodes(2, "room", ROOM))
            self.cluster.start_second_node()
            undo.callback(self._end_second_node)
            for name in NAMESPACES:
                self.cluster.create_namespace(name)
            for name in (*NAMESPACES, NAMESPACE, OTHER_NAMESPACE):
                undo.callback(self._remove, name)
            self._break_sessions()
            self.api.start()
            undo.callback(self.api.stop)
            self.admission.start()
            undo.callback(self.admission.stop)
            self._declare()
            self.engine.sync()
            self.faults.deny_from_the_start()
            self.apply_other()
            self._pods.start()
            undo.callback(self._pods.stop)
            self.record.start()
            undo.callback(self.record.stop)
            yield

    def _break_sessions(self) -> None:
        for name in faultcases.FAULTY:
            many = faultcases.PLENTY if name == f"crowd{START}" else 2
            self.api.set_sessions(name, SESSIONS, 0 if name == "crowd-later" else many)
            what = name.removesuffix(START)
            self.api.fault[name] = what if what in (ERRORS, SILENCE, NONSENSE) else GOOD

    def _end_second_node(self) -> None:
        self.cluster.second_node.lose()
        self.direct.delete(f"/api/v1/nodes/{self.cluster.second_node.name}")

    def _remove(self, namespace: str) -> None:
        self.direct.delete(f"/api/v1/namespaces/{namespace}")

    def _declare(self) -> None:
        site = faultcases.site(SITE, NAMESPACE, "argocd")
        cases = {one.reservation: one for one in (*CASES, FILLER, UNPULLABLE)}
        ours = [faultcases.declared(_at_first(one), self.opens) for one in cases.values()]
        self.engine.declare([site, *faultcases.classes(), *ours])
        other = faultcases.site(OTHER_SITE, OTHER_NAMESPACE, "none")
        theirs = [faultcases.declared(one, self.opens) for one in (AGAIN, DROPPED)]
        (small,) = [
            resource_class
            for resource_class in faultcases.classes()
            if resource_class["metadata"]["name"] == "small"
        ]
        project.write(self.other, [other, small, *theirs])
        project.berth(self.other, "render")

    def apply_other(self) -> None:
        """The site without an engine: a person applies its whole folder. Its sweep comes when ours does, on a
        node whose clock is ten minutes behind.
        """
        self.cluster.apply(self.other / "rendered" / "clusters" / "real")
        sweep = f"/apis/batch/v1/namespaces/{OTHER_NAMESPACE}/cronjobs/berth-sweep"
        template = self.direct.get(sweep)["spec"]["jobTemplate"]
        podchanges.clock(-10 * MINUTE)(template["spec"]["template"]["spec"])
        changed = {"schedule": self.faults.changes.schedule, "jobTemplate": template}
        self.direct.patch(sweep, {"spec": changed})

    def drop(self) -> None:
        """Nobody prunes: only the inventory says that the reservation is gone."""
        (self.other / "reservations" / f"capacityreservation-{DROPPED.name}.json").unlink()
        project.berth(self.other, "render")
        self.apply_other()
        self.direct.say_long_gone(OTHER_NAMESPACE, DROPPED.name)

    def add_sessions(self, name: str, count: int) -> None:
        at_once([partial(self._add_session, f"{name}-{number}", name) for number in range(count)])

    def _add_session(self, name: str, course: str) -> None:
        self.direct.create(f"/api/v1/namespaces/{SESSIONS}/pods", session(name, course))

    def _sessions(self) -> Counter[str]:
        pods = [pod for pod in self._pods.objects() if is_placed(pod)]
        counter = Counter(f"{pod['metadata']['labels']['course']}-small" for pod in pods)
        for name in faultcases.FAULTY:
            counter[case(name).pool] += len(self.api.sessions[name])
        return counter

    def keep_pods(self) -> None:
        """Before the API server goes: where the node is late to come back, Kubernetes removes its pods."""
        self.pods = self.direct.items(f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector={JOB_NAME}")

    def pods_of(self, reservation: str) -> list[Object]:
        return [
            pod for pod in self.pods if pod["metadata"]["labels"].get("berth.dev/reservation") == reservation
        ]

    def events(self, namespace: str = NAMESPACE) -> list[Object]:
        return self.direct.items(f"/api/v1/namespaces/{namespace}/events")


def _at_first(one: Case) -> Case:
    return one._replace(ends=faultcases.ENDED_BEFORE.get(one.name, one.ends))


def session(name: str, course: str) -> Object:
    """A pod that only pretends, as a user's session has one."""
    pod = {
        "nodeSelector": {"type": "kwok"},
        "tolerations": [TOLERATION],
        "containers": [{"name": "session", "image": PAUSE}],
    }
    labels = {"session": "yes", "course": course}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": pod}

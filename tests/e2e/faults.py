"""Everything that goes wrong in the fault tests, and when."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.e2e import cgroups, faultcases, faulty_api, podchanges
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct, Object
from tests.e2e.errors import E2EError
from tests.e2e.faultcases import CONTROLLERS_AWAY, DENIED, NAMESPACE, REVOKED, SERVER_AWAY, case
from tests.e2e.faulty_api import FaultyApi
from tests.e2e.gitops import Engine
from tests.e2e.waiting import wait_for
from tests.e2e.windows import MINUTE, sleep_until

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
CRONJOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/cronjobs"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
CONFIGMAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
ACCOUNTS = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
CODE = "?labelSelector=berth.dev/role=code"


class Step(NamedTuple):
    minute: float
    act: Callable[[], object]


class Faults:
    """`happened` says when each really did, in seconds since the epoch."""

    def __init__(self, cluster: Cluster, direct: Direct, engine: Engine, api: FaultyApi, opens: int) -> None:
        self._cluster = cluster
        self._direct = direct
        self._engine = engine
        self._api = api
        self._opens = opens
        self.changes = podchanges.Changes(opens // MINUTE % 60)
        self.happened: dict[str, float] = {}
        self.failed: list[str] = []  # what could not be done as it was meant

    def steps(self) -> Sequence[Step]:
        return [*self._of_pods(), *self._of_jobs(), *self._of_people(), *self._of_surroundings()]

    def run(self, steps: Sequence[Step], until: float) -> None:
        """Each at its minute, beside others that last."""
        with ThreadPoolExecutor(max_workers=32) as pool:
            acting = []
            for step in sorted(steps, key=lambda one: one.minute):
                sleep_until(self._opens + step.minute * MINUTE)
                acting.append(pool.submit(step.act))
            sleep_until(self._opens + until * MINUTE)
        self.failed = [repr(error) for one in acting if (error := one.exception()) is not None]

    def _of_pods(self) -> list[Step]:
        return [
            Step(2.9, partial(self._delete_pods, "deleted-five-times", 5)),
            Step(3.8, partial(self._evict, "evicted")),
            Step(3.9, partial(self._signal, "out-of-memory", "scaler", podchanges.HUNGRY)),
            Step(4.0, partial(self._signal, "sidecar-stops", "scaler", signal.SIGSTOP)),
            Step(4.6, self._lose_node),
        ]

    def _of_jobs(self) -> list[Step]:
        heal = partial(self._heal, "job-complete-too-early")
        return [
            Step(4.0, partial(self._double, "doubled")),
            Step(2.7, partial(self._delete_jobs, "job-deleted")),
            Step(2.7, partial(self._fail_job, "job-failed")),
            Step(2.8, heal),
            Step(3.6, partial(self._delete_cronjob, "cronjob-deleted")),
        ]

    def _of_people(self) -> list[Step]:
        edits: dict[str, Callable[[], None]] = {
            "ends-earlier": partial(self._declare, "ends-earlier"),
            "ends-later": partial(self._declare, "ends-later"),
            "other-day": partial(self._declare, "other-day", day=1),
            "another-day-too": partial(self._declare, "another-day-too", also=1),
            "raised": partial(self._declare, "raised", seats=7),
            "lowered": partial(self._declare, "lowered", seats=2),
            "suspended": partial(self._declare, "suspended", suspend=True),
            "new-image": partial(self._new_image, "new-image"),
            "recognized-otherwise": self._recognize_otherwise,
            "withdrawn": self._withdraw,
        }
        return [
            *(Step(4.1 + 0.05 * n, partial(self._edit, *item)) for n, item in enumerate(edits.items())),
            Step(3.7, partial(self._scale, "scaled-by-hand", 0)),
            Step(4.2, partial(self._scale, "scaled-by-hand", 100)),
            Step(4.7, self._delete_deployment),
            Step(3.5, partial(self._break_timetable, "timetable-broken")),
            Step(5.0, partial(self._sync, "timetable-broken")),
            Step(4.8, self._break_code),
        ]

    def _of_surroundings(self) -> list[Step]:
        """Session API, tokens, control plane."""
        later = {"errors": faulty_api.ERRORS, "silence": faulty_api.SILENCE, "nonsense": faulty_api.NONSENSE}
        crowd = partial(self._api.set_sessions, "crowd-later", faultcases.SESSIONS, faultcases.PLENTY)
        away = self._cluster.control_plane
        return [
            *(Step(4.0, partial(self._api.set_fault, how, f"{name}-later")) for name, how in later.items()),
            Step(faultcases.BLIND, self._blind),
            Step(4.0, crowd),
            Step(4.0, partial(self._deny, REVOKED)),
            Step(3.5, self._rotate),
            Step(CONTROLLERS_AWAY[0], away.controller_manager.stop),
            Step(CONTROLLERS_AWAY[1], away.controller_manager.start),
            Step(SERVER_AWAY[0], away.apiserver.stop),
            Step(SERVER_AWAY[1], partial(away.apiserver.start, again=True)),
        ]

    def deny_from_the_start(self) -> None:
        self._deny(DENIED)

    def _note(self, what: str) -> None:
        self.happened[what] = time.time()

    def _pods(self, name: str) -> list[Object]:
        """Of its Jobs, those that run and are not about to go."""
        found = self._direct.items(
            f"{PODS}?labelSelector=berth.dev/reservation={name},batch.kubernetes.io/job-name"
        )
        alive = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
        return [pod for pod in alive if pod["status"]["phase"] in ("Pending", "Running")]

    def _jobs(self, name: str) -> list[Object]:
        return self._direct.items(f"{JOBS}?labelSelector=berth.dev/reservation={name}")

    def _delete_pods(self, name: str, times: int) -> None:
        """One after the other: Kubernetes waits ever longer before it makes the next."""
        self._note(name)
        for _ in range(times):
            pods = wait_for(lambda: self._pods(name), 200, f"a pod of {name}")
            for pod in pods:
                self._direct.delete(f"{PODS}/{pod['metadata']['name']}")
            self._note(f"{name} last")

    def _evict(self, name: str) -> None:
        self._note(name)
        for pod in self._pods(name):
            metadata = {"name": pod["metadata"]["name"], "namespace": NAMESPACE}
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
            self._direct.create(f"{PODS}/{metadata['name']}/eviction", body)

    def _signal(self, name: str, container: str, number: int) -> None:
        self._note(name)
        for pid in self._processes(name, container):
            os.kill(pid, number)

    def _processes(self, name: str, container: str) -> list[int]:
        """Of a container of the pods of a reservation; there is one at least."""
        found = []
        for pod in self._pods(name):
            listed = pod["status"]["containerStatuses"] + pod["status"].get("initContainerStatuses", [])
            (running,) = [one["containerID"] for one in listed if one["name"] == container]
            found += cgroups.processes(running.rpartition("/")[2])
        if not found:
            raise E2EError(f"no process of {container} of {name}")
        return found

    def _lose_node(self) -> None:
        self._note("node-lost")
        (pod,) = self._pods("node-lost")
        if pod["spec"]["nodeName"] != podchanges.SECOND:
            raise E2EError("the pod of node-lost is not on the node that is lost")
        self._cluster.second_node.lose()

    def _double(self, name: str) -> None:
        self._note(name)
        origin = f"--from=cronjob/{name}"
        self._cluster.kubectl("create", "job", origin, f"{name}-by-hand", f"--namespace={NAMESPACE}")

    def _delete_jobs(self, name: str) -> None:
        self._note(name)
        for job in self._jobs(name):
            self._direct.delete(f"{JOBS}/{job['metadata']['name']}", propagationPolicy="Background")
        for pod in self._pods(name):  # before the garbage collector does: the sweep comes soon
            self._direct.delete(f"{PODS}/{pod['metadata']['name']}")

    def _fail_job(self, name: str) -> None:
        self._note(name)
        for job in self._jobs(name):
            self._direct.patch(f"{JOBS}/{job['metadata']['name']}", {"spec": {"activeDeadlineSeconds": 1}})

    def _heal(self, name: str) -> None:
        self.changes.healed.add(name)
        self._engine.sync(name)

    def _delete_cronjob(self, name: str) -> None:
        self._note(name)
        self._direct.delete(f"{CRONJOBS}/{name}", propagationPolicy="Background")

    def _edit(self, name: str, change: Callable[[], None]) -> None:
        with self._engine.turn:
            change()
            self._note(name)
            self._engine.sync(name)

    def _declare(self, name: str, day: int = 0, also: int = 0, **spec: object) -> None:
        changed = {key: spec.pop(key) for key in ("seats",) if key in spec}
        one = faultcases.declared(case(name), self._opens, **changed)
        recurrence = one["spec"]["recurrence"]
        if day or also:
            (date,) = recurrence["dates"]
            other = faultcases.later_date(date, day or also)
            recurrence["dates"] = [other] if day else [date, other]
        one["spec"].update(spec)
        self._engine.declare([one])

    def _recognize_otherwise(self) -> None:
        name = "recognized-otherwise"
        self._declare(name, sessions={"matchLabels": {"course": name, "session": "yes"}})

    def _new_image(self, name: str) -> None:
        self.changes.images[name] = podchanges.NEW_IMAGE

    def _withdraw(self) -> None:
        self._engine.withdraw("withdrawn")

    def _scale(self, name: str, replicas: int) -> None:
        self._note(f"{name} {replicas}")
        self._direct.patch(f"{DEPLOYMENTS}/{name}-small/scale", {"spec": {"replicas": replicas}})

    def _delete_deployment(self) -> None:
        name = "deployment-deleted"
        where = f"{DEPLOYMENTS}/{name}-small"
        self._direct.delete(where, propagationPolicy="Foreground")
        wait_for(lambda: not self._direct.exists(where), 40, "the Deployment to go")
        time.sleep(10)
        self._sync(name)
        self._note(name)  # from here on the promise holds again

    def _sync(self, name: str) -> None:
        self._engine.sync(name)

    def _break_timetable(self, name: str) -> None:
        self._note(name)
        self._direct.patch(f"{CONFIGMAPS}/{name}", {"data": {"timetable.json": '{"apiVersion": "berth.dev/'}})

    def _break_code(self) -> None:
        """For a minute no program of ours can start; those that run know nothing of it."""
        self._note("code-broken")
        whole = self._direct.items(f"{CONFIGMAPS}{CODE}")
        for one in whole:
            self._direct.delete(f"{CONFIGMAPS}/{one['metadata']['name']}")
        self._delete_pods("code-broken", 1)
        time.sleep(40)
        for one in whole:
            metadata = {key: one["metadata"][key] for key in ("name", "namespace", "labels")}
            self._direct.create(
                CONFIGMAPS, {"apiVersion": "v1", "kind": "ConfigMap", **one, "metadata": metadata}
            )

    def _deny(self, namespace: str) -> None:
        self._note(namespace)
        self._direct.ask("DELETE", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings")

    def _blind(self) -> None:
        """What was never counted would not be remembered."""
        name = faultcases.LONG_ERRORS
        where, left = f"{DEPLOYMENTS}/{case(name).pool}", case(name).seats - case(name).sessions
        wait_for(lambda: self._direct.get(where)["spec"]["replicas"] == left, 35, f"sessions of {name}")
        self._api.set_fault(faulty_api.ERRORS, name)
        self._note(name)

    def _rotate(self) -> None:
        """Its account is made anew, so its token is good for nothing; the kubelet brings another when it
        starts again, as it does by itself before a token ends.
        """
        where = f"{ACCOUNTS}/token-rotated"
        self._direct.delete(where)
        wait_for(lambda: not self._direct.exists(where), 20, "the account to go")
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "token-rotated"}}
        self._direct.create(ACCOUNTS, account)
        (pid,) = self._processes("token-rotated", "scaler")
        token = Path(f"/proc/{pid}/root/var/run/secrets/kubernetes.io/serviceaccount/token")
        before = token.read_text()
        self._cluster.second_node.kubelet.restart()
        self._note("token-rotated")
        wait_for(lambda: token.read_text() != before, 60, "another token")
        self._scale("token-rotated", 0)

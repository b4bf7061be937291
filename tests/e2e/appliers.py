"""The engines as a story needs them: what a site says of them, how to begin, and when a commit is there."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tests.e2e import argocd, flux
from tests.e2e.chat import Chat
from tests.e2e.cluster import Cluster
from tests.e2e.errors import E2EError
from tests.e2e.gitfolder import GitFolder
from tests.e2e.project import Document
from tests.manifests.engines import manuals


class Applier(Protocol):
    name: str  # of its site too
    place: str  # its only cluster, as the site calls it
    chat: Chat  # where the engine tells people

    def site(self, folder: Path) -> Document:
        """What the site's spec says of engine, repository and clusters."""

    def up(self) -> None: ...

    def down(self) -> None: ...

    def begin(self, folder: Path) -> None:
        """What a team does once, in its repository."""

    def bring(self, repository: GitFolder, commit: str) -> None:
        """Returns when the commit is applied."""

    def be_refused(self, repository: GitFolder, commit: str) -> None:
        """Returns when the engine has told people that it could not apply the commit."""

    def look_hard(self) -> None:
        """Compare everything again, and return when that is done."""

    def stop(self) -> None: ...

    def start(self) -> None: ...

    def state(self) -> dict[str, Any]:
        """What people see of it."""

    def leave(self) -> None:
        """The site's Application or Kustomization is deleted, and what hangs on that, when this returns."""


class ByArgoCD:
    name = "argocd"
    place = "real"
    account = "argocd:berth-applier"

    def __init__(self, cluster: Cluster, engine: argocd.ArgoCD) -> None:
        self._cluster = cluster
        self._engine = engine
        self._object = f"berth-{self.name}.{self.place}"
        self.chat = Chat()

    def site(self, folder: Path) -> Document:
        repository = {"url": f"file://{folder}", "revision": "main"}
        engine = {"type": "argocd", "version": "3.2", "cascade": True, "serviceAccount": self.account}
        return {"engine": engine, "repository": repository, "clusters": [{"name": self.place}]}

    def up(self) -> None:
        self.chat.start()
        self._engine.up(self.chat.url)

    def down(self) -> None:
        """Nothing else of it outlives the cluster."""
        self.chat.stop()

    def begin(self, folder: Path) -> None:
        give_rights(self._cluster, *self.account.split(":"))
        apply_once(self._cluster, folder, "argocd")

    def bring(self, repository: GitFolder, commit: str) -> None:
        del repository
        self._engine.wait_synced(self._object, commit)

    def be_refused(self, repository: GitFolder, commit: str) -> None:
        del repository, commit
        self._engine.give_up_at_once(self._object)
        self._engine.refresh(self._object)
        self.chat.wait_for("could not be applied")

    def look_hard(self) -> None:
        self._engine.refresh(self._object)

    def stop(self) -> None:
        self._engine.stop()

    def start(self) -> None:
        self._engine.start()

    def state(self) -> dict[str, Any]:
        status = self._engine.application(self._object)["status"]
        return {
            "health": status["health"]["status"],
            "sync": status["sync"]["status"],
            "operation": status["operationState"]["phase"],
            "conditions": [one["message"] for one in status.get("conditions", [])],
            "seen by kubectl": look(self._cluster, "argocd", self._object)[1:3],
        }

    def leave(self) -> None:
        self._engine.delete(self._object)


class ByFlux:
    name = "flux"
    place = "real"

    def __init__(self, cluster: Cluster, engine: flux.Flux) -> None:
        self._cluster = cluster
        self._engine = engine
        self._object = f"berth-{self.name}.{self.place}"
        self.chat = Chat()

    def site(self, folder: Path) -> Document:
        del folder
        repository = {"url": "https://git.example.org/capacity.git", "revision": "main"}
        return {
            "engine": {"type": "flux", "interval": "20s", "retryInterval": "5s"},
            "repository": repository,
            "clusters": [{"name": self.place}],
        }

    def up(self) -> None:
        self.chat.start()
        self._engine.up(self.chat.url)

    def down(self) -> None:
        self._engine.down()
        self.chat.stop()

    def begin(self, folder: Path) -> None:
        """Here, values are put into everything that does not forbid it, as by a patch of a parent."""
        apply_once(self._cluster, folder, "flux")
        self._engine.substitute(self._object)

    def bring(self, repository: GitFolder, commit: str) -> None:
        self._engine.publish(self._object, repository, commit)
        self._engine.wait_applied(self._object, commit)

    def be_refused(self, repository: GitFolder, commit: str) -> None:
        self._engine.publish(self._object, repository, commit)
        self.chat.wait_for("Not-A-Name")

    def look_hard(self) -> None:
        self._engine.reconcile(self._object)

    def stop(self) -> None:
        self._engine.stop()

    def start(self) -> None:
        self._engine.start()

    def state(self) -> dict[str, Any]:
        conditions = self._engine.kustomization(self._object)["status"]["conditions"]
        told = {
            condition["type"]: condition["status"]
            for condition in conditions
            if condition["type"] in ("Ready", "Healthy", "Stalled")
        }
        return {**told, "seen by kubectl": look(self._cluster, "flux", self._object)[2:3]}

    def leave(self) -> None:
        self._engine.delete(self._object)


def apply_once(cluster: Cluster, folder: Path, engine: str) -> None:
    """As the manual says, in the repository."""
    once, _ = manuals.commands(engine)
    program, *words, rendered = once
    assert program == "kubectl"
    cluster.kubectl(*words, str(folder / rendered))


def look(cluster: Cluster, engine: str, name: str) -> list[str]:
    """What the manual's command shows of it, word by word."""
    program, *words = manuals.commands(engine)[1]
    assert program == "kubectl"
    (row,) = [line.split() for line in cluster.kubectl(*words).splitlines() if line.startswith(f"{name} ")]
    return row


def give_rights(cluster: Cluster, namespace: str, account: str) -> None:
    """What the manual says that an account needs, and no more."""
    role = manuals.sample("flux", "ClusterRole")
    role["metadata"]["name"] = f"{account}-{namespace}"  # each engine has its own, at the same time
    of_rbac = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    binding = {
        **of_rbac,
        "kind": "ClusterRoleBinding",
        "metadata": role["metadata"],
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": role["metadata"]["name"],
        },
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }
    made = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": account, "namespace": namespace},
    }
    cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": [role, made, binding]}))


def eventually(what: str, is_so: Callable[[], bool], timeout: float = 90) -> float:
    """When it became so: seconds since the epoch."""
    deadline = time.monotonic() + timeout
    while not is_so():
        if time.monotonic() >= deadline:
            raise E2EError(f"waited {timeout:g} s in vain for {what}")
        time.sleep(0.5)
    return time.time()

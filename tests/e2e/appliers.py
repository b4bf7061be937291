"""The engines as a story needs them: what a site says of them, how to begin, and when a commit is there."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tests.e2e import argocd, flux
from tests.e2e.cluster import Cluster
from tests.e2e.errors import E2EError
from tests.e2e.gitfolder import GitFolder
from tests.e2e.project import Document

OBJECT = (
    "berth-{0}.real"  # the Application, Kustomization or source of the site that is called like its engine
)


class Applier(Protocol):
    name: str

    def site(self, folder: Path) -> Document:
        """What the site's spec says of engine and repository."""

    def up(self) -> None: ...

    def down(self) -> None: ...

    def begin(self, rendered: Path) -> None:
        """What a team does once: apply the engine's own objects."""

    def bring(self, repository: GitFolder, commit: str) -> None:
        """Returns when the commit is applied."""

    def look_hard(self) -> None:
        """Compare everything again, and return when that is done."""

    def stop(self) -> None: ...

    def start(self) -> None: ...

    def state(self) -> dict[str, Any]:
        """What people see of it."""


class ByArgoCD:
    name = "argocd"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._engine = argocd.ArgoCD(cluster)
        self._object = OBJECT.format(self.name)

    def site(self, folder: Path) -> Document:
        repository = {"url": f"file://{folder}", "revision": "main"}
        return {"engine": {"type": "argocd", "cascade": True}, "repository": repository}

    def up(self) -> None:
        self._engine.up()

    def down(self) -> None:
        """Nothing of it outlives the cluster."""

    def begin(self, rendered: Path) -> None:
        self._cluster.apply(rendered / "gitops" / "argocd")

    def bring(self, repository: GitFolder, commit: str) -> None:
        del repository
        self._engine.wait_synced(self._object, commit)

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
        }


class ByFlux:
    name = "flux"

    def __init__(self, cluster: Cluster, served: Path) -> None:
        self._cluster = cluster
        self._engine = flux.Flux(cluster, served)
        self._object = OBJECT.format(self.name)

    def site(self, folder: Path) -> Document:
        del folder
        repository = {"url": "https://git.example.org/capacity.git", "revision": "main"}
        return {
            "engine": {"type": "flux", "interval": "20s", "retryInterval": "5s"},
            "repository": repository,
        }

    def up(self) -> None:
        self._engine.up()

    def down(self) -> None:
        self._engine.down()

    def begin(self, rendered: Path) -> None:
        self._cluster.apply(rendered / "gitops" / "flux")

    def bring(self, repository: GitFolder, commit: str) -> None:
        self._engine.publish(self._object, repository, commit)
        self._engine.wait_applied(self._object, commit)

    def look_hard(self) -> None:
        self._engine.reconcile(self._object)

    def stop(self) -> None:
        self._engine.stop()

    def start(self) -> None:
        self._engine.start()

    def state(self) -> dict[str, Any]:
        conditions = self._engine.kustomization(self._object)["status"]["conditions"]
        return {
            one["type"]: one["status"] for one in conditions if one["type"] in ("Ready", "Healthy", "Stalled")
        }


def eventually(what: str, is_so: Callable[[], bool], timeout: float = 90) -> float:
    """When it became so: seconds since the epoch."""
    deadline = time.monotonic() + timeout
    while not is_so():
        if time.monotonic() >= deadline:
            raise E2EError(f"waited {timeout:g} s in vain for {what}")
        time.sleep(0.5)
    return time.time()

"""Somebody else's objects that an engine applies as well, with a number in git that Berth holds.

Each owner has one repository with a folder for each object, and an Application or Kustomization for each
folder. `reset` has the number in git, and nothing else is said; `kept` has it in git, and the engine is told
to ignore it; `omitted` has no such number in git.
"""

import json
from pathlib import Path
from typing import Any, Protocol

from tests.e2e import argocd, flux
from tests.e2e.cluster import Cluster
from tests.e2e.gitfolder import GitFolder
from tests.e2e.heldobjects import AUTOSCALER, autoscaler

RESET, KEPT, OMITTED = "reset", "kept", "omitted"
IN_GIT = 3
FIELD = "/spec/minReplicas"


class Owner(Protocol):
    """`begin` and `change` return when the engine has applied everything."""

    manager: str  # how the name of the engine's field manager begins
    namespace: str

    def begin(self, folder: Path) -> None: ...

    def change(self) -> None:
        """Commit another field of each object."""

    def leave(self) -> None:
        """The engine's objects are gone when this returns, and so is what they applied."""


class _Owner:
    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster = cluster
        self.namespace = f"owner-{name}"
        self._folder = Path()
        self._git: GitFolder | None = None

    def begin(self, folder: Path) -> None:
        self._folder = folder
        self._write(60)
        self._git = GitFolder(folder)
        commit = self._git.commit("first")
        made = [self._applying(name) for name in (RESET, KEPT, OMITTED)]
        self._cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))
        self._bring(commit)

    def change(self) -> None:
        self._write(61)
        assert self._git is not None
        self._bring(self._git.commit("changed"))

    def _write(self, most: int) -> None:
        for name in (RESET, KEPT, OMITTED):
            held = autoscaler(name, IN_GIT)
            held["metadata"]["namespace"] = self.namespace
            held["spec"]["maxReplicas"] = most
            if name == OMITTED:
                del held["spec"]["minReplicas"]
            file = self._folder / name / "autoscaler.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(held))

    def _name(self, name: str) -> str:
        return f"{self.namespace}-{name}"

    def _applying(self, name: str) -> dict[str, Any]:
        """The engine's object for a folder."""
        raise NotImplementedError

    def _bring(self, commit: str) -> None:
        raise NotImplementedError


class OwnerByArgoCD(_Owner):
    manager = "argocd"

    def __init__(self, cluster: Cluster, engine: argocd.ArgoCD) -> None:
        super().__init__(cluster, "argocd")
        self._engine = engine

    def _applying(self, name: str) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "project": "default",
            "source": {"repoURL": f"file://{self._folder}", "targetRevision": "main", "path": name},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": self.namespace},
            "syncPolicy": {"automated": {"prune": True, "selfHeal": True}},
        }
        if name == KEPT:
            spec["ignoreDifferences"] = [
                {"group": "autoscaling", "kind": AUTOSCALER, "jsonPointers": [FIELD]}
            ]
            spec["syncPolicy"]["syncOptions"] = ["RespectIgnoreDifferences=true"]
        metadata = {
            "name": self._name(name),
            "namespace": argocd.NAMESPACE,
            "finalizers": ["resources-finalizer.argocd.argoproj.io"],
        }
        kind = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
        return {**kind, "metadata": metadata, "spec": spec}

    def _bring(self, commit: str) -> None:
        """That of `reset` may be out of sync for as long as Berth holds its number."""
        for name in (KEPT, OMITTED):
            self._engine.wait_synced(self._name(name), commit)
        self._engine.wait_applied(self._name(RESET), commit)

    def leave(self) -> None:
        for name in (RESET, KEPT, OMITTED):
            self._engine.delete(self._name(name))


class OwnerByFlux(_Owner):
    manager = "kustomize-controller"

    def __init__(self, cluster: Cluster, engine: flux.Flux) -> None:
        super().__init__(cluster, "flux")
        self._engine = engine

    def begin(self, folder: Path) -> None:
        self._engine.make_source(self.namespace)
        super().begin(folder)

    def _applying(self, name: str) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "interval": "20s",
            "retryInterval": "5s",
            "prune": True,
            "path": f"./{name}",
            "sourceRef": {"kind": "GitRepository", "name": self.namespace},
        }
        if name == KEPT:
            target = {"group": "autoscaling", "kind": AUTOSCALER}
            spec["ignore"] = [{"paths": [FIELD], "target": target}]
        metadata = {"name": self._name(name), "namespace": flux.NAMESPACE}
        kind = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization"}
        return {**kind, "metadata": metadata, "spec": spec}

    def _bring(self, commit: str) -> None:
        assert self._git is not None
        self._engine.publish(self.namespace, self._git, commit)
        for name in (RESET, KEPT, OMITTED):
            self._engine.wait_applied(self._name(name), commit)

    def leave(self) -> None:
        for name in (RESET, KEPT, OMITTED):
            self._engine.delete(self._name(name))

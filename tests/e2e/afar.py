"""A second site in the same engine, which reaches the cluster by another way: as if that were far away.

Nobody applies the engine's own objects here: the engine does, as the manuals show. And its files are listed.
"""

import json
from pathlib import Path

from tests.e2e import flux
from tests.e2e.appliers import ByArgoCD, ByFlux, give_rights
from tests.e2e.gitfolder import GitFolder
from tests.e2e.project import Document
from tests.manifests.engines import manuals

REMOTE = "remote"  # what the engines call the cluster
ROOT = "berth"  # the object of the manuals that makes an engine apply its own


class ByArgoCDFromAfar(ByArgoCD):
    name = "argocd-afar"
    place = REMOTE

    def site(self, folder: Path) -> Document:
        repository = {"url": f"file://{folder}", "revision": "main"}
        engine = {"type": "argocd", "version": "3.2", "serviceAccount": self.account}
        clusters = [{"name": self.place, "destination": {"name": REMOTE}}]
        made = {"engine": engine, "repository": repository, "clusters": clusters}
        return {**made, "kustomization": True}

    def begin(self, folder: Path) -> None:
        self._engine.know_cluster(REMOTE)
        root = manuals.sample("argocd", "Application")
        assert root["metadata"]["name"] == ROOT
        root["spec"]["source"]["repoURL"] = f"file://{folder}"
        self._cluster.apply(json.dumps(root))

    def bring(self, repository: GitFolder, commit: str) -> None:
        self._engine.wait_synced(ROOT, commit)
        super().bring(repository, commit)

    def leave(self) -> None:
        """Without `cascade`: what was applied stays."""
        self._engine.delete(ROOT)
        self._engine.delete(self._object)


class ByFluxFromAfar(ByFlux):
    """Of a version that cannot leave fields alone."""

    name = "flux-afar"
    place = REMOTE
    account = "berth-applier"
    source = "flux-system"  # that of Flux itself

    def site(self, folder: Path) -> Document:
        spec = super().site(folder)
        more = {"version": "2.8", "kubeConfigSecret": REMOTE, "serviceAccountName": self.account}
        return {**spec, "engine": {**spec["engine"], **more}, "kustomization": True}

    def begin(self, folder: Path) -> None:
        del folder
        give_rights(self._cluster, flux.NAMESPACE, self.account)
        self._engine.know_cluster(REMOTE)
        self._engine.make_source(self.source)
        self._cluster.apply(json.dumps(manuals.sample("flux", "Kustomization")))

    def bring(self, repository: GitFolder, commit: str) -> None:
        self._engine.publish(self.source, repository, commit)
        self._engine.wait_applied(ROOT, commit)
        super().bring(repository, commit)

    def leave(self) -> None:
        """What applies it is deleted, and it goes with that."""
        self._engine.delete(ROOT)
        self._engine.wait_gone(self._object)

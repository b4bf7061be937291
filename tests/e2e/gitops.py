"""A small engine: applies what `berth render` wrote, leaves `replicas` to whoever scales, prunes the rest.

That is what Argo CD does as we configure it; here it acts at the very moment that a test wants.
"""

import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.e2e import project
from tests.e2e.direct import EACH_MINUTE, Direct, Object, RefusedError, at_once
from tests.e2e.project import Document

APPLY = "application/apply-patch+yaml"
ROOTS = {
    "Namespace": "/api/v1/namespaces",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "CronJob": "/apis/batch/v1/namespaces/{}/cronjobs",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "EC2NodeClass": "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    "NodePool": "/apis/karpenter.sh/v1/nodepools",
    "PodTemplate": "/api/v1/namespaces/{}/podtemplates",
    "CapacityBuffer": "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/{}/capacitybuffers",
    "Reservation": "/apis/scheduling.koordinator.sh/v1alpha1/reservations",
}
SCALED = ("Deployment", "NodePool", "CapacityBuffer")
FIRST = (("Namespace",), ("PriorityClass", "ServiceAccount"))  # in this order, before all others


def path(document: Mapping[str, object]) -> str:
    """Of the object at the API server."""
    metadata = document["metadata"]
    assert isinstance(metadata, dict)
    return f"{ROOTS[str(document['kind'])].format(metadata.get('namespace'))}/{metadata['name']}"


def is_kept(document: Mapping[str, Any]) -> bool:
    """Return whether engines leave the object when it is not in git any more."""
    notes = document["metadata"].get("annotations", {})
    return bool(notes.get("argocd.argoproj.io/sync-options") == "Prune=false")


def sweep_each_minute(found: Object) -> None:
    """Change the CronJob of a sweep, for a story that waits for it."""
    if found["kind"] == "CronJob" and found["metadata"]["name"] == "berth-sweep":
        found["spec"]["schedule"] = EACH_MINUTE


class Engine:
    """`adapt` may change an object before it is applied: what a test wants to be different in the cluster."""

    def __init__(
        self, direct: Direct, folder: Path, adapt: Callable[[Object], None] = lambda _: None
    ) -> None:
        self._direct = direct
        self._folder = folder
        self.adapt = adapt
        self.turn = threading.RLock()  # one change of git and its sync at a time
        self._applied: dict[str, str] = {}  # path -> its reservation

    def begin(self, documents: list[Document]) -> None:
        self.declare(documents)
        self.sync()

    def declare(self, documents: list[Document]) -> None:
        """Write and render; nothing is applied."""
        with self.turn:
            project.write(self._folder, documents)
            project.berth(self._folder, "render")

    def withdraw(self, reservation: str) -> None:
        """The pull request that removes a reservation: rendered, not yet applied."""
        with self.turn:
            (self._folder / "reservations" / f"capacityreservation-{reservation}.json").unlink()
            project.berth(self._folder, "render")

    def sync(self, name: str = "") -> None:
        """All objects, or those of one reservation, are as rendered when this returns; the rest is gone."""
        with self.turn:
            self._sync(name)

    def _sync(self, name: str) -> None:
        documents = self.documents(name)
        wanted = {path(document): document for document in documents}
        for group in (*FIRST, set(ROOTS).difference(*FIRST)):
            at_once([partial(self.apply, document) for document in documents if document["kind"] in group])
        old = {where for where, owner in self._applied.items() if name in ("", owner)}
        at_once([partial(self._prune, where) for where in old - wanted.keys()])
        for where in old - wanted.keys():
            del self._applied[where]
        labels = {
            where: one["metadata"].get("labels", {}) for where, one in wanted.items() if not is_kept(one)
        }
        self._applied.update(
            {where: label.get("berth.dev/reservation", "") for where, label in labels.items()}
        )

    def documents(self, name: str = "") -> list[Object]:
        """As rendered, of one reservation or of all files of all clusters."""
        where = self._folder / "rendered" / "clusters"
        files = sorted(where.rglob(f"reservations/{name}.yaml" if name else "*.yaml"))
        return [one for file in files for one in yaml.load_all(file.read_text(), yaml.CSafeLoader) if one]

    def apply(self, document: Object) -> None:
        where = path(document)
        self.adapt(document)
        if document["kind"] in SCALED and "replicas" in document["spec"]:
            try:
                document["spec"]["replicas"] = self._direct.get(where)["spec"].get("replicas", 0)
            except RefusedError as error:
                if error.status != 404:
                    raise
        self._direct.ask("PATCH", f"{where}?fieldManager=engine&force=true", document, APPLY)

    def _prune(self, where: str) -> None:
        self._direct.delete(where, propagationPolicy="Foreground")

"""Objects beside ours that the sweep must not touch."""

from typing import Any

from tests.e2e.cluster import Cluster
from tests.e2e.project import Document


def objects(namespace: str, ours: str) -> list[Document]:
    """Of another site, also as ours are made; of no reservation; of nobody. `ours` is our site."""
    site, course = {"berth.dev/site": "another"}, {"berth.dev/reservation": "gone"}
    labels = {
        "of-another-site": {**site, **course},
        "of-no-reservation": {"berth.dev/site": ours},
        "of-nobody": {},
    }
    documents = [_deployment(name, more) for name, more in labels.items()]
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "jobs-other", "labels": {**site, **course, "berth.dev/role": "occurrence"}},
        "spec": {"template": {"spec": {**_NOWHERE, "restartPolicy": "Never"}}},
    }
    timetable = {"name": "of-another-site", "labels": {**site, **course, "berth.dev/role": "timetable"}}
    documents += [job, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": timetable}]
    for tree in documents:
        tree["metadata"]["namespace"] = namespace
    return documents


_NOWHERE: Document = {
    "nodeSelector": {"type": "nowhere"},
    "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10.1"}],
}


def _deployment(name: str, labels: dict[str, str]) -> Document:
    selector = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": selector},
            "template": {"metadata": {"labels": selector}, "spec": _NOWHERE},
        },
    }


def seen(cluster: Cluster, namespace: str, ours: str) -> list[Any]:
    """Their identity, labels, notes and what they want: all but their status."""
    found = []
    for tree in objects(namespace, ours):
        kind, name = tree["kind"], tree["metadata"]["name"]
        there = cluster.get(kind, name, namespace)
        known = {key: there["metadata"].get(key) for key in ("uid", "labels", "deletionTimestamp")}
        found.append((kind, name, known, there.get("spec")))
    return found

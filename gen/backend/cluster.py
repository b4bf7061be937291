"""The objects that a cluster has once: namespace, priority, identity and code.

They stay when the last reservation goes.
"""
# pathlib would cost more than all that it could do here.
# ruff: noqa: PTH118, PTH120, PTH123, PTH208

import os

from gen.backend.base import Manifest
from gen.manifest import labels, naming
from gen.model import Cluster, Site


def runtime_code() -> list[dict[str, str]]:
    """The in-cluster code, file by file, sorted by name: what runs is what is reviewed."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "runtime")
    files = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                files.append({"name": name, "text": file.read()})
    return [file for file in files if file["text"]]


def manifests(site: Site, cluster: Cluster) -> list[Manifest]:
    ours = labels.of_site(site)
    common = {"namespace": cluster.namespace, "labels": ours}
    return [
        Manifest("base/namespace.yaml.j2", {"name": cluster.namespace, "labels": ours}),
        Manifest(
            "base/priorityclass.yaml.j2",
            {
                "name": naming.priority_class(site.name, cluster.priority),
                "labels": ours,
                "value": cluster.priority,
            },
        ),
        Manifest("base/serviceaccount.yaml.j2", {**common, "name": naming.OCCURRENCE}),
        Manifest("base/code.yaml.j2", {**common, "name": naming.RUNTIME, "files": runtime_code()}),
    ]

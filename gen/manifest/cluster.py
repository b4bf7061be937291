"""The objects that a cluster has once: namespace, priority, identity and code. They stay when no reservation does."""

from pathlib import Path

from gen.backend.base import Manifest
from gen.manifest import labels, naming
from gen.model import Cluster, Site


def runtime_code() -> list[dict[str, str]]:
    """The in-cluster code, file by file, sorted by name: what runs is what is reviewed."""
    folder = Path(__file__).parents[1] / "runtime"
    files = sorted(folder.glob("*.py"))
    return [{"name": file.name, "text": file.read_text("utf-8")} for file in files if file.stat().st_size]


def manifests(site: Site, cluster: Cluster) -> list[Manifest]:
    ours = labels.of_site(site)
    common = {"namespace": cluster.namespace, "labels": ours}
    return [
        Manifest("base/namespace.yaml.j2", {"name": cluster.namespace, "labels": ours}),
        Manifest(
            "base/priorityclass.yaml.j2",
            {"name": naming.priority_class(site.name), "labels": ours, "value": cluster.priority},
        ),
        Manifest("base/serviceaccount.yaml.j2", {**common, "name": naming.OCCURRENCE}),
        Manifest("base/code.yaml.j2", {**common, "name": naming.RUNTIME, "files": runtime_code()}),
    ]

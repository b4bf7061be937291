"""A project of declarations for the cluster at hand, rendered by the very command that people run."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.e2e.errors import E2EError

Document = dict[str, Any]
ROOT = Path(__file__).parents[2]
NAMESPACE = "berth-e2e"
SESSIONS = "kube-public"  # every cluster has it, and nobody runs pods there


def document(kind: str, name: str, spec: Document) -> Document:
    return {"apiVersion": "berth.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def site(name: str = "e2e", **spec: Any) -> Document:
    clusters = [{"name": "real"}]
    return document("Site", name, {"namespace": NAMESPACE, "engine": "argocd", "clusters": clusters, **spec})


def resource_class(name: str) -> Document:
    """Its placeholders land on nodes that pretend."""
    spec = {
        "requests": {"cpu": "100m", "memory": "64Mi"},
        "nodeSelector": {"type": "kwok"},
        "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}],
        "sessions": {"source": "pods", "namespaces": [SESSIONS]},
    }
    return document("ResourceClass", name, spec)


def write(folder: Path, documents: Sequence[Document]) -> None:
    """One file for each declaration below folder/reservations, replacing those of the same kind and name."""
    where = folder / "reservations"
    where.mkdir(parents=True, exist_ok=True)
    for one in documents:
        name = f"{one['kind']}-{one['metadata']['name']}.json".lower()
        (where / name).write_text(json.dumps(one, indent=1))


def berth(folder: Path, *words: str, codes: Sequence[int] = (0,)) -> str:
    """What `berth` prints in the folder; its exit code must be one of `codes`."""
    done = subprocess.run(
        [sys.executable, "-m", "berth", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    if done.returncode not in codes:
        raise E2EError(f"berth {' '.join(words)} exited {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def findings(folder: Path) -> list[Mapping[str, Any]]:
    answer = json.loads(berth(folder, "validate", "-o", "json", codes=(0, 1)))
    items: list[Mapping[str, Any]] = answer["items"]
    return items

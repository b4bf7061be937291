"""Nodes that only pretend to exist: room for placeholders and sessions without containers behind them."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.e2e.certificates import Certificates
from tests.e2e.component import Component
from tests.e2e.sandbox import Sandbox
from tests.e2e.waiting import is_ready, wait_for

STAGES = Path(__file__).resolve().parent / "stages.yaml"
LABEL = {"type": "kwok"}
TAINT = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}
TOLERATION = {"key": TAINT["key"], "operator": "Equal", "value": TAINT["value"], "effect": TAINT["effect"]}
CAPACITY = {"cpu": "32", "memory": "256Gi", "pods": "110"}


class Kwok:
    def __init__(
        self,
        sandbox: Sandbox,
        bin_dir: Path,
        certificates: Certificates,
        logs: Path,
        kubectl: Callable[..., str],
    ) -> None:
        self._kubectl = kubectl
        selector = ",".join(f"{key}={value}" for key, value in LABEL.items())
        argv = [
            str(bin_dir / "kwok"),
            f"--kubeconfig={certificates.kubeconfig('admin')}",
            f"--config={STAGES}",
            "--manage-all-nodes=false",
            f"--manage-nodes-with-label-selector={selector}",
            "--node-lease-duration-seconds=40",
            # Addresses that lead nowhere, outside of the real node's pod network.
            "--node-ip=10.245.0.1",
            "--cidr=10.245.0.0/16",
        ]
        self.component = Component(sandbox, argv, logs)

    def create_nodes(
        self,
        count: int,
        prefix: str = "fake",
        capacity: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
    ) -> list[str]:
        """Make `<prefix>-0` to `<prefix>-<count - 1>`, wait until they are ready, and return their names.
        `taints` come beside the one that all of them have.
        """
        names = [f"{prefix}-{number}" for number in range(count)]
        room = {**CAPACITY, **(capacity or {})}
        nodes = [_node(name, room, labels or {}, [TAINT, *taints]) for name in names]
        manifest = {"apiVersion": "v1", "kind": "List", "items": nodes}
        self._kubectl("create", "-f", "-", input=json.dumps(manifest))
        wait_for(lambda: set(names) <= self._ready(), 180, f"{count} fake nodes {prefix}-* to be ready")
        return names

    def delete_nodes(self, names: list[str]) -> None:
        if names:
            self._kubectl("delete", "node", "--ignore-not-found", *names)

    def _ready(self) -> set[str]:
        listed = json.loads(self._kubectl("get", "nodes", "-o", "json"))
        return {node["metadata"]["name"] for node in listed["items"] if is_ready(node)}


def _node(
    name: str, capacity: Mapping[str, str], labels: Mapping[str, str], taints: Sequence[Mapping[str, str]]
) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **LABEL, **labels},
        },
        "spec": {"taints": taints},
        "status": {"capacity": dict(capacity), "allocatable": dict(capacity)},
    }

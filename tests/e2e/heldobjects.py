"""Objects of somebody else whose numbers Berth holds: their manifests, and every number that they had."""

import time
from functools import partial

from tests.e2e.direct import Direct, Mirror, Object
from tests.e2e.images import PAUSE
from tests.e2e.kwok import LABEL, TOLERATION

AUTOSCALER = "HorizontalPodAutoscaler"
ROOTS = {
    AUTOSCALER: "/apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
}
MOST = 60  # replicas that an autoscaler may ask for


def held_kinds(namespace: str) -> list[Object]:
    """What a Site says of the objects below."""
    return [
        {"apiVersion": "autoscaling/v2", "kind": AUTOSCALER, "namespaces": [namespace]},
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "namespaces": [namespace]},
    ]


def held_by(kind: str, namespace: str, name: str, **more: object) -> Object:
    """The backend of a reservation that holds the number of an object."""
    version, path = {
        AUTOSCALER: ("autoscaling/v2", "spec.minReplicas"),
        "StatefulSet": ("apps/v1", "spec.replicas"),
    }[kind]
    target = {"apiVersion": version, "kind": kind, "namespace": namespace, "name": name, "path": path}
    return {"type": "value", "target": target, **more}


def autoscaler(name: str, minimum: int, *, metric: str = "") -> Object:
    """Without a metric it follows the CPU, which nobody measures in these clusters."""
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    spec: Object = {"scaleTargetRef": reference, "minReplicas": minimum, "maxReplicas": MOST}
    if metric:
        target = {"type": "AverageValue", "averageValue": "1"}
        spec["metrics"] = [{"type": "External", "external": {"metric": {"name": metric}, "target": target}}]
        spec["behavior"] = {"scaleDown": {"stabilizationWindowSeconds": 0}}
    kind = {"apiVersion": "autoscaling/v2", "kind": AUTOSCALER}
    return {**kind, "metadata": {"name": name}, "spec": spec}


def workload(kind: str, name: str, replicas: int) -> Object:
    """A Deployment or StatefulSet whose pods only pretend."""
    labels = {"app": name}
    pod = {
        "nodeSelector": LABEL,
        "tolerations": [TOLERATION],
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": PAUSE}],
    }
    spec: Object = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    if kind == "StatefulSet":
        spec |= {"serviceName": name, "podManagementPolicy": "Parallel"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def number(held: Object) -> int:
    """The least replicas of an autoscaler, the replicas of others."""
    found: int = held["spec"].get("minReplicas" if "minReplicas" in held["spec"] else "replicas", 0)
    return found


class Numbers:
    """Every number of the objects of a namespace, by watches: looks would miss what is soon put right."""

    def __init__(self, direct: Direct, namespace: str) -> None:
        self._changes: dict[str, list[tuple[float, int]]] = {}
        self._mirrors = [
            Mirror(direct, root.format(namespace), partial(self._look, kind)) for kind, root in ROOTS.items()
        ]
        self._by_kind = dict(zip(ROOTS, self._mirrors, strict=True))

    def start(self) -> None:
        for mirror in self._mirrors:
            mirror.start()

    def stop(self) -> None:
        for mirror in self._mirrors:
            mirror.leave()
        for mirror in self._mirrors:
            mirror.stop()

    def _look(self, kind: str) -> None:
        for held in self._by_kind[kind].objects():
            known = self._changes.setdefault(f"{kind}/{held['metadata']['name']}", [])
            value = number(held)
            if not known or known[-1][1] != value:
                known.append((time.time(), value))

    def changes(self, key: str) -> list[tuple[float, int]]:
        """When the number became another (seconds since the epoch), beginning with the first.

        The key is the kind and the name of the object, as in `StatefulSet/workers`.
        """
        return list(self._changes.get(key, ()))

    def steps(self, key: str) -> list[int]:
        return [value for _, value in self.changes(key)]

    def histories(self, zero: float) -> str:
        """A line for each object, with its changes: second:number."""
        return "".join(
            f"{key}: {' '.join(f'{at - zero:.0f}:{value}' for at, value in changes)}\n"
            for key, changes in sorted(self._changes.items())
        )

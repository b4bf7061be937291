"""Documents about numbers of somebody else that reservations hold."""

from typing import Any

from tests.saying import Value, reservation, resource_class, site

HPA: Value = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "namespaces": ["shop"]}
DEPLOYMENT: Value = {"apiVersion": "apps/v1", "kind": "Deployment", "namespaces": ["shop"]}
NODE_POOL: Value = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool"}
QUEUE: Value = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue"}
ROLLOUT: Value = {
    "apiVersion": "example.org/v1",
    "kind": "Fleet",
    "plural": "fleets",
    "scale": True,
    "namespaces": ["shop"],
}
API: Value = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "namespace": "shop",
    "name": "api",
    "path": "spec.minReplicas",
}
WEB: Value = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "namespace": "shop",
    "name": "web",
    "path": "spec.replicas",
}
QUOTA: Value = {
    "apiVersion": "kueue.x-k8s.io/v1beta1",
    "kind": "ClusterQueue",
    "name": "batch",
    "path": "spec.resourceGroups[0].flavors[name=default].resources[name=memory].nominalQuota",
}
EVERY = (HPA, DEPLOYMENT, NODE_POOL, QUEUE, ROLLOUT)


def holding(name: str = "course", target: Value = API, *, spec: Value | None = None, **options: Any) -> Value:
    """Return a reservation that holds a number."""
    return reservation(name, backend={"type": "value", "target": target, **options}, **(spec or {}))


def held_site(*held: Value, **cluster: Any) -> Value:
    return site({"name": "prod", "held": list(held or EVERY), **cluster})


def documents(*reservations: Value, held: tuple[Value, ...] = ()) -> tuple[Value, ...]:
    return *reservations, held_site(*held), resource_class()

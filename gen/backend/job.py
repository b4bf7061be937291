"""What the pods of all our own Jobs share: their image, where they may run, and with what."""

from typing import Any

from gen.model import Cluster

# A node that is gone costs half a minute, not the five minutes that Kubernetes waits by default.
UNREACHABLE = tuple(
    {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 30,
    }
    for condition in ("not-ready", "unreachable")
)
# kube-linter wants every container to have all of them; this is why ours has none.
UNLIMITED = {
    "ignore-check.kube-linter.io/unset-cpu-requirements": "a throttled start would open the window late",
}


def pod(cluster: Cluster) -> dict[str, Any]:
    runtime = cluster.runtime
    node_selector = runtime.node_selector or {}
    return {
        "image": cluster.images.python,
        **pull_secrets(cluster),
        "node_selector": node_selector,
        "has_node_selector": bool(node_selector),
        "tolerations": [*(one.dump() for one in runtime.tolerations or ()), *UNREACHABLE],
        "resources": cluster.job_resources,
    }


def pull_secrets(cluster: Cluster) -> dict[str, Any]:
    secrets = [{"name": name} for name in cluster.images.pull_secrets]
    return {"pull_secrets": secrets, "has_pull_secrets": bool(secrets)}

"""Every option of every engine."""

from typing import Any

EVERY: dict[str, dict[str, Any]] = {
    "argocd": {
        "version": "3.2",
        "namespace": "cd",
        "serviceAccount": "cd:berth",
        "automated": True,
        "prune": False,
        "selfHeal": False,
        "retries": -1,
        "syncOptions": ["Validate=false", "ServerSideApply=false"],
        "cascade": True,
        "labels": {"team": "a"},
        "annotations": {"example.org/a": "b"},
    },
    "flux": {
        "version": "2.8",
        "namespace": "flux",
        "sourceSecret": "a",
        "sourceProvider": "azure",
        "sourceInterval": "30s",
        "path": "a/b",
        "interval": "1h30m",
        "retryInterval": "10s",
        "timeout": "2m",
        "prune": False,
        "deletionPolicy": "Orphan",
        "suspend": True,
        "dependsOn": ["namespaces"],
        "serviceAccountName": "a",
        "kubeConfigSecret": "b",
        "labels": {"team": "a"},
        "annotations": {"example.org/a": "b"},
    },
}

"""Kueue's manager, in the sandbox of a cluster, with the webhooks of its own kinds and of Jobs.

Its internal certificates stay on, as in an installation: it makes them, and writes its authority into the
webhooks and conversions. Without them it reads the certificates of its metrics from a fixed folder in /etc,
which is the machine's. What a kubelet would mount is written here: the files of its Secret.
"""

import base64
import json
import time
from pathlib import Path
from typing import Any

import yaml

from tests.e2e import binaries
from tests.e2e.cluster import Cluster
from tests.e2e.component import Component
from tests.e2e.sandbox import BRIDGE_ADDRESS, STATE

NAME = "kueue"
MODULE = "sigs.k8s.io/kueue"
SYSTEM = "kueue-system"
QUEUE = "kueue.x-k8s.io/queue-name"  # label of a Job
MANAGED = "e2e.berth.dev/kueue"  # label of the namespaces whose Jobs are Kueue's
API = "/apis/kueue.x-k8s.io/v1beta2"
_SERVICE, _SECRET, _PORT = "kueue-webhook-service", "kueue-webhook-server-cert", 19443
_CERTIFICATES = STATE / "kueue-certificates"
_OWN = ("clusterqueue", "cohort", "localqueue", "resourceflavor", "workload")
_CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")


def start(cluster: Cluster) -> Component:
    """It works, with its webhooks, when this returns."""
    program = binaries.binary(NAME)
    config = binaries.source(NAME, MODULE) / "config" / "components"
    cluster.define(*sorted((config / "crd" / "bases").glob("*.yaml")))
    for kind in _CONVERTED:
        patch = json.dumps({"spec": {"conversion": _conversion()}})
        cluster.kubectl("patch", "crd", f"{kind}.kueue.x-k8s.io", "--type=merge", f"--patch={patch}")
    cluster.create_namespace(SYSTEM)
    cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": _objects(config)}))
    file = STATE / f"{NAME}.json"
    file.write_text(json.dumps(_configuration()))
    made = cluster.add(str(program), f"--config={file}", environment={"KUBECONFIG": str(cluster.kubeconfig)})
    made.start()
    cluster.wait_for(lambda: _mount(cluster), 60, "the certificates of Kueue")
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "ready"}}
    cluster.wait_for(
        lambda: made.running and cluster.apply(json.dumps(flavor), server_dry_run=True),
        60,
        "the webhooks of Kueue",
    )
    return made


def remove(cluster: Cluster, component: Component) -> None:
    """Its webhooks first: without it they refuse whatever they are asked about."""
    for kind in ("mutating", "validating"):
        name = f"{kind}webhookconfiguration/kueue-{kind}-webhook-configuration"
        cluster.kubectl("delete", name, "--ignore-not-found")
    component.stop()


def _configuration() -> dict[str, Any]:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": SYSTEM,
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"port": _PORT, "certDir": str(_CERTIFICATES)},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 50, "burst": 100},
        "integrations": {"frameworks": ["batch/job"]},
        # It asks for an APIService of its own.
        "featureGates": {"VisibilityOnDemand": False},
    }


def _mount(cluster: Cluster) -> bool:
    """Whether the manager has filled its Secret, whose files are there then."""
    data = cluster.get("secret", _SECRET, SYSTEM).get("data")
    if not data:
        return False
    _CERTIFICATES.mkdir(exist_ok=True)
    for name in sorted(data, reverse=True):  # the manager waits for tls.crt, so tls.key comes first
        if name != "tls.crt":
            (_CERTIFICATES / name).write_bytes(base64.b64decode(data[name]))
    partial = _CERTIFICATES / f".tls.crt.{time.monotonic_ns()}"
    partial.write_bytes(base64.b64decode(data["tls.crt"]))
    partial.replace(_CERTIFICATES / "tls.crt")
    return True


def _conversion() -> dict[str, Any]:
    client = {"service": {"namespace": SYSTEM, "name": _SERVICE, "path": "/convert"}}
    return {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}


def _objects(config: Path) -> list[dict[str, Any]]:
    ports = [{"port": 443, "protocol": "TCP", "targetPort": _PORT}]
    here = {"namespace": SYSTEM}
    labels = {"kubernetes.io/service-name": _SERVICE}
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _SECRET, **here}},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": _SERVICE, **here},
            "spec": {"ports": ports},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": _SERVICE, **here, "labels": labels},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [BRIDGE_ADDRESS], "conditions": {"ready": True}}],
            "ports": [{"port": _PORT, "protocol": "TCP", "name": ""}],
        },
        *_webhooks(config / "webhook" / "manifests.yaml"),
    ]


def _webhooks(file: Path) -> list[dict[str, Any]]:
    """Of its own kinds, and of Jobs in namespaces that are managed. It is not asked about anything else."""
    made = []
    for configuration in yaml.safe_load_all(file.read_text()):
        configuration["metadata"]["name"] = f"kueue-{configuration['metadata']['name']}"
        kept = []
        for webhook in configuration["webhooks"]:
            webhook["clientConfig"]["service"].update(name=_SERVICE, namespace=SYSTEM)
            what = webhook["name"][1:].removesuffix(".kb.io")
            if what == "job":
                webhook["namespaceSelector"] = {"matchLabels": {MANAGED: "true"}}
            if what in (*_OWN, "job"):
                kept.append(webhook)
        configuration["webhooks"] = kept
        made.append(configuration)
    return made

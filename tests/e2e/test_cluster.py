"""Proves that the cluster of these tests is a real one."""

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import linters
from tests.e2e.cluster import Cluster, KubectlError
from tests.e2e.cronfires import missed_opens
from tests.e2e.errors import E2EError
from tests.e2e.images import PAUSE, PYTHON
from tests.e2e.kwok import TOLERATION
from tests.e2e.lock import MachineLock
from tests.e2e.schemas import KubeconformError, kubeconform

READS_THE_API = """
import http.client, json, os, pathlib, ssl, sys
folder = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")
token = (folder / "token").read_text()
context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
host, port = os.environ["KUBERNETES_SERVICE_HOST"], int(os.environ["KUBERNETES_SERVICE_PORT"])
api = http.client.HTTPSConnection(host, port, context=context, timeout=10)
api.request("GET", "/version", headers={"Authorization": "Bearer " + token})
version = json.load(api.getresponse())["gitVersion"]
name = (folder / "namespace").read_text()
api.request("GET", f"/api/v1/namespaces/{name}/configmaps", headers={"Authorization": "Bearer " + token})
refused = api.getresponse().status
try:
    open("/written", "w")
    written = "yes"
except OSError:
    written = "no"
print(f"{host}:{port} {version} {refused} uid={os.getuid()} written={written}", flush=True)
"""

SIDECAR = """
import signal, sys, time
def leave(*_):
    print("sidecar told to end", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print("sidecar runs", flush=True)
while True:
    time.sleep(0.1)
"""


def container(name: str, script: str) -> dict[str, object]:
    return {
        "name": name,
        "image": PYTHON,
        "command": ["python", "-c", textwrap.dedent(script)],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }


def job_with_sidecar() -> dict[str, Any]:
    pod = {
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [{**container("sidecar", SIDECAR), "restartPolicy": "Always"}],
        "containers": [container("main", READS_THE_API)],
    }
    spec = {"backoffLimit": 0, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "window"}, "spec": spec}


def pause_deployment(replicas: int) -> dict[str, Any]:
    labels = {"app": "placeholder"}
    pod = {
        "nodeSelector": {"type": "kwok"},
        "tolerations": [TOLERATION],
        "containers": [{"name": "pause", "image": PAUSE}],
    }
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "placeholder"}, "spec": spec}


def test_every_part_has_the_pinned_version(cluster: Cluster) -> None:
    versions = json.loads(cluster.kubectl("version", "-o", "json"))
    assert versions["serverVersion"]["gitVersion"] == "v1.36.3"
    assert versions["clientVersion"]["gitVersion"] == "v1.36.3"
    node = cluster.get("node", cluster.node.name)
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.3"
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"] == "containerd://2.4.2"
    assert "taints" not in node["spec"]


def test_a_restricted_job_with_a_sidecar_runs(cluster: Cluster, restricted_namespace: str) -> None:
    cluster.apply(json.dumps(job_with_sidecar()), namespace=restricted_namespace)
    cluster.wait_for(
        lambda: cluster.get("job", "window", restricted_namespace)["status"].get("succeeded") == 1,
        60,
        "the Job to be complete",
    )
    (pod,) = cluster.find("pods", restricted_namespace)
    assert pod["spec"]["nodeName"] == cluster.node.name
    log = cluster.kubectl("logs", "job/window", "-c", "main", f"--namespace={restricted_namespace}")
    assert log.split() == ["10.96.0.1:443", "v1.36.3", "403", "uid=65532", "written=no"]
    sidecar = cluster.kubectl("logs", "job/window", "-c", "sidecar", f"--namespace={restricted_namespace}")
    assert sidecar.splitlines() == ["sidecar runs", "sidecar told to end"]


def test_restricted_refuses_root(cluster: Cluster, restricted_namespace: str) -> None:
    pod = {"containers": [{"name": "root", "image": PYTHON}]}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "root"}, "spec": pod}
    with pytest.raises(KubectlError, match="violates PodSecurity"):
        cluster.apply(json.dumps(manifest), server_dry_run=True, namespace=restricted_namespace)


def test_placeholders_become_ready_on_fake_nodes(cluster: Cluster, namespace: str) -> None:
    nodes = cluster.kwok.create_nodes(2, "roomy", capacity={"pods": "10"}, labels={"pool": "test"})
    try:
        cluster.apply(json.dumps(pause_deployment(12)), namespace=namespace)
        cluster.wait_for(
            lambda: cluster.get("deployment", "placeholder", namespace)["status"].get("readyReplicas") == 12,
            30,
            "all placeholders to be ready",
        )
        assert {pod["spec"]["nodeName"] for pod in cluster.find("pods", namespace)} == set(nodes)
    finally:
        cluster.kubectl("delete", "deployment", "placeholder", f"--namespace={namespace}")
        cluster.kwok.delete_nodes(nodes)


def test_a_pause_pod_runs_on_the_real_node_and_ends_at_once(cluster: Cluster, namespace: str) -> None:
    pod = {"containers": [{"name": "pause", "image": PAUSE}]}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone"}, "spec": pod}
    cluster.apply(json.dumps(manifest), namespace=namespace)
    cluster.wait_for(
        lambda: cluster.get("pod", "alone", namespace)["status"]["phase"] == "Running", 30, "the pod to run"
    )
    cluster.kubectl("delete", "pod", "alone", f"--namespace={namespace}", timeout=25)  # of a grace of 30


def test_the_api_server_can_go_and_come_back(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("create", "configmap", "kept", "--from-literal=a=b", f"--namespace={namespace}")
    with cluster.control_plane.apiserver.stopped(), pytest.raises(KubectlError, match="refused"):
        cluster.get("configmap", "kept", namespace)
    assert cluster.get("configmap", "kept", namespace)["data"] == {"a": "b"}


def test_the_controller_manager_can_go_and_come_back(cluster: Cluster, namespace: str) -> None:
    with cluster.control_plane.controller_manager.stopped():
        cluster.apply(json.dumps(pause_deployment(1)), namespace=namespace)
        with pytest.raises(E2EError, match="in vain for a ReplicaSet"):
            cluster.wait_for(lambda: cluster.find("replicasets", namespace), 3, "a ReplicaSet")
    cluster.wait_for(lambda: cluster.find("replicasets", namespace), 30, "a ReplicaSet")


def test_a_second_cluster_is_refused_in_one_line(cluster: Cluster) -> None:
    assert all(component.running for component in cluster.components)
    with pytest.raises(E2EError, match="runs a cluster on this machine already") as refused:
        Cluster().up()
    assert "\n" not in str(refused.value)
    assert MachineLock().holder() is not None
    cluster.kubectl("get", "--raw", "/readyz")


def test_kubeconform_is_strict_with_the_servers_own_schemas(cluster: Cluster, tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    items = [job_with_sidecar(), pause_deployment(1)]
    good.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert "Valid: 2" in kubeconform(cluster, good)
    bad = pause_deployment(1)
    bad["spec"]["replica"] = 2
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    with pytest.raises(KubeconformError, match="replica"):
        kubeconform(cluster, tmp_path / "bad.json")


def test_actionlint_knows_good_from_bad(tmp_path: Path) -> None:
    workflow = "on: push\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo\n"
    (tmp_path / "good.yaml").write_text(workflow)
    linters.actionlint(tmp_path / "good.yaml")
    (tmp_path / "bad.yaml").write_text(workflow.replace("runs-on", "runs-at"))
    with pytest.raises(linters.LintError, match="runs-at"):
        linters.actionlint(tmp_path / "bad.yaml")


def test_cronfires_finds_the_openings_that_no_schedule_meets() -> None:
    zurich = [{"schedule": "30 8 * * 1", "timeZone": "Europe/Zurich"}]
    opens = ["2026-02-02T07:30:00Z", "2026-07-06T06:30:00Z", "2026-07-06T07:30:00Z", "2026-02-03T07:30:00Z"]
    missed = missed_opens(
        [
            {"name": "met", "schedules": zurich, "opens": opens[:2]},
            {"name": "missed", "schedules": zurich, "opens": opens},
        ]
    )
    assert missed == {"met": [], "missed": opens[2:]}

"""Argo CD beside the cluster: its repository server, its three controllers, and redis.

Each is a program in the sandbox, not a pod. There is no web server: Applications are told by annotations.
"""

import json
import time
from pathlib import Path
from typing import Any

import yaml

from tests.e2e import binaries
from tests.e2e.cluster import Cluster
from tests.e2e.component import Component
from tests.e2e.errors import E2EError
from tests.e2e.packages import require_command
from tests.e2e.project import ROOT
from tests.e2e.sandbox import STATE
from tests.e2e.waiting import wait_for

CRDS = Path(__file__).parent / "crds"
NAMESPACE = "argocd"
REDIS, REPO_SERVER = 6399, 8381
APPLICATION_SETS = "argocd-applicationset-controller"
NOTIFICATIONS = "argocd-notifications"
_HOME = STATE / "argocd"


class ArgoCD:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.components: list[Component] = []

    def up(self, chat: str) -> None:
        """It works, and tells the chat, when this returns."""
        redis = require_command("redis-server", "redis-server")
        programs = self._programs()
        kinds = binaries.source("argocd", "github.com/argoproj/argo-cd/v3") / "manifests" / "crds"
        self._cluster.define(kinds / "applicationset-crd.yaml", *sorted(CRDS.glob("argocd-*.yaml")))
        self._cluster.create_namespace(NAMESPACE)
        self._cluster.kubectl(
            *("create", "clusterrolebinding", "argocd-root", "--clusterrole=cluster-admin"),
            f"--serviceaccount={NAMESPACE}:argocd-root",
        )
        self._cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": _configuration()}))
        self._tell(chat)
        self._add(redis, programs)
        self.start()

    def _tell(self, chat: str) -> None:
        """The messages of the documentation."""
        (messages,) = yaml.safe_load_all((ROOT / "docs/examples/argocd-notifications.yaml").read_text())
        messages["data"]["service.slack"] += f"apiURL: {chat}\n"
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "argocd-notifications-secret", "namespace": NAMESPACE},
            "stringData": {"slack-token": "e2e"},
        }
        self._cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": [messages, secret]}))

    def _add(self, redis: str, programs: Path) -> None:
        environment = self._environment(programs)
        kubeconfig = f"--kubeconfig={self._cluster.kubeconfig}"
        common = (f"--redis=127.0.0.1:{REDIS}", "--loglevel=info", "--logformat=text")
        add = self._cluster.add
        self.components = [
            add(redis, "--port", str(REDIS), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"),
            add(
                str(programs / "argocd-repo-server"),
                *common,
                "--address=127.0.0.1",
                "--metrics-address=127.0.0.1",
                f"--port={REPO_SERVER}",
                "--disable-tls",
                "--revision-cache-expiration=5s",
                environment=environment,
            ),
            add(
                str(programs / "argocd-application-controller"),
                *common,
                kubeconfig,
                f"--namespace={NAMESPACE}",
                f"--repo-server=127.0.0.1:{REPO_SERVER}",
                "--repo-server-plaintext",
                "--app-resync=15",
                environment=environment,
            ),
            add(
                str(programs / APPLICATION_SETS),
                "--loglevel=info",
                "--logformat=text",
                kubeconfig,
                f"--namespace={NAMESPACE}",
                f"--argocd-repo-server=127.0.0.1:{REPO_SERVER}",
                "--repo-server-plaintext",
                "--metrics-addr=127.0.0.1:8382",
                "--probe-addr=127.0.0.1:8383",
                "--webhook-addr=127.0.0.1:8384",
                environment={**environment, "NAMESPACE": NAMESPACE},
            ),
            add(
                str(programs / NOTIFICATIONS),
                "--loglevel=info",
                "--logformat=text",
                kubeconfig,
                f"--namespace={NAMESPACE}",
                f"--argocd-repo-server=127.0.0.1:{REPO_SERVER}",
                "--argocd-repo-server-plaintext",
                "--metrics-port=8385",
                environment=environment,
            ),
        ]

    def start(self) -> None:
        for component in self.components:
            component.start()

    def stop(self) -> None:
        for component in reversed(self.components):
            component.stop()

    def _programs(self) -> Path:
        """One program is all of them: what it is called says which."""
        built = binaries.binary("argocd")
        folder = _HOME / "bin"
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("argocd-repo-server", "argocd-application-controller", APPLICATION_SETS, NOTIFICATIONS):
            (folder / name).symlink_to(built)
        (folder / "kustomize").symlink_to(binaries.binary("kustomize"))
        (folder / "kubectl").symlink_to(binaries.binary("kubectl"))
        return folder

    def _environment(self, programs: Path) -> dict[str, str]:
        for name in ("tls", "ssh", "tmp"):
            (_HOME / name).mkdir(exist_ok=True)
        (_HOME / "ssh" / "ssh_known_hosts").touch()
        return {
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(_HOME / "tmp"),
            "KUBECONFIG": str(self._cluster.kubeconfig),
            "ARGOCD_FAKE_IN_CLUSTER": "true",
            "ARGOCD_GPG_ENABLED": "false",
            "ARGOCD_TLS_DATA_PATH": str(_HOME / "tls"),
            "ARGOCD_SSH_DATA_PATH": str(_HOME / "ssh"),
        }

    def give_up_at_once(self, name: str) -> None:
        """A sync that fails is not tried again: five times take five minutes."""
        patch = {"spec": {"syncPolicy": {"retry": {"limit": 0}}}}
        self._cluster.kubectl(
            *("patch", "applications.argoproj.io", name, f"--namespace={NAMESPACE}"),
            *("--type=merge", f"--patch={json.dumps(patch)}"),
        )

    def application(self, name: str) -> dict[str, Any]:
        return self._cluster.get("applications.argoproj.io", name, NAMESPACE)

    def delete(self, name: str, timeout: float = 90) -> None:
        """Returns when it is gone, and with a finalizer all that it applied."""
        self._cluster.kubectl(
            *("delete", "applications.argoproj.io", name, f"--namespace={NAMESPACE}"),
            *("--wait=true", f"--timeout={timeout:g}s"),
        )

    def know_cluster(self, name: str, address: str = "") -> None:
        """The one that there is, by another address than its own; or one at an address, which need not be."""
        kubeconfig = self._cluster.flat_kubeconfig()
        (server,), (user,) = kubeconfig["clusters"], kubeconfig["users"]
        tls = {
            "caData": server["cluster"]["certificate-authority-data"],
            "certData": user["user"]["client-certificate-data"],
            "keyData": user["user"]["client-key-data"],
        }
        labels = {"argocd.argoproj.io/secret-type": "cluster"}
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": f"cluster-{name}", "namespace": NAMESPACE, "labels": labels},
            "stringData": {
                "name": name,
                "server": address or server["cluster"]["server"],
                "config": json.dumps({"tlsClientConfig": tls}),
            },
        }
        self._cluster.apply(json.dumps(secret))

    def refresh(self, name: str, how: str = "hard") -> None:
        """Ask for a comparison; it is under way when the annotation has gone."""
        note = f"argocd.argoproj.io/refresh={how}"
        self._cluster.kubectl(
            "annotate", "applications.argoproj.io", name, note, "--overwrite", f"--namespace={NAMESPACE}"
        )

        def taken() -> bool:
            notes = self.application(name)["metadata"].get("annotations", {})
            return "argocd.argoproj.io/refresh" not in notes

        wait_for(taken, 90, f"Argo CD to refresh {name}", interval=0.5)

    def wait_synced(self, name: str, revision: str, timeout: float = 150) -> None:
        """Until it finds no difference, and has not failed to apply the commit."""
        deadline = time.monotonic() + timeout
        while True:
            self.refresh(name)
            status = self.application(name).get("status", {})
            sync, operation = status.get("sync", {}), status.get("operationState", {})
            applied = operation.get("syncResult", {}).get("revision")
            done = operation.get("phase") == "Succeeded" or applied not in (None, revision)
            if done and (sync.get("status"), sync.get("revision")) == ("Synced", revision):
                return
            if time.monotonic() >= deadline:
                raise E2EError(f"{name} does not come to {revision}: {json.dumps(_told(status), indent=1)}")
            time.sleep(2)

    def wait_applied(self, name: str, revision: str, timeout: float = 90) -> None:
        """Until it has applied the commit, whether or not what it applied is so still."""
        self.refresh(name)

        def is_applied() -> bool:
            operation = self.application(name).get("status", {}).get("operationState", {})
            applied = operation.get("syncResult", {}).get("revision")
            return (operation.get("phase"), applied) == ("Succeeded", revision)

        wait_for(is_applied, timeout, f"Argo CD to apply {revision} of {name}", interval=0.5)


def _told(status: dict[str, Any]) -> dict[str, Any]:
    operation = status.get("operationState", {})
    return {
        "conditions": status.get("conditions"),
        "sync": {key: status.get("sync", {}).get(key) for key in ("status", "revision")},
        "operation": {key: operation.get(key) for key in ("phase", "message")},
        "different": [one for one in status.get("resources", []) if one.get("status") != "Synced"][:8],
    }


def _configuration() -> list[dict[str, Any]]:
    """As installed, with impersonation: whoever syncs needs an account, also in the project `default`."""
    text = """
    - {kind: ConfigMap, name: argocd-cm,
       data: {timeout.reconciliation: 15s, application.sync.impersonation.enabled: "true"}}
    - {kind: ConfigMap, name: argocd-rbac-cm, data: {}}
    - {kind: ConfigMap, name: argocd-cmd-params-cm, data: {}}
    - {kind: Secret, name: argocd-secret, stringData: {server.secretkey: e2e}}
    - {kind: ServiceAccount, name: argocd-root}
    - apiVersion: argoproj.io/v1alpha1
      kind: AppProject
      name: default
      spec:
        sourceRepos: ["*"]
        destinations: [{server: "*", namespace: "*"}]
        destinationServiceAccounts:
          - {server: "*", namespace: "*", defaultServiceAccount: argocd:argocd-root}
        clusterResourceWhitelist: [{group: "*", kind: "*"}]
    """
    return [
        {
            "apiVersion": "v1",
            "metadata": {
                "name": one.pop("name"),
                "namespace": NAMESPACE,
                "labels": {"app.kubernetes.io/part-of": "argocd"},
            },
            **one,
        }
        for one in yaml.safe_load(text)
    ]

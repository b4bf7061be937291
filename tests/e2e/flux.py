"""Flux beside the cluster: what applies, what tells people, and a tiny source controller of our own.

The source controller makes a tar.gz of a commit, serves it from this machine, and says so in the status of
the GitRepository; that is all that the part that applies needs of it.
"""

import http.server
import json
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.e2e import binaries
from tests.e2e.cluster import Cluster
from tests.e2e.component import Component
from tests.e2e.errors import E2EError
from tests.e2e.gitfolder import GitFolder
from tests.e2e.project import ROOT
from tests.e2e.sandbox import HOST_ADDRESS

CRDS = Path(__file__).parent / "crds"
NAMESPACE = "flux-system"
EVENTS = "127.0.0.1:8392"  # where the part that applies says what happens
KUSTOMIZATION = "kustomizations.kustomize.toolkit.fluxcd.io"


class Flux:
    def __init__(self, cluster: Cluster, folder: Path) -> None:
        """`folder` is where artifacts are served from."""
        self._cluster = cluster
        self._folder = folder
        self._components: list[Component] = []
        self._server: http.server.ThreadingHTTPServer | None = None

    def up(self, chat: str) -> None:
        telling = binaries.source("notification-controller", "github.com/fluxcd/notification-controller")
        self._cluster.define(
            *sorted(CRDS.glob("flux-*.yaml")), *sorted((telling / "config/crd/bases").glob("*.yaml"))
        )
        self._cluster.create_namespace(NAMESPACE)
        self._tell(chat)
        self._folder.mkdir(parents=True, exist_ok=True)
        handler = partial(_Quiet, directory=str(self._folder))
        self._server = http.server.ThreadingHTTPServer((HOST_ADDRESS, 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        common = ("--watch-all-namespaces", "--enable-leader-election=false", "--log-level=info")
        environment = {"KUBECONFIG": str(self._cluster.kubeconfig), "RUNTIME_NAMESPACE": NAMESPACE}
        self._components = [
            self._cluster.add(
                str(binaries.binary("notification-controller")),
                *common,
                f"--events-addr={EVENTS}",
                "--metrics-addr=127.0.0.1:8393",
                "--health-addr=127.0.0.1:8394",
                "--receiverAddr=127.0.0.1:8395",
                environment=environment,
            ),
            self._cluster.add(
                str(binaries.binary("kustomize-controller")),
                *common,
                f"--events-addr=http://{EVENTS}/",
                "--metrics-addr=127.0.0.1:8390",
                "--health-addr=127.0.0.1:8391",
                environment=environment,
            ),
        ]
        self.start()

    def down(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def start(self) -> None:
        for component in self._components:
            component.start()

    def stop(self) -> None:
        for component in reversed(self._components):
            component.stop()

    def _tell(self, chat: str) -> None:
        """The messages of the documentation."""
        messages = list(yaml.safe_load_all((ROOT / "docs/examples/flux-alert.yaml").read_text()))
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": messages[0]["spec"]["secretRef"]["name"], "namespace": NAMESPACE},
            "stringData": {"address": chat},
        }
        self._cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": [secret, *messages]}))

    def publish(self, source: str, repository: GitFolder, commit: str) -> None:
        """What a source controller does at a new commit."""
        assert self._server is not None
        file = f"{source}/{commit}.tar.gz"
        place = self._folder / file
        digest = repository.archive(place)
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        artifact = {
            "path": file,
            "url": f"http://{HOST_ADDRESS}:{self._server.server_port}/{file}",
            "revision": f"main@sha1:{commit}",
            "digest": digest,
            "lastUpdateTime": now,
            "size": place.stat().st_size,
        }
        ready = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact"}
        condition = {**ready, "lastTransitionTime": now, "observedGeneration": 1}
        status = {"status": {"observedGeneration": 1, "artifact": artifact, "conditions": [condition]}}
        self._cluster.kubectl(
            *("patch", "gitrepositories.source.toolkit.fluxcd.io", source, f"--namespace={NAMESPACE}"),
            *("--subresource=status", "--type=merge", "--patch", json.dumps(status)),
        )

    def make_source(self, name: str) -> None:
        """One that Flux has already, as from its installation."""
        source = {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"url": "https://git.example.org/capacity.git", "interval": "1m"},
        }
        self._cluster.apply(json.dumps(source))

    def know_cluster(self, name: str) -> None:
        """The one that there is, by a Secret as for any other."""
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "stringData": {"value": json.dumps(self._cluster.flat_kubeconfig())},
        }
        self._cluster.apply(json.dumps(secret))

    def substitute(self, name: str) -> None:
        """As a patch does that a team has put into all its Kustomizations."""
        patch = {"spec": {"postBuild": {"substitute": {"domain": "example.org"}}}}
        self._cluster.kubectl(
            *("patch", KUSTOMIZATION, name, f"--namespace={NAMESPACE}"),
            *("--type=merge", f"--patch={json.dumps(patch)}"),
        )

    def delete(self, name: str, timeout: float = 90) -> None:
        """Returns when it is gone; what it applied is being deleted then."""
        self._cluster.kubectl(
            *("delete", KUSTOMIZATION, name, f"--namespace={NAMESPACE}"),
            *("--wait=true", f"--timeout={timeout:g}s"),
        )

    def wait_gone(self, name: str, timeout: float = 90) -> None:
        self._cluster.kubectl(
            *("wait", "--for=delete", f"{KUSTOMIZATION}/{name}", f"--namespace={NAMESPACE}"),
            f"--timeout={timeout:g}s",
        )

    def kustomization(self, name: str) -> dict[str, Any]:
        return self._cluster.get(KUSTOMIZATION, name, NAMESPACE)

    def reconcile(self, name: str, timeout: float = 120) -> None:
        """As `flux reconcile` does; returns when it is done."""
        asked = f"{time.time()}"
        note = f"reconcile.fluxcd.io/requestedAt={asked}"
        self._cluster.kubectl(
            *("annotate", KUSTOMIZATION, name, note),
            *("--overwrite", f"--namespace={NAMESPACE}"),
        )
        self._wait(name, timeout, lambda status: status.get("lastHandledReconcileAt") == asked)

    def wait_applied(self, name: str, commit: str, timeout: float = 150) -> None:
        self._wait(name, timeout, lambda status: commit in status.get("lastAppliedRevision", ""))

    def _wait(self, name: str, timeout: float, is_done: Callable[[dict[str, Any]], bool]) -> None:
        deadline = time.monotonic() + timeout
        while True:
            found = self.kustomization(name)
            status = found.get("status", {})
            conditions = {one["type"]: one for one in status.get("conditions", [])}
            if is_done(status) and conditions.get("Ready", {}).get("status") == "True":
                return
            if time.monotonic() >= deadline:
                raise E2EError(f"Kustomization {name}: {json.dumps(status, indent=1)[:3000]}")
            time.sleep(1)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: a test's output is not its log."""

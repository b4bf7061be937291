"""A real Kubernetes on this machine: `with Cluster() as cluster:`."""

import atexit
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tests.e2e import binaries, images, packages, sandbox, secondrun
from tests.e2e.certificates import PORT, Certificates
from tests.e2e.component import Component
from tests.e2e.controlplane import ControlPlane
from tests.e2e.errors import E2EError
from tests.e2e.farcluster import FarCluster
from tests.e2e.interrupts import Interrupts, uninterrupted
from tests.e2e.kwok import Kwok
from tests.e2e.lock import MachineLock
from tests.e2e.node import Node
from tests.e2e.sandbox import STATE, Sandbox
from tests.e2e.waiting import is_ready, wait_for

T = TypeVar("T")
KUBECONFIG = STATE / "pki" / "admin.kubeconfig"


class KubectlError(E2EError):
    """kubectl refused; the text is what it said."""


class Cluster:
    """One cluster at a time on a machine. Its logs stay in the cache when it is gone."""

    def __init__(self) -> None:
        self.bin_dir = binaries.bin_dir()
        # A second run keeps those of the first.
        self.logs = binaries.cache_dir() / "-".join(filter(None, ("logs", secondrun.alone())))
        self.kubeconfig = KUBECONFIG
        self.server = f"https://{sandbox.CLUSTER_ADDRESS}:{PORT}"
        self._lock = MachineLock()
        self._interrupts = Interrupts()
        self._sandbox = Sandbox(self.bin_dir)
        self._certificates = Certificates(STATE / "pki")
        parts = (self._sandbox, self.bin_dir, self._certificates, self.logs)
        self.control_plane = ControlPlane(*parts)
        self.node = Node(*parts)
        self.second_node = Node(*parts, number=1, is_further=True)
        self.kwok = Kwok(*parts, kubectl=self.kubectl)
        self.far = FarCluster(self._sandbox, self.bin_dir, self.logs, self.kubectl)
        self._added: list[Component] = []

    @property
    def components(self) -> list[Component]:
        return [*self.control_plane.components, *self.node.components, self.kwok.component, *self._added]

    def add(self, *argv: str, environment: Mapping[str, str] | None = None) -> Component:
        """One more program in the sandbox, not started yet; it ends with the cluster."""
        component = Component(self._sandbox, list(argv), self.logs, environment=environment)
        self._added.append(component)
        return component

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    def up(self) -> None:
        """Ready when this returns; nothing is left behind when it raises."""
        packages.require()
        self._lock.acquire()
        try:
            self._interrupts.install()
            atexit.register(self.down)
            binaries.build()
            archives = images.archives()
            sandbox.sweep()
            self._start(archives)
        except BaseException:
            self.down()
            raise

    def _start(self, archives: Mapping[str, Path]) -> None:
        shutil.rmtree(self.logs, ignore_errors=True)
        self._sandbox.start()
        self._certificates.make()
        self.node.write_config()
        self.node.containerd.start()
        self.control_plane.etcd.start()
        self.control_plane.apiserver.start(wait=False)
        with ThreadPoolExecutor(max_workers=1) as background:
            importing = background.submit(self._import, archives)  # while the API server starts
            self.control_plane.apiserver.wait_ready()
            for component in self.components:
                if not component.running:
                    component.start(wait=False)
            self._wait_components()
            importing.result()
        wait_for(
            lambda: self._is_ready(self.node) or self._has_dead(), 60, f"node {self.node.name} to be ready"
        )
        self._wait_components()
        self.wait_for_namespace("default")

    def _wait_components(self) -> None:
        for component in self.components:
            component.wait_ready()

    def start_second_node(self) -> None:
        """Its taint keeps away what a test does not send there."""
        self.second_node.write_config()
        self.second_node.start(images.archives().values())
        self.wait_for_node(self.second_node)

    def start_far(self) -> None:
        """The second cluster, which a test stops again."""
        self.far.start(images.archives().values())

    def wait_for_node(self, node: Node) -> None:
        wait_for(lambda: self._is_ready(node), 60, f"node {node.name} to be ready")

    def _has_dead(self) -> bool:
        return not all(component.running for component in self.components)

    def _import(self, archives: Mapping[str, Path]) -> None:
        wait_for(lambda: self.node.images() is not None, 20, "containerd to answer")
        for archive in archives.values():
            self.node.import_image(archive)

    def down(self) -> None:
        """End and remove everything; harmless when there is nothing."""
        if not self._lock.held:  # what runs here, if anything, is another's
            return
        try:
            with uninterrupted():
                atexit.unregister(self.down)
                try:
                    self._sandbox.close()
                    for component in [*self.components, *self.second_node.components, *self.far.components]:
                        component.reap()
                finally:
                    self._lock.release()
        finally:
            self._interrupts.restore()

    def kubectl(self, *arguments: str, input: str | None = None, timeout: float = 120) -> str:  # noqa: A002
        """What it prints; KubectlError with its complaint otherwise."""
        # It runs outside of the sandbox, where files are what they seem, so it has to be told to die with us.
        command = ["setpriv", "--pdeathsig", "KILL", "--", str(self.bin_dir / "kubectl")]
        command += [f"--kubeconfig={self.kubeconfig}", f"--cache-dir={STATE}/kubectl"]
        try:
            done = subprocess.run(
                [*command, *arguments],
                input=input,
                stdin=subprocess.DEVNULL if input is None else None,
                capture_output=True,
                text=True,
                check=False,
                timeout=timeout,
                env=self._sandbox.environment,
            )
        except subprocess.TimeoutExpired as error:
            raise KubectlError(f"kubectl {' '.join(arguments)} did not end in {timeout:g} s") from error
        if done.returncode:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def flat_kubeconfig(self) -> dict[str, Any]:
        """The administrator's, with keys and certificates in it."""
        data: dict[str, Any] = json.loads(self.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
        return data

    def apply(self, manifest: str | Path, server_dry_run: bool = False, namespace: str | None = None) -> str:
        """Apply a text, or a file or folder given as a Path."""
        arguments = ["apply", "--recursive", "-f", "-" if isinstance(manifest, str) else str(manifest)]
        if server_dry_run:
            arguments.append("--dry-run=server")
        if namespace is not None:
            arguments.append(f"--namespace={namespace}")
        return self.kubectl(*arguments, input=manifest if isinstance(manifest, str) else None)

    def define(self, *files: Path) -> None:
        """Custom kinds; they are served when this returns."""
        where = [word for file in files for word in ("-f", str(file))]
        made = self.kubectl("apply", "--server-side", *where, "-o", "name").split()
        kinds = ",".join(one.partition("/")[2] for one in made)
        # `kubectl wait` fails where a kind is so new that it has no conditions.
        wait_for(
            lambda: self.kubectl("get", kinds, "--all-namespaces", "-o", "name") is not None,
            60,
            f"{kinds} to be served",
        )

    def get(self, kind: str, name: str, namespace: str = "default") -> dict[str, Any]:
        arguments = ["get", kind, name, f"--namespace={namespace}", "-o", "json"]
        data: dict[str, Any] = json.loads(self.kubectl(*arguments))
        return data

    def find(self, kind: str, namespace: str = "default", selector: str = "") -> list[dict[str, Any]]:
        """All of a kind in a namespace that have the labels."""
        arguments = ["get", kind, f"--namespace={namespace}", f"--selector={selector}", "-o", "json"]
        items: list[dict[str, Any]] = json.loads(self.kubectl(*arguments))["items"]
        return items

    def wait_for(self, predicate: Callable[[], T], timeout: float, what: str) -> T:
        return wait_for(predicate, timeout, what)

    def create_namespace(self, name: str, labels: Mapping[str, str] | None = None) -> None:
        """Pods can be made in it when this returns."""
        metadata = {"name": name, "labels": dict(labels or {})}
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        self.kubectl("create", "-f", "-", input=json.dumps(manifest))
        self.wait_for_namespace(name)

    def wait_for_namespace(self, name: str) -> None:
        """Until the controllers, which a story may have taken away, have put in what every pod mounts."""
        arguments = ["get", "serviceaccount/default", "configmap/kube-root-ca.crt", f"--namespace={name}"]
        wait_for(lambda: self.kubectl(*arguments), 180, f"namespace {name} to be usable")

    def _is_ready(self, node: Node) -> bool:
        return is_ready(self.get("node", node.name))

"""A second real cluster on the same machine: a control plane, an authority and a node of its own."""

from collections.abc import Callable, Iterable
from pathlib import Path

from tests.e2e.certificates import Certificates
from tests.e2e.component import Component
from tests.e2e.controlplane import ControlPlane
from tests.e2e.node import Node
from tests.e2e.sandbox import BRIDGE_ADDRESS, STATE, Sandbox
from tests.e2e.waiting import wait_for

NUMBER = 1  # of the cluster
SERVICE = "10.97.0.1"  # at which its pods find its API server


class FarCluster:
    """Started by the test that wants it."""

    def __init__(self, sandbox: Sandbox, bin_dir: Path, logs: Path, kubectl: Callable[..., str]) -> None:
        """`kubectl` is that of the first cluster."""
        self._sandbox, self._kubectl = sandbox, kubectl
        self._certificates = Certificates(STATE / "pki-far", NUMBER)
        self.control_plane = ControlPlane(sandbox, bin_dir, self._certificates, logs, NUMBER)
        self.node = Node(sandbox, bin_dir, self._certificates, logs, number=2)
        self.kubeconfig = self._certificates.kubeconfig("admin")

    @property
    def components(self) -> list[Component]:
        return [*self.control_plane.components, *self.node.components]

    def start(self, archives: Iterable[Path]) -> None:
        """Ready when this returns. `archives` are the images of its node."""
        self._certificates.make()
        self.node.write_config()
        for component in self.control_plane.components:
            component.start()
        # The kube-proxy of the first cluster does not know its services, of which pods use this one.
        rule = f"iptables -t nat -A PREROUTING -d {SERVICE} -p tcp --dport 443"
        target = f"-j DNAT --to-destination {BRIDGE_ADDRESS}:{self._certificates.port}"
        self._sandbox.run(*rule.split(), *target.split())
        self.node.start(archives)
        ready = ("wait", "--for=condition=Ready", f"node/{self.node.name}", "--timeout=2s")
        wait_for(lambda: self.kubectl(*ready), 60, f"node {self.node.name} to be ready")

    def stop(self) -> None:
        """For good: nothing of it runs any more."""
        self.node.lose()
        for component in reversed(self.control_plane.components):
            component.kill()

    def kubectl(self, *arguments: str) -> str:
        return self._kubectl(f"--kubeconfig={self.kubeconfig}", *arguments)

"""A real node: containerd, kubelet, and on the first one kube-proxy. What runs here has real processes and
real signals. All nodes share one address and one bridge, so one kube-proxy serves them all.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from tests.e2e import cgroups
from tests.e2e.certificates import NODES, Certificates
from tests.e2e.component import Component
from tests.e2e.images import PAUSE, PINNED, PINNED_ARCHIVE, PYTHON
from tests.e2e.packages import CNI_PLUGINS
from tests.e2e.sandbox import BRIDGE, BRIDGE_ADDRESS, DATA, POD_NETWORK, STATE, Sandbox
from tests.e2e.waiting import wait_for

KEY = "e2e.berth.dev/node"  # of the taint of every further node


class Node:
    """Number 0 is there from the start; others are started when a test wants them."""

    def __init__(  # noqa: PLR0913 - a program has as many
        self,
        sandbox: Sandbox,
        bin_dir: Path,
        certificates: Certificates,
        logs: Path,
        number: int = 0,
        *,
        is_further: bool = False,
    ) -> None:
        """`is_further`: its cluster has another one, and its taint keeps away what a test does not send."""
        self.name = NODES[number]
        self._number = number
        self._state = f"/run/containerd-{number}"  # the sandbox's /run is its own
        self._socket = f"{self._state}/containerd.sock"
        self._cgroup = f"{cgroups.NAME}/{self.name}" if number else cgroups.NAME
        self._sandbox = sandbox
        self._certificates = certificates
        self._ctr_path = str(bin_dir / "ctr")
        self._config = STATE / self.name
        containerd = [str(bin_dir / "containerd"), "--config", str(self._config / "containerd.toml")]
        self.containerd = Component(sandbox, containerd, logs)
        taints = [f"--register-with-taints={KEY}={self.name}:NoSchedule"] if is_further else []
        self.kubelet = Component(
            sandbox,
            [
                str(bin_dir / "kubelet"),
                f"--config={self._config / 'kubelet.json'}",
                f"--kubeconfig={certificates.kubeconfig(f'kubelet-{self.name}')}",
                f"--root-dir={DATA}/kubelet-{number}",
                f"--hostname-override={self.name}",
                f"--node-ip={BRIDGE_ADDRESS}",
                *taints,
            ],
            logs,
        )
        if number:
            self.containerd.name, self.kubelet.name = f"containerd-{number}", f"kubelet-{number}"
        kube_proxy = [str(bin_dir / "kube-proxy"), f"--config={self._config / 'kube-proxy.json'}"]
        self.kube_proxy = Component(sandbox, kube_proxy, logs)

    @property
    def components(self) -> list[Component]:
        """In the order in which they start."""
        first = [] if self._number else [self.kube_proxy]
        return [self.containerd, self.kubelet, *first]

    def start(self, archives: Iterable[Path] = ()) -> None:
        """A kubelet ends when it finds no containerd that answers."""
        self.containerd.start()
        wait_for(lambda: self.images() is not None, 20, f"containerd of {self.name} to answer")
        for archive in archives:
            self.import_image(archive)
        self.kubelet.start()

    def lose(self) -> None:
        """As when its power fails: nothing of it runs any more, and nobody says so."""
        for component in (self.kubelet, self.containerd):
            component.kill()
        cgroups.kill(self._cgroup)

    def write_config(self) -> None:
        cgroups.create(self._cgroup)
        (self._config / "cni").mkdir(parents=True, exist_ok=True)
        (self._config / "containerd.toml").write_text(self._containerd_toml())
        (self._config / "cni" / "10-bridge.conflist").write_text(json.dumps(_cni()))
        (self._config / "kubelet.json").write_text(json.dumps(self._kubelet(), indent=2))
        (self._config / "kube-proxy.json").write_text(json.dumps(self._kube_proxy(), indent=2))
        (self._config / "resolv.conf").write_text("")

    def import_image(self, archive: Path) -> None:
        """What no registry can give: an archive, under the very name that manifests use."""
        self._ctr("images", "import", str(archive))
        if archive.name == PINNED_ARCHIVE:
            self._ctr("images", "tag", "--force", f"docker.io/library/{PYTHON}", PINNED)

    def images(self) -> list[str]:
        return self._ctr("images", "list", "-q").split()

    def _ctr(self, *arguments: str) -> str:
        return self._sandbox.run(self._ctr_path, "-a", self._socket, "-n", "k8s.io", *arguments)

    def _containerd_toml(self) -> str:
        return f"""\
version = 3
root = "{DATA}/containerd-{self._number}"
state = "{self._state}"
[grpc]
address = "{self._socket}"
[plugins."io.containerd.nri.v1.nri"]
# Its socket has one fixed path, for all nodes the same.
disable = true
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "{PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
# Without CAP_SYS_RESOURCE no sandbox could start.
restrict_oom_score_adj = true
# Profiles belong to the machine's kernel, not to us.
disable_apparmor = true
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["{CNI_PLUGINS}"]
conf_dir = "{self._config}/cni"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
SystemdCgroup = false
"""

    def _kubelet(self) -> dict[str, object]:
        path = self._certificates.path
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": BRIDGE_ADDRESS,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": path("ca.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": path("kubelet-server.crt"),
            "tlsPrivateKeyFile": path("kubelet-server.key"),
            "containerRuntimeEndpoint": f"unix://{self._socket}",
            "cgroupDriver": "cgroupfs",
            "serializeImagePulls": False,  # one story has a slow registry
            "cgroupRoot": f"/{self._cgroup}",
            # A further node is small, so that it can be full.
            "maxPods": 8 if self._number else 240,
            "port": 10250 + 100 * self._number,
            "healthzPort": 10248 + 100 * self._number,
            # It removes the logs of pods that are not its own.
            "podLogsDir": f"/var/log/pods-{self._number}",
            "failCgroupV1": False,
            "failSwapOn": False,
            # The disk of a test machine may be nearly full; that is not what these tests are about.
            "evictionHard": {},
            "imageGCHighThresholdPercent": 100,
            "resolvConf": str(self._config / "resolv.conf"),
            "volumePluginDir": f"{DATA}/volume-plugins-{self._number}",
            "clusterDomain": "cluster.local",
        }

    def _kube_proxy(self) -> dict[str, object]:
        return {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "hostnameOverride": self.name,
            "bindAddress": BRIDGE_ADDRESS,
            "healthzBindAddress": "127.0.0.1:10256",
            "metricsBindAddress": "127.0.0.1:10249",
            "clusterCIDR": POD_NETWORK,
            "clientConnection": {"kubeconfig": str(self._certificates.kubeconfig("kube-proxy"))},
            # Zero leaves the machine's connection tracking table as it is.
            "conntrack": {"maxPerCore": 0, "min": 0},
        }


def _cni() -> dict[str, object]:
    return {
        "cniVersion": "1.0.0",
        "name": "pods",
        "plugins": [
            {
                "type": "bridge",
                "bridge": BRIDGE,
                "isGateway": True,
                "hairpinMode": True,
                "ipMasq": False,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": POD_NETWORK}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                    "dataDir": f"{DATA}/cni",
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }

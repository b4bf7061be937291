"""The one real node: containerd, kubelet, kube-proxy. What runs here has real processes and real signals."""

import json
from pathlib import Path

from tests.e2e.certificates import NODE_NAME, Certificates
from tests.e2e.cgroups import NAME as CGROUP
from tests.e2e.component import Component
from tests.e2e.images import PAUSE
from tests.e2e.packages import CNI_PLUGINS
from tests.e2e.sandbox import BRIDGE, BRIDGE_ADDRESS, DATA, POD_NETWORK, STATE, Sandbox

# The sandbox's /run is its own.
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"


class Node:
    name = NODE_NAME

    def __init__(self, sandbox: Sandbox, bin_dir: Path, certificates: Certificates, logs: Path) -> None:
        self._sandbox = sandbox
        self._certificates = certificates
        self._ctr_path = str(bin_dir / "ctr")
        self._config = STATE / "node"
        containerd = [str(bin_dir / "containerd"), "--config", str(self._config / "containerd.toml")]
        self.containerd = Component(sandbox, containerd, logs)
        self.kubelet = Component(
            sandbox,
            [
                str(bin_dir / "kubelet"),
                f"--config={self._config / 'kubelet.json'}",
                f"--kubeconfig={certificates.kubeconfig('kubelet')}",
                f"--root-dir={DATA}/kubelet",
                f"--hostname-override={NODE_NAME}",
                f"--node-ip={BRIDGE_ADDRESS}",
            ],
            logs,
        )
        kube_proxy = [str(bin_dir / "kube-proxy"), f"--config={self._config / 'kube-proxy.json'}"]
        self.kube_proxy = Component(sandbox, kube_proxy, logs)

    @property
    def components(self) -> list[Component]:
        return [self.containerd, self.kubelet, self.kube_proxy]

    def write_config(self) -> None:
        (self._config / "cni").mkdir(parents=True, exist_ok=True)
        (self._config / "containerd.toml").write_text(self._containerd_toml())
        (self._config / "cni" / "10-bridge.conflist").write_text(json.dumps(_cni()))
        (self._config / "kubelet.json").write_text(json.dumps(self._kubelet(), indent=2))
        (self._config / "kube-proxy.json").write_text(json.dumps(self._kube_proxy(), indent=2))
        (self._config / "resolv.conf").write_text("")

    def import_image(self, archive: Path) -> None:
        """What no registry can give: an archive, under the very name that manifests use."""
        self._ctr("images", "import", str(archive))

    def images(self) -> list[str]:
        return self._ctr("images", "list", "-q").split()

    def _ctr(self, *arguments: str) -> str:
        return self._sandbox.run(self._ctr_path, "-a", CONTAINERD_SOCKET, "-n", "k8s.io", *arguments)

    def _containerd_toml(self) -> str:
        return f"""\
version = 3
root = "{DATA}/containerd"
state = "/run/containerd"
[grpc]
address = "{CONTAINERD_SOCKET}"
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
            "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{CGROUP}",
            "failCgroupV1": False,
            "failSwapOn": False,
            # The disk of a test machine may be nearly full; that is not what these tests are about.
            "evictionHard": {},
            "imageGCHighThresholdPercent": 100,
            "resolvConf": str(self._config / "resolv.conf"),
            "volumePluginDir": f"{DATA}/volume-plugins",
            "clusterDomain": "cluster.local",
        }

    def _kube_proxy(self) -> dict[str, object]:
        return {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "hostnameOverride": NODE_NAME,
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

"""etcd, API server, controller manager and scheduler; each can be stopped and started on its own.

After an outage of the API server its clients come back at different times: a watch that failed often waits
up to a minute before its next try, the kubelet's too, and a node can be Unknown for that long.
"""

from pathlib import Path

from tests.e2e.certificates import Certificates
from tests.e2e.component import Component, https_ok
from tests.e2e.sandbox import BRIDGE_ADDRESS, CLUSTER_ADDRESS, DATA, SERVICE_NETWORKS, Sandbox

# Ports of the first cluster; those of the second are a hundred higher.
ETCD_PORT = 2379
CONTROLLER_MANAGER_PORT = 10257
SCHEDULER_PORT = 10259


class ControlPlane:
    def __init__(
        self, sandbox: Sandbox, bin_dir: Path, certificates: Certificates, logs: Path, number: int = 0
    ) -> None:
        """`number` is that of the cluster."""
        more = 100 * number
        self.etcd = Component(sandbox, [str(bin_dir / "etcd"), *_etcd(number)], logs)
        self.apiserver = Component(
            sandbox,
            [str(bin_dir / "kube-apiserver"), *_apiserver(certificates, number)],
            logs,
            is_ready=lambda: https_ok(CLUSTER_ADDRESS, certificates.port, "/readyz"),
            # It stops listening at once, but would serve the watches that are open for another minute.
            grace=2,
        )
        self.controller_manager = Component(
            sandbox,
            [
                str(bin_dir / "kube-controller-manager"),
                *_controller_manager(certificates, CONTROLLER_MANAGER_PORT + more),
            ],
            logs,
            is_ready=lambda: https_ok(CLUSTER_ADDRESS, CONTROLLER_MANAGER_PORT + more, "/healthz"),
        )
        self.scheduler = Component(
            sandbox,
            [str(bin_dir / "kube-scheduler"), *_scheduler(certificates, SCHEDULER_PORT + more)],
            logs,
            is_ready=lambda: https_ok(CLUSTER_ADDRESS, SCHEDULER_PORT + more, "/healthz"),
        )
        if number:
            for component in self.components:
                component.name += f"-{number}"

    @property
    def components(self) -> list[Component]:
        return [self.etcd, self.apiserver, self.controller_manager, self.scheduler]


def _etcd_url(number: int, of_peers: bool = False) -> str:
    return f"http://127.0.0.1:{ETCD_PORT + 100 * number + of_peers}"


def _etcd(number: int) -> list[str]:
    return [
        f"--data-dir={DATA}/etcd-{number}",
        f"--listen-client-urls={_etcd_url(number)}",
        f"--advertise-client-urls={_etcd_url(number)}",
        f"--listen-peer-urls={_etcd_url(number, of_peers=True)}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def _apiserver(certificates: Certificates, number: int) -> list[str]:
    path = certificates.path
    return [
        f"--etcd-servers={_etcd_url(number)}",
        # All addresses of the sandbox, which are the bridge, its loopback and our end of the cable.
        "--bind-address=0.0.0.0",
        f"--secure-port={certificates.port}",
        f"--advertise-address={BRIDGE_ADDRESS}",
        f"--service-cluster-ip-range={SERVICE_NETWORKS[number]}",
        f"--tls-cert-file={path('apiserver.crt')}",
        f"--tls-private-key-file={path('apiserver.key')}",
        f"--client-ca-file={path('ca.crt')}",
        f"--kubelet-client-certificate={path('kubelet-client.crt')}",
        f"--kubelet-client-key={path('kubelet-client.key')}",
        f"--kubelet-certificate-authority={path('ca.crt')}",
        "--kubelet-preferred-address-types=InternalIP",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={path('service-account.key')}",
        f"--service-account-key-file={path('service-account.pub')}",
        # A service behind the API server (an APIService) may lie outside of the pods' network.
        "--enable-aggregator-routing",
        "--profiling=false",
    ]


def _controller_manager(certificates: Certificates, port: int) -> list[str]:
    kubeconfig = certificates.kubeconfig("controller-manager")
    return [
        *_kubeconfig_three_times(kubeconfig),
        # Nobody but us asks for its health, and we ask without a client certificate.
        "--authentication-skip-lookup",
        "--use-service-account-credentials",
        f"--service-account-private-key-file={certificates.path('service-account.key')}",
        f"--root-ca-file={certificates.path('ca.crt')}",
        "--leader-elect=false",
        # At the default rate it spends four seconds on the tokens of its controllers alone.
        "--kube-api-qps=100",
        "--kube-api-burst=200",
        f"--secure-port={port}",
        "--profiling=false",
    ]


def _scheduler(certificates: Certificates, port: int) -> list[str]:
    return [
        *_kubeconfig_three_times(certificates.kubeconfig("scheduler")),
        "--authentication-skip-lookup",
        "--leader-elect=false",
        f"--secure-port={port}",
        "--profiling=false",
    ]


def _kubeconfig_three_times(kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
    ]

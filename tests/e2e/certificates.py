"""The authority of a cluster, a key pair for each client and server, and the kubeconfigs made of them."""

import base64
import json
import subprocess
from pathlib import Path

from tests.e2e.errors import E2EError
from tests.e2e.sandbox import BRIDGE_ADDRESS, CLUSTER_ADDRESS, HOST_ADDRESS

NODES = ("real-node", "second-node", "far-node")
PORT = 6443
DAYS = "30"

# Subjects are the identities that Kubernetes' own roles are bound to.
CLIENTS = {
    "admin": "/O=system:masters/CN=admin",
    "kubelet-client": "/O=system:masters/CN=kube-apiserver-kubelet-client",
    "controller-manager": "/CN=system:kube-controller-manager",
    "scheduler": "/CN=system:kube-scheduler",
    **{f"kubelet-{name}": f"/O=system:nodes/CN=system:node:{name}" for name in NODES},
    "kube-proxy": "/CN=system:kube-proxy",
}
_KUBECONFIGS = tuple(name for name in CLIENTS if name != "kubelet-client")

_SERVER_NAMES = (
    "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
    ",DNS:kubernetes.default.svc.cluster.local"
    f",IP:127.0.0.1,IP:10.96.0.1,IP:10.97.0.1,IP:{BRIDGE_ADDRESS},IP:{CLUSTER_ADDRESS},IP:{HOST_ADDRESS}"
)

# Our own, because the machine's openssl.cnf may add extensions of its own.
_CONFIG = f"""\
[req]
distinguished_name = name
prompt = no
[name]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[client]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = clientAuth
[apiserver]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = {_SERVER_NAMES}
[kubelet]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:{NODES[0]},IP:{BRIDGE_ADDRESS}
"""


class Certificates:
    """Files of one run in one folder: `ca.crt`, `<name>.crt`, `<name>.key`, `<name>.kubeconfig`."""

    def __init__(self, folder: Path, number: int = 0) -> None:
        """`number` is that of the cluster."""
        self.folder = folder
        self.port = PORT + number  # of the API server

    def make(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True)
        (self.folder / "openssl.cnf").write_text(_CONFIG)
        self._certificate("ca", "/CN=berth-e2e", "authority")
        self._certificate("apiserver", "/CN=kube-apiserver", "apiserver")
        self._certificate("kubelet-server", f"/CN={NODES[0]}", "kubelet")
        for name, subject in CLIENTS.items():
            self._certificate(name, subject, "client")
        self._openssl("genpkey", *_KEY_TYPE, "-out", "service-account.key")
        self._openssl("pkey", "-in", "service-account.key", "-pubout", "-out", "service-account.pub")
        for name in _KUBECONFIGS:
            self._kubeconfig(name)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def kubeconfig(self, name: str) -> Path:
        return self.folder / f"{name}.kubeconfig"

    def _certificate(self, name: str, subject: str, extensions: str) -> None:
        signer = [] if name == "ca" else ["-CA", "ca.crt", "-CAkey", "ca.key"]
        self._openssl(
            *("req", "-x509", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"),
            *("-config", "openssl.cnf", "-extensions", extensions, "-subj", subject, "-days", DAYS),
            *("-keyout", f"{name}.key", "-out", f"{name}.crt"),
            *signer,
        )

    def _openssl(self, *arguments: str) -> None:
        done = subprocess.run(
            ["openssl", *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise E2EError(f"openssl {arguments[0]} failed (3.0 or newer is needed): {reason[0]}")

    def _kubeconfig(self, name: str) -> None:
        """The same address for all: it is reachable from the machine and from inside."""
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "berth-e2e",
            "contexts": [{"name": "berth-e2e", "context": {"cluster": "berth-e2e", "user": name}}],
            "clusters": [
                {
                    "name": "berth-e2e",
                    "cluster": {
                        "server": f"https://{CLUSTER_ADDRESS}:{self.port}",
                        "certificate-authority-data": self._base64("ca.crt"),
                    },
                }
            ],
            "users": [
                {
                    "name": name,
                    "user": {
                        "client-certificate-data": self._base64(f"{name}.crt"),
                        "client-key-data": self._base64(f"{name}.key"),
                    },
                }
            ],
        }
        self.kubeconfig(name).write_text(json.dumps(content, indent=2))
        self.kubeconfig(name).chmod(0o600)

    def _base64(self, name: str) -> str:
        return base64.b64encode((self.folder / name).read_bytes()).decode()


_KEY_TYPE = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1")

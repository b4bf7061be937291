"""Karpenter itself, with its provider of pretended nodes: it buys for Pending pods, and takes nodes away.

It sees the pods of the whole cluster. So that it serves none but those of its story, every pool has a label
that its pods ask for and a taint that only they bear.
"""

import json
from pathlib import Path

from berth.machines.nodelabels import CAPACITY_TYPE, INSTANCE_TYPE, ON_DEMAND, ZONE

from tests.e2e import binaries
from tests.e2e.cluster import Cluster
from tests.e2e.component import Component
from tests.e2e.direct import Direct
from tests.e2e.kwok import LABEL
from tests.e2e.project import Document

MODULE = "sigs.k8s.io/karpenter"
FOR = "e2e.berth.dev/karpenter"  # label and taint: whose nodes these are
NODE_CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
SLOW = {**NODE_CLASS, "name": "slow"}
START = 60  # seconds after which a node of it is there
POOLS, CLAIMS = "/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.sh/v1/nodeclaims"
_CLASSES = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
_CRDS = (  # of the module; the NodePool's is the one of the AWS provider
    "pkg/apis/crds/karpenter.sh_nodeclaims.yaml",
    "pkg/apis/crds/karpenter.sh_nodeoverlays.yaml",
    "kwok/apis/crds/karpenter.kwok.sh_kwoknodeclasses.yaml",
)
_OWN_CRDS = ("karpenter-nodepool.yaml", "karpenter-ec2nodeclass.yaml", "capacitybuffer.yaml")
_HEALTH_PORT, _METRICS_PORT = 18081, 18080
MACHINE, MACHINE_CORES = "m5.xlarge", "4"  # the only instance type that it may buy
_OFFERED_IN = "us-east-1a"


def one_of(key: str, *values: str) -> Document:
    """A requirement, as NodePools write it."""
    return {"key": key, "operator": "In", "values": list(values)}


MACHINES = (one_of(INSTANCE_TYPE, MACHINE), one_of(CAPACITY_TYPE, ON_DEMAND))


def write_types(folder: Path) -> Path:
    """The instance types, in the form of the file that the pretending provider reads."""
    requirements = [one_of(CAPACITY_TYPE, ON_DEMAND), one_of(ZONE, _OFFERED_IN)]
    machine = {
        "name": MACHINE,
        "offerings": [{"Price": 0.192, "Available": True, "Requirements": requirements}],
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": MACHINE_CORES, "memory": "16Gi", "pods": "58"},
    }
    file = folder / "instance-types.json"
    file.write_text(json.dumps([machine]))
    return file


class Karpenter:
    """Not started yet when this is made; its kinds are served."""

    def __init__(self, cluster: Cluster, direct: Direct, types: Path) -> None:
        """`types` is the file of instance types that it may buy."""
        self._cluster = cluster
        self._direct = direct
        source = binaries.source("karpenter", MODULE)
        own = [Path(__file__).parent / "crds" / name for name in _OWN_CRDS]
        for file in (*(source / name for name in _CRDS), *own):
            cluster.kubectl("apply", "--server-side", "-f", str(file))
        cluster.wait_for(self._is_served, 60, "the kinds of Karpenter to be served")
        self.component = self._made(types)

    def _is_served(self) -> bool:
        if not self._direct.items(_CLASSES):
            kind = {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": NODE_CLASS["kind"]}
            for one, spec in ((NODE_CLASS, {}), (SLOW, {"nodeRegistrationDelay": f"{START}s"})):
                self._direct.create(_CLASSES, {**kind, "metadata": {"name": one["name"]}, "spec": spec})
        for served in (POOLS, CLAIMS):
            self._direct.items(served)  # refused until then
        return True

    def _made(self, types: Path) -> Component:
        environment = {
            "KUBECONFIG": str(self._cluster.kubeconfig),
            "SYSTEM_NAMESPACE": "kube-system",
            "KUBERNETES_MIN_VERSION": "1.19.0-0",
            "DISABLE_LEADER_ELECTION": "true",
            "METRICS_PORT": str(_METRICS_PORT),
            "HEALTH_PROBE_PORT": str(_HEALTH_PORT),
            "FEATURE_GATES": "StaticCapacity=true,CapacityBuffer=true",
            "INSTANCE_TYPES_FILE_PATH": str(types),
        }
        return self._cluster.add(str(self._cluster.bin_dir / "karpenter"), environment=environment)


def placement(whose: str) -> Document:
    """What leads a pod to the nodes of such a pool, and no other pod."""
    toleration = {"key": FOR, "operator": "Equal", "value": whose, "effect": "NoSchedule"}
    return {"nodeSelector": {FOR: whose}, "tolerations": [toleration]}


def node_pool(whose: str, disruption: Document) -> Document:
    """The label `type` is for the program that lets nodes pretend."""
    template = {
        "metadata": {"labels": {**LABEL, FOR: whose}},
        "spec": {
            "nodeClassRef": NODE_CLASS,
            "requirements": list(MACHINES),
            "taints": [{"key": FOR, "value": whose, "effect": "NoSchedule"}],
            "expireAfter": "Never",
        },
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": whose},
        "spec": {"template": template, "disruption": disruption},
    }

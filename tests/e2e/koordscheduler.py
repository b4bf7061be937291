"""koord-scheduler itself, in the sandbox of a cluster, with the plugins that matter to Reservations."""

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e import binaries
from tests.e2e.cluster import Cluster
from tests.e2e.component import Component
from tests.e2e.direct import Object
from tests.e2e.errors import E2EError
from tests.e2e.sandbox import STATE

NAME = "koord-scheduler"
MODULE = "github.com/koordinator-sh/koordinator"
RESERVATIONS = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
_STARTING = threading.Lock()


def start(cluster: Cluster) -> Component:
    """The one of this cluster, which another story may have started. Its kinds are served then."""
    with _STARTING:
        for component in cluster.components:
            if component.name == NAME:
                return component
        program = binaries.binary(NAME)
        crds = binaries.source(NAME, MODULE) / "config" / "crd" / "bases"
        cluster.define(*sorted(crds.glob("*.yaml")))
        config = STATE / f"{NAME}.json"
        config.write_text(json.dumps(_profile(cluster.kubeconfig)))
        asks = [f"--{who}-kubeconfig={cluster.kubeconfig}" for who in ("authentication", "authorization")]
        made = cluster.add(str(program), f"--config={config}", "--secure-port=10269", *asks)
        made.start()
        return made


@contextmanager
def kept_running(cluster: Cluster) -> Iterator[None]:
    """As its Deployment would: version 1.8.0 may crash when slots end while pods are refused."""
    scheduler, ends = start(cluster), threading.Event()

    def keep() -> None:
        while not ends.wait(2):
            with contextlib.suppress(E2EError, OSError):  # the cluster may be going
                scheduler.start(wait=False, again=True)

    keeper = threading.Thread(target=keep, daemon=True, name=f"{NAME} keeper")
    keeper.start()
    try:
        yield
    finally:
        ends.set()
        keeper.join()


def _profile(kubeconfig: Path) -> Object:
    """The plugins of the shipped profile that matter to Reservations."""
    plugin: Object = {"enabled": [{"name": "Reservation"}]}
    both = {"disabled": [{"name": "*"}]}
    plugins = {
        **dict.fromkeys(("preFilter", "filter", "preScore", "reserve", "preBind"), plugin),
        "score": {"enabled": [{"name": "Reservation", "weight": 5000}]},
        "postFilter": {**both, "enabled": [{"name": "Reservation"}, {"name": "DefaultPreemption"}]},
        "bind": {**both, "enabled": [{"name": "Reservation"}, {"name": "DefaultBinder"}]},
    }
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 200, "burst": 400},
        "profiles": [{"schedulerName": NAME, "plugins": plugins}],
    }

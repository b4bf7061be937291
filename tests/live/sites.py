"""A site with two clusters, and what is shown of the course in order."""

from pathlib import Path

from tests.live import project
from tests.live.api_server import ApiServer, kubeconfig
from tests.live.happenings import NOW

TWO = project.SITE.replace("[{name: prod}]", "[{name: prod}, {name: lab, namespace: seats, engine: none}]")
SMALL = project.CLASS.replace("spec:", "spec:\n  cluster: prod")
BENCH = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: bench}
spec: {cluster: lab, requests: {cpu: 250m}}
"""
NIGHT = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: night}
spec:
  resourceClass: bench
  recurrence: {type: dates, dates: [2026-02-07], schedule: [{startTime: "22:00", endTime: "06:00"}]}
  provisioning: {placeholderCount: 3, scaleDownBehavior: none}
"""
FILES = {**project.FILES, "site": TWO, "class": SMALL, "bench": BENCH, "night": NIGHT}
TEXT = """\
RESERVATION  CLASS  STATE   OPEN         WANTED  READY  PENDING  SESSIONS  NOTE
course       small  active  08:30-13:00  20      20     0        5
"""


def asking(server: ApiServer, folder: Path, command: str = "status") -> tuple[str, ...]:
    file = kubeconfig(folder / "kubeconfig", {"prod": server.url})
    return (command, "--now", NOW, "--kubeconfig", str(file))


def two(server: ApiServer, folder: Path, command: str = "status", **servers: str) -> tuple[str, ...]:
    """Two clusters, of which `lab` is nowhere unless told."""
    project.write(folder, FILES)
    known = {"prod": server.url, "lab": "http://127.0.0.1:9", **servers}
    return (command, "--now", NOW, "--kubeconfig", str(kubeconfig(folder / "kubeconfig", known)))

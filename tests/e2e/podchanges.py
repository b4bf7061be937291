"""What a fault changes in objects on their way into the cluster; and which remedies can be taken away."""

import os
import re
import signal
from collections.abc import Callable, Mapping

from tests.e2e.certificates import NODES
from tests.e2e.direct import Object
from tests.e2e.faultcases import SWEEPS
from tests.e2e.images import WRONG_CLOCK
from tests.e2e.node import KEY

Change = Callable[[Object], None]  # of a pod's spec
SECOND = NODES[1]
ROTATED = "faults-rotated"  # a ServiceAccount
WRONG_IMAGE = "registry.invalid/pause:0"
HUNGRY = signal.SIGUSR1
NEW_IMAGE = "registry.k8s.io/pause:3.11"


def preferring_second(spec: Object) -> None:
    _tolerating(spec)
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [SECOND]}]}
    preferred = [{"weight": 100, "preference": term}]
    spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def on_second_only(spec: Object) -> None:
    _tolerating(spec)
    spec["nodeSelector"] = {"kubernetes.io/hostname": SECOND}


def _tolerating(spec: Object) -> None:
    spec.setdefault("tolerations", []).append({"key": KEY, "operator": "Exists"})


def rotated(spec: Object) -> None:
    on_second_only(spec)
    spec["serviceAccountName"] = ROTATED


def clock(ahead: int) -> Change:
    def change(spec: Object) -> None:
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            container["env"] += [
                {"name": "LD_PRELOAD", "value": WRONG_CLOCK},
                {"name": "CLOCK_AHEAD", "value": str(ahead)},
            ]

    return change


def sidecar(*command: str) -> Change:
    def change(spec: Object) -> None:
        (container,) = spec["initContainers"]
        container["command"] = list(command)
        container.pop("livenessProbe", None)

    return change


def ends_at_once(spec: Object) -> None:
    spec["containers"][0]["command"] = ["python", "-c", "pass"]


def eats_when_told(spec: Object) -> None:
    """The occurrence itself takes more memory than it may have, at the signal HUNGRY."""
    eat = f"signal.signal({HUNGRY:d}, lambda *_: [b'x' * 2**20 for _ in range(2**12)])"
    run = "runpy.run_module('gen.runtime.occurrence', run_name='__main__')"
    spec["containers"][0]["command"] = ["python", "-c", f"import runpy, signal; {eat}; {run}"]


_JOBS: Mapping[str, Change] = {
    "out-of-memory": eats_when_told,
    "node-lost": preferring_second,
    "full": on_second_only,
    "token-rotated": rotated,
    "clock-ahead": clock(30),
    "clock-behind": clock(-30),
    "sidecar-crashes": sidecar("python", "-c", "raise SystemExit(1)"),
    "sidecar-cannot-start": sidecar("/nowhere/scaler"),
    "sidecar-hangs": sidecar("python", "-c", "import time; time.sleep(100_000)"),
    "job-complete-too-early": ends_at_once,
}
_IMAGES = {"no-image": WRONG_IMAGE}


def _without_sweep(found: Object) -> None:
    if found["metadata"]["name"] == "berth-sweep":
        found["spec"]["suspend"] = True


def _without_deadline(found: Object) -> None:
    found["spec"]["startingDeadlineSeconds"] = 10


def _without_retries(found: Object) -> None:
    found["spec"]["jobTemplate"]["spec"]["backoffLimit"] = 0


def _without_tolerations(found: Object) -> None:
    pod = found["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    pod["tolerations"] = [one for one in pod.get("tolerations", []) if one.get("key") == KEY]


def _without_waiting(found: Object) -> None:
    """For an occurrence that opens soon: a Job whose clock is behind ends."""
    if "loop.py" in found.get("data", {}):
        found["data"]["loop.py"] = re.sub(r"\nEARLY = \d+", "\nEARLY = 0", found["data"]["loop.py"])


# Remedies that can be taken away, to see that the tests miss them: BERTH_E2E_WITHOUT="sweep retries".
REMEDIES: Mapping[str, tuple[str, Change]] = {
    "sweep": ("CronJob", _without_sweep),
    "deadline": ("CronJob", _without_deadline),
    "retries": ("CronJob", _without_retries),
    "tolerations": ("CronJob", _without_tolerations),
    "waiting": ("ConfigMap", _without_waiting),
}


class Changes:
    """For the engine. `healed` and `renewed` name reservations for which it begins or ends."""

    def __init__(self, minute: int) -> None:
        """`minute` 0 of the tests is that minute of the hour."""
        self.schedule = f"{(minute + SWEEPS[0]) % 5}-59/5 * * * *"  # of the sweep
        self.healed: set[str] = set()
        self.images = dict(_IMAGES)
        self._without = [REMEDIES[name] for name in os.environ.get("BERTH_E2E_WITHOUT", "").split()]

    def __call__(self, found: Object) -> None:
        name = found["metadata"].get("labels", {}).get("berth.dev/reservation", "")
        if found["kind"] == "CronJob" and not name:
            found["spec"]["schedule"] = self.schedule
        elif found["kind"] == "CronJob" and name in _JOBS and name not in self.healed:
            _JOBS[name](found["spec"]["jobTemplate"]["spec"]["template"]["spec"])
        elif found["kind"] == "Deployment" and name in self.images:
            found["spec"]["template"]["spec"]["containers"][0]["image"] = self.images[name]
        for kind, take_away in self._without:
            if found["kind"] == kind:
                take_away(found)

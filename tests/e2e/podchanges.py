"""What a fault changes in objects on their way into the cluster; and which remedies can be taken away."""

import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence

from tests.e2e.certificates import NODES
from tests.e2e.direct import Object
from tests.e2e.faultcases import LONG_ERRORS, SWEEPS
from tests.e2e.images import WRONG_CLOCK
from tests.e2e.node import KEY

Change = Callable[[Object], None]  # of a pod's spec
SECOND = NODES[1]
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


def clock(ahead: int) -> Change:
    def change(spec: Object) -> None:
        values = {"LD_PRELOAD": WRONG_CLOCK, "CLOCK_AHEAD": str(ahead)}
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            others = [item for item in container.get("env", []) if item["name"] not in values]
            container["env"] = [*others, *({"name": key, "value": text} for key, text in values.items())]

    return change


def staying(spec: Object) -> None:
    """Its scaler has to remember for ten minutes, also on a node that is late after the outage."""
    for one in spec["tolerations"]:
        if one["key"].startswith("node.kubernetes.io/"):
            one["tolerationSeconds"] = 600


def sidecar(*command: str) -> Change:
    def change(spec: Object) -> None:
        (container,) = spec["initContainers"]
        container["command"] = list(command)

    return change


def ends_at_once(spec: Object) -> None:
    spec["containers"][0]["command"] = ["python", "-c", "pass"]


def eats_when_told(spec: Object) -> None:
    """The scaler takes more memory than it may have, at the signal HUNGRY."""
    eat = f"signal.signal({HUNGRY:d}, lambda *_: [b'x' * 2**20 for _ in range(2**12)])"
    run = "runpy.run_module('berth.runtime.scaler', run_name='__main__')"
    spec["initContainers"][0]["command"] = ["python", "-c", f"import runpy, signal; {eat}; {run}"]


_JOBS: Mapping[str, Change] = {
    "out-of-memory": eats_when_told,
    "node-lost": preferring_second,
    "full": on_second_only,
    "token-rotated": on_second_only,
    LONG_ERRORS: staying,
    "clock-ahead": clock(30),
    "clock-behind": clock(-30),
    "sidecar-crashes": sidecar("python", "-c", "raise SystemExit(1)"),
    "sidecar-cannot-start": sidecar("/nowhere/scaler"),
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


def _without_priority(found: Object) -> None:
    """Placeholders of the same priority as our own Jobs."""
    del found["spec"]["template"]["spec"]["priorityClassName"]


def _with_code(file: str, old: str, new: str) -> Change:
    """A program in which one text is another; `old` is a pattern."""

    def change(found: Object) -> None:
        text = found.get("data", {}).get(file, "")
        if text:
            found["data"][file], times = re.subn(old, new, text)
            assert times == 1, f"{file} has no {old}"

    return change


def _with_constant(file: str, name: str, value: str) -> Change:
    return _with_code(file, rf"\n{name} = .*", rf"\n{name} = {value}")


# Remedies that can be taken away, to see that the tests miss them: BERTH_E2E_WITHOUT="sweep retries".
REMEDIES: Mapping[str, Sequence[tuple[str, Change]]] = {
    "sweep": [("CronJob", _without_sweep)],
    "deadline": [("CronJob", _without_deadline)],
    "retries": [("CronJob", _without_retries)],
    "tolerations": [("CronJob", _without_tolerations)],
    "priority": [("Deployment", _without_priority)],
    # An occurrence that opens soon: a Job whose clock is behind ends.
    "waiting": [("ConfigMap", _with_constant("target.py", "EARLY_START", "0"))],
    # The ten seconds after which sessions that nobody can tell count as none: it waits for ever.
    "impatience": [("ConfigMap", _with_constant("scaler.py", "LIST_TIMEOUT", "1e9"))],
    # The ten minutes for which the last counts stand.
    "memory": [("ConfigMap", _with_constant("sessionobserver.py", "STALE_SECONDS", "0.0"))],
    # Looks at the pools every five seconds, at the timetable every 25.
    "looks": [("ConfigMap", _with_constant("scaler.py", "TICK", "45.0"))],
    "rereads": [("ConfigMap", _with_constant("scaler.py", "REREAD", "1e9"))],
    # The two minutes after which the main container ends a pod whose scaler says nothing.
    "watch": [("ConfigMap", _with_constant("occurrence.py", "STUCK_SECONDS", "1e9"))],
    # Each request has the token that the kubelet brought last.
    "token": [
        ("ConfigMap", _with_code("apiclient.py", r"token = (.*)\n", r"token = _FIRST.setdefault('', \1)\n")),
        ("ConfigMap", _with_code("apiclient.py", r"\Z", "\n_FIRST: dict[str, str] = {}\n")),
    ],
}


def without() -> list[str]:
    return os.environ.get("BERTH_E2E_WITHOUT", "").split()


class Changes:
    """For the engine. `healed` and `renewed` name reservations for which it begins or ends."""

    def __init__(self, minute: int) -> None:
        """`minute` 0 of the tests is that minute of the hour."""
        self.schedule = f"{(minute + SWEEPS[0]) % 5}-59/5 * * * *"  # of the sweep
        self.healed: set[str] = set()
        self.images = dict(_IMAGES)
        self._without = [change for name in without() for change in REMEDIES[name]]

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

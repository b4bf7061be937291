"""Whether the pod of an occurrence serves it, from the state of its containers. Pure."""

from berth.core.jsonvalues import Tree, instant_or_none, part
from berth.core.labels import OCCURRENCE
from berth.core.objects import is_terminating
from berth.plugins.rehearsals.obstacles import containers

SCALER = "scaler"  # the container that reads and writes; the main one has the name of its role
RESTART_GRACE = 60  # seconds for which a scaler that is restarted in place still counts as running


def serves_at(down_since: int | None, now: float) -> bool:
    """Return whether a pod serves its reservation. `down_since`: what `pod_down_since` returns for it."""
    return down_since is None or now - down_since < RESTART_GRACE


def pod_down_since(pod: Tree) -> int | None:
    """Return since when the scaler of the pod has been down, None while the pod serves.

    Return 0 for a pod that does not serve and will not go on: only the scaler is restarted in place, and only
    if it had worked for a while. One that could not be started at all has started at the epoch.
    """
    if part(pod, "status").get("phase") != "Running" or is_terminating(pod):
        return 0
    running = {status.get("name") for status in containers(pod) if "running" in part(status, "state")}
    if {OCCURRENCE, SCALER} <= running:
        return None
    scaler = next((container for container in containers(pod) if container.get("name") == SCALER), {})
    ended = part(scaler, "state", "terminated") or part(scaler, "lastState", "terminated")
    since, until = (instant_or_none(ended.get(key)) for key in ("startedAt", "finishedAt"))
    return until if OCCURRENCE in running and since and until and until - since >= RESTART_GRACE else 0

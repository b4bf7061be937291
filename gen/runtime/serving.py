"""Whether a pod of an occurrence serves it, as far as the API server tells. Pure."""

from collections.abc import Mapping
from typing import Any

from gen.runtime.labels import OCCURRENCE

Object = Mapping[str, Any]


def is_serving(pod: Object) -> bool:
    """Its program runs, whatever the sidecar does."""
    return _phase(pod) == "Running" and _runs(pod) and not is_going(pod)


def is_starting(pod: Object) -> bool:
    """It may come to serve."""
    return _phase(pod) in ("Pending", "Running") and not _runs(pod) and not is_going(pod)


def is_going(thing: Object) -> bool:
    """An object of any kind has been deleted, and is not away yet."""
    return "deletionTimestamp" in thing["metadata"]


def containers(pod: Object) -> list[dict[str, Any]]:
    """What is told of each; sidecars are among those that begin first."""
    status = pod.get("status") or {}
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def _runs(pod: Object) -> bool:
    """The container of the program has the name of the role."""
    return any(
        one.get("name") == OCCURRENCE and (one.get("state") or {}).get("running") is not None
        for one in containers(pod)
    )


def _phase(pod: Object) -> str:
    return (pod.get("status") or {}).get("phase") or ""

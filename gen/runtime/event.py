"""A Kubernetes Event on a Deployment of ours, or on a timetable, as the value that is posted."""

from typing import NamedTuple

from gen.runtime.instant import instant_text
from gen.runtime.objectkind import DEPLOYMENT, Kind

NORMAL, WARNING = "Normal", "Warning"
_LONGEST = 1024  # characters of a message, by the API server's own check


class Subject(NamedTuple):
    """An object. With an empty `uid`, `kubectl describe` does not find its events, `kubectl get events`
    does.
    """

    namespace: str
    name: str
    uid: str
    kind: Kind = DEPLOYMENT  # or the ConfigMap of the timetable, where a pool has no Deployment


def event(subject: Subject, kind: str, reason: str, message: str, now: float) -> dict[str, object]:
    """`kind` is NORMAL or WARNING, `reason` one CamelCase word."""
    instant = instant_text(int(now))
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{subject.name[:50]}.", "namespace": subject.namespace},
        "involvedObject": {
            "apiVersion": subject.kind.version,
            "kind": subject.kind.name,
            "namespace": subject.namespace,
            "name": subject.name,
            "uid": subject.uid,
        },
        "type": kind,
        "reason": reason,
        "message": message[:_LONGEST],
        "source": {"component": "berth"},
        "firstTimestamp": instant,
        "lastTimestamp": instant,
        "count": 1,
    }

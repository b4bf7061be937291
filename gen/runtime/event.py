"""A Kubernetes Event on one of our Deployments, as the value that is posted."""

from typing import NamedTuple

from gen.runtime.instant import instant_text

NORMAL, WARNING = "Normal", "Warning"
_LONGEST = 1024  # characters of a message, by the API server's own check


class Subject(NamedTuple):
    """A Deployment. With an empty `uid`, `kubectl describe` does not find its events, `kubectl get events`
    does.
    """

    namespace: str
    deployment: str
    uid: str


def event(subject: Subject, kind: str, reason: str, message: str, now: float) -> dict[str, object]:
    """`kind` is NORMAL or WARNING, `reason` one CamelCase word."""
    instant = instant_text(int(now))
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{subject.deployment[:50]}.", "namespace": subject.namespace},
        "involvedObject": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "namespace": subject.namespace,
            "name": subject.deployment,
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

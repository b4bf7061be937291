"""Sessions of every source, as they look in a cluster: made, put to sleep or ended, and deleted."""

from collections.abc import Callable
from typing import NamedTuple

from tests.e2e.direct import Direct, Object
from tests.e2e.images import PAUSE
from tests.e2e.kwok import TOLERATION
from tests.e2e.project import Document

RENKU_ID = 5
PODS = "/api/v1/namespaces/{}/pods"
RENKU = "/apis/amalthea.dev/v1alpha1/namespaces/{}/amaltheasessions"
JOBS = "/apis/batch/v1/namespaces/{}/jobs"
PRETENDING = {"nodeSelector": {"type": "kwok"}, "tolerations": [TOLERATION]}


class Kind(NamedTuple):
    source: str
    root: str  # of its list, for a namespace
    recognised: Document  # of the class
    make: Callable[[str], Object]
    rest: Callable[[Direct, str], object]  # at the path of one: it counts no longer, though it may be there


def pod(name: str, **labels: str) -> Object:
    spec = {**PRETENDING, "containers": [{"name": "session", "image": PAUSE}]}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _hub_pod(name: str) -> Object:
    """As KubeSpawner labels it."""
    return pod(name, **{"component": "singleuser-server", "app": "jupyterhub", "profile": "small"})


def amalthea(name: str, project: str = "01JC3CB5426KC7P5STS5X3KSS8", size: int = 0) -> Object:
    """`size` is that of a text in it, in bytes: real ones have kilobytes."""
    annotations = {
        "renku.io/resource_class_id": str(RENKU_ID),
        "renku.io/project_id": project,
        "renku.io/launcher_id": "01JC3CB5426KC7P5STS5X3KSS9",
    }
    session = {"image": "renku/session", "env": [{"name": "PADDING", "value": "x" * size}]}
    return {
        "apiVersion": "amalthea.dev/v1alpha1",
        "kind": "AmaltheaSession",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"hibernated": False, "session": session},
    }


def _hibernate(direct: Direct, path: str) -> object:
    return direct.patch(path, {"spec": {"hibernated": True}})


def _end(direct: Direct, path: str) -> object:
    return direct.patch(f"{path}/status", {"status": {"phase": "Succeeded"}})


def _suspend(direct: Direct, path: str) -> object:
    return direct.patch(path, {"spec": {"suspend": True}})


def _job(name: str) -> Object:
    """A session of a system that we never heard of: a Job with an annotation."""
    metadata = {"name": name, "annotations": {"lab.example.org/class": "small"}}
    template = {"spec": {**pod(name)["spec"], "restartPolicy": "Never"}}
    spec = {"suspend": False, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


KINDS = (
    Kind("renku", RENKU, {"source": "renku"}, amalthea, _hibernate),
    Kind(
        "jupyterhub",
        PODS,
        {"source": "jupyterhub", "selector": {"matchLabels": {"profile": "small"}}},
        _hub_pod,
        lambda direct, path: direct.delete(path),
    ),
    Kind(
        "pods",
        PODS,
        {"source": "pods", "selector": {"matchLabels": {"session": "yes"}}},
        lambda name: pod(name, session="yes"),
        _end,
    ),
    Kind(
        "custom",
        JOBS,
        {
            "source": "custom",
            "group": "batch",
            "version": "v1",
            "resource": "jobs",
            "matchAnnotations": {"lab.example.org/class": "small"},
            "inactive": [{"path": "spec.suspend", "values": ["true"]}],
        },
        _job,
        _suspend,
    ),
)

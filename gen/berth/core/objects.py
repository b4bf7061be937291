"""Kinds of Kubernetes objects and their API paths, the state of a pod, and Event objects."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from berth.core.jsonvalues import Tree, instant_or_none, instant_text, part, parts
from berth.core.labels import OCCURRENCE


def group_of(api_version: str) -> str:
    """Return the group of an apiVersion; empty for the core group."""
    return api_version.rpartition("/")[0]


class ObjectKind(NamedTuple):
    """A kind of Kubernetes object and its API."""

    name: str
    version: str  # with its group
    plural: str
    of_cluster: bool = False  # it has no namespace, whichever is said
    has_scale: bool = True  # the subresource, of those that are scaled

    @property
    def group(self) -> str:
        return group_of(self.version)

    def path(self, namespace: str, name: str = "") -> str:
        """Return the API path of an object, or of all objects in the namespace (empty: in the cluster)."""
        prefix = "apis" if "/" in self.version else "api"
        home = f"/namespaces/{quote(namespace, safe='')}" if namespace and not self.of_cluster else ""
        path = f"/{prefix}/{self.version}{home}/{self.plural}"
        return f"{path}/{quote(name, safe='')}" if name else path


CONFIG_MAP = ObjectKind("ConfigMap", "v1", "configmaps")
SERVICE_ACCOUNT = ObjectKind("ServiceAccount", "v1", "serviceaccounts")
EVENT = ObjectKind("Event", "v1", "events")
POD = ObjectKind("Pod", "v1", "pods")
DEPLOYMENT = ObjectKind("Deployment", "apps/v1", "deployments")
JOB = ObjectKind("Job", "batch/v1", "jobs")
LEASE = ObjectKind("Lease", "coordination.k8s.io/v1", "leases", has_scale=False)
CRON_JOB = ObjectKind("CronJob", "batch/v1", "cronjobs")
ROLE = ObjectKind("Role", "rbac.authorization.k8s.io/v1", "roles")
ROLE_BINDING = ObjectKind("RoleBinding", "rbac.authorization.k8s.io/v1", "rolebindings")
RIGHTS = (ROLE_BINDING, ROLE, SERVICE_ACCOUNT)
SLOT = ObjectKind("Reservation", "scheduling.koordinator.sh/v1alpha1", "reservations", of_cluster=True)
NODE_POOL = ObjectKind("NodePool", "karpenter.sh/v1", "nodepools", of_cluster=True)
CAPACITY_BUFFER = ObjectKind(
    "CapacityBuffer", "autoscaling.x-k8s.io/v1beta1", "capacitybuffers", has_scale=False
)
SCALED = (DEPLOYMENT, CAPACITY_BUFFER, NODE_POOL)  # kinds whose replicas are seats
SCALER = "scaler"  # the container that reads and writes; the main one has the name of its role
RUNNING_PODS = "status.phase!=Succeeded,status.phase!=Failed"  # a selector of fields


RESTART_GRACE = 60  # seconds for which a scaler that is restarted in place still counts as running


def serves_at(down_since: int | None, now: float) -> bool:
    """Return whether a pod serves its reservation. `down_since`: what `pod_down_since` returns for it."""
    return down_since is None or now - down_since < RESTART_GRACE


def pod_down_since(pod: Tree) -> int | None:
    """Return since when the scaler of the pod has been down, None while the pod serves.

    Return 0 for a pod that does not serve and will not go on: only the scaler is restarted in place, and only
    if it had worked for a while. One that could not be started at all has started at the epoch.
    """
    if _phase(pod) != "Running" or is_terminating(pod):
        return 0
    running = _running(pod)
    if {OCCURRENCE, SCALER} <= running:
        return None
    scaler = next((container for container in containers(pod) if container.get("name") == SCALER), {})
    ended = part(scaler, "state", "terminated") or part(scaler, "lastState", "terminated")
    since, until = (instant_or_none(ended.get(key)) for key in ("startedAt", "finishedAt"))
    return until if OCCURRENCE in running and since and until and until - since >= RESTART_GRACE else 0


def is_terminating(item: Tree) -> bool:
    """Return whether an object has been deleted but still exists."""
    return "deletionTimestamp" in part(item, "metadata")


def containers(pod: Tree) -> list[dict[str, Any]]:
    """Return the status of all containers, including sidecars."""
    return [*parts(pod, "status", "initContainerStatuses"), *parts(pod, "status", "containerStatuses")]


def mounted_config_maps(job: Tree) -> frozenset[str]:
    """Return the names of the ConfigMaps that the pods of a Job or of its template mount."""
    volumes = parts(job, "spec", "template", "spec", "volumes")
    return frozenset(str(part(volume, "configMap").get("name", "")) for volume in volumes)


def _running(pod: Tree) -> set[object]:
    """Return the names of the containers that run."""
    return {status.get("name") for status in containers(pod) if "running" in part(status, "state")}


def _phase(pod: Tree) -> object:
    return part(pod, "status").get("phase")


IMAGE_PULL_REASONS = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError")
)


class ImagePullFailure(NamedTuple):
    """Why a container does not start."""

    image: str
    reason: str
    message: str

    def said(self) -> str:
        """Return the failure as text."""
        return f"its image {self.image} cannot be pulled: {self.reason}: {self.message}"


def pull_failures(pod: Tree) -> Iterator[ImagePullFailure]:
    """Yield the containers of a pod whose images cannot be pulled."""
    for container in containers(pod):
        waiting = part(container, "state", "waiting")
        reason = str(waiting.get("reason", ""))
        if reason in IMAGE_PULL_REASONS:
            yield ImagePullFailure(str(container.get("image", "")), reason, str(waiting.get("message", "")))


NORMAL, WARNING = "Normal", "Warning"
_MAX_MESSAGE = 1024  # characters of a message, by the API server's own check


class EventSubject(NamedTuple):
    """The object of an Event.

    With an empty `uid`, `kubectl describe` does not show its Events; `kubectl get events` does.
    """

    namespace: str
    name: str
    uid: str
    kind: ObjectKind = DEPLOYMENT  # or the ConfigMap of the timetable, where a pool has no Deployment


def make_event(subject: EventSubject, kind: str, reason: str, message: str, now: float) -> dict[str, object]:
    """Return an Event object. `kind` is NORMAL or WARNING, `reason` one CamelCase word."""
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
        "message": message[:_MAX_MESSAGE],
        "source": {"component": "berth"},
        "firstTimestamp": instant,
        "lastTimestamp": instant,
        "count": 1,
    }

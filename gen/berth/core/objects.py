"""Kinds of Kubernetes objects and their API paths, what all say in the same way, and Event objects."""

from typing import NamedTuple
from urllib.parse import quote

from berth.core.jsonvalues import Tree, instant_text, part, parts


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
KIND_BY_NAME = {kind.name: kind for kind in (CONFIG_MAP, CRON_JOB, *SCALED, JOB, *RIGHTS)}
RUNNING_PODS = "status.phase!=Succeeded,status.phase!=Failed"  # a selector of fields


class ObjectRef(NamedTuple):
    """Identity and metadata of an object of any kind."""

    kind: str
    name: str
    uid: str
    reservation: str
    created: int
    is_terminating: bool = False  # it has been deleted, and is not away yet
    orphaned_since: str = ""  # what the sweep has written on it

    @property
    def as_owner(self) -> Tree:
        """An entry of `ownerReferences`."""
        return {
            "apiVersion": KIND_BY_NAME[self.kind].version,
            "kind": self.kind,
            "name": self.name,
            "uid": self.uid,
        }


def is_terminating(item: Tree) -> bool:
    """Return whether an object has been deleted but still exists."""
    return "deletionTimestamp" in part(item, "metadata")


def mounted_config_maps(job: Tree) -> frozenset[str]:
    """Return the names of the ConfigMaps that the pods of a Job or of its template mount."""
    volumes = parts(job, "spec", "template", "spec", "volumes")
    return frozenset(str(part(volume, "configMap").get("name", "")) for volume in volumes)


def condition_message(item: Tree, kind: str, status: str) -> str | None:
    """Return the message of a condition with this status, or else its reason; None if there is none."""
    for one in parts(item, "status", "conditions"):
        if (one.get("type"), one.get("status")) == (kind, status):
            return str(one.get("message") or one.get("reason") or kind)
    return None


NORMAL, WARNING = "Normal", "Warning"
Said = tuple[str, str, str]
"""What an Event says: NORMAL or WARNING, a reason in one CamelCase word, and a message."""
_MAX_MESSAGE = 1024  # characters of a message, by the API server's own check


def make_event(namespace: str, subject: ObjectRef, said: Said, now: float) -> Tree:
    """Return an Event object about `subject`.

    With an empty uid, `kubectl describe` does not show it; `kubectl get events` does.
    """
    kind, reason, message = said
    instant = instant_text(int(now))
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{subject.name[:50]}.", "namespace": namespace},
        "involvedObject": {
            "apiVersion": KIND_BY_NAME[subject.kind].version,
            "kind": subject.kind,
            "namespace": namespace,
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

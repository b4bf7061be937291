"""Kinds of objects, and the paths at which the API server has them."""

from typing import NamedTuple
from urllib.parse import quote


class Kind(NamedTuple):
    name: str
    version: str  # with its group
    plural: str
    of_cluster: bool = False  # it has no namespace, whichever is said

    def path(self, namespace: str, name: str = "") -> str:
        """Of one object, or of all in the namespace; with an empty one, in the cluster."""
        prefix = "apis" if "/" in self.version else "api"
        home = f"/namespaces/{quote(namespace, safe='')}" if namespace and not self.of_cluster else ""
        path = f"/{prefix}/{self.version}{home}/{self.plural}"
        return f"{path}/{quote(name, safe='')}" if name else path


CONFIG_MAP = Kind("ConfigMap", "v1", "configmaps")
EVENT = Kind("Event", "v1", "events")
POD = Kind("Pod", "v1", "pods")
DEPLOYMENT = Kind("Deployment", "apps/v1", "deployments")
JOB = Kind("Job", "batch/v1", "jobs")
CRON_JOB = Kind("CronJob", "batch/v1", "cronjobs")
ROLE = Kind("Role", "rbac.authorization.k8s.io/v1", "roles")
ROLE_BINDING = Kind("RoleBinding", "rbac.authorization.k8s.io/v1", "rolebindings")
SLOT = Kind("Reservation", "scheduling.koordinator.sh/v1alpha1", "reservations", of_cluster=True)
NODE_POOL = Kind("NodePool", "karpenter.sh/v1", "nodepools", of_cluster=True)
SCALED = (DEPLOYMENT, NODE_POOL)  # kinds whose replicas are seats
RUNNING_PODS = "status.phase!=Succeeded,status.phase!=Failed"  # a selector of fields

"""Names of the rendered objects, and the labels and annotations that all of them carry."""

import re

from berth.core import objectnames
from berth.core.labels import CLASS, PLUGINS, RESERVATION, SITE
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, ResourceClass, Site

# Names carry no time, date or release, and never change between releases; only the code is named by its hash.
# Those by which the cluster recognizes what belongs to a reservation are in core.

LONGEST = objectnames.LONGEST
fit, single, pool, record = objectnames.fit, objectnames.single, objectnames.pool, objectnames.record

_CODE_DIGITS = 10
of_code = re.compile(rf"(berth-(?:core|runtime|{'|'.join(PLUGINS)}))-[0-9a-f]{{{_CODE_DIGITS}}}").fullmatch
"""Match the name of a ConfigMap with in-cluster code, of any version; group 1 is its package."""
ALERTS = "berth-alerts"  # the PrometheusRule
DASHBOARD = "berth-dashboard"  # the ConfigMap that Grafana reads
INVENTORY = "berth-inventory"  # the ConfigMap that names the reservations, where nothing prunes
EVERYWHERE = "berth-sessions"  # the beginning of the names of ClusterRoles for sessions
OCCURRENCE = "berth-occurrence"  # the beginning of the names of ClusterRoles for occurrences
SWEEP = "berth-sweep"  # CronJob, ServiceAccount, Role and RoleBinding of the sweep


def cronjob(reservation: str, number: int) -> str:
    """Name a CronJob; `number` counts from 1 by local opening time."""
    return single(reservation) if number == 1 else fit(f"{reservation}-{number}")


def listed_cronjobs(reservation: str, count: int) -> list[str]:
    """Return the lines of the inventory about the CronJobs of a reservation after its first, of `count`.

    Timetables tell of all other objects what is expected.
    """
    return [f"CronJob {cronjob(reservation, number)}" for number in range(2, count + 1)]


def code_map(package: str, digest: str) -> str:
    """Name the ConfigMap of a package of in-cluster code. `digest`: of its content, in hexadecimal digits."""
    return f"berth-{package}-{digest[:_CODE_DIGITS]}"


def project(site: str) -> str:
    """Name the AppProject of a site."""
    return fit(f"berth-{site}")


def application(site: str, cluster: str) -> str:
    """Name the Application, or the Kustomization and its source, of a cluster.

    Sites share an engine. The dot, which no site or cluster has in its name, keeps site `a-b` with cluster
    `c` and site `a` with cluster `b-c` apart.
    """
    return fit(f"berth-{site}.{cluster}")


def priority_class(site: str, value: int) -> str:
    """Name the PriorityClass by its site, as it is cluster-scoped, and its value, which cannot change."""
    return fit(f"berth-{site}-{-value}")


def placeholder_class(site: Site, cluster: Cluster) -> str:
    """Return the name of the PriorityClass of a cluster's placeholders, rendered or not."""
    return cluster.existing_priority_class or priority_class(site.name, cluster.priority)


def slot(site: str, pool: str) -> str:
    """Return how the names of a pool's slots begin; ordinal and hash follow. They are cluster-scoped."""
    return f"{site}-{pool}"


def slot_role(site: str, account: str) -> str:
    """Name the ClusterRole of occurrences or of the sweep, for slots."""
    return fit(f"{account}.{site}")


def slot_binding(site: str, reservation: str) -> str:
    """Name the ClusterRoleBinding of a reservation with slots.

    It is not the name of a `nodes_role`: a binding cannot change its role when a backend changes.
    """
    return fit(f"berth-slots.{site}.{reservation}")


def affinity_snippet(reservation: str) -> str:
    """Name the ConfigMap that shows what session pods need to require their slots."""
    return fit(f"{reservation}-session-affinity")


def affinity_profile(site: str, pool: str, number: int) -> str:
    """Name a ClusterColocationProfile; `number` counts from 1. No pool has a dot in its name."""
    name = f"berth-{site}.{pool}"
    return name if number == 1 else f"{name}.{number}"


def node_pool(site: str, cloud: str) -> str:
    """Name the EC2NodeClass and NodePool of a CloudCapacity.

    They are cluster-scoped; the dots keep those of site `a-b` and site `a` apart.
    """
    return fit(f"{site}.cloud.{cloud}")


def static_pool(site: str, pool: str) -> str:
    """Name the NodePool of a pool of whole nodes; it has one dot, a `node_pool` has two."""
    return fit(f"{site}.{pool}")


def nodes_role(site: str, account: str, reservation: str) -> str:
    """Name the ClusterRole and ClusterRoleBinding of a reservation's NodePools; two accounts have one."""
    return fit(f"{account}.{site}.{reservation}")


def sweep_nodes_role(site: str) -> str:
    """Name the ClusterRole and ClusterRoleBinding of the sweep, for all static NodePools of the site."""
    return fit(f"{SWEEP}-nodes.{site}")


def held_role(site: str, account: str, reservation: str = "") -> str:
    """Name the Role or ClusterRole over numbers of somebody else, and its binding."""
    return fit(f"{account}-held.{site}.{reservation}" if reservation else f"{account}-held.{site}")


def is_held_role(name: str) -> bool:
    """Return whether a Role is one over numbers of somebody else, by how its name begins."""
    return name.startswith((f"{OCCURRENCE}-held.", f"{SWEEP}-held."))


def claim_template(count: int, device_class: str) -> str:
    """Name a ResourceClaimTemplate by what it has, which cannot change."""
    return fit(f"berth-{count}.{device_class}")


def session_snippet(resource_class: str) -> str:
    """Name the ConfigMap that shows what session pods of a class need to use its cloud capacities.

    It has a dot, which no reservation's has.
    """
    return fit(f"{resource_class}.session-affinity")


def session_role(site: str, kind: str = "") -> str:
    """Name the Role in a namespace of sessions, which belongs to others.

    `kind` is the qualified name of what the sessions are, empty for the first kind of the namespace.
    """
    return fit(f"berth-{site}-sessions.{kind}" if kind else f"berth-{site}-sessions")


def session_binding(site: str, reservation: str, kind: str = "") -> str:
    """Name the RoleBinding of a reservation in a namespace of sessions, which cannot change its Role.

    The dot keeps site `a-b` with reservation `c` and site `a` with reservation `b-c` apart.
    """
    return fit(f"berth-{site}.{reservation}.{kind}" if kind else f"berth-{site}.{reservation}")


def everywhere_role(site: str, kind: str = "") -> str:
    """Name the ClusterRole that reads sessions of the whole cluster. `kind` is as in `session_role`."""
    return fit(f"{EVERYWHERE}.{site}.{kind}" if kind else f"{EVERYWHERE}.{site}")


def everywhere_binding(site: str, reservation: str, kind: str = "") -> str:
    """Name the ClusterRoleBinding of a reservation to such a ClusterRole."""
    name = f"{EVERYWHERE}.{site}.{reservation}"
    return fit(f"{name}.{kind}" if kind else name)


# Labels and annotations


# Argo CD shows a pending placeholder as Progressing for as long as it is pending, and a CronJob whose last
# run failed as Degraded until the next run succeeds, perhaps a week later. Neither concerns a sync.
_UNJUDGED = {"argocd": {"argocd.argoproj.io/ignore-healthcheck": "true"}}


def unjudged(engine: str) -> dict[str, str]:
    """Return annotations that keep an engine from assessing the health of a pool or of its CronJobs."""
    return _UNJUDGED.get(engine, {})


# The Job of an open window may need the code of an older release, which is in git no more. The sweep removes
# it. Argo CD would show an object that it may not prune as OutOfSync.
_KEPT = {
    "argocd": {
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        "argocd.argoproj.io/sync-options": "Prune=false",
    },
    "flux": {"kustomize.toolkit.fluxcd.io/prune": "disabled"},
}


def kept(engine: str) -> dict[str, str]:
    """Return annotations that keep an engine from pruning an object that has left git."""
    return _KEPT.get(engine, {})


# Flux substitutes ${...} if a Kustomization has `postBuild`, which a team may patch into all of theirs, and
# fails if it does not know the variable. Titles are free text.
_UNTOUCHED = {"flux": {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}}


def untouched(engine: str) -> dict[str, str]:
    """Return annotations that keep an engine from rewriting what people wrote."""
    return _UNTOUCHED.get(engine, {})


def of_site(site: Site) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "berth",
        "app.kubernetes.io/part-of": site.name,
        "app.kubernetes.io/managed-by": "berth",
        SITE: site.name,
    }


def of_job_pod(site: Site, cluster: Cluster) -> dict[str, str]:
    """Return the labels of all pods of Berth's Jobs: that of the site, and those that the Site adds."""
    return {SITE: site.name, **cluster.runtime.pod_labels}


def of_job(site: Site, reservation: Reservation) -> dict[str, str]:
    """Return the labels of a reservation's Jobs: those by which they are listed, and those of its author."""
    return {SITE: site.name, RESERVATION: reservation.name, **dict(reservation.labels)}


def of_reservation(site: Site, reservation: Reservation) -> dict[str, str]:
    """Return the labels of a reservation's objects: those of the site, and those that its author added."""
    return {**of_permissions(site, reservation), **dict(reservation.labels)}


def of_permissions(site: Site, reservation: Reservation) -> dict[str, str]:
    """Return the labels of a reservation's RBAC and accounts, where labels of authors could grant rights."""
    return {**of_site(site), RESERVATION: reservation.name}


def of_pool(site: Site, reservation: Reservation, found: ResourceClass) -> dict[str, str]:
    """Return the labels by which a pool's placeholders and slots are selected."""
    return {SITE: site.name, RESERVATION: reservation.name, CLASS: found.name}


def of_placeholder(site: Site, reservation: Reservation, found: ResourceClass) -> dict[str, str]:
    """Return the labels of a placeholder pod.

    The reservation's own labels are not on pods: a new label would replace the pods in the middle of a class.
    """
    return {**of_pool(site, reservation, found), **found.pod_labels}

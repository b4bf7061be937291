"""Names of what is rendered, and the labels and annotations that all of it carries."""

from berth.core.labels import CLASS, RESERVATION, SITE
from berth.schema.values import Reservation, ResourceClass, Site

# Names of what is rendered, and the labels and annotations that all of it carries.


# What rendered objects are called. Names carry no time, day or release, and never change between releases.
# CronJobs allow 52 characters (Kubernetes adds 11 for the Job); one limit serves for all kinds.

LONGEST = 52
# ConfigMaps of the in-cluster code: the package `core`, the package `runtime`, and modules of one program.
CORE, RUNTIME, SCALER_CODE, SWEEP_CODE = "berth-core", "berth-runtime", "berth-scaler", "berth-sweep"
CODE = (CORE, RUNTIME, SCALER_CODE, SWEEP_CODE)
KOORDINATOR_CODE = "berth-koordinator"  # the code that only clusters with Koordinator have
INVENTORY = "berth-inventory"  # the ConfigMap that names the reservations, where nothing prunes
OCCURRENCE = "berth-occurrence"  # ServiceAccount, Role and RoleBinding of occurrences
SWEEP = "berth-sweep"  # the same of the sweep, and its CronJob


def code(*, koordinator: bool) -> tuple[str, ...]:
    """The ConfigMaps with code of a cluster, with Koordinator or without."""
    return (*CODE, KOORDINATOR_CODE) if koordinator else CODE


def fit(name: str) -> str:
    """The name itself, or its beginning and a hash of the whole where it is too long. What ends with a star
    is a pattern, and stays one: of every name that begins so, whether it is cut or not.
    """
    beginning = name[: LONGEST - 9].rstrip("-.")
    if name.endswith("*"):
        return name if len(name) < LONGEST - 8 else f"{beginning}*"
    if len(name) <= LONGEST:
        return name
    from hashlib import sha256  # noqa: PLC0415 - few names are that long

    digest = sha256(name.encode()).hexdigest()[:8]
    return f"{beginning}-{digest}"


def pool(reservation: str, resource_class: str) -> str:
    """The Deployment of a pool."""
    return fit(f"{reservation}-{resource_class}")


def single(reservation: str) -> str:
    """What a reservation has once: timetable, Role, RoleBinding, first CronJob."""
    return fit(reservation)


def cronjob(reservation: str, number: int) -> str:
    """`number` counts from 1 by local opening time."""
    return single(reservation) if number == 1 else fit(f"{reservation}-{number}")


def project(site: str) -> str:
    """Argo CD's project of a site."""
    return fit(f"berth-{site}")


def application(site: str, cluster: str) -> str:
    """Application, or Kustomization and its source, of a cluster. Sites share an engine: with the dot, which
    no name of ours has, `a-b` with cluster `c` and `a` with cluster `b-c` do not meet.
    """
    return fit(f"berth-{site}.{cluster}")


def priority_class(site: str, value: int) -> str:
    """Cluster-scoped, so it carries the site's name; and its value (below 0), for Kubernetes changes none."""
    return fit(f"berth-{site}-{-value}")


def slot(site: str, pool: str) -> str:
    """What the slots of a pool are called, but for ordinal and hash. They are cluster-scoped."""
    return f"{site}-{pool}"


def slot_role(site: str, account: str) -> str:
    """ClusterRole and ClusterRoleBinding of one of our ServiceAccounts, for slots."""
    return fit(f"{account}.{site}")


def affinity_snippet(reservation: str) -> str:
    """The ConfigMap in which people find what session pods need to require their slots."""
    return fit(f"{reservation}-session-affinity")


def affinity_profile(site: str, pool: str, number: int) -> str:
    """A ClusterColocationProfile; `number` counts from 1. No pool's name has a dot."""
    name = f"berth-{site}.{pool}"
    return name if number == 1 else f"{name}.{number}"


def node_pool(site: str, cloud: str) -> str:
    """EC2NodeClass and NodePool of a cloud capacity. They are cluster-scoped: with dots, those of the sites
    `a-b` and `a` do not meet.
    """
    return fit(f"{site}.cloud.{cloud}")


def static_pool(site: str, pool: str) -> str:
    """The NodePool of a pool that is whole nodes; with one dot it meets no `node_pool`, which has two."""
    return fit(f"{site}.{pool}")


def nodes_role(site: str, account: str, reservation: str) -> str:
    """ClusterRole and ClusterRoleBinding of one of our accounts, for the NodePools of a reservation."""
    return fit(f"{account}.{site}.{reservation}")


def sweep_nodes_role(site: str) -> str:
    """The same of the sweep, for all NodePools of the site that are whole nodes."""
    return fit(f"{SWEEP}-nodes.{site}")


def session_snippet(resource_class: str) -> str:
    """The ConfigMap in which people find what session pods of a class need to use its cloud capacities. No
    reservation's has a dot.
    """
    return fit(f"{resource_class}.session-affinity")


def session_role(site: str) -> str:
    """Role and RoleBinding in a namespace of sessions, which is other people's."""
    return fit(f"berth-{site}-sessions")


# The labels that all objects of a site or of a reservation carry.


# Argo CD calls a placeholder that waits Progressing for as long as it waits, and a CronJob whose last run
# failed Degraded until the next has succeeded, which may be in a week. Neither says anything of a sync.
_UNJUDGED = {"argocd": {"argocd.argoproj.io/ignore-healthcheck": "true"}}


def unjudged(engine: str) -> dict[str, str]:
    """Annotations that keep an engine from judging the health of a pool or of its CronJobs."""
    return _UNJUDGED.get(engine, {})


# Flux puts values in the place of ${...} where a Kustomization has `postBuild`, as a team may patch into all
# of theirs, and refuses everything where it knows none. Titles are free text.
_UNTOUCHED = {"flux": {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}}


def untouched(engine: str) -> dict[str, str]:
    """Annotations that keep an engine from rewriting what people wrote."""
    return _UNTOUCHED.get(engine, {})


def of_site(site: Site) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "berth",
        "app.kubernetes.io/part-of": site.name,
        "app.kubernetes.io/managed-by": "berth",
        SITE: site.name,
    }


def of_reservation(site: Site, reservation: Reservation) -> dict[str, str]:
    """Ours first; what the author adds cannot replace them (that is refused when reading)."""
    return {**of_site(site), RESERVATION: reservation.name, **dict(reservation.labels)}


def of_pool(site: Site, reservation: Reservation, found: ResourceClass) -> dict[str, str]:
    """By which its placeholders and its slots are told from all others; nothing else is ever selected by."""
    return {SITE: site.name, RESERVATION: reservation.name, CLASS: found.name}


def of_placeholder(site: Site, reservation: Reservation, found: ResourceClass) -> dict[str, str]:
    """A reservation's own labels stay off the pods: a new label would replace them in the middle of a
    class.
    """
    return {**of_site(site), **of_pool(site, reservation, found), **dict(found.pod_labels)}

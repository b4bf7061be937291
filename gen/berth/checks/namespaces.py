"""Check that Berth renders no Namespace that belongs to others.

The engine owns what is rendered, and prunes it: with a Namespace goes everything in it. Pod Security
*restricted*, which Berth sets on its own, would refuse most pods of others.
"""

from collections.abc import Iterator

from berth.findings import Path, Problem
from berth.manifests.placed import cluster_of
from berth.schema.declared import Declared
from berth.schema.engine import CALLED, NAMESPACES
from berth.schema.values import Cluster, Site

NOT_OURS = "B280"


def check_namespace_per_cluster(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check the Namespace of each cluster."""
    for i, cluster in enumerate(site.clusters):
        user = _other_user(cluster, declared, site) if cluster.creates_namespace else ""
        if user:
            message = (
                f"{user} in {cluster.namespace}: cluster {cluster.name} would set its Namespace to Pod "
                "Security restricted, and delete it together with the last file of Berth."
            )
            fix = f"Write a namespace of its own; or {{name: {cluster.namespace}, create: false}}."
            owner: Path = ("clusters", i) if cluster.has_own_namespace else ()
            path: Path = ("spec", *owner, "namespace")
            yield site.origin.problem(NOT_OURS, path, message, fix)


def _other_user(cluster: Cluster, declared: Declared, site: Site) -> str:
    """Return who else uses the Berth namespace of a cluster; empty if nobody is known to."""
    for resource_class in declared.classes.values():
        is_here = resource_class.sessions is not None and cluster_of(resource_class, site) is cluster
        if (
            is_here
            and resource_class.sessions
            and cluster.namespace in resource_class.sessions.namespace_names
        ):
            return f"sessions of class {resource_class.name} run"
    for reservation in declared.reservations:
        classes = [declared.classes[name] for name, _ in reservation.seats if name in declared.classes]
        is_here = any(cluster_of(resource_class, site) is cluster for resource_class in classes)
        if is_here and cluster.namespace in reservation.holder.owner_namespaces:
            return f"owners of the slots of reservation {reservation.name} run"
    options = cluster.engine_options
    home = "" if options.type == "none" else options.namespace or NAMESPACES[options.type]
    return f"{CALLED[options.type]}'s own objects are" if cluster.namespace == home else ""

"""Write the lines that a site without declared nodes lacks, so that `plan` and `size` can answer."""

import json
from collections.abc import Iterable

from berth.machines.nodelabels import ZONE
from berth.manifests.placed import cluster_named, cluster_of
from berth.quantity import canonical, parse
from berth.schema.declared import Declared
from berth.schema.values import Cluster, ResourceClass, Site

_SEATS = 8  # of a class that a node of the example has room for
_DOCUMENT = """\
Write the nodes of cluster {cluster} to reservations/{name}.yaml.
The amounts are examples: kubectl describe node shows yours under Allocatable.

apiVersion: berth.dev/v1alpha1
kind: CloudCapacity
metadata: {{name: {name}}}
spec:
  {{provider: generic, cluster: {cluster}, nodeStartMinutes: 5, nodes: [
    {shapes}]}}
"""


def missing_lines(declared: Declared, site: Site, names: Iterable[str]) -> str:
    """Return what to add for these classes, which may use no known nodes: a document, and a line a class.

    The text is for people to copy: its lines are never broken.
    """
    wanted = [declared.classes[name] for name in names]
    parts: list[str] = []
    for cluster in site.clusters:
        classes = [one for one in wanted if cluster_of(one, site) is cluster]
        every = sorted(declared.capacities.items())
        known = [name for name, capacity in every if cluster_named(capacity.cluster, site) is cluster]
        name = known[0] if known else "nodes" if len(site.clusters) == 1 else f"nodes-{cluster.name}"
        if classes and not known:
            shapes = ",\n    ".join(_shape(cluster, one) for one in classes)
            parts.append(_DOCUMENT.format(cluster=cluster.name, name=name, shapes=shapes))
        for one in classes:
            parts.append(f"Add this line to class {one.name} in {one.origin.file}, below spec:\n")
            parts.append(f"  cloudCapacity: [{name}]\n")
    return "\n".join(parts)


def _shape(cluster: Cluster, found: ResourceClass) -> str:
    """Return the largest node of the site, or one with room for some seats, as the class selects it."""
    amounts = dict(cluster.largest_node)
    for resource, amount in (("cpu", "1"), ("memory", "4Gi"), *found.requests.items()):
        if resource not in cluster.largest_node:
            amounts[resource] = canonical(f"{_SEATS * (parse(amount) or 0)}n")
    labels = dict(found.pod.node_selector or {})
    zone = labels.pop(ZONE, None)
    parts = [f"name: {found.name}", f"allocatable: {_flow(amounts.items())}"]
    parts += [f"labels: {_flow(labels.items())}"] if labels else []
    parts += [f"zones: [{json.dumps(zone)}]"] if zone else []
    return f"{{{', '.join(parts)}}}"


def _flow(pairs: Iterable[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{key}: {json.dumps(value)}' for key, value in pairs)}}}"

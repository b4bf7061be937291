"""Write the lines that a site without declared nodes lacks, so that `plan` and `size` can answer."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from berth.machines.nodelabels import ZONE
from berth.manifests.placed import cluster_of
from berth.quantity import NANO, canonical, parse
from berth.schema.declared import Declared
from berth.schema.values import Cluster, ResourceClass, Site

_SEATS = 8  # of the classes that a node of the example has room for
_START_MINUTES = 5
_HAS_UNIT = re.compile(r"\d+[KMGT]i").fullmatch
_GIB = 2**30 * NANO
_NAME = "nodes"
_STEP = {"Gt": 1, "Lt": -1}  # from a number of an affinity to one that fits it
_WIDTH, _BREAK = 70, ",\n     "
_MEASURE = "The amounts are examples: kubectl describe node shows yours under Allocatable."


def missing_lines(declared: Declared, site: Site, names: Iterable[str]) -> str:
    """Return what to add for these classes, which may use no known nodes: a document, and a line a class.

    The text is for people to copy: its lines are never broken.
    """
    by_cluster: dict[str, list[ResourceClass]] = {}
    for name in names:
        cluster = cluster_of(declared.classes[name], site)
        if cluster is not None:
            by_cluster.setdefault(cluster.name, []).append(declared.classes[name])
    parts: list[str] = []
    taken = {*declared.clouds, *declared.generic}
    for cluster in site.clusters:
        classes = by_cluster.get(cluster.name)
        if classes:
            parts += _for_cluster(declared, site, cluster, classes, taken)
    return "\n".join(parts)


def _for_cluster(
    declared: Declared, site: Site, cluster: Cluster, classes: Sequence[ResourceClass], taken: set[str]
) -> Iterator[str]:
    known = _declared_for(declared, site, cluster)
    name = known or _free_name(taken)
    if not known:
        taken.add(name)
        yield f"Write the nodes of cluster {cluster.name} to reservations/{name}.yaml.\n{_MEASURE}\n"
        yield _document(name, site, cluster, classes)
    for resource_class in classes:
        yield f"Add this line to class {resource_class.name} in {resource_class.origin.file}, below spec:\n"
        yield f"  cloudCapacity: [{name}]\n"


def _declared_for(declared: Declared, site: Site, cluster: Cluster) -> str:
    """Return the first CloudCapacity of a cluster; empty if it has none."""
    only = site.clusters[0].name if len(site.clusters) == 1 else ""
    every = [(cloud.name, cloud.cluster) for cloud in declared.clouds.values()]
    every += [
        (generic_capacity.name, generic_capacity.cluster) for generic_capacity in declared.generic.values()
    ]
    return next((name for name, where in sorted(every) if (where or only) == cluster.name), "")


def _free_name(taken: set[str]) -> str:
    number = 1
    while (name := _NAME if number == 1 else f"{_NAME}-{number}") in taken:
        number += 1
    return name


def _document(name: str, site: Site, cluster: Cluster, classes: Sequence[ResourceClass]) -> str:
    own = f" cluster: {cluster.name}," if len(site.clusters) > 1 else ""
    shapes = ",\n    ".join(_shapes(cluster, classes))
    return (
        "apiVersion: berth.dev/v1alpha1\n"
        "kind: CloudCapacity\n"
        f"metadata: {{name: {name}}}\n"
        "spec:\n"
        f"  {{provider: generic,{own} nodeStartMinutes: {_START_MINUTES}, nodes: [\n"
        f"    {shapes}]}}\n"
    )


def _shapes(cluster: Cluster, classes: Sequence[ResourceClass]) -> Iterator[str]:
    """Yield a shape of nodes for the classes that want the same labels."""
    groups: dict[tuple[tuple[str, str], ...], list[ResourceClass]] = {}
    for resource_class in classes:
        groups.setdefault(tuple(sorted(_wanted_labels(resource_class))), []).append(resource_class)
    for number, (labels, own) in enumerate(groups.items(), 1):
        parts = [f"name: node{'' if number == 1 else f'-{number}'}"]
        amounts = _amounts(cluster, own)
        parts.append(f"allocatable: {_flow(amounts)}")
        zones = [value for key, value in labels if key == ZONE]
        others = [pair for pair in labels if pair[0] != ZONE]
        if others:
            parts.append(f"labels: {_flow(others)}")
        if zones:
            parts.append(f"zones: {json.dumps(zones)}")
        line = ", ".join(parts)
        yield f"{{{line if len(line) <= _WIDTH else _BREAK.join(parts)}}}"


def _flow(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a YAML mapping; only amounts with a unit need no quotes for certain."""
    texts = (f"{key}: {value if _HAS_UNIT(value) else json.dumps(value)}" for key, value in pairs)
    return f"{{{', '.join(texts)}}}"


def _amounts(cluster: Cluster, classes: Sequence[ResourceClass]) -> list[tuple[str, str]]:
    """Return what a node has: the site's largest node, or room for some seats of each class."""
    found = dict(cluster.largest_node)
    needed: dict[str, int] = {}
    for resource_class in classes:
        for resource, amount in resource_class.requests:
            needed[resource] = max(needed.get(resource, 0), _SEATS * (parse(amount) or 0))
    for resource in ("cpu", "memory", *needed):
        found.setdefault(resource, _rounded(resource, needed.get(resource, 0)))
    return list(found.items())


def _rounded(resource: str, nanos: int) -> str:
    """Round up to an amount that nodes have: a power of two of cores or GiB."""
    if resource == "cpu":
        return str(_power_of_two(nanos, 4 * NANO) // NANO)
    if resource == "memory":
        return f"{_power_of_two(nanos, 8 * _GIB) // _GIB}Gi"
    return canonical(f"{nanos}n")


def _power_of_two(nanos: int, least: int) -> int:
    while least < nanos:
        least *= 2
    return least


def _wanted_labels(found: ResourceClass) -> Iterator[tuple[str, str]]:
    """Yield a label for each that the class asks nodes for, by selector or by the first term of affinity."""
    wanted = dict(found.pod.node_selector or {})
    affinity = found.pod.affinity.node_affinity if found.pod.affinity else None
    required = affinity.required if affinity else None
    terms = required.node_selector_terms if required else ()
    for expression in (terms[0].match_expressions or ()) if terms else ():
        values = expression.values or ("true",)
        if expression.operator in _STEP:
            wanted.setdefault(expression.key, str(int(values[0]) + _STEP[expression.operator]))
        elif expression.operator in ("In", "Exists"):
            wanted.setdefault(expression.key, values[0])
    yield from wanted.items()

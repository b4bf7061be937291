"""Check that somebody says how many volumes a node takes, where sessions attach some.

Placeholders attach none, so an autoscaler may put more seats on a node than it takes sessions with volumes.
"""

from collections.abc import Iterator

from berth.findings import Problem
from berth.schema.cloudvalues import CloudCapacity, GenericCapacity
from berth.schema.declared import Declared
from berth.schema.values import Site

UNCOUNTED = "B285"


def check_volume_capacities(declared: Declared, _: Site) -> Iterator[Problem]:
    """Check the capacities of each class whose sessions attach volumes."""
    for found in declared.classes.values():
        if not found.volumes:
            continue
        named = [declared.clouds.get(name) or declared.generic.get(name) for name in found.cloud_capacity]
        lacking = [one.name for one in named if one is not None and not _says_volumes(one)]
        if lacking or not named:
            where = f"CloudCapacity {', '.join(lacking)}" if lacking else "no CloudCapacity"
            verb = "does not say" if lacking else "says"
            message = f"{where} {verb} how many volumes a node takes: those of sessions are not counted."
            fix = "Add volumes to its nodes, or volumesPerNode: kubectl get csinode -o yaml shows the number."
            if not lacking:
                fix = "Add cloudCapacity to the class, or remove volumes."
            yield found.origin.problem(UNCOUNTED, ("spec", "volumes"), message, fix)


def _says_volumes(capacity: CloudCapacity | GenericCapacity) -> bool:
    if isinstance(capacity, CloudCapacity):
        return capacity.volumes_per_node is not None
    return all(shape.volumes is not None for shape in capacity.nodes)

"""Resource lists: exact whole numbers, in billionths of each resource's unit (as `berth.quantity` has
them).
"""

from collections.abc import Iterable, Mapping

from berth import quantity

ResourceList = tuple[tuple[str, int], ...]
"""(resource, billionths of its unit: cores, bytes, pieces), sorted by name. A missing resource is 0."""

ONE = quantity.NANO
PODS = "pods"
NODES = "nodes"
MEMORY = "memory"
VOLUMES = "attachable-volumes"  # of sessions; not a resource of pods, but a node takes only so many
_HUGE_PAGES = "hugepages-"


def parse_resources(texts: Mapping[str, str]) -> ResourceList:
    """Parse Kubernetes quantities: `{"cpu": "500m", "memory": "4Gi"}`. Raise ValueError if invalid."""
    parsed = {name: quantity.parse(text) for name, text in texts.items()}
    wrong = [name for name, value in parsed.items() if value is None]
    if wrong:
        raise ValueError(f"no quantity: {wrong[0]}={texts[wrong[0]]!r}")
    return tuple(sorted((name, value) for name, value in parsed.items() if value is not None))


def sum_resources(*several: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Add resource lists."""
    total: dict[str, int] = {}
    for one in several:
        for name, value in one:
            total[name] = total.get(name, 0) + value
    return total


def allocatable(capacity: Iterable[tuple[str, int]], overhead: ResourceList) -> dict[str, int]:
    """Return what pods may use: capacity less overhead, with huge pages taken out of memory."""
    whole = dict(capacity)
    rest = {name: value - dict(overhead).get(name, 0) for name, value in whole.items()}
    for name, value in whole.items():
        if name.startswith(_HUGE_PAGES):
            rest[MEMORY] = max(rest.get(MEMORY, 0) - value, 0)
    return rest


def fits(wanted: Iterable[tuple[str, int]], room: Mapping[str, int]) -> bool:
    """Tell whether the resources fit. Nothing fits where any free amount is negative."""
    return min(room.values(), default=0) >= 0 and all(value <= room.get(name, 0) for name, value in wanted)

"""Resource lists: exact whole numbers, in billionths of each resource's unit."""

from collections.abc import Iterable, Mapping

from gen import quantity

ResourceList = tuple[tuple[str, int], ...]
"""(resource, billionths of its unit: cores, bytes, pieces), by name; what is missing is 0."""

ONE = quantity.NANO
PODS = "pods"
NODES = "nodes"
MEMORY = "memory"
_HUGE_PAGES = "hugepages-"


def parse_resources(texts: Mapping[str, str]) -> ResourceList:
    """From Kubernetes' notation: `{"cpu": "500m", "memory": "4Gi"}`. ValueError for what is no quantity."""
    parsed = {name: quantity.parse(text) for name, text in texts.items()}
    wrong = [name for name, value in parsed.items() if value is None]
    if wrong:
        raise ValueError(f"no quantity: {wrong[0]}={texts[wrong[0]]!r}")
    return tuple(sorted((name, value) for name, value in parsed.items() if value is not None))


def sum_resources(*several: Iterable[tuple[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in several:
        for name, value in one:
            total[name] = total.get(name, 0) + value
    return total


def allocatable(capacity: Iterable[tuple[str, int]], overhead: ResourceList) -> dict[str, int]:
    """What pods may use: capacity less overhead; huge pages are taken out of memory."""
    whole = dict(capacity)
    rest = {name: value - dict(overhead).get(name, 0) for name, value in whole.items()}
    for name, value in whole.items():
        if name.startswith(_HUGE_PAGES):
            rest[MEMORY] = max(rest.get(MEMORY, 0) - value, 0)
    return rest


def fits(wanted: Iterable[tuple[str, int]], room: Mapping[str, int]) -> bool:
    """Is there room for it? Nothing fits where the room of any resource is negative."""
    return min(room.values(), default=0) >= 0 and all(value <= room.get(name, 0) for name, value in wanted)

"""What each version of Karpenter can do, and behind which feature gate."""

from typing import NamedTuple

Version = tuple[int, int]

OLDEST: Version = (1, 0)  # the first with the API karpenter.sh/v1
NEWEST: Version = (1, 15)  # the newest that Berth knows
GATES = (
    "CapacityBuffer",
    "NodeOverlay",
    "NodeRepair",
    "PodDeletionCostManagement",
    "ReservedCapacity",
    "SpotToSpotConsolidation",
    "StaticCapacity",
    "TerminateFirstDrift",
    "TerminateFirstRepair",
)
GATES_SINCE: dict[str, Version] = {
    "CapacityBuffer": (1, 14),
    "NodeOverlay": (1, 7),
    "PodDeletionCostManagement": (1, 15),
    "ReservedCapacity": (1, 3),
    "StaticCapacity": (1, 8),
    "TerminateFirstDrift": (1, 15),
    "TerminateFirstRepair": (1, 15),
}


class Feature(NamedTuple):
    """A feature, the version that introduced it, its gate if it has one, and since when that gate is on."""

    title: str
    since: Version
    gate: str = ""
    on_since: Version | None = None


FEATURES = {
    "reserved": Feature("reserved instances", (1, 3), "ReservedCapacity", (1, 6)),
    "static": Feature("pools of a fixed number of nodes", (1, 8), "StaticCapacity"),
    "buffers": Feature("capacity buffers", (1, 14), "CapacityBuffer"),
    "Balanced": Feature("consolidationPolicy Balanced", (1, 14)),
    "Unhealthy": Feature("disruption budgets for the reason Unhealthy", (1, 15)),
    "full": Feature("reservations that are offered although they are full", (1, 15)),
}


def version_text(version: Version) -> str:
    """Format a version: `1.15`."""
    return f"{version[0]}.{version[1]}"

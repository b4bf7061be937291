"""What people declared of a cloud, as checked values: which machines may be used, and what they cost.

As in `berth.schema.values`; instants are seconds, prices are exact and in one currency.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from berth.findings import Origin

if TYPE_CHECKING:
    from berth.schema.cloudmachines import InstanceTypeSpec, MachineReservation, NodeShapeSpec
    from berth.schema.nodeclass import NodeClass
    from berth.schema.nodepoolparts import Disruption, NodeTaint, PoolRequirement


GENERIC = "generic"  # the provider of a GenericCapacity


def terms(reservations: "Iterable[MachineReservation]") -> list[dict[str, Any]]:
    """Return what selects them, each term once, in their order: several entries may be machines of one."""
    unique: list[dict[str, Any]] = []
    for reservation in reservations:
        term = {"id": reservation.id} if reservation.id else {"tags": reservation.tags}
        if term not in unique:
            unique.append(term)
    return unique


class NodeStartup(NamedTuple):
    """How many minutes a node takes until seats on it are ready, from when it is asked for."""

    node: int  # until it is Ready
    images: int = 0  # to pull the images of its sessions

    @property
    def seconds(self) -> int:
        return 60 * (self.node + self.images)


class CloudCapacity(NamedTuple):
    """What may be used of a cloud, and how: one EC2NodeClass and the NodePools on it."""

    origin: Origin
    name: str
    cluster: str  # empty: the only one
    provider: str
    node_class: "NodeClass"  # the spec of the EC2NodeClass, but for its reservations
    reservations: "tuple[MachineReservation, ...]"
    capacity_types: tuple[str, ...]  # reserved | on-demand | spot, as wished
    requirements: "tuple[PoolRequirement, ...]"
    weight: int | None
    limits: tuple[tuple[str, str], ...]
    taints: "tuple[NodeTaint, ...]"
    startup_taints: "tuple[NodeTaint, ...]"
    labels: tuple[tuple[str, str], ...]
    expire_after: str | None
    termination_grace: str | None
    disruption: "Disruption"
    instance_types: "tuple[InstanceTypeSpec, ...]"
    daemon_requests: tuple[tuple[str, str], ...] = ()  # of DaemonSets on each node; `pods` counts theirs
    own_labels: tuple[tuple[str, str], ...] = ()  # of the objects themselves, not of nodes
    own_annotations: tuple[tuple[str, str], ...] = ()
    startup: NodeStartup = NodeStartup(2)
    volumes_per_node: int | None = None  # of sessions; None: nobody says, so they are not counted

    @property
    def capacity_terms(self) -> list[dict[str, Any]]:
        """Return what selects its capacity reservations, each term once."""
        own = self.node_class.capacity_terms
        return own + [term for term in terms(self.reservations) if term not in own]

    @property
    def usable(self) -> tuple[tuple[int, int], ...]:
        """Return when its reserved machines may be used, each span once, by time."""
        return tuple(sorted({span for machines in self.reservations if (span := machines.usable)}))

    @property
    def expiry(self) -> str:
        """Return a span, or Never; by default Karpenter's default."""
        return self.expire_after or "720h"

    @property
    def empty_after(self) -> str:
        """Return a span, or Never; the CRD requires it, so the default is rendered too."""
        return self.disruption.consolidate_after or "0s"

    @property
    def operating_system(self) -> str:
        """Return the operating system of its AMI family, as Kubernetes names it."""
        return "windows" if self.node_class.family.lower().startswith("windows") else "linux"


class GenericCapacity(NamedTuple):
    """The nodes that a cluster has or may add, whatever adds them. Nothing is rendered for it."""

    origin: Origin
    name: str
    cluster: str  # empty: the only one
    nodes: "tuple[NodeShapeSpec, ...]"  # the preferred first
    startup: NodeStartup
    daemon_requests: tuple[tuple[str, str], ...] = ()  # of DaemonSets on each node; `pods` counts theirs

"""What people declared of a cloud, as checked values: which machines may be used, and what they cost.

As in `berth.schema.values`; instants are seconds, prices are exact and in one currency.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from berth.findings import Origin

if TYPE_CHECKING:
    from decimal import Decimal  # expensive to load, and few sites declare a price

    from berth.schema.nodeclass import NodeClass
    from berth.schema.nodepoolparts import Disruption, NodeTaint, PoolRequirement


GENERIC = "generic"  # the provider of a GenericCapacity
BLOCK, DEFAULT, INTERRUPTIBLE = "capacity-block", "default", "interruptible"
_PLAIN_BLOCK, _ULTRA_SERVERS = 40 * 60, 70 * 60  # seconds before its end that a block is empty


class CloudReservation(NamedTuple):
    """Machines that are paid for whether they run or not. How Karpenter selects them may be empty."""

    id: str
    tags: tuple[tuple[str, str], ...]
    owner: str  # an account
    match: str  # open | targeted
    instance_type: str
    zone: str
    count: int  # type: ignore[assignment] # hides tuple.count
    type: str  # default | capacity-block | interruptible
    ultra_server: bool
    first: int | None  # seconds, [first, until); None: it is there already, or has no end
    until: int | None
    hourly_price: "Decimal | None"  # of one machine

    @property
    def key(self) -> str:
        """Return the same text for entries that mean the same machines.

        It is the id, or `tags course=ml` with sorted tags, instance type and zone.
        """
        if self.id:
            return self.id
        words = [
            *(
                ["tags " + ",".join(f"{key}={value}" for key, value in sorted(self.tags))]
                if self.tags
                else []
            ),
            *([self.match] if self.match else []),
            *([f"of {self.owner}"] if self.owner else []),
        ]
        return f"{' '.join(words)} {self.instance_type} {self.zone}"

    @property
    def last_safe(self) -> int | None:
        """Return until when its machines exist, in seconds; None if it has no end."""
        if self.until is None or self.type != BLOCK:
            return self.until
        return self.until - (_ULTRA_SERVERS if self.ultra_server else _PLAIN_BLOCK)

    def there(self, now: int) -> bool:
        """Tell whether Karpenter launches into it at that second."""
        last = self.last_safe
        return (self.first is None or self.first <= now) and (last is None or now < last)


def terms(reservations: Iterable[CloudReservation]) -> list[dict[str, Any]]:
    """Return what selects them, each term once, in their order: several entries may be machines of one."""
    found: list[dict[str, Any]] = []
    for one in reservations:
        said = {
            "id": one.id,
            "tags": dict(one.tags),
            "ownerID": one.owner,
            "instanceMatchCriteria": one.match,
        }
        term = {key: value for key, value in said.items() if value}
        if term not in found:
            found.append(term)
    return found


def architecture_of(instance_type: str) -> str:
    """Derive the architecture from the name: a g after the generation is Graviton, -gb is Grace."""
    arm = re.match(r"a1\.|[a-z]+[0-9]+(g|[a-z]*-gb)", instance_type, re.ASCII)
    return "arm64" if arm else "amd64"


class SoldInstanceType(NamedTuple):
    """What a cloud sells, as far as the file says it. The rest is as in the table that comes with Berth."""

    name: str
    capacity: tuple[tuple[str, str], ...]  # by resource, with pods
    allocatable: tuple[tuple[str, str], ...]
    zones: tuple[str, ...]
    architecture: str
    on_demand: "Decimal | None"  # an hour
    spot: "Decimal | None"


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
    reservations: tuple[CloudReservation, ...]
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
    instance_types: tuple[SoldInstanceType, ...]
    daemon_requests: tuple[tuple[str, str], ...] = ()  # of DaemonSets on each node; `pods` counts theirs
    own_labels: tuple[tuple[str, str], ...] = ()  # of the objects themselves, not of nodes
    own_annotations: tuple[tuple[str, str], ...] = ()
    startup: NodeStartup = NodeStartup(2)
    volumes_per_node: int | None = None  # of sessions; None: nobody says, so they are not counted

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


class NodeShape(NamedTuple):
    """Equal nodes of a cluster."""

    name: str
    allocatable: tuple[tuple[str, str], ...]  # by resource, with pods
    most: int | None  # nodes; None: no limit is known
    labels: tuple[tuple[str, str], ...]
    taints: "tuple[NodeTaint, ...]"
    zones: tuple[str, ...]
    hourly_price: "Decimal | None"
    volumes: int | None = None  # of sessions on one node; None: nobody says, so they are not counted


class GenericCapacity(NamedTuple):
    """The nodes that a cluster has or may add, whatever adds them. Nothing is rendered for it."""

    origin: Origin
    name: str
    cluster: str  # empty: the only one
    nodes: tuple[NodeShape, ...]  # the preferred first
    startup: NodeStartup
    daemon_requests: tuple[tuple[str, str], ...] = ()  # of DaemonSets on each node; `pods` counts theirs

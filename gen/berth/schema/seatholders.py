"""What holds the seats of a reservation in a cluster: one class for each `backend.type`.

Other modules ask a holder what they need to know, instead of its name. Its objects are made by the module of
the same backend in `berth.manifests.backends`.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from berth.core.jsonvalues import parse_instant

if TYPE_CHECKING:
    from berth.schema.slotparts import Owner, PreAllocationPolicy, SlotTaint, SlotTemplate

BackendType = Literal["placeholder", "koordinator", "nodePool", "capacityBuffer"]
BEHAVIORS = ("maintain", "reduce", "none", "buffer")


class Unit(Enum):
    """What the numbers of a reservation count. `field`: the key that declares them."""

    SEAT = ("seat", "placeholderCount")
    NODE = ("node", "nodeCount")

    word: str
    field: str

    def __init__(self, word: str, field: str) -> None:
        self.word = word
        self.field = field

    @property
    def plural(self) -> str:
        return f"{self.word}s"

    @property
    def has_seat_hours(self) -> bool:
        return self is Unit.SEAT


class Persistence(NamedTuple):
    """Seats without windows, held from merge on. `until` in seconds; None: as long as git has them."""

    until: int | None

    def is_open(self, now: int) -> bool:
        return self.until is None or now < self.until


class Holder:
    """What holds the seats of a reservation. Defaults are those of most backends."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    backend: ClassVar[str]
    """`backend.type` of the reservation."""

    unit: ClassVar[Unit] = Unit.SEAT
    behaviors: ClassVar[tuple[str, ...]] = BEHAVIORS
    """The values of `scaleDownBehavior` that it can follow, the default first."""

    is_stabilized: ClassVar[bool] = True
    """Whether a session that left still counts for the site's `stabilizationSeconds`."""

    @property
    def has_placeholders(self) -> bool:
        """Whether its windows scale a Deployment of placeholders."""
        return False

    @property
    def adds_nodes(self) -> bool:
        """Whether nodes are added for it: an autoscaler sees pods, not slots."""
        return True

    @property
    def persistence(self) -> Persistence | None:
        """How long it holds its seats without windows; None if it follows windows."""
        return None

    @property
    def renders_affinity(self) -> bool:
        """Whether what session pods need to require its seats is rendered."""
        return False

    def usable_capacity(self, cloud_capacity: tuple[str, ...]) -> tuple[str, ...]:
        """Return the capacities of a class that its nodes may come from, preferred first."""
        return cloud_capacity


class ReplicaHolder(Holder):
    """Replicas of a Deployment of placeholders, one for each seat."""

    __slots__ = ()

    backend = "placeholder"

    @property
    def has_placeholders(self) -> bool:
        return True


class NodeHolder(Holder):
    """Nodes of a Karpenter NodePool with a fixed number of them."""

    __slots__ = ()

    backend = "nodePool"
    unit = Unit.NODE
    behaviors = ("none",)

    def usable_capacity(self, cloud_capacity: tuple[str, ...]) -> tuple[str, ...]:
        """Return the preferred capacity: a NodePool is made from one."""
        return cloud_capacity[:1]


class BufferHolder(Holder):
    """Replicas of a CapacityBuffer: room that an autoscaler keeps free, one pod's for each seat."""

    __slots__ = ()

    backend = "capacityBuffer"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotHolder(Holder):
    """Reservations of Koordinator, one for each seat."""

    backend = "koordinator"
    is_stabilized = False  # a session that leaves its slot frees it at once

    owners: "tuple[Owner, ...]"  # empty: from the class
    allocate_once: bool
    allocate_policy: str | None  # None: the cluster's
    pre_allocation: bool
    pre_allocation_policy: "PreAllocationPolicy | None"
    pre_allocation_required: bool
    unschedulable: bool
    taints: "tuple[SlotTaint, ...]"
    order: int | None
    priority: int | None
    restricted_resources: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    annotations: tuple[tuple[str, str], ...]
    template: "SlotTemplate"  # what is added to the class
    standing: bool
    expires: str | None  # 2026-12-31T23:00:00Z, only of standing ones
    ttl: str | None  # canonical, as Go writes it: 720h0m0s; only of standing ones
    session_affinity: bool
    with_placeholders: bool

    @property
    def has_placeholders(self) -> bool:
        return self.with_placeholders

    @property
    def adds_nodes(self) -> bool:
        return self.with_placeholders

    @property
    def persistence(self) -> Persistence | None:
        if not self.standing:
            return None
        return Persistence(None if self.expires is None else parse_instant(self.expires))

    @property
    def renders_affinity(self) -> bool:
        return self.session_affinity


HOLDERS: dict[str, type[Holder]] = {
    one.backend: one for one in (ReplicaHolder, SlotHolder, NodeHolder, BufferHolder)
}

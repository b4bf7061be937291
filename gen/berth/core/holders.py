"""What holds the seats of a pool in the cluster: replicas of a Deployment or of a CapacityBuffer, slots, or
nodes of a NodePool.

The timetable says it of each pool; the program asks the holder instead of testing for one of them.
"""

import json
from hashlib import sha256
from typing import ClassVar, NamedTuple

from berth.core.jsonvalues import TimetableError, boolean, field, mapping, text
from berth.core.labels import CLASS, RESERVATION, ROLE, SITE
from berth.core.objects import CAPACITY_BUFFER, DEPLOYMENT, NODE_POOL, ObjectKind

PLACEHOLDERS, SLOTS, NODES, BUFFER = "placeholders", "slots", "nodes", "buffered seats"
REMEDIES = {
    PLACEHOLDERS: "Look at the pods of this Deployment that are Pending, and at the events of the cluster's "
    "autoscaler.",
    SLOTS: "Look at those that are Pending, with kubectl get reservations.scheduling.koordinator.sh: there "
    "is no room for them, or Koordinator's scheduler does not run.",
    NODES: "Look at kubectl get nodeclaims, and at the events of the NodePool: its limits, or what the cloud "
    "has left.",
    BUFFER: "Look at the conditions of the CapacityBuffer, and at the events of the cluster's autoscaler.",
}
"""What to do about seats that are not ready in time, by kind."""


class PoolHolder:
    """What holds the seats of a pool. Defaults are those of most holders."""

    __slots__ = ()

    kind: ClassVar[str]
    unit: ClassVar[str] = "seat"
    scaled_kind: ClassVar[ObjectKind] = DEPLOYMENT  # of what is scaled; see `has_replicas`
    is_stabilized: ClassVar[bool] = True  # a session that left counts for the site's `stabilizationSeconds`
    is_scaled_by_sessions: ClassVar[bool] = False  # at once, by replicas that were last seen
    gives_way: ClassVar[bool] = True  # pods of sessions preempt what holds a seat

    @property
    def has_replicas(self) -> bool:
        """Whether an object has replicas that are scaled."""
        return True

    @property
    def has_deployment(self) -> bool:
        """Whether that object is a Deployment of placeholders."""
        return self.has_replicas and self.scaled_kind == DEPLOYMENT

    def key(self, pool: str) -> str:
        """Return what identifies a pool together with its holder. `pool` is the name of the pool."""
        return pool

    def scaled_name(self, pool: str) -> str:
        return pool

    def leftovers(self) -> "tuple[PoolHolder, ...]":
        """Return what may be left of it once the timetable names another holder."""
        return (self,)


class Replicas(PoolHolder):
    """Replicas of a Deployment of placeholders, one for each seat."""

    kind = PLACEHOLDERS
    is_scaled_by_sessions = True


REPLICAS = Replicas()  # the only one: two timetables are compared


class BufferedSeats(PoolHolder):
    """Replicas of a CapacityBuffer, for which the autoscaler keeps room without pods."""

    kind = BUFFER
    scaled_kind = CAPACITY_BUFFER
    is_scaled_by_sessions = True
    gives_way = False  # it is filled again

    def key(self, pool: str) -> str:
        return f"{pool}/buffer"


BUFFERED = BufferedSeats()  # likewise


class _NodeFields(NamedTuple):
    node_pool: str


class Nodes(_NodeFields, PoolHolder):
    """Nodes of a NodePool with a fixed number of them."""

    __slots__ = ()

    kind = NODES
    unit = "node"
    scaled_kind = NODE_POOL
    gives_way = False

    def key(self, pool: str) -> str:  # noqa: ARG002
        return f"{self.node_pool}/nodes"

    def scaled_name(self, pool: str) -> str:  # noqa: ARG002
        return self.node_pool


class _SlotFields(NamedTuple):
    name: str  # with which that of every slot begins
    hash: str  # of the shape
    shape: dict[str, object]  # metadata and spec of each, complete but for its name, `ttl` and `expires`
    placeholders: bool = False  # come first, and hand over


class SlotSpec(_SlotFields, PoolHolder):
    """How the Reservations that hold the seats of a pool look, one for each seat."""

    __slots__ = ()

    kind = SLOTS
    is_stabilized = False  # a session that leaves its slot frees it at once

    @property
    def has_replicas(self) -> bool:
        return self.placeholders

    def key(self, pool: str) -> str:
        return f"{pool}/slots"

    def leftovers(self) -> tuple[PoolHolder, ...]:
        """Return the slots, and replicas if there are placeholders."""
        slots = self._replace(placeholders=False)
        return (REPLICAS, slots) if self.placeholders else (slots,)


def slot_hash(shape: dict[str, object]) -> str:
    """Return eight hex digits of the shape, for the name: an existing slot cannot change its shape."""
    return sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:8]


def parse_holder(pool: dict[str, object], at: str) -> PoolHolder:
    """Parse what holds a pool of a timetable. Raises TimetableError if it is malformed."""
    holder: PoolHolder = REPLICAS
    if "slots" in pool:
        holder = _slots(mapping(pool["slots"], f"{at}.slots"), f"{at}.slots")
    if "nodePool" in pool:
        holder = Nodes(field(pool, "nodePool", text, at))
    return BUFFERED if "capacityBuffer" in pool else holder


def holder_of_object(kind: str, name: str) -> PoolHolder:
    """Return the holder of an object that no timetable names."""
    by_kind: dict[str, PoolHolder] = {NODE_POOL.name: Nodes(name), CAPACITY_BUFFER.name: BUFFERED}
    return by_kind.get(kind, REPLICAS)


def _slots(tree: dict[str, object], at: str) -> SlotSpec:
    shape = field(tree, "object", mapping, at)
    metadata = field(shape, "metadata", mapping, f"{at}.object")
    labels = field(metadata, "labels", mapping, f"{at}.object.metadata")
    for key in (SITE, RESERVATION, CLASS, ROLE):
        field(labels, key, text, f"{at}.object.metadata.labels")
    field(shape, "spec", mapping, f"{at}.object")
    digest = field(tree, "hash", text, at)
    if (actual := slot_hash(shape)) != digest:
        # What is made is what was reviewed: Koordinator checks next to nothing.
        raise TimetableError(f"{at}.hash: {digest!r} is not that of the object, which is {actual!r}")
    return SlotSpec(
        field(tree, "name", text, at),
        digest,
        shape,
        field(tree, "placeholders", boolean, at),
    )

"""What holds the seats of a pool in the cluster: a number in an object, or slots.

The number is the replicas of a Deployment of placeholders, of a NodePool or of a CapacityBuffer of Berth, or
a field of an object of somebody else, which goes back to what it was. The timetable says which; the program
asks the holder instead of testing for one of them.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from berth.core.jsonvalues import TimetableError, Tree, boolean, field, mapping, part, text
from berth.core.labels import CLASS, RESERVATION, ROLE, SITE
from berth.core.objects import CAPACITY_BUFFER, DEPLOYMENT, NODE_POOL, ObjectKind

if TYPE_CHECKING:
    from berth.plugins.numbers.foreignnumbers import ForeignNumber

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

Step = str | int | tuple[str, str]
"""A key of an object, an index of a list, or the key and value that select an item of a list."""

_REPLICAS: tuple[Step, ...] = ("spec", "replicas")


class PoolHolder:
    """What holds the seats of a pool. Defaults are those of most holders."""

    __slots__ = ()

    kind: str
    plugin: ClassVar[str] = ""  # the package of the code that it needs; empty: all pods have it
    # A session that left counts for the site's `stabilizationSeconds`; one that comes acts at once, by the
    # number that was last seen.
    is_stabilized: ClassVar[bool] = True

    @property
    def number(self) -> "HeldNumber | None":
        """The number that is held, if there is one."""
        return None

    @property
    def has_deployment(self) -> bool:
        """Whether that number is the replicas of a Deployment of placeholders."""
        return self.number == REPLICAS

    @property
    def foreign(self) -> "ForeignNumber | None":
        """The number, if its object is somebody else's."""
        return None

    def key(self, pool: str) -> str:
        """Return what identifies a pool together with its holder. `pool` is the name of the pool."""
        raise NotImplementedError

    def leftovers(self) -> "tuple[PoolHolder, ...]":
        """Return what may be left of it once the timetable names another holder."""
        return (self,)


class _NumberFields(NamedTuple):
    kind: str  # of what is held, in the plural
    object_kind: ObjectKind
    name: str = ""  # of the object; empty: that of the pool
    path: tuple[Step, ...] = _REPLICAS
    ready: tuple[Step, ...] = ()  # where the object says how many are ready; empty: it does not
    namespace: str | None = None  # of an object of somebody else, empty without one; None: it is Berth's
    otherwise: object = 0  # outside of windows; None: what was there before
    suffix: str = ""  # of the quantity, such as Gi


class HeldNumber(_NumberFields, PoolHolder):
    """A number at a path of an object."""

    __slots__ = ()

    @property
    def number(self) -> "HeldNumber":
        return self

    def key(self, pool: str) -> str:
        # Without what may be edited while it is held: an object is the same in every version of its API.
        kind = self.object_kind
        return json.dumps([kind.group, kind.name, self.namespace, self.name or pool, self.path])

    def value_at(self, tree: Tree, path: Sequence[Step]) -> object:
        """Return the value at a path of the object; None if it is missing."""
        *above, key = map(str, path)
        return part(tree, *above).get(key)

    def units(self, value: object) -> float | None:
        """Return how many units a value is; None for what is no number."""
        return value if type(value) is int else None


REPLICAS = HeldNumber(PLACEHOLDERS, DEPLOYMENT, ready=("status", "readyReplicas"))
BUFFERED = HeldNumber(BUFFER, CAPACITY_BUFFER, ready=("status", "replicas"))


def nodes_of(node_pool: str) -> HeldNumber:
    """Return the nodes of a NodePool with a fixed number of them.

    Karpenter counts them as they come, before their kubelets are ready.
    """
    return HeldNumber(NODES, NODE_POOL, node_pool, ready=("status", "nodes"))


class _UnknownNumber(PoolHolder):
    """A number of somebody else in a pod without its plugin, which only asks whose sessions count."""

    __slots__ = ()

    kind = "seats"
    plugin = "numbers"

    def key(self, pool: str) -> str:
        return f"{pool}/{self.plugin}"


_UNKNOWN_NUMBER = _UnknownNumber()


class _SlotFields(NamedTuple):
    name: str  # with which that of every slot begins
    hash: str  # of the shape
    shape: dict[str, object]  # metadata and spec of each, complete but for its name, `ttl` and `expires`
    placeholders: bool = False  # come first, and hand over


class SlotSpec(_SlotFields, PoolHolder):
    """How the Reservations that hold the seats of a pool look, one for each seat."""

    __slots__ = ()

    kind = SLOTS
    plugin = "slots"
    is_stabilized = False  # a session that leaves its slot frees it at once

    @property
    def number(self) -> HeldNumber | None:
        return REPLICAS if self.placeholders else None

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
    if "number" in pool:
        try:
            from berth.plugins.numbers.foreignnumbers import parse_number  # noqa: PLC0415 - where a pod has it
        except ImportError:
            return _UNKNOWN_NUMBER
        return parse_number(field(pool, "number", mapping, at), f"{at}.number")
    holder: PoolHolder = REPLICAS
    if "slots" in pool:
        holder = _slots(mapping(pool["slots"], f"{at}.slots"), f"{at}.slots")
    if "nodePool" in pool:
        holder = nodes_of(field(pool, "nodePool", text, at))
    return BUFFERED if "capacityBuffer" in pool else holder


def holder_of_object(kind: str, name: str) -> HeldNumber:
    """Return the holder of an object of Berth that no timetable names."""
    return {NODE_POOL.name: nodes_of(name), CAPACITY_BUFFER.name: BUFFERED}.get(kind, REPLICAS)


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

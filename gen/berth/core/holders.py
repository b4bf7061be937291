"""What holds the seats of a pool in the cluster: a number in an object, or slots.

The number is the replicas of a Deployment of placeholders, of a NodePool or of a CapacityBuffer of Berth, or
a field of an object of somebody else, which goes back to what it was. The timetable says which; the program
asks the holder instead of testing for one of them.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from berth.core.jsonvalues import Tree, field, mapping, part, text
from berth.core.objects import CAPACITY_BUFFER, DEPLOYMENT, NODE_POOL, ObjectKind

if TYPE_CHECKING:
    from berth.plugins.numbers.foreignnumbers import ForeignNumber
    from berth.plugins.slots.slotspec import SlotSpec

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

    @property
    def slots(self) -> "SlotSpec | None":
        """How its slots look, if they hold the seats."""
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


class _PluginName(NamedTuple):
    plugin: str


class UnknownHolder(_PluginName, PoolHolder):
    """A holder in a pod without its plugin, which only asks whose sessions count."""

    __slots__ = ()

    kind = "seats"

    def key(self, pool: str) -> str:
        return f"{pool}/{self.plugin}"


def parse_holder(pool: dict[str, object], at: str) -> PoolHolder:
    """Parse what holds a pool of a timetable. Raises TimetableError if it is malformed."""
    try:
        if "number" in pool:
            from berth.plugins.numbers.foreignnumbers import parse_number  # noqa: PLC0415 - where a pod has it

            return parse_number(field(pool, "number", mapping, at), f"{at}.number")
        if "slots" in pool:
            from berth.plugins.slots.slotspec import parse_slots  # noqa: PLC0415 - where a pod has it

            return parse_slots(field(pool, "slots", mapping, at), f"{at}.slots")
    except ImportError:
        return UnknownHolder("numbers" if "number" in pool else "slots")
    if "nodePool" in pool:
        return nodes_of(field(pool, "nodePool", text, at))
    return BUFFERED if "capacityBuffer" in pool else REPLICAS


def holder_of_object(kind: str, name: str) -> HeldNumber:
    """Return the holder of an object of Berth that no timetable names."""
    return {NODE_POOL.name: nodes_of(name), CAPACITY_BUFFER.name: BUFFERED}.get(kind, REPLICAS)

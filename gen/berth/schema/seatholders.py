"""What holds the seats of a reservation in a cluster, as far as its declaration says.

Other modules ask a holder what they need to know, instead of its name. Each package in `berth.backends` has
the holder of one `backend.type`, and a module with its objects and checks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol

from berth.core.objects import DEPLOYMENT, ObjectKind

BEHAVIORS = ("maintain", "reduce", "none", "buffer")


class Unit(Enum):
    """What the numbers of a reservation count.

    No unit of quantities is larger than Gi: ceilings and policies compare the count, so that a Ti would be a
    thousand times what was allowed.
    """

    SEAT = "seat"
    NODE = "node"
    REPLICA = "replica"
    RUNNER = "runner"
    CORE = "core"
    UNIT = "unit"
    KILO = "k"
    MEGA = "M"
    GIGA = "G"
    KIBI = "Ki"
    MEBI = "Mi"
    GIBI = "Gi"

    @property
    def field(self) -> str:
        """Return the key that declares such numbers."""
        return "nodeCount" if self is Unit.NODE else "placeholderCount"

    @property
    def is_quantity(self) -> bool:
        """Whether it is the suffix of a quantity."""
        return len(self.value) < 3

    @property
    def plural(self) -> str:
        return self.value if self.is_quantity else f"{self.value}s"

    @property
    def key(self) -> str:
        """Return under which key answers have numbers of it."""
        return Unit.UNIT.plural if self.is_quantity else self.plural

    def amount(self, count: int) -> str:
        """Return `1 replica`, `3 replicas` or `1024 Gi`."""
        return f"{count} {self.value if count == 1 else self.plural}"

    @property
    def has_seat_hours(self) -> bool:
        return self is Unit.SEAT

    @property
    def is_number(self) -> bool:
        """Whether it is what a number of somebody else's object counts."""
        return self not in {Unit.SEAT, Unit.NODE}

    @property
    def is_pod(self) -> bool:
        """Whether each is a pod, which requests what its class says."""
        return self in {Unit.SEAT, Unit.REPLICA, Unit.RUNNER}


class Persistence(NamedTuple):
    """Seats without windows, held from merge on. `until` in seconds; None: as long as git has them."""

    until: int | None

    def is_open(self, now: int) -> bool:
        return self.until is None or now < self.until


class Equipment(Protocol):
    """What the Site says that a cluster has."""

    @property
    def seat_kinds(self) -> tuple[ObjectKind, ...]: ...
    @property
    def held(self) -> tuple[object, ...]: ...


@dataclass(frozen=True, slots=True)
class Holder:
    """What holds the seats of a reservation. Defaults are those of most backends."""

    backend: ClassVar[str]
    """`backend.type` of the reservation."""

    implementation: ClassVar[str]
    """The module with its BACKEND: objects and checks, which reading does not need."""

    kind: ClassVar[ObjectKind] = DEPLOYMENT
    """Of its objects."""

    overlap: ClassVar[str] = "sum"
    """What holds for occurrences at the same time, if the reservation does not say."""

    behaviors: ClassVar[tuple[str, ...]] = BEHAVIORS
    """The values of `scaleDownBehavior` that it can follow, the default first."""

    is_stabilized: ClassVar[bool] = True
    """Whether a session that left still counts for the site's `stabilizationSeconds`."""

    claims_devices: ClassVar[bool] = False
    """Whether its seats are pods for which devices are allocated, by the claims of their class."""

    needs_requests: ClassVar[bool] = True
    """Whether seats of a class without requests are all on one node, so that the class is refused."""

    has_target: ClassVar[bool] = False
    """Whether it holds a number of somebody else's object."""

    @classmethod
    def is_in(cls, cluster: Equipment) -> bool:
        """Tell whether the Site says that a cluster can have it."""
        return cls.kind in (DEPLOYMENT, *cluster.seat_kinds)

    @classmethod
    def options_model(cls) -> "type[Any] | None":
        """Return the model of the keys of `backend` that only this backend takes."""
        return None

    @classmethod
    def of(cls, options: Any) -> "Holder":  # noqa: ARG003
        """Return the holder of a reservation with these options."""
        return cls()

    def allowed_behaviors(self, spare: int, *, is_shared: bool) -> tuple[str, ...]:  # noqa: ARG002
        """Return the behaviors that a reservation can have. `spare`: the least of its buffer; `is_shared`:
        other reservations hold the same number.
        """
        return self.behaviors

    @property
    def unit(self) -> Unit:
        return Unit.SEAT

    @property
    def tells_ready(self) -> bool:
        """Whether anybody tells how much of it is ready."""
        return True

    @property
    def is_cap(self) -> bool:
        """Whether its number limits others, and asks for nothing itself."""
        return False

    @property
    def combined(self) -> str:
        """What holds for occurrences at the same time, if `overlap` of the reservation does not say."""
        return self.overlap

    @property
    def target_text(self) -> str:
        """Return `Kind/namespace/name` of the object of somebody else whose number it holds, or nothing."""
        return ""

    @property
    def path_text(self) -> str:
        """Return where in that object the number is, such as `spec.minReplicas`, or nothing."""
        return ""

    @property
    def otherwise_text(self) -> str:
        """Return what that number is outside of windows, for people, or nothing."""
        return ""

    @property
    def otherwise_count(self) -> int | None:
        """Return what it holds outside of windows; None: what was there before."""
        return 0

    @property
    def held_text(self) -> str:
        """Return which number of somebody else it holds, and what that is otherwise, or nothing."""
        return ""

    @property
    def shared(self) -> object | None:
        """What several reservations may hold together, as a key; None: each has its own."""
        return None

    @property
    def going_back(self) -> str:
        """A sentence about what becomes of its number after an override; empty if that is Berth's own."""
        return ""

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

    def with_mappings(self, mappings: Iterable[Mapping[str, Any]]) -> "Holder":  # noqa: ARG002
        """Return the holder with what `reservation` of the classes of its seats says about it."""
        return self

    @property
    def renders_affinity(self) -> bool:
        """Whether what session pods need to require its seats is rendered."""
        return False

    @property
    def owner_namespaces(self) -> Iterable[str | None]:
        """The namespaces of other people's pods that it names; None: pods of any namespace."""
        return ()

    def usable_capacity(self, cloud_capacity: tuple[str, ...]) -> tuple[str, ...]:
        """Return the capacities of a class that its nodes may come from, preferred first."""
        return cloud_capacity

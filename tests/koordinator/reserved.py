"""A Reservation as the scheduler keeps it, and what its owners have of it.

The same for a pod that is a reservation itself (operating mode).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.koordinator import amounts, selecting
from tests.koordinator.amounts import Amounts, Port, Tree
from tests.koordinator.objects import (
    ALIGNED,
    HELD_BACK,
    OPERATING_MODE,
    OPERATING_OWNERS,
    ORDER,
    RESTRICTED,
    RESTRICTED_OPTIONS,
    UNSET,
    annotations_of,
    is_allocated_once,
    labels_of,
    metadata,
    node_of,
    reserve_pod,
    spec_of,
    template_of,
    uid_of,
)
from tests.koordinator.owners import owns


@dataclass
class Info:
    """`pods` are those that it is assigned to and that have not ended, with what each asks for."""

    tree: Tree
    name: str
    uid: str
    node: str
    allocatable: Amounts
    held_back: Amounts
    names: tuple[str, ...]  # of resources that are restricted to it
    policy: str
    once: bool
    owners: list[Tree]
    trouble: str  # it holds capacity and matches nobody
    ports: frozenset[Port]
    is_pod: bool = False
    pods: dict[str, Amounts] = field(default_factory=dict)
    used_ports: set[Port] = field(default_factory=set)

    @property
    def allocated(self) -> Amounts:
        return amounts.mask(amounts.add(*self.pods.values()), self.names)

    @property
    def available(self) -> Amounts:
        return amounts.subtract(
            amounts.subtract(self.allocatable, self.allocated), amounts.mask(self.held_back, self.allocatable)
        )

    @property
    def is_matchable(self) -> bool:
        """Nobody gets one that an owner has already had, though its status may not say so yet."""
        return not self.trouble and not (self.once and self.pods)

    @property
    def is_unschedulable(self) -> bool:
        return bool(spec_of(self.tree).get("unschedulable")) or "deletionTimestamp" in metadata(self.tree)

    @property
    def taints(self) -> list[Tree]:
        return [] if self.is_pod else spec_of(self.tree).get("taints") or []

    @property
    def order(self) -> int:
        """0: it has none that Go can read."""
        try:
            said = int(labels_of(self.tree).get(ORDER, ""))
        except ValueError:
            return 0
        return said if -(2**63) <= said < 2**63 else 0

    def assign(self, pod: Tree) -> None:
        self.pods[uid_of(pod)] = amounts.requests_of(spec_of(pod))
        self.used_ports |= amounts.ports_of(spec_of(pod))

    def is_owned_by(self, pod: Tree) -> bool:
        return not self.trouble and any(owns(one, pod) for one in self.owners)


def info_of(reservation: Tree) -> Info:
    spec = spec_of(reservation)
    allocatable = amounts.requests_of(spec_of(reserve_pod(reservation)))
    policy = spec.get("allocatePolicy") or UNSET
    names, unread = tuple(allocatable), ""
    if policy == RESTRICTED:
        names, unread = _restricted(annotations_of(reservation), names)
    return Info(
        reservation,
        metadata(reservation)["name"],
        uid_of(reservation),
        node_of(reservation),
        allocatable,
        _held_back(annotations_of(reservation)),
        names,
        policy,
        is_allocated_once(reservation),
        spec.get("owners") or [],
        unread or _trouble_of(spec.get("owners") or []),
        amounts.ports_of(template_of(reservation)),
    )


def info_of_pod(pod: Tree) -> Info | None:
    """Of a pod in operating mode; None for every other."""
    if labels_of(pod).get(OPERATING_MODE) != "Reservation":
        return None
    try:
        owners = json.loads(annotations_of(pod).get(OPERATING_OWNERS) or "[]")
        unread = ""
    except ValueError as error:
        owners, unread = [], str(error)
    allocatable = amounts.requests_of(spec_of(pod))
    names, unread_options = _restricted(annotations_of(pod), tuple(allocatable))
    return Info(
        pod,
        metadata(pod)["name"],
        uid_of(pod),
        spec_of(pod).get("nodeName") or "",
        allocatable,
        _held_back(annotations_of(pod)),
        names,
        ALIGNED,
        True,
        owners,
        unread or unread_options or _trouble_of(owners),
        amounts.ports_of(spec_of(pod)),
        is_pod=True,
    )


def _restricted(annotations: Mapping[str, str], names: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Which resources must come from it alone, and why that is unreadable; none known: all."""
    said = annotations.get(RESTRICTED_OPTIONS)
    if not said:
        return names, ""
    try:
        listed = json.loads(said)
        wanted = list((listed or {}).get("resources") or [])
    except (ValueError, AttributeError, TypeError) as error:
        return names, f"{RESTRICTED_OPTIONS}: {error}"
    return tuple(name for name in names if name in wanted) or names, ""


def _held_back(annotations: Mapping[str, str]) -> Amounts:
    try:
        said = json.loads(annotations.get(HELD_BACK) or "{}")
        return amounts.read(said.get("resources"))
    except (ValueError, AttributeError):
        return {}


def _trouble_of(owners: list[Tree]) -> str:
    troubles = [selecting.trouble_of(one.get("labelSelector") or {}) for one in owners]
    return "; ".join(trouble for trouble in troubles if trouble)

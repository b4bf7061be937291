"""A question to the estimate: node pools, seats and the machines that exist. Frozen and hashable.

Amounts are in billionths (`berth.karpenter.resourcelists`), prices in dollars an hour.
"""

from typing import NamedTuple

from berth.karpenter.instancetypes import InstanceType
from berth.karpenter.nodelabels import WELL_KNOWN
from berth.karpenter.requirements import Labels, Requirement
from berth.karpenter.resourcelists import ResourceList
from berth.karpenter.taints import Taint, Toleration

APART = "apart/"
"""Begins the name of a resource of which each machine has one: seats that request it share no machine."""


class NodePool(NamedTuple):
    """A NodePool, or a shape of generic capacity."""

    name: str
    requirements: tuple[Requirement, ...] = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()
    weight: int = 0
    limits: ResourceList = ()
    types: tuple[InstanceType, ...] = ()


class PreferredTerm(NamedTuple):
    """A preferred term of node affinity."""

    weight: int
    requirements: tuple[Requirement, ...]


class Seats(NamedTuple):
    """`count` equal pods. `requests` does not include `pods`, of which each seat needs one."""

    name: str
    requests: ResourceList
    count: int = 1  # type: ignore[assignment] # hides tuple.count
    node_selector: Labels = ()
    required: tuple[tuple[Requirement, ...], ...] = ()  # node affinity: terms, of which one must hold
    preferred: tuple[PreferredTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class ExistingMachine(NamedTuple):
    """A machine that exists, with the seats on it. Its pool is the label `karpenter.sh/nodepool`."""

    name: str
    allocatable: ResourceList
    capacity: ResourceList = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()
    seats: tuple[Seats, ...] = ()
    unknown: frozenset[str] = frozenset()  # labels that its type may have: whoever asks for one may come


class Question(NamedTuple):
    """Seats that are pending at one instant, and everything that decides which machines they get.

    `offers_full`: Karpenter 1.15 offers full reservations too, so that seats wait for them.
    """

    pools: tuple[NodePool, ...]
    seats: tuple[Seats, ...]
    machines: tuple[ExistingMachine, ...] = ()
    well_known: frozenset[str] = WELL_KNOWN
    offers_full: bool = False

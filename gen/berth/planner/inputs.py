"""The input of the planner: node pools, pods and existing nodes. Frozen and hashable.

Amounts are in billionths (`berth.karpenter.resourcelists`), prices in dollars an hour.
"""

from typing import NamedTuple

from berth.karpenter.instancetypes import InstanceType
from berth.karpenter.nodelabels import WELL_KNOWN
from berth.karpenter.requirements import Labels, Requirement
from berth.karpenter.resourcelists import ResourceList
from berth.karpenter.taints import Taint, Toleration


class NodePool(NamedTuple):
    """A NodePool. With `replicas` it is static: its nodes exist before any pod is scheduled."""

    name: str
    requirements: tuple[Requirement, ...] = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()
    weight: int = 0
    limits: ResourceList = ()
    replicas: int | None = None
    types: tuple[InstanceType, ...] | None = None  # None: those of the question


class PodSelector(NamedTuple):
    """A label selector. An empty one selects all pods; where it is optional, None selects none."""

    labels: Labels = ()
    expressions: tuple[Requirement, ...] = ()  # In, NotIn, Exists, DoesNotExist


class SpreadConstraint(NamedTuple):
    """A topology spread constraint. `schedule_anyway` stands for whenUnsatisfiable: ScheduleAnyway."""

    key: str
    max_skew: int
    selector: PodSelector | None = None
    schedule_anyway: bool = False
    min_domains: int | None = None
    honor_taints: bool = False  # nodeTaintsPolicy
    honor_affinity: bool = True  # nodeAffinityPolicy
    match_label_keys: tuple[str, ...] = ()


class PodAffinityTerm(NamedTuple):
    """A term of pod affinity or anti-affinity, with a `weight` if it is preferred."""

    key: str
    selector: PodSelector | None = None
    namespaces: tuple[str, ...] = ()  # empty: the pod's own; an empty name is none
    weight: int = 0


class PreferredTerm(NamedTuple):
    """A preferred term of node affinity."""

    weight: int
    requirements: tuple[Requirement, ...]


class PodSet(NamedTuple):
    """`count` equal pods. `requests` does not include `pods`, of which every pod needs one."""

    name: str
    requests: ResourceList
    count: int = 1  # type: ignore[assignment]
    namespace: str = "default"
    labels: Labels = ()
    node_selector: Labels = ()
    required: tuple[tuple[Requirement, ...], ...] = ()  # node affinity: terms, of which one must hold
    preferred: tuple[PreferredTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()  # required pod affinity
    anti_affinity: tuple[PodAffinityTerm, ...] = ()  # required pod anti-affinity
    preferred_affinity: tuple[PodAffinityTerm, ...] = ()
    preferred_anti_affinity: tuple[PodAffinityTerm, ...] = ()
    created: int = 0  # of two equally large, the earlier goes first
    match_fields: bool = False  # does a required term name fields of nodes?


class StateNode(NamedTuple):
    """An existing node. Its pool is the label `karpenter.sh/nodepool`."""

    name: str
    allocatable: ResourceList
    capacity: ResourceList = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()  # without those that go before pods come
    pods: tuple[PodSet, ...] = ()  # bound to it
    unknown: frozenset[str] = frozenset()  # labels that its type may give it: whoever asks for one may come


class KarpenterSettings(NamedTuple):
    """Karpenter's own settings, with its defaults."""

    max_types: int = 600  # of one claim
    max_launch_types: int = 60  # of one call to EC2
    well_known: frozenset[str] = WELL_KNOWN
    offers_full: bool = False  # are full reservations offered, so that pods wait for them? Since 1.15


class SchedulingInput(NamedTuple):
    """Pods that arrive at one instant, and everything that decides which nodes Karpenter buys for them.

    `other_pools` may not be used by any of the pods, but their zones and other domains count for topology
    spread.
    """

    pools: tuple[NodePool, ...]
    types: tuple[InstanceType, ...]
    pods: tuple[PodSet, ...]
    nodes: tuple[StateNode, ...] = ()
    settings: KarpenterSettings = KarpenterSettings()
    other_pools: tuple[NodePool, ...] = ()

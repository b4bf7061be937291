"""DOC"""

from typing import NamedTuple

from gen.karpenter.instancetypes import InstanceType
from gen.karpenter.nodelabels import WELL_KNOWN
from gen.karpenter.requirements import Labels, Requirement
from gen.karpenter.resourcelists import ResourceList
from gen.karpenter.taints import Taint, Toleration


class NodePool(NamedTuple):
    """A NodePool. `replicas` makes it a static one: its machines stand before anything is planned."""

    name: str
    requirements: tuple[Requirement, ...] = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()  # gone before pods come: no matter to the plan
    weight: int = 0
    limits: ResourceList = ()
    replicas: int | None = None
    types: tuple[InstanceType, ...] | None = None  # None: those of the question


class LabelSelector(NamedTuple):
    """Pods by label. Empty selects all; where a selector may be missing, None selects none."""

    labels: Labels = ()
    expressions: tuple[Requirement, ...] = ()  # In, NotIn, Exists, DoesNotExist


class TopologySpread(NamedTuple):
    """A topologySpreadConstraint. `anyway` is whenUnsatisfiable: ScheduleAnyway."""

    key: str
    max_skew: int
    selector: LabelSelector | None = None
    schedule_anyway: bool = False
    min_domains: int | None = None
    honor_taints: bool = False  # nodeTaintsPolicy
    honor_affinity: bool = True  # nodeAffinityPolicy
    match_label_keys: tuple[str, ...] = ()


class PodAffinityTerm(NamedTuple):
    """A term of pod affinity or anti-affinity; `weight` where it is preferred."""

    key: str
    selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()  # empty: the pod's own; an empty name is none
    weight: int = 0


class PreferredTerm(NamedTuple):
    weight: int
    requirements: tuple[Requirement, ...]


class PodSet(NamedTuple):
    """`count` equal pods. `requests` without `pods`, which every pod has one of."""

    name: str
    requests: ResourceList
    count: int = 1  # type: ignore[assignment]
    namespace: str = "default"
    labels: Labels = ()
    node_selector: Labels = ()
    required: tuple[tuple[Requirement, ...], ...] = ()  # node affinity: terms, of which one must hold
    preferred: tuple[PreferredTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    spread: tuple[TopologySpread, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()  # required pod affinity
    anti_affinity: tuple[PodAffinityTerm, ...] = ()  # required pod anti-affinity
    preferred_affinity: tuple[PodAffinityTerm, ...] = ()
    preferred_anti_affinity: tuple[PodAffinityTerm, ...] = ()
    created: int = 0  # of two equally large, the earlier goes first
    match_fields: bool = False  # does a required term name fields of nodes?


class DaemonSet(NamedTuple):
    name: str
    requests: ResourceList
    node_selector: Labels = ()
    required: tuple[tuple[Requirement, ...], ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class StateNode(NamedTuple):
    """A machine that stands already. Its pool is the label `karpenter.sh/nodepool`."""

    name: str
    allocatable: ResourceList
    capacity: ResourceList = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()  # without those that go before pods come
    initialized: bool = True
    pods: tuple[PodSet, ...] = ()  # bound to it, without those of DaemonSets
    daemons: ResourceList = ()  # what the DaemonSets' pods that already run there request, with `pods`
    unknown: frozenset[str] = frozenset()  # labels that its type may give it: whoever asks for one may come


class KarpenterSettings(NamedTuple):
    """Karpenter's own settings, with its defaults."""

    reserved_capacity: bool = True  # gate ReservedCapacity
    ignore_preferences: bool = False  # PREFERENCE_POLICY=Ignore
    best_effort_min_values: bool = False  # MIN_VALUES_POLICY=BestEffort
    max_types: int = 600  # of one claim
    max_launch_types: int = 60  # of one call to EC2
    well_known: frozenset[str] = WELL_KNOWN


class SchedulingInput(NamedTuple):
    """Which machines are bought for `pods`, which all come at one instant? `elsewhere`: pools that none of
    them may use, but whose zones and other domains count where pods are spread.
    """

    pools: tuple[NodePool, ...]
    types: tuple[InstanceType, ...]
    pods: tuple[PodSet, ...]
    daemons: tuple[DaemonSet, ...] = ()
    nodes: tuple[StateNode, ...] = ()
    settings: KarpenterSettings = KarpenterSettings()
    other_pools: tuple[NodePool, ...] = ()

"""What a plan is asked with: types of machines, node pools, pods. Frozen and hashable.

Amounts are in billionths (`gen.plan.amounts`), prices in dollars an hour.
"""

from typing import NamedTuple

from gen.plan.amounts import Amounts
from gen.plan.labels import ON_DEMAND, RESERVED, WELL_KNOWN
from gen.plan.requirement import Labels, Requirement


class Taint(NamedTuple):
    key: str
    value: str = ""
    effect: str = "NoSchedule"  # NoSchedule | NoExecute | PreferNoSchedule


class Toleration(NamedTuple):
    key: str = ""  # empty: of every key
    operator: str = "Equal"  # Equal | Exists | Gt | Lt
    value: str = ""
    effect: str = ""  # empty: of every effect


class Offering(NamedTuple):
    """One way to buy a type. Of a reservation, better made by `reserved`.

    `capacity` and `overhead` are added to those of the type, for this offering alone.
    """

    capacity_type: str  # reserved | on-demand | spot
    zone: str
    price: float
    available: bool = True
    reservation: str = ""  # its id; only with capacity type `reserved`
    count: int = 0  # type: ignore[assignment] # machines of the reservation that are free
    kind: str = "default"  # default | capacity-block
    interruptible: bool = False
    capacity: Amounts = ()
    overhead: Amounts = ()
    labels: Labels = ()  # more labels that a node gets from it


def reserved(reservation: str, zone: str, price: float, count: int, kind: str = "default") -> Offering:
    """As the AWS provider offers it: for next to nothing of the on-demand `price`, so that it is the cheapest
    and still in order; not available without a free machine. `kind`: default or capacity-block.
    """
    return Offering(RESERVED, zone, price / 10_000_000, count != 0, reservation, count, kind)


class InstanceType(NamedTuple):
    """`requirements` are its labels beyond its name and what its offerings say (zone, capacity type,
    reservation); a value for every label that it has, DoesNotExist for what it has not.
    """

    name: str
    capacity: Amounts  # with pods
    offerings: tuple[Offering, ...]
    overhead: Amounts = ()
    requirements: tuple[Requirement, ...] = ()


class Pool(NamedTuple):
    """A NodePool. `replicas` makes it a static one: its machines stand before anything is planned."""

    name: str
    requirements: tuple[Requirement, ...] = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()  # gone before pods come: no matter to the plan
    weight: int = 0
    limits: Amounts = ()
    replicas: int | None = None
    types: tuple[InstanceType, ...] | None = None  # None: those of the question


class Selector(NamedTuple):
    """Pods by label. Empty selects all; where a selector may be missing, None selects none."""

    labels: Labels = ()
    expressions: tuple[Requirement, ...] = ()  # In, NotIn, Exists, DoesNotExist


class Spread(NamedTuple):
    """A topologySpreadConstraint. `anyway` is whenUnsatisfiable: ScheduleAnyway."""

    key: str
    max_skew: int
    selector: Selector | None = None
    anyway: bool = False
    min_domains: int | None = None
    honor_taints: bool = False  # nodeTaintsPolicy
    honor_affinity: bool = True  # nodeAffinityPolicy
    match_label_keys: tuple[str, ...] = ()


class Near(NamedTuple):
    """A term of pod affinity or anti-affinity; `weight` where it is preferred."""

    key: str
    selector: Selector | None = None
    namespaces: tuple[str, ...] = ()  # empty: the pod's own; an empty name is none
    weight: int = 0


class Preferred(NamedTuple):
    weight: int
    requirements: tuple[Requirement, ...]


class Pod(NamedTuple):
    """`count` equal pods. `requests` without `pods`, which every pod has one of."""

    name: str
    requests: Amounts
    count: int = 1  # type: ignore[assignment]
    namespace: str = "default"
    labels: Labels = ()
    node_selector: Labels = ()
    required: tuple[tuple[Requirement, ...], ...] = ()  # node affinity: terms, of which one must hold
    preferred: tuple[Preferred, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    spread: tuple[Spread, ...] = ()
    near: tuple[Near, ...] = ()  # required pod affinity
    far: tuple[Near, ...] = ()  # required pod anti-affinity
    near_preferred: tuple[Near, ...] = ()
    far_preferred: tuple[Near, ...] = ()
    created: int = 0  # of two equally large, the earlier goes first
    by_fields: bool = False  # does a required term name fields of nodes?


class DaemonSet(NamedTuple):
    name: str
    requests: Amounts
    node_selector: Labels = ()
    required: tuple[tuple[Requirement, ...], ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class Node(NamedTuple):
    """A machine that stands already. Its pool is the label `karpenter.sh/nodepool`."""

    name: str
    allocatable: Amounts
    capacity: Amounts = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()  # without those that go before pods come
    initialized: bool = True
    pods: tuple[Pod, ...] = ()  # bound to it, without those of DaemonSets
    daemons: Amounts = ()  # what the DaemonSets' pods that already run there request, with `pods`
    unknown: frozenset[str] = frozenset()  # labels that its type may give it: whoever asks for one may come


class Settings(NamedTuple):
    """Karpenter's own settings, with its defaults."""

    reserved_capacity: bool = True  # gate ReservedCapacity
    ignore_preferences: bool = False  # PREFERENCE_POLICY=Ignore
    best_effort_min_values: bool = False  # MIN_VALUES_POLICY=BestEffort
    most_types: int = 600  # of one claim
    most_launch_types: int = 60  # of one call to EC2
    well_known: frozenset[str] = WELL_KNOWN


class Question(NamedTuple):
    """Which machines are bought for `pods`, which all come at one instant? `elsewhere`: pools that none of
    them may use, but whose zones and other domains count where pods are spread.
    """

    pools: tuple[Pool, ...]
    types: tuple[InstanceType, ...]
    pods: tuple[Pod, ...]
    daemons: tuple[DaemonSet, ...] = ()
    nodes: tuple[Node, ...] = ()
    settings: Settings = Settings()
    elsewhere: tuple[Pool, ...] = ()


def on_demand(zones: tuple[str, ...], price: float) -> tuple[Offering, ...]:
    """The same price in each zone."""
    return tuple(Offering(ON_DEMAND, zone, price) for zone in zones)

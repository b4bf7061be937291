"""NodeClaim templates: the node pools with their instance types, filtered once for each set of
requirements.

Everything here follows from pools, types, DaemonSets and exhausted reservations, so one catalog serves all
loops and all inputs that share these.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from berth.karpenter.instancetypes import InstanceType, Offering, offering_requirements, type_requirements
from berth.karpenter.nodelabels import INITIALIZED, NODEPOOL, REGISTERED, RESERVED
from berth.karpenter.requirements import Conflict, Labels, Requirement, Requirements, requirements_of_labels
from berth.karpenter.resourcelists import ONE, PODS, ResourceList, allocatable, fits, sum_resources
from berth.karpenter.taints import TOLERATE_PREFER_NO_SCHEDULE, untolerated
from berth.planner.inputs import DaemonSet, KarpenterSettings, NodePool, SchedulingInput
from berth.planner.podqueue import PodShape
from berth.planner.topology import Domains, domains

FreeResources = dict[str, int]


class PoolInstanceType:
    """An instance type in one pool, with what each offering leaves for pods besides the DaemonSets."""

    __slots__ = ("name", "offerings", "requirements", "type")

    def __init__(self, one: InstanceType, daemons: ResourceList, spent: frozenset[str]) -> None:
        self.type = one
        self.name = one.name
        self.requirements = type_requirements(one)
        self.offerings = [
            (offering, offering_requirements(offering), _free_resources(one, offering, daemons))
            for offering in one.offerings
            if offering.available and offering.reservation not in spent
        ]


class InstanceTypeOption:
    """A type that a claim may still become, with the free resources and reservations of its offerings."""

    __slots__ = ("free_resources", "instance_type", "reserved")

    def __init__(
        self, entry: PoolInstanceType, rooms: list[FreeResources], reserved: tuple[str, ...]
    ) -> None:
        self.instance_type = entry
        self.free_resources = rooms
        self.reserved = reserved

    def fits(self, wanted: dict[str, int]) -> bool:
        """Tell whether the resources fit on an empty node."""
        return any(
            all(value <= room.get(name, 0) for name, value in wanted.items()) for room in self.free_resources
        )

    def most(self, used: dict[str, int], each: dict[str, int]) -> int:
        """Return how many more of `each` fit besides `used`."""
        return max(
            (
                min((room.get(n, 0) - used.get(n, 0)) // v for n, v in each.items() if v > 0)
                for room in self.free_resources
            ),
            default=0,
        )


class FilteredOptions(NamedTuple):
    """The types that satisfy some requirements; if there are none, what is missing."""

    candidates: tuple[InstanceTypeOption, ...]
    reserved: bool  # has any of them a reservation?
    missing: str


class LaunchChoice(NamedTuple):
    """What a claim is launched as. `options` are the types to choose from, cheapest first."""

    instance_type: PoolInstanceType
    offering: Offering
    options: tuple[str, ...]


class NodeClaimTemplate:
    """A pool that nodes are bought from. `requirements` are those of each of its nodes."""

    def __init__(
        self, pool: NodePool, entries: Sequence[PoolInstanceType], settings: KarpenterSettings
    ) -> None:
        self.pool = pool
        self.requirements = pool_requirements(pool)
        self.instance_types = list(entries)
        self.settings = settings
        self._interned: dict[Requirements, Requirements] = {self.requirements: self.requirements}
        self.launched: dict[tuple[Requirements, tuple[InstanceTypeOption, ...]], LaunchChoice | None] = {}
        self.labels: dict[tuple[Requirements, PoolInstanceType, Offering], Labels] = {}
        self._narrowed: dict[Requirements, FilteredOptions] = {}
        self._joined: dict[tuple[Requirements, Requirements], Requirements | Conflict] = {}
        self._max_pods_cache: dict[tuple[Requirements, ResourceList], dict[InstanceTypeOption, int]] = {}
        self.instance_types = [
            candidate.instance_type for candidate in self.filter_options(self.requirements).candidates
        ]
        self._narrowed.clear()

    def filter_options(self, requirements: Requirements) -> FilteredOptions:
        """Return the matching types: the same objects for requirements that differ only in `min_values`."""
        found = self._narrowed.get(requirements)
        if found is None:
            plain = requirements
            if requirements.min_values:
                plain = Requirements(one._replace(min_values=None) for one in requirements)
            found = self._narrowed.get(plain) or self._narrow(plain)
            self._narrowed[plain] = self._narrowed[requirements] = found
        return found

    def combine(self, requirements: Requirements, wanted: Requirements) -> Requirements | Conflict:
        """Return the requirements of a claim together with those of one more pod."""
        key = (requirements, wanted)
        found = self._joined.get(key)
        if found is None:
            clash = requirements.conflict(wanted, self.settings.well_known)
            found = self._joined[key] = clash or self.intern(requirements.plus(wanted))
        return found

    def intern(self, requirements: Requirements) -> Requirements:
        """Return the one object for all equal requirements, so that claims notice a change quickly."""
        return self._interned.setdefault(requirements, requirements)

    def most(self, requirements: Requirements, shape: PodShape) -> dict[InstanceTypeOption, int]:
        """Return how many such pods an empty node of each matching type takes."""
        key = (requirements, shape.pod.requests)
        found = self._max_pods_cache.get(key)
        if found is None:
            candidates = self.filter_options(requirements).candidates
            found = self._max_pods_cache[key] = {c: c.most({}, shape.requests) for c in candidates}
        return found

    def _narrow(self, requirements: Requirements) -> FilteredOptions:
        known = self.settings.well_known
        candidates: list[InstanceTypeOption] = []
        any_type = any_offer = False
        for entry in self.instance_types:
            fitting = entry.requirements.value_conflict(requirements) is None
            offers = [o for o in entry.offerings if requirements.conflict(o[1], known) is None]
            any_type, any_offer = any_type or fitting, any_offer or bool(offers)
            if fitting and offers:
                rooms = [room for _, _, room in offers if room is not None]
                distinct = [room for i, room in enumerate(rooms) if room not in rooms[:i]]
                booked = tuple(o.reservation for o, _, _ in offers if o.capacity_type == RESERVED)
                candidates.append(InstanceTypeOption(entry, distinct, booked))
        missing = "requirements" if not any_type else "offering" if not any_offer else "both"
        return FilteredOptions(tuple(candidates), any(c.reserved for c in candidates), missing)


class NodeClaimCatalog(NamedTuple):
    """The templates of all dynamic pools."""

    templates: tuple[NodeClaimTemplate, ...]  # by weight, then by name backwards
    domains: Domains
    tolerate: bool  # has any pool a PreferNoSchedule taint, so that pods may come to bear it?


def nodeclaim_catalog(question: SchedulingInput, spent: frozenset[str] = frozenset()) -> NodeClaimCatalog:
    """Return the catalog of an input. `spent` are reservations without a free instance since the plan
    began.
    """
    return _nodeclaim_catalog(question._replace(pods=(), nodes=()), spent)


def pool_requirements(pool: NodePool) -> Requirements:
    """Return the requirements of a pool's nodes."""
    labels = (*pool.labels, (NODEPOOL, pool.name), (REGISTERED, "true"), (INITIALIZED, "true"))
    return Requirements((*pool.requirements, *requirements_of_labels(labels)))


def pool_instance_types(pool: NodePool, types: tuple[InstanceType, ...]) -> tuple[InstanceType, ...]:
    """Return the instance types of a pool: its own, or those of the input."""
    return types if pool.types is None else pool.types


@lru_cache(maxsize=64)
def _nodeclaim_catalog(question: SchedulingInput, spent: frozenset[str]) -> NodeClaimCatalog:
    """Return the catalog of an input without pods and nodes, which do not matter here."""
    types, settings = question.types, question.settings
    dynamic = sorted((p for p in question.pools if p.replicas is None), key=lambda p: p.name, reverse=True)
    dynamic.sort(key=lambda pool: -pool.weight)
    terms = {daemon: list(daemon.required) for daemon in question.daemons}
    made = [_template(pool, pool_instance_types(pool, types), terms, settings, spent) for pool in dynamic]
    templates = [
        t for t in made if t.instance_types and meets_min_values(t.requirements, t.instance_types, settings)
    ]
    known = [*dynamic, *(pool for pool in question.other_pools if pool.replicas is None)]
    tolerate = any(taint.effect == "PreferNoSchedule" for pool in known for taint in pool.taints)
    return NodeClaimCatalog(
        tuple(templates), domains((p, pool_instance_types(p, types)) for p in known), tolerate
    )


def pool_template(question: SchedulingInput, pool: NodePool, spent: frozenset[str]) -> NodeClaimTemplate:
    """Return the template of one pool, dynamic or static."""
    return _pool_template(
        pool, pool_instance_types(pool, question.types), question.daemons, question.settings, spent
    )


@lru_cache(maxsize=64)
def _pool_template(
    pool: NodePool,
    types: tuple[InstanceType, ...],
    daemons: tuple[DaemonSet, ...],
    settings: KarpenterSettings,
    spent: frozenset[str],
) -> NodeClaimTemplate:
    return _template(pool, types, {daemon: list(daemon.required) for daemon in daemons}, settings, spent)


def _template(
    pool: NodePool,
    types: tuple[InstanceType, ...],
    terms: dict[DaemonSet, list[tuple[Requirement, ...]]],
    settings: KarpenterSettings,
    spent: frozenset[str],
) -> NodeClaimTemplate:
    entries = [PoolInstanceType(one, _daemonset_requests(pool, one, terms, settings), spent) for one in types]
    return NodeClaimTemplate(pool, entries, settings)


def meets_min_values(
    requirements: Requirements, entries: Iterable[PoolInstanceType], settings: KarpenterSettings
) -> bool:
    """Tell whether the types leave as many values of each label as `min_values` asks for."""
    return settings.best_effort_min_values or not missing_min_values(requirements, entries)


def missing_min_values(requirements: Requirements, entries: Iterable[PoolInstanceType]) -> dict[str, int]:
    """Return the number of values of each label for which `min_values` asks for more."""
    if not requirements.min_values:
        return {}
    left = list(entries)
    counts = {
        key: len(frozenset[str]().union(*(entry.requirements.get(key).values for entry in left)))
        for key in requirements.min_values
    }
    return {key: count for key, count in counts.items() if count < requirements.min_values[key]}


def _daemonset_requests(
    pool: NodePool,
    one: InstanceType,
    terms: dict[DaemonSet, list[tuple[Requirement, ...]]],
    settings: KarpenterSettings,
) -> ResourceList:
    """Return what the DaemonSets on such a node request.

    Terms of a DaemonSet that did not match one type are not tried with later types: Karpenter drops them
    from the pod that it asks with.
    """
    found = [daemon for daemon in terms if _daemonset_runs(daemon, pool, one, terms[daemon], settings)]
    pods = ((PODS, ONE * len(found)),) if found else ()
    return tuple(sorted(sum_resources(*(daemon.requests for daemon in found), pods).items()))


def _daemonset_runs(
    daemon: DaemonSet,
    pool: NodePool,
    one: InstanceType,
    terms: list[tuple[Requirement, ...]],
    settings: KarpenterSettings,
) -> bool:
    own, of_type = pool_requirements(pool), type_requirements(one)
    if untolerated(pool.taints, (*daemon.tolerations, TOLERATE_PREFER_NO_SCHEDULE)) is not None:
        return False
    while True:
        wanted = Requirements((*requirements_of_labels(daemon.node_selector), *(terms[0] if terms else ())))
        if own.conflict(wanted, settings.well_known) is None and of_type.value_conflict(wanted) is None:
            return True
        if len(terms) < 2:
            return False
        del terms[0]


def _free_resources(one: InstanceType, offering: Offering, daemons: ResourceList) -> FreeResources | None:
    """Return what an offering leaves for pods, or None if the DaemonSets do not fit."""
    capacity = sum_resources(one.capacity, offering.capacity)
    overhead = tuple(sum_resources(one.overhead, offering.overhead).items())
    whole = allocatable(capacity.items(), overhead)
    if not fits(daemons, whole):
        return None
    return {name: value - dict(daemons).get(name, 0) for name, value in whole.items()}

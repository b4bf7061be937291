"""NodeClaim templates: the node pools with their instance types, filtered once for each set of
requirements.

Everything here follows from pools, types and exhausted reservations, so one catalog serves all loops and
all inputs that share these.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from berth.karpenter.instancetypes import InstanceType, Offering, offering_requirements, type_requirements
from berth.karpenter.nodelabels import INITIALIZED, NODEPOOL, REGISTERED, RESERVED
from berth.karpenter.requirements import Conflict, Labels, Requirements, requirements_of_labels
from berth.karpenter.resourcelists import ResourceList, allocatable, fits
from berth.planner.inputs import KarpenterSettings, NodePool, SchedulingInput
from berth.planner.podqueue import PodShape
from berth.planner.topology import Domains, domains


class PoolInstanceType:
    """An instance type in one pool, with what a node of it has for pods."""

    __slots__ = ("free", "full", "name", "offerings", "requirements", "type")

    def __init__(self, one: InstanceType, spent: frozenset[str], offers_full: bool) -> None:
        self.type = one
        self.name = one.name
        self.requirements = type_requirements(one)
        free = allocatable(one.capacity, one.overhead)
        self.free = free if fits((), free) else {}
        self.offerings: list[tuple[Offering, Requirements]] = []
        self.full: list[Requirements] = []
        """Of the offerings of full reservations, if these are offered."""
        for offering in one.offerings:
            asked = offering_requirements(offering)
            empty = offers_full and offering.capacity_type == RESERVED and not offering.count
            if offering.available and not empty and offering.reservation not in spent:
                self.offerings.append((offering, asked))
            elif offering.available and offers_full:
                self.full.append(asked)


class InstanceTypeOption:
    """A type that a claim may still become, with the reservations of its offerings.

    `only_full`: it is offered in full reservations and in no other way.
    """

    __slots__ = ("instance_type", "only_full", "reserved")

    def __init__(self, entry: PoolInstanceType, reserved: tuple[str, ...], only_full: bool) -> None:
        self.instance_type = entry
        self.reserved = reserved
        self.only_full = only_full

    def most(self, used: dict[str, int], each: dict[str, int]) -> int:
        """Return how many more of `each` fit besides `used`."""
        free = self.instance_type.free
        return min((free.get(n, 0) - used.get(n, 0)) // v for n, v in each.items() if v > 0)


class FilteredOptions(NamedTuple):
    """The types that satisfy some requirements; if there are none, what is missing."""

    candidates: tuple[InstanceTypeOption, ...]
    reserved: bool  # has any of them a reservation, full or not?
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
        filtered_options = self._narrowed.get(requirements)
        if filtered_options is None:
            plain = requirements
            if requirements.min_values:
                plain = Requirements(requirement._replace(min_values=None) for requirement in requirements)
            filtered_options = self._narrowed.get(plain) or self._narrow(plain)
            self._narrowed[plain] = self._narrowed[requirements] = filtered_options
        return filtered_options

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
            full = any(requirements.conflict(asked, known) is None for asked in entry.full)
            any_type, any_offer = any_type or fitting, any_offer or bool(offers) or full
            if fitting and (offers or full):
                booked = tuple(o.reservation for o, _ in offers if o.capacity_type == RESERVED)
                candidates.append(InstanceTypeOption(entry, booked, not offers))
        missing = "requirements" if not any_type else "offering" if not any_offer else "both"
        reserved = any(c.reserved or c.only_full for c in candidates)
        return FilteredOptions(tuple(candidates), reserved, missing)


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
    made = [_pool_template(pool, pool_instance_types(pool, types), settings, spent) for pool in dynamic]
    templates = [
        t for t in made if t.instance_types and not missing_min_values(t.requirements, t.instance_types)
    ]
    known = [*dynamic, *(pool for pool in question.other_pools if pool.replicas is None)]
    tolerate = any(taint.effect == "PreferNoSchedule" for pool in known for taint in pool.taints)
    return NodeClaimCatalog(
        tuple(templates), domains((p, pool_instance_types(p, types)) for p in known), tolerate
    )


def static_template(question: SchedulingInput, pool: NodePool, spent: frozenset[str]) -> NodeClaimTemplate:
    """Return the template of one static pool, whose nodes wait for no reservation."""
    settings = question.settings._replace(offers_full=False)
    return _pool_template(pool, pool_instance_types(pool, question.types), settings, spent)


@lru_cache(maxsize=64)
def _pool_template(
    pool: NodePool,
    types: tuple[InstanceType, ...],
    settings: KarpenterSettings,
    spent: frozenset[str],
) -> NodeClaimTemplate:
    return NodeClaimTemplate(
        pool, [PoolInstanceType(type_, spent, settings.offers_full) for type_ in types], settings
    )


def missing_min_values(requirements: Requirements, entries: Iterable[PoolInstanceType]) -> dict[str, int]:
    """Return the number of values of each label for which `min_values` asks for more.

    Values that the requirements exclude do not count.
    """
    if not requirements.min_values:
        return {}
    left = list(entries)
    counts = {}
    for key in requirements.min_values:
        values = frozenset[str]().union(*(entry.requirements.get(key).values for entry in left))
        counts[key] = sum(map(requirements.get(key).allows, values))
    return {key: count for key, count in counts.items() if count < requirements.min_values[key]}

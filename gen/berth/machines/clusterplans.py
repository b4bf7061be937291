"""Plan clusters: from declarations and the times at which pools are open to a simulation of each cluster."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.checks import autoscalers
from berth.checks.ceilings import PoolLoad
from berth.checks.cloudmatching import parse_requirements, parse_toleration
from berth.machines.capacitycatalog import CapacityCatalog, as_clouds, shape_names
from berth.machines.estimate import APART, PreferredTerm, Seats
from berth.machines.instancetypes import ONE, VOLUMES, parse_resources
from berth.machines.nodelabels import (
    HOSTNAME,
    IN,
    NODEPOOL,
    ZONE,
    Labels,
    Requirement,
    normalized,
    requirement,
    requirements_of_labels,
    restricted,
)
from berth.machines.overtime import Overtime, PoolKey, PoolPlacement, SeatDemand, SimulationRun
from berth.manifests import naming, nodeaffinity
from berth.manifests.placed import class_names, cluster_named
from berth.schema.cloudcapacity import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.pod import Placement
from berth.schema.scheduling import LabelSelector, NodeAffinity, PodAffinity
from berth.schema.seatholders import Unit
from berth.schema.values import Cluster, ResourceClass, Site

NO_CLOUD = "names no cloudCapacity"
SLOTS = "slots of Koordinator buy no machines"
DEVICES = "claims devices, and nothing says how many a node has"
NUMBERS = "holds a number of somebody else's object: which machines that needs is not known"


class ClusterPlan(NamedTuple):
    """The plan of one cluster."""

    cluster: str
    catalog: CapacityCatalog
    demands: tuple[SeatDemand, ...]
    run: SimulationRun
    first: int
    last: int


class UnplannedItem(NamedTuple):
    """A class or a reservation that has no part in the plan, and why."""

    subject: str  # class, or reservation
    reason: str


def plan_clusters(
    declared: Declared, site: Site, pools: Mapping[str, Iterable[PoolLoad]]
) -> list[ClusterPlan]:
    """Plan the clusters with CloudCapacities, in the site's order. `pools` are given by cluster, in order
    of time.
    """
    cluster_plans = []
    for cluster in site.clusters:
        every = (*declared.clouds.values(), *as_clouds(declared.generic.values()))
        clouds = [cloud for cloud in every if cluster_named(cloud.cluster, site) == cluster]
        if clouds:
            cluster_plans.append(
                _plan_cluster(declared, site, cluster, sorted(clouds, key=lambda cloud: cloud.name), pools)
            )
    return cluster_plans


def unplanned_items(
    declared: Declared, site: Site, is_asked: Callable[[PoolKey], bool]
) -> list[UnplannedItem]:
    """Return what is reserved, of the pools that are asked for, and has no part in the plan."""
    clouds = declared.capacities.keys()
    used: dict[str, ResourceClass] = {}
    others: list[UnplannedItem] = []
    for reservation in declared.reservations:
        names = [name for name in class_names(reservation) if is_asked((reservation.name, name))]
        if reservation.suspend or not names:
            continue
        if reservation.holder.unit.is_number:
            others.append(UnplannedItem(reservation.name, NUMBERS))
            continue
        mine = {name: declared.classes[name] for name in names if name in declared.classes}
        used |= mine
        if not reservation.holder.adds_nodes and any(
            clouds & {*found.cloud_capacity} for found in mine.values()
        ):
            others.append(UnplannedItem(reservation.name, SLOTS))
        for name, found in mine.items() if reservation.holder.unit is not Unit.NODE else ():
            labels = tuple(sorted(naming.of_placeholder(site, reservation, found).items()))
            if why := why_uncounted(found, labels, declared.clouds.values()):
                others.append(UnplannedItem(name, why))
    unknown = [name for name in sorted(used) if used[name].resource_claims]
    classes = [name for name in sorted({*used} - {*unknown}) if not clouds & {*used[name].cloud_capacity}]
    return [
        *(UnplannedItem(name, NO_CLOUD) for name in classes),
        *(UnplannedItem(name, DEVICES) for name in unknown),
        *dict.fromkeys(others),
    ]


def plan_names(found: ResourceClass, declared: Declared) -> Iterator[str]:
    """Yield the capacities of a class as a plan names them, preferred first."""
    for name in found.cloud_capacity:
        if name in declared.generic:
            yield from shape_names(declared.generic[name])
        else:
            yield name


def _plan_cluster(
    declared: Declared,
    site: Site,
    cluster: Cluster,
    clouds: Sequence[CloudCapacity],
    pools: Mapping[str, Iterable[PoolLoad]],
) -> ClusterPlan:
    names = {cloud.name for cloud in clouds}
    reservations = {one.name: one for one in declared.reservations}
    demands: list[SeatDemand] = []
    places: dict[PoolKey, PoolPlacement] = {}
    for pool in pools.get(cluster.name, ()):
        found, reservation = declared.classes[pool.resource_class], reservations[pool.reservation]
        mine = tuple(name for name in plan_names(found, declared) if name in names)
        labels = tuple(sorted(naming.of_placeholder(site, reservation, found).items()))
        if not mine or not pool.steps or not reservation.holder.adds_nodes or found.resource_claims:
            continue
        if pool.unit is not Unit.NODE and why_uncounted(found, labels, clouds):
            continue
        key = (pool.reservation, pool.resource_class)
        within = found.model_copy(update={"node_pools": tuple(nodeaffinity.pools(site.name, mine))})
        places[key] = PoolPlacement(class_seats(within, labels), mine)
        demands.append(SeatDemand(key, pool.unit, pool.steps, mine))
    demands.sort(key=lambda demand: demand.key)
    catalog = CapacityCatalog(
        clouds,
        site.name,
        gate=autoscalers.has_feature("reserved", cluster),
        zones=named_zones_by_capacity(places.values()),
    )
    minutes = [minute for demand in demands for minute in demand.steps[::2]]
    first, last = min(minutes, default=0) * 60, max(minutes, default=0) * 60
    run = Overtime(catalog, places, demands).run(last)
    return ClusterPlan(cluster.name, catalog, tuple(demands), run, first, last)


def named_zones_by_capacity(places: Iterable[PoolPlacement]) -> dict[str, frozenset[str]]:
    """Return by capacity the zones that its seats name; without capacities of which the zone matters to
    none.
    """
    found: dict[str, frozenset[str]] = {}
    for place in places:
        zones = named_zones(place.seats)
        for cloud in place.clouds if zones is not None else ():
            found[cloud] = found.get(cloud, frozenset()) | (zones or frozenset())
    return found


def why_uncounted(found: ResourceClass, labels: Labels, clouds: Iterable[CloudCapacity]) -> str:
    """Return why the estimate does not count the seats of a class; empty if it does."""
    for cloud in clouds:
        if cloud.name in found.cloud_capacity and any(one.min_values for one in cloud.requirements):
            return f"{NOT_COUNTED} minValues of {cloud.name}"
    return uncounted(found, labels)


NOT_COUNTED = "not counted: may need more machines, or find none, because of"


def class_seats(found: ResourceClass, labels: Labels) -> Seats:
    """Return one seat of a class; `labels` are those of its placeholders.

    It has the volumes of the session that replaces it, so that the machines suffice for sessions.
    """
    pod = found.pod
    node = (pod.affinity and pod.affinity.node_affinity) or NodeAffinity.model_construct()
    only = (requirement(NODEPOOL, IN, found.node_pools),) if found.node_pools else ()
    terms = node.required.node_selector_terms if node.required else ()
    parsed = [parse_requirements(term.match_expressions or ()) for term in terms]
    more = {VOLUMES: found.volumes * ONE} if found.volumes else {}
    if _is_apart(pod, labels):
        more[APART + found.name] = ONE
    return Seats(
        found.name,
        tuple(sorted({**dict(parse_resources(found.requests)), **more}.items())),
        node_selector=tuple(sorted((pod.node_selector or {}).items())),
        required=tuple((*term, *only) for term in parsed or ([()] if only else [])),
        preferred=tuple(
            PreferredTerm(one.weight, parse_requirements(one.preference.match_expressions or ()))
            for one in node.preferred or ()
        ),
        tolerations=tuple(map(parse_toleration, pod.tolerations or ())),
    )


def uncounted(found: ResourceClass, labels: Labels) -> str:
    """Return why the estimate does not count the seats of a class; empty if it does."""
    pod, near = found.pod, found.pod.affinity
    if pod.topology_spread_constraints:
        return f"{NOT_COUNTED} its topology spread"
    pods = (near.pod_affinity, near.pod_anti_affinity) if near else ()
    if any(one and (one.required or one.preferred) for one in pods) and not _is_apart(pod, labels):
        return f"{NOT_COUNTED} its pod affinity"
    node = near.node_affinity if near else None
    terms = node.required.node_selector_terms if node and node.required else ()
    keys = {*(pod.node_selector or {}), *(one.key for term in terms for one in term.match_expressions or ())}
    if wrong := sorted(normalized(key) for key in keys if restricted(key)):
        return f"{NOT_COUNTED} {wrong[0]}, by which Karpenter lets no pod select nodes"
    if any(term.match_fields for term in terms):
        return f"{NOT_COUNTED} matchFields, which Karpenter does not know"
    return ""


def named_zones(seats: Seats) -> frozenset[str] | None:
    """Return the zones that seats name, or None if the zone does not matter to them."""
    terms: Iterable[Iterable[Requirement]] = (
        requirements_of_labels(seats.node_selector),
        *seats.required,
        *(one.requirements for one in seats.preferred),
    )
    asked = [one for term in terms for one in term if one.key == ZONE]
    if not asked:
        return None
    return frozenset(zone for one in asked if not one.complement for zone in one.values)


def _is_apart(pod: Placement, labels: Labels) -> bool:
    """Tell whether pods of a class only ask to be on different machines than each other."""
    near = pod.affinity or None
    far = (near and near.pod_anti_affinity) or PodAffinity.model_construct()
    if near is None or near.pod_affinity or far.preferred or len(far.required or ()) != 1:
        return False
    (term,) = far.required or ()
    is_plain = not (term.namespaces or term.namespace_selector or term.mismatch_label_keys)
    return is_plain and term.topology_key == HOSTNAME and _selects(term.label_selector, dict(labels))


def _selects(selector: LabelSelector | None, labels: dict[str, str]) -> bool:
    wanted = selector.match_labels or {} if selector and not selector.match_expressions else {}
    return bool(wanted) and wanted.items() <= labels.items()

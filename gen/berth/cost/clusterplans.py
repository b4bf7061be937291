"""Plan clusters: from declarations and the times at which pools are open to a simulation of each cluster."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.checks import autoscalers
from berth.checks.ceilings import PoolLoad
from berth.cost.capacitycatalog import CapacityCatalog
from berth.cost.clustersimulation import ClusterSimulation, SimulatedCluster
from berth.cost.genericnodes import as_clouds, shape_names
from berth.cost.results import PoolKey, SeatDemand, SimulationRun
from berth.cost.simulatednodes import PoolPlacement, zones_by_capacity
from berth.durations import whole_seconds
from berth.karpenter.requirements import Labels
from berth.manifests import naming, nodeaffinity
from berth.manifests.placed import class_names, cluster_named
from berth.planner.inputs import PodSet, SchedulingInput
from berth.planner.podspec import POD_TEMPLATE_HASH, pod_set, topology_label_keys
from berth.planner.provisioning import SchedulingResult, result_range
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.values import Cluster, ResourceClass, Site


def placeholder_pods(
    classes: Mapping[PoolKey, tuple[ResourceClass, Labels]], namespace: str
) -> dict[PoolKey, PodSet]:
    """Return the placeholder pods of all pools of a cluster, restricted to the node pools that they may
    use.

    Of the placeholders' labels only those are kept that the topology spread or affinity of any class
    selects by, so that equal seats of several courses are equal pods.
    """
    seen = frozenset[str]().union(
        *(topology_label_keys(resource_class.pod) for resource_class, _ in classes.values())
    )
    pod_sets = {}
    for key, (one, own) in classes.items():
        every = (*own, (POD_TEMPLATE_HASH, "-".join(key)))
        pod_sets[key] = pod_set(one, tuple(label for label in every if label[0] in seen), namespace)
    return pod_sets


NO_CLOUD = "names no cloudCapacity"
SLOTS = "slots of Koordinator buy no machines"
DEVICES = "claims devices, and nothing says how many a node has"
NUMBERS = "holds a number of somebody else's object: which machines that needs is not known"
_NEVER = "Never"


class ClusterPlan(NamedTuple):
    """The plan of one cluster.

    `runs` has the default run first, then those with the fewest and the most machines where Karpenter's
    order is open and makes a difference.
    """

    cluster: str
    catalog: CapacityCatalog
    demands: tuple[SeatDemand, ...]
    runs: tuple[SimulationRun, ...]
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


def unplanned_items(declared: Declared, is_asked: Callable[[PoolKey], bool]) -> list[UnplannedItem]:
    """Return what is reserved, of the pools that are asked for, and has no part in the plan."""
    clouds = {*declared.clouds, *declared.generic}
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
    unknown = [name for name in sorted(used) if used[name].resource_claims]
    classes = [name for name in sorted({*used} - {*unknown}) if not clouds & {*used[name].cloud_capacity}]
    return [
        *(UnplannedItem(name, NO_CLOUD) for name in classes),
        *(UnplannedItem(name, DEVICES) for name in unknown),
        *others,
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
    classes: dict[PoolKey, tuple[ResourceClass, Labels]] = {}
    allowed: dict[PoolKey, tuple[str, ...]] = {}
    for pool in pools.get(cluster.name, ()):
        found, reservation = declared.classes[pool.resource_class], reservations[pool.reservation]
        mine = tuple(name for name in plan_names(found, declared) if name in names)
        if mine and pool.steps and reservation.holder.adds_nodes and not found.resource_claims:
            key = (pool.reservation, pool.resource_class)
            own = tuple(sorted(naming.of_placeholder(site, reservation, found).items()))
            classes[key] = found._replace(node_pools=tuple(nodeaffinity.pools(site.name, mine))), own
            allowed[key] = mine
            demands.append(SeatDemand(key, pool.unit, pool.steps, mine))
    demands.sort(key=lambda demand: demand.key)
    places = {
        key: PoolPlacement(pod, allowed[key])
        for key, pod in placeholder_pods(classes, cluster.namespace).items()
    }
    catalog = CapacityCatalog(
        clouds,
        site.name,
        gate=autoscalers.has_feature("reserved", cluster),
        offers_full=autoscalers.has_feature("full", cluster),
        zones=zones_by_capacity(places.values()),
    )
    simulated = SimulatedCluster(
        catalog,
        places,
        _durations((cloud.name, cloud.empty_after) for cloud in clouds),
        _durations((cloud.name, cloud.expiry) for cloud in clouds),
    )
    minutes = [minute for demand in demands for minute in demand.steps[::2]]
    first, last = min(minutes, default=0) * 60, max(minutes, default=0) * 60
    return ClusterPlan(cluster.name, catalog, tuple(demands), _runs(simulated, demands, last), first, last)


def _runs(cluster: SimulatedCluster, demands: Sequence[SeatDemand], end: int) -> tuple[SimulationRun, ...]:
    differs = False

    def plain(question: SchedulingInput) -> SchedulingResult:
        nonlocal differs
        found = result_range(question)
        differs = differs or len(found.least.machines) != len(found.most.machines)
        return found.plain

    run = ClusterSimulation(cluster, demands, plain).run(end)
    if not differs:
        return (run,)
    least = ClusterSimulation(cluster, demands, lambda question: result_range(question).least).run(end)
    most = ClusterSimulation(cluster, demands, lambda question: result_range(question).most).run(end)
    return run, least, most


def _durations(texts: Iterable[tuple[str, str]]) -> dict[str, int | None]:
    """Return durations in seconds by CloudCapacity; None stands for never."""
    return {name: None if text == _NEVER else whole_seconds(text) for name, text in texts}

"""From what is declared and when pools are open to the simulations of each cluster."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gen.check import karpenter
from gen.check.load import Pool
from gen.cloud import CloudCapacity
from gen.cost.machine import Place, zones_named
from gen.cost.seat import seats
from gen.cost.shop import Shop
from gen.cost.simulation import Cluster as Simulated
from gen.cost.simulation import Simulation
from gen.cost.values import Key, Run, Want
from gen.declared import Declared
from gen.manifest import cloudpools, labels
from gen.model import Cluster, Reservation, ResourceClass, Site
from gen.placed import class_names, cluster_named, has_nodes, has_placeholders
from gen.plan.band import band
from gen.plan.purchase import Purchase
from gen.plan.requirement import Labels
from gen.plan.values import Question
from gen.schema.cloudgrammar import seconds

NO_CLOUD = "names no cloudCapacity"
SLOTS = "slots of Koordinator buy no machines"
_NEVER = "Never"


class Planned(NamedTuple):
    """One cluster. `runs`: the plainest way first, then those with the least and the most machines where
    Karpenter's order is open and it makes a difference.
    """

    cluster: str
    shop: Shop
    wants: tuple[Want, ...]
    runs: tuple[Run, ...]
    first: int
    last: int


class Unplanned(NamedTuple):
    subject: str  # class, or reservation
    reason: str


def planned(declared: Declared, site: Site, pools: Mapping[str, Iterable[Pool]]) -> list[Planned]:
    """In the site's order; clusters without CloudCapacity are left out. `pools`: by cluster, by time."""
    found = []
    for cluster in site.clusters:
        clouds = [one for one in declared.clouds.values() if cluster_named(one.cluster, site) == cluster]
        if clouds:
            found.append(_planned(declared, site, cluster, sorted(clouds, key=lambda one: one.name), pools))
    return found


def unplanned(declared: Declared) -> list[Unplanned]:
    """What is reserved, and has no part in the plan."""
    clouds = {one.name for one in declared.clouds.values()}
    used: dict[str, ResourceClass] = {}
    slots: list[Unplanned] = []
    for one in declared.reservations:
        if one.suspend:
            continue
        mine = {name: declared.classes[name] for name in class_names(one) if name in declared.classes}
        used |= mine
        if not _buys(one) and any(clouds & {*found.cloud_capacity} for found in mine.values()):
            slots.append(Unplanned(one.name, SLOTS))
    classes = [name for name in sorted(used) if not clouds & {*used[name].cloud_capacity}]
    return [*(Unplanned(name, NO_CLOUD) for name in classes), *slots]


def _buys(reservation: Reservation) -> bool:
    return has_placeholders(reservation) or has_nodes(reservation)


def _planned(
    declared: Declared,
    site: Site,
    cluster: Cluster,
    clouds: Sequence[CloudCapacity],
    pools: Mapping[str, Iterable[Pool]],
) -> Planned:
    names = {one.name for one in clouds}
    reservations = {one.name: one for one in declared.reservations}
    wants: list[Want] = []
    classes: dict[Key, tuple[ResourceClass, Labels]] = {}
    allowed: dict[Key, tuple[str, ...]] = {}
    for pool in pools.get(cluster.name, ()):
        found, reservation = declared.classes[pool.resource_class], reservations[pool.reservation]
        mine = tuple(name for name in found.cloud_capacity if name in names)
        if mine and pool.steps and _buys(reservation):
            key = (pool.reservation, pool.resource_class)
            own = tuple(sorted(labels.of_placeholder(site, reservation, found).items()))
            classes[key] = found._replace(node_pools=tuple(cloudpools.pools(site.name, mine))), own
            allowed[key] = mine
            wants.append(Want(key, pool.nodes, pool.steps))
    wants.sort(key=lambda want: want.key)
    places = {key: Place(pod, allowed[key]) for key, pod in seats(classes, cluster.namespace).items()}
    gate = karpenter.has("reserved", cluster)
    shop = Shop(clouds, site.name, gate=gate, zones=zones_named(places.values()))
    simulated = Simulated(
        shop,
        places,
        _spans((one.name, one.empty_after) for one in clouds),
        _spans((one.name, one.expiry) for one in clouds),
    )
    minutes = [minute for want in wants for minute in want.steps[::2]]
    first, last = min(minutes, default=0) * 60, max(minutes, default=0) * 60
    return Planned(cluster.name, shop, tuple(wants), _runs(simulated, wants, last), first, last)


def _runs(cluster: Simulated, wants: Sequence[Want], end: int) -> tuple[Run, ...]:
    differs = False

    def plain(question: Question) -> Purchase:
        nonlocal differs
        found = band(question)
        differs = differs or len(found.least.machines) != len(found.most.machines)
        return found.plain

    run = Simulation(cluster, wants, plain).run(end)
    if not differs:
        return (run,)
    least = Simulation(cluster, wants, lambda question: band(question).least).run(end)
    most = Simulation(cluster, wants, lambda question: band(question).most).run(end)
    return run, least, most


def _spans(texts: Iterable[tuple[str, str]]) -> dict[str, int | None]:
    """In seconds, by capacity; None: never."""
    return {name: None if text == _NEVER else seconds(text) for name, text in texts}

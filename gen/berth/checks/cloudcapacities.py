"""Check each CloudCapacity by itself, against its cluster, and against the classes that name it."""

from collections.abc import Iterator
from itertools import pairwise

from berth.checks import cloudmatching
from berth.checks.autoscalers import check_cluster_feature, has_feature
from berth.checks.references import check_named_cluster
from berth.findings import ERROR, Path, Problem, severity
from berth.machines.nodelabels import NODEPOOL
from berth.manifests import naming
from berth.manifests.placed import class_names, cluster_named, cluster_of
from berth.quantity import parse
from berth.schema.cloudcapacity import CloudCapacity, MachineReservation
from berth.schema.cloudgrammar import BLOCK
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Cluster, ResourceClass, Site


def check_capacities(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check all CloudCapacities, and the classes that name them."""
    named = {name for resource_class in declared.classes.values() for name in resource_class.cloud_capacity}
    all_known = not declared.nameless and all(declared.may_exist("CloudCapacity", name) for name in named)
    problems: list[Problem] = []
    for cloud in declared.clouds.values():
        problems += _cluster(cloud, site)
        problems += _reserved(cloud)
        problems += _limits(cloud, is_static=_is_static(cloud, declared))
        if cloud.name not in named and all_known:
            message = "no ResourceClass lists it in cloudCapacity, so nothing uses it."
            if cloud.reservations:
                message += " Its reserved instances are paid for anyway."
            fix = f"Add cloudCapacity: [{cloud.name}] to a class, or remove it."
            problems.append(cloud.origin.problem("B158", ("spec",), message, fix))
    problems += _shared(declared, site)
    yield from problems
    # A faulty capacity is not reported again at the classes that use it.
    faulty = {problem[1:3] for problem in problems if severity(problem.code) == ERROR}
    good = {name: cloud for name, cloud in declared.clouds.items() if cloud.origin[:2] not in faulty}
    for resource_class in declared.classes.values():
        yield from _class(resource_class, declared._replace(clouds=good), site)


def usable_clouds(
    reservation: Reservation, resource_class: ResourceClass, declared: Declared
) -> list[CloudCapacity]:
    """Return the valid capacities that nodes of a reservation may come from, preferred first."""
    names = reservation.holder.usable_capacity(resource_class.cloud_capacity)
    return [declared.clouds[name] for name in names if name in declared.clouds]


def reservation_text(machines: MachineReservation) -> str:
    """Describe a reservation as people know it."""
    kind = "Capacity Block" if machines.type == BLOCK else "reservation"
    if machines.id:
        return f"{kind} {machines.id}"
    tags = machines.tags or {}
    return f"{kind} with {', '.join(f'{key}={value}' for key, value in tags.items())}"


def buys_nothing(resource: str, amount: str) -> bool:
    """Tell whether such a limit excludes every node, which is reported at the capacity itself."""
    return resource in ("cpu", "memory", "nodes", "pods") and not parse(amount)


def _cluster(cloud: CloudCapacity, site: Site) -> Iterator[Problem]:
    yield from check_named_cluster(cloud.origin, cloud.cluster, site)
    cluster = cluster_named(cloud.cluster, site)
    if cluster is None:
        return
    if cluster.autoscaler != "karpenter":
        message = f"cluster {cluster.name} has autoscaler {cluster.autoscaler}, not karpenter."
        fix = f"Write autoscaler: karpenter for cluster {cluster.name} in the Site."
        path: Path = ("spec", "cluster") if cloud.cluster else ("spec",)
        yield cloud.origin.problem("B157", path, message, fix)
    yield from _features(cloud, cluster)


def _features(cloud: CloudCapacity, cluster: Cluster) -> Iterator[Problem]:
    asked: list[tuple[str, Path]] = []
    if "reserved" in cloud.capacity_types:
        asked.append(("reserved", ("reservations",) if cloud.reservations else ("capacityTypes",)))
    if cloud.disruption.consolidation_policy == "Balanced":
        asked.append(("Balanced", ("disruption", "consolidationPolicy")))
    for i, budget in enumerate(cloud.disruption.budgets or ()):
        if "Unhealthy" in (budget.reasons or ()):
            asked.append(("Unhealthy", ("disruption", "budgets", i, "reasons")))
    for need, path in asked:
        yield from check_cluster_feature(need, cluster, cloud.origin, ("spec", *path))


def _reserved(cloud: CloudCapacity) -> Iterator[Problem]:
    why = cloudmatching.contradiction(cloud)
    if why:
        message = f"no instance satisfies the requirements: {why}."
        fix = "Change requirements, labels or types."
        yield cloud.origin.problem("B162", ("spec", "requirements"), message, fix)
        return
    at: Path = ("spec", "capacityTypes")
    if "reserved" in cloud.capacity_types:
        if not cloud.capacity_terms:
            message = "capacityTypes has reserved, but reservations is empty: Karpenter uses no others."
            fix = "Add reservations, or remove reserved from capacityTypes."
            yield cloud.origin.problem("B162", at, message, fix)
    elif cloud.reservations:
        count = sum(machines.count for machines in cloud.reservations)
        instances = "instance stays idle and is" if count == 1 else "instances stay idle and are"
        message = f"capacityTypes has no reserved: {count} reserved {instances} paid for."
        fix = "Add reserved to capacityTypes, or remove the reservations."
        yield cloud.origin.problem("B158", at, message, fix)
    elif cloud.node_class.capacity_terms:
        message = "capacityTypes has no reserved: Karpenter uses nothing that these terms select."
        path = ("spec", "nodeClass", "capacityReservationSelectorTerms")
        yield cloud.origin.problem("B158", path, message, "Add reserved to capacityTypes, or remove them.")
    for i, machines in enumerate(cloud.reservations):
        if why := cloudmatching.exclusion(cloud, machines):
            message = f"Karpenter never uses the {reservation_text(machines)}: {why}."
            fix = "Change requirements or instanceTypes, or remove the reservation."
            yield cloud.origin.problem("B162", ("spec", "reservations", i), message, fix)


def _is_static(cloud: CloudCapacity, declared: Declared) -> bool:
    """Tell whether only pools of whole nodes are made of it, for which Karpenter counts nodes exactly."""
    users = [
        reservation
        for reservation in declared.reservations
        for name in class_names(reservation)
        if name in declared.classes and cloud.name in declared.classes[name].cloud_capacity
    ]
    return bool(users) and all(user.holder.unit is Unit.NODE for user in users)


def _limits(cloud: CloudCapacity, *, is_static: bool) -> Iterator[Problem]:
    limits = cloud.limits
    for resource, amount in limits.items():
        if buys_nothing(resource, amount):
            message = f"a limit of {amount} {resource} keeps Karpenter from buying any node."
            path = ("spec", "limits", resource)
            yield cloud.origin.problem("B174", path, message, "Raise or remove it.")
    if "nodes" in limits and "cpu" not in limits and not is_static:
        message = "Karpenter does not check this limit within one round: nodes bought at once may exceed it."
        fix = "Add a limit of cpu, which it checks."
        yield cloud.origin.problem("B175", ("spec", "limits", "nodes"), message, fix)


def _shared(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check reservations that several capacities use."""
    known: dict[str, tuple[CloudCapacity, MachineReservation]] = {}
    for cloud in declared.clouds.values():
        for i, machines in enumerate(cloud.reservations):
            other, same = known.setdefault(machines.key, (cloud, machines))
            path: Path = ("spec", "reservations", i, *(["id"] if machines.id else []))
            if same is machines:
                continue
            if machines.id and same != machines:
                message = f"{machines.id} is also in {other.name}, with different values."
                yield cloud.origin.problem("B016", path, message, "Write the same in both.")
            elif machines.id and other is cloud:
                message = f"duplicate reservation {machines.id}."
                yield cloud.origin.problem("B016", path, message, "Remove one of the two.")
            elif cluster_named(other.cluster, site) is not cluster_named(cloud.cluster, site):
                message = (
                    f"{machines.id or 'the ' + reservation_text(machines)} is also used by {other.name} "
                    "in another cluster: each Karpenter learns a minute late what the other took, "
                    "and its launches may fail."
                )
                fix = "Give each cluster a reservation of its own."
                yield cloud.origin.problem("B180", path, message, fix)


def _class(resource_class: ResourceClass, declared: Declared, site: Site) -> Iterator[Problem]:
    """Check a class against its capacities in its cluster."""
    home, used = cluster_of(resource_class, site), []
    for i, name in enumerate(resource_class.cloud_capacity):
        cloud = declared.clouds.get(name)
        if cloud is None or cluster_named(cloud.cluster, site) is not home:
            continue
        at: Path = ("spec", "cloudCapacity", i)
        fit = cloudmatching.class_fit(
            resource_class, cloud, _node_pools(resource_class, cloud, declared, site)
        )
        if fit.mismatch:
            message = f"seats of this class can never run on nodes of {name}: {fit.mismatch}."
            fix = "Change the class or the capacity, or remove the capacity here."
            yield resource_class.origin.problem("B162", at, message, fix)
            continue
        idle = list(_idle(resource_class, cloud, at))
        yield from idle
        used += [] if idle else [(at, cloud)]
    if home is not None and has_feature("full", home):
        yield from _waiting(resource_class, used)


def _node_pools(
    resource_class: ResourceClass, cloud: CloudCapacity, declared: Declared, site: Site
) -> list[str]:
    """Return the NodePools with nodes of the capacity for this class, if the class selects by NodePool."""
    if not any(NODEPOOL in term.by_key for term in cloudmatching.class_terms(resource_class)):
        return []
    static = [
        naming.static_pool(site.name, naming.pool(reservation.name, resource_class.name))
        for reservation in declared.reservations
        if reservation.holder.unit is Unit.NODE
        and resource_class.name in class_names(reservation)
        and cloud in usable_clouds(reservation, resource_class, declared)
    ]
    return [naming.node_pool(site.name, cloud.name), *static]


def _idle(resource_class: ResourceClass, cloud: CloudCapacity, at: Path) -> Iterator[Problem]:
    """Check for reserved instances that seats of the class can never use."""
    for machines in cloud.reservations if "reserved" in cloud.capacity_types else ():
        why = cloudmatching.reservation_mismatch(resource_class, cloud, machines)
        if why and not cloudmatching.exclusion(cloud, machines):
            message = f"its seats never use the {reservation_text(machines)} of {cloud.name}: {why}."
            fix = "Change the class, or use a capacity without this reservation."
            yield resource_class.origin.problem("B158", at, message, fix)


def _waiting(resource_class: ResourceClass, clouds: list[tuple[Path, CloudCapacity]]) -> Iterator[Problem]:
    """Check that no capacity keeps seats waiting that the next one could take.

    Karpenter tries the highest weight first, and among equal ones the last by name.
    """
    tried = sorted(clouds, key=lambda pair: (pair[1].weight or 0, pair[1].name), reverse=True)
    for (at, cloud), (_, after) in pairwise(tried):
        if cloud.capacity_types == ("reserved",):
            message = (
                f"since Karpenter 1.15 seats wait while all reserved instances of {cloud.name} are in use, "
                f"and never go to {after.name}."
            )
            fix = f"Add on-demand to the capacityTypes of {cloud.name}: seats then use it when they are full."
            yield resource_class.origin.problem("B193", at, message, fix)

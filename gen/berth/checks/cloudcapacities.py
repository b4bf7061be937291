"""Check each CloudCapacity by itself, and against the cluster that it belongs to."""

from collections.abc import Iterator
from itertools import islice, pairwise

from berth.checks import cloudmatching
from berth.checks.autoscalers import NO_KARPENTER, check_cluster_feature, has_feature
from berth.checks.clouddemand import buys_nothing
from berth.checks.references import check_named_cluster
from berth.durations import whole_seconds
from berth.findings import Path, Problem
from berth.manifests.nodeaffinity import as_requirements
from berth.manifests.placed import class_names, cluster_named
from berth.schema.cloudgrammar import BLOCK
from berth.schema.cloudmachines import MachineReservation
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.nodepoolparts import MOST_RENDERED, Budget
from berth.schema.seatholders import Unit
from berth.schema.values import Cluster, Site

IDLE, NO_MACHINE, NOTHING = "B158", "B162", "B174"
NODES_LIMIT, TWICE, NODES_STAY = "B175", "B180", "B183"
_HITS = 1_500  # of a budget's schedule


def check_capacities(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check all CloudCapacities."""
    named = {name for resource_class in declared.classes.values() for name in resource_class.cloud_capacity}
    all_known = not declared.nameless and all(declared.may_exist("CloudCapacity", name) for name in named)
    for cloud in declared.clouds.values():
        yield from _cluster(cloud, site)
        yield from _reserved(cloud, cluster_named(cloud.cluster, site))
        yield from _disruption(cloud)
        yield from _limits(cloud, is_static=_is_static(cloud, declared))
        if cloud.name not in named and all_known:
            yield _unnamed(cloud)
    yield from _shared(declared, site)
    yield from _whole_nodes(declared)


def _unnamed(cloud: CloudCapacity) -> Problem:
    message = "no ResourceClass lists it in cloudCapacity, so nothing uses it."
    if cloud.reservations:
        message += " Its reserved instances are paid for anyway."
    return cloud.origin.problem(
        IDLE, ("spec",), message, f"Add cloudCapacity: [{cloud.name}] to a class, or remove it."
    )


def _cluster(cloud: CloudCapacity, site: Site) -> Iterator[Problem]:
    yield from check_named_cluster(cloud.origin, cloud.cluster, site)
    cluster = cluster_named(cloud.cluster, site)
    if cluster is None:
        return
    if cluster.autoscaler != "karpenter":
        message = f"cluster {cluster.name} has autoscaler {cluster.autoscaler}, not karpenter."
        fix = f"Write autoscaler: karpenter for cluster {cluster.name} in the Site."
        yield cloud.origin.problem(
            NO_KARPENTER, ("spec", *(("cluster",) if cloud.cluster else ())), message, fix
        )
    yield from _needs(cloud, cluster)


def _needs(cloud: CloudCapacity, cluster: Cluster) -> Iterator[Problem]:
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


def _reserved(cloud: CloudCapacity, cluster: Cluster | None) -> Iterator[Problem]:
    why = cloudmatching.contradiction(cloud)
    if why:
        message, fix = (
            f"no instance satisfies the requirements: {why}.",
            "Change requirements, labels or types.",
        )
        yield cloud.origin.problem(NO_MACHINE, ("spec", "requirements"), message, fix)
        return
    wished = "reserved" in cloud.capacity_types
    if wished and not cloud.capacity_terms:
        message = (
            "capacityTypes has reserved, but reservations is empty: Karpenter uses no other reservations."
        )
        fix = "Add reservations, or remove reserved from capacityTypes."
        yield cloud.origin.problem(NO_MACHINE, ("spec", "capacityTypes"), message, fix)
    if not wished and cloud.node_class.capacity_terms:
        message = "capacityTypes has no reserved: Karpenter uses nothing that these terms select."
        path = ("spec", "nodeClass", "capacityReservationSelectorTerms")
        yield cloud.origin.problem(IDLE, path, message, "Add reserved to capacityTypes, or remove them.")
    if cloud.reservations and not wished:
        yield _unwished(cloud, cluster)
    for i, machines in enumerate(cloud.reservations):
        hindrance = cloudmatching.exclusion(cloud, machines)
        if hindrance is not None:
            message = f"Karpenter never uses the {reservation_text(machines)}: {hindrance.why}."
            fix = "Change requirements or instanceTypes, or remove the reservation."
            yield cloud.origin.problem(NO_MACHINE, ("spec", "reservations", i), message, fix)


def _unwished(cloud: CloudCapacity, cluster: Cluster | None) -> Problem:
    """Tell what happens to reservations without reserved capacity: AWS matches on-demand instances to open
    ones.
    """
    if cluster is not None and not has_feature("reserved", cluster):
        message = (
            f"capacityTypes has no reserved: its {_machines(cloud)} are paid for, and the Karpenter of "
            f"cluster {cluster.name} uses them only by chance, if they are open reservations that an "
            "on-demand instance matches."
        )
        fix = (
            "Use Karpenter 1.6 or later with the feature gate ReservedCapacity, and add reserved to "
            "capacityTypes; or remove the reservations."
        )
        return cloud.origin.problem(IDLE, ("spec", "capacityTypes"), message, fix)
    message = (
        f"capacityTypes has no reserved: its {_machines(cloud)} stay idle and are paid for, "
        "because Karpenter launches nothing into a reservation by chance."
    )
    fix = "Add reserved to capacityTypes, or remove the reservations."
    return cloud.origin.problem(IDLE, ("spec", "capacityTypes"), message, fix)


def _machines(cloud: CloudCapacity) -> str:
    count = sum(machines.count for machines in cloud.reservations)
    return "reserved instance" if count == 1 else f"{count} reserved instances"


def reservation_text(machines: MachineReservation) -> str:
    """Describe a reservation as people know it."""
    kind = "Capacity Block" if machines.type == BLOCK else "reservation"
    if machines.id:
        return f"{kind} {machines.id}"
    tags = machines.tags or {}
    return f"{kind} with {', '.join(f'{key}={value}' for key, value in tags.items())}"


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
    for resource, amount in cloud.limits:
        if buys_nothing(resource, amount):
            message, fix = (
                f"a limit of {amount} {resource} keeps Karpenter from buying any node.",
                "Raise or remove it.",
            )
            yield cloud.origin.problem(NOTHING, ("spec", "limits", resource), message, fix)
    if "nodes" in dict(cloud.limits) and "cpu" not in dict(cloud.limits) and not is_static:
        message = "Karpenter does not check this limit within one round: nodes bought at once may exceed it."
        fix = "Add a limit of cpu, which it checks."
        yield cloud.origin.problem(NODES_LIMIT, ("spec", "limits", "nodes"), message, fix)


def _disruption(cloud: CloudCapacity) -> Iterator[Problem]:
    disruption = cloud.disruption
    if disruption.consolidate_after == "Never":
        message = "empty nodes are never removed: after a window they stay and are paid for."
        fix = (
            "Write a time after the last pod, such as 1m; disruption budgets keep the nodes of open windows."
        )
        yield cloud.origin.problem(NODES_STAY, ("spec", "disruption", "consolidateAfter"), message, fix)
    for i, budget in enumerate(disruption.budgets or ()):
        if _keeps_always(budget):
            message = "this budget is always active: empty nodes stay and are paid for."
            fix = "Remove it: other disruption budgets keep the nodes of open windows."
            yield cloud.origin.problem(NODES_STAY, ("spec", "disruption", "budgets", i), message, fix)


def _whole_nodes(declared: Declared) -> Iterator[Problem]:
    """Check the pools of whole nodes, which have the requirements of both the capacity and the class."""
    whole = {
        name
        for reservation in declared.reservations
        if reservation.holder.unit is Unit.NODE
        for name, _ in reservation.seats
    }
    for resource_class in declared.classes.values():
        cloud = (
            declared.clouds.get(resource_class.cloud_capacity[0]) if resource_class.cloud_capacity else None
        )
        more = 1 + len(as_requirements(resource_class))
        if (
            cloud is not None
            and resource_class.name in whole
            and len(cloud.requirements) + more > MOST_RENDERED
        ):
            message = (
                f"with the nodeSelector of class {resource_class.name}, its pool of whole nodes has "
                f"{len(cloud.requirements) + more} requirements."
            )
            fix = f"Write at most {MOST_RENDERED - more} here."
            yield cloud.origin.problem("B012", ("spec", "requirements"), message, fix)


def _keeps_always(budget: Budget) -> bool:
    """Tell whether a budget keeps empty nodes at every instant, as far as its first hits tell."""
    from croniter import croniter  # noqa: PLC0415 - few files have such schedules

    if int(budget.nodes.rstrip("%")) or "Empty" not in (budget.reasons or ("Empty",)):
        return False
    if budget.schedule is None or budget.duration is None:
        return True
    hits = islice(croniter(budget.schedule, 0).all_next(float), _HITS)
    duration = whole_seconds(budget.duration)
    return all(after - hit <= duration for hit, after in pairwise(hits))


def _shared(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check reservations that several capacities use."""
    known: dict[str, tuple[CloudCapacity, MachineReservation]] = {}
    for cloud in declared.clouds.values():
        for i, machines in enumerate(cloud.reservations):
            other = known.setdefault(machines.key, (cloud, machines))
            path: Path = ("reservations", i, "id") if machines.id else ("reservations", i)
            if other[1] is machines:
                continue
            if machines.id and other[1] != machines:
                message = f"{machines.id} is also in {other[0].name}, with different values."
                yield cloud.origin.problem("B016", ("spec", *path), message, "Write the same in both.")
            elif machines.id and other[0] is cloud:
                yield cloud.origin.problem(
                    "B016", ("spec", *path), f"duplicate reservation {machines.id}.", "Remove one of the two."
                )
            elif cluster_named(other[0].cluster, site) is not cluster_named(cloud.cluster, site):
                message = (
                    f"{machines.id or 'the ' + reservation_text(machines)} is also used by {other[0].name} "
                    "in another cluster: each Karpenter learns a minute late what the other took, "
                    "and its launches may fail."
                )
                fix = "Give each cluster a reservation of its own."
                yield cloud.origin.problem(TWICE, ("spec", *path), message, fix)

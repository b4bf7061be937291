"""Check that a seat requests something, and not more than a node has, also of volumes."""

from collections.abc import Iterator

from berth import quantity
from berth.findings import Problem
from berth.manifests.placed import cluster_of, placed
from berth.schema.declared import Declared
from berth.schema.grammar import QUANTITY
from berth.schema.values import Site

TOO_LARGE, UNCOUNTED = "B143", "B285"


def check_seats_fit_on_nodes(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check that a seat fits on the largest node of its cluster; otherwise it stays pending."""
    for resource_class in declared.classes.values():
        cluster = cluster_of(resource_class, site)
        for name, most in cluster.largest_node.items() if cluster else ():
            asked = resource_class.requests.get(name)
            if asked is not None and nanos(asked) > nanos(most):
                yield resource_class.origin.problem(
                    TOO_LARGE, ("spec", "requests", name), *too_large(asked, name, most)
                )


def check_seats_request_something(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check that a seat requests something: any number of others would fit on one node.

    Where all seats of a class may hold something else, their backend asks for it.
    """
    empty = [seat for seat in declared.classes.values() if not any(map(nanos, seat.requests.values()))]
    excused: dict[str, bool] = {}
    for reservation in declared.reservations if empty else ():
        for placing in placed(reservation, declared, site):
            for seat in placing.classes:
                excused[seat.name] = excused.get(seat.name, True) and not reservation.holder.needs_requests
    for seat in empty:
        if not excused.get(seat.name, False):
            message = "the requests are 0: a seat holds nothing, so any number of them fits on one node."
            yield seat.origin.problem(
                QUANTITY, ("spec", "requests"), message, "Write what one session requests."
            )


def too_large(asked: str, name: str, most: str) -> tuple[str, str]:
    message = f"{asked} of {name} does not fit on any node: the largest has {most} for pods."
    return message, "Request less, or correct largestNode of the cluster in the Site."


def nanos(amount: str) -> int:
    return quantity.parse(amount) or 0


def check_volume_capacities(declared: Declared, _: Site) -> Iterator[Problem]:
    """Check that somebody says how many volumes a node takes, where sessions attach some.

    Placeholders attach none, so an autoscaler may put more seats on a node than it takes sessions with
    volumes.
    """
    for resource_class in declared.classes.values():
        if not resource_class.volumes:
            continue
        named = [
            declared.clouds.get(name) or declared.generic.get(name) for name in resource_class.cloud_capacity
        ]
        lacking = [capacity.name for capacity in named if capacity is not None and not capacity.says_volumes]
        if lacking or not named:
            where = f"CloudCapacity {', '.join(lacking)}" if lacking else "no CloudCapacity"
            verb = "does not say" if lacking else "says"
            message = f"{where} {verb} how many volumes a node takes: those of sessions are not counted."
            fix = "Add volumes to its nodes, or volumesPerNode: kubectl get csinode -o yaml shows the number."
            if not lacking:
                fix = "Add cloudCapacity to the class, or remove volumes."
            yield resource_class.origin.problem(UNCOUNTED, ("spec", "volumes"), message, fix)

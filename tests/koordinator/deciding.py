"""One look of the scheduler at everything: what it would write, in order.

Pure: what comes of a look depends on what is seen, on the settings and on now.
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from tests.koordinator import claiming, lifecycle, nodes, placing
from tests.koordinator.amounts import Tree
from tests.koordinator.claiming import DEFAULTS, Settings
from tests.koordinator.decoding import poison
from tests.koordinator.nodes import Node
from tests.koordinator.objects import (
    ALLOCATED,
    DEFAULT_SCHEDULER,
    annotations_of,
    invalid,
    metadata,
    node_of,
    phase_of,
    pod_priority,
    priority_of,
    scheduler_of,
    spec_of,
    status_of,
    uid_of,
)
from tests.koordinator.objects import PENDING as PENDING_PHASE
from tests.koordinator.placing import Placed, Refused
from tests.koordinator.preempting import Place, victims
from tests.koordinator.reserved import info_of


class Seen(NamedTuple):
    nodes: Sequence[Tree]
    pods: Sequence[Tree]
    reservations: Sequence[Tree]


class SetStatus(NamedTuple):
    """Of a Reservation. `donors` are annotated first; `event` is told after."""

    reservation: Tree
    status: Tree
    donors: tuple[Tree, ...] = ()
    event: tuple[str, str] = ("", "")  # reason and message


class Bind(NamedTuple):
    """A pod; its annotation comes before its node. `allocated` is empty without a Reservation."""

    pod: Tree
    node: str
    allocated: str = ""


class Wait(NamedTuple):
    """A pod finds no room."""

    pod: Tree
    message: str


class Evict(NamedTuple):
    """A pod of a lower priority leaves for what was refused, whose uid is `by`."""

    pod: Tree
    by: str


class Delete(NamedTuple):
    reservation: Tree


Action = SetStatus | Bind | Wait | Evict | Delete


def seen(before: Seen | None, listed: Seen) -> Seen | None:
    """What a scheduler knows after a list. One Reservation that does not decode breaks the list of all: who
    had one before goes on with that, and who had none never begins.
    """
    if any(poison(one) for one in listed.reservations):
        return None if before is None else listed._replace(reservations=before.reservations)
    return listed


def decide(now: float, there: Seen, schedulers: Iterable[str], settings: Settings = DEFAULTS) -> list[Action]:
    """All that is due: first what the controller says of Reservations, then each that waits, in the order of
    the queue.
    """
    names = {metadata(one)["name"] for one in there.nodes}
    synced: list[Action] = []
    current: list[Tree] = []
    for one in there.reservations:
        if lifecycle.is_garbage(one, names, now, settings.gc_interval):
            synced.append(Delete(one))
            continue
        status = lifecycle.synced(one, names, there.pods, now, settings.expiry_lag)
        if status is not None:
            synced.append(SetStatus(one, status))
        current.append(one if status is None else {**one, "status": status})
    cache = nodes.cached(there.nodes, there.pods, current)
    return synced + _schedule(now, cache, queue(there.pods, current, set(schedulers)), settings)


def queue(
    pods: Sequence[Tree], reservations: Sequence[Tree], schedulers: set[str]
) -> list[tuple[Tree, bool]]:
    """The highest priority first, then the oldest; with each whether it is a Reservation."""
    waiting = [
        (priority_of(one), one, True)
        for one in reservations
        if _is_queued(one) and scheduler_of(one) in schedulers
    ]
    waiting += [
        (pod_priority(one), one, False) for one in pods if _waits(one) and _scheduler(one) in schedulers
    ]
    waiting.sort(key=lambda one: (-one[0], metadata(one[1])["creationTimestamp"], metadata(one[1])["name"]))
    return [(tree, is_reservation) for _, tree, is_reservation in waiting]


def _is_queued(reservation: Tree) -> bool:
    if invalid(reservation) or "deletionTimestamp" in metadata(reservation):
        return False
    return phase_of(reservation) == PENDING_PHASE and not node_of(reservation)


def _waits(pod: Tree) -> bool:
    if "deletionTimestamp" in metadata(pod) or spec_of(pod).get("schedulingGates"):
        return False
    ended = status_of(pod).get("phase") in ("Succeeded", "Failed")
    return not ended and not spec_of(pod).get("nodeName")


def _scheduler(pod: Tree) -> str:
    return spec_of(pod).get("schedulerName") or DEFAULT_SCHEDULER


def _schedule(
    now: float, cache: dict[str, Node], queue: list[tuple[Tree, bool]], settings: Settings
) -> list[Action]:
    actions: list[Action] = []
    for tree, is_reservation in queue:
        if is_reservation:
            actions += _schedule_reservation(now, cache, tree, settings)
        else:
            actions += _schedule_pod(cache, tree)
    return actions


def _schedule_reservation(now: float, cache: dict[str, Node], tree: Tree, settings: Settings) -> list[Action]:
    found = claiming.place_reservation(cache, tree, settings)
    evicted: list[Action] = []
    if isinstance(found, Refused) and settings.preemption:
        place = partial(claiming.place_reservation, reservation=tree, settings=settings)
        evicted = _evict(cache, tree, priority_of(tree), place)
    if isinstance(found, Placed):
        try:
            status = lifecycle.bound(tree, found.node, now)
        except ValueError as error:
            found = Refused(str(error))
    if isinstance(found, Refused):
        if evicted:
            _schedule_reservation(now, cache, tree, settings)  # its room is kept for it
        waits = lifecycle.unschedulable(tree, found.message, now)
        event = ("FailedScheduling", found.message)
        return [*([] if waits is None else [SetStatus(tree, waits, event=event)]), *evicted]
    after = {**tree, "status": status}
    info = info_of(after)
    cache[found.node].open(info)
    for donor in found.donors:
        info.assign(donor)
        cache[found.node].pods[metadata(donor)["uid"]] = _allocated(donor, tree)
    said = f"Successfully assigned {metadata(tree)['name']} to {found.node}"
    return [SetStatus(tree, status, found.donors, ("Scheduled", said))]


def _allocated(pod: Tree, reservation: Tree) -> Tree:
    annotations = {**annotations_of(pod), ALLOCATED: allocation(reservation)}
    return {**pod, "metadata": {**metadata(pod), "annotations": annotations}}


def allocation(reservation: Tree) -> str:
    """The annotation of its owners."""
    meta = metadata(reservation)
    return json.dumps({"name": meta["name"], "uid": meta["uid"]}, separators=(",", ":"))


def _schedule_pod(cache: dict[str, Node], pod: Tree) -> list[Action]:
    found = placing.place(cache, pod)
    if isinstance(found, Refused):
        evicted = _evict(cache, pod, pod_priority(pod), partial(placing.place, pod=pod))
        if evicted:
            _schedule_pod(cache, pod)  # its room is kept for it
        return [Wait(pod, found.message), *evicted]
    cache[found.node].hold({**pod, "spec": {**spec_of(pod), "nodeName": found.node}})
    if found.info is None:
        return [Bind(pod, found.node)]
    found.info.assign(pod)
    return [Bind(pod, found.node, allocation(found.info.tree))]


def _evict(cache: dict[str, Node], tree: Tree, priority: int, place: Place) -> list[Action]:
    """In the cache they have left already."""
    gone = victims(cache, priority, place)
    if gone:
        node = cache[spec_of(gone[0])["nodeName"]]
        cache[node.name] = node.without({uid_of(one) for one in gone})
    return [Evict(one, uid_of(tree)) for one in gone]

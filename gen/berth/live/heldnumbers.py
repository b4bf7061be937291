"""Read numbers of somebody else that reservations hold, and check them.

At rest a number belongs to its owner, whatever it is.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from berth.core.pooldecision import ScalePool
from berth.core.poolobjects import HeldValue, read_pool
from berth.core.state import StateObject, TargetObject
from berth.core.timetable import Timetable, note_name
from berth.findings import LiveFinding
from berth.live.clusterfacts import LiveNumber
from berth.live.kubeobject import ClusterError, Get, KubeObject, list_or_error
from berth.live.poolstate import PoolState
from berth.live.seats import (
    check_requested,
    check_without_pods,
    is_closing,
    nothing_open,
    set_number,
    too_many,
)
from berth.plugins.numbers.fieldpatches import field_patch
from berth.plugins.numbers.foreignnumbers import ForeignNumber, field_value, path_text
from berth.plugins.numbers.numberdecision import release

NOT_FOUND = 404


def read_numbers(
    ask: Get, timetables: Iterable[Timetable], maps: Sequence[StateObject | None]
) -> Iterator[LiveNumber]:
    """Yield the numbers that timetables name, and those that are held and that no timetable names.

    `maps` are the ConfigMaps of the site. A list that is refused becomes part of the number.
    """
    notes = {note.ref.name: note for note in maps if isinstance(note, HeldValue)}
    pools = {
        (timetable.reservation, pool.key): pool
        for timetable in timetables
        for pool in timetable.pools
        if pool.holder.foreign
    }
    named = {key for _, key in pools}
    for target in (each for each in maps if isinstance(each, TargetObject)):
        pool = target.in_timetable
        if pool.key not in named and note_name(pool) in notes:
            pools[target.ref.reservation, pool.key] = pool
    names: dict[str, set[str]] = {}
    for pool in pools.values():
        names.setdefault(number_path(pool.holder.foreign), set()).add(pool.scaled)
    answers = {  # one object alone, or all where several are needed
        path: list_or_error(ask, path, "", f"metadata.name={some.pop()}" if len(some) == 1 else "")
        for path, some in names.items()
    }
    for (reservation, _), pool in pools.items():
        answer = answers[number_path(pool.holder.foreign)]
        yield _live_number(LiveNumber(reservation, pool), answer, notes.get(note_name(pool)))


def number_path(number: ForeignNumber | None) -> str:
    """Return the path of all objects of its kind in its namespace."""
    assert number is not None
    return number.object_kind.path(number.namespace or "")


def _live_number(
    known: LiveNumber, answer: list[KubeObject] | ClusterError, note: HeldValue | None
) -> LiveNumber:
    number = known.pool.holder.foreign
    assert number is not None
    if isinstance(answer, ClusterError):
        if answer.status != NOT_FOUND:
            return known._replace(unread=str(answer))
        return known._replace(problem=no_kind(number))
    tree = next((item for item in answer if item["metadata"]["name"] == number.name), None)
    if problem := number_problem(number, tree):
        return known._replace(problem=problem)
    assert tree is not None
    return known._replace(object=read_pool(number, tree)._replace(held=note))


def no_kind(number: ForeignNumber) -> tuple[str, str]:
    """Return the problem of a kind that the cluster does not have at the path of the number."""
    kind = number.object_kind
    message = f"the cluster does not have {kind.plural} of {kind.version}"
    message += " without a namespace" if kind.of_cluster else ""
    return message, "Install them, or correct apiVersion, plural and namespaces in the Site."


def number_problem(number: ForeignNumber, tree: KubeObject | None) -> tuple[str, str] | None:
    """Return why the number of an object cannot be held. `tree` is None if the object does not exist."""
    if tree is None:
        return f"{number.object_text} does not exist", "Create it, or correct target."
    try:
        field_patch(tree, number.path, 0)
        value = field_value(tree, number.path)
        read_pool(number, tree)
    except KeyError:
        message = f"{number.object_text} has nothing at {path_text(number.path)}"
        return message, "Correct path in target."
    except (TypeError, ValueError):
        message = f"{number.text} is {json.dumps(value, ensure_ascii=False)}, not a number"
        return message, "Correct path in target, or ready."
    return None


def kind_problem(number: ForeignNumber, resources: Iterable[KubeObject]) -> tuple[str, str] | None:
    """Return how the discovery of the API (`resources`) has a kind otherwise than the Site says."""
    kind = number.object_kind
    by_name = {str(resource["name"]): resource for resource in resources}
    served = next(
        (each for name, each in by_name.items() if each["kind"] == kind.name and "/" not in name), None
    )
    if served is None:
        return no_kind(number)
    if served["name"] != kind.plural:
        return f"the plural of {kind.name} is {served['name']}", f"Write plural: {served['name']}."
    if served["namespaced"] == kind.of_cluster:
        has, fix = ("has no", "Remove") if kind.of_cluster is False else ("has a", "Add")
        return f"{kind.name} {has} namespace", f"{fix} namespaces in the Site, and namespace."
    if kind.has_scale and f"{kind.plural}/scale" not in by_name:
        return f"{kind.name} has no subresource scale", "Write scale: false in the Site."
    return None


def most_units(timetable: Timetable) -> list[tuple[ForeignNumber, int]]:
    """Return the numbers of somebody else that a timetable names, each with the most that it will be."""
    return [
        (number, max((item.count(pool.resource_class) for item in timetable.occurrences), default=0))
        for pool in timetable.pools
        if (number := pool.holder.foreign)
    ]


def check_held_number(case: PoolState, number: ForeignNumber) -> Iterator[LiveFinding]:
    live = case.number
    if live is None:
        return  # the cluster does not know its timetable, which is a finding
    if live.unread:
        message = f"{number.text} cannot be read: {live.unread}."
        fix = f"Ask for permission to list {number.object_kind.plural} there; until then nobody knows."
        yield case.finding("S004", message, fix)
    elif live.problem:
        code, begin = ("S030", "it is open, and ") if case.is_asked else ("S022", "")
        message, fix = live.problem
        yield case.finding(code, f"{begin}{message}.", fix)
    elif case.is_asked:
        yield from check_requested(case)
        yield from check_without_pods(case, number.object_kind)
    elif live.is_held and not _is_shared(case):
        yield _still_held(case, number)


def _still_held(case: PoolState, number: ForeignNumber) -> LiveFinding:
    message = f"{number.text} is still held at {case.seats(case.requested)}"
    message = f"{message}: {nothing_open(case)}."
    value = next((action.value for action in _release(case)), None)
    return too_many(case, message, f"By hand: {set_number(case, value)}", is_soon=is_closing(case))


def wanted_number(case: PoolState) -> float | None:
    """Return what a number should be: at rest what it is, or what it is about to go back to."""
    if case.is_asked:
        return case.wanted
    back = next((action.to for action in _release(case)), None)
    return back if back is not None else case.object.replicas if case.object else None


def _release(case: PoolState) -> Iterator[ScalePool]:
    if case.number and not _is_shared(case):
        yield from release(case.number.object, "", case.snapshot.now)


def _is_shared(case: PoolState) -> bool:
    """Return whether other reservations ask for the same number."""
    return case.demand is not None and case.demand.target.is_shared

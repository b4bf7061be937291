"""Checks of a number of somebody else: can it be held, is it held, and did it go back? Pure.

At rest it belongs to its owner, whatever it is.
"""

from collections.abc import Iterator

from berth.core.pooldecision import ScalePool
from berth.findings import LiveFinding
from berth.live.poolstate import HeldStatus, PoolState
from berth.live.seats import check_requested, check_without_pods, is_closing, nothing_open, set_number
from berth.plugins.numbers.foreignnumbers import ForeignNumber, field_value
from berth.plugins.numbers.numberdecision import release


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
        yield case.finding(code, f"{begin}{live.problem.message}.", live.problem.fix)
    elif case.is_asked:
        yield from check_requested(case)
        yield from check_without_pods(case, number.object_kind)
    elif live.is_held and not _is_shared(case):
        yield _still_held(case, number)


def _still_held(case: PoolState, number: ForeignNumber) -> LiveFinding:
    message = f"{number.text} is still held at {case.seats(case.requested)}"
    message = f"{message}: {nothing_open(case)}."
    if is_closing(case):
        return case.finding("S034", message, "The Job's pod or the sweep gives it back within 6 minutes.")
    value = next((action.value for action in _release(case)), None)
    return case.finding("S033", message, f"By hand: {set_number(case, value)}")


def wanted_number(case: PoolState) -> float | None:
    """Return what a number should be: at rest what it is, or what it is about to go back to."""
    if case.is_asked:
        return case.wanted
    back = next((action.to for action in _release(case)), None)
    return back if back is not None else case.deployment.replicas if case.deployment else None


def _release(case: PoolState) -> Iterator[ScalePool]:
    if case.number and not _is_shared(case):
        yield from release(case.number.object, "", case.snapshot.now)


def _is_shared(case: PoolState) -> bool:
    """Return whether other reservations ask for the same number."""
    return case.demand is not None and case.demand.target.is_shared


def held_status(case: PoolState) -> HeldStatus | None:
    """Return a number of somebody else that could be read; None for other pools."""
    found = case.number.object if case.number else None
    number = found and found.number.foreign
    if found is None or number is None:
        return None
    value = field_value(found.tree, number.path)
    return HeldStatus(number, value, found.held is not None, found.held.before if found.held else None)

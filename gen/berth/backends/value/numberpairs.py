"""Check that the least number of an object is never above its largest, where reservations hold both."""

from collections.abc import Iterable, Iterator
from heapq import merge

from berth.backends.value.valueholder import ValueHolder
from berth.backends.value.valueoptions import ValueTarget
from berth.checks.numberlevels import NumberHolding, NumberLevel, number_levels
from berth.checks.project import Project
from berth.dates.moments import local_text
from berth.dates.zone import load
from berth.findings import Path, Problem
from berth.manifests.placed import used_behaviors
from berth.notation.objectpath import object_path_text
from berth.schema.reservation import Reservation

_PATH: Path = ("spec", "backend", "target", "path")


def number_holdings(project: Project) -> Iterator[tuple[str, ValueTarget, NumberHolding]]:
    """Yield every number that is held, with its cluster and who holds it, by the names of reservations."""
    for place, occurrences, *_ in project.parts:
        reservation, holder = place.reservation, place.reservation.holder
        number = holder.options.target if isinstance(holder, ValueHolder) else None
        if number is not None:
            yield place.cluster.name, number, NumberHolding(reservation, place.classes[0].name, occurrences)


def check_pairs(project: Project) -> Iterator[Problem]:
    """Report the first moment at which a least number is above the largest, at the later reservation."""
    by_object: dict[tuple[object, ...], dict[ValueTarget, list[NumberHolding]]] = {}
    for cluster, number, holding in number_holdings(project):
        if number.known is not None and number.path in number.known.bounds:
            key = (cluster, *number.identity[:-1])
            by_object.setdefault(key, {}).setdefault(number, []).append(holding)
    for targets in by_object.values():
        yield from _crossed(targets)


def _crossed(targets: dict[ValueTarget, list[NumberHolding]]) -> Iterator[Problem]:
    first = next(iter(targets))
    assert first.known is not None  # which has bounds
    least, largest = (
        [each for number, holding in targets.items() if number.path == path for each in holding]
        for path in first.known.bounds
    )
    if not least or not largest:
        return
    floors = number_levels([each for each in least if not _counts_sessions(each.reservation)])
    for since, floor, cap in _together(floors, number_levels(largest)):
        if floor.amount is not None and cap.amount is not None and floor.amount > cap.amount:
            low, high = (object_path_text(path) for path in first.known.bounds)
            later = max(floor.reservation, cap.reservation, key=lambda each: each.name)
            zone = load(later.recurrence.zone)
            when = f"on {local_text(since, zone)}" if since and zone else "outside of windows"
            message = (
                f"{low} of {first.object_text} is {floor.amount} by {floor.reservation.name}, and {high} is "
                f"{cap.amount} by {cap.reservation.name}, {when}."
            )
            fix = f"Write counts, and otherwise, that make {high} at least {low}."
            yield later.problem("B301", _PATH, message, fix)
            return


def _counts_sessions(reservation: Reservation) -> bool:
    """Return whether sessions may lower what a window asks for."""
    return any(behavior != "none" for behavior in used_behaviors(reservation))


def _together(
    floors: Iterable[NumberLevel], caps: Iterable[NumberLevel]
) -> Iterator[tuple[int, NumberLevel, NumberLevel]]:
    """Yield both levels after each moment at which one of them changes."""
    floor = cap = None
    changes = list(
        merge(
            ((each, True) for each in floors),
            ((each, False) for each in caps),
            key=lambda change: change[0].since,
        )
    )
    for i, (level, is_floor) in enumerate(changes):
        floor, cap = (level, cap) if is_floor else (floor, level)
        is_last = i + 1 == len(changes) or changes[i + 1][0].since > level.since
        if floor and cap and is_last:
            yield level.since, floor, cap

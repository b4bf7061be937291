"""Check that the least number of an object is never above its largest, where reservations hold both."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import NamedTuple

from berth.backends.value.valueholder import ValueHolder
from berth.backends.value.valueoptions import ValueTarget
from berth.dates.expansion import Occurrence
from berth.dates.moments import local_text
from berth.dates.recurrence import expand
from berth.dates.zone import load
from berth.findings import Path, Problem
from berth.manifests.placed import behaviors_by_class, placed
from berth.notation.objectpath import object_path_text
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import step_counts
from berth.schema.values import Site

CROSSED = "B307"
_PATH: Path = ("spec", "backend", "target", "path")


class _Level(NamedTuple):
    """What a number is from a moment on, and the reservation that says so; None: that is not known."""

    since: int
    amount: int | None
    reservation: Reservation


class _Span(NamedTuple):
    since: int
    until: int
    seats: int
    reservation: Reservation


def check_pairs(declared: Declared, site: Site) -> Iterator[Problem]:
    """Report the first moment at which a least number is above the largest, at the later reservation."""
    by_object: dict[tuple[object, ...], dict[ValueTarget, list[Reservation]]] = {}
    for reservation in sorted(declared.reservations, key=lambda each: each.name):
        holder = reservation.holder
        target = holder.options.target if isinstance(holder, ValueHolder) else None
        if target is None or target.known is None or target.path not in target.known.bounds:
            continue
        for place in placed(reservation, declared, site):
            key = (place.cluster.name, *target.identity[:-1])
            by_object.setdefault(key, {}).setdefault(target, []).append(reservation)
    for targets in by_object.values():
        yield from _crossed(targets, declared)


def _crossed(targets: dict[ValueTarget, list[Reservation]], declared: Declared) -> Iterator[Problem]:
    first = next(iter(targets))
    assert first.known is not None  # which has bounds
    least, largest = (
        [each for target, holding in targets.items() if target.path == path for each in holding]
        for path in first.known.bounds
    )
    if not least or not largest:
        return
    floors = _levels([each for each in least if not _counts_sessions(each)], declared)
    for since, floor, cap in _together(floors, _levels(largest, declared)):
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
            yield later.problem(CROSSED, _PATH, message, fix)
            return


def _counts_sessions(reservation: Reservation) -> bool:
    """Return whether sessions may lower what a window asks for."""
    behaviors = behaviors_by_class(reservation).values()
    return any(behavior != "none" for of_class in behaviors for behavior in of_class)


def _levels(holding: Sequence[Reservation], declared: Declared) -> list[_Level]:
    """Return what a number is over time, from 0 on."""
    in_force = [reservation for reservation in holding if not reservation.suspend]
    if not in_force:
        return []
    first = in_force[0]
    spans = [span for each in in_force for span in _spans(each, expand(each, declared.calendars).windows)]
    levels = [_Level(0, first.holder.otherwise_count, first)]
    active: list[_Span] = []
    starting = sorted(spans, key=lambda span: span.since, reverse=True)
    for moment in sorted({moment for span in spans for moment in span[:2]}):
        active = [span for span in active if span.until > moment]
        while starting and starting[-1].since == moment:
            active.append(starting.pop())
        largest = max(active, key=lambda span: (span.seats, span.reservation.name), default=None)
        if largest is None:
            levels.append(levels[0]._replace(since=moment))
        else:
            amount = sum(span.seats for span in active) if first.overlap == "sum" else largest.seats
            levels.append(_Level(moment, amount, largest.reservation))
    return levels


def _spans(reservation: Reservation, occurrences: Iterable[Occurrence]) -> Iterator[_Span]:
    """Yield from when until when windows ask for how many, by the profile."""
    for occurrence in occurrences:
        count = sum(number for _, number in occurrence.seats)
        steps = [(occurrence.open, count)]
        if reservation.profile and not occurrence.rehearses:
            in_profile = step_counts(count, reservation.profile)
            steps = [(max(occurrence.start + 60 * at, occurrence.open), number) for at, number in in_profile]
        ends = [*(since for since, _ in steps[1:]), occurrence.end]
        for (since, number), until in zip(steps, ends, strict=True):
            if since < min(until, occurrence.end):
                yield _Span(since, min(until, occurrence.end), number, reservation)


def _together(floors: Iterable[_Level], caps: Iterable[_Level]) -> Iterator[tuple[int, _Level, _Level]]:
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

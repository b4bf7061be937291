"""Check the windows of a reservation against the reserved instances that they need: when these begin and
end.

All ranges are half-open and in seconds. Instances of a Capacity Block are gone before it ends: Karpenter
drains them 40 minutes before.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.checks import clouddemand
from berth.checks.ceilings import NO_END
from berth.checks.cloudcapacities import reservation_text
from berth.checks.cloudclasses import clouds_of, names_for
from berth.checks.cloudmatching import class_fit
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import Occurrence
from berth.dates.moments import local_text, named
from berth.findings import Path, Problem
from berth.manifests.placed import class_names
from berth.schema.cloudgrammar import BLOCK
from berth.schema.cloudmachines import MachineReservation
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Persistence, Unit
from berth.schema.values import ResourceClass

NOT_THERE, ENDS_WITHIN = "B167", "B169"
_FOR_EVER = NO_END * 60


class SeatWindow(NamedTuple):
    """A window of a pool, or several that touch, with the id of the first. Persistent seats have no id; as
    their start is not known, `open` is 0.
    """

    id: str
    open: int
    end: int

    @property
    def is_persistent(self) -> bool:
        return not self.id


def check_availability(
    reservation: Reservation, declared: Declared, occurrences: Sequence[Occurrence]
) -> Iterator[Problem]:
    """Check a reservation against all capacities of its classes."""
    if reservation.suspend or reservation.holder.unit.is_number:
        return
    persistence = reservation.holder.persistence
    for name in class_names(reservation):
        resource_class = declared.classes.get(name)
        if resource_class is None or not resource_class.cloud_capacity:
            continue
        names = names_for(reservation, resource_class)
        clouds = clouds_of(names, declared)
        spans = _persistent(persistence) if persistence else seat_windows(name, occurrences)
        if len(clouds) == len(names):
            yield from _missing(reservation, resource_class, clouds, spans)
        for cloud in clouds:
            if class_fit(resource_class, cloud).able:
                yield from _ends(reservation, resource_class, cloud, spans)
                if reservation.holder.unit is Unit.NODE:
                    yield from _expiry(reservation, resource_class, cloud, spans)


def seat_windows(resource_class: str, occurrences: Iterable[Occurrence]) -> list[SeatWindow]:
    """Return when the pool holds seats without a gap, in order of time."""
    windows: list[SeatWindow] = []
    own = [
        occurrence.of_classes((resource_class,))
        for occurrence in occurrences
        if resource_class in dict(occurrence.seats)
    ]
    for occurrence in sorted(own, key=lambda each: each.open):
        if windows and occurrence.open <= windows[-1].end:
            windows[-1] = windows[-1]._replace(end=max(windows[-1].end, occurrence.end))
        else:
            windows.append(SeatWindow(occurrence.id, occurrence.open, occurrence.end))
    return windows


def _persistent(persistence: Persistence) -> list[SeatWindow]:
    return [SeatWindow("", 0, _FOR_EVER if persistence.until is None else persistence.until)]


def _covers(machines: MachineReservation, span: SeatWindow) -> bool:
    last = machines.last_safe
    begun = machines.first is None or machines.first <= span.open or span.is_persistent
    return begun and (last is None or span.end <= last)


def _missing(
    reservation: Reservation,
    resource_class: ResourceClass,
    clouds: Sequence[CloudCapacity],
    spans: Sequence[SeatWindow],
) -> Iterator[Problem]:
    """Check for windows that may use reserved instances only, while none exists from open to end."""
    able = [fit for fit in (class_fit(resource_class, cloud) for cloud in clouds) if fit.able]
    if not able or any(fit.falls_back or not fit.sound for fit in able):
        return  # what is not sound is told of the capacity itself
    there = [machines for each in able for machines in each.reserved]
    # What runs into the end of a block is reported as that.
    blocks = [machines for machines in there if machines.type == BLOCK]
    bare = [span for span in spans if not any(_covers(machines, span) for machines in there)]
    bad = [span for span in bare if not any(_runs_into(block, span) for block in blocks)]
    if not bad:
        return
    known = "; ".join(f"{reservation_text(machines)} {_times(machines)}" for machines in there) or "none"
    when = f"from {instant_text(bad[0].open)} to {instant_text(bad[0].end)} ({_windows_text(bad)})"
    if bad[0].is_persistent:
        when = f"its seats are persistent {_until(bad[0])}, but"
    message = (
        f"class {resource_class.name} may use reserved instances only, and {when} no reservation is active "
        f"all the time: {known}."
    )
    fix = "Change the dates, add a reservation, or add on-demand to capacityTypes."
    yield _problem(NOT_THERE, reservation, message, fix)


def _ends(
    reservation: Reservation, resource_class: ResourceClass, cloud: CloudCapacity, spans: Sequence[SeatWindow]
) -> Iterator[Problem]:
    falls_back = class_fit(resource_class, cloud).falls_back
    for machines in class_fit(resource_class, cloud).reserved:
        last = machines.last_safe
        bad = [span for span in spans if _runs_into(machines, span)]
        if last is None or not bad:
            continue
        if machines.type == BLOCK:
            yield _into_block(reservation, resource_class, machines, bad)
        else:
            kept = falls_back and "on-demand" in cloud.capacity_types
            then = "are billed as on-demand" if kept else "are replaced"
            message = (
                f"{reservation_text(machines)} ends at {instant_text(last)}, while class "
                f"{resource_class.name} is open ({_windows_text(bad)}): from then on its instances {then}."
            )
            fix = f"Make the reservation last longer, or {_end_before(bad[0])}."
            yield _problem(ENDS_WITHIN, reservation, message, fix)


def _runs_into(machines: MachineReservation, span: SeatWindow) -> bool:
    """Tell whether instances of a reservation are taken away while the window is open."""
    last = machines.last_safe
    return (
        last is not None
        and span.open < last < span.end
        and (machines.first is None or machines.first < span.end)
    )


def _into_block(
    reservation: Reservation,
    resource_class: ResourceClass,
    machines: MachineReservation,
    bad: Sequence[SeatWindow],
) -> Problem:
    last = machines.last_safe
    assert machines.until is not None
    assert last is not None
    what = (
        f"a window of class {resource_class.name} runs to {instant_text(bad[0].end)} ({_windows_text(bad)})"
    )
    if bad[0].is_persistent:
        what = f"seats of class {resource_class.name} are persistent {_until(bad[0])}"
    message = (
        f"{what}, but {reservation_text(machines)} ends at {instant_text(machines.until)}, and "
        "Karpenter drains its instances 40 minutes before. "
        f"The last safe instant is {instant_text(last)}."
    )
    zone = reservation.recurrence.zone
    by = f"End the window by {local_text(last, named(zone))} ({zone})"
    if bad[0].is_persistent:
        by = f"Write expires: {instant_text(last)}"
    fix = f"{by}, or keep the class away from this block."
    return _problem(NOT_THERE, reservation, message, fix)


def _expiry(
    reservation: Reservation, resource_class: ResourceClass, cloud: CloudCapacity, spans: Sequence[SeatWindow]
) -> Iterator[Problem]:
    """Check the lifetime of whole nodes, whose pool belongs to the reservation."""
    most = clouddemand.node_lifetime(cloud)
    bad = [span for span in spans if most and span.end - span.open > most]
    if bad:
        hours = (bad[0].end - bad[0].open) // 3600
        message = (
            f"nodes of class {resource_class.name} are needed for {hours} hours without a break "
            f"({_windows_text(bad)}); "
            f"they {clouddemand.expiry_text(cloud)}."
        )
        yield _problem(clouddemand.EXPIRES, reservation, message, clouddemand.expiry_fix(cloud))


def _times(machines: MachineReservation) -> str:
    last = machines.last_safe
    begin = "always" if machines.first is None else f"from {instant_text(machines.first)}"
    if last is None:
        return begin
    return f"until {instant_text(last)}" if machines.first is None else f"{begin} until {instant_text(last)}"


def _until(span: SeatWindow) -> str:
    return "forever" if span.end == _FOR_EVER else f"until {instant_text(span.end)}"


def _end_before(span: SeatWindow) -> str:
    return "have the seats expire before" if span.is_persistent else "end the window before"


def _windows_text(spans: Sequence[SeatWindow]) -> str:
    if spans[0].is_persistent:
        return "it is persistent"
    more = f" and {len(spans) - 1} more" if len(spans) > 1 else ""
    return f"{spans[0].id}{more}"


def _problem(code: str, reservation: Reservation, message: str, fix: str) -> Problem:
    path: Path = ("spec", "backend", "standing") if reservation.holder.persistence else ("spec", "recurrence")
    return reservation.problem(code, path, message, fix)

"""Check what windows need from CloudCapacities: reserved instances, their dates, node lifetime, and budgets.

All ranges are half-open. Whether limits suffice is a matter of `berth plan`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.checks.ceilings import NO_END, PoolLoad, held_by_reservation, holders_text, levels, sum_changes
from berth.checks.cloudcapacities import reservation_text, usable_clouds
from berth.checks.cloudmatching import ClassFit, class_fit, reservation_mismatch
from berth.checks.collisions import KUSTOMIZE
from berth.checks.project import CheckedReservation
from berth.core.jsonvalues import instant_text
from berth.dates.exceptions import DATES_OF_MACHINES
from berth.dates.expansion import Occurrence
from berth.dates.moments import local_text, named
from berth.durations import seconds_or_never
from berth.findings import Path, Problem
from berth.machines.windowbudgets import (
    MAX_BUDGETS,
    TooManyBudgets,
    Window,
    WindowBudgets,
    budgets_for_windows,
    merge_windows,
)
from berth.manifests.nodeaffinity import own_budgets
from berth.manifests.placed import class_names
from berth.schema.cloudcapacity import CloudCapacity, MachineReservation
from berth.schema.cloudgrammar import BLOCK
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import ResourceClass

_FOR_EVER = NO_END * 60


class SeatWindow(NamedTuple):
    """A window of a pool, or several that touch, with the id of the first, in seconds. Persistent seats have
    no id; as their start is not known, `open` is 0.
    """

    id: str
    open: int
    end: int

    @property
    def is_persistent(self) -> bool:
        return not self.id


class _Seats(NamedTuple):
    """The seats of one class in a reservation, and when it holds them."""

    reservation: Reservation
    resource_class: str
    spans: Sequence[SeatWindow]

    def open_text(self, spans: Sequence[SeatWindow]) -> str:
        """Say when the class is open: `class a is open until 2026-02-02T12:00:00Z`."""
        first, is_open = spans[0], f"class {self.resource_class} is open"
        if first.is_persistent:
            return (
                f"{is_open} always"
                if first.end == _FOR_EVER
                else f"{is_open} until {instant_text(first.end)}"
            )
        more = f" and {len(spans) - 1} more" if len(spans) > 1 else ""
        return f"{is_open} from {instant_text(first.open)} to {instant_text(first.end)} ({first.id}{more})"

    def problem(self, code: str, message: str, fix: str) -> Problem:
        is_persistent = self.reservation.holder.persistence
        path: Path = ("spec", "backend", "standing") if is_persistent else ("spec", "recurrence")
        return self.reservation.problem(code, path, message, fix)


def check_windows(checked: CheckedReservation) -> Iterator[Problem]:
    """Check a reservation against all capacities of its classes."""
    reservation, declared = checked.reservation, checked.project.declared
    if reservation.suspend or reservation.holder.unit.is_number:
        return
    persistence = reservation.holder.persistence
    for name in class_names(reservation):
        resource_class = declared.classes.get(name)
        if resource_class is None or not resource_class.cloud_capacity:
            continue
        spans = seat_windows(name, checked.expansion.occurrences)
        if persistence:
            spans = [SeatWindow("", 0, _FOR_EVER if persistence.until is None else persistence.until)]
        seats = _Seats(reservation, name, spans)
        clouds = usable_clouds(reservation, resource_class, declared)
        able = [(cloud, fit) for cloud in clouds if (fit := checked.project.fits[name, cloud.name]).able]
        if len(clouds) == len(reservation.holder.usable_capacity(resource_class.cloud_capacity)):
            yield from _missing(seats, [fit for _, fit in able])
        for cloud, fit in able:
            yield from _ends(seats, cloud, fit)
            if reservation.holder.unit is Unit.NODE:
                yield from _whole_nodes_expire(seats, cloud)


def seat_windows(resource_class: str, occurrences: Iterable[Occurrence]) -> list[SeatWindow]:
    """Return when the pool holds seats without a gap, in order of time."""
    windows: list[SeatWindow] = []
    own = (one.of_classes((resource_class,)) for one in occurrences if resource_class in dict(one.seats))
    for occurrence in sorted(own, key=lambda each: each.open):
        if windows and occurrence.open <= windows[-1].end:
            windows[-1] = windows[-1]._replace(end=max(windows[-1].end, occurrence.end))
        else:
            windows.append(SeatWindow(occurrence.id, occurrence.open, occurrence.end))
    return windows


def _missing(seats: _Seats, fits: Sequence[ClassFit]) -> Iterator[Problem]:
    """Check for windows that may use reserved instances only, while none exists from open to end."""
    if not fits or any(fit.falls_back or not fit.sound for fit in fits):
        return  # what is not sound is reported of the capacity itself
    there = [machines for fit in fits for machines in fit.reserved]
    bad = [
        span
        for span in seats.spans
        if not any(_covers(one, span) or (one.type == BLOCK and _ends_in(one, span)) for one in there)
    ]
    if bad:
        known = "; ".join(f"{reservation_text(machines)} {_times(machines)}" for machines in there) or "none"
        message = (
            f"{seats.open_text(bad)}, and may use reserved instances only, of which none exist all the time: "
            f"{known}."
        )
        fix = "Change the dates, add a reservation, or add on-demand to capacityTypes."
        yield seats.problem("B167", message, fix)


def _ends(seats: _Seats, cloud: CloudCapacity, fit: ClassFit) -> Iterator[Problem]:
    """Check for reservations that end, or blocks that are drained, while a window is open."""
    for machines in fit.reserved:
        bad = [span for span in seats.spans if _ends_in(machines, span)]
        if bad and machines.type == BLOCK:
            yield _drained(seats, machines, bad)
        elif bad:
            is_kept = fit.falls_back and "on-demand" in cloud.capacity_types
            then = "are billed as on-demand" if is_kept else "are replaced"
            message = (
                f"{reservation_text(machines)} ends at {instant_text(machines.last_safe or 0)}, while "
                f"{seats.open_text(bad)}: from then on its instances {then}."
            )
            end = "have the seats expire before" if bad[0].is_persistent else "end the window before"
            yield seats.problem("B169", message, f"Make the reservation last longer, or {end}.")


def _drained(seats: _Seats, machines: MachineReservation, bad: Sequence[SeatWindow]) -> Problem:
    last, until, zone = machines.last_safe or 0, machines.until or 0, seats.reservation.recurrence.zone
    by = f"End the window by {local_text(last, named(zone))} ({zone})"
    if bad[0].is_persistent:
        by = f"Write expires: {instant_text(last)}"
    message = (
        f"{seats.open_text(bad)}, but {reservation_text(machines)} ends at {instant_text(until)}, and "
        f"Karpenter drains its instances 40 minutes before. The last safe instant is {instant_text(last)}."
    )
    return seats.problem("B167", message, f"{by}, or keep the class away from this block.")


def _covers(machines: MachineReservation, span: SeatWindow) -> bool:
    last = machines.last_safe
    begun = machines.first is None or machines.first <= span.open or span.is_persistent
    return begun and (last is None or span.end <= last)


def _ends_in(machines: MachineReservation, span: SeatWindow) -> bool:
    """Tell whether instances of a reservation are taken away while the window is open."""
    first, last = machines.first, machines.last_safe
    return last is not None and span.open < last < span.end and (first is None or first < span.end)


def _times(machines: MachineReservation) -> str:
    first, last = machines.first, machines.last_safe
    times = [f"from {instant_text(first)}"] if first is not None else [] if last is not None else ["always"]
    return " ".join([*times, *([f"until {instant_text(last)}"] if last is not None else [])])


def _whole_nodes_expire(seats: _Seats, cloud: CloudCapacity) -> Iterator[Problem]:
    """Check the lifetime of whole nodes, whose pool belongs to the reservation."""
    most = seconds_or_never(cloud.expiry)
    bad = [span for span in seats.spans if most and span.end - span.open > most]
    if bad:
        message = f"{seats.open_text(bad)} without a break, and its nodes {_expiry_text(cloud)}."
        yield seats.problem("B172", message, _expiry_fix(cloud))


def check_expiry(cloud: CloudCapacity, declared: Declared, pools: Sequence[PoolLoad]) -> Iterator[Problem]:
    """Check for nodes that expire while windows need them, however many reservations these belong to."""
    most = seconds_or_never(cloud.expiry)
    windows = open_windows(cloud, declared, pools)
    bad = [window for window in windows if most and (window[1] - window[0]) * 60 > most]
    if not bad or not most:
        return
    since, until = bad[0]
    first = since * 60 + most if since else 0
    held = held_by_reservation(pools, _classes_on(cloud, declared), first // 60)
    holders = holders_text([(name, str(seats)) for name, seats in held])
    end = "forever" if until == NO_END else f"until {instant_text(until * 60)}"
    message = f"seats are persistent {end} ({holders}), and nodes of {cloud.name} {_expiry_text(cloud)}."
    if since:
        more = f", and {len(bad) - 1} more times" if len(bad) > 1 else ""
        message = (
            f"windows keep nodes of {cloud.name} from {instant_text(since * 60)} to "
            f"{instant_text(until * 60)} without a break{more}; nodes {_expiry_text(cloud)}: the first at "
            f"{instant_text(first)}, while these seats are open: {holders}."
        )
    path: Path = ("spec", "expireAfter") if cloud.expire_after else ("spec",)
    yield cloud.origin.problem("B172", path, message, _expiry_fix(cloud))


def _expiry_text(cloud: CloudCapacity) -> str:
    period = cloud.termination_grace_period
    grace = f"; sessions have {period} to end" if period else ""
    default = "" if cloud.expire_after else ", Karpenter's default"
    return (
        f"are replaced {cloud.expiry} after their creation (expireAfter{default}), regardless of budgets "
        f"and do-not-disrupt{grace}"
    )


def _expiry_fix(cloud: CloudCapacity) -> str:
    return f"Write expireAfter: Never in CloudCapacity {cloud.name}, or a longer time."


def _classes_on(cloud: CloudCapacity, declared: Declared) -> dict[str, int]:
    """Return the classes whose seats may be on nodes of the capacity, each counting as one."""
    return {name: 1 for name, one in declared.classes.items() if cloud.name in one.cloud_capacity}


def open_windows(cloud: CloudCapacity, declared: Declared, pools: Sequence[PoolLoad]) -> list[Window]:
    """Return when any pool holds a seat that may be on a node of the capacity; touching ones merged."""
    amounts = levels(sum_changes(pools, _classes_on(cloud, declared)))
    return merge_windows((since, until) for since, until, amount in amounts if amount > 0)


def budgets_of(
    cloud: CloudCapacity, declared: Declared, pools: Sequence[PoolLoad]
) -> WindowBudgets | TooManyBudgets:
    """Return the disruption budgets of the capacity's windows. `pools` are those of its cluster."""
    return budgets_for_windows(open_windows(cloud, declared, pools), MAX_BUDGETS - len(own_budgets(cloud)))


def check_budgets(cloud: CloudCapacity, budgets: WindowBudgets | TooManyBudgets) -> Iterator[Problem]:
    """Check the budgets, and that the file's name is not one of kustomize's."""
    if cloud.name == KUSTOMIZE:
        message = f"its file would have the name {KUSTOMIZE}.yaml, which kustomize uses."
        yield cloud.origin.problem("B066", ("metadata", "name"), message, "Rename the capacity.")
    if isinstance(budgets, TooManyBudgets):
        message = (
            f"the windows of its classes need {budgets.needed} disruption budgets; a NodePool takes "
            f"{MAX_BUDGETS - len(own_budgets(cloud))} more."
        )
        fix = "Let windows open and close at the same times, or give some classes another CloudCapacity."
        yield cloud.origin.problem("B190", ("spec",), message, fix)


# Reservations whose dates are those of reserved machines


def check_machine_dates(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    """Check the CloudCapacity that says when a reservation happens. An unknown one is reported as such."""
    name = reservation.recurrence.capacity
    cloud = declared.clouds.get(name)
    if cloud is None:  # also without such dates
        if name in declared.generic:
            message = f"{name} is generic capacity, which has no reserved machines with dates."
            fix = "Write type: once with startDate, endDate and schedule."
            yield reservation.problem("B201", DATES_OF_MACHINES, message, fix)
        return
    if not cloud.reservations:
        message = f"CloudCapacity {name} has no reservations, so it has no dates."
        fix = "Add reservations with from and until there, or write type: once with startDate and endDate."
        yield reservation.problem("B201", DATES_OF_MACHINES, message, fix)
    without = [machines for machines in cloud.reservations if machines.usable is None]
    for machines in without:
        yield _no_dates(reservation, machines)
    for class_name in () if without else class_names(reservation):
        resource_class = declared.classes.get(class_name)
        if resource_class is not None:
            yield from _unusable(reservation, resource_class, cloud)


def _no_dates(reservation: Reservation, machines: MachineReservation) -> Problem:
    text, name = reservation_text(machines), reservation.recurrence.capacity
    missing = [key for key, value in (("from", machines.first), ("until", machines.until)) if value is None]
    if missing:
        message = f"{text} of CloudCapacity {name} has no {' and no '.join(missing)}."
        fix = (
            f"Add {' and '.join(missing)} there, put it into a CloudCapacity of its own, or write type: once "
            "with startDate and endDate."
        )
    else:
        message = f"{text} of CloudCapacity {name} is over before its machines may be used."
        fix = "Correct its from and until."
    return reservation.problem("B201", DATES_OF_MACHINES, message, fix)


def _unusable(
    reservation: Reservation, resource_class: ResourceClass, cloud: CloudCapacity
) -> Iterator[Problem]:
    """Check that for each window there are reserved machines that seats of a class can be on."""
    usable_names = reservation.holder.usable_capacity(resource_class.cloud_capacity)
    if cloud.name not in usable_names:
        message = f"seats of class {resource_class.name} cannot use CloudCapacity {cloud.name}: "
        if cloud.name in resource_class.cloud_capacity:
            message += f"nodes of this reservation come from {usable_names[0]}, the first of the class."
            fix = f"Name {usable_names[0]} here, or put {cloud.name} first in the class."
        else:
            message += "the class does not name it."
            fix = f"Add cloudCapacity: [{cloud.name}] to the class, or use another class."
        yield reservation.problem("B201", DATES_OF_MACHINES, message, fix)
        return
    fit = class_fit(resource_class, cloud)
    there = {machines.usable for machines in fit.reserved}
    missing = next((span for span in cloud.usable if span not in there), None)
    if missing is None or not (fit.able and fit.sound):  # what is not is reported of the class or capacity
        return
    why = "its capacityTypes has no reserved"
    if "reserved" in cloud.capacity_types:
        reasons = (
            reservation_mismatch(resource_class, cloud, machines)
            for machines in cloud.reservations
            if machines.usable == missing
        )
        why = next(filter(None, reasons), why)
    message = (
        f"seats of class {resource_class.name} can use none of the reserved machines of {cloud.name} from "
        f"{instant_text(missing[0])} to {instant_text(missing[1])}: {why}."
    )
    fix = "Change the class or the capacity, or name a CloudCapacity whose machines the class can use."
    yield reservation.problem("B201", DATES_OF_MACHINES, message, fix)

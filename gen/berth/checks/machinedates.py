"""Check reservations whose dates are those of reserved machines: do these have dates, and can classes use
them?
"""

from collections.abc import Iterator

from berth.checks.cloudcapacities import reservation_text
from berth.checks.cloudmatching import class_fit, reservation_mismatch
from berth.core.jsonvalues import instant_text
from berth.dates.exceptions import DATES_OF_MACHINES
from berth.findings import Problem
from berth.manifests.placed import class_names
from berth.schema.cloudcapacity import CloudCapacity, MachineReservation
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.values import ResourceClass


def check_machine_dates(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    """Check the CloudCapacity that says when a reservation happens. An unknown one is reported as such."""
    name = reservation.recurrence.capacity
    cloud = declared.clouds.get(name)
    if cloud is None:
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

"""The labels that machines of a type, bought in one way or another, come with."""

from functools import lru_cache

from gen.plan.labels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    RESERVATION_ID,
    RESERVATION_INTERRUPTIBLE,
    RESERVATION_LABELS,
    RESERVATION_TYPE,
    RESERVED,
    ZONE,
)
from gen.plan.requirement import DOES_NOT_EXIST, IN, Requirement, Requirements, of_labels, requirement
from gen.plan.values import InstanceType, Offering


@lru_cache(maxsize=4096)
def offering_requirements(offering: Offering) -> Requirements:
    asked = [requirement(CAPACITY_TYPE, IN, (offering.capacity_type,))]
    if offering.zone:
        asked.append(requirement(ZONE, IN, (offering.zone,)))
    if offering.capacity_type == RESERVED:
        for key, value in zip(RESERVATION_LABELS, _reservation(offering), strict=True):
            asked.append(requirement(key, IN, (value,)))
    else:
        asked += [requirement(key, DOES_NOT_EXIST) for key in RESERVATION_LABELS]
    return Requirements((*asked, *of_labels(offering.labels)))


@lru_cache(maxsize=4096)
def type_requirements(one: InstanceType) -> Requirements:
    """Of all its offerings together, also of those that are not available now."""
    bought = [offering for offering in one.offerings if offering.capacity_type == RESERVED]
    asked: list[Requirement] = [
        requirement(INSTANCE_TYPE, IN, (one.name,)),
        requirement(CAPACITY_TYPE, IN, (offering.capacity_type for offering in one.offerings)),
        requirement(ZONE, IN, (offering.zone for offering in one.offerings)),
    ]
    for number, key in enumerate(RESERVATION_LABELS):
        values = tuple(_reservation(offering)[number] for offering in bought)
        asked.append(requirement(key, IN, values) if values else requirement(key, DOES_NOT_EXIST))
    explicit = {own.key for own in one.requirements}
    return Requirements((*(a for a in asked if a.key not in explicit), *one.requirements))


def _reservation(offering: Offering) -> tuple[str, str, str]:
    return offering.reservation, offering.kind, "true" if offering.interruptible else "false"


assert RESERVATION_LABELS == (RESERVATION_ID, RESERVATION_TYPE, RESERVATION_INTERRUPTIBLE)

"""Check numbers of somebody else that are held: may they be, and do reservations agree about them?"""

from collections.abc import Iterator

from berth.backends.backendinterface import CheckedReservation
from berth.backends.value.valueholder import ValueHolder
from berth.backends.value.valueoptions import ValueTarget
from berth.dates.rehearsals import has_rehearsals
from berth.findings import Path, Problem
from berth.manifests.placed import behaviors_by_class, placed
from berth.schema.declared import Declared
from berth.schema.heldobjects import NOT_HELD, HeldSpec
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, Site

DISAGREE = "B301"
_BACKEND: Path = ("spec", "backend")
_TARGET: Path = (*_BACKEND, "target")
_BEHAVIOR: Path = ("spec", "provisioning", "scaleDownBehavior")


def held_spec(target: ValueTarget, cluster: Cluster) -> HeldSpec | None:
    """Return the entry of the Site that lets reservations hold the number; None if there is none."""
    for held in cluster.held:
        is_here = target.namespace is None if held.namespaces is None else target.namespace in held.namespaces
        if (held.api_version, held.kind) == (target.api_version, target.kind) and is_here:
            return held
    return None


def check_number(checked: CheckedReservation) -> Iterator[Problem]:
    """Check that the Site lets the reservation hold its number, and that it has one class for it."""
    reservation, declared, site, _ = checked
    target = _target(reservation)
    for place in placed(reservation, declared, site) if target else ():
        assert target is not None
        if len(place.classes) > 1:
            names = " and ".join(resource_class.name for resource_class in place.classes)
            message = f"classes {names} would hold one number."
            fix = "Write a reservation for each, with its own target."
            yield reservation.problem(NOT_HELD, _BACKEND, message, fix)
        if held_spec(target, place.cluster) is None:
            yield reservation.problem(NOT_HELD, _TARGET, *_refusal(target, place.cluster))
        elif target.namespace == place.cluster.namespace:
            message = f"{target.namespace} is the namespace of Berth in cluster {place.cluster.name}."
            fix = "Hold a number of an object in another namespace."
            yield reservation.problem(NOT_HELD, (*_TARGET, "namespace"), message, fix)


def _refusal(target: ValueTarget, cluster: Cluster) -> tuple[str, str]:
    where = f" in namespace {target.namespace}" if target.namespace else ""
    message = f"the Site lets no reservation hold a number of {target.kind} {target.api_version}{where}."
    namespaces = f", namespaces: [{target.namespace}]" if target.namespace else ""
    entry = f"{{apiVersion: {target.api_version}, kind: {target.kind}{namespaces}}}"
    return message, f"Add {entry} to held of cluster {cluster.name}, or name another target."


def _target(reservation: Reservation) -> ValueTarget | None:
    holder = reservation.holder
    return holder.options.target if isinstance(holder, ValueHolder) else None


def check_shared_numbers(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check reservations that hold one number: they must agree on what it is otherwise and how to add up."""
    for reservation in declared.reservations:
        for place in placed(reservation, declared, site) if _target(reservation) else ():
            others = [other for other in declared.reservations if other.name in place.peers]
            yield from _disagreements(reservation, others)


def _disagreements(reservation: Reservation, others: list[Reservation]) -> Iterator[Problem]:
    holder = reservation.holder
    assert isinstance(holder, ValueHolder)
    if not others:
        return
    names = ", ".join(other.name for other in others)
    what = f"{holder.options.target} is held by {names} as well"
    if holder.options.otherwise is None:
        message = f"{what}, so what it is otherwise must be said."
        yield reservation.problem(DISAGREE, _BACKEND, message, "Add otherwise, the same in all of them.")
    if any(behavior != "none" for each in behaviors_by_class(reservation).values() for behavior in each):
        message = f"{what}, and only behavior none is the same for all of them."
        yield reservation.problem(DISAGREE, _BEHAVIOR, message, "Write none, or leave it out.")
    if has_rehearsals(reservation):
        at_rehearsal: Path = ("spec", "provisioning", "rehearsal")
        fix = "Remove it: a rehearsal ends when its own seats are ready, which nobody can tell apart."
        yield reservation.problem(DISAGREE, at_rehearsal, f"{what}.", fix)
    for other in others:
        assert isinstance(other.holder, ValueHolder)
        own, its = holder.options, other.holder.options
        differing = [
            ("otherwise", own.otherwise, its.otherwise),
            ("unit", own.unit, its.unit),
            ("overlap", reservation.overlap, other.overlap),
        ]
        for key, mine, theirs in differing:
            if mine != theirs and reservation.name < other.name:
                at: Path = ("spec", "provisioning", key) if key == "overlap" else (*_BACKEND, key)
                message = f"{key} is {mine} here and {theirs} in {other.name}, which holds the same number."
                yield reservation.problem(DISAGREE, at, message, "Write the same in both.")

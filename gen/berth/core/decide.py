"""The sweep's decision: what to do about the state of a site, and why. Pure.

Decisions are level-triggered: once everything is done, there is nothing to do. `_reason` says which pools are
left to the pod that holds their Lease.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from berth.core import removal
from berth.core.actions import Action, RemoveObject, StartJob, SweepWarning, action_order
from berth.core.holders import holder_of_object
from berth.core.jsonvalues import TimetableError
from berth.core.leases import ended_rehearsals
from berth.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, LEASE
from berth.core.pooldecision import PoolFound, decide_pool
from berth.core.poolobjects import PoolObject
from berth.core.state import JobObject, ReservationState, SiteState, TimetableObject
from berth.core.target import EARLY_START, DesiredState, desired_state, open_now, opens_within
from berth.core.timetable import (
    Override,
    Timetable,
    TimetableOccurrence,
    TimetablePool,
    active_occurrences,
    end_rehearsals,
    parse_overrides,
    parse_timetable,
    unknown_classes,
)

if TYPE_CHECKING:
    from berth.plugins.slots.slots import Slot

CRONJOB_GRACE = 30  # seconds after its opening that an occurrence has for the run of its own CronJob
START_GRACE = 120  # seconds that a Job has to begin: a pod among a hundred others needs most of them
OWN_GRACE = 360  # seconds after which a Job of the sweep that takes no Lease is made again
IDLE_GRACE = 60  # seconds that a new Job has to see that nothing is open
# Seconds after the end that a pod has to close its pools and go. Whom one sweep finds within them, the next
# ends: five minutes later, with half a minute for itself of the six minutes that are promised.
CLOSE_GRACE = 30
EDIT_GRACE = 60  # seconds that a pod has to see an edit of the timetable


class SweepDecision(NamedTuple):
    """The actions and warnings of a run."""

    actions: tuple[Action, ...]  # in the order in which they are to be done
    warnings: tuple[SweepWarning, ...]


class PoolCase(NamedTuple):
    """A pool that the timetable names, or that only the cluster has."""

    pool: TimetablePool
    found: PoolFound

    @property
    def ready(self) -> int:
        slots = self.found.slots
        held = len(slots.free) + len(slots.handed) + len(slots.used) if slots else 0
        return held + (self.found.object.ready if self.found.object else 0)


class ReservationContext(NamedTuple):
    """A reservation with a valid timetable."""

    facts: SiteState
    state: ReservationState
    source: TimetableObject
    timetable: Timetable
    overrides: dict[str, Override]
    pools: tuple[PoolCase, ...]
    now: int

    @property
    def is_led(self) -> bool:
        """Whether a scaler writes any of its pools."""
        return self.facts.is_led([pool.lease for pool in self.timetable.pools], self.now)

    @property
    def is_manned(self) -> bool:
        """Whether a scaler works, or may come."""
        young = self.now - START_GRACE
        return self.is_led or any(_has_begun(job) and job.ref.created > young for job in self.state.jobs)

    @property
    def open(self) -> tuple[TimetableOccurrence, ...]:
        return open_now(active_occurrences(self.timetable), self.now)

    @property
    def opens_soon(self) -> bool:
        return opens_within(active_occurrences(self.timetable), self.now, EARLY_START) is not None

    @property
    def due(self) -> tuple[TimetableOccurrence, ...]:
        """The occurrences that have been open long enough to be served."""
        return tuple(item for item in self.open if self.now - item.open >= CRONJOB_GRACE)

    def names(self, pool: TimetablePool) -> bool:
        """Return whether the timetable names the pool."""
        return any(pool.key == known.key for known in self.timetable.pools)

    def desired(self, pool: TimetablePool) -> DesiredState:
        """Return what the pool should have; the sweep counts no sessions."""
        uses = (use for use in self.facts.uses if use.reservation in pool.peers and use.key == pool.key)
        return desired_state(
            self.timetable, pool, self.now, None, self.overrides, [use.target for use in uses]
        )

    def idle_since(self, resource_class: str = "") -> int:
        """Return from when on a pod has had time to close the pool of a class, or without one all pools."""
        ends = [
            item.end
            for item in self.timetable.occurrences
            if not resource_class or any(name == resource_class for name, _ in item.seats)
        ]
        ends += [override.until for name, override in self.overrides.items() if resource_class in ("", name)]
        last = max((end for end in ends if end <= self.now), default=0)
        return max(last + CLOSE_GRACE, self.source.changed + EDIT_GRACE)


def decide(facts: SiteState, now: int) -> SweepDecision:
    """Decide what to do about the state of the site.

    Without the list of timetables nothing is done; without another list, only what does not need it. Nothing
    is removed unless all lists are complete.
    """
    states = facts.reservations if facts.reads(CONFIG_MAP) else ()
    found = [_decide_reservation(facts, state, now) for state in states]
    actions = [action for one in found for action in one.actions]
    if facts.prunes:
        from berth.plugins.pruning.pruning import outdated_slots  # noqa: PLC0415 - see `SiteState.plugins`

        actions += [action for state in states for action in outdated_slots(facts, state, now)]
    actions += removal.unused_code(facts, now)
    if "numbers" in facts.plugins:
        from berth.plugins.numbers.numbersweep import unused_notes  # noqa: PLC0415 - see `SiteState.plugins`

        actions += unused_notes(facts, now)
    actions += [action for state in states for action in removal.old_records(state, now)]
    warnings = [warning for one in found for warning in one.warnings]
    return SweepDecision(tuple(sorted(actions, key=action_order)), tuple(warnings))


def _decide_reservation(facts: SiteState, state: ReservationState, now: int) -> SweepDecision:
    if not state.timetables:
        return SweepDecision(tuple(removal.leftovers(facts, state, now)), ())
    source = state.timetables[0]
    if facts.prunes:
        from berth.plugins.pruning.pruning import is_removable, removals  # noqa: PLC0415 - see `SiteState.plugins`

        if is_removable(facts, state, source, now):
            return SweepDecision(tuple(removals(facts, state, source, now)), ())
    marks = removal.orphan_marks(facts, state, source, now)
    try:
        timetable = timetable_of(facts, state, source)
    except TimetableError as error:
        message = f"The timetable cannot be read, so the sweep does not change the reservation: {error}"
        return SweepDecision(tuple(marks), tuple(_warn(state, "MalformedTimetable", message)))
    overrides, wrong = overrides_of(source, timetable)
    case = ReservationContext(
        facts, state, source, timetable, overrides, tuple(_pools(timetable, facts, state)), now
    )
    actions = (*marks, *_pool_actions(case), *_job_actions(case), *_outdated(case), *_unnamed_numbers(case))
    ignored = _warn(state, "MalformedOverride", f"An override is ignored: {wrong}") if wrong else ()
    return SweepDecision(actions, (*ignored, *_without_cronjob(case)))


def timetable_of(facts: SiteState, state: ReservationState, source: TimetableObject) -> Timetable:
    """Return the timetable of a reservation without rehearsals that are over. Raises TimetableError."""
    timetable = parse_timetable(source.text)
    for key, value, label in (
        ("site", timetable.site, facts.site),
        ("reservation", timetable.reservation, state.reservation),
    ):
        if value != label:
            raise TimetableError(f"{key}: {value!r} is not {label!r}, as the label says")
    for pool in timetable.pools:
        if (plugin := pool.holder.plugin) and plugin not in facts.plugins:
            raise TimetableError(
                f"pools.{pool.resource_class}: the sweep has no {plugin}; apply base.yaml again"
            )
    leases = (facts.leases.get(pool.lease) for pool in timetable.pools)
    return end_rehearsals(timetable, ended_rehearsals(lease for lease in leases if lease))


def overrides_of(source: TimetableObject, timetable: Timetable) -> tuple[dict[str, Override], str]:
    """Return the overrides, and what is wrong with some; empty if nothing is."""
    try:
        overrides = parse_overrides(source.override)
    except TimetableError as error:
        return {}, str(error)
    return overrides, unknown_classes(overrides, [pool.resource_class for pool in timetable.pools])


def _warn(state: ReservationState, reason: str, message: str, key: str = "") -> Iterator[SweepWarning]:
    for ref in state.subjects:
        yield SweepWarning(ref, reason, message, key or message)


def _pools(timetable: Timetable, facts: SiteState, state: ReservationState) -> Iterator[PoolCase]:
    """Yield the pools that the timetable names with what there is of them, then what it does not name."""
    objects = {(pool.ref.kind, pool.ref.name): pool for pool in state.pools if not pool.ref.is_terminating}
    slots: dict[str, list[Slot]] = {}
    for slot in state.slots:
        if not slot.is_persistent:
            slots.setdefault(slot.resource_class, []).append(slot.slot)
    for pool in timetable.pools:
        number = pool.holder.number
        if number and not number.foreign:
            found = objects.pop((number.object_kind.name, pool.scaled), None)
        else:
            found = _number_of(facts, state.reservation, pool)
        yield _case(facts, pool, found, slots.pop(pool.resource_class, ()) if pool.holder.slots else ())
    for unnamed in objects.values():
        holder = holder_of_object(unnamed.ref.kind, unnamed.ref.name)
        pool = TimetablePool(unnamed.resource_class, unnamed.ref.name, "none", holder=holder)
        yield _case(facts, pool, unnamed)
    if slots:
        from berth.plugins.slots.slotspec import SlotSpec  # noqa: PLC0415 - where a cluster has them
    for name, some in slots.items():
        yield _case(facts, TimetablePool(name, "", "none", holder=SlotSpec("", "", {})), None, some)


def _case(
    facts: SiteState, pool: TimetablePool, found: PoolObject | None, slots: Iterable[Slot] = ()
) -> PoolCase:
    if not pool.holder.slots:
        return PoolCase(pool, PoolFound(found))
    from berth.plugins.slots.slots import PlaceholderOwner, count_slots  # noqa: PLC0415 - where a cluster has them

    home = PlaceholderOwner(facts.namespace, pool.name)
    return PoolCase(pool, PoolFound(found, count_slots(slots, home)))


def _number_of(facts: SiteState, reservation: str, pool: TimetablePool) -> PoolObject | None:
    if "numbers" not in facts.plugins:
        return None
    from berth.plugins.numbers.numbersweep import number_of  # noqa: PLC0415 - see `SiteState.plugins`

    return number_of(facts, reservation, pool)


def _pool_actions(case: ReservationContext) -> Iterator[Action]:
    """Bring pools to their desired state, except those that a pod may still bring there."""
    for pool in case.pools if case.facts.reads(DEPLOYMENT, LEASE) else ():
        desired = case.desired(pool.pool)
        are_unknown = pool.pool.holder.slots and not case.facts.knows_slots and desired.target.replicas
        why = "" if are_unknown else _reason(case, desired)
        if why:
            is_led = case.facts.is_led([pool.pool.lease], case.now)
            for action in decide_pool(case.source.ref, pool.found, desired, why).actions:
                yield action._replace(lease="" if is_led else pool.pool.lease)


def _reason(case: ReservationContext, desired: DesiredState) -> str:
    """Return why the sweep brings a pool to its desired state; empty if it does not.

    It opens no pool whose Lease is valid, and closes one once its pod had time to do so. With nothing open,
    that pod is about to end: then the sweep sets an override.
    """
    wanted = desired.target
    is_led = case.facts.is_led([wanted.pool.lease], case.now)
    if not case.names(wanted.pool):
        is_late = case.now >= case.source.changed + EDIT_GRACE
        return "the timetable names no such pool" if is_late or _are_held(case) else ""
    if wanted.override is not None:
        return "" if is_led and case.open else "an override says so"
    if not (wanted.replicas or wanted.is_open):
        is_late = not case.opens_soon and case.now >= case.idle_since(wanted.pool.resource_class)
        return "none of its occurrences is open" if is_late or not case.is_manned else ""
    asking = [item.id for item in case.due if item.id in wanted.occurrences]
    return "" if not asking or is_led else f"{', '.join(asking)} is open and no pod serves it"


def _are_held(case: ReservationContext) -> bool:
    """Return whether all pools that the timetable names have all their seats, or none is open."""
    named = (pool for pool in case.pools if case.names(pool.pool))
    return all(pool.ready >= case.desired(pool.pool).target.replicas for pool in named)


def _job_actions(case: ReservationContext) -> Iterator[Action]:
    """Start a Job where none serves what is due, or end those that run with nothing open."""
    if case.due:
        if case.state.cronjob and (unserved := _unserved(case)):
            name = _own_job(case)
            replaced = next((job for job in case.state.jobs if job.ref.name == name), None)
            why = f"no pod serves {unserved}"
            yield StartJob(case.source.ref, case.facts.site, name, case.state.cronjob.template, replaced, why)
        return
    # An override keeps the pod running: it ends when all its pools are closed.
    is_held = case.is_led and any(case.desired(pool.pool).target.override for pool in case.pools)
    if case.open or case.opens_soon or case.facts.unread or is_held:
        return
    for job in case.state.jobs:
        is_idle = case.now >= max(case.idle_since(), job.ref.created + IDLE_GRACE)
        if is_idle and not job.is_finished and not job.ref.is_terminating:
            yield RemoveObject(job.ref, "it still runs with nothing open")


def _unserved(case: ReservationContext) -> str:
    """Return the occurrences that are due if no pod serves them, and none is about to; else nothing."""
    is_coming = any(
        case.now - job.ref.created < (OWN_GRACE if job.ref.name == _own_job(case) else START_GRACE)
        for job in case.state.jobs
        if _has_begun(job)
    )
    is_known = case.facts.reads(LEASE, JOB, CRON_JOB)
    # One that was given up is for the next pod of a Job, if there is a Job.
    names = [pool.lease for pool in case.timetable.pools if any(map(_has_begun, case.state.jobs))]
    names += [name for name, lease in case.facts.leases.items() if lease.holder]
    own = {pool.lease for pool in case.timetable.pools}
    is_led = case.facts.is_led(own & set(names), case.now)
    return ", ".join(item.id for item in case.due if is_known and not is_led and not is_coming)


def _has_begun(job: JobObject) -> bool:
    return not job.is_finished and not job.ref.is_terminating


def _own_job(case: ReservationContext) -> str:
    """Name the Job that the sweep starts."""
    return f"{case.source.ref.name}-sweep"


def _without_cronjob(case: ReservationContext) -> Iterator[SweepWarning]:
    """Warn once for each occurrence if there is no CronJob to start a Job from."""
    if case.state.cronjob is None and (unserved := _unserved(case)):
        message = f"No pod serves {unserved}, and there is no CronJob from which to start a Job."
        yield from _warn(case.state, "SweepHasNoJob", message)


def _outdated(case: ReservationContext) -> Iterator[Action]:
    if case.facts.prunes and not (case.open or case.opens_soon or case.is_manned):
        from berth.plugins.pruning.pruning import outdated_objects  # noqa: PLC0415 - as above

        objects = (pool.found.object for pool in case.pools if not case.names(pool.pool))
        unnamed = [found for found in objects if found]
        yield from outdated_objects(case.facts, case.state, case.source, unnamed, case.now)


def _unnamed_numbers(case: ReservationContext) -> Iterator[Action]:
    """Give back numbers of somebody else that the timetable no longer names."""
    if "numbers" in case.facts.plugins and case.now >= case.source.changed + EDIT_GRACE:
        from berth.plugins.numbers.numbersweep import unnamed_numbers  # noqa: PLC0415 - as above

        yield from unnamed_numbers(case.facts, case.state, "the timetable names no such number", case.now)

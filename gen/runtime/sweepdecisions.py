"""The sweep's decisions: what to do about the state of a site, and why. Pure.

Decisions are level-triggered: once everything is done, there is nothing to do. A reservation that a pod
serves is left to that pod, and the pod gets time to notice a change.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gen.core.decisions import EARLY_START, DesiredState, desired_state
from gen.core.jsonvalues import TimetableError
from gen.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, NODE_POOL, POD
from gen.core.overrides import Override, override_end, override_target, parse_overrides, unknown_classes
from gen.core.slots import PlaceholderOwner, Slot, bridging_placeholders, count_slots, plan_slots, slot_demand
from gen.core.target import open_now, opens_within
from gen.core.timetable import Timetable, TimetableOccurrence, TimetablePool, parse_timetable
from gen.core.timetable import active_occurrences as may_open
from gen.runtime.sweepactions import (
    Action,
    MakeSlots,
    RemoveObject,
    RemoveSlots,
    ScalePool,
    StartJob,
    SweepWarning,
    action_order,
)
from gen.runtime.sweepremoval import (
    is_removable,
    leftovers,
    orphan_marks,
    outdated_slots,
    removals,
    restored_marks,
)
from gen.runtime.sweepstate import (
    ObjectRef,
    PodObject,
    PoolObject,
    ReservationState,
    SiteState,
    TimetableObject,
    reservation_states,
)

PULL_FAILED = "ImageNotPulled"


def pull_failures(holding: ReservationState) -> Iterator[SweepWarning]:
    """Of the pods that are to serve a reservation: where people look for it, once for each pod."""
    for pod in holding.pods:
        if pod.trouble and not pod.thing.is_going:
            message = f"Pod {pod.thing.name}, which is to serve the reservation: {pod.trouble.said()}"
            for thing in holding.subjects:
                yield SweepWarning(thing, PULL_FAILED, message, pod.thing.uid)


def unready_pools(facts: SiteState) -> tuple[PoolObject, ...]:
    """The pools whose placeholders are worth a look, because not all that are wanted are ready."""
    return tuple(one for one in facts.deployments if one.ready < one.replicas and _has_pods(one))


def _has_pods(one: PoolObject) -> bool:
    return one.thing.kind == DEPLOYMENT.name


def placeholder_pull_failures(waiting: Iterable[PoolObject], pods: Iterable[PodObject]) -> list[SweepWarning]:
    """On each of the Deployments that has such placeholders: once, for all of one ReplicaSet and image."""
    troubled: dict[tuple[str, str], list[PodObject]] = {}
    for pod in pods:
        if pod.trouble and not pod.thing.is_going:
            pool = pod.owner.rpartition("-")[0]  # its ReplicaSet is called so, and a hash
            troubled.setdefault((pod.thing.reservation, pool), []).append(pod)
    pools = ((one.thing, troubled.get((one.thing.reservation, one.thing.name), [])) for one in waiting)
    return [_pull_warning(thing, found) for thing, found in pools if found]


def _pull_warning(deployment: ObjectRef, pods: list[PodObject]) -> SweepWarning:
    first = min(pods, key=lambda pod: pod.thing.name)
    assert first.trouble
    number = f"{len(pods)} placeholder{'s' if len(pods) > 1 else ''}"
    message = f"Of {number}, first {first.thing.name}: {first.trouble.said()}"
    return SweepWarning(deployment, PULL_FAILED, message, f"{first.owner} {first.trouble.image}")


class SlotSweep(NamedTuple):
    namespace: str
    thing: ObjectRef  # the timetable, where it is told
    resource_class: str
    slots: tuple[Slot, ...]
    now: int

    def is_open(self, aim: DesiredState) -> bool:
        """Also with no seat at all."""
        return slot_demand(aim, 0, 0).expires is not None

    def close(self, why: str) -> Iterator[Action]:
        standing = tuple(slot for slot in self.slots if not slot.is_going)
        if standing:
            yield RemoveSlots(self.thing, self.resource_class, standing, why)

    def hold(self, aim: DesiredState, deployment: PoolObject | None, why: str) -> Iterator[Action]:
        """`deployment` has the placeholders that come first, where some do."""
        pool = aim.wish.pool
        assert pool.slots
        found = count_slots(self.slots, PlaceholderOwner(self.namespace, pool.deployment))
        wanted = slot_demand(aim, sum(found.owners.values()), 0)
        if deployment:
            number = bridging_placeholders(found, pool.slots, wanted.wanted, deployment.replicas, self.now)
            if number != deployment.replicas:
                yield ScalePool(deployment, number, why)
        todo = plan_slots(found, pool.slots, wanted, self.now, deployment.ready if deployment else 0)
        if todo.make:
            yield MakeSlots(self.thing, self.resource_class, pool.slots, todo.make, todo.expires, why)
        if todo.drop:
            yield RemoveSlots(self.thing, self.resource_class, todo.drop, "they were over")


CRONJOB_GRACE = 30  # seconds after its opening that an occurrence has for the run of its own CronJob
START_GRACE = 60  # seconds that a Job or pod has to begin
# Seconds after the end that a pod has to close its pools and go. Whom one sweep finds within them, the next
# ends: five minutes later, with half a minute for itself of the six minutes that are promised.
CLOSE_GRACE = 30
EDIT_GRACE = 60  # seconds that a pod has to see an edit of the timetable


class SweepDecision(NamedTuple):
    actions: tuple[Action, ...]  # in the order in which they are to be done
    tellings: tuple[SweepWarning, ...]


class ReservationContext(NamedTuple):
    """One reservation whose timetable can be read."""

    facts: SiteState
    holding: ReservationState
    source: TimetableObject
    timetable: Timetable
    overrides: dict[str, Override]
    now: int

    def pool_of(self, deployment: PoolObject) -> TimetablePool | None:
        """That it holds the seats of, or has placeholders for."""
        pools, name = self.timetable.pools, deployment.thing.name
        if deployment.thing.kind == NODE_POOL.name:
            return next((pool for pool in pools if pool.node_pool == name), None)
        return next((pool for pool in pools if pool.has_deployment and pool.deployment == name), None)

    def pool_with_slots(self, resource_class: str) -> TimetablePool | None:
        pools = self.timetable.pools
        return next((pool for pool in pools if pool.slots and pool.resource_class == resource_class), None)

    def reads(self, *kinds: str) -> bool:
        return not self.facts.unread & set(kinds)


def decide(facts: SiteState, now: int) -> SweepDecision:
    """Nothing where the timetables could not be read; without the list of another kind, only what needs no
    such list; and nothing is removed unless all lists are there.
    """
    found = (
        []
        if CONFIG_MAP.name in facts.unread
        else [_decide_reservation(facts, one, now) for one in reservation_states(facts)]
    )
    actions = [action for judgement in found for action in judgement.actions]
    tellings = [telling for judgement in found for telling in judgement.tellings]
    return SweepDecision(tuple(sorted(actions, key=action_order)), tuple(tellings))


def _decide_reservation(facts: SiteState, holding: ReservationState, now: int) -> SweepDecision:
    found = _decide_windows(facts, holding, now)
    return found._replace(actions=(*found.actions, *outdated_slots(facts, holding, now)))


def _decide_windows(facts: SiteState, holding: ReservationState, now: int) -> SweepDecision:
    if not holding.sources:
        return SweepDecision(tuple(leftovers(facts, holding, now)), ())
    try:
        source, timetable = _timetable(facts.site, holding)
    except TimetableError as error:
        return SweepDecision((), tuple(_malformed_timetable(holding, str(error))))
    if is_removable(facts, source, now):
        return SweepDecision(tuple(removals(facts, holding, source)), ())
    overrides, tellings = _overrides(holding, source, timetable)
    case = ReservationContext(facts, holding, source, timetable, overrides, now)
    actions = (
        *orphan_marks(facts, source, now),
        *restored_marks(facts, holding),
        *_scale_actions(case),
        *_slot_actions(case),
        *_job_actions(case),
    )
    return SweepDecision(actions, (*tellings, *_without_cronjob(case), *pull_failures(holding)))


def _timetable(site: str, holding: ReservationState) -> tuple[TimetableObject, Timetable]:
    sources = [source for source in holding.sources if source.text] or holding.sources[:1]
    if len(sources) > 1:
        names = " and ".join(source.thing.name for source in sources)
        raise TimetableError(f"{names} are timetables of one reservation")
    (source,) = sources
    timetable = parse_timetable(source.text)
    for key, found, label in (
        ("site", timetable.site, site),
        ("reservation", timetable.reservation, holding.reservation),
    ):
        if found != label:
            raise TimetableError(f"{key}: {found!r} is not {label!r}, as the label says")
    return source, timetable


def _overrides(
    holding: ReservationState, source: TimetableObject, timetable: Timetable
) -> tuple[dict[str, Override], tuple[SweepWarning, ...]]:
    """None where they are malformed, which is told, as is one that no class follows."""
    try:
        found = parse_overrides(source.override) if source.override else {}
        wrong = unknown_classes(found, [pool.resource_class for pool in timetable.pools])
    except TimetableError as error:
        found, wrong = {}, str(error)
    if not wrong:
        return found, ()
    message = f"An override is ignored: {wrong}"
    return found, tuple(SweepWarning(one, "MalformedOverride", message, message) for one in holding.subjects)


def _malformed_timetable(holding: ReservationState, why: str) -> Iterator[SweepWarning]:
    message = f"The timetable cannot be read, so the sweep leaves everything of it alone: {why}"
    for thing in holding.subjects:
        yield SweepWarning(thing, "MalformedTimetable", message, message)


def _due(case: ReservationContext) -> tuple[TimetableOccurrence, ...]:
    """What is open, and has been for long enough to be served."""
    occurrences = open_now(may_open(case.timetable), case.now)
    return tuple(item for item in occurrences if case.now - item.open >= CRONJOB_GRACE)


class PoolVerdict(NamedTuple):
    """What the sweep says that a pool should have."""

    replicas: int
    why: str
    aim: DesiredState | None = None  # None: nothing of it is open


def _scale_actions(case: ReservationContext) -> Iterator[ScalePool]:
    if not case.reads(DEPLOYMENT.name, POD.name):
        return
    for deployment in case.holding.deployments:
        if deployment.thing.is_going:
            continue
        pool = case.pool_of(deployment)
        verdict = _verdict(case, pool)
        if verdict is None or (pool and pool.slots and verdict.aim):
            continue  # what comes before slots depends on them
        if verdict.replicas != deployment.replicas:
            yield ScalePool(deployment, verdict.replicas, verdict.why)


def _slot_actions(case: ReservationContext) -> Iterator[Action]:
    if case.facts.slots is None or not case.reads(DEPLOYMENT.name, POD.name):
        return

    windowed = [one for one in case.holding.slots if not one.is_standing]
    classes = {one.resource_class for one in windowed}
    classes |= {pool.resource_class for pool in case.timetable.pools if pool.slots}
    for name in sorted(classes):
        pool = case.pool_with_slots(name)
        verdict = _verdict(case, pool)
        if verdict:
            slots = tuple(one.slot for one in windowed if one.resource_class == name)
            seats = SlotSweep(case.facts.namespace, case.source.thing, name, slots, case.now)
            if verdict.aim:
                deployments = (one for one in case.holding.deployments if case.pool_of(one) == pool)
                yield from seats.hold(verdict.aim, next(deployments, None), verdict.why)
            elif pool is None or not seats.is_open(desired_state(case.timetable, pool, case.now)):
                yield from seats.close(verdict.why)


def _verdict(case: ReservationContext, pool: TimetablePool | None) -> PoolVerdict | None:
    """What the pool should have, where it is for the sweep to say."""
    is_served = case.holding.is_served
    if pool is None:
        seen = not is_served or case.now >= case.source.changed + EDIT_GRACE
        return PoolVerdict(0, "the timetable names no such pool") if seen else None
    override = override_target(case.overrides, pool.resource_class, case.now)
    aim = desired_state(case.timetable, pool, case.now, None, override)
    aim = aim._replace(until=override_end(case.overrides, pool.resource_class))
    if override is not None:
        # With nothing open a pod is about to end.
        left_to_the_pod = is_served and open_now(may_open(case.timetable), case.now)
        return None if left_to_the_pod else PoolVerdict(override, "an override says so", aim)
    wanted = aim.wish
    if not wanted.replicas:
        is_late = not is_served or _is_late(case, pool)
        return PoolVerdict(0, "nothing of it is open") if is_late else None
    asking = [item.id for item in _due(case) if item.id in wanted.occurrences]
    if is_served or not asking:
        return None
    return PoolVerdict(wanted.replicas, f"{', '.join(asking)} is open and no pod serves it", aim)


def _is_late(case: ReservationContext, pool: TimetablePool) -> bool:
    """The pod that serves has had the time to close the pool; and by no clock it is about to open."""
    if opens_within(may_open(case.timetable), case.now, EARLY_START):
        return False
    end = _last_end(case, lambda name: name == pool.resource_class)
    return case.now >= max(end + CLOSE_GRACE, case.source.changed + EDIT_GRACE)


def _last_end(case: ReservationContext, counts: Callable[[str], bool]) -> int:
    """Of occurrences with seats of a class that counts, and of overrides of one."""
    ends = [one.end for one in case.timetable.occurrences if any(counts(name) for name, _ in one.seats)]
    ends += [one.until for name, one in case.overrides.items() if counts(name)]
    return max((end for end in ends if end <= case.now), default=0)


def _job_actions(case: ReservationContext) -> Iterator[Action]:
    if _due(case):
        yield from _start(case)
        return
    occurrences = may_open(case.timetable)
    is_near = open_now(occurrences, case.now) or opens_within(occurrences, case.now, EARLY_START)
    if is_near or case.facts.unread or (case.holding.is_served and _is_held(case)):
        return
    idle_from = max(_last_end(case, lambda _: True) + CLOSE_GRACE, case.source.changed + EDIT_GRACE)
    for job in case.holding.jobs:
        is_idle = case.now >= max(idle_from, job.thing.created + START_GRACE)
        if is_idle and not job.is_finished and not job.thing.is_going:
            yield RemoveObject(job.thing, "it still runs with nothing open")


def _is_held(case: ReservationContext) -> bool:
    """By an override, and then who serves stays with it: a pod ends when all of its pools are closed."""
    pools = case.timetable.pools
    return any(override_target(case.overrides, pool.resource_class, case.now) for pool in pools)


def _needs_a_job(case: ReservationContext) -> bool:
    """Nobody serves what is due, and nobody is about to."""
    holding = case.holding
    begun = [job.thing for job in holding.jobs if not job.is_finished and not job.thing.is_going]
    begun += [pod.thing for pod in holding.pods if pod.is_starting]
    is_coming = any(case.now - thing.created < START_GRACE for thing in begun)
    is_known = case.reads(POD.name, JOB.name, CRON_JOB.name)
    return is_known and bool(_due(case)) and not holding.is_served and not is_coming


def _start(case: ReservationContext) -> Iterator[StartJob]:
    cronjob = case.holding.cronjob
    if cronjob and _needs_a_job(case):
        name = f"{case.source.thing.name}-sweep"
        replaced = next((job for job in case.holding.jobs if job.thing.name == name), None)
        why = f"no pod serves {_due_names(case)}"
        yield StartJob(case.source.thing, name, cronjob.template, replaced, why)


def _without_cronjob(case: ReservationContext) -> Iterator[SweepWarning]:
    """Told for each occurrence."""
    if case.holding.cronjob is None and _needs_a_job(case):
        message = f"No pod serves {_due_names(case)}, and there is no CronJob from which to start a Job."
        for thing in case.holding.subjects:
            yield SweepWarning(thing, "SweepHasNoJob", message, message)


def _due_names(case: ReservationContext) -> str:
    return ", ".join(item.id for item in _due(case))

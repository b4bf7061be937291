"""The sweep's decision: what to do about the state of a site, and why. Pure.

Decisions are level-triggered: once everything is done, there is nothing to do. A reservation that a pod
serves is left to that pod, and the pod gets time to notice a change.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from berth.core.actions import (
    Action,
    PoolFound,
    RemoveObject,
    ScalePool,
    StartJob,
    SweepWarning,
    action_order,
    close_slots,
    decide_pool,
)
from berth.core.jsonvalues import TimetableError
from berth.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, POD
from berth.core.removal import (
    is_removable,
    leftovers,
    orphan_marks,
    outdated_objects,
    outdated_slots,
    removals,
    restored_marks,
    unused_code,
)
from berth.core.slots import PlaceholderOwner, Slot, count_slots, slot_demand
from berth.core.state import (
    ObjectRef,
    PodObject,
    PoolObject,
    ReservationState,
    SiteState,
    TimetableObject,
    reservation_states,
)
from berth.core.target import EARLY_START, DesiredState, desired_state, open_now, opens_within
from berth.core.timetable import (
    Override,
    Timetable,
    TimetableOccurrence,
    TimetablePool,
    override_end,
    override_target,
    parse_overrides,
    parse_timetable,
    unknown_classes,
)
from berth.core.timetable import active_occurrences as may_open

PULL_FAILED = "ImageNotPulled"


def pull_failures(state: ReservationState) -> Iterator[SweepWarning]:
    """Yield warnings about pods that should serve the reservation, once for each pod."""
    for pod in state.pods:
        if pod.trouble and not pod.ref.is_terminating:
            message = f"Pod {pod.ref.name}, which should serve the reservation: {pod.trouble.said()}"
            for ref in state.subjects:
                yield SweepWarning(ref, PULL_FAILED, message, pod.ref.uid)


def unready_pools(facts: SiteState) -> tuple[PoolObject, ...]:
    """Return the pools with fewer ready placeholders than requested."""
    return tuple(one for one in facts.deployments if one.ready < one.replicas and _has_pods(one))


def _has_pods(one: PoolObject) -> bool:
    return one.ref.kind == DEPLOYMENT.name


def placeholder_pull_failures(waiting: Iterable[PoolObject], pods: Iterable[PodObject]) -> list[SweepWarning]:
    """Return a warning for each Deployment with such placeholders, one per ReplicaSet and image."""
    troubled: dict[tuple[str, str], list[PodObject]] = {}
    for pod in pods:
        if pod.trouble and not pod.ref.is_terminating:
            pool = pod.owner.rpartition("-")[0]  # its ReplicaSet is called so, and a hash
            troubled.setdefault((pod.ref.reservation, pool), []).append(pod)
    pools = ((one.ref, troubled.get((one.ref.reservation, one.ref.name), [])) for one in waiting)
    return [_pull_warning(ref, found) for ref, found in pools if found]


def _pull_warning(deployment: ObjectRef, pods: list[PodObject]) -> SweepWarning:
    first = min(pods, key=lambda pod: pod.ref.name)
    assert first.trouble
    number = f"{len(pods)} placeholder{'s' if len(pods) > 1 else ''}"
    message = f"Of {number}, first {first.ref.name}: {first.trouble.said()}"
    return SweepWarning(deployment, PULL_FAILED, message, f"{first.owner} {first.trouble.image}")


CRONJOB_GRACE = 30  # seconds after its opening that an occurrence has for the run of its own CronJob
START_GRACE = 60  # seconds that a Job or pod has to begin
# Seconds after the end that a pod has to close its pools and go. Whom one sweep finds within them, the next
# ends: five minutes later, with half a minute for itself of the six minutes that are promised.
CLOSE_GRACE = 30
EDIT_GRACE = 60  # seconds that a pod has to see an edit of the timetable


class SweepDecision(NamedTuple):
    """The actions and warnings of a run."""

    actions: tuple[Action, ...]  # in the order in which they are to be done
    warnings: tuple[SweepWarning, ...]


class ReservationContext(NamedTuple):
    """A reservation with a valid timetable."""

    facts: SiteState
    state: ReservationState
    source: TimetableObject
    timetable: Timetable
    overrides: dict[str, Override]
    now: int

    @property
    def is_served(self) -> bool:
        return self.state.is_served(self.now)

    @property
    def is_near(self) -> bool:
        """Whether an occurrence is open or opens soon."""
        found = may_open(self.timetable)
        return bool(open_now(found, self.now) or opens_within(found, self.now, EARLY_START))

    def pool_of(self, deployment: PoolObject) -> TimetablePool | None:
        """Return the pool that a Deployment or NodePool belongs to."""
        ref = deployment.ref.kind, deployment.ref.name
        pools = (pool for pool in self.timetable.pools if pool.holder.has_replicas)
        return next((pool for pool in pools if (pool.holder.scaled_kind.name, pool.scaled) == ref), None)

    def pool_with_slots(self, resource_class: str) -> TimetablePool | None:
        pools = self.timetable.pools
        return next((pool for pool in pools if pool.slots and pool.resource_class == resource_class), None)

    def reads(self, *kinds: str) -> bool:
        """Return whether all these kinds could be listed."""
        return not self.facts.unread & set(kinds)


def decide(facts: SiteState, now: int) -> SweepDecision:
    """Decide what to do about the state of the site.

    Without the list of timetables nothing is done; without another list, only what does not need it. Nothing
    is removed unless all lists are complete.
    """
    found = (
        []
        if CONFIG_MAP.name in facts.unread
        else [_decide_reservation(facts, one, now) for one in reservation_states(facts)]
    )
    actions = [action for judgement in found for action in judgement.actions]
    actions += unused_code(facts, now)
    warnings = [warning for judgement in found for warning in judgement.warnings]
    return SweepDecision(tuple(sorted(actions, key=action_order)), tuple(warnings))


def _decide_reservation(facts: SiteState, state: ReservationState, now: int) -> SweepDecision:
    found = _decide_windows(facts, state, now)
    return found._replace(actions=(*found.actions, *outdated_slots(facts, state, now)))


def _decide_windows(facts: SiteState, state: ReservationState, now: int) -> SweepDecision:
    if not state.sources:
        return SweepDecision(tuple(leftovers(facts, state, now)), ())
    try:
        source, timetable = _timetable(facts.site, state)
    except TimetableError as error:
        source = state.sources[0]
        if is_removable(facts, state, source, now):
            return SweepDecision(tuple(removals(facts, state, source)), ())
        marks = tuple(orphan_marks(facts, source, now))
        return SweepDecision(marks, tuple(_malformed_timetable(state, str(error))))
    if is_removable(facts, state, source, now):
        return SweepDecision(tuple(removals(facts, state, source)), ())
    overrides, warnings = _overrides(state, source, timetable)
    case = ReservationContext(facts, state, source, timetable, overrides, now)
    actions = (
        *orphan_marks(facts, source, now),
        *restored_marks(facts, state),
        *_scale_actions(case),
        *_slot_actions(case),
        *_job_actions(case),
        *_outdated(case),
    )
    return SweepDecision(actions, (*warnings, *_without_cronjob(case), *pull_failures(state)))


def _timetable(site: str, state: ReservationState) -> tuple[TimetableObject, Timetable]:
    sources = [source for source in state.sources if source.text] or state.sources[:1]
    if len(sources) > 1:
        names = " and ".join(source.ref.name for source in sources)
        raise TimetableError(f"{names} are timetables of the same reservation")
    (source,) = sources
    timetable = parse_timetable(source.text)
    for key, found, label in (
        ("site", timetable.site, site),
        ("reservation", timetable.reservation, state.reservation),
    ):
        if found != label:
            raise TimetableError(f"{key}: {found!r} is not {label!r}, as the label says")
    return source, timetable


def _overrides(
    state: ReservationState, source: TimetableObject, timetable: Timetable
) -> tuple[dict[str, Override], tuple[SweepWarning, ...]]:
    """Return the overrides and warnings about invalid ones."""
    try:
        found = parse_overrides(source.override) if source.override else {}
        wrong = unknown_classes(found, [pool.resource_class for pool in timetable.pools])
    except TimetableError as error:
        found, wrong = {}, str(error)
    if not wrong:
        return found, ()
    message = f"An override is ignored: {wrong}"
    return found, tuple(SweepWarning(one, "MalformedOverride", message, message) for one in state.subjects)


def _malformed_timetable(state: ReservationState, why: str) -> Iterator[SweepWarning]:
    message = f"The timetable cannot be read, so the sweep does not change the reservation: {why}"
    for ref in state.subjects:
        yield SweepWarning(ref, "MalformedTimetable", message, message)


def _due(case: ReservationContext) -> tuple[TimetableOccurrence, ...]:
    """Return the occurrences that have been open long enough to be served."""
    occurrences = open_now(may_open(case.timetable), case.now)
    return tuple(item for item in occurrences if case.now - item.open >= CRONJOB_GRACE)


class PoolVerdict(NamedTuple):
    """What a pool should have according to the sweep."""

    replicas: int
    why: str
    desired: DesiredState | None = None  # None: no occurrence of it is open


def _scale_actions(case: ReservationContext) -> Iterator[ScalePool]:
    if not case.reads(DEPLOYMENT.name, POD.name):
        return
    for deployment in case.state.deployments:
        if deployment.ref.is_terminating:
            continue
        pool = case.pool_of(deployment)
        verdict = _verdict(case, pool)
        if verdict is None or (pool and pool.slots and verdict.desired):
            continue  # what comes before slots depends on them
        if verdict.replicas != deployment.replicas:
            yield ScalePool(deployment, verdict.replicas, verdict.why)


def _slot_actions(case: ReservationContext) -> Iterator[Action]:
    if case.facts.slots is None or not case.reads(DEPLOYMENT.name, POD.name):
        return
    windowed = [one for one in case.state.slots if not one.is_persistent]
    classes = {one.resource_class for one in windowed}
    classes |= {pool.resource_class for pool in case.timetable.pools if pool.slots}
    for name in sorted(classes):
        pool = case.pool_with_slots(name)
        verdict = _verdict(case, pool)
        slots = tuple(one.slot for one in windowed if one.resource_class == name)
        if verdict and verdict.desired:
            yield from _hold_slots(case, slots, verdict.desired, verdict.why)
        elif verdict and (pool is None or not _has_open_slots(case, pool)):
            yield from close_slots(case.source.ref, name, slots, verdict.why)


def _hold_slots(
    case: ReservationContext, slots: tuple[Slot, ...], desired: DesiredState, why: str
) -> Iterator[Action]:
    """Make missing slots, and drop those that hold nothing any more.

    The sweep counts no sessions, so it removes no free slot and renews none.
    """
    pool = desired.target.pool
    beside = next((one for one in case.state.deployments if case.pool_of(one) == pool), None)
    counts = count_slots(slots, PlaceholderOwner(case.facts.namespace, pool.deployment))
    for action in decide_pool(case.source.ref, PoolFound(beside, counts), desired, why).actions:
        if isinstance(action, ScalePool):
            yield action
        elif (plan := action.plan._replace(renew=(), remove=())).writes:
            yield action._replace(plan=plan)


def _has_open_slots(case: ReservationContext, pool: TimetablePool) -> bool:
    """Return whether an occurrence is open, even without seats."""
    return slot_demand(desired_state(case.timetable, pool, case.now), 0, 0).expires is not None


def _verdict(case: ReservationContext, pool: TimetablePool | None) -> PoolVerdict | None:
    """Return what the pool should have, None if the sweep does not decide."""
    is_served = case.is_served
    if pool is None:
        is_late = case.now >= case.source.changed + EDIT_GRACE
        return PoolVerdict(0, "the timetable names no such pool") if is_late or _are_held(case) else None
    override = override_target(case.overrides, pool.resource_class, case.now)
    desired = desired_state(case.timetable, pool, case.now, None, override)
    desired = desired._replace(until=override_end(case.overrides, pool.resource_class))
    if override is not None:
        # With nothing open a pod is about to end.
        left_to_the_pod = is_served and open_now(may_open(case.timetable), case.now)
        return None if left_to_the_pod else PoolVerdict(override, "an override says so", desired)
    wanted = desired.target
    if not wanted.replicas:
        is_late = not is_served or _is_late(case, pool)
        return PoolVerdict(0, "no occurrence of it is open") if is_late else None
    asking = [item.id for item in _due(case) if item.id in wanted.occurrences]
    if is_served or not asking:
        return None
    return PoolVerdict(wanted.replicas, f"{', '.join(asking)} is open and no pod serves it", desired)


def _are_held(case: ReservationContext) -> bool:
    """Return whether all pools that the timetable names have all their seats, or none is open."""
    for pool in case.timetable.pools:
        wanted = desired_state(case.timetable, pool, case.now).target.replicas
        ready = sum(one.ready for one in case.state.deployments if case.pool_of(one) == pool)
        if pool.slots:
            ready += sum(one.is_held for one in case.state.slots if one.resource_class == pool.resource_class)
        if ready < wanted:
            return False
    return True


def _is_late(case: ReservationContext, pool: TimetablePool) -> bool:
    """Return whether the serving pod had time to close the pool, and it does not open soon."""
    if opens_within(may_open(case.timetable), case.now, EARLY_START):
        return False
    end = _last_end(case, lambda name: name == pool.resource_class)
    return case.now >= max(end + CLOSE_GRACE, case.source.changed + EDIT_GRACE)


def _last_end(case: ReservationContext, counts: Callable[[str], bool]) -> int:
    """Return the last end of occurrences and overrides of classes that count."""
    ends = [one.end for one in case.timetable.occurrences if any(counts(name) for name, _ in one.seats)]
    ends += [one.until for name, one in case.overrides.items() if counts(name)]
    return max((end for end in ends if end <= case.now), default=0)


def _job_actions(case: ReservationContext) -> Iterator[Action]:
    if _due(case):
        yield from _start(case)
        return
    if case.is_near or case.facts.unread or (case.is_served and _is_held(case)):
        return
    idle_from = max(_last_end(case, lambda _: True) + CLOSE_GRACE, case.source.changed + EDIT_GRACE)
    for job in case.state.jobs:
        is_idle = case.now >= max(idle_from, job.ref.created + START_GRACE)
        if is_idle and not job.is_finished and not job.ref.is_terminating:
            yield RemoveObject(job.ref, "it still runs with nothing open")


def _outdated(case: ReservationContext) -> Iterator[Action]:
    if not case.is_near and not case.is_served:
        unnamed = [one for one in case.state.deployments if case.pool_of(one) is None]
        yield from outdated_objects(case.facts, case.state, case.source, unnamed, case.now)


def _is_held(case: ReservationContext) -> bool:
    """Return whether an override keeps the pod running: it ends when all its pools are closed."""
    pools = case.timetable.pools
    return any(override_target(case.overrides, pool.resource_class, case.now) for pool in pools)


def _needs_a_job(case: ReservationContext) -> bool:
    """Return whether no pod serves what is due, and none is about to."""
    state = case.state
    begun = [job.ref for job in state.jobs if not job.is_finished and not job.ref.is_terminating]
    begun += [pod.ref for pod in state.pods if pod.is_starting]
    is_coming = any(case.now - ref.created < START_GRACE for ref in begun)
    is_known = case.reads(POD.name, JOB.name, CRON_JOB.name)
    return is_known and bool(_due(case)) and not case.is_served and not is_coming


def _start(case: ReservationContext) -> Iterator[StartJob]:
    cronjob = case.state.cronjob
    if cronjob and _needs_a_job(case):
        name = f"{case.source.ref.name}-sweep"
        replaced = next((job for job in case.state.jobs if job.ref.name == name), None)
        why = f"no pod serves {_due_names(case)}"
        yield StartJob(case.source.ref, name, cronjob.template, replaced, why)


def _without_cronjob(case: ReservationContext) -> Iterator[SweepWarning]:
    """Warn once for each occurrence if there is no CronJob to start a Job from."""
    if case.state.cronjob is None and _needs_a_job(case):
        message = f"No pod serves {_due_names(case)}, and there is no CronJob from which to start a Job."
        for ref in case.state.subjects:
            yield SweepWarning(ref, "SweepHasNoJob", message, message)


def _due_names(case: ReservationContext) -> str:
    return ", ".join(item.id for item in _due(case))

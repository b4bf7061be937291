"""What the sweep does about the facts of one moment, and why. Pure: facts and an instant in, actions out.

It is level-triggered: judged again after everything was done, the facts give nothing to do. Whoever serves a
reservation is left alone, and gets the time to see what has just changed.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gen.runtime.action import Action, Remove, Scale, StartJob, Telling, rank
from gen.runtime.facts import Deployment, Facts, Source
from gen.runtime.holding import Holding, holdings
from gen.runtime.imagetrouble import unpulled
from gen.runtime.jsonvalue import TimetableError
from gen.runtime.loop import EARLY
from gen.runtime.objectkind import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, NODE_POOL, POD
from gen.runtime.override import Override, in_force, over_at, parse_overrides, strays
from gen.runtime.plan import Aim, aim_at
from gen.runtime.removal import found_again, is_gone, leftovers, marks, outdated, removal
from gen.runtime.target import open_now, opens_within
from gen.runtime.timetable import Occurrence, Pool, Timetable, parse
from gen.runtime.timetable import in_force as may_open

OWN_RUN = 30  # seconds after its opening that an occurrence has for the run of its own CronJob
COMING = 60  # seconds that a Job or pod has to begin
# Seconds after the end that a pod has to close its pools and go. Whom one sweep finds within them, the next
# ends: five minutes later, with half a minute for itself of the six minutes that are promised.
CLOSING = 30
EDIT = 60  # seconds that a pod has to see an edit of the timetable


class Judgement(NamedTuple):
    actions: tuple[Action, ...]  # in the order in which they are to be done
    tellings: tuple[Telling, ...]


class Case(NamedTuple):
    """One reservation whose timetable can be read."""

    facts: Facts
    holding: Holding
    source: Source
    timetable: Timetable
    overrides: dict[str, Override]
    now: int

    def pool_of(self, deployment: Deployment) -> Pool | None:
        """That it holds the seats of, or has placeholders for."""
        pools, name = self.timetable.pools, deployment.thing.name
        if deployment.thing.kind == NODE_POOL.name:
            return next((pool for pool in pools if pool.node_pool == name), None)
        return next((pool for pool in pools if pool.has_deployment and pool.deployment == name), None)

    def pool_with_slots(self, resource_class: str) -> Pool | None:
        pools = self.timetable.pools
        return next((pool for pool in pools if pool.slots and pool.resource_class == resource_class), None)

    def reads(self, *kinds: str) -> bool:
        return not self.facts.unread & set(kinds)


def judge(facts: Facts, now: int) -> Judgement:
    """Nothing where the timetables could not be read; without the list of another kind, only what needs no
    such list; and nothing is removed unless all lists are there.
    """
    found = [] if CONFIG_MAP.name in facts.unread else [_judge(facts, one, now) for one in holdings(facts)]
    actions = [action for judgement in found for action in judgement.actions]
    tellings = [telling for judgement in found for telling in judgement.tellings]
    return Judgement(tuple(sorted(actions, key=rank)), tuple(tellings))


def _judge(facts: Facts, holding: Holding, now: int) -> Judgement:
    found = _judge_windows(facts, holding, now)
    return found._replace(actions=(*found.actions, *outdated(facts, holding, now)))


def _judge_windows(facts: Facts, holding: Holding, now: int) -> Judgement:
    if not holding.sources:
        return Judgement(tuple(leftovers(facts, holding, now)), ())
    try:
        source, timetable = _timetable(facts.site, holding)
    except TimetableError as error:
        return Judgement((), tuple(_malformed(holding, str(error))))
    if is_gone(facts, source, now):
        return Judgement(tuple(removal(facts, holding, source)), ())
    overrides, tellings = _overrides(holding, source, timetable)
    case = Case(facts, holding, source, timetable, overrides, now)
    actions = (
        *marks(facts, source, now),
        *found_again(facts, holding),
        *_scales(case),
        *_slots(case),
        *_jobs(case),
    )
    return Judgement(actions, (*tellings, *_without_cronjob(case), *unpulled(holding)))


def _timetable(site: str, holding: Holding) -> tuple[Source, Timetable]:
    sources = [source for source in holding.sources if source.text] or holding.sources[:1]
    if len(sources) > 1:
        names = " and ".join(source.thing.name for source in sources)
        raise TimetableError(f"{names} are timetables of one reservation")
    (source,) = sources
    timetable = parse(source.text)
    for key, found, label in (
        ("site", timetable.site, site),
        ("reservation", timetable.reservation, holding.reservation),
    ):
        if found != label:
            raise TimetableError(f"{key}: {found!r} is not {label!r}, as the label says")
    return source, timetable


def _overrides(
    holding: Holding, source: Source, timetable: Timetable
) -> tuple[dict[str, Override], tuple[Telling, ...]]:
    """None where they are malformed, which is told, as is one that no class follows."""
    try:
        found = parse_overrides(source.override) if source.override else {}
        wrong = strays(found, [pool.resource_class for pool in timetable.pools])
    except TimetableError as error:
        found, wrong = {}, str(error)
    if not wrong:
        return found, ()
    message = f"An override is ignored: {wrong}"
    return found, tuple(Telling(one, "MalformedOverride", message, message) for one in holding.subjects)


def _malformed(holding: Holding, why: str) -> Iterator[Telling]:
    message = f"The timetable cannot be read, so the sweep leaves everything of it alone: {why}"
    for thing in holding.subjects:
        yield Telling(thing, "MalformedTimetable", message, message)


def _due(case: Case) -> tuple[Occurrence, ...]:
    """What is open, and has been for long enough to be served."""
    occurrences = open_now(may_open(case.timetable), case.now)
    return tuple(item for item in occurrences if case.now - item.open >= OWN_RUN)


class Verdict(NamedTuple):
    """What the sweep says that a pool should have."""

    replicas: int
    why: str
    aim: Aim | None = None  # None: nothing of it is open


def _scales(case: Case) -> Iterator[Scale]:
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
            yield Scale(deployment, verdict.replicas, verdict.why)


def _slots(case: Case) -> Iterator[Action]:
    if case.facts.slots is None or not case.reads(DEPLOYMENT.name, POD.name):
        return
    from gen.runtime.slotsweep import Case as Seats  # noqa: PLC0415 (is there only where a cluster has slots)

    windowed = [one for one in case.holding.slots if not one.is_standing]
    classes = {one.resource_class for one in windowed}
    classes |= {pool.resource_class for pool in case.timetable.pools if pool.slots}
    for name in sorted(classes):
        pool = case.pool_with_slots(name)
        verdict = _verdict(case, pool)
        if verdict:
            slots = tuple(one.slot for one in windowed if one.resource_class == name)
            seats = Seats(case.facts.namespace, case.source.thing, name, slots, case.now)
            if verdict.aim:
                deployments = (one for one in case.holding.deployments if case.pool_of(one) == pool)
                yield from seats.hold(verdict.aim, next(deployments, None), verdict.why)
            elif pool is None or not seats.is_open(aim_at(case.timetable, pool, case.now)):
                yield from seats.close(verdict.why)


def _verdict(case: Case, pool: Pool | None) -> Verdict | None:
    """What the pool should have, where it is for the sweep to say."""
    is_served = case.holding.is_served
    if pool is None:
        seen = not is_served or case.now >= case.source.changed + EDIT
        return Verdict(0, "the timetable names no such pool") if seen else None
    override = in_force(case.overrides, pool.resource_class, case.now)
    aim = aim_at(case.timetable, pool, case.now, None, override)
    aim = aim._replace(until=over_at(case.overrides, pool.resource_class))
    if override is not None:
        # With nothing open a pod is about to end.
        left_to_the_pod = is_served and open_now(may_open(case.timetable), case.now)
        return None if left_to_the_pod else Verdict(override, "an override says so", aim)
    wanted = aim.wish
    if not wanted.replicas:
        is_late = not is_served or _is_late(case, pool)
        return Verdict(0, "nothing of it is open") if is_late else None
    asking = [item.id for item in _due(case) if item.id in wanted.occurrences]
    if is_served or not asking:
        return None
    return Verdict(wanted.replicas, f"{', '.join(asking)} is open and no pod serves it", aim)


def _is_late(case: Case, pool: Pool) -> bool:
    """The pod that serves has had the time to close the pool; and by no clock it is about to open."""
    if opens_within(may_open(case.timetable), case.now, EARLY):
        return False
    end = _last_end(case, lambda name: name == pool.resource_class)
    return case.now >= max(end + CLOSING, case.source.changed + EDIT)


def _last_end(case: Case, counts: Callable[[str], bool]) -> int:
    """Of occurrences with seats of a class that counts, and of overrides of one."""
    ends = [one.end for one in case.timetable.occurrences if any(counts(name) for name, _ in one.seats)]
    ends += [one.until for name, one in case.overrides.items() if counts(name)]
    return max((end for end in ends if end <= case.now), default=0)


def _jobs(case: Case) -> Iterator[Action]:
    if _due(case):
        yield from _start(case)
        return
    occurrences = may_open(case.timetable)
    is_near = open_now(occurrences, case.now) or opens_within(occurrences, case.now, EARLY)
    if is_near or case.facts.unread or (case.holding.is_served and _is_held(case)):
        return
    idle_from = max(_last_end(case, lambda _: True) + CLOSING, case.source.changed + EDIT)
    for job in case.holding.jobs:
        is_idle = case.now >= max(idle_from, job.thing.created + COMING)
        if is_idle and not job.is_finished and not job.thing.is_going:
            yield Remove(job.thing, "it still runs with nothing open")


def _is_held(case: Case) -> bool:
    """By an override, and then who serves stays with it: a pod ends when all of its pools are closed."""
    pools = case.timetable.pools
    return any(in_force(case.overrides, pool.resource_class, case.now) for pool in pools)


def _needs_a_job(case: Case) -> bool:
    """Nobody serves what is due, and nobody is about to."""
    holding = case.holding
    begun = [job.thing for job in holding.jobs if not job.is_finished and not job.thing.is_going]
    begun += [pod.thing for pod in holding.pods if pod.is_starting]
    is_coming = any(case.now - thing.created < COMING for thing in begun)
    is_known = case.reads(POD.name, JOB.name, CRON_JOB.name)
    return is_known and bool(_due(case)) and not holding.is_served and not is_coming


def _start(case: Case) -> Iterator[StartJob]:
    cronjob = case.holding.cronjob
    if cronjob and _needs_a_job(case):
        name = f"{case.source.thing.name}-sweep"
        replaced = next((job for job in case.holding.jobs if job.thing.name == name), None)
        why = f"no pod serves {_due_names(case)}"
        yield StartJob(case.source.thing, name, cronjob.template, replaced, why)


def _without_cronjob(case: Case) -> Iterator[Telling]:
    """Told for each occurrence."""
    if case.holding.cronjob is None and _needs_a_job(case):
        message = f"No pod serves {_due_names(case)}, and there is no CronJob from which to start a Job."
        for thing in case.holding.subjects:
            yield Telling(thing, "SweepHasNoJob", message, message)


def _due_names(case: Case) -> str:
    return ", ".join(item.id for item in _due(case))

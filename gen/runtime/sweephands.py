"""Does what the sweep has judged, each thing alone: what fails is told, and the rest is done all the same.

It acts on what was judged and on nothing else: where somebody has acted since, theirs stands.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gen.runtime import labels
from gen.runtime.action import Action, MakeSlots, Mark, Remove, RemoveSlots, Scale, StartJob, Telling, told
from gen.runtime.api import Api, ApiError
from gen.runtime.event import WARNING, Subject, event
from gen.runtime.facts import GONE_SINCE, Facts, Thing
from gen.runtime.keeper import ATTEMPTS
from gen.runtime.log import Log
from gen.runtime.objectkind import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, ROLE, ROLE_BINDING, SCALED
from gen.runtime.verbs import Tree, apply, delete, get

KINDS = {kind.name: kind for kind in (CONFIG_MAP, CRON_JOB, *SCALED, JOB, ROLE, ROLE_BINDING)}
_EVENTS = {  # of the log
    Scale: "scale",
    StartJob: "start",
    Mark: "mark",
    Remove: "remove",
    MakeSlots: "make",
    RemoveSlots: "remove",
}
LOOKS = 10  # at a Job that was deleted, half a second apart, until its name is free


class World(NamedTuple):
    """What hands act with and in. `has_time` says whether to begin one more thing."""

    api: Api
    namespace: str
    log: Log
    now: Callable[[], float]
    wait: Callable[[float], object]
    has_time: Callable[[], bool]


class Hands:
    def __init__(self, world: World, facts: Facts) -> None:
        self._world = world
        self._facts = facts
        self._broken: set[str] = set()  # reservations of which something failed
        self.failed = 0
        self.done: Counter[str] = Counter()  # by the reason of its Event

    def act(self, actions: Iterable[Action]) -> None:
        """All of them in this order, and then the Events, which can wait."""
        acted = [action for action in actions if self._try(action)]
        for action in acted:
            kind, reason, message = told(action)
            for thing in _concerned(self._facts, action.thing):
                self._tell(thing, event(self._subject(thing), kind, reason, message, self._world.now()))

    def warn(self, tellings: Iterable[Telling]) -> None:
        """Each of them once: an Event of its name is there already when it has been told."""
        for telling in tellings:
            subject = self._subject(telling.thing)
            tree = event(subject, WARNING, telling.reason, telling.message, self._world.now())
            name = _event_name(telling)
            named = {**tree, "metadata": {"name": name, "namespace": subject.namespace}}
            self._tell(telling.thing, named, telling)

    def _try(self, action: Action) -> bool:
        """Whether it has been done, and by us."""
        world, thing = self._world, action.thing
        if thing.kind == CONFIG_MAP.name and isinstance(action, Remove) and thing.reservation in self._broken:
            return False  # it is what the next run knows the rest by
        try:
            if not world.has_time():
                raise ApiError(0, "OutOfTime", "left to the next run")
            is_done = self._do(action)
        except Exception as error:
            self._broken.add(thing.reservation)
            self.failed += 1
            world.log.trouble(f"{_EVENTS[type(action)]} {thing.kind} {thing.name}", error)
            return False
        _, reason, message = told(action)
        facts = {"reservation": thing.reservation, "name": thing.name, "reason": reason, "message": message}
        world.log.info(_EVENTS[type(action)] if is_done else "left", **facts)
        if is_done:
            self.done[reason] += 1
        return is_done

    def _do(self, action: Action) -> bool:
        api, namespace, thing = self._world.api, self._world.namespace, action.thing
        match action:
            case Scale():
                return self._scale(action)
            case StartJob():
                self._start(action)
                return True
            case Mark():
                api.annotate(KINDS[thing.kind], namespace, thing.name, {GONE_SINCE: action.since or None})
                return True
            case Remove():
                return delete(api, KINDS[thing.kind], namespace, thing.name, uid=thing.uid)
            case MakeSlots() | RemoveSlots():
                return self._carry_out(action)

    def _scale(self, action: Scale) -> bool:
        """False where somebody else has scaled since, or the Deployment is gone."""
        api, namespace, name = self._world.api, self._world.namespace, action.thing.name
        version, kind = action.deployment.resource_version, KINDS[action.thing.kind]
        for _ in range(ATTEMPTS):
            try:
                api.scale(namespace, name, action.to, version, kind)
                return True
            except ApiError as error:
                if error.is_gone():
                    return False
                if not error.is_conflict():
                    raise
            # Not only people write to a Deployment: its status is news too.
            found = api.get_scale(namespace, name, kind)
            if found.replicas != action.deployment.replicas:
                return False
            version = found.resource_version
        raise ApiError(409, "Conflict", "it keeps changing")

    def _carry_out(self, action: MakeSlots | RemoveSlots) -> bool:
        """False where others have done all of it."""
        from gen.runtime.slothands import carry_out  # noqa: PLC0415 (is there only where a cluster has slots)
        from gen.runtime.slotplan import Plan  # noqa: PLC0415

        world = self._world
        if isinstance(action, MakeSlots):
            slots, plan = action.slots, Plan(make=action.names, expires=action.expires)
        else:
            slots, plan = None, Plan(drop=action.slots)
        done = carry_out(world.api, slots, plan, world.now, lambda _: world.has_time())
        if done.is_cut:
            raise ApiError(0, "OutOfTime", f"{len(done.made) + len(done.removed)} of {plan.writes} are done")
        return bool(done.made or done.removed)

    def _start(self, action: StartJob) -> None:
        api, namespace = self._world.api, self._world.namespace
        if action.replaced:
            delete(api, JOB, namespace, action.name, uid=action.replaced.thing.uid)
        for _ in range(LOOKS):
            found = get(api, JOB, namespace, action.name)
            if found is None:
                break
            self._check_ours(action, found)
            self._world.wait(0.5)
        else:
            raise ApiError(409, "StillThere", f"the Job {action.name} is still there")
        apply(api, JOB, namespace, action.name, _job(self._facts.site, namespace, action))

    def _check_ours(self, action: StartJob, found: Tree) -> None:
        """A Job that had been judged has our labels; any other was not seen, and is not to be touched."""
        metadata = found.get("metadata")
        uid = metadata.get("uid") if isinstance(metadata, dict) else None
        if action.replaced is None or uid != action.replaced.thing.uid:
            raise ApiError(409, "NotOurs", f"there is another Job {action.name}; delete or rename it")

    def _subject(self, thing: Thing) -> Subject:
        return Subject(self._world.namespace, thing.name, thing.uid, KINDS[thing.kind])

    def _tell(self, thing: Thing, tree: Tree, telling: Telling | None = None) -> None:
        world = self._world
        try:
            if not world.has_time():
                raise ApiError(0, "OutOfTime", "not told")
            world.api.tell(world.namespace, tree)
        except Exception as error:
            if telling and isinstance(error, ApiError) and error.reason == "AlreadyExists":
                return
            self.failed += 1
            world.log.trouble(f"event {tree['reason']} of {thing.name}", error)
            return
        if telling:
            self.done[telling.reason] += 1
            facts = {"reservation": thing.reservation, "name": thing.name}
            world.log.error("warn", **facts, reason=telling.reason, message=telling.message)


def _job(site: str, namespace: str, action: StartJob) -> Tree:
    """As the CronJob's own would be, but for the labels by which it is known, whoever has edited those."""
    metadata = action.template.get("metadata")
    kept = metadata if isinstance(metadata, dict) else {}
    known = {
        labels.SITE: site,
        labels.RESERVATION: action.thing.reservation,
        labels.ROLE: labels.OCCURRENCE,
    }
    owner = {
        "apiVersion": CONFIG_MAP.version,
        "kind": CONFIG_MAP.name,
        "name": action.thing.name,
        "uid": action.thing.uid,
    }
    return {
        "metadata": {
            "name": action.name,
            "namespace": namespace,
            "labels": {**(kept.get("labels") or {}), **known},
            "annotations": kept.get("annotations") or {},
            "ownerReferences": [owner],
        },
        "spec": action.template.get("spec"),
    }


def _concerned(facts: Facts, thing: Thing) -> list[Thing]:
    """Where people look for it: itself, or all Deployments of its reservation; without any, its timetable."""
    if thing.kind == DEPLOYMENT.name:
        return [thing]
    found = [one.thing for one in facts.deployments if one.thing.kind == DEPLOYMENT.name]
    some = (found, [one.thing for one in facts.sources])
    ours = ([one for one in things if one.reservation == thing.reservation] for things in some)
    return next((things for things in ours if things), [])


def _event_name(telling: Telling) -> str:
    """The same for the same telling."""
    from hashlib import sha256  # noqa: PLC0415 (seldom needed, and not small)

    key = f"{telling.thing.uid} {telling.reason} {telling.key}"
    return f"{telling.thing.name[:50]}.{sha256(key.encode()).hexdigest()[:16]}"

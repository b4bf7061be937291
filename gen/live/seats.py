"""Does a pool ask for what it should? What it lacks or has too much is a broken promise once it has been so
for longer than our bounds; how long it has been so is told by what was written last. Pure.
"""

from collections.abc import Iterator

from gen.live.case import EDIT, REPAIR, RESET, Case
from gen.live.facts import Deployment
from gen.live.rules import Live
from gen.runtime.api import OUR_FIELD_MANAGERS
from gen.runtime.instant import instant_text
from gen.runtime.labels import OCCURRENCE, RESERVATION, ROLE
from gen.runtime.target import full_count, target
from gen.schema.engine import CALLED

YOUNG = 60  # seconds in which a pod of an occurrence that opened may still be on its way


def judged(case: Case) -> Iterator[Live]:
    found, wanted = case.deployment, case.wanted
    if found is None:
        yield missing(case)
        return
    most = _most(case)
    if wanted is not None and found.replicas < wanted:
        told = f"{case.seats(wanted - found.replicas)} missing: {found.replicas} of {wanted} are asked for"
        lacking = _lacking if case.served else _lacking_unserved
        yield lacking(case, found, told)
    elif case.open() and not case.served and opened(case) + YOUNG <= case.look.now:
        yield unserved(case)
    if found.replicas > most:
        yield left(case, found, most)


def missing(case: Case) -> Live:
    name, engine = (
        f"{'NodePool' if case.pool.node_pool else 'Deployment'} {case.pool.scaled}",
        CALLED.get(case.look.engine, "kubectl"),
    )
    file = f"rendered/clusters/{case.look.place.cluster}/reservations/{case.reservation}.yaml"
    fix = f"Let {engine} apply {file} again."
    if case.open():
        return case.live("S031", f"it is open, and its {name} does not exist.", fix)
    return case.live("S025", f"its {name} does not exist.", fix)


def _lacking(case: Case, found: Deployment, missing: str) -> Live:
    now, is_ours = case.look.now, found.scaled_by in OUR_FIELD_MANAGERS
    young = now < max(opened(case) + YOUNG, case.changed + EDIT, case.overridden + EDIT)
    if young or (not is_ours and now < found.scaled_at + RESET):
        return case.live("S032", f"{missing}.", "Its pod is at work; look again in a minute.")
    follows = case.pool.behaviour != "none" and case.active is not None and case.override is None
    if is_ours and follows and found.scaled_at >= max(opened(case), case.overridden):
        seconds = case.timetable.settings.stabilization_seconds if case.timetable else 0
        fix = f"Nothing to do: they are asked for again {seconds} s after the sessions left."
        return case.live("S038", f"{missing}; sessions left, and may come back.", fix)
    by = f", set by {found.scaled_by} at {instant_text(found.scaled_at)}" if found.scaled_at else ""
    log = case.kubectl(f"logs --selector={pods(case)} --all-containers --tail=20")
    message = f"{missing}{by}; its pod does not put it right."
    return case.live("S031", message, f"Read what its pod says: {log}")


def _lacking_unserved(case: Case, found: Deployment, missing: str) -> Live:
    """Nobody knows since when; the latest thing that may have caused it tells the least."""
    now = case.look.now
    scale = _scale(case, found, case.wanted)
    if now < opened(case) + YOUNG:
        return case.live("S032", f"{missing}; its pod is not there yet.", "Look again in a minute.")
    why = "its pod does not run" if case.pods else "the CronJob did not fire, or its Job is gone"
    message = f"{missing}, and no pod serves it: {why}."
    if case.look.has_sweep and now < _last_written(case, found, opened(case)) + REPAIR:
        return case.live("S032", message, f"The sweep repairs it within 5 minutes. By hand: {scale}")
    late = "The sweep should have repaired it. " if case.look.has_sweep else ""
    return case.live("S030", message, f"{late}By hand: {scale}")


def _scale(case: Case, found: Deployment, replicas: int | None) -> str:
    """A command for people."""
    kind = "nodepool" if found.is_nodes else "deployment"
    return case.kubectl(f"scale {kind}/{found.name} --replicas={replicas}", namespaced=not found.is_nodes)


def unserved(case: Case) -> Live:
    fix = f"See what became of it: {case.kubectl(f'get jobs,pods --selector={pods(case)}')}"
    if case.look.has_sweep:
        fix = "The sweep starts a Job within 5 minutes."
    return case.live("S035", "it is open, and no pod serves it.", fix)


def left(case: Case, found: Deployment, most: int, why: str = "") -> Live:
    """`why` nothing of it should be there; else nothing is open."""
    over = [one.end for one in case.occurrences() if one.end <= case.look.now]
    what = "node" if found.is_nodes else "placeholder"
    number = f"{found.replicas - most} {what}{'s' if found.replicas - most > 1 else ''} too many"
    message = f"{number}: {found.replicas} are asked for, at most {most} should be."
    if not most:
        message = f"{number}: {why or _nothing_open(over)}."
    is_kept = case.look.has_sweep or case.served
    if is_kept and case.look.now < _last_written(case, found, max(over, default=0)) + REPAIR:
        return case.live("S034", message, "Its pod or the sweep removes them within 6 minutes.")
    scale = _scale(case, found, most)
    return case.live("S033", message, f"By hand: {scale}")


def _nothing_open(over: list[int]) -> str:
    """`over`: ends of what was."""
    return f"nothing is open{f' since {instant_text(max(over))}' if over else ''}"


def _most(case: Case) -> int:
    """What the pool may have: its full count, whoever is there, or what somebody ordered."""
    if case.override is not None:
        return case.override.target
    return target(case.occurrences(), case.look.now, full_count(case.pool.resource_class))


def opened(case: Case) -> int:
    """When the latest of what is open opened; 0 without."""
    return max((one.open for one in case.open()), default=0)


def _last_written(case: Case, found: Deployment, at: int) -> int:
    """The latest of that instant, an edit of the timetable, the end of an override, and a scale by somebody
    else.
    """
    return max(
        at, case.changed, case.overridden, 0 if found.scaled_by in OUR_FIELD_MANAGERS else found.scaled_at
    )


def pods(case: Case) -> str:
    return f"{RESERVATION}={case.reservation},{ROLE}={OCCURRENCE}"

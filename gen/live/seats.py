"""Does a pool ask for what it should? What it lacks or has too much is a broken promise once it has been so
for longer than our bounds; how long it has been so is told by what was written last. Pure.
"""

from collections.abc import Iterator

from gen.live.case import EDIT, REPAIR, RESET, Case, ago, seats
from gen.live.rules import Live
from gen.runtime.api import FIELD_MANAGER
from gen.runtime.target import full_count, target

OURS = (FIELD_MANAGER, "berth-scaler", "berth-sweep")
YOUNG = 60  # seconds in which a pod of an occurrence that opened may still be on its way


def judged(case: Case) -> Iterator[Live]:
    if case.deployment is None:
        yield _missing(case)
        return
    wanted, replicas = case.want.replicas, case.deployment.replicas
    if wanted is not None and replicas < wanted:
        yield _lacking(case, wanted, replicas)
    elif case.open() and not case.served and _opened(case) + YOUNG <= case.look.now:
        yield _unserved(case)
    most = _most(case)
    if replicas > most:
        yield _left(case, replicas, most)


def _missing(case: Case) -> Live:
    name = case.pool.deployment
    fix = f"Let {_engine(case)} apply {_file(case)} again."
    if case.open():
        return case.live("S031", f"it is open, and its Deployment {name} does not exist.", fix)
    return case.live("S025", f"its Deployment {name} does not exist.", fix)


def _lacking(case: Case, wanted: int, replicas: int) -> Live:
    missing = f"{seats(wanted - replicas)} missing: {replicas} of {wanted} placeholders are asked for"
    if not case.served:
        return _lacking_unserved(case, missing)
    deployment, now = case.deployment, case.look.now
    assert deployment is not None
    ours = deployment.scaled_by in OURS
    if now < max(_opened(case) + YOUNG, case.changed + EDIT) or (
        not ours and now < deployment.scaled_at + RESET
    ):
        return case.live("S032", f"{missing}.", f"Its pod is at work; look again in {YOUNG} s.")
    if ours and case.want.active is not None and deployment.scaled_at >= _opened(case):
        settle = case.timetable.settings.stabilization_seconds if case.timetable else 0
        message = f"{missing}: sessions left, and may come back."
        return case.live("S038", message, f"Nothing to do: they are asked for {settle} s after they left.")
    by = (
        f", set by {deployment.scaled_by} {ago(now - deployment.scaled_at)} ago"
        if deployment.scaled_at
        else ""
    )
    fix = (
        f"Read what its pod says: {case.kubectl(f'logs --selector={_pods(case)} --all-containers --tail=20')}"
    )
    return case.live("S031", f"{missing}{by}, and its pod does not put it right.", fix)


def _lacking_unserved(case: Case, missing: str) -> Live:
    """Nobody knows since when; the latest thing that may have caused it tells the least."""
    deployment, now = case.deployment, case.look.now
    assert deployment is not None
    by_others = 0 if deployment.scaled_by in OURS else deployment.scaled_at
    since = max(_opened(case), case.changed, by_others)
    what = "the CronJob did not fire, or its Job is gone"
    if now < _opened(case) + YOUNG:
        return case.live(
            "S032", f"{missing}; it opened {ago(now - _opened(case))} ago.", "Look again in a minute."
        )
    if now < since + REPAIR and case.look.has_sweep:
        message = f"{missing}, and no pod serves it: {what}."
        return case.live("S032", message, f"The sweep puts it right within 5 minutes. {_by_hand(case)}")
    late = "The sweep should have put it right. " if case.look.has_sweep else ""
    return case.live("S030", f"{missing}, and no pod serves it: {what}.", f"{late}{_by_hand(case)}")


def _by_hand(case: Case) -> str:
    name = case.pool.deployment
    return f"By hand: {case.kubectl(f'scale deployment/{name} --replicas={case.want.replicas}')}"


def _unserved(case: Case) -> Live:
    job = case.kubectl(f"get jobs,pods --selector={_pods(case)}")
    fix = (
        "The sweep starts a Job within 5 minutes." if case.look.has_sweep else f"See what became of it: {job}"
    )
    return case.live("S035", "it is open and its seats stand, but no pod serves it.", fix)


def _left(case: Case, replicas: int, most: int) -> Live:
    deployment, now = case.deployment, case.look.now
    assert deployment is not None
    over = [one.end for one in case.occurrences() if one.end <= now]
    by_others = 0 if deployment.scaled_by in OURS else deployment.scaled_at
    since = max([case.changed, by_others, *over])
    message = f"{replicas - most} placeholder{'s' if replicas - most > 1 else ''} too many: " + (
        f"{replicas} are asked for, at most {most} should be"
        if most
        else f"nothing is open{f' since {ago(now - max(over))}' if over else ''}"
    )
    if now < since + REPAIR and (case.look.has_sweep or case.served):
        return case.live("S034", f"{message}.", "Its pod or the sweep removes them within 6 minutes.")
    hand = case.kubectl(f"scale deployment/{deployment.name} --replicas={most}")
    return case.live("S033", f"{message}.", f"By hand: {hand}")


def _most(case: Case) -> int:
    """What the pool may have: its full count, whoever is there, or what somebody ordered."""
    full = target(case.occurrences(), case.look.now, full_count(case.pool.resource_class))
    return max(full, case.want.replicas or 0) if case.override is None else case.override.target


def _opened(case: Case) -> int:
    """When the latest of what is open opened; 0 without."""
    return max((one.open for one in case.open()), default=0)


def _pods(case: Case) -> str:
    return f"berth.dev/reservation={case.reservation},!berth.dev/resource-class"


def _engine(case: Case) -> str:
    return {"argocd": "Argo CD", "flux": "Flux"}.get(case.look.engine, "somebody")


def _file(case: Case) -> str:
    return f"rendered/clusters/{case.look.place.cluster}/reservations/{case.reservation}.yaml"

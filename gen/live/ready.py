"""Do the placeholders stand in time, and what keeps the others waiting? Pure."""

from collections.abc import Iterator, Sequence

from gen.live.case import REPAIR, Case
from gen.live.facts import Deployment, Trouble, Waiting
from gen.live.rules import Live
from gen.runtime.facts import UNPULLED
from gen.runtime.instant import instant_text
from gen.runtime.labels import CLASS, RESERVATION
from gen.runtime.readiness import asked_at

UNSCHEDULABLE = ("Unschedulable", "SchedulingGated")
PATIENCE = 60  # seconds that a placeholder may wait for a node before anybody is told


def judged(case: Case) -> Iterator[Live]:
    yield from of_waiting(case)
    missing = _not_ready(case)
    if missing > 0:
        see = case.kubectl(f"describe pods --selector={_placeholders_of(case)}")
        what = "placeholders"
        if case.pool.node_pool:
            see = case.kubectl(f"describe nodepool/{case.pool.node_pool}", namespaced=False)
            what = "nodes"
        yield from late(case, missing, what, _since(case), see)


def of_waiting(case: Case) -> Iterator[Live]:
    """What placeholders wait for, whatever is ready."""
    now = case.look.now
    noroom = [one for one in case.waiting if one.trouble and one.trouble.reason in UNSCHEDULABLE]
    stuck = [one for one in case.waiting if one.trouble and one.trouble.reason not in UNSCHEDULABLE]
    if noroom and _first(noroom) + PATIENCE <= now:
        yield _no_room(case, noroom)
    if stuck:
        yield _stuck(case, stuck)
    if case.deployment is not None and case.deployment.refused is not None:
        yield _refused(case, case.deployment, case.deployment.refused)


def _since(case: Case) -> int | None:
    """When the first of those that are not ready began not to be. None: it has been noticed by nobody yet."""
    began = [one.since for one in case.waiting]
    if case.deployment is not None and case.deployment.refused is not None:
        began.append(case.deployment.refused_at)
    return min(began, default=None)


def _refused(case: Case, found: Deployment, why: Trouble) -> Live:
    message = f"placeholders cannot be made since {instant_text(found.refused_at)}: {said([why])}"
    fix = "Let the cluster accept them: a quota, a policy or a webhook of the namespace refuses these pods."
    return case.live("S041", message, fix)


def _no_room(case: Case, waiting: Sequence[Waiting]) -> Live:
    message = (
        f"{_placeholders(waiting)} for a node since {instant_text(_first(waiting))}: {_said_of(waiting)}"
    )
    scaler = case.look.autoscaler
    if scaler == "none":
        return case.live("S040", message, "Add nodes, or lower the count.")
    return case.live("S040", message, f"See why {scaler} adds no node; a quota may be used up.")


def _stuck(case: Case, waiting: Sequence[Waiting]) -> Live:
    reasons = {one.trouble.reason for one in waiting if one.trouble}
    fix = f"See {case.kubectl(f'describe deployment/{case.pool.deployment}')}"
    if reasons & UNPULLED:
        fix = "Put the image where nodes can pull it, or mend images.pause or images.pullSecrets of the site."
    return case.live("S041", f"{_placeholders(waiting)} to start: {_said_of(waiting)}", fix)


def _placeholders(waiting: Sequence[Waiting]) -> str:
    return f"{len(waiting)} placeholder{' waits' if len(waiting) == 1 else 's wait'}"


def _first(waiting: Sequence[Waiting]) -> int:
    return min(one.since for one in waiting)


def _said_of(waiting: Sequence[Waiting]) -> str:
    return said([one.trouble for one in waiting if one.trouble])


def said(troubles: Sequence[Trouble]) -> str:
    """What is said of most of them; the shortest of those, then the first by alphabet."""
    words = [f"{one.reason}: {one.message}".removesuffix(": ") for one in troubles]
    most = max(sorted(set(words), key=lambda text: (len(text), text)), key=words.count)
    return most if most.endswith(".") else f"{most}."


def _not_ready(case: Case) -> int:
    """How many seats neither stand nor are taken. Where all placeholders stay whoever comes, sessions take
    some of their places, and how many is known only if sessions are. No session takes a node away.
    """
    if case.deployment is None or case.wanted is None:
        return 0
    gives_way = case.pool.behaviour == "none" and not case.pool.node_pool
    taken = (case.active or 0) if gives_way else 0
    return min(case.wanted, case.deployment.replicas) - case.deployment.ready - taken


def late(case: Case, missing: int, what: str, since: int | None, see: str) -> Iterator[Live]:
    """`since`: when the first of those that wait began to."""
    now = case.look.now
    timetable, occurrences = case.timetable, case.open()
    if timetable is None or not any(asked_at(one, timetable.settings) <= now for one in occurrences):
        return
    start = min(one.start for one in occurrences)
    knows_taken = case.pool.behaviour != "none" or case.active is not None or _is_excused_by_nobody(case)
    told = f"{missing} of {case.wanted} {what} are not ready"
    fix = f"See what they wait for: {see}"
    if now < start:
        yield case.live("S042", f"{told}, and it starts at {instant_text(start)}.", fix)
    elif knows_taken and since is not None and max(start, since) + REPAIR <= now:
        yield case.live("S043", f"{told}, and it started at {instant_text(start)}.", fix)


def _is_excused_by_nobody(case: Case) -> bool:
    """Where all placeholders stay whoever comes, a session that nobody counts may have one's room; but it
    breaks none that has a node, and of a class without sessions there is none to excuse anything.
    """
    waits = all(one.trouble is None or one.trouble.reason in UNSCHEDULABLE for one in case.waiting)
    return case.pool.sessions is None or not waits


def _placeholders_of(case: Case) -> str:
    return f"{RESERVATION}={case.reservation},{CLASS}={case.pool.resource_class}"

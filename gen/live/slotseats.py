"""Are the slots of a pool what they should be, and what keeps the others waiting? Pure.

A slot says when it was made and until when it stands, and nothing of how long one is missing; so who looks
twice within seconds may see what our pod is about to put right.
"""

from collections.abc import Iterator, Sequence

from gen.live import ready, seats, slotcase
from gen.live.case import EDIT, REPAIR, RESET, Case
from gen.live.facts import Slot
from gen.live.ready import PATIENCE, UNSCHEDULABLE, said
from gen.live.rules import Live
from gen.runtime.instant import instant_text
from gen.runtime.labels import CLASS, RESERVATION, ROLE, SITE, SLOT, STANDING

RESOURCE = "reservations.scheduling.koordinator.sh"


def judged(case: Case) -> Iterator[Live]:
    """Of a pool that slots hold. Nothing where they cannot be listed; that is told of the cluster."""
    if case.pool.has_deployment:
        yield from ready.of_waiting(case)
        if case.deployment is None:
            yield seats.missing(case)
    elif case.deployment is not None and case.deployment.replicas:
        yield seats.left(case, case.deployment, 0, "its seats are held by slots")
    if case.demand is None or case.demand.expires is None:
        yield from left(case)
        return
    yield from _asked(case)
    yield from of_pending(case, case.slots or ())
    yield from _late(case)
    yield from _short(case)


def _asked(case: Case) -> Iterator[Live]:
    if case.wanted is not None and (lacking := case.wanted - slotcase.asked(case)) > 0:
        told = f"{case.seats(lacking)} missing: {case.wanted - lacking} of {case.wanted} have a slot"
        yield _lacking(case, told)
    elif not case.served and seats.opened(case) + seats.YOUNG <= case.look.now:
        yield seats.unserved(case)
    if case.served and case.demand and (over := case.census.spare - case.demand.kept) > 0:
        yield _over(case, over)


def _lacking(case: Case, told: str) -> Live:
    now, since = case.look.now, seats.opened(case)
    at_work = now < max(since + seats.YOUNG, case.changed + EDIT, _newest(case) + RESET)
    if at_work:
        return case.live("S032", f"{told}.", "Its pod is at work; look again in a minute.")
    if case.served:
        log = case.kubectl(f"logs --selector={seats.pods(case)} --all-containers --tail=20")
        return case.live("S031", f"{told}; its pod does not put it right.", f"Read what its pod says: {log}")
    why = "its pod does not run" if case.pods else "the CronJob did not fire, or its Job is gone"
    told = f"{told}, and no pod serves it: {why}."
    if case.look.has_sweep and now < max(since, case.changed, _newest(case)) + REPAIR:
        return case.live("S032", told, "The sweep repairs it within 5 minutes.")
    fix = "The sweep should have repaired it. Read its log" if case.look.has_sweep else "Bring the sweep back"
    return case.live("S030", told, f"{fix}: {case.kubectl('get cronjobs,jobs,pods')}")


def _over(case: Case, over: int) -> Live:
    """More than are kept for anybody."""
    kept = case.demand.kept if case.demand else 0
    told = f"{_slots(over)} too many: {case.census.spare} have no session, at most {kept} should."
    if case.look.now < max(seats.opened(case), case.changed, _newest(case)) + REPAIR:
        return case.live("S034", told, "Its pod or the sweep removes them within 6 minutes.")
    log = case.kubectl(f"logs --selector={seats.pods(case)} --all-containers --tail=20")
    return case.live("S033", told, f"Read what its pod says: {log}")


def left(case: Case) -> Iterator[Live]:
    """Slots with nothing open."""
    standing = case.census.standing
    if not standing:
        return
    number, now = _slots(len(standing)), case.look.now
    if case.timetable is None and case.git is None:
        ends = [one.expires for one in standing if one.expires is not None]
        if len(ends) < len(standing) or now < max(ends) + REPAIR:
            told = f"{number} of it left, and nothing else."
            swept = "The sweep removes them within 6 minutes. " if case.look.has_sweep else ""
            yield case.live("S064", told, f"{swept}By hand: {_delete(case)}")
            return
    over = max((one.end for one in case.occurrences() if one.end <= now), default=0)
    why = f"nothing is open{f' since {instant_text(over)}' if over else ''}"
    if case.pool.slots is None and case.open():
        why = "its seats are held by placeholders" if case.pool.has_deployment else "it has whole nodes now"
    told = f"{number} too many: {why}."
    is_kept = case.look.has_sweep or case.served
    if is_kept and now < max(over, case.changed) + REPAIR:
        yield case.live("S034", told, "Its pod or the sweep removes them within 6 minutes.")
    else:
        yield case.live("S033", told, f"By hand: {_delete(case)}")


def of_pending(case: Case, slots: Sequence[Slot]) -> Iterator[Live]:
    """What those that hold no seat yet wait for, once they have waited for a minute."""
    pending = {one.uid for one in case.census.pending}
    waiting = [
        one for one in slots if one.held.uid in pending and one.held.created + PATIENCE <= case.look.now
    ]
    unseen = [one for one in waiting if not one.is_seen]
    if unseen:
        yield _unseen(case, unseen)
    told = [one for one in waiting if one.trouble]
    if not told:
        return
    reasons = {one.trouble.reason for one in told if one.trouble}
    for_what = "for a node" if reasons <= {*UNSCHEDULABLE} else "to be held"
    words = said([one.trouble for one in told if one.trouble])
    verb = "waits" if len(told) == 1 else "wait"
    message = f"{_slots(len(told))} {verb} {for_what} since {_since(told)}: {words}"
    yield case.live("S040", message, _of_nodes(case))


def _of_nodes(case: Case) -> str:
    scaler = case.look.autoscaler
    if scaler == "none":
        return "Add nodes, or lower the count."
    if case.pool.has_deployment:
        return f"See why {scaler} adds no node; a quota may be used up."
    return f"Add nodes: {scaler} adds none for slots. withPlaceholders makes it add them."


def _unseen(case: Case, unseen: Sequence[Slot]) -> Live:
    scheduler = case.look.scheduler
    message = (
        f"{_slots(len(unseen))} made at {_since(unseen)} or later {'has' if len(unseen) == 1 else 'have'} no "
        f"status: {scheduler} does not look at them."
    )
    if case.look.facts.unread:
        return case.live("S062", message, f"Mend what it cannot read: {case.look.facts.unread[0].name}.")
    command = "get pods --all-namespaces --selector=koord-app=koord-scheduler"
    see = case.kubectl(command, namespaced=False)
    return case.live("S062", message, f"See whether it runs, and under that name: {see}")


def _late(case: Case) -> Iterator[Live]:
    """A slot that stays Pending is no seat."""
    if case.wanted is None:
        return
    missing = min(case.wanted, slotcase.asked(case)) - slotcase.ready(case)
    if missing <= 0:
        return
    waiting = [one.created for one in case.census.pending] + [one.since for one in case.waiting]
    see = case.kubectl(f"describe {RESOURCE} --selector='{_selector(case)}'", namespaced=False)
    yield from ready.late(case, missing, "seats", min(waiting, default=None), see)


def _short(case: Case) -> Iterator[Live]:
    """Slots that end before their window does."""
    ends = case.demand.expires if case.demand else None
    early = [one for one in case.census.living if ends and one.expires and one.expires < ends]
    if early and case.look.now >= max(case.changed, seats.opened(case)) + EDIT:
        first = instant_text(min(one.expires or 0 for one in early))
        message = (
            f"{_slots(len(early))} {'ends' if len(early) == 1 else 'end'} at {first}, before the window at "
        )
        message += f"{instant_text(ends or 0)}."
        log = case.kubectl(f"logs --selector={seats.pods(case)} --container=occurrence --tail=20")
        yield case.live("S065", message, f"Read why its pod does not put it right: {log}")


def _newest(case: Case) -> int:
    """When the last one was made or was over."""
    dead = {one.uid for one in case.census.dead}
    over = [one.changed for one in case.slots or () if one.held.uid in dead]
    return max([*over, *(one.created for one in case.census.standing)], default=0)


def _since(slots: Sequence[Slot]) -> str:
    return instant_text(min(one.held.created for one in slots))


def _selector(case: Case) -> str:
    pairs = {
        SITE: case.look.site,
        RESERVATION: case.reservation,
        CLASS: case.pool.resource_class,
        ROLE: SLOT,
    }
    return ",".join([*(f"{key}={value}" for key, value in pairs.items()), f"!{STANDING}"])


def _delete(case: Case) -> str:
    return case.kubectl(f"delete {RESOURCE} --selector='{_selector(case)}'", namespaced=False)


def _slots(number: int) -> str:
    return f"{number} slot{'' if number == 1 else 's'}"

"""Checks of a pool of placeholders or nodes: are all held, ready in time and closed at the end? Pure."""

import json
from collections.abc import Iterator, Sequence

from berth.core.holders import PLACEHOLDERS, SLOTS
from berth.core.jsonvalues import instant_text
from berth.core.labels import CLASS, OCCURRENCE, RESERVATION, ROLE
from berth.core.objects import DEPLOYMENT, ObjectKind
from berth.core.pooldecision import ScalePool
from berth.core.record import OccurrenceRecord, readiness_due
from berth.core.target import pool_target
from berth.findings import LiveFinding
from berth.live.clusterfacts import LivePool, LiveRecord, WaitingPlaceholder, WaitReason
from berth.live.poolstate import EDIT, REPAIR, RESET, PoolState, number_text, units_text
from berth.live.sync import apply_hint
from berth.plugins.numbers.fieldpatches import field_patch
from berth.plugins.numbers.numberdecision import describe_reset
from berth.plugins.rehearsals.obstacles import IMAGE_PULL_REASONS
from berth.plugins.rehearsals.rehearsalrecord import has_ended, missing_seats

YOUNG = 60  # seconds in which a pod of an occurrence that opened may still be on its way


def check_requested(case: PoolState) -> Iterator[LiveFinding]:
    """Report seats that are wanted and not requested, or that nobody serves what is open."""
    if case.wanted is not None and case.lacks(case.wanted):
        yield _lacking(case, case.wanted)
    elif case.open() and not case.served and opened(case) + YOUNG <= case.snapshot.now:
        yield unserved(case)


def missing(case: PoolState) -> LiveFinding:
    code, begin = ("S030", "it is open, and ") if case.open() else ("S022", "")
    message = f"{begin}its {case.pool.object_kind.name} {case.pool.scaled} does not exist."
    return case.finding(code, message, apply_hint(case.snapshot, case.reservation))


def look_again(case: PoolState) -> int | None:
    """Return after how many seconds the pool can be judged: 0 for now, None if it is as it should be.

    Its pod resets it at once, and requests the seats of sessions again that left a while ago.
    """
    is_missing = case.object is None and case.pool.holder.slots is None
    if is_missing or not case.served or is_young(case):
        return None
    if case.wanted is not None and case.lacks(case.wanted):
        return case.time_left(case.settling + RESET)
    is_over = not (case.pool.holder.slots or case.pool.holder.foreign) and case.requested > _most(case)
    return case.time_left(RESET) if is_over and case.open() else None


def is_young(case: PoolState) -> bool:
    """Return whether the pod may still be on its way to what it serves."""
    due = max(opened(case) + YOUNG, case.changed + EDIT, case.overridden + EDIT, case.newest_slot + RESET)
    return case.snapshot.now < due


def _lacking(case: PoolState, wanted: float) -> LiveFinding:
    """Report missing seats; without a pod, by the latest possible cause, because the start is unknown."""
    shortage, has_sweep = _missing(case, wanted), case.snapshot.has_sweep
    certain = wanted if case.certain is None else min(case.certain, wanted)
    if is_young(case) and (case.served or case.snapshot.now < opened(case) + YOUNG):
        if case.is_suspended and not case.begun:
            fix = "Its CronJob is suspended, so no Job starts; the sweep opens it within 6 minutes."
            return case.finding("S032", f"{shortage}.", fix)
        return case.finding("S032", f"{shortage}.", "The Job's pod is starting; check again in a minute.")
    if case.served and (look_again(case) or not case.lacks(certain)):
        if case.settling:
            fix = f"Nothing to do: they are requested again {case.settling} s after the sessions left."
            return case.finding("S034", f"{shortage}; sessions may have left a moment ago.", fix)
        return case.finding("S032", f"{shortage}.", f"The Job's pod corrects it within {RESET} seconds.")
    deployment, number = case.object, case.number and case.number.object
    if case.served and number and deployment and deployment.is_scaled_by_others:
        reset = describe_reset(ScalePool(number, certain, ""))
        message, _, fix = reset.partition(". ")
        return case.finding("S039", f"{message}.", fix)
    if case.served:
        message = f"{_missing(case, certain)}; the Job's pod has not corrected it."
        return case.finding("S030", message, f"Read the pod's log: {pod_log(case)}")
    shortage = f"{shortage}, and no pod serves it: {why_unserved(case)}."
    by_hand = ""
    if case.pool.holder.slots is None and case.object is not None:
        by_hand = f"By hand: {_scale(case, case.object, wanted)}"
    since = max(opened(case), case.changed, case.overridden, case.newest_slot)
    if has_sweep and case.snapshot.now < since + REPAIR:
        return case.finding("S032", shortage, f"The sweep repairs it within 5 minutes. {by_hand}".rstrip())
    late = "The sweep should have repaired it." if has_sweep else "Bring the sweep back."
    see = f"See {case.kubectl('get cronjobs,jobs,pods')}"
    return case.finding("S030", shortage, f"{late} {by_hand or see}")


def _missing(case: PoolState, wanted: float) -> str:
    deployment, number = case.object, case.pool.holder.foreign
    by = f", set by {deployment.scaled_by}" if deployment and deployment.is_scaled_by_others else ""
    if number:
        return f"{number.text} should be {case.seats(wanted)}, and is {number_text(case.requested)}{by}"
    what = f"are requested{by}" if case.pool.holder.slots is None else "have a slot"
    return f"{case.seats(wanted - case.requested)} missing: {case.requested} of {wanted} {what}"


def pod_log(case: PoolState) -> str:
    """Return a command that shows the log of the Job's pod."""
    return case.kubectl(f"logs --selector={pods(case)} --all-containers --tail=20")


def why_unserved(case: PoolState) -> str:
    if case.uncreated:
        return case.uncreated.removesuffix(".")
    trouble = next((pod.trouble for pod in case.pods if pod.trouble), None)
    if trouble is not None:
        return f"the Job's pod cannot run: {trouble.sentence}".removesuffix(".")
    if case.running:
        lease = case.snapshot.facts.leases.get(case.pool.lease)
        since = f" since {instant_text(lease.renewed)}" if lease and lease.renewed else ""
        return f"its pod {case.running[0].name} runs, and has not renewed its Lease{since}"
    if case.begun and not case.pods:
        return f"its Job {case.begun} has no pod"
    return "the Job's pod does not run" if case.pods else "the CronJob did not fire, or its Job is gone"


def _scale(case: PoolState, pool: LivePool, replicas: float) -> str:
    """Return a kubectl command."""
    if number := case.pool.holder.foreign:
        return set_number(case, number.value(int(replicas)))
    if pool.kind.has_scale:
        return case.kubectl_on_object("scale", f"--replicas={replicas}")
    patch = f'{{"spec":{{"replicas":{replicas}}}}}'
    return case.kubectl_on_object("patch", f"--type=merge --patch='{patch}'")


def set_number(case: PoolState, value: object) -> str:
    """Return a kubectl command that sets a number of somebody else; None removes it."""
    found = case.number.object if case.number else None
    if found is None or found.tree is None:
        return case.kubectl_on_object("edit")
    if found.number.object_kind.has_scale and value is not None:
        return case.kubectl_on_object("scale", f"--replicas={value}")
    patch = json.dumps(field_patch(found.tree, found.number.path, value)[1:])  # without the version
    return case.kubectl_on_object("patch", f"--type=json --patch='{patch}'")


def unserved(case: PoolState) -> LiveFinding:
    fix = f"See what happened: {case.kubectl(f'get jobs,pods --selector={pods(case)}')}"
    if case.snapshot.has_sweep:
        fix = "The sweep starts a Job within 5 minutes."
    why = f": {why_unserved(case)}" if case.uncreated or case.running else ""
    return case.finding("S035", f"it is open, and no pod serves it{why}.", fix)


def left(case: PoolState, pool: LivePool, most: int, why: str = "") -> LiveFinding:
    """Report placeholders that are too many. `why`: the reason, by default that nothing is open."""
    extra = pool.replicas - most
    placeholders = f"{extra} placeholder{'s' if extra > 1 else ''}"
    number = f"{placeholders if pool.kind is DEPLOYMENT else case.seats(extra)} too many"
    message = f"{number}: {pool.replicas} are requested, at most {most} should be."
    if not most:
        message = f"{number}: {why or nothing_open(case)}."
    is_soon = is_closing(case) or bool(look_again(case))
    return too_many(case, message, f"By hand: {_scale(case, pool, most)}", is_soon=is_soon)


def too_many(case: PoolState, message: str, fix: str, *, is_soon: bool) -> LiveFinding:
    """Report what should not be held. `is_soon`: a pod or the sweep still has time to release it."""
    if is_soon:
        return case.finding("S034", message, "The Job's pod or the sweep corrects it within 6 minutes.")
    return case.finding("S033", message, fix)


def is_closing(case: PoolState) -> bool:
    """Return whether a pod or the sweep still has time to close what is over."""
    is_kept = case.snapshot.has_sweep or case.served
    return is_kept and case.snapshot.now < max(last_end(case), case.changed, case.overridden) + REPAIR


def nothing_open(case: PoolState) -> str:
    """Return since when nothing is open."""
    last = last_end(case)
    return f"nothing is open{f' since {instant_text(last)}' if last else ''}"


def last_end(case: PoolState) -> int:
    """Return when the last occurrence ended; 0 without one."""
    now = case.snapshot.now
    return max((occurrence.end for occurrence in case.occurrences() if occurrence.end <= now), default=0)


def _most(case: PoolState) -> int:
    """Return the most the pool may have: its full count, the target of an override, or nothing."""
    target = case.override.target if case.override else None
    if case.timetable is None:
        return target or 0
    return pool_target(case.timetable, case.pool, case.snapshot.now, None, target).replicas


def opened(case: PoolState) -> int:
    """Return when the latest open occurrence opened; 0 without one."""
    return max((occurrence.open for occurrence in case.open()), default=0)


def pods(case: PoolState) -> str:
    """Return the labels of the pods of the reservation's Jobs."""
    return f"{RESERVATION}={case.reservation},{ROLE}={OCCURRENCE}"


SCHEDULING_SECONDS = 60  # seconds that a placeholder may wait for a node before anybody is told
READY_SECONDS = 60  # seconds in which a placeholder that has a node becomes ready, or another one takes over
_OBSERVED_SECONDS = 120  # seconds in which an autoscaler looks at a CapacityBuffer: Karpenter every 30
_FEW = 3  # names that are listed one by one


def check_pool_seats(case: PoolState) -> Iterator[LiveFinding]:
    if case.object is None:
        yield missing(case)
    else:
        yield from check_requested(case)
        if case.object.replicas > (most := _most(case)):
            yield left(case, case.object, most)
    kind = case.pool.object_kind
    if kind != DEPLOYMENT:
        yield from check_without_pods(case, kind)
        return
    yield from check_waiting(case)
    unready = _not_ready(case)
    if unready <= 0:
        return
    lost = [each for each in case.waiting if each.node and not each.is_pending and each.trouble is None]
    selector = f"{RESERVATION}={case.reservation},{CLASS}={case.pool.resource_class}"
    see = case.kubectl(f"describe pods --selector={selector}")
    if lost:
        nodes = " ".join(sorted({placeholder.node for placeholder in lost})[:_FEW])
        see = case.kubectl(f"describe nodes {nodes}", namespaced=False)
    yield from late(case, unready, "placeholders", _ready_due(case), see, _of_lost(lost) + _of_pulling(case))


def check_without_pods(case: PoolState, kind: ObjectKind) -> Iterator[LiveFinding]:
    """Report a CapacityBuffer or NodePool that the autoscaler cannot use or fill, or does not look at.

    Of an object of somebody else, report what its status counts too few of.
    """
    deployment = case.object
    if deployment is None or not deployment.replicas:
        return
    see = case.kubectl_on_object("describe")
    if deployment.refused is not None:
        if deployment.refused_at + _OBSERVED_SECONDS <= case.snapshot.now:
            since, why = instant_text(deployment.refused_at), deployment.refused.sentence
            message = f"{case.snapshot.cluster.autoscaler} does not keep its {kind.name} since {since}: {why}"
            yield case.finding("S041", message, f"See its conditions: {see}")
    elif deployment.tells_ready and (missing := _not_ready(case)) > 0:
        yield from late(case, missing, units_text(case.pool.holder), _ready_due(case), see)


def check_waiting(case: PoolState) -> Iterator[LiveFinding]:
    """Report what placeholders wait for."""
    now = case.snapshot.now
    noroom = [each for each in case.waiting if each.trouble and each.trouble.lacks_node]
    stuck = [each for each in case.waiting if each.trouble and not each.trouble.lacks_node]
    if noroom and _first(noroom) + SCHEDULING_SECONDS <= now:
        yield _no_room(case, noroom)
    if stuck:
        yield _stuck(case, stuck)
    if case.object is not None and case.object.refused is not None:
        yield _refused(case, case.object, case.object.refused)


def _ready_due(case: PoolState) -> int | None:
    """Return when the first seat that is not ready is a broken promise, None if that is not known.

    Nodes take minutes to come. A placeholder that has a node, or that is not even made, waits for none; nor
    do many at once, unless they are new.
    """
    deployment = case.object
    due = [each.since + (REPAIR if each.is_pending else READY_SECONDS) for each in case.waiting]
    if deployment is not None and deployment.refused is not None:
        due.append(deployment.refused_at + READY_SECONDS)
    if deployment is not None and deployment.short_since:
        are_new_until = max(opened(case), case.changed, case.overridden) + REPAIR
        due.append(max(deployment.short_since + READY_SECONDS, are_new_until))
    return min(due, default=None)


def _of_lost(lost: Sequence[WaitingPlaceholder]) -> str:
    """Return which placeholders stopped being ready on which nodes; empty without any."""
    findings = [
        f"{len(mine)} stopped on the node {node} ({', '.join(mine[:_FEW])}{', ...' * (len(mine) > _FEW)})"
        for node in sorted({placeholder.node for placeholder in lost})
        for mine in [sorted(placeholder.name for placeholder in lost if placeholder.node == node)]
    ]
    more = f"; and more on {len(findings) - _FEW} other nodes" if len(findings) > _FEW else ""
    return f"; {'; '.join(findings[:_FEW])}{more}" if findings else ""


def _of_pulling(case: PoolState) -> str:
    """Return which images placeholders that have a node wait for; empty without any."""
    waiting = [each for each in case.waiting if each.images and not each.trouble]
    pulling = [each for each in waiting if each.node and each.is_pending]
    if not pulling:
        return ""
    names = ", ".join(dict.fromkeys(name for placeholder in pulling for name in placeholder.images))
    wait = "waits on its node" if len(pulling) == 1 else "wait on their nodes"
    return f"; {len(pulling)} {wait} for the image{'s' if ',' in names else ''} {names}"


def _refused(case: PoolState, pool: LivePool, why: WaitReason) -> LiveFinding:
    message = f"placeholders cannot be made since {instant_text(pool.refused_at)}: {why.sentence}"
    fix = "Check the quotas, policies and webhooks of the namespace: one of them rejects these pods."
    return case.finding("S041", message, fix)


def _no_room(case: PoolState, waiting: Sequence[WaitingPlaceholder]) -> LiveFinding:
    since = instant_text(_first(waiting))
    message = f"{_placeholders(waiting)} for a node since {since}: {_waiting_reason(waiting)}"
    return case.finding("S040", message, how_to_add_nodes(case))


def how_to_add_nodes(case: PoolState) -> str:
    scaler = case.snapshot.cluster.autoscaler
    if scaler == "none":
        return "Add nodes, or lower the count."
    if case.pool.holder.slots is None or case.pool.holder.has_deployment:
        return f"See why {scaler} adds no node; a quota may be used up."
    return f"Add nodes: {scaler} adds none for slots. withPlaceholders makes it add them."


def _stuck(case: PoolState, waiting: Sequence[WaitingPlaceholder]) -> LiveFinding:
    reasons = {placeholder.trouble.reason for placeholder in waiting if placeholder.trouble}
    fix = f"See {case.kubectl(f'describe deployment/{case.pool.name}')}"
    if reasons & IMAGE_PULL_REASONS:
        fix = (
            "Put the image where nodes can pull it, or fix its name and Secret: images and imagePullSecrets "
            "of the class, or images.pause and images.pullSecrets of the site."
        )
    return case.finding("S041", f"{_placeholders(waiting)} to start: {_waiting_reason(waiting)}", fix)


def _placeholders(waiting: Sequence[WaitingPlaceholder]) -> str:
    return f"{len(waiting)} placeholder{' waits' if len(waiting) == 1 else 's wait'}"


def _first(waiting: Sequence[WaitingPlaceholder]) -> int:
    return min(placeholder.since for placeholder in waiting)


def _waiting_reason(waiting: Sequence[WaitingPlaceholder]) -> str:
    return most_common_reason([placeholder.trouble for placeholder in waiting if placeholder.trouble])


def most_common_reason(troubles: Sequence[WaitReason]) -> str:
    """Return the most frequent reason; of several the shortest, then the first by alphabet."""
    words = [trouble.sentence for trouble in troubles]
    return max(sorted(set(words), key=lambda text: (len(text), text)), key=words.count)


def _not_ready(case: PoolState) -> float:
    """Return how many seats are neither ready nor taken.

    With behavior `none`, sessions preempt placeholders and take slots; how many is known only if sessions
    are. No session takes a node away, and a buffer is filled again.
    """
    if case.object is None or case.wanted is None:
        return 0
    gives_way = not case.counts_sessions and case.pool.holder.kind in {PLACEHOLDERS, SLOTS}
    taken = (case.active or 0) if gives_way else 0
    return min(case.wanted, case.object.replicas) - case.object.ready - taken


def late(  # noqa: PLR0913, PLR0917 - what is told of them
    case: PoolState, missing: float, what: str, due: int | None, see: str, which: str = ""
) -> Iterator[LiveFinding]:
    """Report seats that are not ready, and after the start should have been at `due`."""
    now = case.snapshot.now
    timetable, occurrences = case.timetable, case.open()
    if timetable is None or not any(
        readiness_due(occurrence, timetable.settings) <= now for occurrence in occurrences
    ):
        return
    start = min(occurrence.end if occurrence.rehearses else occurrence.start for occurrence in occurrences)
    knows_taken = case.counts_sessions or case.active is not None or _is_excused_by_nobody(case)
    message = f"{missing} of {case.wanted} {what} are not ready"
    fix = f"See what they wait for: {see}"
    if now < start:
        is_rehearsal = all(occurrence.rehearses for occurrence in occurrences)
        what = "its rehearsal ends" if is_rehearsal else "it starts"
        yield case.finding("S032", f"{message}, and {what} at {instant_text(start)}{which}.", fix)
    elif knows_taken and due is not None and max(start + READY_SECONDS, due) <= now:
        yield case.finding("S043", f"{message}, and it started at {instant_text(start)}{which}.", fix)


def _is_excused_by_nobody(case: PoolState) -> bool:
    """Return whether no uncounted session can explain missing placeholders.

    With behavior `none`, an uncounted session may have taken the place of a placeholder, but not of one that
    has a node, and a class without sessions has none.
    """
    waits = all(
        each.is_pending and (each.trouble is None or each.trouble.lacks_node) for each in case.waiting
    )
    return case.pool.sessions is None or not waits


REPORTED_SECONDS = 30 * 86_400  # for which a failed rehearsal is reported


def check_rehearsals(case: PoolState) -> Iterator[LiveFinding]:
    """Report the rehearsals of a pool that failed, if they are the last of a date that is to come or open."""
    ours = [*_ended(case.record, case)] if case.record else []
    if not ours:
        return
    every = [one for record in case.snapshot.facts.records for one in _ended(record, case)]
    last = {one.rehearses: one.occurrence for one in sorted(every, key=lambda one: one.window or (0, 0, 0))}
    for record in ours:
        if last[record.rehearses] == record.occurrence:
            yield from _failed(case, record)


def _failed(case: PoolState, record: OccurrenceRecord) -> Iterator[LiveFinding]:
    missing, now = missing_seats(record).get(case.pool.resource_class), case.snapshot.now
    if record.window is None or not missing:
        return
    if record.window[2] + REPORTED_SECONDS < now or not _is_coming(case, record.rehearses):
        return
    promised = record.promised[case.pool.resource_class]
    why = "; ".join(record.faults) or "the record says no reason"
    message = (
        f"{missing} of {case.seats(promised)} were not ready in the rehearsal at "
        f"{instant_text(record.window[0])}, for {record.rehearses}: {why.removesuffix('.')}."
    )
    course, _, date = record.rehearses.partition("/")
    fix = f"Make room, then rehearse again: berth rehearse {course} {date} --at INSTANT"
    yield case.finding("S045", message, fix)


def _ended(record: LiveRecord, case: PoolState) -> Iterator[OccurrenceRecord]:
    """Yield rehearsals with seats of this class that have all of them, or had their time."""
    for rehearsal in record.rehearsals:
        if case.pool.resource_class in rehearsal.promised and has_ended(rehearsal, case.snapshot.now):
            yield rehearsal


def _is_coming(case: PoolState, occurrence: str) -> bool:
    """Tell whether what is rehearsed is in the timetable, and not over."""
    timetable = case.timetable or case.git
    known = timetable.occurrences if timetable else ()
    return any(one.id == occurrence and one.end > case.snapshot.now for one in known)

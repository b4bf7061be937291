"""What to do so that a pool stands as desired: the decision that scaler and sweep share. Pure."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from berth.core.fields import field_manager, field_value
from berth.core.holders import SlotSpec
from berth.core.jsonvalues import Tree, instant_text
from berth.core.labels import CLASS, HELD, RESERVATION, ROLE, SITE
from berth.core.poolobjects import HELD_KEY, ObjectRef, PoolObject
from berth.core.slots import SlotCounts, SlotOwner, SlotPlan, bridging_placeholders, plan_slots, slot_demand
from berth.core.target import DesiredState, PoolTarget, replica_change
from berth.core.timetable import note_name

NOTE_GRACE = 60  # seconds that somebody has to write a number after the note about it


class ScalePool(NamedTuple):
    """Write the number of a pool."""

    pool: PoolObject
    to: float
    why: str
    leaving: tuple[SlotOwner, ...] = ()  # placeholders that must leave their slots before
    occurrences: tuple[str, ...] = ()  # that it is about
    value: object = None  # of somebody else's number; None: removes it
    note: Tree | None = None  # the ConfigMap that says what it was, which is written before
    closes: bool = False  # removes that ConfigMap afterwards
    is_lost: bool = False  # what it was is not known, so it stays
    lease: str = ""  # that nobody may hold by then; empty: whoever does

    @property
    def ref(self) -> ObjectRef:
        return self.pool.ref

    @property
    def is_needed(self) -> bool:
        """Whether the object has another number."""
        number, tree = self.pool.number, self.pool.tree
        if tree is None:
            return self.pool.replicas != self.to
        before = field_value(tree, number.path)
        return number.units(before) != number.units(self.value) or (before is None) != (self.value is None)


class ChangeSlots(NamedTuple):
    """Make, renew and remove slots of a class."""

    ref: ObjectRef  # which gets the Event: the timetable, or a slot
    resource_class: str
    slots: SlotSpec | None  # of those that are made; None: the pool is removed
    plan: SlotPlan
    why: str
    lease: str = ""  # as of `ScalePool`


class PoolFound(NamedTuple):
    """What was found of a pool. `object` is what is scaled, None if there is none."""

    object: PoolObject | None
    slots: SlotCounts = SlotCounts()
    settled: int | None = 0  # sessions that own no slot and had enough time to take one; None: nobody counts


class PoolDecision(NamedTuple):
    """What a pool should have, free slots where slots hold it, and what to do."""

    target: PoolTarget
    actions: tuple[ScalePool | ChangeSlots, ...]
    is_busy: bool = False  # slots are being replaced: look again soon


def decide_pool(
    ref: ObjectRef,
    observed: PoolFound,
    desired: DesiredState,
    why: str = "",
    settled: DesiredState | None = None,
) -> PoolDecision:
    """Decide what to do so that a pool stands as desired.

    `ref` is the timetable. `why` is the reason of all actions, where the caller knows it; else the reason
    follows from `settled`, the last state in which the pool was as desired. Placeholders that bridge the time
    until slots are available are scaled first. Once nothing of the pool is open, all its slots are dropped.
    Where nobody counts sessions, as in the sweep, no free slot is removed and none is renewed.
    """
    pool, stands = desired.target.pool, observed.object
    if pool.slots is None:
        if stands is None or (pool.holder.foreign and not desired.target.is_open):
            closing = () if desired.target.is_shared else release(stands, why or "closed", desired.now)
            return PoolDecision(desired.target, closing)
        change = replica_change(stands.replicas, desired, settled)
        if change is None:
            return PoolDecision(desired.target, ())
        to = desired.target.replicas
        action = ScalePool(stands, to, why or change.reason, occurrences=change.occurrences)
        if stands.tree:
            value = stands.number.value(to)
            action = action._replace(value=value, note=_note(desired, stands))
        return PoolDecision(desired.target, (action,))
    actions: list[ScalePool | ChangeSlots] = []
    demand = slot_demand(desired, sum(observed.slots.owners.values()), observed.settled or 0)
    ready = 0
    if pool.slots.placeholders and stands:
        number, reason, ready = 0, "closed", stands.ready
        if demand.is_open:
            number = bridging_placeholders(observed.slots, demand.wanted, int(stands.replicas), desired.now)
            reason = f"{number} seats wait for slots" if number else "no seat waits for a slot"
        leaving = () if number else tuple(owner for slot in observed.slots.handed for owner in slot.owners)
        for action in scale_pool(stands, number, why or reason):
            actions.append(action._replace(leaving=leaving, occurrences=demand.target.occurrences))
    plan = plan_slots(observed.slots, pool.slots, demand, desired.now, ready)
    if observed.settled is None:
        plan = plan._replace(renew=(), remove=())
    if plan.writes:
        why = why or _slot_reason(observed.slots, plan, desired._replace(target=demand.target), settled)
        actions.append(ChangeSlots(ref, pool.resource_class, pool.slots, plan, why))
    return PoolDecision(demand.target, tuple(actions), plan.is_busy)


def _note(desired: DesiredState, stands: PoolObject) -> Tree:
    """Return the ConfigMap that says what a number was before it is held. Each one differs from the last."""
    pool, before = desired.target.pool, field_value(stands.tree, stands.number.path)
    if stands.held and stands.is_noted:
        before = stands.held.before
    after = stands.held.version if stands.held else ""
    note = {"before": before, "uid": stands.ref.uid, "since": instant_text(desired.now), "after": after}
    return {
        "metadata": {
            "name": note_name(pool),
            "labels": {
                SITE: desired.timetable.site,
                RESERVATION: desired.timetable.reservation,
                CLASS: pool.resource_class,
                ROLE: HELD,
            },
        },
        "data": {HELD_KEY: json.dumps(note)},
    }


def release(stands: PoolObject | None, why: str, now: int) -> tuple[ScalePool, ...]:
    """Return how the number of somebody else goes back to what it was, if it is held.

    It stays where that is not known, as in an object that was made since. A new note about a number that is
    as it should be is left alone: somebody may be about to write the number.
    """
    if stands is None or stands.held is None:
        return ()
    number, held, present = stands.number, stands.held, field_value(stands.tree, stands.number.path)
    is_known = stands.is_noted and (held.before is None or number.is_amount(held.before))
    is_lost = number.otherwise is None and not is_known
    value = present if is_lost else held.before if number.otherwise is None else number.otherwise
    to = number.units(value) or 0
    action = ScalePool(stands, to, why, value=value, closes=True, is_lost=is_lost)
    return (action,) if action.is_needed or not 0 <= now - held.since < NOTE_GRACE else ()


def scale_pool(stands: PoolObject | None, to: int, why: str) -> Iterator[ScalePool]:
    """Yield the scaling of a pool that is there and has another number of replicas."""
    if stands and stands.replicas != to:
        yield ScalePool(stands, to, why)


def _slot_reason(
    slots: SlotCounts, plan: SlotPlan, desired: DesiredState, settled: DesiredState | None
) -> str:
    """Return why slots change, for the log."""
    if not desired.target.occurrences and desired.target.override is None:
        return "closed"
    if plan.drop:
        return f"{len(plan.drop)} were over, or lost their node"
    if change := replica_change(slots.spare, desired, settled):
        return change.reason
    if plan.make or plan.remove:
        shape = desired.target.pool.slots.hash if desired.target.pool.slots else ""
        is_retry = all(slot.hash == shape for slot in plan.remove)
        return "found no room, tried again" if is_retry else "another shape"
    is_handed_over = any(slot.is_to_close for slot in plan.renew)
    return "placeholders have handed over" if is_handed_over else "the end has moved"


_ADVICE = (
    ("argocd", "Add the field to ignoreDifferences of its Application, with RespectIgnoreDifferences=true."),
    ("kustomize-controller", "Add the field to spec.ignore of its Kustomization, or leave it out of git."),
    ("helm", "Leave the field out of the values of its release."),
    ("", "Let it leave this field alone."),
)
"""What to write so that a manager, by the beginning of its name, leaves a field to Berth."""


def describe_reset(action: ScalePool, ours: Sequence[str]) -> str:
    """Return who has set back a number of theirs, and what to do. `ours` are the managers of Berth."""
    pool = action.pool
    manager = field_manager(pool.tree or {}, pool.number.path, ours)
    advice = next(text for begin, text in _ADVICE if manager.startswith(begin))
    who = manager or "somebody"
    return f"{who} has set {pool.number.text} to {pool.replicas}, and Berth holds {action.to} there. {advice}"

"""Which reservations and objects are removed because the inventory does not name them. Pure."""

from collections.abc import Iterable, Iterator

from berth.core.actions import Action, RemoveObject
from berth.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT
from berth.core.poolobjects import PoolObject
from berth.core.removal import REMOVAL_DELAY, marked_since, remove, remove_slots
from berth.core.state import ReservationState, SiteState, TimetableObject


def is_removable(facts: SiteState, state: ReservationState, source: TimetableObject, now: int) -> bool:
    """Return whether the reservation has been orphaned for long enough."""
    since = marked_since([source.ref], now)
    return facts.is_orphaned(state.reservation) and since is not None and now - since >= REMOVAL_DELAY


def removals(
    facts: SiteState, state: ReservationState, source: TimetableObject, now: int
) -> Iterator[Action]:
    """Remove everything of an orphaned reservation, or only its windows if git holds it persistently now."""
    since = source.ref.orphaned_since
    if facts.is_persistent(state.reservation):
        why = f"its windows are not in git since {since}"
        texts = [other.ref for other in state.others if other.ref.kind == CONFIG_MAP.name]
        refs = [ref for ref in state.refs() if ref not in texts]
        slots = [slot for slot in state.slots if not slot.is_persistent]
    else:
        why, refs, slots = f"its reservation is not in git since {since}", state.refs(), list(state.slots)
    yield from remove(state, refs, why)
    yield from remove_slots(slots, source.ref, why)
    # A pod that works would hold them again; the next run finds it gone.
    if "numbers" in facts.plugins and not facts.are_left_led(state, now):
        from berth.plugins.numbers.numbersweep import unnamed_numbers  # noqa: PLC0415 - where a cluster has them

        yield from unnamed_numbers(facts, state, why, now)


def outdated_slots(facts: SiteState, state: ReservationState, now: int) -> Iterator[Action]:
    """Remove persistent slots that git no longer has. New ones may be newer than the inventory."""
    if not facts.has_inventory or facts.git.persistent is None or not facts.is_in_git(state.reservation):
        return
    names = facts.git.persistent.get(state.reservation, frozenset())
    slots = [slot for slot in state.slots if slot.is_persistent and slot.slot.name not in names]
    old = [slot for slot in slots if now - slot.ref.created >= REMOVAL_DELAY]
    yield from remove_slots(old, None, "the inventory does not name them")


def outdated_objects(
    facts: SiteState,
    state: ReservationState,
    source: TimetableObject,
    unnamed: Iterable[PoolObject],
    now: int,
) -> Iterator[RemoveObject]:
    """Remove Deployments and CronJobs of classes and times that a reservation no longer has.

    `unnamed` are the pools that its timetable does not name. Not to be called while the reservation is open
    or served: a CronJob takes its Jobs with it. What is new may be newer than inventory and timetable.
    """
    listed = facts.git.objects
    if not facts.has_inventory or listed is None or facts.is_orphaned(state.reservation):
        return
    refs = [pool.ref for pool in unnamed if pool.ref.kind == DEPLOYMENT.name and not pool.replicas]
    cronjobs = [cronjob.ref for cronjob in state.cronjobs if cronjob.ref.name != source.ref.name]
    for ref in (*refs, *(ref for ref in cronjobs if (CRON_JOB.name, ref.name) not in listed)):
        if now - max(ref.created, source.changed) >= REMOVAL_DELAY and not ref.is_terminating:
            yield RemoveObject(ref, "its reservation no longer has it")

"""What the sweep does about numbers of somebody else."""

from collections.abc import Callable, Iterator

from berth.core.actions import Action, RemoveObject
from berth.core.decide import overrides_of, timetable_of
from berth.core.jsonvalues import TimetableError
from berth.core.objects import CONFIG_MAP
from berth.core.poolobjects import PoolObject, read_pool
from berth.core.removal import APPLY_GRACE
from berth.core.state import NumberUse, ReservationState, SiteState, TimetableObject
from berth.core.target import PoolTarget
from berth.core.timetable import TimetablePool, note_name
from berth.plugins.numbers.foreignnumbers import ForeignNumber
from berth.plugins.numbers.numberdecision import release
from berth.plugins.numbers.numberwrites import read_number
from berth.plugins.numbers.peers import number_targets
from berth.runtime.apiclient import ApiError
from berth.runtime.program import RuntimeContext


def with_numbers(state: SiteState, context: RuntimeContext, failed: Callable[[], object]) -> SiteState:
    """Read the numbers of somebody else that are held or should be."""
    found: dict[str, PoolObject] = {}
    unread: set[str] = set()
    state = state._replace(uses=number_uses(state, int(context.now())))
    for key, number in numbers_to_read(state).items():
        try:
            found[key] = read_number(context.api, context.namespace, number.name, number)
        except ApiError as error:
            if not error.is_gone():
                context.log.trouble(f"get {number.object_kind.plural} {number.name}", error)
                failed()
                unread.add(key)
    return state._replace(numbers=found, unread_numbers=frozenset(unread))


def number_uses(facts: SiteState, now: int) -> tuple[NumberUse, ...]:
    """Return the pools that hold numbers of somebody else. Few reservations have such pools."""
    uses = []
    for state in facts.reservations:
        name, source = state.reservation, next(iter(state.timetables), None)
        occurrences: tuple[str, ...] = ()
        if source and ('"number"' in source.text or state.targets):
            try:
                timetable = timetable_of(facts, state, source)
            except TimetableError:
                occurrences = ("unknown",)  # what it holds stays
            else:
                if not _is_removable(facts, state, source, now):
                    targets = number_targets(timetable, overrides_of(source, timetable)[0], now)
                    uses += [NumberUse(name, target, True) for target in targets]
        for evidence in state.targets:
            target = PoolTarget(evidence.in_timetable, 0, occurrences)
            uses.append(NumberUse(name, target, bool(occurrences)))
    return tuple(uses)


def numbers_to_read(facts: SiteState) -> dict[str, ForeignNumber]:
    """Return the numbers of somebody else that are held or should be, by key.

    Those that no timetable names are among them: their notes may have lost the label by which they are found.
    """
    # What timetables name comes last: the cluster may no longer have the version of older evidence.
    pools = {use.key: use.target.pool for use in sorted(facts.uses, key=lambda use: use.is_named)}
    due = facts.asked | {use.key for use in facts.uses if not use.is_named}
    return {
        key: pool.holder.foreign
        for key, pool in pools.items()
        if pool.holder.foreign and (key in due or note_name(pool) in facts.held)
    }


def number_of(facts: SiteState, reservation: str, pool: TimetablePool) -> PoolObject | None:
    """Return the object with somebody else's number as a pool of the reservation reads it."""
    number, found = pool.holder.foreign, facts.numbers.get(pool.key)
    if number is None or found is None or found.tree is None:
        return None
    stands = read_pool(number, found.tree)
    return stands._replace(ref=stands.ref._replace(reservation=reservation), held=found.held)


def unnamed_numbers(facts: SiteState, state: ReservationState, why: str, now: int) -> Iterator[Action]:
    """Give back numbers of somebody else that the timetable no longer names, and remove what tells of them.

    Only what an engine has applied says which numbers these are: the account of a reservation can write the
    note that says what a number was.
    """
    ours = [use for use in facts.uses if use.is_named and use.reservation == state.reservation]
    named = {use.key: use.target.pool.holder for use in ours}
    for target in state.targets:
        pool = target.in_timetable
        if pool.key not in named and pool.key not in facts.asked:
            stands = number_of(facts, state.reservation, pool)
            yield from release(stands, why, now)
            if (stands and stands.held) or pool.key in facts.unread_numbers:
                continue
        is_old = now - target.ref.created > APPLY_GRACE and not target.ref.is_terminating
        if is_old and named.get(pool.key) != pool.holder:
            yield RemoveObject(target.ref, "no timetable names its number")


def unused_notes(facts: SiteState, now: int) -> Iterator[RemoveObject]:
    """Remove notes about numbers that nobody holds, or whose objects are gone."""
    held = {*facts.asked, *facts.numbers, *facts.unread_numbers}
    names = {note_name(use.target.pool) for use in facts.uses if use.key in held}
    for name, note in facts.held.items() if facts.reads(CONFIG_MAP) else ():
        is_old = now - note.ref.created > APPLY_GRACE and not note.ref.is_terminating
        if name not in names and is_old:
            yield RemoveObject(note.ref, "no number is held by it", note.version)


def _is_removable(facts: SiteState, state: ReservationState, source: TimetableObject, now: int) -> bool:
    if not facts.prunes:
        return False
    from berth.plugins.pruning.pruning import is_removable  # noqa: PLC0415 - where nobody else prunes

    return is_removable(facts, state, source, now)

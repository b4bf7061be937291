"""Reads and writes numbers of somebody else, and the notes about what they were."""

from berth.core.jsonvalues import Tree, part
from berth.core.objects import CONFIG_MAP, ObjectRef
from berth.core.pooldecision import ScalePool
from berth.core.poolobjects import HeldValue, PoolObject, parse_held, unreadable_note
from berth.plugins.numbers.fieldpatches import field_patch
from berth.plugins.numbers.foreignnumbers import ForeignNumber
from berth.plugins.numbers.numberdecision import is_needed
from berth.runtime.apiclient import JSON_PATCH, Api, ApiError


def write_number(api: Api, namespace: str, action: ScalePool) -> PoolObject:
    """Write the number of a pool and return how it stands then.

    What the number of somebody else was is noted before, and the note is removed once it is that again. A
    note that is written anew meanwhile stays, so that no number is held without one. What is noted first was
    there before and after the look for a note: what others hold is never taken for what was there before.
    """
    pool, held = action.pool, action.pool.held
    if action.note:
        now = api.get_pool(namespace, pool.ref.name, pool.number) if not pool.is_noted else pool
        if now.resource_version != pool.resource_version:
            raise ApiError(409, "Conflict", "it has changed")
        _apply_note(api, namespace, action.note)
        pool = pool._replace(held=parse_held(pool.ref, action.note))
    if is_needed(action):
        pool = _set_number(api, namespace, pool, action.value)
    if action.closes and held:
        is_same = {"uid": held.ref.uid, "resourceVersion": held.version}
        if not api.delete(CONFIG_MAP, namespace, held.ref.name, **is_same):
            raise ApiError(409, "Conflict", "it is held again")
        if held.is_kept:
            _release_note(api, namespace, held.ref.name)
        pool = pool._replace(held=None)
    return pool


def _apply_note(api: Api, namespace: str, note: Tree) -> None:
    """Write a note, in place of one that its account has made immutable or unreadable."""
    name = str(part(note, "metadata")["name"])
    try:
        api.apply(CONFIG_MAP, namespace, name, note)
    except ApiError as error:
        if error.status != 422 and not error.is_unreadable():
            raise
        api.delete(CONFIG_MAP, namespace, name)
        _release_note(api, namespace, name)
        api.apply(CONFIG_MAP, namespace, name, note)


def _release_note(api: Api, namespace: str, name: str) -> None:
    """Let a note go that finalizers keep: whoever may write it may have added them."""
    api.patch(CONFIG_MAP, namespace, name, {"metadata": {"finalizers": None}})


ATTEMPTS = 10  # at an object that others keep changing: its status is news, too


def write_last(api: Api, namespace: str, action: ScalePool) -> PoolObject | None:
    """Write a number though its object keeps changing, and return how it stands then.

    Return None if somebody else has written the number.
    """
    pool, number = action.pool, action.pool.number.foreign
    assert number is not None
    for _ in range(ATTEMPTS):
        try:
            return write_number(api, namespace, action._replace(pool=pool))
        except ApiError as error:
            if not error.is_conflict():
                raise
        pool = read_number(api, namespace, pool.ref.name, number)
        if (pool.replicas, pool.held is None) != (action.pool.replicas, action.pool.held is None):
            return None
    raise ApiError(409, "Conflict", "it keeps changing")


def read_number(api: Api, namespace: str, name: str, number: ForeignNumber) -> PoolObject:
    """Return the object with its note, which is read after it: the number is changed after the note."""
    pool = api.get_pool(namespace, name, number)
    return pool._replace(held=_read_note(api, namespace, number.note_name(name)))


def _read_note(api: Api, namespace: str, name: str) -> HeldValue | None:
    try:
        note = api.find(CONFIG_MAP, namespace, name)
    except ApiError as error:
        if not error.is_unreadable():
            raise
        return unreadable_note(name)
    return parse_held(ObjectRef(CONFIG_MAP.name, "", "", "", 0), note) if note else None


def _set_number(api: Api, namespace: str, pool: PoolObject, value: object) -> PoolObject:
    """Write the number, and return how the object stands then; None removes the field.

    Raises a conflict if the object has changed since it was read.
    """
    if pool.number.object_kind.has_scale and isinstance(value, int):
        return api.set_replicas(namespace, pool, value, version=pool.resource_version)
    try:
        patch = field_patch(pool.tree or {}, pool.number.path, value)
    except KeyError as error:
        raise ApiError(200, "NoSuchField", f"{pool.ref.name} has {error.args[0]}") from None
    return api.write_pool(namespace, pool, patch, JSON_PATCH)

"""Read objects of the API server as values of `berth.core.state`."""

from collections.abc import Callable, Mapping

from berth.core import labels, objectnames
from berth.core.jsonvalues import (
    TimetableError,
    Tree,
    instant_or_none,
    parse_instant,
    parse_mapping,
    part,
    parts,
)
from berth.core.labels import CLASS, OCCURRENCE, PERSISTENT, RESERVATION, ROLE, SITE
from berth.core.leases import parse_lease
from berth.core.objects import (
    CAPACITY_BUFFER,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    LEASE,
    NODE_POOL,
    SLOT,
    ObjectKind,
    ObjectRef,
    is_terminating,
    mounted_config_maps,
)
from berth.core.poolobjects import PoolObject, parse_buffer, parse_held, parse_pool
from berth.core.state import (
    ORPHANED_SINCE,
    TARGET_KEY,
    CronJobObject,
    JobObject,
    OtherObject,
    RecordObject,
    SlotObject,
    StateObject,
    TargetObject,
    TimetableObject,
)
from berth.core.timetable import OVERRIDE_ANNOTATION as OVERRIDE
from berth.core.timetable import TIMETABLE_KEY, TimetablePool

MARK_LENGTH = 40  # characters: an instant, and more than one; who may write it may write any length
NAMES_KEY = "reservations.txt"  # of the data of the inventory


def parse_object(site: str, kind: ObjectKind, tree: Tree, *, prunes: bool = True) -> StateObject | None:
    """Parse an object; None if it is not Berth's.

    Raises KeyError, TypeError or ValueError if it is malformed.
    """
    metadata, labels_of = part(tree, "metadata"), part(tree, "metadata", "labels")
    if kind is LEASE:
        return parse_lease(tree)
    is_ours = labels_of.get(SITE) == site
    ref = ObjectRef(
        kind.name,
        str(metadata["name"]),
        str(metadata["uid"]),
        str(labels_of.get(RESERVATION) or "") if is_ours else "",
        parse_instant(str(metadata["creationTimestamp"])),
        is_terminating(tree),
        str(part(metadata, "annotations").get(ORPHANED_SINCE, ""))[:MARK_LENGTH],
    )
    if kind is CONFIG_MAP and objectnames.is_held(ref.name):
        return parse_held(ref, tree)
    if objectnames.is_written_by_pods(ref.name) and not ref.reservation:
        return None  # a record that its account has made look like an inventory
    if ref.reservation or kind is CRON_JOB:
        parse = _PARSERS.get(kind)
        return parse(ref, tree) if parse else OtherObject(ref)
    if kind is CONFIG_MAP and NAMES_KEY in (data := part(tree, "data")) and prunes:
        from berth.plugins.pruning.inventory import parse_inventory  # noqa: PLC0415 - where nobody else prunes

        return parse_inventory(ref.name, data)
    return OtherObject(ref) if is_ours and kind is CONFIG_MAP and labels_of.get(ROLE) == labels.CODE else None


def _parse_config_map(ref: ObjectRef, tree: Tree) -> StateObject | None:
    """Parse a ConfigMap. The record, and one that only people read, are not timetables.

    Labels do not make a timetable, record or target of one: their names do.
    """
    role, resource_class = (part(tree, "metadata", "labels").get(key) for key in (ROLE, CLASS))
    if role == labels.AFFINITY:
        return OtherObject(ref)
    if role == labels.TARGET:
        return _parse_target(ref, str(resource_class), part(tree, "data"))
    changed = last_written(tree) or ref.created
    if role == labels.RECORD:
        is_ours = objectnames.is_record(ref.name, ref.reservation)
        return RecordObject(ref, changed) if is_ours else None
    if not objectnames.is_timetable(ref.name, ref.reservation):
        return None
    return TimetableObject(
        ref,
        str(part(tree, "data").get(TIMETABLE_KEY, "")),
        str(part(tree, "metadata", "annotations").get(OVERRIDE, "")),
        changed,
    )


def _parse_target(ref: ObjectRef, resource_class: str, data: Tree) -> TargetObject | None:
    pool, said = objectnames.pool(ref.reservation, resource_class), str(data.get(TARGET_KEY))
    try:
        from berth.plugins.numbers.foreignnumbers import parse_number  # noqa: PLC0415 - where a cluster has them

        number = parse_number(parse_mapping(said, TARGET_KEY), TARGET_KEY)
    except (ImportError, TimetableError):
        return None
    is_ours = ref.name == objectnames.target(pool, said)
    return TargetObject(ref, TimetablePool(resource_class, pool, "none", holder=number)) if is_ours else None


def last_written(tree: Tree) -> int:
    """Return when anybody last wrote to an object, by the clock of the API server; 0 if it does not tell.

    Who may write to the object may claim any other instant.
    """
    instants = (instant_or_none(entry.get("time")) for entry in parts(tree, "metadata", "managedFields"))
    return max(filter(None, instants), default=0)


def _of_reservation(pool: PoolObject) -> PoolObject | None:
    """Return the pool; None if its name is not that of its reservation and class, whatever its labels."""
    expected = objectnames.pool(pool.ref.reservation, pool.resource_class)
    return pool if pool.ref.name == expected else None


def _parse_node_pool(ref: ObjectRef, tree: Tree) -> PoolObject | None:
    """Parse a NodePool; None if its number of nodes is not fixed."""
    return parse_pool(ref, tree) if "replicas" in part(tree, "spec") else None


def _parse_job(ref: ObjectRef, tree: Tree) -> JobObject | None:
    """Parse a Job; None if neither a CronJob of Berth nor the sweep has made it."""
    if part(tree, "metadata", "labels").get(ROLE) != OCCURRENCE:
        return None
    is_finished = is_job_finished(tree)
    return JobObject(ref, is_finished, frozenset() if is_finished else mounted_config_maps(tree))


def is_job_finished(tree: Tree) -> bool:
    ends = (
        condition
        for condition in parts(tree, "status", "conditions")
        if condition["type"] in ("Complete", "Failed")
    )
    return any(condition["status"] == "True" for condition in ends)


def _parse_slot(ref: ObjectRef, tree: Tree) -> SlotObject | None:
    """Parse a slot; None if it only has the labels."""
    found = part(tree, "metadata", "labels")
    if found.get(ROLE) != labels.SLOT:
        return None
    from berth.plugins.slots.slots import parse_slot  # noqa: PLC0415 - where a cluster has them

    slot = parse_slot(tree)
    slot = slot._replace(closed=slot.closed[:1])  # the sweep renews none, and an account may write a megabyte
    return SlotObject(ref, str(found.get(CLASS, "")), PERSISTENT in found, slot)


_PARSERS: Mapping[ObjectKind, Callable[[ObjectRef, Tree], StateObject | None]] = {
    CONFIG_MAP: _parse_config_map,
    DEPLOYMENT: lambda ref, tree: _of_reservation(parse_pool(ref, tree)),
    CAPACITY_BUFFER: lambda ref, tree: _of_reservation(parse_buffer(ref, tree)),
    NODE_POOL: _parse_node_pool,
    CRON_JOB: lambda ref, tree: CronJobObject(ref, part(tree, "spec", "jobTemplate")),
    JOB: _parse_job,
    SLOT: _parse_slot,
}

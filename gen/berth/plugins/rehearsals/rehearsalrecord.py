"""The record of a rehearsal: the seats that were ready, what was missing and why, and how it stands. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from berth.core.record import (
    MAX_FAULT_TEXT,
    MAX_FAULTS,
    OccurrenceRecord,
    Points,
    PoolObservation,
    parse_records,
    with_observation,
    with_point,
)
from berth.core.timetable import TimetableOccurrence
from berth.plugins.rehearsals.obstacles import Obstacle, is_obstacle

MAX_NODES = 20
REHEARSAL_OPEN, REHEARSAL_FAILED, REHEARSAL_SUCCEEDED = "open", "failed", "succeeded"


def parse_rehearsals(said: str) -> list[OccurrenceRecord]:
    """Parse the records of rehearsals alone. Most texts have none, and a site has hundreds of texts."""
    if '"rehearses"' not in said:
        return []
    return [record for record in parse_records(said).values() if record.rehearses]


def missing_seats(record: OccurrenceRecord) -> dict[str, int]:
    """Return how many seats of a rehearsal were not ready when it was last looked at.

    Classes of pools that were seen and do not tell how many seats are ready are left out.
    """
    if record.ready_at is not None:
        return {}
    missing = {}
    for name, count in record.promised.items():
        points = record.ready.get(name)
        if points or name not in record.targets:
            missing[name] = count - (points[-1][1] if points else 0)
    return {name: count for name, count in missing.items() if count > 0}


def has_ended(record: OccurrenceRecord, now: int) -> bool:
    """Return whether a rehearsal is over: it had all its seats, or its time."""
    return record.window is not None and (record.ready_at is not None or record.window[2] <= now)


def with_rehearsal(
    record: OccurrenceRecord, item: TimetableOccurrence, looks: Sequence[PoolObservation], due: int, now: int
) -> OccurrenceRecord:
    """Return the record with another observation of the pools, as `with_observation`."""
    if record.window and record.window[0] != item.open:
        record = OccurrenceRecord(item.id)  # it was given another time
    seen = with_observation(record, item, looks, due, now)
    ours = [look for look in looks if look.resource_class in seen.promised]
    # An override may want fewer: that proves nothing.
    ready = {
        look.resource_class
        for look in ours
        if look.ready is not None and look.ready >= max(look.wanted, seen.promised[look.resource_class])
    }
    is_ready = seen.promised and ready >= seen.promised.keys()
    return seen._replace(
        ready_at=now if is_ready and record.ready_at is None else record.ready_at,
        rehearses=item.rehearses,
        ready=_with_ready(record.ready, ours, seen.promised, now),
    )


def _with_ready(
    before: Mapping[str, Points], looks: Iterable[PoolObservation], promised: Mapping[str, int], now: int
) -> dict[str, Points]:
    """Return the curves with the seats that are ready now.

    Those of other windows of the same pool are taken to be ready first.
    """
    curves = dict(before)
    for look in looks:
        others = max(look.wanted - promised[look.resource_class], 0)
        if look.ready is not None:
            count = max(look.ready - others, 0)
            curves[look.resource_class] = with_point(curves.get(look.resource_class, ()), now, count)
    return curves


def with_obstacles(
    record: OccurrenceRecord,
    looks: Sequence[PoolObservation],
    obstacles: Mapping[str, Sequence[Obstacle]],
    nodes: Mapping[str, Mapping[str, int]],
) -> OccurrenceRecord:
    """Return the record with what keeps seats from being ready now, and with their nodes, by class.

    Obstacles of earlier looks are dropped: those that a rehearsal failed by are those of the last look.
    """
    ours = [look for look in looks if look.resource_class in record.promised]
    lines = [line for look in ours for line in _obstacle_lines(look, obstacles.get(look.resource_class, ()))]
    others = [fault for fault in record.faults if not is_obstacle(fault)]
    counts: Counter[str] = Counter()
    for look in ours:
        counts.update(nodes.get(look.resource_class, {}))
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_NODES]
    faults = tuple([*lines, *others][:MAX_FAULTS])
    return record._replace(faults=faults, nodes=dict(sorted(most)) or record.nodes)


def _obstacle_lines(look: PoolObservation, obstacles: Iterable[Obstacle]) -> Iterator[str]:
    missing = look.wanted - (look.ready or 0)
    for obstacle in obstacles if missing > 0 else ():
        # It may have been seen before the last seats became ready.
        now = obstacle._replace(missing=min(obstacle.missing, missing))
        yield now.describe(look.kind, look.resource_class)[:MAX_FAULT_TEXT]


def rehearsal_state(
    records: Iterable[OccurrenceRecord], is_open: Collection[str], coming: Collection[str]
) -> str:
    """Return how the rehearsals of a reservation stand; empty if it has had none for what is coming.

    One that failed counts until its occurrence opens, or until it is rehearsed again. `is_open` and `coming`
    are ids of occurrences; the latter have not opened yet.
    """
    rehearsals = [record for record in records if record.rehearses and record.window]
    if any(record.occurrence in is_open for record in rehearsals):
        return REHEARSAL_OPEN
    rehearsals = [record for record in rehearsals if record.rehearses in coming]
    if any(missing_seats(record) for record in rehearsals):
        return REHEARSAL_FAILED
    return REHEARSAL_SUCCEEDED if any(record.ready_at for record in rehearsals) else ""


def last_failed(records: Iterable[OccurrenceRecord], is_open: Collection[str]) -> list[OccurrenceRecord]:
    """Return the rehearsals that have ended last without all their seats. `is_open`: ids of occurrences.

    Groups of one date may be rehearsed, and end, together.
    """
    failed = [
        (record.window[2], record)
        for record in records
        if record.rehearses and record.window and missing_seats(record) and record.occurrence not in is_open
    ]
    last = max((end for end, _ in failed), default=0)
    return [record for end, record in failed if end == last]

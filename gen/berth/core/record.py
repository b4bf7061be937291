"""The record of each occurrence, and whether its seats were ready in time.

Pure: observations in, text out. The size of the record is limited.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from berth.core.holders import PLACEHOLDERS
from berth.core.instants import instant_text, parse_instant
from berth.core.timetable import TimetableOccurrence, TimetableSettings

MAX_POINTS = 20  # of a target over time
MAX_RECORDS = 50
MAX_RECORD_BYTES = 32_768  # bytes of all records
RECORD_KEY = "records.json"  # in the ConfigMap

Points = tuple[tuple[int, int], ...]  # instants, ascending, and the target from each on


class PoolObservation(NamedTuple):
    """The observed state of a pool."""

    resource_class: str
    wanted: int
    ready: int
    sessions: Mapping[str, int] | None  # by occurrence; None: nobody knows
    raised: float  # when more was wanted than just before
    kind: str = PLACEHOLDERS  # of what holds its seats


class OccurrenceRecord(NamedTuple):
    """The record of one occurrence; all values are by resource class."""

    occurrence: str
    promised: Mapping[str, int] = {}
    ready_at: int | None = None  # when all seats that were wanted were ready for the first time
    peak: Mapping[str, int] = {}  # the most sessions that counted for it
    targets: Mapping[str, Points] = {}  # of the whole pool, while it was open


def with_observation(
    record: OccurrenceRecord, item: TimetableOccurrence, looks: Sequence[PoolObservation], now: int
) -> OccurrenceRecord:
    """Return the record with another observation of the pools of the occurrence."""
    promised = {name: count for name, count in item.seats if count}
    peak, targets = dict(record.peak), dict(record.targets)
    for look in looks:
        name = look.resource_class
        if name in promised:
            targets[name] = with_point(targets.get(name, ()), now, look.wanted)
            if look.sessions is not None and item.id in look.sessions:
                peak[name] = max(peak.get(name, 0), look.sessions[item.id])
    ready = {look.resource_class for look in looks if look.ready >= look.wanted}
    is_ready = promised and ready >= promised.keys()
    ready_at = now if is_ready and record.ready_at is None else record.ready_at
    return OccurrenceRecord(item.id, promised, ready_at, peak, targets)


def with_point(points: Points, now: int, value: int) -> Points:
    """Return the points with another one. With too many, the smallest step is dropped."""
    if points and points[-1][1] == value:
        return points
    points = (*points, (now, value))
    if len(points) <= MAX_POINTS:
        return points
    least = min(range(1, len(points) - 1), key=lambda n: abs(points[n][1] - points[n - 1][1]))
    return points[:least] + points[least + 1 :]


def record_json(record: OccurrenceRecord) -> dict[str, object]:
    """Return the record as JSON values. Unknown values are left out."""
    found: dict[str, object] = {"occurrence": record.occurrence, "promised": dict(record.promised)}
    if record.ready_at is not None:
        found["readyAt"] = instant_text(record.ready_at)
    if record.peak:
        found["sessionsPeak"] = dict(record.peak)
    found["targets"] = {
        name: [[instant_text(at), value] for at, value in points] for name, points in record.targets.items()
    }
    return found


def record_text(records: Sequence[OccurrenceRecord]) -> str:
    """Return the records as text. With too many, the first are dropped."""
    kept = [json.dumps(record_json(record)) for record in records[-MAX_RECORDS:]]
    while len(kept) > 1 and sum(map(len, kept)) > MAX_RECORD_BYTES:
        del kept[0]
    return f"[{', '.join(kept)}]"


def parse_records(said: str) -> dict[str, OccurrenceRecord]:
    """Parse the text of an earlier pod into records by occurrence; malformed text gives none."""
    try:
        return {tree["occurrence"]: _parse_record(tree) for tree in json.loads(said)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _parse_record(tree: dict[str, Any]) -> OccurrenceRecord:
    return OccurrenceRecord(
        tree["occurrence"],
        {name: int(count) for name, count in tree["promised"].items()},
        parse_instant(tree["readyAt"]) if "readyAt" in tree else None,
        {name: int(count) for name, count in tree.get("sessionsPeak", {}).items()},
        {
            name: tuple((parse_instant(at), int(count)) for at, count in points[:MAX_POINTS])
            for name, points in tree["targets"].items()
        },
    )


def merge_records(before: OccurrenceRecord, after: OccurrenceRecord) -> OccurrenceRecord:
    """Merge the record of an earlier pod with that of its successor."""
    peak = {name: max(count, after.peak.get(name, 0)) for name, count in before.peak.items()}
    targets = dict(before.targets)
    for name, points in after.targets.items():
        for at, value in points:
            targets[name] = with_point(targets.get(name, ()), at, value)
    return OccurrenceRecord(
        after.occurrence,
        after.promised or before.promised,
        after.ready_at if before.ready_at is None else before.ready_at,
        {**after.peak, **peak},
        targets,
    )


UNKNOWN, LATE, READY = "unjudged", "late", "ready"
READY_GRACE_SECONDS = 60  # seconds for placeholders to come


def readiness_due(item: TimetableOccurrence, settings: TimetableSettings) -> int:
    """Return when all seats of an occurrence should be ready."""
    return max(item.start - 60 * settings.ready_minutes, item.open + READY_GRACE_SECONDS)


def judge_readiness(before: str, asked: int, look: PoolObservation, now: float) -> str:
    """Return the new readiness. READY is final: placeholders that give way later are not late."""
    if before == READY or now < asked:
        return before
    if look.ready >= look.wanted:
        return READY
    return before if now < look.raised + READY_GRACE_SECONDS else LATE

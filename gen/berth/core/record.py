"""The record of an occurrence, kept in annotations of its Job, and whether its seats were ready in time.

Pure: observations in, annotations and messages out. The size of a record is limited.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.core.holders import PLACEHOLDERS, REMEDIES
from berth.core.instants import instant_text, parse_instant
from berth.core.timetable import TimetableOccurrence, TimetableSettings

MAX_POINTS = 20  # of a target over time
MAX_RECORDS = 50
MAX_RECORD_BYTES = 32_768  # bytes of all records; an object may have 262,144 of annotations
RECORD_ANNOTATION = "berth.dev/record"

Points = tuple[tuple[int, int], ...]
"""Instants, ascending, and the target from each on."""


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
    record: OccurrenceRecord, item: TimetableOccurrence, looks: Iterable[PoolObservation], now: int
) -> OccurrenceRecord:
    """Return the record with another observation of the pools of the occurrence."""
    promised = {name: count for name, count in item.seats if count}
    peak, targets = dict(record.peak), dict(record.targets)
    ready = set()
    for look in looks:
        name = look.resource_class
        if name not in promised:
            continue
        targets[name] = with_point(targets.get(name, ()), now, look.wanted)
        if look.sessions is not None and item.id in look.sessions:
            peak[name] = max(peak.get(name, 0), look.sessions[item.id])
        if look.ready >= look.wanted:
            ready.add(name)
    ready_at = now if record.ready_at is None and ready and ready >= promised.keys() else record.ready_at
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


def record_annotations(records: Sequence[OccurrenceRecord]) -> dict[str, str]:
    """Return the annotations of the Job for these records, at least one, in the order of opening.

    The single annotations describe the last record. With too many records, the first are dropped.
    """
    last, kept = records[-1], [json.dumps(record_json(record)) for record in records[-MAX_RECORDS:]]
    while len(kept) > 1 and sum(map(len, kept)) > MAX_RECORD_BYTES:
        del kept[0]
    return {
        "berth.dev/occurrence": last.occurrence,
        "berth.dev/promised": _counts_text(last.promised),
        "berth.dev/ready-at": "" if last.ready_at is None else instant_text(last.ready_at),
        "berth.dev/sessions-peak": _counts_text(last.peak),
        "berth.dev/targets": _targets_text(last.targets),
        RECORD_ANNOTATION: f"[{', '.join(kept)}]",
    }


def _counts_text(counts: Mapping[str, int]) -> str:
    return " ".join(f"{name}={count}" for name, count in counts.items())


def _targets_text(targets: Mapping[str, Points]) -> str:
    """Return targets as text, such as `07:30:00=25 08:10:00=12` (UTC), after their class if there are
    several.
    """
    told = {name: " ".join(_points_text(points)) for name, points in targets.items()}
    return next(iter(told.values()), "") if len(told) < 2 else "; ".join(map(": ".join, told.items()))


def _points_text(points: Points) -> Iterator[str]:
    """Yield the text of each point; after a change of day it includes the date."""
    day = ""
    for at, value in points:
        text = instant_text(at)
        time = text[11:19] if day in ("", text[:10]) else text
        yield f"{time}={value}"
        day = text[:10]


def parse_records(said: str) -> list[OccurrenceRecord]:
    """Parse the annotation of an earlier pod; malformed text gives no records."""
    try:
        return [_parse_record(tree) for tree in json.loads(said)] if said else []
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _parse_record(tree: dict[str, object]) -> OccurrenceRecord:
    targets = _mapping(tree["targets"])
    return OccurrenceRecord(
        str(tree["occurrence"]),
        {name: int(str(count)) for name, count in _mapping(tree["promised"]).items()},
        parse_instant(str(tree["readyAt"])) if "readyAt" in tree else None,
        {name: int(str(count)) for name, count in _mapping(tree.get("sessionsPeak", {})).items()},
        {name: _parse_points(points) for name, points in targets.items()},
    )


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _parse_points(value: object) -> Points:
    if not isinstance(value, list):
        raise TypeError
    return tuple((parse_instant(at), int(count)) for at, count in value[:MAX_POINTS])


def merge_records(before: OccurrenceRecord, after: OccurrenceRecord) -> OccurrenceRecord:
    """Merge the record of an earlier pod with that of its successor."""
    instants = [at for at in (before.ready_at, after.ready_at) if at is not None]
    peak = {
        name: max(before.peak.get(name, 0), after.peak.get(name, 0)) for name in {**before.peak, **after.peak}
    }
    targets = dict(before.targets)
    for name, points in after.targets.items():
        for at, value in points:
            targets[name] = with_point(targets.get(name, ()), at, value)
    return OccurrenceRecord(
        after.occurrence, after.promised or before.promised, min(instants, default=None), peak, targets
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


def late_message(item: TimetableOccurrence, look: PoolObservation, start: str) -> str:
    return (
        f"{look.ready} of {look.wanted} {look.kind} of {look.resource_class} are ready for {item.id}, which "
        f"starts at {start}. {REMEDIES[look.kind]}"
    )


def ready_message(item: TimetableOccurrence, look: PoolObservation) -> str:
    return f"All {look.wanted} {look.kind} of {look.resource_class} are ready for {item.id}."

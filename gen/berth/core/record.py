"""The record of each occurrence: what was promised, when it was ready, who came, and what was missing.

Pure: observations in, text out. The size of the record is limited.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from berth.core.holders import PLACEHOLDERS
from berth.core.jsonvalues import (
    T,
    TimetableError,
    excerpt,
    field,
    instant_of,
    instant_text,
    mapping,
    non_negative,
    sequence,
    text,
)
from berth.core.objects import DEPLOYMENT, ObjectRef

if TYPE_CHECKING:
    from berth.core.pooldecision import PoolFound
    from berth.core.timetable import TimetableOccurrence, TimetableSettings

MAX_POINTS = 20  # of a target over time
MAX_RECORDS = 50
MAX_RECORD_BYTES = 32_768  # bytes of all records
MAX_FAULTS = 5  # of an occurrence
MAX_FAULT_TEXT = 160  # characters
MAX_COUNT = 2**31 - 1  # of seats: no object of the API server holds more
RECORD_KEY = "records.json"  # in the ConfigMap

OPENED_LATE, NOT_READY, LOST = "openedLate", "notReady", "lost"
"""Why seats were missing: nobody asked in time; they never were all ready; they had been ready before."""

_WINDOW = ("open", "start", "end")
Points = tuple[tuple[int, int], ...]  # instants, ascending, and the target from each on


class PoolObservation(NamedTuple):
    """The observed state of a pool."""

    resource_class: str
    wanted: int
    ready: int | None  # None: nobody tells
    sessions: Mapping[str, int] | None  # by occurrence; None: nobody knows
    short_since: float  # since when fewer are ready than wanted; the time of the look if all are
    kind: str = PLACEHOLDERS  # of what holds its seats
    set_back: str = ""  # who sets back its number, and what to do
    found: PoolFound | None = None  # what holds its seats
    subject: ObjectRef = ObjectRef(DEPLOYMENT.name, "", "", "", 0)  # of Events about it


class OccurrenceRecord(NamedTuple):
    """The record of one occurrence; all values are by resource class.

    Only rehearsals have the last three, which their plugin adds.
    """

    occurrence: str
    promised: Mapping[str, int] = {}
    ready_at: int | None = None  # when all seats that were wanted were ready for the first time
    peak: Mapping[str, int] = {}  # the most sessions that counted for it
    targets: Mapping[str, Points] = {}  # of the whole pool, while it was open
    window: tuple[int, int, int] | None = None  # open, start and end
    first_ready: int | None = None  # when the first seat was ready
    shortfalls: Mapping[str, Mapping[str, int]] = {}  # the most seats missing at once, by cause
    faults: tuple[str, ...] = ()  # what did not work for a minute or longer
    rehearses: str = ""  # the id of the occurrence whose opening it tries
    ready: Mapping[str, Points] = {}  # the seats that were ready
    nodes: Mapping[str, int] = {}  # how many placeholders each node had


def with_observation(
    record: OccurrenceRecord, item: TimetableOccurrence, looks: Sequence[PoolObservation], due: int, now: int
) -> OccurrenceRecord:
    """Return the record with another observation of the pools. Seats are missing from `due` on."""
    promised = {name: count for name, count in item.seats if count}
    peak, targets, shortfalls = dict(record.peak), dict(record.targets), dict(record.shortfalls)
    ours = [look for look in looks if look.resource_class in promised]
    for look in ours:
        name = look.resource_class
        targets[name] = with_point(targets.get(name, ()), now, look.wanted)
        if look.sessions is not None and item.id in look.sessions:
            peak[name] = max(peak.get(name, 0), look.sessions[item.id])
        if now >= due and is_short(look, now):
            came_late = targets[name][0][0] > item.open + READY_GRACE_SECONDS
            cause = LOST if record.ready_at is not None else OPENED_LATE if came_late else NOT_READY
            missing = {cause: look.wanted - (look.ready or 0)}
            shortfalls[name] = _most(shortfalls.get(name, {}), missing)
    ready = {look.resource_class for look in looks if look.ready is not None and look.ready >= look.wanted}
    is_ready = promised and ready >= promised.keys()
    is_first = record.first_ready is None and any(look.ready for look in ours)
    return record._replace(
        promised=promised,
        ready_at=now if is_ready and record.ready_at is None else record.ready_at,
        peak=peak,
        targets=targets,
        window=(item.open, item.start, item.end),
        first_ready=now if is_first else record.first_ready,
        shortfalls=shortfalls,
    )


def with_faults(record: OccurrenceRecord, faults: Iterable[str]) -> OccurrenceRecord:
    """Return the record with more faults, each once; the first ones are kept."""
    known = dict.fromkeys((*record.faults, *(fault[:MAX_FAULT_TEXT] for fault in faults)))
    return record._replace(faults=tuple(known)[:MAX_FAULTS])


def _most(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {**one, **{name: max(count, one.get(name, 0)) for name, count in other.items()}}


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
    """Return the record as JSON values. Unknown and empty values are left out."""
    found: dict[str, object] = {"occurrence": record.occurrence}
    instants = [*zip(_WINDOW, record.window or (), strict=False)]
    ready = ("firstReadyAt", record.first_ready), ("readyAt", record.ready_at)
    found |= {key: instant_text(at) for key, at in (*instants, *ready) if at is not None}
    found["promised"] = dict(record.promised)
    more: dict[str, object] = {
        "sessionsPeak": dict(record.peak),
        "shortfalls": {name: dict(causes) for name, causes in record.shortfalls.items()},
        "faults": list(record.faults),
        "rehearses": record.rehearses,
        "ready": {name: _points_json(points) for name, points in record.ready.items()},
        "nodes": dict(record.nodes),
    }
    found |= {key: value for key, value in more.items() if value}
    found["targets"] = {name: _points_json(points) for name, points in record.targets.items()}
    return found


def _points_json(points: Points) -> list[list[object]]:
    return [[instant_text(at), value] for at, value in points]


def record_text(records: Sequence[OccurrenceRecord]) -> str:
    """Return the records as text. With too many, the first are dropped."""
    kept = [json.dumps(record_json(record)) for record in records[-MAX_RECORDS:]]
    while len(kept) > 1 and sum(map(len, kept)) > MAX_RECORD_BYTES:
        del kept[0]
    return f"[{', '.join(kept)}]"


def parse_records(said: str) -> dict[str, OccurrenceRecord]:
    """Parse the text of an earlier pod into records by occurrence, without those that are malformed."""
    return read_records(said)[0]


def read_records(said: str | bytes) -> tuple[dict[str, OccurrenceRecord], list[str]]:
    """Return the records of a text by occurrence, and what is wrong with those that are left out."""
    try:
        trees = sequence(json.loads(said), "the text")
    except TimetableError as error:
        return {}, [str(error)]
    except (ValueError, RecursionError):  # anybody may have written it; also a number of 5,000 digits
        return {}, ["it is not JSON as Berth writes it"]
    records, problems = {}, []
    for place, value in enumerate(trees):
        tree = value if isinstance(value, dict) else {}
        name = f" {excerpt(tree['occurrence'])}" if "occurrence" in tree else ""
        try:
            record = _parse_record(tree)
            records[record.occurrence] = record
        except TimetableError as error:
            problems.append(f"[{place}]{name}: {error}"[:300])
    return records, problems


def _parse_record(tree: dict[str, object]) -> OccurrenceRecord:
    def optional(key: str, read: Callable[[object, str], T], default: T) -> T:
        return field(tree, key, read) if key in tree else default

    window = None
    if "open" in tree:
        opens, start, end = (field(tree, key, instant_of) for key in _WINDOW)
        window = opens, start, end
        if not opens <= start < end:
            raise TimetableError("open, start and end are not in order")
    return OccurrenceRecord(
        field(tree, "occurrence", text),
        field(tree, "promised", _counts),
        optional("readyAt", instant_of, None),
        optional("sessionsPeak", _counts, {}),
        field(tree, "targets", _each(_points)),
        window,
        optional("firstReadyAt", instant_of, None),
        optional("shortfalls", _each(_counts), {}),
        optional("faults", _faults, ()),
        optional("rehearses", text, ""),
        optional("ready", _each(_points), {}),
        optional("nodes", _counts, {}),
    )


def _points(value: object, at: str) -> Points:
    pairs = [sequence(pair, at) for pair in sequence(value, at)[:MAX_POINTS]]
    if any(len(pair) != 2 for pair in pairs):
        raise TimetableError(f"{at}: a point is not an instant and a number")
    return tuple((instant_of(instant, at), _count(count, at)) for instant, count in pairs)


def _count(value: object, at: str) -> int:
    count = non_negative(value, at)
    if count > MAX_COUNT:
        raise TimetableError(f"{at}: {excerpt(value)} is more than {MAX_COUNT}")
    return count


def _faults(value: object, at: str) -> tuple[str, ...]:
    return tuple(text(fault, at)[:MAX_FAULT_TEXT] for fault in sequence(value, at)[:MAX_FAULTS])


def _each(read: Callable[[object, str], T]) -> Callable[[object, str], dict[str, T]]:
    """Return what reads an object with such values."""
    return lambda value, at: {
        text(name, at): read(part, f"{at}.{name}") for name, part in mapping(value, at).items()
    }


_counts = _each(_count)


def merge_records(before: OccurrenceRecord, after: OccurrenceRecord) -> OccurrenceRecord:
    """Merge the record of an earlier pod with that of its successor.

    A rehearsal that was given another time has the same id, and begins anew.
    """
    if after.rehearses and before.window and after.window and before.window[0] != after.window[0]:
        return after
    targets = _join(before.targets, after.targets)
    shortfalls = dict(before.shortfalls)
    for name, causes in after.shortfalls.items():
        shortfalls[name] = _most(shortfalls.get(name, {}), causes)
    merged = OccurrenceRecord(
        after.occurrence,
        after.promised or before.promised,
        after.ready_at if before.ready_at is None else before.ready_at,
        _most(after.peak, before.peak),
        targets,
        after.window or before.window,
        after.first_ready if before.first_ready is None else before.first_ready,
        shortfalls,
        before.faults,
        after.rehearses,
        _join(before.ready, after.ready),
        after.nodes or before.nodes,
    )
    return with_faults(merged, after.faults)


def _join(before: Mapping[str, Points], after: Mapping[str, Points]) -> dict[str, Points]:
    curves = dict(before)
    for name, points in after.items():
        for at, value in points:
            curves[name] = with_point(curves.get(name, ()), at, value)
    return curves


UNKNOWN, LATE, READY = "unjudged", "late", "ready"
READY_GRACE_SECONDS = 60  # seconds for placeholders to come


def readiness_due(item: TimetableOccurrence, settings: TimetableSettings) -> int:
    """Return when all seats of an occurrence should be ready; of a rehearsal, which ends with its lead."""
    needed = item.end if item.rehearses else item.start
    return max(needed - 60 * settings.ready_minutes, item.open + READY_GRACE_SECONDS)


def is_short(look: PoolObservation, now: float) -> bool:
    """Return whether seats have been missing for longer than they need to come."""
    is_missing = look.ready is not None and look.ready < look.wanted
    return is_missing and now >= look.short_since + READY_GRACE_SECONDS


def judge_readiness(before: str, asked: int, look: PoolObservation, now: float) -> str:
    """Return the new readiness. READY is final: placeholders that give way later are not late."""
    if before == READY or now < asked or look.ready is None:
        return before
    if look.ready >= look.wanted:
        return READY
    return LATE if is_short(look, now) else before

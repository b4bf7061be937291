"""Read the records that scalers have written: those of ConfigMaps, and what kubectl has printed."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from berth.core.jsonvalues import excerpt, part, parts
from berth.core.labels import RESERVATION
from berth.core.objectnames import is_record
from berth.core.record import RECORD_KEY, OccurrenceRecord, read_records


class ReadRecords(NamedTuple):
    """Records of all reservations, and what is wrong with those that are left out."""

    records: tuple[OccurrenceRecord, ...]
    problems: tuple[str, ...] = ()


def of_config_maps(items: Iterable[Mapping[str, Any]]) -> ReadRecords:
    """Return the records of ConfigMaps; those without any are somebody else's.

    An account of a reservation may write its record: one of another name, or occurrences of another
    reservation, are left out. Of an occurrence that is there twice with the same classes the latest counts.
    """
    latest: dict[tuple[str, tuple[str, ...]], OccurrenceRecord] = {}
    problems: list[str] = []
    for item in items:
        text, metadata = part(item, "data").get(RECORD_KEY), part(item, "metadata")
        if text is None:
            continue
        name, reservation = str(metadata.get("name", "")), str(part(metadata, "labels").get(RESERVATION, ""))
        found = of_records(str(text), f"{reservation}/")
        if not is_record(name, reservation):
            found = ReadRecords((), (f'it is not the record of reservation "{reservation}"',))
        for record in found.records:
            key = record.occurrence, tuple(sorted(record.promised))
            latest[key] = max(latest.get(key, record), record, key=_last_point)
        problems += [f"ConfigMap {name}: {problem}" for problem in found.problems]
    return ReadRecords(tuple(latest.values()), tuple(problems))


def _last_point(record: OccurrenceRecord) -> int:
    """Return until when a record goes: a file of several exports has an occurrence more than once."""
    return max((at for points in record.targets.values() for at, _ in points), default=0)


def of_records(text: str | bytes, prefix: str = "") -> ReadRecords:
    """Return the records of one list. The ids of its occurrences begin with `prefix`."""
    read, problems = read_records(text)
    records = []
    for name, record in read.items():
        opens, _, end = record.window or (0, 0, 0)
        ready = [at for at in (record.first_ready, record.ready_at) if at is not None]
        if not name.startswith(prefix):
            problems.append(f"{excerpt(name)}: it is not of this reservation")
        elif not all(opens <= at <= end for at in ready):
            problems.append(f"{excerpt(name)}: firstReadyAt or readyAt is not between open and end")
        else:
            records.append(record)
    return ReadRecords(tuple(records), tuple(problems))


def of_json(text: bytes) -> ReadRecords:
    """Return the records of a text: a list of ConfigMaps or one, or `records.json` of one.

    Raises ValueError for any other text.
    """
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):  # of another encoding, a number of 5,000 digits
        raise ValueError("it is not JSON") from None
    if isinstance(tree, list):
        return of_records(text)
    if not isinstance(tree, dict) or not (isinstance(tree.get("items"), list) or "data" in tree):
        raise ValueError("it is neither a list of ConfigMaps nor one of them")
    return of_config_maps(parts(tree, "items") if "items" in tree else [tree])

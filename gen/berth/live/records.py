"""Parse the records that scalers have written: those of ConfigMaps, and what kubectl has printed."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from berth.core.jsonvalues import part, parts
from berth.core.labels import RESERVATION
from berth.core.objectnames import is_record
from berth.core.record import RECORD_KEY, OccurrenceRecord, parse_records


class ReadRecords(NamedTuple):
    """Records of all reservations, and the names of ConfigMaps whose records are malformed."""

    records: tuple[OccurrenceRecord, ...]
    malformed: tuple[str, ...] = ()


def of_config_maps(items: Iterable[Mapping[str, Any]]) -> ReadRecords:
    """Return the records of ConfigMaps; those without any are somebody else's.

    An account of a reservation may write its record: one of another name, or occurrences of another
    reservation, count as malformed.
    """
    occurrence_records: list[OccurrenceRecord] = []
    malformed = []
    for item in items:
        text = part(item, "data").get(RECORD_KEY)
        records = parse_records(str(text)) if text is not None else {}
        metadata = part(item, "metadata")
        name, reservation = str(metadata.get("name", "")), str(part(metadata, "labels").get(RESERVATION, ""))
        own = [record for record in records.values() if record.occurrence.startswith(f"{reservation}/")]
        is_own = is_record(name, reservation)
        occurrence_records += own if is_own else []
        if text not in (None, "[]") and not (is_own and own and len(own) == len(records)):
            malformed.append(f"ConfigMap {name}")
    return ReadRecords(tuple(occurrence_records), tuple(malformed))


def of_text(text: str) -> ReadRecords:
    """Return the records of a text: a list of ConfigMaps or one, in JSON, or `records.json` of one.

    Raises ValueError for any other text.
    """
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("it is not JSON: it is nested too deeply") from None
    if isinstance(tree, list):
        records = parse_records(text)
        if tree and not records:
            raise ValueError("the list is not one of records")
        return ReadRecords(tuple(records.values()))
    if not isinstance(tree, dict):
        raise ValueError("it is neither an object nor a list")
    return of_config_maps(parts(tree, "items") if "items" in tree else [tree])

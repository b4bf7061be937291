"""Write single dates into the tree of a file: entries of `except`, `moved` and `extra`.

Lists become block lists, sorted by date. So two changes of two dates touch different lines.
"""

from collections.abc import Mapping
from typing import Any

from berth.edit.roundtrip import MakeNode, insert_key, to_block


def add_entry(recurrence: Any, key: str, entry: Any, make: MakeNode) -> None:
    """Add an entry to a list, before the first one with a later date. A new `except` is above `schedule`."""
    if recurrence.get(key) is None:
        insert_key(recurrence, key, make([]), "schedule" if key == "except" else "")
    entries = recurrence[key]
    to_block(entries)
    later = (i for i, one in enumerate(entries) if _order(one) > _order(entry))
    entries.insert(next(later, len(entries)), make(entry))


def _order(entry: Any) -> tuple[str, str]:
    """Return the date of an entry, or the first of its range, and the start."""
    if not isinstance(entry, Mapping):
        return str(entry), ""
    return str(entry.get("date", entry.get("from"))), str(entry.get("startTime", ""))


def remove_entry(recurrence: Any, key: str, index: int) -> None:
    entries = recurrence[key]
    del entries[index]
    if not entries:
        del recurrence[key]


def keep_entries(recurrence: Any, first: str, last: str) -> None:
    """Remove all entries but those with a date from `first` to `last`."""
    for key in ("except", "moved", "extra"):
        for index in reversed(range(len(recurrence.get(key) or ()))):
            begin, end = _span(recurrence[key][index])
            if end < first or last < begin:
                remove_entry(recurrence, key, index)


def _span(entry: Any) -> tuple[str, str]:
    """Return the first and the last date of an entry, before it is moved."""
    if not isinstance(entry, Mapping):
        return str(entry), str(entry)
    if "date" in entry:
        return str(entry["date"]), str(entry["date"])
    return str(entry["from"]), str(entry["to"])


def set_keys(entry: Any, keys: Mapping[str, Any], make: MakeNode) -> None:
    """Set keys of a mapping; None removes one. What is the same stays as it is written."""
    for key, value in keys.items():
        if value is None:
            if key in entry:
                del entry[key]
        elif str(entry.get(key)) != str(value):
            entry[key] = make(value)

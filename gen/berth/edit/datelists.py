"""Write single dates into the tree of a file: entries of `except`, `moved` and `extra`.

Lists become block lists, sorted by date. So two changes of two dates touch different lines.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from berth.dates.expansion import LocalOccurrence
from berth.dates.zone import DAY, clock, day_of
from berth.edit.dateselect import Dates
from berth.edit.roundtrip import MakeNode, insert_key, to_block

DATE_LISTS = ("dates", "except", "moved", "extra")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class ListChanges:
    """Entries to remove from the lists of a recurrence, by index, those of `except` to write anew in their
    place, and entries to add.
    """

    def __init__(self) -> None:
        self.removed: dict[str, set[int]] = {}
        self.rewritten: dict[int, Any] = {}
        self.added: list[tuple[str, Any]] = []

    def remove(self, key: str, index: int) -> None:
        self.removed.setdefault(key, set()).add(index)

    def add(self, key: str, entry: Any) -> None:
        if (key, entry) not in self.added:
            self.added.append((key, entry))

    def leave_out(self, entry: Mapping[str, str], index: int | None = None) -> None:
        """Add an entry of `except`, or write one anew: the date alone where it has no other key."""
        short = entry["date"] if [*entry] == ["date"] else entry
        if index is None:
            self.add("except", short)
        else:
            self.rewritten[index] = short

    def __bool__(self) -> bool:
        return bool(self.removed or self.rewritten or self.added)

    def __call__(self, tree: Any, make: MakeNode) -> None:
        """Apply them to the tree of a document."""
        self.apply(tree["spec"]["recurrence"], make)

    def apply(self, written: Any, make: MakeNode) -> None:
        """Apply them to the recurrence of a document."""
        for index, entry in self.rewritten.items():
            to_block(written["except"])
            old = written["except"][index]
            if isinstance(old, Mapping) and isinstance(entry, Mapping) and old.keys() <= entry.keys():
                set_keys(old, entry, make)
            else:
                written["except"][index] = make(entry)
        for key, indices in self.removed.items():
            for index in sorted(indices, reverse=True):
                del written[key][index]
        for key, entry in self.added:
            add_entry(written, key, entry, make)
        for key in self.removed:
            if not written[key]:
                del written[key]


def original_keys(dates: Dates, occurrence: LocalOccurrence) -> dict[str, str]:
    """Return the keys that name an occurrence of the schedule by its original date, and what tells it from
    others then.
    """
    day = occurrence.original // DAY
    others = [other for other in dates.all if not other.is_extra and other.original // DAY == day]
    keys = {"date": str(day_of(occurrence.original))}
    if len(others) > 1:
        keys["startTime"] = clock(occurrence.original)
    if len([other for other in others if other.original == occurrence.original]) > 1:
        keys["name"] = occurrence.name
    return keys


def end_keys(start: int, end: int) -> dict[str, Any]:
    """Return `endTime`, and `endDay` where the rule of `endTime` does not say the day."""
    if end == (start // DAY + 1) * DAY:
        return {"endTime": "24:00", "endDay": None}
    days, minutes = end // DAY - start // DAY, end % DAY
    is_said = minutes != start % DAY and days == (minutes < start % DAY)
    return {"endTime": clock(end), "endDay": None if is_said else days}


def add_entry(recurrence: Any, key: str, entry: Any, make: MakeNode) -> None:
    """Add an entry to a list, before the first one with a later date. A new `except` is above `schedule`."""
    if recurrence.get(key) is None:
        insert_key(recurrence, key, make([]), "schedule" if key == "except" else "")
    entries = recurrence[key]
    to_block(entries)
    later = (i for i, other in enumerate(entries) if entry_order(other) > entry_order(entry))
    entries.insert(next(later, len(entries)), make(entry))


def entry_order(entry: Any) -> tuple[str, str]:
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
    for key in DATE_LISTS:
        for index in reversed(range(len(recurrence.get(key) or ()))):
            begin, end = _span(recurrence[key][index])
            if end < first or last < begin:
                remove_entry(recurrence, key, index)


def shift_dates(recurrence: Any, keys: Sequence[str], by: timedelta, make: MakeNode) -> None:
    """Move all dates of these lists of a recurrence."""

    def shifted(value: Any) -> Any:
        return _DATE.sub(lambda day: str(date.fromisoformat(day[0]) + by), str(value))

    for key in keys:
        entries: Any = recurrence.get(key) or ()
        for index, entry in enumerate(entries):
            if not isinstance(entry, Mapping):
                entries[index] = make(shifted(entry))
                continue
            for part in (entry, entry.get("to")):
                if isinstance(part, Mapping):
                    days = {name: part[name] for name in ("date", "from", "to", "until") if name in part}
                    plain = {name: day for name, day in days.items() if not isinstance(day, Mapping)}
                    set_keys(part, {name: shifted(day) for name, day in plain.items()}, make)


def remove_outer_limits(recurrence: Any, first: str, last: str) -> None:
    """Remove `from` and `until` of entries of the schedule that the first and last date of all imply."""
    for entry in recurrence.get("schedule") or ():
        if "from" in entry and str(entry["from"]) <= first:
            del entry["from"]
        if "until" in entry and str(entry["until"]) >= last:
            del entry["until"]


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

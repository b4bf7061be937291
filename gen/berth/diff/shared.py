"""Compare the documents that all reservations share: sites, classes, calendars and cloud capacities.

They are compared as they are written, key by key, so that nothing in them changes without being shown.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from berth.checks.basenames import class_namespaces
from berth.checks.policychecks import SharedSubject
from berth.dates.moments import day_text
from berth.dates.zone import DAY, clock, number
from berth.diff.change import FieldChange, SharedChange
from berth.diff.manifests import ADDED, CHANGED, REMOVED
from berth.manifests.placed import class_names
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.schema.calendardocument import Calendar, ClosedDates
from berth.schema.declared import SHARED

CALENDAR, RESOURCE_CLASS, CLOUD_CAPACITY = "Calendar", "ResourceClass", "CloudCapacity"


_MISSING: Any = object()
_IDENTITIES = (("name",), ("resourceClass",), ("kind",), ("kind", "namespaces"))
"""The keys by which items of a list are known: the first that tell all of them apart on both sides."""
_LONGEST_LIST = 120  # characters of both sides that are shown whole


def compare_shared(base: Pipeline, head: Pipeline) -> list[SharedChange]:
    """Return the documents that differ, by kind and name."""
    before, after = _documents(base), _documents(head)
    users = Counter(name for one in head.declared.reservations for name in class_names(one))
    found = []
    for key in sorted({*before, *after}):
        old, was = before.get(key, (None, _MISSING))
        new, becomes = after.get(key, (None, _MISSING))
        fields = [field for field in _differences(was, becomes, "") if field.what != "metadata.name"]
        if old and new and old.origin.file != new.origin.file:
            fields.insert(0, FieldChange("file", old.origin.file, new.origin.file))
        subject = new or old
        if subject and fields and (new or not head.may_declare(*key)):  # it is in a faulty file, perhaps
            kind, name = key
            calendars = [side.declared.calendars.get(name) for side in (base, head)]
            found.append(
                SharedChange(
                    subject,
                    ADDED if old is None else REMOVED if new is None else CHANGED,
                    tuple(fields),
                    tuple(_day_texts(*calendars)) if kind == CALENDAR and old and new else (),
                    users[name] if kind == RESOURCE_CLASS else 0,
                    old,
                )
            )
    return found


def _documents(side: Pipeline) -> dict[tuple[str, str], tuple[SharedSubject, Any]]:
    """Return the valid shared documents of a side as they are written, by kind and name.

    Without apiVersion and kind.
    """
    known = side.declared
    origins = {origin[:2] for _, _, origin in known.shared()}
    files = {file for file, _ in origins}
    found = {}
    for source in side.sources if origins else ():
        for document in parse(source)[0] if source.file in files else ():
            value: Any = document.value
            if (document.file, document.index) in origins and value["kind"] in SHARED:
                kind, name = value["kind"], value["metadata"]["name"]
                namespaces = class_namespaces(known.classes.get(name)) if kind == RESOURCE_CLASS else ()
                content = {key: one for key, one in value.items() if key not in ("apiVersion", "kind")}
                found[kind, name] = SharedSubject(kind, name, document.origin, namespaces), content
    return found


def _day_texts(old: Calendar | None, new: Calendar | None) -> Iterator[str]:
    """Yield texts such as `Ascension Day Thu 2026-05-14 -> Mon 2026-05-18` and `Tue 2026-05-19 goes`."""
    before, after = (one.dates if one else () for one in (old, new))
    gone = [item for item in before if item not in after]
    come = [item for item in after if item not in before]
    is_only = len(gone) == len(come) == 1
    for item in gone:
        moved = next((other for other in come if is_only or other.title == item.title), None)
        if moved is None:
            yield f"{_titled(item)} goes"
        else:
            come.remove(moved)
            yield f"{_titled(item)} -> {_closed_text(moved) if moved.title == item.title else _titled(moved)}"
    yield from (f"{_titled(item)} comes" for item in come)


def _titled(item: ClosedDates) -> str:
    return f"{item.title} {_closed_text(item)}".strip()


def _closed_text(item: ClosedDates) -> str:
    first, last = (day_text(number(day)) for day in (item.first, item.last))
    if first != last:
        return f"{first} to {last}"
    if (item.since, item.until) == (0, DAY):
        return first
    return f"{first} {clock(item.since)}-{'24:00' if item.until == DAY else clock(item.until)}"


def _differences(old: Any, new: Any, path: str) -> Iterator[FieldChange]:
    """Yield every value that differs, with its path. Lists whose items have names are compared by these."""
    names = _item_names(old, new)
    if not (names or _has_keys(old) or _has_keys(new)):
        before, after = _leaf_text(old), _leaf_text(new)
        if before != after:
            yield FieldChange(path, *_shortened(before, after))
        return
    if not names:
        before, after = ("" if _has_keys(one) else _leaf_text(one) for one in (old, new))
        if before != after:
            yield FieldChange(path, before, after)
    old, new = names or (one if _has_keys(one) else {} for one in (old, new))
    for key in dict.fromkeys((*old, *new)):
        inside = f"{path}[{key}]" if names else f"{path}.{key}" if path else str(key)
        was, becomes = old.get(key, _MISSING), new.get(key, _MISSING)
        if names and (was is _MISSING or becomes is _MISSING):
            yield FieldChange(inside, _leaf_text(was), _leaf_text(becomes))
        else:
            yield from _differences(was, becomes, inside)
    if names and [name for name in old if name in new] != [name for name in new if name in old]:
        yield FieldChange(path, ", ".join(old), ", ".join(new))


def _item_names(old: Any, new: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the items of two lists of mappings by their names; None for all else."""
    lists = [one if isinstance(one, list) and all(map(_has_keys, one)) else [] for one in (old, new)]
    for keys in _IDENTITIES if all(lists) else ():
        before, after = ({_item_name(item, keys): item for item in items} for items in lists)
        is_unique = len(before) == len(lists[0]) and len(after) == len(lists[1])
        if is_unique and "" not in before and "" not in after:
            return before, after
    return None


def _item_name(item: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return `HorizontalPodAutoscaler shop`; empty for an item without the first of the keys."""
    values = [item.get(key) for key in keys]
    parts = [",".join(map(str, value)) if isinstance(value, list) else str(value or "") for value in values]
    return " ".join(filter(None, parts)) if parts[0] else ""


def _has_keys(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _leaf_text(value: Any) -> str:
    """Return a value as JSON, a list with an item in each line; empty for a missing one."""
    if value is _MISSING:
        return ""
    return "\n".join(map(_text, value)) if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    return value if type(value) is str and value else json.dumps(value, default=str, ensure_ascii=False)


def _shortened(before: str, after: str) -> Iterator[str]:
    """Yield two lists, and long ones without the items that both have."""
    old, new = before.split("\n"), after.split("\n")
    for items, other in ((old, new), (new, old)):
        rest = [*(Counter(items) - Counter(other)).elements()] if len(before + after) > _LONGEST_LIST else []
        yield ", ".join(rest or items)

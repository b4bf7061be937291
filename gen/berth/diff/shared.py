"""Compare the documents that all reservations share: sites, classes, calendars and cloud capacities.

They are compared as they are written, key by key, so that nothing in them changes without being shown.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from berth.checks.basenames import class_namespaces
from berth.checks.policychecks import SharedSubject
from berth.dates.moments import day_text
from berth.dates.zone import DAY, clock, number
from berth.diff.change import ADDED, CHANGED, REMOVED, FieldChange, SharedChange
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


class SharedDocument(NamedTuple):
    """A document as it is written, without apiVersion and kind."""

    subject: SharedSubject
    content: Any


def shared_documents(side: Pipeline) -> dict[tuple[str, str], SharedDocument]:
    """Return the valid shared documents of a side by kind and name."""
    known = side.declared
    origins = {origin[:2] for _, _, origin in known.shared()}
    files = {file for file, _ in origins}
    found = {}
    for source in side.sources if origins else ():
        for document in parse(source)[0] if source.file in files else ():
            value: Any = document.value
            if (document.file, document.index) in origins and value["kind"] in SHARED:
                key = value["kind"], value["metadata"]["name"]
                content = {name: one for name, one in value.items() if name not in ("apiVersion", "kind")}
                namespaces = class_namespaces(known.classes.get(key[1])) if key[0] == "ResourceClass" else ()
                subject = SharedSubject(*key, document.origin, namespaces)
                found[key] = SharedDocument(subject, content)
    return found


def compare_shared(base: Pipeline, head: Pipeline) -> list[SharedChange]:
    """Return the documents that differ, by kind and name."""
    before, after = shared_documents(base), shared_documents(head)
    users = Counter(name for one in head.declared.reservations for name in class_names(one))
    shared_changes = []
    for kind, name in sorted({*before, *after}):
        old, new = before.get((kind, name)), after.get((kind, name))
        fields = tuple(_compared(old, new))
        is_unknown = new is None and head.may_declare(kind, name)  # it is in a faulty file, perhaps
        if fields and not is_unknown:
            change = ADDED if old is None else REMOVED if new is None else CHANGED
            document = new or old
            assert document is not None
            days: tuple[str, ...] = ()
            if kind == CALENDAR and change == CHANGED:
                days = _day_texts(base.declared.calendars.get(name), head.declared.calendars.get(name))
            shared_changes.append(
                SharedChange(
                    document.subject,
                    change,
                    fields,
                    days,
                    users[name] if kind == RESOURCE_CLASS else 0,
                    old.subject if old else None,
                )
            )
    return shared_changes


def _day_texts(old: Calendar | None, new: Calendar | None) -> tuple[str, ...]:
    """Return texts such as `Ascension Day Thu 2026-05-14 -> Mon 2026-05-18` and `Tue 2026-05-19 goes`."""
    before, after = (one.dates if one else () for one in (old, new))
    gone = [item for item in before if item not in after]
    come = [item for item in after if item not in before]
    texts = []
    for item in gone:
        moved = next((other for other in come if other.title == item.title), None)
        if moved is None and len(gone) == len(come) == 1:
            moved = come[0]
        if moved is None:
            texts.append(f"{_titled(item)} goes")
            continue
        come.remove(moved)
        to = _closed_text(moved) if moved.title == item.title else _titled(moved)
        texts.append(f"{_titled(item)} -> {to}")
    texts += [f"{_titled(item)} comes" for item in come]
    return tuple(texts)


def _titled(item: ClosedDates) -> str:
    return f"{item.title} {_closed_text(item)}".strip()


def _closed_text(item: ClosedDates) -> str:
    first, last = (day_text(number(day)) for day in (item.first, item.last))
    if first != last:
        return f"{first} to {last}"
    if (item.since, item.until) == (0, DAY):
        return first
    return f"{first} {clock(item.since)}-{'24:00' if item.until == DAY else clock(item.until)}"


def _compared(old: SharedDocument | None, new: SharedDocument | None) -> Iterator[FieldChange]:
    if old and new and old.subject.origin.file != new.subject.origin.file:
        yield FieldChange("file", old.subject.origin.file, new.subject.origin.file)
    before, after = (one.content if one else _MISSING for one in (old, new))
    yield from (field for field in _differences(before, after, "") if field.what != "metadata.name")


def _differences(old: Any, new: Any, path: str) -> Iterator[FieldChange]:
    """Yield every value that differs, with its path. Lists whose items have names are compared by these."""
    if names := _item_names(old, new):
        yield from _item_differences(*names, path)
    elif not (_has_keys(old) or _has_keys(new)):
        before, after = _leaf_text(old), _leaf_text(new)
        if before != after:
            yield FieldChange(path, *_shortened(before, after))
    else:
        before, after = ("" if _has_keys(one) else _leaf_text(one) for one in (old, new))
        if before != after:
            yield FieldChange(path, before, after)
        old, new = (one if _has_keys(one) else {} for one in (old, new))
        for key in dict.fromkeys((*old, *new)):
            inside = f"{path}.{key}" if path else str(key)
            yield from _differences(old.get(key, _MISSING), new.get(key, _MISSING), inside)


def _item_differences(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[FieldChange]:
    """Compare the items of two lists by their names."""
    for name in dict.fromkeys((*old, *new)):
        inside, before, after = f"{path}[{name}]", old.get(name, _MISSING), new.get(name, _MISSING)
        if before is _MISSING or after is _MISSING:
            yield FieldChange(inside, _leaf_text(before), _leaf_text(after))
        else:
            yield from _differences(before, after, inside)
    if [name for name in old if name in new] != [name for name in new if name in old]:
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


def _shortened(before: str, after: str) -> tuple[str, str]:
    """Return two lists, and long ones without the items that both have."""
    if len(before) + len(after) <= _LONGEST_LIST:
        return before.replace("\n", ", "), after.replace("\n", ", ")
    old, new = Counter(before.split("\n")), Counter(after.split("\n"))
    return _joined((old - new).elements(), before), _joined((new - old).elements(), after)


def _joined(items: Iterable[str], whole: str) -> str:
    return ", ".join(items) or ", ".join(whole.split("\n"))

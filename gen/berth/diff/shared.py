"""Compare the documents that all reservations share: sites, classes, calendars and cloud capacities.

They are compared as they are written, key by key, so that nothing in them changes without being shown.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from berth.checks.policychecks import SharedSubject, class_namespaces
from berth.dates.moments import day_text
from berth.dates.zone import DAY, clock, number
from berth.diff.change import ADDED, CHANGED, REMOVED, FieldChange, SharedChange
from berth.manifests.placed import class_names
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.schema.calendardocument import Calendar, ClosedDates
from berth.schema.declared import SHARED

CALENDAR, RESOURCE_CLASS, CLOUD_CAPACITY = "Calendar", "ResourceClass", "CloudCapacity"


class SharedDocument(NamedTuple):
    """A document as it is written: its values by path."""

    subject: SharedSubject
    fields: Mapping[str, str]


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
                found[key] = SharedDocument(subject, dict(_flat(content, "")))
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
    before, after = (one.fields if one else {} for one in (old, new))
    for path in dict.fromkeys((*before, *after)):
        if path != "metadata.name" and before.get(path, "") != after.get(path, ""):
            yield FieldChange(path, *_shortened(before.get(path, ""), after.get(path, "")))


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield every value that is not a mapping, with its path; a list as the JSON of its items."""
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from _flat(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        yield path, "\n".join(_text(one) for one in value)
    else:
        yield path, _text(value)


def _text(value: Any) -> str:
    return value if type(value) is str and value else json.dumps(value, default=str, ensure_ascii=False)


def _shortened(before: str, after: str) -> tuple[str, str]:
    """Return two lists without the items that both have."""
    old, new = Counter(before.split("\n")), Counter(after.split("\n"))
    return _joined((old - new).elements(), before), _joined((new - old).elements(), after)


def _joined(items: Iterable[str], whole: str) -> str:
    return ", ".join(items) or ", ".join(whole.split("\n"))

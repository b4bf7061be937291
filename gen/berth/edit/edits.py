"""Edits of one reservation in its file, checked against the whole project."""

import re
from typing import Any, NamedTuple

from berth.diff.change import ReservationChange
from berth.diff.compare import compare_versions
from berth.diff.comparison import version_of
from berth.edit.roundtrip import Edit, EditError, Make, edited
from berth.findings import ERROR, Finding
from berth.pipeline import Item, Pipeline
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.values import Reservation

# Edits of single occurrences: leave one out, move it, let it last longer. Pure. Each works on the spec of a
# reservation as it stands in a file. An occurrence that stands in `extra` is edited there; one of the
# schedule gets a line in `except` or `moved`, or has its line changed.


class Which(NamedTuple):
    """The date of the original start, and the time where a date has several."""

    day: str
    start: str | None


class To(NamedTuple):
    """What changes; None stays as it is."""

    day: str | None = None
    start: str | None = None
    end: str | None = None


def skip(spec: Any, which: Which, make: Make) -> None:
    """Raises EditError where no occurrence can be edited. So does `move`."""
    recurrence = _recurrence(spec)
    extra = _line(recurrence, "extra", which)
    if extra is not None:
        _remove(recurrence, "extra", extra)
        return
    moved = _line(recurrence, "moved", which)
    if moved is not None:
        _remove(recurrence, "moved", moved)
    line = which.day if which.start is None else {"date": which.day, "startTime": which.start}
    _add(recurrence, "except", line, make)


def move(spec: Any, which: Which, to: To, make: Make) -> None:
    recurrence = _recurrence(spec)
    extra = _line(recurrence, "extra", which)
    if extra is not None:
        _set_extra(extra, to, make)
        return
    moved = _line(recurrence, "moved", which)
    if moved is not None:
        for key, value in _said(to).items():
            moved["to"][key] = make(value)
        return
    line: dict[str, Any] = {"date": which.day}
    if which.start is not None:
        line["startTime"] = which.start
    _add(recurrence, "moved", {**line, "to": _said(to)}, make)


def _recurrence(spec: Any) -> Any:
    if spec.get("recurrence") is None:
        raise EditError("its seats stand always: it has no dates")
    return spec["recurrence"]


def _said(to: To) -> dict[str, str]:
    named = {"date": to.day, "startTime": to.start, "endTime": to.end}
    return {key: value for key, value in named.items() if value is not None}


def _set_extra(line: Any, to: To, make: Make) -> None:
    if to.start is not None and to.end is None:
        raise EditError("an extra occurrence that starts at another time needs its end too: --to ...-HH:MM")
    for key, value in _said(to).items():
        line[key] = make(value)


def _line(recurrence: Any, key: str, which: Which) -> Any:
    """The line of this occurrence in a list, or None."""
    for line in recurrence.get(key) or ():
        if str(line["date"]) == which.day and which.start in (None, line.get("startTime")):
            return line
    return None


def _add(recurrence: Any, key: str, line: Any, make: Make) -> None:
    found = recurrence.get(key)
    if found is None:
        recurrence[key] = make([line])
    else:
        found.append(make(line))


def _remove(recurrence: Any, key: str, line: Any) -> None:
    found = recurrence[key]
    found.remove(line)
    if not found:
        del recurrence[key]


# `provisioning.placeholderCount=30`: where in a document a value goes, and putting it there. Pure.

_step = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_TOP = ("metadata", "spec")


class Assignment(NamedTuple):
    """`path` from the top of the document. `value` None takes the key away."""

    path: tuple[str | int, ...]
    value: Any


def assignment(said: str) -> Assignment:
    """`PATH=VALUE` with a path below spec, or one that begins with metadata or spec; the value in YAML."""
    path, equals, text = said.partition("=")
    steps = [int(match[2]) if match[2] else match[1] for match in _step.finditer(path)]
    rebuilt = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    if not equals or not steps or rebuilt != f".{path}":
        raise EditError(f'"{said}" is no PATH=VALUE such as provisioning.placeholderCount=30')
    return Assignment(tuple(steps) if steps[0] in _TOP else ("spec", *steps), _value(text))


def _value(text: str) -> Any:
    if not text.strip() or text.strip() in ("null", "~"):
        return None
    documents, faults = parse(Source("", f"x: {text}\n".encode()))
    if faults or len(documents) != 1 or not isinstance(documents[0].value, dict):
        if text.isprintable() and text[0] not in "[{\"'&*!|>%@`":
            return text  # a title with a colon is still a title
        raise EditError(f'"{text}" is no value in YAML')
    return documents[0].value["x"]


def assign(tree: Any, one: Assignment, make: Make) -> None:
    *above, last = one.path
    at = tree
    for depth, step in enumerate(above):
        at = _step_into(at, step, one.path[: depth + 1], make)
    if isinstance(last, int) and not (isinstance(at, list) and last < len(at)):
        raise EditError(f"{_shown(one.path)} does not stand in the file")
    if one.value is None:
        if isinstance(at, dict) and last not in at:
            raise EditError(f"{_shown(one.path)} does not stand in the file")
        del at[last]
    else:
        at[last] = make(one.value)


def _step_into(at: Any, step: str | int, path: tuple[str | int, ...], make: Make) -> Any:
    if isinstance(step, int):
        if isinstance(at, list) and step < len(at):
            return at[step]
    elif isinstance(at, dict):
        if at.get(step) is None:
            at[step] = make({})
        return at[step]
    raise EditError(f"{_shown(path)} does not stand in the file")


def _shown(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


# An edit of one reservation in a project: what the file says then, and whether the project allows it.
# Nothing is written here.


class Edited(NamedTuple):
    """`findings`: the errors that the edit brings; with any, it must not be written."""

    file: str
    text: str
    findings: tuple[Finding, ...]
    change: ReservationChange | None


def edit(pipeline: Pipeline, name: str, how: Edit) -> Edited:
    """Raises EditError. `name` may change by it."""
    before = pipeline.declared
    reservation = next((one for one in before.reservations if one.name == name), None)
    if reservation is None:
        raise EditError(f'no reservation is named "{name}"')
    if reservation.renku:
        raise EditError(
            f"{name} is a Renku payload, which is read as it is. Make a file of ours of it first: "
            f"berth import renku {reservation.origin.file}"
        )
    source = next(one for one in pipeline.sources if one.file == reservation.origin.file)
    text = _decoded(source)
    found = edited(text, reservation.origin.index, how)
    return check(pipeline, source.file, found, reservation)


def check(pipeline: Pipeline, file: str, text: str, was: Reservation | None) -> Edited:
    """What the project says to a file with this text; `was` stood there before."""
    changed = Source(file, text.encode())
    sources = [one for one in pipeline.sources if one.file != file]
    after = Pipeline(sources=sorted([*sources, changed]))
    old = {item.reservation.name: item for item in pipeline.items()}
    told = {_without_place(one) for one in pipeline.findings()}
    new: list[Item] = [item for item in after.items() if _is_new(item, old)]
    findings = [one for one in after.findings() if one.severity == ERROR and _without_place(one) not in told]
    version = version_of(new[0], after) if new and not findings else None
    before = version_of(old[was.name], pipeline) if was and was.name in old else None
    return Edited(file, text, tuple(findings), compare_versions(before, version) if version else None)


def _is_new(item: Item, old: dict[str, Item]) -> bool:
    one = old.get(item.reservation.name)
    return one is None or one.reservation != item.reservation


def _without_place(one: Finding) -> Finding:
    """A finding is the same one where an edit above it moved its line."""
    return one._replace(line=0, column=0)


def _decoded(source: Source) -> str:
    try:
        return source.text.decode("utf-8")
    except UnicodeDecodeError:
        raise EditError(f"{source.file} is not UTF-8") from None

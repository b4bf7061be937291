"""Edit one reservation in its file, and check the result in the whole project. Nothing is written."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from berth.dates.recurrence import expand
from berth.diff.change import ReservationChange
from berth.diff.compare import compare_versions
from berth.diff.comparison import version_of
from berth.edit.occurrences import Dates, NothingToDoError, OccurrenceEdit, RefusedError
from berth.edit.roundtrip import EditError, MakeNode, TreeEdit, edit_document
from berth.findings import ERROR, Finding, Problem, severity
from berth.pipeline import Item, Pipeline
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.values import Reservation

# Assignments such as `provisioning.placeholderCount=30`

_step = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_TOP = ("metadata", "spec")


class Assignment(NamedTuple):
    """A value for a path from the top of the document; None removes the key."""

    path: tuple[str | int, ...]
    value: Any


def parse_assignment(argument: str) -> Assignment:
    """Parse `PATH=VALUE`: a path below spec, or one that begins with metadata or spec; a value in YAML.

    Raise EditError for anything else.
    """
    path, equals, text = argument.partition("=")
    steps = [int(match[2]) if match[2] else match[1] for match in _step.finditer(path)]
    rebuilt = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    if not equals or not steps or rebuilt != f".{path}":
        raise EditError(f'"{argument}" is not PATH=VALUE. Example: provisioning.placeholderCount=30')
    return Assignment(tuple(steps) if steps[0] in _TOP else ("spec", *steps), _value(text))


def _value(text: str) -> Any:
    if not text.strip() or text.strip() in ("null", "~"):
        return None
    documents, faults = parse(Source("", f"x: {text}\n".encode()))
    if faults or len(documents) != 1 or not isinstance(documents[0].value, dict):
        if text.isprintable() and text[0] not in "[{\"'&*!|>%@`":
            return text  # a title with a colon is still a title
        raise EditError(f'the value "{text}" is not valid YAML')
    return documents[0].value["x"]


def apply_assignment(tree: Any, one: Assignment, make: MakeNode) -> None:
    """Set or remove a value in a document. Raise EditError if the path does not exist."""
    *above, last = one.path
    at = tree
    for depth, step in enumerate(above):
        at = _step_into(at, step, one.path[: depth + 1], make)
    if isinstance(last, int) and not (isinstance(at, list) and last < len(at)):
        raise EditError(f"{_path_text(one.path)} is not in the file")
    if one.value is None:
        if isinstance(at, dict) and last not in at:
            raise EditError(f"{_path_text(one.path)} is not in the file")
        del at[last]
    else:
        at[last] = make(one.value)


def _step_into(at: Any, step: str | int, path: tuple[str | int, ...], make: MakeNode) -> Any:
    if isinstance(step, int):
        if isinstance(at, list) and step < len(at):
            return at[step]
    elif isinstance(at, dict):
        if at.get(step) is None:
            at[step] = make({})
        return at[step]
    raise EditError(f"{_path_text(path)} is not in the file")


def _path_text(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


# The edit of a file in its project


class EditResult(NamedTuple):
    """The new text of a file. `findings`: errors that the edit causes; with any, it must not be written.

    `note`: why there is nothing to change.
    """

    file: str
    text: str
    findings: tuple[Finding, ...]
    change: ReservationChange | None
    note: str = ""


def edit_reservation(pipeline: Pipeline, name: str, edit: TreeEdit) -> EditResult:
    """Edit the reservation of this name; the edit may rename it. Raise EditError if it is refused."""
    reservation = _editable(pipeline, name)
    source = next(one for one in pipeline.sources if one.file == reservation.origin.file)
    text = edit_document(_decode(source), reservation.origin.index, edit)
    return check_edit(pipeline, source.file, text, reservation)


def edit_occurrence(pipeline: Pipeline, name: str, edit: OccurrenceEdit) -> EditResult:
    """Edit one occurrence of the reservation of this name. Raise EditError if it is refused."""
    reservation = _editable(pipeline, name)
    known = pipeline.declared.calendars
    source = next(one for one in pipeline.sources if one.file == reservation.origin.file)
    text = _decode(source)
    try:
        dates = Dates(reservation, known)
        faults = () if dates.all else expand(reservation, known).problems
        if faults:
            return EditResult(source.file, text, _located(pipeline, faults), None)
        tree_edit = edit(dates)
    except NothingToDoError as reason:
        return EditResult(source.file, text, (), None, str(reason))
    except RefusedError as refused:
        return EditResult(source.file, text, _located(pipeline, [refused.problem]), None)
    return check_edit(
        pipeline, source.file, edit_document(text, reservation.origin.index, tree_edit), reservation
    )


def _located(pipeline: Pipeline, problems: Sequence[Problem]) -> tuple[Finding, ...]:
    return tuple(pipeline.located(problems, severity))


def _editable(pipeline: Pipeline, name: str) -> Reservation:
    """Return the reservation. Raise EditError if it does not exist, or is Renku's."""
    reservation = next((one for one in pipeline.declared.reservations if one.name == name), None)
    if reservation is None:
        raise EditError(f'no reservation named "{name}"')
    if reservation.renku:
        raise EditError(
            f"{name} is a Renku payload, which Berth does not edit. Convert it first: "
            f"berth import renku {reservation.origin.file}"
        )
    return reservation


def check_edit(pipeline: Pipeline, file: str, text: str, previous: Reservation | None) -> EditResult:
    """Check the project with a new text of a file; `previous` is the reservation that the file had before."""
    changed = Source(file, text.encode())
    sources = [one for one in pipeline.sources if one.file != file]
    after = Pipeline(sources=sorted([*sources, changed]))
    old = {item.reservation.name: item for item in pipeline.items()}
    known = {_without_place(one) for one in pipeline.findings()}
    new: list[Item] = [item for item in after.items() if _is_new(item, old)]
    findings = [one for one in after.findings() if one.severity == ERROR and _without_place(one) not in known]
    version = version_of(new[0], after) if new and not findings else None
    before = version_of(old[previous.name], pipeline) if previous and previous.name in old else None
    return EditResult(file, text, tuple(findings), compare_versions(before, version) if version else None)


def _is_new(item: Item, old: dict[str, Item]) -> bool:
    one = old.get(item.reservation.name)
    return one is None or one.reservation != item.reservation


def _without_place(one: Finding) -> Finding:
    """Return the finding without its line, which an edit above it changes."""
    return one._replace(line=0, column=0)


def _decode(source: Source) -> str:
    try:
        return source.text.decode("utf-8")
    except UnicodeDecodeError:
        raise EditError(f"{source.file} is not UTF-8") from None

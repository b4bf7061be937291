"""Edit one reservation in its file, and check the result in the whole project. Nothing is written."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from berth.checks import typos
from berth.checks.policychecks import PolicyResult, PolicySubject, judge, policy_cases, policy_subject
from berth.checks.project import Item
from berth.checks.rehearsalchecks import check_rehearsal_is_ahead, rehearsals_of, rehearsed
from berth.dates.expansion import Expansion, days_of_entries
from berth.dates.recurrence import expand
from berth.dates.zone import number
from berth.diff.change import ReservationChange
from berth.diff.compare import compare_versions
from berth.diff.comparison import version_of
from berth.edit.datelists import (
    DATE_LISTS,
    keep_entries,
    remove_entry,
    remove_outer_limits,
    set_keys,
    shift_dates,
)
from berth.edit.dateselect import Dates, NothingToDoError, OccurrenceEdit, RefusedError
from berth.edit.fieldpaths import FieldPath, full_path, node_at, text_of
from berth.edit.roundtrip import (
    MakeNode,
    TreeEdit,
    edit_document,
    insert_key,
    only_document,
    without_document,
)
from berth.findings import ERROR, WARNING, Finding, FindingsError, Origin, Problem
from berth.manifests.placed import class_names, pool_behaviors
from berth.notation.refusal import CommandError, read_at
from berth.notation.zones import zone_at
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.scalar import plain
from berth.reading.source import Source
from berth.schema.declared import Declared
from berth.schema.documentproblems import nearest, shown
from berth.schema.metadata import IMPORTED, IMPORTED_FEED
from berth.schema.reservation import Reservation
from berth.schema.validate import in_words, without_plus
from berth.schema.values import Entry, Recurrence

# Assignments such as `provisioning.placeholderCount=30`

_step = re.compile(r"""(?:^|\.)([^.\[\]]+)|\[(\d+)\]|\["([^"]*)"\]""")
_STRUCTURED = tuple("[{\"'")  # how a VALUE begins that is not a plain scalar


class Assignment(NamedTuple):
    """A value for a path, which `fieldpaths.full_path` reads; None removes the key."""

    path: tuple[str | int, ...]
    value: Any


def parse_assignment(argument: str) -> Assignment:
    """Parse `PATH=VALUE`: a path below spec, or one that begins with metadata or spec; a value in YAML.

    Raise CommandError for anything else.
    """
    path, equals, text = argument.partition("=")
    steps: list[str | int] = []
    end = 0
    while match := _step.match(path, end):
        key, index, quoted = match.groups()
        steps.append(int(index) if index else key or quoted)
        end = match.end()
    if not equals or not all(step != "" for step in steps) or not path or end < len(path):
        raise CommandError(f'"{argument}" is not PATH=VALUE. Example: provisioning.placeholderCount=30')
    return Assignment(tuple(steps), _value(read_at(path, partial(without_plus, text)).strip()))


def _value(text: str) -> Any:
    """Return what all of the text means: a scalar, or a value in quotes or brackets.

    YAML would end a title at ` #`, and take `&a` at its start for an anchor; here both are text.
    """
    if text.isprintable() and not text.startswith(_STRUCTURED):
        return plain(text)
    value = _only_value(f"x: {text}\n")
    in_list = _only_value(f"x: [{text}]\n") if text.isprintable() else [value]  # a comment would hide the ]
    if value is None or in_list != [value]:
        raise CommandError(f"the value {shown(text)} is not valid YAML; put quotes around all of a text")
    return value


def _only_value(text: str) -> Any:
    documents, faults = parse(Source("", text.encode()))
    if faults or len(documents) != 1 or not isinstance(documents[0].value, dict):
        return None
    return documents[0].value["x"]


def apply_assignment(tree: Any, one: Assignment, make: MakeNode) -> None:
    """Set or remove a value in a document. Raise CommandError if the path does not exist."""
    path = full_path(one.path)
    if path[-1] == "seats" and isinstance(one.value, int):
        count = f"{text_of((*path[:-1], 'placeholderCount'))}={one.value}"
        raise CommandError(f"seats is a list of classes. Write --seats {one.value}, or {count} for one class")
    at = tree
    for depth, step in enumerate(path[:-1]):
        _check_step(at, path, depth)
        if isinstance(at, dict) and at.get(step) is None:
            at[step] = make({})
        at = at[step]
    _check_step(at, path, len(path) - 1)
    if one.value is None:
        if isinstance(at, dict) and path[-1] not in at:
            raise CommandError(f"{text_of(path)} is not in the file")
        del at[path[-1]]
    else:
        node, value = node_at(path), one.value
        if path[-1] == "timeZone" and isinstance(value, str):
            value = read_at(text_of(path), lambda: zone_at(value))
        at[path[-1]] = make(value if node is None else in_words(node, value))


def _check_step(at: Any, path: FieldPath, depth: int) -> None:
    """Raise CommandError unless a step of a path leads into this value: a key of a mapping, or an item."""
    step, above = path[depth], text_of(path[:depth])
    if isinstance(step, int):
        if not (isinstance(at, list) and step < len(at)):
            raise CommandError(f"{text_of(path[: depth + 1])} is not in the file")
    elif isinstance(at, list) and at and isinstance(at[0], dict):
        raise CommandError(f"{above} is a list. Write {text_of((*path[:depth], 0, *path[depth:]))}")
    elif isinstance(at, list):
        advice = f"Write {above + '[0], or ' if at else ''}the whole list: {above}=[...]"
        raise CommandError(f'{above} is a list without a field "{step}". {advice}')
    elif not isinstance(at, dict):
        raise CommandError(f'{above} is not a mapping, so it has no field "{step}". Write {above}=VALUE')


# The edit of a file in its project

_TAKEN = ("maintain", "reduce")  # behaviors of seats that sessions take


class EditResult(NamedTuple):
    """The new text of a file; None: the file is to be removed.

    `findings`: errors that the edit causes; with any, nothing must be written. `note`: why there is nothing
    to change. `warnings`: those that the edit causes. `policies`: those of the site that apply to it, as far
    as they compare no cost. `expansion`: the dates of the reservation after it. `shared`: of a new one, whose
    sessions take its seats, too.
    `rehearsals`: which are for dates that change.
    """

    file: str
    text: str | None
    findings: tuple[Finding, ...]
    change: ReservationChange | None
    note: str = ""
    warnings: tuple[Finding, ...] = ()
    policies: tuple[PolicyResult, ...] = ()
    expansion: Expansion = Expansion()
    shared: tuple[str, ...] = ()
    rehearsals: tuple[str, ...] = ()


ReservationEdit = Callable[[Reservation, Any, MakeNode], None]
"""Changes the tree of a reservation in place; it knows the reservation as it was."""


def edit_reservation(
    pipeline: Pipeline, name: str, edit: ReservationEdit, now: int | None = None
) -> EditResult:
    """Edit the reservation of this name; the edit may rename it. Raise CommandError if it is refused."""
    reservation, text = _editable(pipeline, name)
    return _apply(pipeline, reservation, text, partial(edit, reservation), now)


def edit_occurrence(
    pipeline: Pipeline, name: str, edit: OccurrenceEdit, now: int | None = None
) -> EditResult:
    """Edit one occurrence of the reservation of this name. Raise CommandError if it is refused."""
    reservation, text = _editable(pipeline, name)
    known, file = pipeline.declared.calendars, reservation.origin.file
    try:
        dates = Dates(reservation, known)
        if not dates.all and (faults := expand(reservation, known).problems):
            raise RefusedError(*faults)
        tree_edit = edit(dates)
    except NothingToDoError as reason:
        return EditResult(file, text, (), None, str(reason))
    except RefusedError as refused:
        raise FindingsError(pipeline.located(refused.problems), file) from None
    return _apply(pipeline, reservation, text, tree_edit, now)


def copy_reservation(  # noqa: PLR0913, PLR0917 - what a copy is made of
    pipeline: Pipeline, name: str, new: str, first: str, last: str, now: int | None = None
) -> EditResult:
    """Copy a reservation to other dates, in a file beside its own. Raise CommandError if it is refused."""
    reservation, text = _editable(pipeline, name)
    recurrence = reservation.recurrence
    _check_copied(name, recurrence, first, last)
    has_dates = bool(recurrence.dates or recurrence.first)
    has_limits = any(entry.dates.first or entry.dates.last for entry in recurrence.schedule)
    if not has_dates and (has_limits or not recurrence.within):
        raise CommandError(f"{name} has no first and last date; copy its file and change its dates")
    file = PurePosixPath(reservation.origin.file)
    target = f"{file.parent}/{new}{file.suffix}"
    if any(source.file == target for source in pipeline.sources):
        raise CommandError(f"{target}: the file exists; nothing was written")
    by = _weeks_to(first, recurrence) if has_dates else timedelta()
    ended = _ended_entries(recurrence, first, last, by) if has_limits and first <= last else []
    listed = [(str(begin + by), str(end + by)) for begin, end in recurrence.dates]
    lost = [i for i, (begin, end) in enumerate(listed) if end < first or last < begin]
    if len(ended) == len(recurrence.schedule) > 0 or len(lost) == len(listed) > 0:
        raise CommandError(
            f"nothing of the schedule of {name} would be left from {first} to {last}. Give a later --until"
        )

    def edit(tree: Any, make: MakeNode) -> None:
        tree["metadata"]["name"] = make(new)
        _forget_import(tree["metadata"])
        written = tree["spec"]["recurrence"]
        _forget_end(recurrence, written)
        shift_dates(written, (*(DATE_LISTS if recurrence.dates else ()), "schedule"), by, make)
        remove_outer_limits(written, first, last)
        for index in reversed(ended):
            remove_entry(written, "schedule", index)
        if not recurrence.dates:
            dates = {"startDate": first, "endDate": last}
            for key, value in dates.items():
                if "within" in written:
                    insert_key(written, key, make(value), "within")
            set_keys(written, {**dates, "within": None}, make)
        keep_entries(written, first, last)

    copied = edit_document(only_document(text, reservation.origin.index), 0, edit)
    result = check_edit(pipeline, target, copied, None, now)
    message = f"it has no date from {first} to {last}, so it is not in the copy."
    fix = "To have it there, let the copy end later."
    problems = [
        reservation.origin.problem("B040", ("spec", "recurrence", key, index), message, fix)
        for key, indices in (("schedule", ended), ("dates", lost))
        for index in indices
    ]
    return result._replace(warnings=(*result.warnings, *pipeline.located(problems)))


def _check_copied(name: str, recurrence: Recurrence, first: str, last: str) -> None:
    """Raise CommandError for dates of a copy that could only be guessed."""
    if recurrence.capacity:
        raise CommandError(
            f"{name} has the dates of CloudCapacity {recurrence.capacity}; copy its file and name another"
        )
    if recurrence.type == "once" and recurrence.first and recurrence.last:
        whole, begin = recurrence.last - recurrence.first, date.fromisoformat(first)
        if date.fromisoformat(last) - begin != whole:
            days = f"for {whole.days + 1} days" if whole else "on one day"
            raise CommandError(f"{name} happens once, {days}: --from {first} --until {begin + whole}")


def _forget_end(recurrence: Recurrence, written: Any) -> None:
    """Remove the end of the lines that last longest, if all have one, as `end` writes it within terms."""
    ends = [entry.dates.last for entry in recurrence.schedule]
    if recurrence.within and None not in ends:
        latest = max(filter(None, ends))
        for line, end in zip(written["schedule"], ends, strict=True):
            if end == latest:
                line.pop("until", None)


def _weeks_to(first: str, recurrence: Recurrence) -> timedelta:
    """Return the whole weeks that move the first date of a recurrence into the week from `first` on."""
    start = number(date.fromisoformat(first))
    starts = [days.start for ranges in days_of_entries(recurrence) for days in ranges if days]
    return timedelta(weeks=-((min(starts, default=start) - start) // 7))


def _ended_entries(recurrence: Recurrence, first: str, last: str, by: timedelta) -> list[int]:
    """Return which entries with `from` or `until` have no date in a copy."""
    limited, schedule = list[int](), list[Entry]()
    for index, entry in enumerate(recurrence.schedule):
        begin, end = entry.dates.first, entry.dates.last
        if begin or end:
            limited.append(index)
        limits = entry.dates._replace(first=begin and begin + by, last=end and end + by)
        schedule.append(entry._replace(dates=limits))
    copied = recurrence._replace(
        first=date.fromisoformat(first),
        last=date.fromisoformat(last),
        dates=tuple((begin + by, end + by) for begin, end in recurrence.dates),
        terms=(),
        schedule=tuple(schedule),
    )
    days, latest = days_of_entries(copied), number(date.fromisoformat(last))
    return [i for i in limited if not any(day <= latest for some in days[i] for day in some)]


def annotations_of(project: Pipeline, kind: str) -> Iterator[tuple[Origin, Mapping[str, Any]]]:
    """Yield where each imported document of a kind is, and its annotations."""
    for source in project.sources:
        if IMPORTED_FEED.encode() in source.text:
            for one in parse(source)[0]:
                if isinstance(one.value, dict) and one.value.get("kind") == kind:
                    metadata = one.value.get("metadata")
                    found = metadata.get("annotations") if isinstance(metadata, dict) else None
                    yield Origin(source.file, one.index), found if isinstance(found, dict) else {}


def _forget_import(metadata: Any) -> None:
    """Remove what says from which event a reservation was imported: its copy was not."""
    annotations = metadata.get("annotations") or {}
    for key in IMPORTED:
        annotations.pop(key, None)
    if "annotations" in metadata and not annotations:
        del metadata["annotations"]


EditStep = tuple[Pipeline, EditResult]
"""One of several edits, after the project that it is an edit of: with all edits before it."""


def all_steps(pipeline: Pipeline, edits: Iterable[Callable[[Pipeline], EditResult]]) -> list[EditStep]:
    """Return edits of which each is of the project with those before it; of a refused one, only that."""
    steps: list[EditStep] = []
    for edit in edits:
        result = edit(pipeline)
        steps.append((pipeline, result))
        if result.findings:
            return steps[-1:]
        pipeline = pipeline.with_files({result.file: result.text})
    return steps


def delete_reservation(pipeline: Pipeline, name: str) -> list[EditStep]:
    """Remove a reservation with its rehearsals, and files in which nothing else is.

    Raise CommandError if it is refused.
    """
    names = [one.name for one in rehearsals_of(name, pipeline.declared.reservations)]
    return all_steps(pipeline, [partial(_delete, name=one) for one in (*names, name)])


def _delete(pipeline: Pipeline, name: str) -> EditResult:
    reservation, text = _editable(pipeline, name)
    file, index = reservation.origin[:2]
    return check_edit(pipeline, file, without_document(text, index), reservation)


def _apply(
    pipeline: Pipeline, reservation: Reservation, text: str, edit: TreeEdit, now: int | None
) -> EditResult:
    """Edit the text of the file of a reservation, and check the project with it."""
    file, index = reservation.origin[:2]
    return check_edit(pipeline, file, edit_document(text, index, edit), reservation, now)


def reservation_named(pipeline: Pipeline, name: str) -> Reservation:
    """Return the reservation. Raise FindingsError for errors that may hide it, or CommandError."""
    reservation = next((one for one in pipeline.declared.reservations if one.name == name), None)
    if reservation is not None:
        return reservation
    errors = [finding for finding in pipeline.findings() if finding.severity == ERROR]
    if errors and pipeline.may_declare("CapacityReservation", name):
        raise FindingsError(errors, errors[0].file)
    hint = nearest(name, [one.name for one in pipeline.declared.reservations])
    raise CommandError(f'no reservation named "{name}". {hint}')


def _editable(pipeline: Pipeline, name: str) -> tuple[Reservation, str]:
    """Return the reservation and the text of its file."""
    reservation = reservation_named(pipeline, name)
    source = next(one for one in pipeline.sources if one.file == reservation.origin.file)
    return reservation, source.text.decode()


def check_edit(
    pipeline: Pipeline, file: str, text: str | None, previous: Reservation | None, now: int | None = None
) -> EditResult:
    """Check the project with a new text of a file, or without the file if it is None.

    `previous` is the reservation that the file had before; with `now`, dates are compared with it.
    """
    after = pipeline.with_files({file: text})
    old = {item.reservation.name: item for item in pipeline.items(now=now)}
    known = {finding.without_place() for finding in pipeline.findings()}
    new: list[Item] = [item for item in after.items(now=now) if _is_new(item, old)]
    if now is not None:
        for item in new:
            after.problems += _check_dates(item, old.get(item.reservation.name), after.declared, now)
    found = [finding for finding in after.findings() if finding.without_place() not in known]
    errors, warnings = (
        tuple(finding for finding in found if finding.severity == kind) for kind in (ERROR, WARNING)
    )
    before, edited = old.get(previous.name) if previous else None, new[0] if new else None
    remaining = {reservation.name for reservation in after.declared.reservations}
    is_removed = before is not None and before.reservation.name not in remaining
    if errors or not (edited or is_removed):
        return EditResult(file, text, errors, None, warnings=warnings)
    change = compare_versions(before and version_of(before, pipeline), edited and version_of(edited, after))
    policies = [(policy, None) for policy in after.site.policies] if after.site and change else ()
    subjects = before and _policy_subject(before, pipeline), edited and _policy_subject(edited, after)
    cases = policy_cases(*subjects, policies, now) if policies and now is not None else ()
    results = [result for case in cases if (result := judge(case, {})) and not result.lacks_cost]
    return EditResult(
        file,
        text,
        errors,
        change,
        warnings=warnings,
        policies=tuple(results),
        expansion=edited.expansion if edited else Expansion(),
        shared=_shared_seats(edited.reservation, after.declared) if edited and previous is None else (),
        rehearsals=_rehearsals(change, after.declared) if change else (),
    )


def _check_dates(item: Item, earlier: Item | None, declared: Declared, now: int) -> Iterator[Problem]:
    """Check the dates that an edit gives a reservation; `earlier` is the reservation before it."""
    reservation, occurrences = item.reservation, item.expansion.occurrences
    known = {(one.start, one.end) for one in earlier.expansion.occurrences} if earlier else set()
    changed = [one for one in occurrences if (one.start, one.end) not in known]
    if reservation.spec.rehearses:
        yield from check_rehearsal_is_ahead(reservation, changed, now)
        return
    yield from typos.check_dates_are_ahead(reservation, occurrences, now)
    if earlier:
        yield from typos.check_single_dates(reservation, changed, declared.calendars, now)


def _rehearsals(change: ReservationChange, declared: Declared) -> tuple[str, ...]:
    """Return sentences about the rehearsals of dates that change."""
    dates = [after for _, after in change.occurrences.changed]
    pairs = [(one.name, one.spec.rehearses) for one in rehearsals_of(change.name, declared.reservations)]
    return tuple(f"{name} rehearses {date}." for name, date in pairs if date and rehearsed(date, dates))


def _policy_subject(item: Item, pipeline: Pipeline) -> PolicySubject | None:
    if pipeline.site is None:
        return None
    return policy_subject(item.reservation, item.expansion.occurrences, pipeline.declared, pipeline.site)


def _shared_seats(reservation: Reservation, declared: Declared) -> tuple[str, ...]:
    """Return sentences about the sessions of other courses that take the seats of a reservation."""
    name, counts = reservation.name, dict(reservation.seats)
    for seats in reservation.recurrence.all_seats():
        counts |= {
            resource_class: max(count, counts.get(resource_class, 0)) for resource_class, count in seats
        }
    shared = {}
    for resource_class, behavior in pool_behaviors(reservation).items():
        known = declared.classes.get(resource_class)
        if behavior in _TAKEN and known and known.sessions:
            shared[resource_class] = [
                other.name
                for other in declared.reservations
                if other.name != name
                and not (other.suspend or other.spec.rehearses)
                and resource_class in class_names(other)
            ]
    if reservation.sessions.course:
        return ()
    return tuple(
        f"All sessions of class {resource_class} count for {name}, also those of {_some(others)}: while "
        f"{counts[resource_class]} of them run, no seat is held."
        for resource_class, others in shared.items()
        if others
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def _is_new(item: Item, old: dict[str, Item]) -> bool:
    """Tell whether a reservation is new or differs, wherever in its file."""
    one = old.get(item.reservation.name)
    return one is None or one.reservation._replace(origin=item.reservation.origin) != item.reservation

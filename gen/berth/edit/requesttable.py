"""Read a table of requests, a row for each course with the headings of the form, and update what it wrote."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from berth.edit.listupdate import update_list
from berth.edit.prompts import FORM
from berth.edit.requestform import FormAnswer
from berth.edit.roundtrip import MakeNode, edit_document
from berth.findings import FilePlace, Finding
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.documentproblems import shown

_COLUMNS = {
    **{prompt.heading.lower(): key for key, prompt in FORM.items()},
    "class": "class",
    **dict.fromkeys(("day", "days", "date", "dates"), "when"),
    "time": "times",
    "first": "from",
    "last": "until",
    "zone": "time-zone",
}
_SEPARATOR = re.compile(r'"?sep=([^\w\s"]|\t)"?', re.IGNORECASE)  # the first line, as Excel writes it
_NEEDED = ("title", "class", "seats", "when", "times")
_OURS = {  # what a row says of a reservation, below spec; all else in the file belongs to people
    "": ("title", "resourceClass", "owner", "sessions"),
    "recurrence": ("type", "startDate", "endDate", "within", "dates", "timeZone", "schedule"),
    "provisioning": ("placeholderCount", "seats"),
}
_LISTS = ("dates", "schedule")
_SCALING = ("leadTimeMinutes", "scaleDownBehavior")  # keys of their entries that belong to people, too


class RequestTable(NamedTuple):
    """The answers of each row by key, the headings that are not read, and what is wrong with the table."""

    rows: tuple[dict[str, FormAnswer], ...]
    unread: tuple[FormAnswer, ...]
    findings: tuple[Finding, ...]


def read_table(source: Source) -> RequestTable:
    """Read CSV: between cells are commas, semicolons, tabs or what `sep=` says; a row is one line."""
    start = FilePlace(source.file)
    try:
        lines = source.text.decode("utf-8-sig").splitlines() or [""]
    except UnicodeDecodeError:
        refused = start.finding("B002", "the table is not UTF-8.", "Save it as CSV in UTF-8.")
        return RequestTable((), (), (refused,))
    if torn := [number for number, line in enumerate(lines, 1) if line.count('"') % 2]:
        place = FilePlace(source.file, torn[0], 1)
        refused = place.finding(
            "B002", "a quoted cell does not end in its line.", "Write each row in one line."
        )
        return RequestTable((), (), (refused,))
    given = _SEPARATOR.fullmatch(lines[0])
    first = 2 if given else 1
    head = "".join(lines[first - 1 : first])
    separator = given[1] if given else max(",;\t", key=head.count)
    headings = [
        cell._replace(key=_COLUMNS.get(" ".join(cell.text.lower().split()), ""))
        for cell in _cells(source.file, first, head, separator)
    ]
    keys = {heading.key for heading in headings}
    if lacking := [FORM[key].heading for key in _NEEDED if key not in keys]:
        message = f"there is no column {' or '.join(map(shown, lacking))}."
        refused = start.finding("B011", message, "Write the headings of the form in the first line.")
        return RequestTable((), _unread(headings), (refused,))
    findings: list[Finding] = []
    rows = []
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip(f"{separator} "):
            continue
        end = FilePlace(source.file, number, len(line) + 1)
        row = {key: FormAnswer(key, "", end) for key in keys - {""}}
        cells = [*_cells(source.file, number, line, separator)]
        findings += [_beyond(cell) for cell in cells[len(headings) :] if cell.text]
        for heading, cell in zip(headings, cells, strict=False):
            answer = cell._replace(key=heading.key)
            if not heading.key or (row[heading.key].text and not cell.text):
                continue
            if row[heading.key].text:
                findings.append(answer.finding("B060", "there are two answers.", "Leave one of them empty."))
            row[heading.key] = answer
        rows.append({key: row[key] for key in FORM if key in row and (row[key].text or key != "time-zone")})
    if not rows:
        findings.append(start.finding("B011", "the table has no rows.", "Write a line for each course."))
    return RequestTable(tuple(rows), _unread(headings), tuple(findings))


def _beyond(cell: FormAnswer) -> Finding:
    message = f"{shown(cell.text)} is in no column: the row has more cells than the first line."
    return cell.place.finding("B002", message, "Put quotes around a cell that has a separator in it.")


def _unread(headings: Iterable[FormAnswer]) -> tuple[FormAnswer, ...]:
    return tuple(heading for heading in headings if heading.text and not heading.key)


def _cells(file: str, number: int, line: str, separator: str) -> Iterator[FormAnswer]:
    """Yield the cells of a line with their places; quotes around a cell are not part of it."""
    at = 0
    try:
        texts = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:  # a cell of more than 128 KiB
        texts = [line]
    for text in texts:
        at = max(at, line.find(text, at))
        yield FormAnswer("", text.strip(), FilePlace(file, number, at + 1))
        at += len(text)


def updated_text(text: str, index: int, new_text: str) -> str:
    """Return the text of a file in which a reservation has what a row says of it now."""
    new: Any = parse(Source("", new_text.encode()))[0][0].value
    old: Any = next(one.value for one in parse(Source("", text.encode()))[0] if one.index == index)

    def edit(tree: Any, make: MakeNode) -> None:
        for part, keys in _OURS.items():
            here, now, before = ((one["spec"][part] if part else one["spec"]) for one in (tree, new, old))
            for key in keys:
                if key in _LISTS and key in now:
                    update_list(here, key, now[key], make, _SCALING)
                elif key in now and now[key] != before.get(key):
                    here[key] = make(now[key])
                elif key not in now and (part or key == "resourceClass"):
                    here.pop(key, None)

    return edit_document(text, index, edit)

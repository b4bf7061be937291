"""The layout of findings (text, workflow commands), of answers for programs, and of counts of seats."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from posixpath import join, normpath

from berth.findings import ERROR, NOTE, WARNING, Finding
from berth.output import yamltext
from berth.output.table import visible
from berth.schema.holders import Unit
from berth.schema.values import ReservationOwner

Answer = Mapping[str, object]
"""What a command answers to programs, of the values that JSON has."""

DATA_FORMS = ("json", "yaml", "csv")
API_VERSION = "berth.dev/v1alpha1"
_COLORS = {ERROR: "\x1b[31m", WARNING: "\x1b[33m", NOTE: "\x1b[36m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_GITHUB = {ERROR: "error", WARNING: "warning", NOTE: "notice"}


def text(findings: Sequence[Finding], *, color: bool, folder: str = "") -> str:
    """Return a line for each finding and one that counts them; empty without findings.

    `folder` leads from the reader to the project.
    """
    if not findings:
        return ""
    lines = [_line(finding, color, folder) for finding in findings]
    return "\n".join([*lines, f"{count(findings)}."]) + "\n"


def _line(finding: Finding, color: bool, folder: str) -> str:
    place = f"{visible(finding.file)}:"
    if finding.line:
        file = normpath(join(folder, finding.file)) if folder else finding.file
        place = f"{visible(file)}:{finding.line}:{finding.column}:"
    kind = f"{finding.severity}[{finding.code}]"
    if color:
        place = f"{_BOLD}{place}{_PLAIN}"
        kind = f"{_COLORS[finding.severity]}{kind}{_PLAIN}"
    path = f"{finding.path}: " if finding.path else ""
    return f"{place} {kind} {visible(f'{path}{finding.message} {finding.fix}')}"


def count(findings: Sequence[Finding]) -> str:
    """Return `2 errors, 1 warning`, the worst first."""
    words = []
    for severity in (ERROR, WARNING, NOTE):
        number = sum(finding.severity == severity for finding in findings)
        if number:
            words.append(f"{number} {severity}{'s' if number > 1 else ''}")
    return ", ".join(words)


def finding_list(findings: Sequence[Finding]) -> Answer:
    return document("FindingList", {"items": items(findings)})


def items(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Return each finding as a JSON object."""
    keys = ("severity", "code", "file", "line", "column", "path", "message", "fix")
    return [{key: getattr(finding, key) for key in keys} for finding in findings]


def document(kind: str, content: Answer) -> Answer:
    """Return an answer of Berth, as all its forms have it."""
    return {"apiVersion": API_VERSION, "kind": kind, **content}


def serialize(answer: Answer, form: str) -> str:
    """Write an answer in one of DATA_FORMS. CSV has its `items` only."""
    if form == "yaml":
        return yamltext.block(answer, 0) + "\n"
    if form == "csv":
        return _csv(answer["items"])
    return json.dumps(answer, indent=2, ensure_ascii=False) + "\n"


def _csv(items: object) -> str:
    """Write a line for each item. A mapping in it becomes a column for each key, such as `seats.small`."""
    assert isinstance(items, list)
    rows = [dict(_csv_cells(item)) for item in items]
    columns: dict[str, dict[str, None]] = {}
    for name in (name for row in rows for name in row):
        columns.setdefault(name.partition(".")[0], {})[name] = None
    headings = [name for key, own in columns.items() for name in own if name != key or len(own) == 1]
    if not headings:
        return ""
    file = StringIO()
    writer = csv.DictWriter(file, headings, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _csv_cells(item: Answer) -> Iterator[tuple[str, str]]:
    for key, value in item.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{name}", _csv_cell(one)) for name, one in value.items())
        else:
            yield key, _csv_cell(value)


def _csv_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return visible(" ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


def github(findings: Sequence[Finding], folder: str = "") -> str:
    """Return workflow commands, which GitHub shows at their lines in the pull request.

    `folder` leads from the root of the repository, where workflows run, to the project.
    """
    files = {one.file: _property(normpath(join(folder, one.file))) for one in findings}
    return "".join(
        f"::{_GITHUB[finding.severity]} file={files[finding.file]},line={finding.line},"
        f"col={finding.column},title={finding.code}::"
        f"{_data((finding.path + ': ' if finding.path else '') + finding.message + ' ' + finding.fix)}\n"
        for finding in findings
    )


def _data(value: str) -> str:
    """Escape what ends a command, and what a terminal or a log would act on or hide."""
    return visible(value).replace("%", "%25")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def hours_json(seconds: int) -> int | float:
    """Return hours, as a whole number where they are one."""
    whole, rest = divmod(seconds, 3600)
    return seconds / 3600 if rest else whole


def counts_json(counts: Sequence[tuple[str, int]], unit: Unit = Unit.SEAT) -> dict[str, object]:
    """Return `seats` by class, or `nodes` where whole nodes are counted."""
    return {"seats": {}, "nodes": dict(counts)} if unit is Unit.NODE else {"seats": dict(counts)}


def owner_json(owner: ReservationOwner | None) -> dict[str, str | None] | None:
    return None if owner is None else {"name": owner.name, "contact": owner.contact or None}


def seats_text(seats: Sequence[tuple[str, int]], unit: Unit = Unit.SEAT) -> str:
    """Return `25 small`, or `3 nodes of small` where whole nodes are counted; several with commas."""
    one, several = (" node of", " nodes of") if unit is Unit.NODE else ("", "")
    return ", ".join(f"{count}{one if count == 1 else several} {name}" for name, count in seats)

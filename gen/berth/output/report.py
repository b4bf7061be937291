"""The layout of findings (text, JSON, workflow commands), of JSON answers, and of counts of seats."""

import json
from collections.abc import Sequence
from posixpath import join, normpath

from berth.findings import ERROR, NOTE, WARNING, Finding
from berth.schema.holders import Unit

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
    file = normpath(join(folder, finding.file)) if folder else finding.file
    place = f"{file}:{finding.line}:{finding.column}:"
    kind = f"{finding.severity}[{finding.code}]"
    if color:
        place = f"{_BOLD}{place}{_PLAIN}"
        kind = f"{_COLORS[finding.severity]}{kind}{_PLAIN}"
    path = f"{finding.path}: " if finding.path else ""
    return f"{place} {kind} {path}{finding.message} {finding.fix}"


def count(findings: Sequence[Finding]) -> str:
    """Return `2 errors, 1 warning`, the worst first."""
    words = []
    for severity in (ERROR, WARNING, NOTE):
        number = sum(finding.severity == severity for finding in findings)
        if number:
            words.append(f"{number} {severity}{'s' if number > 1 else ''}")
    return ", ".join(words)


def as_json(findings: Sequence[Finding]) -> str:
    return document("FindingList", {"items": items(findings)})


def items(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Return each finding as a JSON object."""
    keys = ("severity", "code", "file", "line", "column", "path", "message", "fix")
    return [{key: getattr(finding, key) for key in keys} for finding in findings]


def document(kind: str, content: dict[str, object]) -> str:
    """Return a JSON answer of Berth."""
    return (
        json.dumps({"apiVersion": API_VERSION, "kind": kind, **content}, indent=2, ensure_ascii=False) + "\n"
    )


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
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def hours_json(seconds: int) -> int | float:
    """Return hours, as a whole number where they are one."""
    whole, rest = divmod(seconds, 3600)
    return seconds / 3600 if rest else whole


def counts_json(counts: Sequence[tuple[str, int]], unit: Unit = Unit.SEAT) -> dict[str, object]:
    """Return `seats` by class, or `nodes` where whole nodes are counted."""
    return {"seats": {}, "nodes": dict(counts)} if unit is Unit.NODE else {"seats": dict(counts)}


def seats_text(seats: Sequence[tuple[str, int]], unit: Unit = Unit.SEAT) -> str:
    """Return `25 small`, or `3 nodes of small` where whole nodes are counted; several with commas."""
    one, several = (" node of", " nodes of") if unit is Unit.NODE else ("", "")
    return ", ".join(f"{count}{one if count == 1 else several} {name}" for name, count in seats)

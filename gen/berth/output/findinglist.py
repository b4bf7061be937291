"""The layout of findings: lines of text, commands for GitHub's workflows, and an answer for programs."""

from collections.abc import Iterable, Sequence
from posixpath import join, normpath

from berth.findings import ERROR, NOTE, WARNING, Finding, LiveFinding
from berth.output.answers import Answer, document
from berth.output.columns import Items
from berth.output.escape import visible, workflow_data, workflow_property
from berth.output.table import INDENT, wrapped

_COLORS = {ERROR: "\x1b[31m", WARNING: "\x1b[33m", NOTE: "\x1b[36m"}
_SEVERITIES = ERROR, WARNING, NOTE
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_GITHUB = {ERROR: "error", WARNING: "warning", NOTE: "notice"}
_KEYS = ("severity", "code", "file", "line", "column", "path", "message", "fix")


def text(
    findings: Sequence[Finding],
    *,
    color: bool,
    folder: str = "",
    columns: int | None = None,
    most: int | None = None,
) -> str:
    """Return a line for each finding and one that counts them; empty without findings.

    `folder` leads from the reader to the project. `columns`: of the terminal at which lines are broken; None:
    a finding is one line. `most`: how many are shown, errors first; the others are only counted.
    """
    if not findings:
        return ""
    shown = findings
    if most is not None and len(findings) > most + 1:
        shown = sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))[:most]
    lines = [wrapped(_line(finding, color, folder), columns, INDENT) for finding in shown]
    left = len(findings) - len(shown)
    lines += [f"and {left} more"] if left else []
    return "\n".join([*lines, f"{count(findings)}."]) + "\n"


def _line(finding: Finding, color: bool, folder: str) -> str:
    place = f"{visible(finding.file)}:"
    if finding.line:
        file = normpath(join(folder, finding.file)) if folder else finding.file
        place = f"{visible(file)}:{finding.line}:{finding.column}:"
    if color:
        place = f"{_BOLD}{place}{_PLAIN}"
    severity = severity_text(finding.severity, finding.code, color=color)
    return f"{place} {severity} {visible(_message(finding))}"


def severity_text(severity: str, code: str, *, color: bool) -> str:
    """Return `error[B012]`."""
    shown = f"{severity}[{code}]"
    return f"{_COLORS[severity]}{shown}{_PLAIN}" if color else shown


def count(findings: Sequence[Finding]) -> str:
    """Return `2 errors, 1 warning`, the worst first."""
    words = []
    for severity in _SEVERITIES:
        number = sum(finding.severity == severity for finding in findings)
        if number:
            words.append(f"{number} {severity}{'s' if number > 1 else ''}")
    return ", ".join(words)


def as_answer(findings: Sequence[Finding]) -> Answer:
    """Return the answer of kind FindingList."""
    return document("FindingList", {"items": as_json(findings)})


def as_json(findings: Sequence[Finding]) -> Items:
    """Return each finding as a JSON object."""
    return Items(_KEYS, ({key: getattr(finding, key) for key in _KEYS} for finding in findings))


def live_text(findings: Iterable[LiveFinding], *, color: bool, columns: int | None) -> str:
    """Return a line for each finding of a cluster, broken at `columns`."""
    lines = (live_line(finding, color=color) for finding in findings)
    return "".join(f"{wrapped(line, columns, INDENT)}\n" for line in lines)


def live_line(finding: LiveFinding, *, color: bool) -> str:
    """Return a finding of a cluster in one line."""
    kind = severity_text(finding.severity, finding.code, color=color)
    subject = f"{finding.subject}: " if finding.subject else ""
    return f"{visible(finding.cluster)}: {kind} {visible(f'{subject}{finding.message} {finding.fix}')}"


def live_json(findings: Sequence[LiveFinding]) -> list[dict[str, str]]:
    """Return each finding of a cluster as a JSON object."""
    return [
        {"severity": finding.severity, "code": finding.code, "message": finding.message, "fix": finding.fix}
        for finding in findings
    ]


def github(findings: Sequence[Finding], folder: str = "") -> str:
    """Return workflow commands, which GitHub shows at their lines in the pull request.

    `folder` leads from the root of the repository, where workflows run, to the project.
    """
    return "".join(
        f"::{_GITHUB[finding.severity]} file={workflow_property(normpath(join(folder, finding.file)))},"
        f"line={finding.line},col={finding.column},title={finding.code}::{workflow_data(_message(finding))}\n"
        for finding in findings
    )


def _message(finding: Finding) -> str:
    return f"{f'{finding.path}: ' if finding.path else ''}{finding.message} {finding.fix}"

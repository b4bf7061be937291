"""Format a change for a terminal: the summary, then reservations, peaks, warnings and files."""

from collections.abc import Sequence
from textwrap import fill
from typing import NamedTuple

from berth.diff import wording
from berth.diff.change import Change, SideSummary
from berth.diff.manifests import FileChange
from berth.diff.wording import DiffLine
from berth.output import findinglist
from berth.output.table import visible

_COLORS = {"+": "\x1b[32m", "-": "\x1b[31m", "~": "\x1b[33m", "!": "\x1b[33m", "@": "\x1b[36m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


class TextStyle(NamedTuple):
    """How to print. `columns` is the width of the terminal; None: do not wrap lines."""

    color: bool
    columns: int | None


def as_text(change: Change, zone: str, style: TextStyle, *, wide: bool) -> str:
    """Format a change. `zone` is the site's; with `wide`, show the lines of the manifests that differ."""
    names = visible(f"{change.base.name} -> {change.head.name}")
    blocks = [f"{_bold(visible(wording.summary(change)), style)}\n{names}\n"]
    blocks += [_findings(side, style) for side in (change.base, change.head) if side.findings]
    blocks += _part(
        wording.PERMISSIONS, [wording.permission_line(permission) for permission in change.permissions], style
    )
    blocks += _part(wording.POLICIES, [wording.policy_line(result) for result in change.policies], style)
    shared = [line for document in change.shared for line in wording.shared_lines(document)]
    blocks += _part(wording.SHARED, shared, style)
    blocks += _part(wording.IGNORED, [wording.ignored_line(finding) for finding in change.ignored], style)
    for reservation in change.reservations:
        details = (DiffLine(line.sign, f"  {line.text}") for line in wording.detail_lines(reservation))
        blocks.append(_lines([wording.title_line(reservation), *details], style))
    blocks += _part(wording.PEAKS, [wording.peak_line(peak, zone) for peak in change.peaks], style)
    if change.plan:
        blocks += _part(wording.PLAN, [*wording.plan_lines(change.plan, zone)], style)
    blocks += _part(wording.WARNINGS, [wording.warning_line(warning) for warning in change.warnings], style)
    blocks += _files(change.files, style, wide=wide)
    return "\n".join(blocks)


def _findings(side: SideSummary, style: TextStyle) -> str:
    return f"{visible(side.name)}:\n{findinglist.text(side.findings, color=style.color)}"


def _part(heading: str, lines: Sequence[DiffLine], style: TextStyle) -> list[str]:
    return [f"{_bold(heading, style)}\n{_lines(lines, style)}"] if lines else []


def _files(files: Sequence[FileChange], style: TextStyle, *, wide: bool) -> list[str]:
    lines = []
    for file in files:
        lines.append(wording.file_line(file))
        for item in file.objects if wide else ():
            lines.append(DiffLine(" ", f"  {wording.object_title(item)}"))
            lines += [_manifest_line(line) for line in item.lines()]
    return _part("Manifests", lines, style)


def _manifest_line(line: str) -> DiffLine:
    if line.startswith("@@"):
        return DiffLine("@", f"   {line[2:]}")
    return DiffLine(line[:1], f"    {line[1:]}")


def _lines(lines: Sequence[DiffLine], style: TextStyle) -> str:
    return "".join(f"{_line(line, style)}\n" for line in lines)


def _line(line: DiffLine, style: TextStyle) -> str:
    shown = f"{line.sign} {visible(line.text)}".rstrip()
    if style.columns is not None and len(shown) > style.columns:
        indent = " " * (len(line.text) - len(line.text.lstrip()) + 6)
        shown = fill(shown, style.columns, subsequent_indent=indent, break_on_hyphens=False)
    if not style.color or line.sign not in _COLORS:
        return shown
    return f"{_COLORS[line.sign]}{shown}{_PLAIN}"


def _bold(text: str, style: TextStyle) -> str:
    return f"{_BOLD}{text}{_PLAIN}" if style.color else text
